// concatenate, slice, slice_gradient, reshape, stop_gradient, transpose: the last three only rename memory.
#include "engine/cuda/kernels/shaping.h"

#include <algorithm>
#include <numeric>

#include "engine/cuda/lowerings/lowerings.h"
#include "engine/cuda/lowerings/memory_order.h"

namespace loom::cuda {
namespace {

// The largest unit of a move in which everything that it counts, in bytes, is whole.
std::int64_t unitOf(std::initializer_list<std::int64_t> bytes) {
  std::int64_t unit = 16;
  for (const std::int64_t one : bytes) unit = std::gcd(unit, one);
  return unit;
}

struct Move {
  Operand from;
  std::int64_t extent = 1, at = 0;  // of the axis, and where it begins in the result
};

void lowerConcatenate(Plan& plan, const Operation& operation) {
  const TensorId y = operation.outputs[0];
  const DataType type = plan.tensor(y).type;
  const std::int64_t axis = axisOf(plan, y, operation, 1);
  Layout layout = plainLayout(plan.shape(y).rank());
  for (const TensorId id : operation.inputs)
    if (!isPlain(plan.shape(id), plan.layoutOf(id))) {
      layout = plan.layoutOf(id);
      break;
    }
  const Around whole = aroundAxis(plan.shape(y), layout, axis);
  const std::int64_t bytes = whole.inner * static_cast<std::int64_t>(bytesOf(type));
  std::vector<Move> moves;
  std::int64_t at = 0, unit = 16;
  for (const TensorId id : operation.inputs) {
    const std::int64_t extent = plan.shape(id)[axis];
    moves.push_back({plan.read(id, layout, type), extent, at});
    unit = std::gcd(unit, unitOf({extent * bytes, at * bytes}));
    at += extent;
  }
  const Operand to = plan.write(y, layout);
  for (std::size_t first = 0; first < moves.size(); first += kMostParts) {
    const std::vector<Move> some(
        moves.begin() + static_cast<std::ptrdiff_t>(first),
        moves.begin() + static_cast<std::ptrdiff_t>(std::min(moves.size(), first + kMostParts)));
    CopyArguments arguments{.unit = static_cast<int>(unit)};
    std::vector<Operand> reads;
    std::int64_t most = 0;
    std::size_t written = 0;
    for (std::size_t k = 0; k < some.size(); ++k) {
      const std::int64_t row = some[k].extent * bytes / unit;  // units of one outer index
      arguments.parts[k].count = whole.outer * row;
      const Axis from[] = {{whole.outer, row}, {row, 1}},
                 there[] = {{whole.outer, whole.extent * bytes / unit}, {row, 1}};
      arguments.parts[k].source = stridedOf(from);
      arguments.parts[k].target = stridedOf(there);
      reads.push_back(some[k].from);
      most = std::max(most, arguments.parts[k].count);
      written += some[k].from.bytes;
    }
    Launch launch = overElements(most);
    launch.grid.y = static_cast<unsigned>(some.size());
    plan.kernel("copy_parts", launch, reads, {to.moving(written)}, [=]() mutable {
      for (std::size_t k = 0; k < some.size(); ++k) {
        arguments.parts[k].from = some[k].from.address();
        arguments.parts[k].to = to.address() + some[k].at * bytes;
      }
      return arguments;
    });
  }
}

// What slice and slice_gradient say of the axis, in memory order.
struct SliceCut {
  Around large, small;
  std::int64_t start, step, unit, inner;  // inner: in units
};

// Numbers move in the type in which they are written.
SliceCut cutOf(const Plan& plan, const Operation& operation, TensorId large, TensorId small, const Layout& layout) {
  const std::int64_t axis = axisOf(plan, large, operation, 1);
  SliceCut cut{.large = aroundAxis(plan.shape(large), layout, axis),
               .small = aroundAxis(plan.shape(small), layout, axis),
               .start = operation.attributes.integer("start", 0),
               .step = operation.attributes.integer("step", 1)};
  const std::int64_t bytes =
      cut.large.inner * static_cast<std::int64_t>(bytesOf(plan.tensor(operation.outputs[0]).type));
  cut.unit = unitOf({bytes});
  cut.inner = bytes / cut.unit;
  return cut;
}

void lowerSlice(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const Layout layout = plan.layoutOf(x);
  const Operand from = plan.read(x, layout, plan.tensor(y).type), to = plan.write(y, layout);
  const SliceCut cut = cutOf(plan, operation, x, y, layout);
  const Axis source[] = {
      {cut.large.outer, cut.large.extent * cut.inner}, {cut.small.extent, cut.step * cut.inner}, {cut.inner, 1}};
  const std::int64_t count = cut.large.outer * cut.small.extent * cut.inner;
  const Axis target[] = {{count, 1}};
  CopyArguments arguments{.unit = static_cast<int>(cut.unit)};
  arguments.parts[0].count = count;
  arguments.parts[0].source = stridedOf(source);
  arguments.parts[0].target = stridedOf(target);
  const std::int64_t skipped = cut.start * cut.inner * cut.unit;
  plan.kernel("copy_parts", overElements(count), {from.moving(to.bytes)}, {to}, [=]() mutable {
    arguments.parts[0].from = from.address() + skipped;
    arguments.parts[0].to = to.address();
    return arguments;
  });
}

void lowerSliceGradient(Plan& plan, const Operation& operation) {
  const TensorId dy = operation.inputs[0], dx = operation.outputs[0];
  const Layout layout = plan.layoutOf(dy);
  const Operand from = plan.read(dy, layout, plan.tensor(dx).type), to = plan.write(dx, layout);
  const SliceCut cut = cutOf(plan, operation, dx, dy, layout);
  ScatterArguments arguments{.count = cut.large.outer * cut.large.extent * cut.inner,
                             .inner = divisorOf(cut.inner),
                             .extent = divisorOf(cut.large.extent),
                             .step = divisorOf(cut.step),
                             .start = cut.start,
                             .length = cut.small.extent,
                             .unit = static_cast<int>(cut.unit)};
  plan.kernel("scatter_slice", overElements(arguments.count), {from}, {to}, [=]() mutable {
    arguments.from = from.address();
    arguments.to = to.address();
    return arguments;
  });
}

void lowerReshape(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  plan.alias(y, plainLayout(plan.shape(y).rank()), x, plainLayout(plan.shape(x).rank()));
}

void lowerStopGradient(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0];
  plan.alias(operation.outputs[0], plan.layoutOf(x), x, plan.layoutOf(x));
}

// Axis i of the result is axis axes[i] of x: the same memory under other names.
void lowerTranspose(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const auto rank = static_cast<std::int64_t>(plan.shape(x).rank());
  std::vector<int> nameOf(static_cast<std::size_t>(rank));
  int name = 0;
  for (std::int64_t axis : operation.attributes.integers("axes"))
    nameOf[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = name++;
  Layout renamed;
  for (int axis : plan.layoutOf(x)) renamed.push_back(nameOf[static_cast<std::size_t>(axis)]);
  plan.alias(y, renamed, x, plan.layoutOf(x));
}

// A row says which inputs may stand in 16 bits by their places: of a concatenation the first 64, which is more than a
// drawing has.
std::vector<int> many() {
  std::vector<int> places(64);
  std::iota(places.begin(), places.end(), 0);
  return places;
}

}  // namespace

LoweringRows shapingRows() {
  static const LoweringRow rows[] = {
      {"concatenate", lowerConcatenate, {}, {many(), true}},
      {"reshape", lowerReshape, {}, {{0}, true, 0}},
      {"slice", lowerSlice, {}, {{0}, true, 0}},
      {"slice_gradient", lowerSliceGradient, {}, {{0}, true}},
      {"stop_gradient", lowerStopGradient, {}, {{0}, true, 0}},
      {"transpose", lowerTranspose, {}, {{0}, true, 0}},
  };
  return rows;
}

}  // namespace loom::cuda
