// Random numbers: sources of them, and noise on values. All are functions of the run's seed, the layer's name, the step
// and the sample.
#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"
#include "engine/layers/random_parts.h"
#include "engine/layers/rows.h"
#include "engine/ops/noise.h"

namespace loom {

TensorId randomNumbers(const LowerArguments& arguments, const char* distribution, const Shape& sample,
                       std::string_view what) {
  ProgramBuilder& builder = arguments.builder;
  const std::string name = what.empty() ? arguments.id : fmt::format("{}/{}", arguments.id, what);
  return builder.add("random", {builder.scalar(kStepScalar), builder.scalar(kFirstSampleScalar)},
                     {{"distribution", std::string(distribution)},
                      {"shape", parts::withBatch(arguments, sample).extents()},
                      {"stream", noiseStream(builder.seed(), name)}});
}

namespace random_layers {

struct Row {
  TensorId (*lower)(const LowerArguments& arguments, const Shape& shape);
  Entry entry;
};

Row source(std::string id, std::vector<std::string> aliases, std::string summary, const std::string& what,
           std::vector<Field> fields, TensorId (*lower)(const LowerArguments& arguments, const Shape& shape)) {
  fields.insert(fields.begin(), {.key = "shape",
                                 .label = "Shape",
                                 .help = "Extents of one sample.",
                                 .type = FieldType::shape,
                                 .defaultValue = Json::array({1}),
                                 .hard = Range{1, 2147483647},
                                 .important = true});
  Entry entry = parts::completed(
      {.id = std::move(id),
       .category = "inputOutput",
       .icon = "shuffle",
       .aliases = std::move(aliases),
       .summary = std::move(summary),
       .help = what + " New at each step, in training and in evaluation: a function of the run's seed, the "
                      "layer's name, the step and the sample, whatever the number of ranks.\n\nNo parameters.",
       .outputs = {parts::valuesOut("Random numbers.")},
       .fields = std::move(fields)});
  entry.inputs.clear();
  return {lower, std::move(entry)};
}

Field real(std::string key, std::string label, std::string help, double value, double low = -1e30) {
  return parts::numberField(std::move(key), std::move(label), std::move(help), value, Range{low, 1e30});
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      source("RandomNormal", {"Randn"}, "Random numbers of a normal distribution.", "N(mean, deviation²).",
             {real("mean", "Mean", "Mean of the numbers.", 0),
              real("deviation", "Deviation", "Standard deviation.", 1, 0)},
             [](const LowerArguments& a, const Shape& shape) {
               return parts::scaled(a, randomNumbers(a, "normal", shape), a.values.real("deviation"),
                                    a.values.real("mean"));
             }),
      source("RandomUniform", {"Rand"}, "Random numbers, evenly spread.", "Evenly in [low, high).",
             {real("low", "Low", "Least value.", 0), real("high", "High", "Bound, not reached.", 1)},
             [](const LowerArguments& a, const Shape& shape) {
               const double low = a.values.real("low");
               return parts::scaled(a, randomNumbers(a, "uniform", shape), a.values.real("high") - low, low);
             }),
      source("RandomInteger", {"Randint"}, "Random whole numbers, evenly spread.",
             "Each of low, low + 1, … below high alike.",
             {real("low", "Low", "Least number.", 0), real("high", "High", "Bound, not reached.", 2)},
             [](const LowerArguments& a, const Shape& shape) {
               const double low = a.values.real("low");
               return parts::unary(
                   a, "floor", parts::scaled(a, randomNumbers(a, "uniform", shape), a.values.real("high") - low, low));
             }),
      source("RandomBernoulli", {"RandBinomial", "Bernoulli"}, "Random 1 and 0.",
             "1 with the given probability, else 0.",
             {parts::numberField("probability", "Probability", "Share of ones.", 0.5, Range{0, 1})},
             [](const LowerArguments& a, const Shape& shape) {
               const TensorId numbers = randomNumbers(a, "uniform", shape);
               return parts::binary(a, "less", numbers, parts::number(a, numbers, a.values.real("probability")));
             }),
  };
  return all;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Values& values = arguments.values;
  if (values.entry().field("low") != nullptr && values.real("low") >= values.real("high"))
    throw LayerError(
        fmt::format("'low' is {}, but must be less than 'high', {}", values.real("low"), values.real("high")), "low",
        values.real("high") - 1);
  return {Shape(values.integers("shape"))};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return {parts::rowOf(rows(), arguments.values).lower(arguments, Shape(arguments.values.integers("shape")))};
}

Entry noiseEntry() {
  return parts::completed(
      {.id = "GaussianNoise",
       .category = "normalisation",
       .icon = "shuffle",
       .aliases = {"AddNoise"},
       .summary = "Adds noise to values in training, so that the network does not learn them by heart.",
       .help = "In training y = x + deviation · n, or with Multiply x · (1 + deviation · n), with n drawn from N(0, 1) "
               "for each value; in "
               "validation and prediction nothing is changed.\n\nNo parameters.",
       .fields = {parts::numberField("deviation", "Deviation", "Standard deviation of the noise.", 0.1, Range{0, 1e6}),
                  parts::switchField("multiply", "Multiply",
                                     "The noise is a share of each value instead of being added.", false)}});
}

std::vector<TensorId> lowerNoise(const LowerArguments& a) {
  const TensorId x = a.inputs[0];
  if (!a.builder.training() || a.values.real("deviation") == 0) return {x};
  const bool multiply = a.values.boolean("multiply");
  const TensorId noise =
      parts::scaled(a, randomNumbers(a, "normal", parts::sampleShape(a)), a.values.real("deviation"), multiply ? 1 : 0);
  return {parts::binary(a, multiply ? "multiply" : "add", x, noise)};
}

}  // namespace random_layers

#define LOOM_RANDOM_LAYER(ID) LOOM_ROW_LAYER(ID, random_layers::rows, random_layers::shapes, random_layers::lower)
LOOM_RANDOM_LAYER(RandomNormal)
LOOM_RANDOM_LAYER(RandomUniform)
LOOM_RANDOM_LAYER(RandomInteger)
LOOM_RANDOM_LAYER(RandomBernoulli)

const LayerDefinition& defineGaussianNoiseLayer() {
  using namespace random_layers;
  static const LayerDefinition definition{noiseEntry(), parts::sameShape, lowerNoise};
  return definition;
}

}  // namespace loom
