#include "engine/cpu/lowerings/pixels.h"

#include <algorithm>

#include "engine/cpu/kernels/bf16.h"
#include "engine/cpu/kernels/gemm_amx.h"
#include "engine/cpu/kernels/gemm_bf16.h"
#include "engine/cpu/lowerings/product.h"

namespace loom::cpu {
namespace {

constexpr std::int64_t kRows = 96;                            // of a product at a time, as gemm() takes them
constexpr std::int64_t kBlockBytes = std::int64_t{4} << 20;   // of what is packed at a time
constexpr std::int64_t kNearBytes = std::int64_t{256} << 10;  // of that, what stays in the level-2 cache beside others
constexpr std::int64_t kLeastPixels = 512, kMostPixels = 1024;

std::string implementation() {
  return std::string("own products:") + toString(isa());
}

// In the type that is multiplied in.
StoredRef factorOf(Plan& plan, TensorId id, const Layout& layout) {
  if (!plan.bf16()) return inF32(plan.read(id, layout));
  return {plan.readBf16(id, layout).as<std::byte>(), true};
}

// Blocks of rows of results, of all samples, of about kRows pixels.
std::int64_t rowsOfBlock(const PixelGeometry& g) {
  return std::max<std::int64_t>(1, kRows / g.outWidth);
}

// Fitted to what was measured on Zen 4 (tests/bench/cpu_speed.md): products in panels of 64 columns are nearer to the
// peak than oneDNN's kernels, but for those that are short beside what they read.
bool isFaster(const PixelGeometry& g, ConvolutionPart part, bool bf16) {
  if (isa() == Isa::baseline || g.inputs % 64 != 0 || g.outputs % 64 != 0) return false;
  const std::int64_t pairs = g.inputs * g.outputs;
  const bool strided = g.down != 1 || g.across != 1;
  if (part == ConvolutionPart::weightGradient) {
    if (bf16 || isa() == Isa::avx2 || g.taps() > 1) return true;
    return strided ? pairs >= 512 * 1024 : pairs > 512 * 128 || g.outputs > g.inputs;
  }
  if (strided && pairs < 512 * 1024) return false;
  if (part == ConvolutionPart::inputGradient) return true;
  return isa() == Isa::avx512 && (!bf16 || pairs >= 256 * 1024);
}

}  // namespace

std::optional<PixelGeometry> pixelsOf(const Plan& plan, const ConvolutionDescription& g, ConvolutionPart part) {
  const bool dilated = std::any_of(g.dilation.begin(), g.dilation.end(), [](std::int64_t d) { return d != 0; });
  if (g.groups != 1 || g.input.size() != 4 || dilated || g.input[1] % 16 != 0 || g.output[1] % 16 != 0) return {};
  const PixelGeometry p{.batch = g.batch,
                        .height = g.input[2],
                        .width = g.input[3],
                        .inputs = g.input[1],
                        .outHeight = g.output[2],
                        .outWidth = g.output[3],
                        .outputs = g.output[1],
                        .kernelHeight = g.weight[2],
                        .kernelWidth = g.weight[3],
                        .down = g.strides[0],
                        .across = g.strides[1],
                        .top = g.before[0],
                        .left = g.before[1]};
  const bool bf16 = plan.bf16(), sums = part == ConvolutionPart::weightGradient;
  if (bf16 && (!multipliesBf16() || multipliesInTiles())) return {};
  if (!sums) {
    const bool inside = (p.outHeight - 1) * p.down < p.height && (p.outWidth - 1) * p.across < p.width;
    if (p.taps() != 1 || p.top != 0 || p.left != 0 || !inside) return {};
    if (bf16 && std::max(p.inputs, p.outputs) > kLongestToHalf) return {};
  }
  return isTaken(plan.ways().pixels, isFaster(p, part, bf16)) ? std::optional(p) : std::nullopt;
}

namespace {

// y = a b, of matrices in rows that stand one behind the other.
struct RowProduct {
  std::int64_t k, n;
  Ref<float> packed, bias;
  bool relu, bf16;

  void run(Stored a, Stored y, const GemmShare& share, float* scratch) const {
    GemmProblem problem{.m = share.lastRow,
                        .n = n,
                        .k = k,
                        .a = viewOf(a, k, 1),
                        .packed = packed.get(),
                        .ldc = n,
                        .bias = bias.get(),
                        .activation = relu ? Activation::relu : Activation::none};
    if (y.bf16)
      problem.half = reinterpret_cast<std::uint16_t*>(y.at);
    else
      problem.c = reinterpret_cast<float*>(y.at);
    multiply(problem, share, scratch, bf16);
  }
};

// Room for a block of rows of results by thread, in the type of `like`.
struct Blocks {
  Rooms room;
  bool bf16;

