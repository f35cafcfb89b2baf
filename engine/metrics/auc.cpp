#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"
#include "engine/layers/loss_parts.h"
#include "engine/metrics/accuracy_parts.h"
#include "engine/metrics/class_counts.h"
#include "engine/metrics/gathered.h"
#include "engine/metrics/sums.h"

namespace loom {

const LayerDefinition& defineBinaryAccuracyLayer();

namespace auc_metric {

using score_lists::Form;

constexpr std::int64_t kMostClasses = 256;

template <Form form>
std::vector<double> list(std::span<const double> run) {
  return score_lists::ofRun(run, form);
}
template <bool weighted>
double finish(std::span<const double> list) {
  return score_lists::area(list, weighted);
}
void join(std::vector<double>& list, const std::vector<double>& other) {
  score_lists::join(list, other);
}
const char* remark(std::span<const double> list) {
  return score_lists::isBinned(list) ? "comes from 65,536 bins, for there are more than 10 million scores" : "";
}

template <Form form, bool weighted>
inline constexpr GatheredSums kRule{{.accumulate = gatheredMark, .finish = finish<weighted>}, list<form>, join, remark};

const char* const kMeaning =
    " It is the chance that one that is of the class has a higher score than one that is not, equal ones counting half "
    "(the area under the receiver operating characteristic). All scores of the dataset are looked at together, over "
    "all "
    "batches and ranks: exactly up to 10 million, beyond that from 65,536 bins, which is told. It is not a number "
    "where "
    "all samples are of one kind, as in a small batch. Nothing flows back from it.";

Entry entry() {
  Entry entry;
  entry.id = entry.label = "AUC";
  entry.aliases = {"ROC", "AreaUnderCurve", "ROCAUC"};
  entry.summary = "How well the scores of a class part it from the others, whatever threshold is taken.";
  entry.help = std::string("Of each class against all others.") + kMeaning;
  addClassPorts(entry, "Area");
  entry.inputs[0].help = "One score for each class: K, or T×K for a sequence.";
  entry.fields = {
      parts::choiceField(
          "from", "From", "What the input is.",
          {{"logits", "Logits", "Any numbers; the softmax is inside. As SoftmaxCrossEntropy takes them."},
           {"probabilities", "Probabilities", "Shares from 0 to 1, after a Softmax."}}),
      parts::choiceField("average", "Average", "How one number is made of all classes.",
                         {{"macro", "Macro", "The mean of the classes' own areas: each class counts alike."},
                          {"weighted", "Weighted", "Each class counts as often as it is true."},
                          {"binary", "One class", "Of the class that Positive names alone."}}),
      {.key = "positive",
       .label = "Positive",
       .help = "Number of the class that is looked for, from 0.",
       .type = FieldType::integer,
       .defaultValue = 1,
       .hard = Range{0, kMostClasses - 1},
       .onlyWhen = "average=binary"}};
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const std::vector<Shape> result = averageShapes(arguments);
  if (const std::int64_t classes = arguments.inputs[0][-1]; classes < 2 || classes > kMostClasses)
    throw LayerError(fmt::format("there are {} classes, but the area is of 2 to {}: F1 takes any number of them",
                                 classes, kMostClasses),
                     "");
  return result;
}

// A run as ofRun() takes it. Nothing stands between the scores and the result: what does may be kept in 16 bits.
TensorId rows(const LowerArguments& arguments, TensorId scores, TensorId truth, std::int64_t width,
              std::int64_t positive) {
  ProgramBuilder& builder = arguments.builder;
  const auto flat = [&](TensorId x) {
    return builder.add("reshape", {x}, {{"shape", std::vector<std::int64_t>{builder.shape(x).elements()}}});
  };
  return builder.add("concatenate",
                     {builder.constant(static_cast<double>(width), {1}),
                      builder.constant(static_cast<double>(positive), {1}), flat(scores), flat(truth)},
                     {{"axis", std::int64_t{0}}});
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const std::int64_t classes = arguments.builder.shape(arguments.inputs[0])[-1];
  const std::string average = arguments.values.text("average");
  const bool logits = arguments.values.text("from") == "logits", weighted = average == "weighted";
  const TensorId truth = arguments.builder.add("one_hot", {arguments.inputs[1]}, {{"classes", classes}});
  const TensorId run = rows(arguments, arguments.inputs[0], truth, classes,
                            average == "binary" ? arguments.values.integer("positive") : -1);
  if (logits)
    return finishSums(arguments, run, weighted ? kRule<Form::classLogits, true> : kRule<Form::classLogits, false>);
  return finishSums(arguments, run, weighted ? kRule<Form::shares, true> : kRule<Form::shares, false>);
}

Entry chanceEntry() {
  Entry entry = defineBinaryAccuracyLayer().entry;
  entry.id = entry.label = "BinaryAUC";
  entry.aliases = {"BinaryROC"};
  entry.summary = "How well chances part yes from no, whatever threshold is taken.";
  entry.help = std::string(
                   "All values of all samples count alike; t > 1/2 is a yes. Wire the same input as to "
                   "BinaryCrossEntropy and say the same in From.") +
               kMeaning;
  entry.outputs[0].label = "Area";
  std::erase_if(entry.fields, [](const Field& field) { return field.key == "threshold"; });
  return entry;
}

std::vector<TensorId> lowerBinary(const LowerArguments& arguments) {
  const TensorId run = rows(arguments, arguments.inputs[0], arguments.inputs[1], 1, -1);
  return finishSums(
      arguments, run,
      arguments.values.text("from") == "logits" ? kRule<Form::logits, false> : kRule<Form::shares, false>);
}

}  // namespace auc_metric

const LayerDefinition& defineAUCLayer() {
  using namespace auc_metric;
  static const LayerDefinition definition{
      entry(), shapes, lower, LayerRole::metric, {.goal = Goal::higher, .isShare = true}};
  return definition;
}

const LayerDefinition& defineBinaryAUCLayer() {
  using namespace auc_metric;
  static const LayerDefinition definition{
      chanceEntry(), equalTargetShapes, lowerBinary, LayerRole::metric, {.goal = Goal::higher, .isShare = true}};
  return definition;
}

}  // namespace loom
