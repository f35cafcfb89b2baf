#include "engine/training/layer_times.h"

#include "engine/base/json.h"

namespace loom {
namespace {

constexpr int kWarmSteps = 3, kMeasuredSteps = 5;
constexpr std::size_t kMostStages = 16384;  // of all steps that are recorded

}  // namespace

LayerTimes::LayerTimes(bool wanted) : m_trace(wanted ? kMostStages : 0), m_wanted(wanted) {}

void LayerTimes::stepBegins() {
  if (!m_wanted || m_measured < 0) return;
  if (m_step <= kWarmSteps) m_trace.restart();
  m_from = m_trace.recorded();
}

std::optional<Json> LayerTimes::stepEnded() {
  if (!m_wanted || m_measured < 0) return {};
  const bool whole = !m_trace.full() && m_trace.recorded() > m_from;
  if (++m_step > kWarmSteps && whole) {
    ++m_measured;
    m_trace.each(m_from, [&](Trace::Lane lane, const char*, const char* layer, double seconds) {
      if (lane != Trace::Lane::compute) return;
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
  Json layers = Json::object();
  for (const auto& [layer, seconds] : m_seconds) layers[layer] = 1e3 * seconds / steps;
  return Json{{"steps", steps}, {"ms", std::move(layers)}, {"other_ms", 1e3 * m_other / steps}};
}

}  // namespace loom
