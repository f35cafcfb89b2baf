// reduce, sum_to: what is summed lies in rows (their numbers are added up) or is whole rows (rows are added up). Where
// there are too few sums to fill a device, each is taken in slices first.
#include "engine/cuda/lowerings/reduction.h"

#include <algorithm>
#include <bit>

#include "engine/cuda/kernels/reduce.h"
#include "engine/cuda/lowerings/lowerings.h"

namespace loom::cuda {
namespace {

constexpr std::int64_t kWantedBlocks = 1024;  // so many keep any device busy; the same on all, so that sums are
constexpr std::int64_t kMostBlocks = 1 << 16;

// A sum over some axes in memory order. Neighbours that are all kept or all summed are one; the innermost is a row.
struct Reduction {
  std::vector<Axis> kept, summed;  // strides in elements
  std::int64_t columns = 1;        // of a row that stays; its axis is in neither list
  bool rowKept = false;
  std::int64_t results = 1, terms = 1;  // products over kept and summed
};

Reduction reductionOf(std::span<const SummedAxis> axes) {
  Reduction reduction;
  std::int64_t stride = 1;
  bool first = true;
  for (std::size_t k = axes.size(); k-- > 0;) {
    const std::int64_t extent = axes[k].extent;
    if (extent == 1) continue;
    if (first) reduction.rowKept = !axes[k].summed;
    if (!axes[k].summed && reduction.rowKept && stride == reduction.columns) {
      reduction.columns *= extent;  // still the row
    } else {
      auto& list = axes[k].summed ? reduction.summed : reduction.kept;
      list.insert(list.begin(), {extent, stride});
      (axes[k].summed ? reduction.terms : reduction.results) *= extent;
    }
    stride *= extent;
    first = false;
  }
  return reduction;
}

Launch blocksOf(std::int64_t blocks) {
  return {.grid = {static_cast<unsigned>(std::clamp<std::int64_t>(blocks, 1, kMostBlocks))}, .block = {kReduceThreads}};
}

// Into how many slices of how many terms each of `sums` sums is cut, none shorter than `least`.
std::pair<std::int64_t, std::int64_t> slicesOf(std::int64_t sums, std::int64_t terms, std::int64_t least) {
  const std::int64_t wanted = std::min((kWantedBlocks + sums - 1) / sums, terms / least);
  if (wanted <= 1) return {1, terms};
  const std::int64_t share = ((terms + wanted - 1) / wanted + least - 1) / least * least;
  return {(terms + share - 1) / share, share};
}

void sumRows(Plan& plan, const Reduction& r, const Operand& from, float factor, const Operand& to) {
  constexpr std::int64_t kForBlocks = 1024, kLeastSlice = 8192;  // numbers of a sum
  const auto [slices, share] = slicesOf(r.results, r.terms, kLeastSlice);
  const Operand parts = slices == 1 ? to : plan.scratch(static_cast<std::size_t>(r.results * slices) * sizeof(float));
  ReduceRowsArguments arguments{.results = r.results,
                                .length = r.terms,
                                .share = share,
                                .slices = divisorOf(slices),
                                .kept = stridedOf(r.kept),
                                .summed = stridedOf(r.summed),
                                .wholeBlock = share >= kForBlocks,
                                .factor = slices == 1 ? factor : 1};
  const std::int64_t teams = arguments.wholeBlock ? 1 : kReduceThreads / 32;
  plan.kernel(named("reduce_rows", from.type), blocksOf((r.results * slices + teams - 1) / teams), {from}, {parts},
              [=]() mutable {
                arguments.from = from.address();
                arguments.sums = parts.address<float>();
                return arguments;
              });
  if (slices == 1) return;
  Operand sums = parts;
  sums.type = DataType::f32;
  const SummedAxis axes[] = {{r.results, false}, {slices, true}};
  sumRows(plan, reductionOf(axes), sums, factor, to);
}

void sumColumns(Plan& plan, const Reduction& r, const Operand& from, float factor, const Operand& to) {
  const std::int64_t pack = 16 / static_cast<std::int64_t>(bytesOf(from.type));
  const bool packed = r.columns % pack == 0;
  const std::int64_t perRow = packed ? r.columns / pack : r.columns;
  const int width = static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(std::min<std::int64_t>(perRow, 32))));
  const std::int64_t tiles = (perRow + width - 1) / width, rows = kReduceThreads / width;
  const auto [slices, share] = slicesOf(r.results * tiles, r.terms, 16 * rows);
  const Operand parts =
      slices == 1 ? to : plan.scratch(static_cast<std::size_t>(slices * r.results * r.columns) * sizeof(float));
  ReduceColumnsArguments arguments{.results = r.results,
                                   .terms = r.terms,
                                   .share = share,
                                   .slices = slices,
                                   .columns = r.columns,
                                   .tiles = divisorOf(tiles),
                                   .kept = stridedOf(r.kept),
                                   .summed = stridedOf(r.summed),
                                   .width = width,
                                   .packed = packed,
                                   .factor = slices == 1 ? factor : 1};
  plan.kernel(named("reduce_columns", from.type), blocksOf(r.results * slices * tiles), {from}, {parts}, [=]() mutable {
    arguments.from = from.address();
    arguments.sums = parts.address<float>();
    return arguments;
  });
  if (slices == 1) return;
  Operand sums = parts;
  sums.type = DataType::f32;
  const SummedAxis axes[] = {{slices, true}, {r.results * r.columns, false}};
  sumColumns(plan, reductionOf(axes), sums, factor, to);
}

