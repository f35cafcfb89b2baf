#pragma once
// What a run told of itself for who trains with large batches: trust ratios by layer, how large its gradients are, what
// each bucket of them took to be exchanged. From its events, looked at before they are believed.
#include <QString>
#include <optional>
#include <string>
#include <vector>

#include "app/store_question.h"

namespace loom {

struct RunRecord;
class RunStore;

struct LayerRatio {
  QString name;  // of the parameter
  double ratio = 1;
};

// Numbers by power of 2; counts[0] is of 2^from and below.
struct GradientMagnitudes {
  int from = 0;
  std::vector<double> counts;
  double zeros = 0;
  double lost = 0;  // share of those that are not 0 which f16 would round to 0
  double scale = 1, lostScaled = 0;
};

struct ExchangedBucket {
  QString label, reduction;
  double numbers = 0, bytes = 0;           // bytes: that the busiest rank sends
  std::optional<double> predicted, least;  // seconds
};

struct LargeBatchFigures {
  qint64 step = 0;  // of ratios and magnitudes
  std::vector<LayerRatio> ratios;
  std::optional<GradientMagnitudes> magnitudes;
  QString reduction, wire;     // as the run chose
  int ranks = 1, logical = 1;  // logical: whose arithmetic it is, virtual ones included
  std::vector<ExchangedBucket> buckets;
};
LargeBatchFigures largeBatchFigures(RunStore& store, const QString& run);

// Of the newest steps: what of their time was waiting. And the steps whose gradients overflowed.
struct WaitingShares {
  int steps = 0;
  double step = 0;                       // seconds, of their mean
  std::optional<double> data, exchange;  // shares of it; exchange: of several ranks alone
  std::vector<std::int64_t> skipped;     // the newest
};
struct WaitingAsked {
  std::int64_t lastStep = 0;
  bool operator==(const WaitingAsked&) const = default;
};
using WaitingQuestion = StoreQuestion<WaitingAsked, WaitingShares>;
std::unique_ptr<WaitingQuestion> waitingQuestion(const RunStore& store, const QString& run, std::function<void()> told);

// Whether it watches its gradients, and whether its steps have parts whose gradients could be told apart.
bool watchesGradients(const RunRecord& run);
bool hasParts(const RunRecord& run, const LargeBatchFigures& figures);

}  // namespace loom
