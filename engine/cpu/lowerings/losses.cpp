// Losses and metrics: each a mean over rows or elements, summed in double by thread and then in the order of threads.
#include <cmath>

#include "engine/cpu/kernels/softmax.h"
#include "engine/cpu/lowerings/lowerings.h"
#include "engine/cpu/lowerings/wide_rows.h"
#include "engine/ops/classification.h"
#include "engine/ops/elementwise_loss.h"

namespace loom::cpu {
namespace {

// Appends a stage that writes (sum over [0, count) of term ranges) / count to the rank-0 `result`.
void meanOf(Plan& plan, const std::string& name, TensorId result, std::int64_t count,
            std::function<double(std::int64_t first, std::int64_t last)> sumOf) {
  const auto partial = plan.scratch(2 * plan.threads());
  const auto to = plan.write(result);
  plan.stage(name, [=](const Worker& worker) {
    auto* sums = reinterpret_cast<double*>(partial.get());
    if (worker.phase == 0) {
      const auto [first, last] = worker.share(count);
      sums[worker.index] = sumOf(first, last);
      return;
    }
    if (worker.index != 0) return;
    double total = 0;
    for (int t = 0; t < worker.count; ++t) total += sums[t];
    *to.get() = static_cast<float>(total / static_cast<double>(count));
  });
  plan.phases(2);
}

using ops::kLeastProbability;

// Elementwise losses and their slopes, in double: they are never where the time goes.
enum class PointwiseLoss { binaryCrossEntropy, binaryCrossEntropyFromLogits, meanSquaredError, huber };

PointwiseLoss pointwiseOf(const Operation& operation) {
  const std::string& name = operation.op->name;
  if (name.starts_with("binary_cross_entropy")) {
    return operation.attributes.boolean("from_logits", false) ? PointwiseLoss::binaryCrossEntropyFromLogits
                                                              : PointwiseLoss::binaryCrossEntropy;
  }
  return name.starts_with("huber") ? PointwiseLoss::huber : PointwiseLoss::meanSquaredError;
}

double lossOf(PointwiseLoss kind, double x, double target, double delta) {
  switch (kind) {
    case PointwiseLoss::binaryCrossEntropyFromLogits:
      return (x > 0 ? x : 0) - x * target + std::log1p(std::exp(-std::abs(x)));
    case PointwiseLoss::binaryCrossEntropy: {
      const double p = x < kLeastProbability       ? kLeastProbability
                       : x > 1 - kLeastProbability ? 1 - kLeastProbability
                                                   : x;
      return -(target * std::log(p) + (1 - target) * std::log1p(-p));
    }
    case PointwiseLoss::meanSquaredError:
      return (x - target) * (x - target);
    case PointwiseLoss::huber: {
      const double d = std::abs(x - target);
      return d <= delta ? 0.5 * d * d : delta * (d - 0.5 * delta);
    }
  }
  return 0;
}

double slopeOf(PointwiseLoss kind, double x, double target, double delta) {
  switch (kind) {
    case PointwiseLoss::binaryCrossEntropyFromLogits:
      return (x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x))) - target;
    case PointwiseLoss::binaryCrossEntropy:
      return x < kLeastProbability || x > 1 - kLeastProbability ? 0 : (x - target) / (x * (1 - x));
    case PointwiseLoss::meanSquaredError:
      return 2 * (x - target);
    case PointwiseLoss::huber: {
      const double d = x - target;
      return d > delta ? delta : d < -delta ? -delta : d;
    }
  }
  return 0;
}

}  // namespace

void lowerSoftmaxCrossEntropy(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0];
  const std::int64_t classes = plan.shape(x)[-1], rows = plan.shape(x).elements() / classes;
  checkIndices(plan, operation.inputs[1], classes, "label");
  const auto logits = plan.read(x);
  const auto labels = plan.readInts(operation.inputs[1]);
  const auto logSums = plan.shared("log sums " + std::to_string(x), rows);  // for the gradient
  const ops::Smoothing q = ops::smoothingOf(operation.attributes, classes);
  meanOf(plan, "softmax_cross_entropy", operation.outputs[0], rows, [=](std::int64_t first, std::int64_t last) {
    double total = 0;
    for (std::int64_t r = first; r < last; ++r) {
      const float* row = logits.get() + r * classes;
      const float logSum = logSumExp(row, classes);
      logSums.get()[r] = logSum;
      total += (q.label - q.other) * (static_cast<double>(logSum) - row[labels.get()[r]]);
      if (q.other == 0) continue;
      double rest = 0;
      for (std::int64_t j = 0; j < classes; ++j) rest += static_cast<double>(logSum) - row[j];
      total += q.other * rest;
    }
    return total;
  });
}