// A warp takes a result where its terms lie side by side, else a thread does and its neighbours take the neighbours.
void fold(Plan& plan, ReduceFunction function, const Operand& from, std::span<const SummedAxis> axes,
          const Operand& to) {
  std::vector<Axis> kept, folded;
  std::int64_t stride = 1;
  for (std::size_t k = axes.size(); k-- > 0;) {
    auto& list = axes[k].summed ? folded : kept;
    list.insert(list.begin(), {axes[k].extent, stride});
    stride *= axes[k].extent;
  }
  const auto product = [](const std::vector<Axis>& list) {
    std::int64_t count = 1;
    for (const Axis& axis : list) count *= axis.extent;
    return count;
  };
  FoldArguments arguments{.results = product(kept),
                          .length = product(folded),
                          .kept = stridedOf(kept),
                          .folded = stridedOf(folded),
                          .function = function};
  arguments.wholeWarp = arguments.folded.step() == 1 && arguments.length > 1;
  plan.kernel(named("fold", from.type), overElements(arguments.results * (arguments.wholeWarp ? 32 : 1)), {from}, {to},
              [=]() mutable {
                arguments.from = from.address();
                arguments.to = to.address<float>();
                return arguments;
              });
}

void lowerReduce(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const Shape& shape = plan.shape(x);
  std::vector<bool> summed(shape.rank(), !operation.attributes.has("axes"));
  if (operation.attributes.has("axes"))
    for (std::int64_t axis : operation.attributes.integers("axes"))
      summed[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(shape.rank()) : axis)] = true;
  const Layout layout = plan.layoutOf(x);
  std::vector<SummedAxis> axes;
  double count = 1;
  Layout left;  // the axes that stay, in memory order, with their new numbers
  const bool keep = operation.attributes.boolean("keep", false);
  for (int axis : layout) {
    const bool gone = summed[static_cast<std::size_t>(axis)];
    axes.push_back({shape[axis], gone});
    if (gone) count *= static_cast<double>(shape[axis]);
    if (keep) left.push_back(axis);
    if (!keep && !gone) left.push_back(static_cast<int>(std::count(summed.begin(), summed.begin() + axis, false)));
  }
  const Operand from = plan.read(x, layout), to = plan.write(y, left);
  const ReduceFunction function = reduceFunctionOf(operation.attributes);
  if (isSum(function))
    appendSum(plan, from, axes, function == ReduceFunction::mean ? static_cast<float>(1 / count) : 1.0f, to);
  else
    fold(plan, function, from, axes, to);
}

void lowerSumTo(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const Layout layout = plan.layoutOf(x);
  const Shape &shape = plan.shape(x), &result = plan.shape(y);
  std::vector<SummedAxis> axes;
  for (int axis : layout) axes.push_back({shape[axis], result[axis] == 1 && shape[axis] != 1});
  const Operand from = plan.read(x, layout), to = plan.write(y, layout);
  appendSum(plan, from, axes, 1, to);
}

const LoweringRow kRows[] = {
    {"reduce", lowerReduce, {}, {{0}}},
    {"sum_to", lowerSumTo, {}, {{0}}},
};

}  // namespace

void appendSum(Plan& plan, const Operand& from, std::span<const SummedAxis> axes, float factor, const Operand& to) {
  const Reduction reduction = reductionOf(axes);
  (reduction.rowKept ? sumColumns : sumRows)(plan, reduction, from, factor, to);
}

void appendSum(Plan& plan, const Operand& from, std::int64_t count, float factor, const Operand& to) {
  const SummedAxis all{count, true};
  appendSum(plan, from, {&all, 1}, factor, to);
}

LoweringRows reductionRows() {
  return kRows;
}

}  // namespace loom::cuda