  Blocks(Plan& plan, std::int64_t numbers, bool half) : room(plan.scratchOfThreads(numbers)), bf16(half) {}
  Stored of(const Worker& worker) const { return {reinterpret_cast<std::byte*>(room.of(worker.thread)), bf16}; }
};

}  // namespace

void emitPixels(Plan& plan, const PixelGeometry& g, const std::string& name, TensorId x, TensorId w, TensorId bias,
                bool relu, TensorId y) {
  const Layout layout = channelsLast(plan.shape(x).rank());
  const bool bf16 = plan.bf16();
  const StoredRef input = factorOf(plan, x, layout), weight = inF32(plan.read(w));
  const auto added = plan.readOptional(bias);
  const StoredRef output = plan.writeStored(y, layout);
  const Product matrices{.name = name,
                         .m = g.pixels(),
                         .n = g.outputs,
                         .k = g.inputs,
                         .a = input,
                         .rowA = g.inputs,
                         .b = weight,
                         .rowB = 1,
                         .columnB = g.inputs,
                         .weight = w,
                         .bias = added,
                         .activation = relu ? Activation::relu : Activation::none};
  if (g.isPlain() && isHalved(plan, matrices)) return emitProduct(plan, matrices, {.to = output.at.as<float>()});
  const auto packed = packedB(plan, w, weight, 1, g.inputs, g.pixels(), g.inputs, g.outputs, bf16);
  const RowProduct product{g.inputs, g.outputs, packed, added, relu, bf16};
  const auto scratch = plan.scratchOfThreads(gemmScratch());
  const std::int64_t pixels = rowsOfBlock(g) * g.outWidth;
  const Blocks gathered(plan, g.isPlain() ? 0 : pixels * g.inputs, input.bf16);
  plan.stage(name, implementation(), "channels-last", [=](const Worker& worker) {
    float* room = scratch.of(worker.thread);
    if (g.isPlain()) return product.run(input.get(), output.get(), shareOf(worker, g.pixels(), g.outputs), room);
    const auto [first, last] = worker.share(g.batch * g.outHeight);
    for (std::int64_t row = first; row < last; row += rowsOfBlock(g)) {
      const std::int64_t rows = std::min(rowsOfBlock(g), last - row);
      gatherPixels(g, input.get(), row, rows, gathered.of(worker));
      product.run(gathered.of(worker), output.get().from(row * g.outWidth * g.outputs),
                  {0, rows * g.outWidth, 0, panelsOf(g.outputs)}, room);
    }
  });
  plan.pieces(g.pixels() / plan.threads(), kRows, multiplyAddsOf(matrices));
}

void emitPixelInputGradient(Plan& plan, const PixelGeometry& g, const std::string& name, TensorId dy, TensorId w,
                            TensorId dx) {
  const Layout layout = channelsLast(plan.shape(dy).rank());
  const bool bf16 = plan.bf16();
  const StoredRef gradient = factorOf(plan, dy, layout), weight = inF32(plan.read(w));
  const StoredRef result = plan.writeStored(dx, layout);
  const Product matrices{.name = name,
                         .m = g.pixels(),
                         .n = g.inputs,
                         .k = g.outputs,
                         .a = gradient,
                         .rowA = g.outputs,
                         .b = weight,
                         .rowB = g.inputs,
                         .weight = w};
  if (g.isPlain() && isHalved(plan, matrices)) return emitProduct(plan, matrices, {.to = result.at.as<float>()});
  const auto packed = packedB(plan, w, weight, g.inputs, 1, g.pixels(), g.outputs, g.inputs, bf16);
  const RowProduct product{g.outputs, g.inputs, packed, {}, false, bf16};
  const auto scratch = plan.scratchOfThreads(gemmScratch());
  const std::int64_t pixels = rowsOfBlock(g) * g.outWidth;
  const Blocks computed(plan, g.isPlain() ? 0 : pixels * g.inputs, result.bf16);
  plan.stage(name, implementation(), "channels-last", [=](const Worker& worker) {
    float* room = scratch.of(worker.thread);
    if (g.isPlain()) return product.run(gradient.get(), result.get(), shareOf(worker, g.pixels(), g.inputs), room);
    const auto [first, last] = worker.share(g.batch * g.outHeight);
    for (std::int64_t row = first; row < last; row += rowsOfBlock(g)) {
      const std::int64_t rows = std::min(rowsOfBlock(g), last - row);
      product.run(gradient.get().from(row * g.outWidth * g.outputs), computed.of(worker),
                  {0, rows * g.outWidth, 0, panelsOf(g.inputs)}, room);
      scatterPixels(g, computed.of(worker), row, rows, result.get());
    }
  });
  plan.pieces(g.pixels() / plan.threads(), kRows, multiplyAddsOf(matrices));
}

namespace {

// A thread's part of a weight gradient: sums over pixels [first, last) for some of the outputs, `to` being their first.
struct PixelSums {
  PixelGeometry g;
  bool bf16;
  std::int64_t blockPixels, blockColumns;

