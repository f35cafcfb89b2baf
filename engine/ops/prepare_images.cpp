// prepare_images: pixels as they are stored into what a network reads: crops, borders, mirroring and cut-outs
// (base/sample_window.h), then y = x scale + shift by channel; borders and cut-outs hold values of their own. Random
// words are those of Philox(seed, "prepare") at (row of the dataset, epoch): what the loader draws for that sample.
#include "engine/base/philox.h"
#include "engine/ops/image_preparation.h"
#include "engine/ops/support.h"

namespace loom {
namespace prepare_images_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  ops::needRank("the images (N x C x H x W)", inputs[0], 4, 4);
  if (inputs[0].type != DataType::u8)
    throwError(ErrorCode::badProject, "images are prepared from u8, but are {}", toString(inputs[0].type));
  const Shape& x = inputs[0].shape;
  ops::needShape("the row and epoch of each sample", inputs[1], {x[0], 2});
  const ImagePreparation preparation = imagePreparationOf(attributes);
  const auto channels = static_cast<std::size_t>(x[1]);
  if (preparation.scale.size() != channels || preparation.shift.size() != channels ||
      preparation.borders.size() != channels * preparation.steps.size() || preparation.steps.size() > kMostWindows)
    throwError(ErrorCode::internal, "{} channels are prepared by {} scales, {} shifts, and {} borders of {} steps",
               channels, preparation.scale.size(), preparation.shift.size(), preparation.borders.size(),
               preparation.steps.size());
  const SampleWindow window = windowOf(preparation.steps.data(), static_cast<int>(preparation.steps.size()), x[2], x[3],
                                       true, [](std::uint64_t) { return Philox::Block{}; });
  if (window.lacking >= 0 || window.size.rows != preparation.rows || window.size.columns != preparation.columns)
    throwError(ErrorCode::internal, "images of {} x {} are not {} x {} after preparation", x[2], x[3], preparation.rows,
               preparation.columns);
  return {ops::f32({x[0], x[1], preparation.rows, preparation.columns})};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const ImagePreparation preparation = imagePreparationOf(attributes);
  const Philox random(preparation.seed, kImageStream);
  const Shape &x = inputs[0]->shape, &y = outputs[0].shape;
  for (std::int64_t n = 0; n < x[0]; ++n) {
    const auto* const sample = inputs[1]->values.data() + 2 * n;
    const auto row = static_cast<std::uint64_t>(sample[0]);
    const auto epoch = static_cast<std::int64_t>(sample[1]);
    const SampleWindow window =
        windowOf(preparation.steps.data(), static_cast<int>(preparation.steps.size()), x[2], x[3], true,
                 [&](std::uint64_t number) { return random(row, windowCounter(epoch, number)); });
    for (std::int64_t c = 0; c < y[1]; ++c)
      for (std::int64_t i = 0; i < y[2]; ++i)
        for (std::int64_t j = 0; j < y[3]; ++j) {
          const auto channel = static_cast<std::size_t>(c);
          const int border = window.borderAt(i, j);
          const std::int64_t from = ((n * x[1] + c) * x[2] + window.sourceRow(i)) * x[3] + window.sourceColumn(j);
          outputs[0].values[static_cast<std::size_t>(((n * y[1] + c) * y[2] + i) * y[3] + j)] =
              border >= 0 ? preparation.border(border)[channel]
                          : inputs[0]->values[static_cast<std::size_t>(from)] * preparation.scale[channel] +
                                preparation.shift[channel];
        }
  }
}

std::vector<double> wide(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}
std::vector<float> narrow(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

}  // namespace prepare_images_op

Attributes attributesOf(const ImagePreparation& preparation) {
  std::vector<std::int64_t> kinds, positions, rows, columns, numbers;
  std::vector<double> probabilities;
  for (const WindowStep& step : preparation.steps) {
    kinds.push_back(static_cast<std::int64_t>(step.kind));
    positions.push_back(static_cast<std::int64_t>(step.position));
    rows.push_back(step.rows);
    columns.push_back(step.columns);
    numbers.push_back(static_cast<std::int64_t>(step.number));
    probabilities.push_back(step.probability);
  }
  return {{"kinds", kinds},
          {"positions", positions},
          {"rows", rows},
          {"columns", columns},
          {"numbers", numbers},
          {"probabilities", probabilities},
          {"borders", prepare_images_op::wide(preparation.borders)},
          {"scale", prepare_images_op::wide(preparation.scale)},
          {"shift", prepare_images_op::wide(preparation.shift)},
          {"seed", static_cast<std::int64_t>(preparation.seed)},
          {"shape", std::vector<std::int64_t>{preparation.rows, preparation.columns}}};
}

ImagePreparation imagePreparationOf(const Attributes& attributes) {
  ImagePreparation preparation;
  const std::vector<std::int64_t>&kinds = attributes.integers("kinds"), &positions = attributes.integers("positions"),
        &rows = attributes.integers("rows"), &columns = attributes.integers("columns"),
        &numbers = attributes.integers("numbers");
  const std::vector<double>& probabilities = attributes.reals("probabilities");
  for (std::size_t s = 0; s < kinds.size(); ++s)
    preparation.steps.push_back({.kind = static_cast<WindowKind>(kinds[s]),
                                 .position = static_cast<WindowPosition>(positions[s]),
                                 .rows = rows[s],
                                 .columns = columns[s],
                                 .probability = probabilities[s],
                                 .number = static_cast<std::uint64_t>(numbers[s])});
  preparation.borders = prepare_images_op::narrow(attributes.reals("borders"));
  preparation.scale = prepare_images_op::narrow(attributes.reals("scale"));
  preparation.shift = prepare_images_op::narrow(attributes.reals("shift"));
  preparation.seed = static_cast<std::uint64_t>(attributes.integer("seed"));
  preparation.rows = attributes.integers("shape")[0];
  preparation.columns = attributes.integers("shape")[1];
  return preparation;
}

const OpDefinition& definePrepareImagesOp() {
  using namespace prepare_images_op;
  static const OpDefinition op{
      .name = "prepare_images", .infer = infer, .reference = reference, .signature = "x, samples -> y"};
  return op;
}

}  // namespace loom
