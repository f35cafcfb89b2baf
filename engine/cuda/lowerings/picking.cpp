// resample, one_hot, top_k.
#include "engine/cuda/kernels/picking.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/cuda/lowerings/indices.h"
#include "engine/cuda/lowerings/lowerings.h"
#include "engine/cuda/lowerings/memory_order.h"
#include "engine/ops/resample.h"

namespace loom::cuda {
namespace {

template <class Number, class From>
std::vector<std::byte> bytesAs(const std::vector<From>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(Number));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto number = static_cast<Number>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(Number), &number, sizeof(Number));
  }
  return bytes;
}

void lowerResample(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const DataType type = plan.tensor(y).type;
  const std::int64_t axis = axisOf(plan, x, operation, 1);
  const AxisMap map = axisMapOf(operation.attributes, plan.shape(x)[axis]);
  if (std::max(map.places.size(), static_cast<std::size_t>(plan.shape(x)[axis])) >> 31 != 0)
    throwError(ErrorCode::badProject, "a resampling of {} values is more than a GPU takes: at most {}",
               map.places.size(), (std::int64_t{1} << 31) - 1);
  const Layout layout = plan.layoutOf(x);
  const Operand from = plan.read(x, layout, type), to = plan.write(y, layout);
  const Around large = aroundAxis(plan.shape(x), layout, axis);
  const Operand starts = plan.constant(bytesAs<std::int32_t>(map.starts));
  // A map without entries has a place and a weight that nothing reads.
  const Operand places =
      plan.constant(bytesAs<std::int32_t>(map.places.empty() ? std::vector<std::int64_t>{0} : map.places));
  const Operand weights = map.weights.empty() ? Operand{} : plan.constant(bytesAs<float>(map.weights));
  ResampleArguments arguments{.count = plan.shape(y).elements(),
                              .inner = divisorOf(large.inner),
                              .length = divisorOf(map.length()),
                              .extent = large.extent,
                              .fill = static_cast<float>(map.fill)};
  plan.kernel(named("resample", type), overElements(arguments.count), {from, starts, places, weights}, {to},
              [=]() mutable {
                arguments.x = from.address();
                arguments.y = to.address();
                arguments.starts = starts.address<const std::int32_t>();
                arguments.places = places.address<const std::int32_t>();
                arguments.weights = weights.address<const float>();
                return arguments;
              });
}

void lowerOneHot(Plan& plan, const Operation& operation) {
  const TensorId indices = operation.inputs[0], y = operation.outputs[0];
  const std::int64_t classes = operation.attributes.integer("classes");
  checkIndices(plan, indices, classes, "index");
  const Operand from = plan.read(indices), to = plan.write(y);
  OneHotArguments arguments{.count = plan.shape(y).elements(), .classes = divisorOf(classes)};
  plan.kernel(named("one_hot", plan.tensor(y).type), overElements(arguments.count), {from}, {to}, [=]() mutable {
    arguments.indices = from.address<const std::int32_t>();
    arguments.y = to.address();
    return arguments;
  });
}

void lowerTopK(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0];
  const std::int64_t n = plan.shape(x)[-1];
  if (n > 1 << 24)
    throwError(ErrorCode::badProject, "the first of {} values are wanted, but a GPU tells at most {} places apart", n,
               1 << 24);
  const Operand from = plan.read(x), values = plan.write(operation.outputs[0]),
                places = plan.write(operation.outputs[1]);
  OrderArguments arguments{.rows = plan.shape(x).elements() / n,
                           .n = n,
                           .k = operation.attributes.integer("k"),
                           .falling = operation.attributes.boolean("largest", true)};
  plan.kernel("first_in_order", overElements(arguments.rows * 32), {from}, {values, places}, [=]() mutable {
    arguments.x = from.address<const float>();
    arguments.values = values.address<float>();
    arguments.places = places.address<float>();
    return arguments;
  });
}

}  // namespace

LoweringRows pickingRows() {
  static const LoweringRow rows[] = {
      {"one_hot", lowerOneHot, {}, {{}, true}},
      {"resample", lowerResample, {}, {{0}, true}},
      {"top_k", lowerTopK},
  };
  return rows;
}

}  // namespace loom::cuda
