// warp: each image of x under a map of its own, affine or bent before (warp.h), read between pixels (bilinear), 0
// outside; warp_gradient: the same backwards. The maps get no gradient.
#include "engine/ops/warp.h"

#include "engine/ops/support.h"

namespace loom {
namespace warp_op {

Shape outputOf(const Shape& x, const Attributes& attributes) {
  Shape y = x;
  if (attributes.has("extents")) {
    const std::vector<std::int64_t>& extents = attributes.integers("extents");
    if (extents.size() != 2 || extents[0] < 1 || extents[1] < 1)
      throwError(ErrorCode::badProject,
                 "'extents' of a warp must be rows and columns, each at least 1, but has {} numbers", extents.size());
    y[2] = extents[0];
    y[3] = extents[1];
  }
  return y;
}

void needMaps(const TensorSpec& maps, std::int64_t samples) {
  ops::needRank("the maps", maps, 2, 2);
  const std::int64_t numbers = maps.shape[1] == kBentNumbers ? kBentNumbers : kAffineNumbers;
  ops::needShape("the maps", maps, {samples, numbers});
}

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  ops::needFloat("the images", inputs[0]);
  ops::needRank("the images", inputs[0], 4, 4);
  ops::needFloat("the maps", inputs[1]);
  needMaps(inputs[1], inputs[0].shape[0]);
  return {ops::f32(outputOf(inputs[0].shape, attributes))};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  if (!arguments.wanted[0]) return {kNoTensor, kNoTensor};
  const Shape x = builder.shape(arguments.inputs[0]);
  return {builder.add("warp_gradient", {arguments.outputGradients[0], arguments.inputs[1]},
                      {{"input_extents", std::vector<std::int64_t>{x[2], x[3]}}}),
          kNoTensor};
}

// Calls visit(element of the whole image's tensor, element of the warped one's, weight).
template <class Visit>
void forEachTap(const Shape& x, const Shape& y, const ReferenceTensor& maps, const Visit& visit) {
  const auto numbers = static_cast<int>(maps.shape[1]);
  for (std::int64_t n = 0; n < x[0]; ++n)
    for (std::int64_t p = 0; p < y[2]; ++p)
      for (std::int64_t q = 0; q < y[3]; ++q) {
        const WarpTaps<double> taps =
            warpTaps(maps.values.data() + numbers * n, numbers, static_cast<int>(p), static_cast<int>(q),
                     static_cast<int>(y[2]), static_cast<int>(y[3]), static_cast<int>(x[2]), static_cast<int>(x[3]));
        for (std::int64_t c = 0; c < x[1]; ++c)
          for (int k = 0; k < 4; ++k)
            if (taps.places[k] >= 0)
              visit(static_cast<std::size_t>((n * x[1] + c) * x[2] * x[3] + taps.places[k]),
                    static_cast<std::size_t>(((n * x[1] + c) * y[2] + p) * y[3] + q), taps.weights[k]);
      }
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes&) {
  forEachTap(inputs[0]->shape, outputs[0].shape, *inputs[1], [&](std::size_t x, std::size_t y, double weight) {
    outputs[0].values[y] += weight * inputs[0]->values[x];
  });
}

std::vector<TensorSpec> inferGradient(ops::Specs inputs, const Attributes& attributes) {
  ops::needRank("the gradient", inputs[0], 4, 4);
  needMaps(inputs[1], inputs[0].shape[0]);
  Shape x = inputs[0].shape;
  x[2] = attributes.integers("input_extents").at(0);
  x[3] = attributes.integers("input_extents").at(1);
  return {ops::f32(x)};
}

void referenceGradient(ops::References inputs, ops::Outputs outputs, const Attributes&) {
  forEachTap(outputs[0].shape, inputs[0]->shape, *inputs[1], [&](std::size_t x, std::size_t y, double weight) {
    outputs[0].values[x] += weight * inputs[0]->values[y];
  });
}

}  // namespace warp_op

const OpDefinition& defineWarpOp() {
  using namespace warp_op;
  static const OpDefinition op{
      .name = "warp", .infer = infer, .gradient = gradient, .reference = reference, .signature = "x, maps -> y"};
  return op;
}

const OpDefinition& defineWarpGradientOp() {
  using namespace warp_op;
  static const OpDefinition op{
      .name = "warp_gradient", .infer = inferGradient, .reference = referenceGradient, .signature = "dy, maps -> dx"};
  return op;
}

}  // namespace loom
