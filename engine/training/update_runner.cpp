#include "engine/training/update_runner.h"

#include <cmath>

#include "engine/base/error.h"
#include "engine/training/divergence.h"
#include "engine/training/evaluation.h"

namespace loom {

UpdateRunner::UpdateRunner(const UpdateParts& parts) : m_parts(parts) {
  const std::int64_t shard = std::min(parts.settings.shard(), parts.feed.size());
  m_request = {
      .network = &parts.network,
      .phase = Phase::training,
      .batch = shard,
      .update = parts.index,
      .wanted = [&spec = parts.spec](const Parameter& parameter) { return ParameterUpdate::chosen(spec, parameter); }};
  const Program& program = parts.networks.get(m_request).program();
  const auto isLoss = [](const NamedResult& result) { return result.kind == "loss"; };
  if (std::none_of(program.results.begin(), program.results.end(), isLoss))
    throwError(ErrorCode::badProject,
               "network '{}' has no loss: add one, such as SoftmaxCrossEntropy, so that it can be trained",
               parts.network.name);
  m_bindings = parts.feed.bind(parts.network, program);
  m_update = std::make_unique<ParameterUpdate>(parts.spec, parts.index, program, parts.store);
}

void UpdateRunner::setSpan(const ScheduleSpan& span) {
  m_schedule = makeSchedule(m_parts.spec.schedule, m_parts.spec.warmup, span);
  m_withoutWarmup = makeSchedule(m_parts.spec.schedule, nullptr, span);
}

double UpdateRunner::learningRate(double scheduleStep) const {
  if (!m_override) return m_update->baseRate() * m_schedule->factor(scheduleStep);
  const double then = m_withoutWarmup->factor(m_override->at);
  return then > 0 ? m_override->value * m_withoutWarmup->factor(scheduleStep) / then : m_override->value;
}

void UpdateRunner::setLearningRate(double value, double scheduleStep) {
  m_override = RateOverride{.value = value, .at = scheduleStep};
}

void UpdateRunner::setPlace(const Position::UpdatePlace& place) {
  m_update->setCount(place.count);
  m_override = place.rate;
}

UpdateRunner::Outcome UpdateRunner::run(std::int64_t step, double learningRate) {
  const Batch& batch = m_parts.feed.current();
  const std::int64_t passes = m_parts.settings.accumulate;
  // The shard of a batch that was changed while training follows it; a smaller last batch keeps the shard and so its
  // executable.
  const std::int64_t shard = (m_parts.feed.batch() + passes - 1) / passes;
  Means means;
  for (std::int64_t done = 0; done < batch.size;) {
    const std::int64_t count = std::min(shard, batch.size - done);
    m_request.batch = count;
    Executable& executable = m_parts.networks.get(m_request);
    m_parts.feed.fill(executable, m_bindings, done, count);
    const StepOptions options{.step = step,
                              .firstSample = done,
                              .lossScale = static_cast<double>(count) / static_cast<double>(batch.size),
                              .accumulate = done > 0};
    try {
      executable.run(options);
    } catch (Error& error) {
      if (error.code() == ErrorCode::badData)
        error.addContext(fmt::format("in dataset '{}' at step {}", m_parts.feed.options().name, step + 1));
      throw;
    }
    const Measured shardMeans = resultsOf(executable, static_cast<double>(count));
    means.add(shardMeans);
    done += count;
    const bool last = done == batch.size;
    if (!std::isfinite(shardMeans.loss))
      return {means.value(), std::nan(""),
              diagnose(executable, options, fmt::format("the loss is {}", shardMeans.loss))};
    if (!last) continue;
    const ApplyOutcome applied =
        m_update->apply(m_parts.backend, {.learningRate = learningRate, .clipNorm = m_parts.settings.clipNorm});
    if (!applied.notFinite.empty())
      return {means.value(), applied.gradientNorm,
              diagnose(executable, options, fmt::format("the gradient of '{}' is not finite", applied.notFinite))};
    return {means.value(), applied.gradientNorm, {}};
  }
  throwError(ErrorCode::internal, "dataset '{}' gave an empty batch at step {}", m_parts.feed.options().name, step + 1);
}

std::string UpdateRunner::diagnose(Executable& executable, const StepOptions& step, const std::string& symptom) {
  std::string where;
  try {
    where = firstNotFinite(m_parts.backend, m_parts.store,
                           {.network = m_parts.network,
                            .program = m_parts.networks.program(m_request),
                            .executable = executable,
                            .step = step,
                            .compile = m_parts.compile});
  } catch (const std::exception&) {
    where.clear();  // the symptom alone must do; another fault on the way must not hide it
  }
  std::string text = symptom;
  if (!where.empty()) text += "; the first values that are not finite are in " + where;
  return text;
}

}  // namespace loom
