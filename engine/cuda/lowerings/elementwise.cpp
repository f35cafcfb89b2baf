// unary: in whatever layout the input stands.
#include "engine/cuda/kernels/elementwise.h"

#include "engine/cuda/lowerings/lowerings.h"

namespace loom::cuda {
namespace {

void lowerUnary(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const DataType type = plan.tensor(y).type;
  const Layout layout = plan.layoutOf(x);
  const Operand from = plan.read(x, layout, type), to = plan.write(y, layout);
  plan.mayOverwrite(y, x);
  UnaryArguments arguments{.count = plan.shape(y).elements(),
                           .function = unaryFunctionOf(operation.attributes),
                           .alpha = static_cast<float>(unaryAlphaOf(operation.attributes))};
  plan.kernel(named("unary", type), overElements(arguments.count, 16 / static_cast<std::int64_t>(bytesOf(type))),
              {from}, {to}, [=]() mutable {
                arguments.x = from.address();
                arguments.y = to.address();
                return arguments;
              });
}

const LoweringRow kRows[] = {
    {"unary", lowerUnary, {}, {{0}, true}},
};

}  // namespace

LoweringRows elementwiseRows() {
  return kRows;
}

}  // namespace loom::cuda