  PixelSums(const PixelGeometry& geometry, bool half) : g(geometry), bf16(half) {
    const std::int64_t near = kNearBytes / (bf16 ? 2 : 4) / g.columns() / 2 * 2;
    blockPixels = std::min(std::clamp(near, kLeastPixels, kMostPixels), (g.pixels() + 1) / 2 * 2);
    const std::int64_t most = kBlockBytes / (bf16 ? 2 : 4) / blockPixels / panelWidth() * panelWidth();
    blockColumns = std::min(g.columns(), most);
  }
  std::int64_t packed() const { return packedSize(blockPixels, blockColumns, bf16); }

  void run(Stored x, Stored dy, std::int64_t first, std::int64_t last, std::int64_t firstOutput,
           std::int64_t lastOutput, float* sums, bool add, float* packedRoom, float* scratch) const {
    for (std::int64_t pixel = first; pixel < last; pixel += blockPixels) {
      const std::int64_t count = std::min(blockPixels, last - pixel);
      for (std::int64_t column = 0; column < g.columns(); column += blockColumns) {
        const std::int64_t columns = std::min(blockColumns, g.columns() - column);
        packPixels(g, x, pixel, pixel + count, column, column + columns, packedRoom);
        multiply({.m = lastOutput - firstOutput,
                  .n = columns,
                  .k = count,
                  .a = viewOf(dy.from(pixel * g.outputs + firstOutput), 1, g.outputs),
                  .packed = packedRoom,
                  .c = sums + firstOutput * g.columns() + column,
                  .ldc = g.columns(),
                  .accumulate = add || pixel > first},
                 {0, lastOutput - firstOutput, 0, panelsOf(columns)}, scratch, bf16);
      }
    }
  }
};

}  // namespace

void emitPixelWeightGradient(Plan& plan, const PixelGeometry& g, const std::string& name, TensorId x, TensorId dy,
                             TensorId dw) {
  const Layout layout = channelsLast(plan.shape(x).rank());
  const bool bf16 = plan.bf16();
  const StoredRef input = factorOf(plan, x, layout), gradient = factorOf(plan, dy, layout);
  const auto target = plan.writeGradient(dw);
  const Product matrices{.name = name,
                         .m = g.outputs,
                         .n = g.inputs,
                         .k = g.pixels(),
                         .a = gradient,
                         .rowA = 1,
                         .columnA = g.outputs,
                         .b = input,
                         .rowB = g.inputs};
  if (g.isPlain() && isHalved(plan, matrices)) return emitProduct(plan, matrices, target);
  const PixelSums sums(g, bf16);
  const std::int64_t floats = g.outputs * g.columns();
  const auto packedRoom = plan.scratchOfThreads(sums.packed()), scratch = plan.scratchOfThreads(gemmScratch());
  // Threads share the outputs where their sums would be as large as what is summed, else the pixels.
  const bool byOutputs = g.pixels() < 8 * g.outputs;
  const int parts = byOutputs ? 1 : plan.threads();
  const bool inPlace = byOutputs && g.taps() == 1;
  const auto partial = plan.scratch(inPlace ? 0 : floats * parts);
  plan.stage(name, implementation(), "channels-last", [=](const Worker& worker) {
    float *mine = packedRoom.of(worker.thread), *room = scratch.of(worker.thread);
    const auto [firstOutput, lastOutput] = worker.share(g.outputs, 6);
    float* to = target.to.get();
    const bool adds = target.adds(worker);
    if (byOutputs) {
      sums.run(input.get(), gradient.get(), 0, g.pixels(), firstOutput, lastOutput, inPlace ? to : partial.get(),
               inPlace && adds, mine, room);
      if (inPlace) return;
    } else if (worker.phase == 0) {
      const auto [first, last] = worker.share(g.pixels(), 2);
      float* part = partial.get() + worker.index * floats;
      if (first == last) std::fill_n(part, floats, 0.0f);
      return sums.run(input.get(), gradient.get(), first, last, 0, g.outputs, part, false, mine, room);
    }
    sumPixelGradients(g, partial.get(), parts, to, adds, firstOutput, lastOutput);
  });
  if (!byOutputs) plan.phases(2);
}

}  // namespace loom::cpu
