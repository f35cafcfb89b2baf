// Stages of the batch: batch_at and batch_then of the settings, in a session.
#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/training/training_session.h"

namespace loom {

// Known before the first step: what no stage of the run could do.
void TrainingSession::checkStages() const {
  for (const auto& [name, feed] : m_feeds)
    for (const BatchStage& stage : m_settings.batchStages)
      if (feed->options().dropLast && stage.batch > feed->size())
        throwError(
            ErrorCode::badProject,
            "training: from epoch {:g} on the batch is {}, but dataset '{}' has {} samples, and drop_last leaves "
            "out what fills no batch: nothing would be left",
            stage.epoch, stage.batch, name, feed->size());
}

// Of the whole run.
std::int64_t TrainingSession::stepsOfAllStages() const {
  std::int64_t steps = 0;
  for (double epoch = 0; epoch < m_settings.epochs;) {
    const std::int64_t batch = m_settings.batchAt(epoch);
    double end = m_settings.epochs;
    for (const BatchStage& stage : m_settings.batchStages)
      if (stage.epoch > epoch) end = std::min(end, stage.epoch);
    steps += static_cast<std::int64_t>(
        std::ceil((end - epoch) * static_cast<double>(m_primary->stepsPerEpoch(batch)) - 1e-6));
    epoch = end;
  }
  return steps;
}

// A batch that was set by hand holds until the next stage begins; else the stage of the settings as they are now.
void TrainingSession::followStages() {
  const std::int64_t staged = m_settings.batchAt(m_position.epoch);
  const bool byHand = m_position.batch > 0 && m_position.batch != m_position.stageBatch;
  m_position.stageBatch = staged == m_settings.batch ? 0 : staged;
  if (!byHand) m_position.batch = m_position.stageBatch;
}

// Before the checkpoint of this epoch, which so holds what a resumed run goes on with.
void TrainingSession::beginStage() {
  const double epoch = std::round(m_position.epoch);
  const std::int64_t batch = m_settings.batchAt(epoch);
  const bool begins = std::any_of(m_settings.batchStages.begin(), m_settings.batchStages.end(),
                                  [&](const BatchStage& stage) { return stage.epoch == epoch; });
  if (!begins) return;
  m_position.batch = m_position.stageBatch = batch;
  for (auto& [dataset, feed] : m_feeds) feed->setBatch(batch);
  tell("control", {{"command", "batch"}, {"value", batch}, {"step", m_step}, {"stage", true}});
}

}  // namespace loom
