#pragma once
// What a trained run is worth on samples whose truth is known: every measure of engine/evaluation, in one pass.
#include <filesystem>
#include <functional>
#include <string>

#include "engine/evaluation/report.h"
#include "engine/training/trained_network.h"

namespace loom {

struct EvaluationRequest {
  std::string dataset;         // of the project; empty = the usual one (TrainedNetwork::usualDataset())
  std::filesystem::path file;  // in its place a CSV with the columns that the run's steps begin with
  EvaluationLimits limits;
  std::function<void(std::int64_t done, std::int64_t all)> progress;  // now and then, and at the end
};

// Throws Error(badData) where the data lack what the outputs are compared with, naming it, or have other classes; what
// TrainedNetwork::predict() throws.
EvaluationReport evaluateRun(TrainedNetwork& trained, const EvaluationRequest& request);
// How far `now` is apart from `before` on the same samples. Throws Error(badData) where they are not the same.
EvaluationReport::Other comparisonOf(const EvaluationReport& before, const EvaluationReport& now);

}  // namespace loom
