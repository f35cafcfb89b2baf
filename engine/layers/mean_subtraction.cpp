#include <fmt/format.h>

#include <numeric>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"

namespace loom {
namespace mean_subtraction_layer {

Entry entry() {
  return parts::completed(
      {.id = "MeanSubtraction",
       .category = "normalisation",
       .aliases = {"Centering", "RunningMeanSubtraction"},
       .summary = "Subtracts the mean of all batches that training has seen.",
       .help = "y = x − m. In training m is first brought up to date: the t-th batch with the mean μ makes it "
               "m ← m + (μ − m) / t, so that m is the mean of all t batches, the present one included. In validation "
               "and prediction m stays as it is. It takes the place of a mean that one would have to measure "
               "beforehand.\n\n"
               "Means are taken over the batch and the axes before Base axis, so there is one for each place behind "
               "it: with 0 an image loses the mean image. The present batch's share of m, 1 / t, takes part in "
               "the gradient; what earlier batches left does not. Over several ranks or accumulation passes each shard "
               "subtracts its own, and m keeps their mean.\n\n"
               "States: mean, one number a place, and batches, how many there were.",
       .inputs = {parts::valuesIn("Any shape.")},
       .fields = {
           {.key = "base_axis",
            .label = "Base axis",
            .help = "The first axis that keeps its places; means are taken over those before it.",
            .type = FieldType::integer,
            .defaultValue = 0,
            .hard = Range{0, 7}},
           parts::switchField("update", "Update mean",
                              "Training brings the mean up to date; without it, it stays as it was loaded.", true)}});
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  const std::int64_t base = arguments.values.integer("base_axis"), rank = static_cast<std::int64_t>(input.rank());
  if (base >= rank)
    throw LayerError(fmt::format("'base_axis' is {}, but the input {} has {} axes: at most {} leaves one behind it",
                                 base, parts::shapeText(input), rank, rank - 1),
                     "base_axis", std::max<std::int64_t>(rank - 1, 0));
  return {input};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  ProgramBuilder& builder = arguments.builder;
  const TensorId x = arguments.inputs[0];
  const Shape input = parts::sampleShape(arguments);
  const std::int64_t base = arguments.values.integer("base_axis");
  const Shape places(std::vector<std::int64_t>(input.begin() + base, input.end()));
  TensorId mean = builder.state({.name = arguments.scope + "/mean", .shape = places, .isState = true});
  if (builder.training() && arguments.values.boolean("update")) {
    const TensorId batches = builder.state({.name = arguments.scope + "/batches", .shape = {1}, .isState = true});
    std::vector<std::int64_t> axes(static_cast<std::size_t>(base + 1));  // the batch's, too
    std::iota(axes.begin(), axes.end(), 0);
    const TensorId now = builder.add("reduce", {x}, {{"function", "mean"}, {"axes", axes}, {"keep", false}});
    mean = builder.add("running_mean", {now, mean, batches});
  }
  std::vector<std::int64_t> beside(static_cast<std::size_t>(base + 1), 1);
  beside.insert(beside.end(), places.begin(), places.end());
  return {parts::binary(arguments, "subtract", x, builder.add("reshape", {mean}, {{"shape", beside}}))};
}

}  // namespace mean_subtraction_layer

const LayerDefinition& defineMeanSubtractionLayer() {
  using namespace mean_subtraction_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
