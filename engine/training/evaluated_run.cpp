#include "engine/training/evaluated_run.h"

#include <chrono>
#include <optional>

#include "engine/base/error.h"

namespace loom {
namespace {

constexpr std::int64_t kTellEvery = 256;

// One for each output that is compared with something of the data.
class Evaluators {
 public:
  explicit Evaluators(const EvaluationLimits& limits) : m_limits(limits) {}

  void add(const Predictions& predictions, const PredictedRow& row) {
    if (m_each.empty()) begin(predictions, row);
    for (std::size_t i = 0; i < m_each.size(); ++i)
      if (m_each[i]) m_each[i]->add(row.sample, row.row, row.values[i], row.truth[i]);
  }
  std::vector<EvaluatedOutput> finish() const {
    std::vector<EvaluatedOutput> outputs;
    for (const auto& each : m_each)
      if (each) outputs.push_back(each->finish());
    return outputs;
  }

 private:
  void begin(const Predictions& predictions, const PredictedRow& row) {
    std::string missing;
    bool any = false;
    for (std::size_t i = 0; i < predictions.outputs.size(); ++i) {
      const PredictedOutput& output = predictions.outputs[i];
      const bool known = !row.truth[i].empty();
      any = any || known;
      if (!known) missing += (missing.empty() ? "" : ", ") + (output.target.empty() ? output.name : output.target);
      m_each.push_back(known ? std::optional<OutputEvaluator>(std::in_place, output, m_limits) : std::nullopt);
    }
    if (!any)
      throwError(ErrorCode::badData,
                 "the data have no column '{}', which says what is true; without it the network can only predict",
                 missing);
  }
  EvaluationLimits m_limits;
  std::vector<std::optional<OutputEvaluator>> m_each;
};

}  // namespace

EvaluationReport evaluateRun(TrainedNetwork& trained, const EvaluationRequest& request) {
  const auto begun = std::chrono::steady_clock::now();
  EvaluationReport report;
  PredictionRequest wish{.use = FileUse::evaluate};
  if (!request.file.empty())
    wish.files = {request.file};
  else
    wish.dataset = report.dataset = request.dataset.empty() ? trained.usualDataset() : request.dataset;
  Evaluators evaluators(request.limits);
  wish.each = [&](const Predictions& predictions, const PredictedRow& row) {
    evaluators.add(predictions, row);
    const std::int64_t done = row.sample + 1, all = trained.predicted().samples;
    if (request.progress && (done % kTellEvery == 0 || done == all)) request.progress(done, all);
  };
  const Predictions predictions = trained.predict(wish);
  if (predictions.samples == 0) throwError(ErrorCode::badData, "there are no samples to evaluate");
  const PredictedData& data = trained.predicted();
  report.run = trained.run().folder().path.string();
  report.checkpoint = predictions.checkpoint;
  report.step = predictions.step;
  report.csv = data.csv.string();
  report.content = data.content;
  report.picture = data.input;
  report.prepare = data.prepare;
  report.samples = predictions.samples;
  report.outputs = evaluators.finish();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return report;
}

EvaluationReport::Other comparisonOf(const EvaluationReport& before, const EvaluationReport& now) {
  if (before.content != now.content || before.samples != now.samples)
    throwError(ErrorCode::badData, "{} was evaluated on {} samples of {}, {} on {} of {}: these are not the same",
               before.run, before.samples, before.csv, now.run, now.samples, now.csv);
  const EvaluatedOutput &one = before.outputs.front(), &other = now.outputs.front();
  return {before.run, one.accuracy.share, compare(one.worst, other.worst)};
}

}  // namespace loom
