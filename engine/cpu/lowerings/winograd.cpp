#include "engine/cpu/lowerings/winograd.h"

#include <algorithm>

#include "engine/cpu/kernels/bf16.h"
#include "engine/cpu/kernels/gemm_amx.h"
#include "engine/cpu/kernels/isa.h"

namespace loom::cpu {
namespace {

// Both ways in cycles of a processor that does a multiply-add of sixteen numbers in one, fitted to what was measured on
// Zen 4 (tests/bench/results/convolutions.csv); what counts is the ratio of the two.
constexpr double kDirect = 0.9, kDirectBf16 = 1.8,
                 kDirectWeightBf16 = 1.5;  // multiply-adds a cycle that oneDNN reaches
// And winograd_multiply.h, where the transformed weights stay in a cache and where they do not.
constexpr double kProducts = 0.9, kFarProducts = 0.8, kTransposed = 0.9, kFarTransposed = 0.72;
constexpr double kInput = 20, kOutput = 16;                   // the transform of a channel of one tile
constexpr double kWeight = 900, kWeightGradient = 1500;       // of sixteen weights; there, of each thread
constexpr std::int64_t kMostBytes = std::int64_t{192} << 20;  // of transformed weights or, by thread, their gradients

// Of a row or a column of results: what the three taps read inside of the image. Libraries skip the rest.
std::int64_t tapsInside(std::int64_t results, std::int64_t inputs, std::int64_t before) {
  std::int64_t inside = 0;
  for (std::int64_t at = -before; at < results - before; ++at)
    inside += std::max<std::int64_t>(0, std::min(at + 3, inputs) - std::max<std::int64_t>(at, 0));
  return inside;
}

double directCost(const WinogradGeometry& g, ConvolutionPart part, bool bf16) {
  const std::int64_t taps =
      g.batch * tapsInside(g.outHeight, g.height, g.top) * tapsInside(g.outWidth, g.width, g.left);
  const double rate = !bf16 || !multipliesBf16()                ? kDirect
                      : part == ConvolutionPart::weightGradient ? kDirectWeightBf16
                                                                : kDirectBf16;
  return static_cast<double>(taps * g.inputs * g.outputs) / 16 / rate;
}
double winogradCost(const WinogradGeometry& g, ConvolutionPart part) {
  const bool sums = part == ConvolutionPart::weightGradient;
  const bool far = winogradWeightFloats(g) * 4 > (std::int64_t{sums ? 1 : 8} << 20);
  const double rate = sums ? (far ? kFarTransposed : kTransposed) : far ? kFarProducts : kProducts;
  const double pairs = static_cast<double>(g.inputs * g.outputs) / 16;
  const double transforms = kInput * static_cast<double>(g.inputs) + kOutput * static_cast<double>(g.outputs);
  return static_cast<double>(g.tiles()) * (36 * pairs / rate + transforms) + pairs * (sums ? kWeightGradient : kWeight);
}

// What is chosen must not depend on how many samples stand beside one: several ranks with a part of a batch each would
// compute another way than one, and drift apart by the difference of the two. So both ways are judged for so many
// samples a thread, whatever there are.
constexpr std::int64_t kJudgedSamples = 16;

bool isBetter(WinogradGeometry g, ConvolutionPart part, bool bf16) {
  g.batch = kJudgedSamples;
  return winogradCost(g, part) < directCost(g, part, bf16);
}

}  // namespace

std::optional<WinogradGeometry> winogradOf(const Plan& plan, const ConvolutionDescription& g, ConvolutionPart part) {
  const auto all = [](const dnnl::memory::dims& dims, std::int64_t value) {
    return std::all_of(dims.begin(), dims.end(), [value](std::int64_t one) { return one == value; });
  };
  if (isa() == Isa::baseline || g.groups != 1 || g.input.size() != 4 || g.weight[2] != 3 || g.weight[3] != 3 ||
      !all(g.strides, 1) || !all(g.dilation, 0) || g.input[1] % 16 != 0 || g.output[1] % 16 != 0) {
    return {};
  }
  WinogradGeometry w{.batch = g.batch,
                     .height = g.input[2],
                     .width = g.input[3],
                     .inputs = g.input[1],
                     .outHeight = g.output[2],
                     .outWidth = g.output[3],
                     .outputs = g.output[1],
                     .top = g.before[0],
                     .left = g.before[1]};
  if (part == ConvolutionPart::inputGradient) {
    std::swap(w.height, w.outHeight);
    std::swap(w.width, w.outWidth);
    std::swap(w.inputs, w.outputs);
    w.top = 2 - w.top;
    w.left = 2 - w.left;
  }
  const std::int64_t threads = part == ConvolutionPart::weightGradient ? plan.threads() : 1;
  if (4 * winogradWeightFloats(w) * threads > kMostBytes) return {};
  const bool bf16 = plan.bf16(), better = !(bf16 && multipliesInTiles()) && isBetter(w, part, bf16);
  return isTaken(plan.ways().winograd, better) ? std::optional(w) : std::nullopt;
}

void emitWinograd(Plan& plan, const WinogradGeometry& g, const std::string& name, TensorId x, TensorId w, bool turned,
                  TensorId bias, bool relu, TensorId y) {
  const Layout layout = channelsLast(plan.shape(x).rank());
  const StoredRef input = plan.readStored(x, layout);
  const auto weight = plan.read(w), added = plan.readOptional(bias);
  const StoredRef output = plan.writeStored(y, layout);
  // Made in this stage, not once a change of the weight: it costs a few hundredths of the stage, and what is kept would
  // be four times the weight in both directions.
  const auto transformed = plan.scratch(winogradWeightFloats(g));
  const auto scratch = plan.scratchOfThreads(winogradScratch(g));
  plan.stage(name, std::string("own winograd:") + toString(isa()), "channels-last", [=](const Worker& worker) {
    if (worker.phase == 0) {
      const auto [first, last] = worker.share(winogradWeightUnits(g));
      return winogradWeights(g, weight.get(), turned, transformed.get(), first, last);
    }
    const auto [first, last] = worker.share(g.tiles(), 4);
    winogradConvolution(g, input.get(), transformed.get(), added.get(), relu, output.get(), first, last,
                        scratch.of(worker.thread));
  });
  plan.phases(2);
  plan.pieces(g.tiles() / plan.threads(), winogradBlock(g),
              36.0 * static_cast<double>(g.tiles() * g.inputs * g.outputs));
}

void emitWinogradWeightGradient(Plan& plan, const WinogradGeometry& g, const std::string& name, TensorId x, TensorId dy,
                                TensorId dw) {
  const Layout layout = channelsLast(plan.shape(x).rank());
  const StoredRef input = plan.readStored(x, layout), gradient = plan.readStored(dy, layout);
  const auto target = plan.writeGradient(dw);
  const std::int64_t floats = winogradWeightFloats(g);
  const auto sums = plan.scratch(floats * plan.threads());
  const auto scratch = plan.scratchOfThreads(winogradScratch(g));
  plan.stage(name, std::string("own winograd:") + toString(isa()), "channels-last", [=](const Worker& worker) {
    if (worker.phase == 0) {
      const auto [first, last] = worker.share(g.tiles(), 4);
      return winogradWeightSums(g, input.get(), gradient.get(), first, last, sums.get() + worker.index * floats,
                                scratch.of(worker.thread));
    }
    const auto [first, last] = worker.share(winogradWeightUnits(g));
    winogradWeightGradient(g, sums.get(), worker.count, target.to.get(), target.adds(worker), first, last);
  });
  plan.phases(2);
}

}  // namespace loom::cpu
