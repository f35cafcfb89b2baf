// dropout and random: functions of (seed, node, step, sample of the global batch, element); see ops/noise.h.
#include "engine/ops/noise.h"

#include "engine/cpu/kernels/noise.h"
#include "engine/cpu/lowerings/lowerings.h"

namespace loom::cpu {
namespace {

// Step and first sample, exact where they are the program's scalars (a float would lose digits beyond 2^24).
std::function<std::int64_t(const Worker&)> wholeNumber(Plan& plan, TensorId id) {
  const Tensor& tensor = plan.tensor(id);
  if (tensor.role == TensorRole::scalar && tensor.name == kStepScalar)
    return [](const Worker& worker) { return worker.step->options.step; };
  if (tensor.role == TensorRole::scalar && tensor.name == kFirstSampleScalar) {
    return [](const Worker& worker) { return worker.step->options.firstSample; };
  }
  const auto from = plan.read(id);
  return [from](const Worker&) { return static_cast<std::int64_t>(*from.get()); };
}

}  // namespace

void lowerDropout(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const Layout layout = plainLayout(plan.shape(x).rank());
  const auto from = plan.readStored(x, layout), to = plan.writeStored(y, layout);
  plan.mayOverwrite(y, x);
  const auto step = wholeNumber(plan, operation.inputs[1]), firstSample = wholeNumber(plan, operation.inputs[2]);
  const double p = operation.attributes.real("probability");
  const std::uint32_t threshold = noiseThreshold(p);
  const float factor = p < 1 ? static_cast<float>(1 / (1 - p)) : 0.0f;
  const NoiseKey key = noiseKey(static_cast<std::uint64_t>(operation.attributes.integer("seed", 0)),
                                static_cast<std::uint64_t>(operation.attributes.integer("stream")));
  const std::int64_t samples = plan.shape(x)[0], size = plan.shape(x).elements() / samples;
  plan.stage("dropout", [=](const Worker& worker) {
    const auto [first, last] = worker.share(samples);
    const std::int64_t at = step(worker), start = firstSample(worker);
    for (std::int64_t s = first; s < last; ++s) {
      dropoutSample(key, noiseCounter(at, start + s), threshold, factor, from.get().from(s * size),
                    to.get().from(s * size), size);
    }
  });
}

void lowerRandom(Plan& plan, const Operation& operation) {
  const TensorId y = operation.outputs[0];
  const auto to = plan.write(y);
  const auto step = wholeNumber(plan, operation.inputs[0]), firstSample = wholeNumber(plan, operation.inputs[1]);
  const bool normal = operation.attributes.text("distribution") == "normal";
  const Philox philox = noiseOf(operation.attributes);
  const std::int64_t samples = plan.shape(y)[0], size = plan.shape(y).elements() / samples;
  plan.stage("random", [=](const Worker& worker) {
    const auto [first, last] = worker.share(samples);
    const std::int64_t at = step(worker), start = firstSample(worker);
    for (std::int64_t s = first; s < last; ++s) {
      const std::uint64_t counter = noiseCounter(at, start + s);
      for (std::int64_t i = 0; i < size; ++i) {
        to.get()[s * size + i] = normal ? static_cast<float>(normalFrom(noiseWord(philox, counter, 2 * i),
                                                                        noiseWord(philox, counter, 2 * i + 1)))
                                        : Philox::toUniform(noiseWord(philox, counter, i));
      }
    }
  });
}

}  // namespace loom::cpu
