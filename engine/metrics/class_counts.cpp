#include "engine/metrics/class_counts.h"

#include <fmt/format.h>

#include <limits>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"
#include "engine/layers/loss_parts.h"
#include "engine/metrics/accuracy_parts.h"
#include "engine/metrics/sums.h"
#include "engine/ops/resample.h"

namespace loom {

const LayerDefinition& defineBinaryAccuracyLayer();

namespace class_counts {

double macro(std::span<const double> sums, CountsRatio ratio) {
  const std::size_t classes = sums.size() / 3;
  double total = 0, known = 0;
  for (std::size_t k = 0; k < classes; ++k) {
    const ClassCounts counts{sums[k], sums[classes + k], sums[2 * classes + k]};
    if (counts.said + counts.truth == 0) continue;
    total += ratio(counts);
    ++known;
  }
  return known > 0 ? total / known : std::numeric_limits<double>::quiet_NaN();
}

double micro(std::span<const double> sums, CountsRatio ratio) {
  const std::size_t classes = sums.size() / 3;
  ClassCounts counts;
  for (std::size_t k = 0; k < classes; ++k) {
    counts.right += sums[k];
    counts.said += sums[classes + k];
    counts.truth += sums[2 * classes + k];
  }
  return ratio(counts);
}

namespace {

TensorId withShape(ProgramBuilder& builder, TensorId x, std::vector<std::int64_t> shape) {
  if (builder.shape(x).extents() == shape) return x;
  return builder.add("reshape", {x}, {{"shape", std::move(shape)}});
}

TensorId binary(ProgramBuilder& builder, const char* function, TensorId a, TensorId b) {
  return builder.add("binary", {a, b}, {{"function", std::string(function)}});
}

// rows x K zeros and ones; of the sum nothing is rounded, whatever the precision.
std::vector<TensorId> finishCounts(const LowerArguments& arguments, TensorId said, TensorId truth,
                                   const ResultSums& sums) {
  ProgramBuilder& builder = arguments.builder;
  const TensorId all =
      builder.add("concatenate", {binary(builder, "multiply", said, truth), said, truth}, {{"axis", std::int64_t{1}}});
  return finishSums(
      arguments,
      builder.add("reduce", {all}, {{"function", std::string("sum")}, {"axes", std::vector<std::int64_t>{0}}}), sums);
}

struct Rows {
  TensorId said, truth;  // rows x K
};

// The class with the largest score; of equal scores the first.
Rows rowsOf(const LowerArguments& arguments) {
  ProgramBuilder& builder = arguments.builder;
  const Shape scores = builder.shape(arguments.inputs[0]);
  const std::int64_t classes = scores[-1], rows = scores.elements() / classes;
  const TensorId x = withShape(builder, arguments.inputs[0], {rows, classes});
  AxisMap count;  // 0, 1, 2, ...: the class of each column
  for (std::int64_t k = 0; k < classes; ++k) {
    count.addRow({0});
    count.weights.push_back(static_cast<double>(k));
  }
  const TensorId numbers = builder.add("resample", {builder.constant(1, {1, 1})}, attributesOf(count, 1));
  const TensorId places = builder.add("broadcast", {builder.emit("top_k", {x}, {{"k", std::int64_t{1}}})[1]},
                                      {{"shape", std::vector<std::int64_t>{rows, classes}}});
  const TensorId truth = builder.add("one_hot", {arguments.inputs[1]}, {{"classes", classes}});
  return {binary(builder, "equal", places, numbers), withShape(builder, truth, {rows, classes})};
}

}  // namespace
}  // namespace class_counts

Entry averageEntry(std::string id, std::vector<std::string> aliases, std::string summary, std::string help) {
  Entry entry;
  entry.id = entry.label = std::move(id);
  entry.aliases = std::move(aliases);
  entry.summary = std::move(summary);
  entry.help =
      std::move(help) +
      " The classes' counts are summed over all batches and ranks and the number is made of the sums, so it is "
      "that of the whole dataset and no mean over batches. A class that was neither said nor true does not "
      "count. Nothing flows back from it.";
  addClassPorts(entry, "Share");
  entry.fields = {
      parts::choiceField("average", "Average", "How one number is made of all classes.",
                         {{"macro", "Macro", "The mean of the classes' own numbers: each class counts alike."},
                          {"micro", "Micro", "Of all samples together, which for one label a sample is the accuracy."},
                          {"binary", "One class", "Of the class that Positive names alone."}}),
      {.key = "positive",
       .label = "Positive",
       .help = "Number of the class that is looked for, from 0.",
       .type = FieldType::integer,
       .defaultValue = 1,
       .hard = Range{0, 16777215},
       .onlyWhen = "average=binary"}};
  return entry;
}

std::vector<Shape> averageShapes(const ShapeArguments& arguments) {
  const std::vector<Shape> result = classMetricShapes(arguments);
  const std::int64_t classes = arguments.inputs[0][-1];
  if (arguments.values.text("average") == "binary" && arguments.values.integer("positive") >= classes)
    throw LayerError(fmt::format("'positive' is {}, but there are {} classes: 0 to {}",
                                 arguments.values.integer("positive"), classes, classes - 1),
                     "positive", classes - 1);
  return result;
}

Entry chanceEntry(std::string id, std::vector<std::string> aliases, std::string summary, std::string help) {
  Entry entry = defineBinaryAccuracyLayer().entry;
  entry.id = entry.label = std::move(id);
  entry.aliases = std::move(aliases);
  entry.summary = std::move(summary);
  entry.help = std::move(help) +
               " p = sigmoid(x) where the input is logits, and yes is said where p > threshold; t > 1/2 is a yes. Wire "
               "the same input as to BinaryCrossEntropy and say the same in From. All values of all samples count "
               "alike. Nothing flows back from it.";
  entry.outputs[0].label = "Share";
  return entry;
}

std::vector<TensorId> lowerClasses(const LowerArguments& arguments, const ResultSums& macro) {
  const class_counts::Rows rows = class_counts::rowsOf(arguments);
  return class_counts::finishCounts(arguments, rows.said, rows.truth, macro);
}

std::vector<TensorId> lowerAverage(const LowerArguments& arguments, const ResultSums& macro, const ResultSums& micro) {
  const std::string average = arguments.values.text("average");
  if (average == "macro") return lowerClasses(arguments, macro);
  class_counts::Rows rows = class_counts::rowsOf(arguments);
  if (average == "binary")
    for (TensorId* each : {&rows.said, &rows.truth})
      *each = arguments.builder.add("slice", {*each},
                                    {{"axis", std::int64_t{1}},
                                     {"start", arguments.values.integer("positive")},
                                     {"length", std::int64_t{1}},
                                     {"step", std::int64_t{1}}});
  return class_counts::finishCounts(arguments, rows.said, rows.truth, micro);
}

std::vector<TensorId> lowerChances(const LowerArguments& arguments, const ResultSums& micro) {
  ProgramBuilder& builder = arguments.builder;
  TensorId p = arguments.inputs[0];
  if (arguments.values.text("from") == "logits") p = parts::unary(arguments, "sigmoid", p);
  const std::vector<std::int64_t> rows{builder.shape(p).elements(), 1};
  const auto above = [&](TensorId x, double threshold) {
    return class_counts::binary(builder, "greater", class_counts::withShape(builder, x, rows),
                                builder.constant(threshold, {1, 1}));
  };
  return class_counts::finishCounts(arguments, above(p, arguments.values.real("threshold")),
                                    above(arguments.inputs[1], 0.5), micro);
}

}  // namespace loom
