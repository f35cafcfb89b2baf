// Where samples come in: a variable of the dataset, or numbers made on the spot (a GAN's noise, a constant target).
#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"
#include "engine/ops/noise.h"

namespace loom {
namespace input_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "Input";
  entry.category = entry.icon = "inputOutput";
  entry.aliases = {"Data", "Placeholder", "InputLayer", "Noise", "Random", "Constant", "Label", "Target"};
  entry.summary = "Brings a column of the dataset, or noise, into the network.";
  entry.help =
      "Each step brings a batch of N samples; the shape is that of one sample, channels first: 1×28×28 for a grey "
      "image of 28 × 28 pixels, 3×32×32 for a colour image, T×C for a sequence of T steps with C values each, 4 for "
      "four numbers.\n\n"
      "Values are numbers that layers calculate with. A label is the whole number of a class, counted from 0: it goes "
      "to the target of a classification loss and to accuracies. Indices are whole numbers that stand for symbols "
      "(characters, words): they go to an Embedding.\n\n"
      "An Input takes the column of the dataset's CSV that is called like it; Column names another one. With the "
      "source Normal or Uniform it makes noise instead, a function of the seed, its name, the step and the sample, so "
      "that a run can be repeated exactly; with the source Constant it gives one number everywhere, such as the "
      "target 1 of a generator.";
  entry.outputs = {{.key = "output", .label = "Output", .help = "One batch of samples."}};
  entry.fields = {{.key = "shape",
                   .label = "Shape",
                   .help = "Extents of one sample, channels first: 1×28×28 for a grey image, 1 for a label.",
                   .type = FieldType::shape,
                   .defaultValue = nullptr,
                   .hard = Range{1, 2147483647},
                   .important = true},
                  {.key = "type",
                   .label = "Type",
                   .help = "What the numbers are.",
                   .type = FieldType::choice,
                   .defaultValue = "values",
                   .choices = {{"values", "Values", "Numbers to calculate with: pixels, measurements."},
                               {"label", "Label", "The number of a class, from 0: a target."},
                               {"index", "Index", "Numbers of symbols, from 0: for Embedding."}},
                   .important = true},
                  {.key = "variable",
                   .label = "Column",
                   .help = "Column (or vector of columns) of the dataset that this Input takes; absent: the one that "
                           "is called like this node.",
                   .type = FieldType::text,
                   .defaultValue = nullptr,
                   .optional = true,
                   .onlyWhen = "source=dataset"},
                  {.key = "source",
                   .label = "Source",
                   .help = "Where the numbers come from.",
                   .type = FieldType::choice,
                   .defaultValue = "dataset",
                   .choices = {{"dataset", "Dataset", "A column of the CSV, or a vector of columns."},
                               {"normal", "Normal noise", "N(0, deviation²), new at each step."},
                               {"uniform", "Uniform noise", "Evenly in [low, high), new at each step."},
                               {"constant", "Constant", "One number everywhere."}}},
                  {.key = "deviation",
                   .label = "Deviation",
                   .help = "Standard deviation of the noise.",
                   .type = FieldType::real,
                   .defaultValue = 1.0,
                   .hard = Range{0, 1e6},
                   .onlyWhen = "source=normal"},
                  {.key = "low",
                   .label = "Low",
                   .help = "Least value of the noise.",
                   .type = FieldType::real,
                   .defaultValue = -1.0,
                   .hard = Range{-1e6, 1e6},
                   .onlyWhen = "source=uniform"},
                  {.key = "high",
                   .label = "High",
                   .help = "Bound of the noise, not reached.",
                   .type = FieldType::real,
                   .defaultValue = 1.0,
                   .hard = Range{-1e6, 1e6},
                   .onlyWhen = "source=uniform"},
                  {.key = "value",
                   .label = "Value",
                   .help = "The constant.",
                   .type = FieldType::real,
                   .defaultValue = 0.0,
                   .hard = Range{-1e30, 1e30},
                   .onlyWhen = "source=constant"}};
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Values& values = arguments.values;
  if (values.text("type") != "values" && values.text("source") != "dataset")
    throw LayerError(fmt::format("noise and constants are values, but 'type' is {}", values.text("type")), "type",
                     "values");
  if (values.text("source") == "uniform" && values.real("low") >= values.real("high"))
    throw LayerError(
        fmt::format("'low' is {}, but must be less than 'high', {}", values.real("low"), values.real("high")), "low",
        values.real("high") - 1);
  return {Shape(values.integers("shape"))};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Values& values = arguments.values;
  ProgramBuilder& builder = arguments.builder;
  const Shape shape = parts::withBatch(arguments, Shape(values.integers("shape")));
  const std::string source = values.text("source");
  if (source == "constant") return {builder.constant(values.real("value"), shape)};
  if (source == "dataset")
    return {builder.input(arguments.id, shape, values.text("type") == "values" ? DataType::f32 : DataType::i32)};
  const TensorId noise = builder.add(
      "random", {builder.scalar(kStepScalar), builder.scalar(kFirstSampleScalar)},
      {{"distribution", source}, {"shape", shape.extents()}, {"stream", noiseStream(builder.seed(), arguments.id)}});
  const double low = values.real("low"), high = values.real("high");
  const double factor = source == "normal" ? values.real("deviation") : high - low,
               offset = source == "normal" ? 0 : low;
  if (factor == 1 && offset == 0) return {noise};
  return {builder.add("scale", {noise}, {{"factor", factor}, {"offset", offset}})};
}

}  // namespace input_layer

const LayerDefinition& defineInputLayer() {
  using namespace input_layer;
  static const LayerDefinition definition{entry(), shapes, lower, LayerRole::input};
  return definition;
}

}  // namespace loom