void lowerSoftmaxCrossEntropyGradient(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], dx = operation.outputs[0];
  const std::int64_t classes = plan.shape(x)[-1], rows = plan.shape(x).elements() / classes;
  const std::string key = "log sums " + std::to_string(x);
  const bool known = plan.hasShared(key);
  if (!known) checkIndices(plan, operation.inputs[1], classes, "label");
  const auto logits = plan.read(x), scale = plan.read(operation.inputs[2]);
  const auto labels = plan.readInts(operation.inputs[1]);
  const auto logSums = plan.shared(key, rows);
  const auto to = plan.writeStored(dx, plainLayout(plan.shape(dx).rank()));
  plan.mayOverwrite(dx, x);
  const WideRows wide(plan, classes, {to});
  const ops::Smoothing q = ops::smoothingOf(operation.attributes, classes);
  plan.stage("softmax_cross_entropy_gradient", [=](const Worker& worker) {
    const auto [first, last] = worker.share(rows);
    const float factor = *scale.get() / static_cast<float>(rows);
    for (std::int64_t r = first; r < last; ++r) {
      const float* row = logits.get() + r * classes;
      float* out = wide.room(worker, 0, to.get().from(r * classes));
      scaledProbabilities(row, known ? logSums.get()[r] : logSumExp(row, classes), factor, out, classes);
      if (q.other != 0) {
        for (std::int64_t j = 0; j < classes; ++j) out[j] -= factor * static_cast<float>(q.other);
      }
      out[labels.get()[r]] -= factor * static_cast<float>(q.label - q.other);
      wide.put(out, to.get().from(r * classes));
    }
  });
}

void lowerPointwiseLoss(Plan& plan, const Operation& operation) {
  const auto x = plan.read(operation.inputs[0]), target = plan.read(operation.inputs[1]);
  const PointwiseLoss kind = pointwiseOf(operation);
  const double delta = operation.attributes.real("delta", 1.0);
  meanOf(plan, operation.op->name, operation.outputs[0], plan.shape(operation.inputs[0]).elements(),
         [=](std::int64_t first, std::int64_t last) {
           double total = 0;
           for (std::int64_t i = first; i < last; ++i) total += lossOf(kind, x.get()[i], target.get()[i], delta);
           return total;
         });
}

void lowerPointwiseLossGradient(Plan& plan, const Operation& operation) {
  const TensorId dx = operation.outputs[0];
  const auto x = plan.read(operation.inputs[0]), target = plan.read(operation.inputs[1]),
             scale = plan.read(operation.inputs[2]);
  const auto to = plan.write(dx);
  plan.mayOverwrite(dx, operation.inputs[0]);
  const PointwiseLoss kind = pointwiseOf(operation);
  const double delta = operation.attributes.real("delta", 1.0);
  const std::int64_t count = plan.shape(dx).elements();
  plan.stage(operation.op->name, [=](const Worker& worker) {
    const auto [first, last] = worker.share(count, 64);
    const double factor = static_cast<double>(*scale.get()) / static_cast<double>(count);
    for (std::int64_t i = first; i < last; ++i) {
      to.get()[i] = static_cast<float>(factor * slopeOf(kind, x.get()[i], target.get()[i], delta));
    }
  });
}

void lowerTopKAccuracy(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0];
  const std::int64_t classes = plan.shape(x)[-1], rows = plan.shape(x).elements() / classes,
                     k = operation.attributes.integer("k", 1);
  checkIndices(plan, operation.inputs[1], classes, "label");
  const auto logits = plan.read(x);
  const auto labels = plan.readInts(operation.inputs[1]);
  meanOf(plan, "top_k_accuracy", operation.outputs[0], rows, [=](std::int64_t first, std::int64_t last) {
    double hits = 0;
    for (std::int64_t r = first; r < last; ++r) {
      const float* row = logits.get() + r * classes;
      const std::int64_t label = labels.get()[r];
      std::int64_t before = 0;  // classes that rank before the label; a NaN never ranks behind
      for (std::int64_t j = 0; j < classes; ++j)
        before += j != label && (!(row[j] <= row[label]) || (row[j] == row[label] && j < label));
      hits += before < k && !std::isnan(row[label]);
    }
    return hits;
  });
}

void lowerBinaryAccuracy(Plan& plan, const Operation& operation) {
  const auto p = plan.read(operation.inputs[0]), target = plan.read(operation.inputs[1]);
  const double threshold = operation.attributes.real("threshold", 0.5);
  meanOf(plan, "binary_accuracy", operation.outputs[0], plan.shape(operation.inputs[0]).elements(),
         [=](std::int64_t first, std::int64_t last) {
           double hits = 0;
           for (std::int64_t i = first; i < last; ++i)  // a NaN is never right
             hits += target.get()[i] >= 0.5 ? p.get()[i] >= threshold : p.get()[i] < threshold;
           return hits;
         });
}

}  // namespace loom::cpu
