// Batch normalisation at its least number of passes: statistics; normalise (+ add) (+ ReLU). Backward: two sums; apply.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "engine/cpu/kernels/batch_norm.h"
#include "engine/cpu/lowerings/lowerings.h"
#include "engine/ops/normalisation.h"
#include "engine/program/collectives.h"

namespace loom::cpu {
namespace {

// Working memory of one thread: two vectors of double, four of float.
std::int64_t workspace(std::int64_t channels) {
  return 8 * channels;
}
double* doublesOf(const Rooms& scratch, int thread) {
  return reinterpret_cast<double*>(scratch.of(thread));
}
float* floatsOfThread(const Rooms& scratch, std::int64_t channels, int thread) {
  return scratch.of(thread) + 4 * channels;
}

// What the ranks of a synchronised normalisation tell each other: rows, and two numbers a channel. Empty otherwise.
struct Ranks {
  Ref<double> mine, all;
  Collectives* collectives = nullptr;
  std::int64_t words = 0;

  explicit operator bool() const { return collectives != nullptr; }
  // By one thread. A failure ends the step once the stage is over.
  void gather(const Worker& worker) const {
    try {
      collectives->gather({mine.get(), static_cast<std::size_t>(words)},
                          {all.get(), static_cast<std::size_t>(words * collectives->ranks())});
    } catch (...) {
      worker.fail();
    }
  }
  const double* of(int rank) const { return all.get() + rank * words; }
  double rows() const {
    double sum = 0;
    for (int r = 0; r < collectives->ranks(); ++r) sum += of(r)[0];
    return sum;
  }
};

Ranks ranksOf(Plan& plan, const Operation& operation, std::int64_t channels) {
  Collectives* collectives = plan.collectives();
  if (!collectives || collectives->ranks() == 1 || !operation.attributes.boolean("synchronised", false)) return {};
  const std::int64_t words = 1 + 2 * channels;
  return {.mine = plan.scratch(2 * words).as<double>(),
          .all = plan.scratch(2 * words * collectives->ranks()).as<double>(),
          .collectives = collectives,
          .words = words};
}

// Sums, what the ranks tell each other, and y: the second on the thread that talks to them.
void phasesOf(Plan& plan, const Ranks& ranks) {
  plan.phases(ranks ? 3 : 2);
  if (ranks) plan.onCaller();
}

struct Moments {
  double rows, mean, variance;
};

// Moments of parts of the rows into those of all (Chan, Golub, LeVeque 1983): each rank gave its mean and its sum of
// squares about it.
Moments merged(const Ranks& ranks, double rows, std::int64_t channels, std::int64_t channel) {
  double mean = 0, squares = 0;
  for (int r = 0; r < ranks.collectives->ranks(); ++r) mean += ranks.of(r)[0] * ranks.of(r)[1 + channel] / rows;
  for (int r = 0; r < ranks.collectives->ranks(); ++r) {
    const double away = ranks.of(r)[1 + channel] - mean;
    squares += ranks.of(r)[1 + channels + channel] + ranks.of(r)[0] * away * away;
  }
  return {rows, mean, squares / rows};
}

std::string nameOf(const char* base, const FusedOutput& fused) {
  return std::string(base) + (fused.addend != kNoTensor ? " + add" : "") + (fused.relu ? " + relu" : "");
}

}  // namespace

void lowerBatchNormalization(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = plan.fused().output;
  const FusedOutput fused = plan.fused();
  const ChannelView view = channelView(plan, x, operation.attributes.integer("axis", 1));
  const auto from = plan.readStored(x, view.layout), addend = plan.readStoredOptional(fused.addend, view.layout);
  const auto gamma = plan.readOptional(operation.inputs[1]), beta = plan.readOptional(operation.inputs[2]);
  const auto runningMean = plan.read(operation.inputs[3]), runningVariance = plan.read(operation.inputs[4]);
  const auto to = plan.writeStored(y, view.layout);
  const auto batchMean = plan.write(operation.outputs[1]), batchInverse = plan.write(operation.outputs[2]);
  if (fused.addend != kNoTensor) plan.mayOverwrite(y, fused.addend);
  plan.mayOverwrite(y, x);
  const double epsilon = operation.attributes.real("epsilon", ops::kNormalisationEpsilon),
               momentum = operation.attributes.real("momentum", ops::kStatisticsMomentum);
  const std::int64_t rows = view.rows, channels = view.channels;
  const auto scratch = plan.scratchOfThreads(workspace(channels));
  const Ranks ranks = ranksOf(plan, operation, channels);
  plan.stage(
      nameOf(ranks ? "synchronised batch_normalization" : "batch_normalization", fused), {},
      layoutName(plan.shape(x), view.layout), [=](const Worker& worker) {
        const auto [first, last] = worker.share(rows, 4);
        // The first row: a copy, since y may come to lie where it stands.
        float* shift = floatsOfThread(scratch, channels, worker.index) + 3 * channels;
        if (worker.phase == 0) {
          double* sums = doublesOf(scratch, worker.index);
          std::fill_n(sums, 2 * channels, 0.0);
          widen(from.get(), shift, channels);
          return addMoments(from.get().from(first * channels), last - first, channels, shift, sums, sums + channels);
        }
        // Every part sums for itself, in the order of parts.
        const auto own = [&](std::int64_t c) {
          double sum = 0, squares = 0;
          for (int t = 0; t < worker.count; ++t) {
            const double* theirs = doublesOf(scratch, t);
            sum += theirs[c];
            squares += theirs[channels + c];
          }
          const double n = static_cast<double>(rows), about = sum / n;
          return Moments{n, shift[c] + about, std::max(0.0, squares / n - about * about)};
        };
        if (ranks && worker.phase == 1) {
          if (worker.index != 0) return;
          double* mine = ranks.mine.get();
          mine[0] = static_cast<double>(rows);
          for (std::int64_t c = 0; c < channels; ++c) {
            const Moments moments = own(c);
            mine[1 + c] = moments.mean;
            mine[1 + channels + c] = moments.variance * moments.rows;
          }
          return ranks.gather(worker);
        }
        const double allRows = ranks ? ranks.rows() : 0;
        float* mean = floatsOfThread(scratch, channels, worker.index);
        float *scale = mean + channels, *offset = scale + channels;
        for (std::int64_t c = 0; c < channels; ++c) {
          const auto [n, whole, variance] = ranks ? merged(ranks, allRows, channels, c) : own(c);
          // Rounded as it is kept, so that y can be computed again from it.
          const float inverse = static_cast<float>(1 / std::sqrt(variance + epsilon));
          mean[c] = static_cast<float>(whole);
          scale[c] = (gamma ? gamma.get()[c] : 1) * inverse;
          offset[c] = beta ? beta.get()[c] : 0;
          if (worker.index == 0) {
            batchMean.get()[c] = mean[c];
            batchInverse.get()[c] = inverse;
            float &oldMean = runningMean.get()[c], &oldVariance = runningVariance.get()[c];
            oldMean = static_cast<float>(momentum * oldMean + (1 - momentum) * whole);
            oldVariance =
                static_cast<float>(momentum * oldVariance + (1 - momentum) * variance * (n > 1 ? n / (n - 1) : 1));
          }
        }
        normalise({mean, scale, offset, fused.relu}, from.get().from(first * channels),
                  addend.get().from(first * channels), to.get().from(first * channels), last - first, channels);
      });
  phasesOf(plan, ranks);
}

namespace {

// y of statistics that stand: `scaleOf` answers gamma's factor from what the fifth input holds of a channel.
template <class ScaleOf>
void normaliseBy(Plan& plan, const Operation& operation, const char* name, const ScaleOf& scaleOf) {
  const TensorId x = operation.inputs[0], y = plan.fused().output;
  const FusedOutput fused = plan.fused();
  const ChannelView view = channelView(plan, x, operation.attributes.integer("axis", 1));
  const auto from = plan.readStored(x, view.layout), addend = plan.readStoredOptional(fused.addend, view.layout);
  const auto gamma = plan.readOptional(operation.inputs[1]), beta = plan.readOptional(operation.inputs[2]);
  const auto mean = plan.read(operation.inputs[3]), deviation = plan.read(operation.inputs[4]);
  const auto to = plan.writeStored(y, view.layout);
  if (fused.addend != kNoTensor) plan.mayOverwrite(y, fused.addend);
  plan.mayOverwrite(y, x);
  const std::int64_t rows = view.rows, channels = view.channels;
  const auto scratch = plan.scratchOfThreads(2 * channels);
  plan.stage(nameOf(name, fused), {}, layoutName(plan.shape(x), view.layout), [=](const Worker& worker) {
    const auto [first, last] = worker.share(rows, 4);
    float *scale = scratch.of(worker.thread), *offset = scale + channels;
    for (std::int64_t c = 0; c < channels; ++c) {
      scale[c] = scaleOf(gamma ? gamma.get()[c] : 1, deviation.get()[c]);
      offset[c] = beta ? beta.get()[c] : 0;
    }
    normalise({mean.get(), scale, offset, fused.relu}, from.get().from(first * channels),
              addend.get().from(first * channels), to.get().from(first * channels), last - first, channels);
  });
}

}  // namespace

void lowerBatchNormalizationInference(Plan& plan, const Operation& operation) {
  const double epsilon = operation.attributes.real("epsilon", ops::kNormalisationEpsilon);
  normaliseBy(plan, operation, "batch_normalization_inference", [epsilon](float gamma, float variance) {
    return static_cast<float>(gamma / std::sqrt(variance + epsilon));
  });
}

void lowerBatchNormalizationAgain(Plan& plan, const Operation& operation) {
  normaliseBy(plan, operation, "batch_normalization_again", [](float gamma, float inverse) { return gamma * inverse; });
}

void lowerBatchNormalizationGradient(Plan& plan, const Operation& operation) {
  const FusedOutput fused = plan.fused();
  const TensorId x = operation.inputs[0], dy = fused.mask == kNoTensor ? operation.inputs[1] : fused.maskedFrom,
                 dx = operation.outputs[0];
  const ChannelView view = channelView(plan, x, operation.attributes.integer("axis", 1));
  const auto from = plan.readStored(x, view.layout), gradient = plan.readStored(dy, view.layout),
             mask = plan.readStoredOptional(fused.mask, view.layout);
  const auto gamma = plan.readOptional(operation.inputs[2]);
  const auto mean = plan.read(operation.inputs[3]), inverse = plan.read(operation.inputs[4]);
  const auto to = plan.writeStored(dx, view.layout);
  plan.mayOverwrite(dx, dy);
  plan.mayOverwrite(dx, x);
  const auto dgamma = plan.writeGradient(operation.outputs[1]), dbeta = plan.writeGradient(operation.outputs[2]);
  const std::int64_t rows = view.rows, channels = view.channels;
  const auto scratch = plan.scratchOfThreads(workspace(channels));
  const Ranks ranks = ranksOf(plan, operation, channels);
  plan.stage(std::string(ranks ? "synchronised " : "") + std::string(mask ? "relu_gradient + " : "") +
                 "batch_normalization_gradient",
             {}, layoutName(plan.shape(x), view.layout), [=](const Worker& worker) {
               const auto [first, last] = worker.share(rows, 4);
               const std::int64_t start = first * channels;
               const Stored positive = mask.get().from(start);
               if (worker.phase == 0) {
                 double* sums = doublesOf(scratch, worker.index);
                 std::fill_n(sums, 2 * channels, 0.0);
                 return addGradientSums(from.get().from(start), gradient.get().from(start), positive, last - first,
                                        channels, mean.get(), sums, sums + channels);
               }
               const auto own = [&](std::int64_t c) {
                 double sum = 0, product = 0;
                 for (int t = 0; t < worker.count; ++t) {
                   const double* theirs = doublesOf(scratch, t);
                   sum += theirs[c];
                   product += theirs[channels + c];
                 }
                 return std::pair(sum, product);
               };
               if (ranks && worker.phase == 1) {
                 if (worker.index != 0) return;
                 double* mine = ranks.mine.get();
                 mine[0] = static_cast<double>(rows);
                 for (std::int64_t c = 0; c < channels; ++c) std::tie(mine[1 + c], mine[1 + channels + c]) = own(c);
                 return ranks.gather(worker);
               }
               const double n = ranks ? ranks.rows() : static_cast<double>(rows);
               float* a = floatsOfThread(scratch, channels, worker.index);
               float *b = a + channels, *c0 = b + channels;
               for (std::int64_t c = 0; c < channels; ++c) {
                 const auto [sum, product] =
                     own(c);  // gamma and beta take this rank's part: gradients are summed later
                 double everySum = sum, everyProduct = product;
                 for (int r = 0; ranks && r < ranks.collectives->ranks(); ++r) {
                   if (r == 0) everySum = everyProduct = 0;
                   everySum += ranks.of(r)[1 + c];
                   everyProduct += ranks.of(r)[1 + channels + c];
                 }
                 const double deviation = inverse.get()[c];
                 const double factor = (gamma ? gamma.get()[c] : 1) * deviation;
                 a[c] = static_cast<float>(factor);
                 b[c] = static_cast<float>(factor * deviation * deviation * everyProduct / n);
                 c0[c] = static_cast<float>(factor * everySum / n);
                 if (worker.index == 0) {
                   float &g = dgamma.to.get()[c], &o = dbeta.to.get()[c];
                   g = static_cast<float>(product * deviation) + (dgamma.adds(worker) ? g : 0);
                   o = static_cast<float>(sum) + (dbeta.adds(worker) ? o : 0);
                 }
               }
               normaliseGradient({mean.get(), a, b, c0}, from.get().from(start), gradient.get().from(start), positive,
                                 to.get().from(start), last - first, channels);
             });
  phasesOf(plan, ranks);
}

}  // namespace loom::cpu
