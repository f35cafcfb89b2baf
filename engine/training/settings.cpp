#include "engine/training/settings.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/network/project.h"
#include "engine/schedules/schedule.h"

namespace loom {
std::int64_t TrainSettings::batchAt(double epoch) const {
  std::int64_t there = batch;
  for (const BatchStage& stage : batchStages)
    if (stage.epoch <= epoch) there = stage.batch;
  return there;
}

std::int64_t TrainSettings::largestBatch() const {
  std::int64_t largest = batch;
  for (const BatchStage& stage : batchStages) largest = std::max(largest, stage.batch);
  return largest;
}

TrainSettings readSettings(const Json& settings) {
  const Entry& entry = settingsEntry();
  for (const FieldProblem& problem : validate(entry, settings))
    if (problem.severity == FieldProblem::Severity::error)
      throwError(ErrorCode::badProject, "training: {}", problem.message);
  const Values values(entry, settings);
  const auto optionalReal = [&values](const char* key) {
    return values.has(key) ? std::optional<double>(values.real(key)) : std::nullopt;
  };
  TrainSettings read{.epochs = values.real("epochs"),
                     .batch = values.integer("batch"),
                     .accumulate = values.integer("accumulate"),
                     .seed = static_cast<std::uint64_t>(values.integer("seed")),
                     .clipNorm = optionalReal("clip_norm"),
                     .shuffle = values.boolean("shuffle"),
                     .oversample = values.text("oversample"),
                     .weighClasses = values.text("weigh_classes") == "balanced",
                     .dropLast = values.boolean("drop_last"),
                     .validateEvery = values.real("validate_every"),
                     .monitor = values.text("monitor"),
                     .checkpointEvery = optionalReal("checkpoint_every"),
                     .threads = static_cast<int>(values.integer("threads"))};
  if (values.has("memory_budget"))
    read.memoryBudget = static_cast<std::size_t>(std::ceil(values.real("memory_budget") * (1 << 20)));
  if (values.has("max_steps")) read.maxSteps = values.integer("max_steps");
  if (values.has("start_from")) read.startFrom = values.text("start_from");
  read.startFromParameters = values.texts("start_from_parameters");
  read.rateScale = rateScale(values.text("rate_scaling"), read.batch, values.integer("base_batch"));
  read.virtualRanks = values.integer("virtual_ranks");
  read.deterministic = values.boolean("deterministic");
  read.wire = wireNamed(values.text("wire"));
  read.reduction = reductionIn(settings);
  read.fusionBytes = static_cast<std::size_t>(values.real("fusion") * (1 << 20));
  const std::string statistics = values.text("batch_statistics");
  read.statistics = statistics == "synchronised" ? BatchStatistics::synchronised
                    : statistics == "last_batch" ? BatchStatistics::lastBatch
                                                 : BatchStatistics::perShard;
  const std::string precision = values.text("precision");
  read.precision = precision == "bf16" ? DataType::bf16 : precision == "f16" ? DataType::f16 : DataType::f32;
  read.tf32 = values.boolean("tf32");
  if (read.accumulate > read.batch)
    throwError(ErrorCode::badProject,
               "training: {} accumulation passes cannot share a batch of {} samples; at most {} can", read.accumulate,
               read.batch, read.batch);
  if (read.weighClasses && !read.oversample.empty())
    throwError(
        ErrorCode::badProject,
        "training: rare classes are weighed (weigh_classes) and shown several times (oversample '{}'): one of the "
        "two is enough; set the other back",
        read.oversample);
  read.batchStages = batchStages(values);
  read.methods = methodsIn(settings);
  read.shardOptimizer = values.boolean("shard_optimizer");
  read.recordLayers = values.integer("record_layers");
  read.method = methodCost(settings);
  read.watchGradients = values.boolean("watch_gradients");
  if (values.text("evaluated_weights") == "average") read.averageDecay = values.real("average_decay");
  return read;
}

Json resolvedSettings(const Json& settings) {
  Json resolved = Json::object();
  for (const Field& field : settingsEntry().fields) {
    const auto given = settings.find(field.key);
    resolved[field.key] = given != settings.end() ? *given : field.defaultValue;
  }
  return resolved;
}

}  // namespace loom
