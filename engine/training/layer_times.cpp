#include "engine/training/layer_times.h"

#include "engine/base/json.h"

namespace loom {
namespace {

constexpr int kWarmSteps = 3, kMeasuredSteps = 5;
constexpr std::size_t kMostStages = 16384;  // of all steps that are recorded

Json millisecondsOf(const std::map<std::string, double>& seconds, int steps) {
  Json all = Json::object();
  for (const auto& [name, sum] : seconds) all[name] = 1e3 * sum / steps;
  return all;
}

}  // namespace

LayerTimes::LayerTimes(bool wanted) : m_trace(wanted ? kMostStages : 0), m_wanted(wanted) {}

void LayerTimes::stepBegins() {
  if (!m_wanted || m_measured < 0) return;
  if (m_step <= kWarmSteps) m_trace.restart();
  m_from = m_trace.recorded();
  m_began = Trace::Clock::now();
}

std::optional<Json> LayerTimes::stepEnded() {
  if (!m_wanted || m_measured < 0) return {};
  const bool whole = !m_trace.full() && m_trace.recorded() > m_from;
  if (++m_step > kWarmSteps && whole) {
    ++m_measured;
    m_whole += std::chrono::duration<double>(Trace::Clock::now() - m_began).count();
    m_trace.each(m_from, [&](Trace::Lane lane, const char* kernel, const char* layer, double seconds) {
      if (lane != Trace::Lane::compute) return;
      m_kernels[kernel] += seconds;
      if (*layer == '\0')
        m_other += seconds;
      else
        m_seconds[layer] += seconds;
    });
  }
  if (m_step < kWarmSteps + kMeasuredSteps && whole) return {};
  const int steps = m_measured;
  m_measured = -1;
  m_trace.end();
  if (steps == 0) return {};
  return Json{{"steps", steps},
              {"step_ms", 1e3 * m_whole / steps},
              {"ms", millisecondsOf(m_seconds, steps)},
              {"other_ms", 1e3 * m_other / steps},
              {"kernels_ms", millisecondsOf(m_kernels, steps)}};
}

void completeLayerTimes(Json& fields, const std::vector<StepPart>& parts,
                        const std::function<double(const StageCost&)>& seconds, const std::string& from) {
  std::map<std::string, std::string> opOf;  // by kernel, as a trace keeps its name
  std::map<std::string, double> layers, ops, measured;
  double other = 0;
  double moved = 0;
  if (seconds)
    for (const StepPart& part : parts) moved += part.times * bytesMoved(part.executable.cost().stages);
  for (const StepPart& part : parts) {
    const Json description = part.executable.describe();
    for (const Json& stage : description.value("operations", Json::array()))
      if (stage.contains("op"))
        opOf.emplace(stage["kernel"].get<std::string>().substr(0, Trace::kNameLength), stage["op"].get<std::string>());
    if (!seconds) continue;
    for (StageCost stage : part.executable.cost().stages) {
      stage.step = moved;
      const double taken = part.times * seconds(stage);
      ops[stage.op] += taken;
      (stage.origin.empty() ? other : layers[stage.origin]) += taken;
    }
  }
  for (const auto& [kernel, ms] : fields["kernels_ms"].items()) {
    const auto op = opOf.find(kernel);
    measured[op == opOf.end() ? kernel : op->second] += ms.get<double>() / 1e3;
  }
  fields.erase("kernels_ms");
  fields["ops_ms"] = millisecondsOf(measured, 1);
  if (ops.empty()) return;
  fields["predicted"] = {
      {"ms", millisecondsOf(layers, 1)}, {"other_ms", 1e3 * other}, {"ops_ms", millisecondsOf(ops, 1)}, {"from", from}};
}

}  // namespace loom
