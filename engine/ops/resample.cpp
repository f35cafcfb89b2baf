// resample: value a of y along `axis` is the sum over the entries k of row a of weights[k] x at places[k].
#include "engine/ops/resample.h"

#include "engine/ops/support.h"

namespace loom {

AxisMap AxisMap::transposed(std::int64_t length) const {
  AxisMap map;
  map.starts.assign(static_cast<std::size_t>(length) + 1, 0);
  for (std::int64_t place : places) ++map.starts[static_cast<std::size_t>(place) + 1];
  for (std::size_t i = 1; i < map.starts.size(); ++i) map.starts[i] += map.starts[i - 1];
  map.places.resize(places.size());
  map.weights.resize(weights.size());
  std::vector<std::int64_t> next(map.starts.begin(), map.starts.end() - 1);
  for (std::int64_t row = 0; row < this->length(); ++row)
    for (auto k = static_cast<std::size_t>(starts[static_cast<std::size_t>(row)]);
         k < static_cast<std::size_t>(starts[static_cast<std::size_t>(row) + 1]); ++k) {
      const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(places[k])]++);
      map.places[to] = row;
      if (!weights.empty()) map.weights[to] = weights[k];
    }
  return map;
}

Attributes attributesOf(const AxisMap& map, std::int64_t axis) {
  Attributes attributes{{"axis", axis}, {"starts", map.starts}, {"places", map.places}};
  if (!map.weights.empty()) attributes.set("weights", map.weights);
  if (map.fill != 0) attributes.set("fill", map.fill);
  return attributes;
}

AxisMap axisMapOf(const Attributes& attributes, std::int64_t extent) {
  AxisMap map{.starts = attributes.integers("starts"), .places = attributes.integers("places")};
  if (attributes.has("weights")) map.weights = attributes.reals("weights");
  map.fill = attributes.real("fill", 0);
  if (map.starts.size() < 2 || map.starts.front() != 0 || !std::is_sorted(map.starts.begin(), map.starts.end()) ||
      map.starts.back() != static_cast<std::int64_t>(map.places.size()))
    throwError(ErrorCode::badProject, "the 'starts' of a resampling must go from 0 to its {} places and not fall",
               map.places.size());
  if (!map.weights.empty() && map.weights.size() != map.places.size())
    throwError(ErrorCode::badProject, "a resampling has {} weights for {} places", map.weights.size(),
               map.places.size());
  for (std::int64_t place : map.places)
    if (place < 0 || place >= extent)
      throwError(ErrorCode::badProject, "a resampling takes value {}, but the axis has {}: 0 to {}", place, extent,
                 extent - 1);
  return map;
}

namespace resample_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  ops::needFloat("the input", inputs[0]);
  Shape y = inputs[0].shape;
  const std::int64_t axis = ops::axisOf(y, attributes, 1);
  y[axis] = axisMapOf(attributes, y[axis]).length();
  return {ops::f32(y)};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const Shape x = builder.shape(arguments.inputs[0]);
  const std::int64_t axis = ops::axisOf(x, arguments.attributes, 1);
  const AxisMap map = axisMapOf(arguments.attributes, x[axis]).transposed(x[axis]);
  return {builder.add("resample", {arguments.outputGradients[0]}, attributesOf(map, axis))};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const Shape& x = inputs[0]->shape;
  const std::int64_t axis = ops::axisOf(x, attributes, 1);
  const AxisMap map = axisMapOf(attributes, x[axis]);
  const ops::AxisView from = ops::viewAlong(x, axis);
  double* y = outputs[0].values.data();
  for (std::int64_t o = 0; o < from.outer; ++o)
    for (std::size_t a = 0; a + 1 < map.starts.size(); ++a)
      for (std::int64_t i = 0; i < from.inner; ++i) {
        double sum = map.starts[a] == map.starts[a + 1] ? map.fill : 0;
        for (std::int64_t k = map.starts[a]; k < map.starts[a + 1]; ++k) {
          const std::int64_t place = (o * from.length + map.places[static_cast<std::size_t>(k)]) * from.inner + i;
          sum += map.weight(k) * inputs[0]->values[static_cast<std::size_t>(place)];
        }
        *y++ = sum;
      }
}

}  // namespace resample_op

const OpDefinition& defineResampleOp() {
  using namespace resample_op;
  static const OpDefinition op{
      .name = "resample", .infer = infer, .gradient = gradient, .reference = reference, .signature = "x -> y"};
  return op;
}

}  // namespace loom
