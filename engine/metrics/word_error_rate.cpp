#include <algorithm>
#include <limits>
#include <vector>

#include "engine/layers/layer_error.h"
#include "engine/layers/loss_parts.h"
#include "engine/metrics/accuracy_parts.h"
#include "engine/metrics/gathered.h"
#include "engine/metrics/sums.h"

namespace loom {
namespace word_error_rate_metric {

constexpr std::size_t kHead = 2;  // how long a sequence is, and the blank

// How many words have to be replaced, left out or put in so that one sequence becomes the other (Levenshtein).
std::size_t editsBetween(const std::vector<double>& from, const std::vector<double>& to) {
  std::vector<std::size_t> edits(to.size() + 1);
  for (std::size_t j = 0; j < edits.size(); ++j) edits[j] = j;
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = edits[0];
    edits[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = edits[j + 1];
      edits[j + 1] = std::min({replaced, edits[j] + 1, diagonal + 1});
    }
  }
  return edits.back();
}

// Of a run, which is its head, what was said at each place and then what is true there: edits, and words that are true.
std::vector<double> list(std::span<const double> run) {
  const auto length = static_cast<std::size_t>(run[0]);
  const double blank = run[1];
  const std::size_t places = (run.size() - kHead) / 2;
  const auto words = [&](std::size_t begin) {
    std::vector<double> kept;
    for (const double word : run.subspan(begin, length))
      if (word != blank) kept.push_back(word);
    return kept;
  };
  std::vector<double> sums{0, 0};
  for (std::size_t at = kHead; at < kHead + places; at += length) {
    const std::vector<double> truth = words(at + places);
    sums[0] += static_cast<double>(editsBetween(words(at), truth));
    sums[1] += static_cast<double>(truth.size());
  }
  return sums;
}

void join(std::vector<double>& sums, const std::vector<double>& other) {
  if (sums.empty()) sums.assign(other.size(), 0);
  for (std::size_t i = 0; i < other.size(); ++i) sums[i] += other[i];
}

double finish(std::span<const double> sums) {
  return sums.size() == 2 && sums[1] > 0 ? sums[0] / sums[1] : std::numeric_limits<double>::quiet_NaN();
}

const char* remark(std::span<const double>) {
  return "";
}

inline constexpr GatheredSums kRule{{.accumulate = gatheredMark, .finish = finish}, list, join, remark};

Entry entry() {
  Entry entry;
  entry.id = entry.label = "WordErrorRate";
  entry.aliases = {"WER", "EditDistance", "CharacterErrorRate"};
  entry.summary = "How many words of a sequence have to be replaced, left out or put in.";
  entry.help =
      "rate = Σ edits / Σ words that are true, over all sequences of the dataset: the fewest words to replace, leave "
      "out or put in, so that what is said (the largest score at each place) becomes what is true. 0 is faultless; it "
      "may be above 1 where more is said than is true. Where places are letters, it is the character error rate. It is "
      "not a number where nothing is true. Nothing flows back from it.";
  addClassPorts(entry, "Error rate");
  entry.inputs[0].help =
      "One score for each word at each place: T×K. Logits or probabilities: only their order counts.";
  entry.inputs[1].help = "The right words, from 0: an Input of type label with T labels.";
  entry.outputs[0].help = "One number, at least 0.";
  entry.fields = {{.key = "blank",
                   .label = "Blank",
                   .help = "Number of the class that is no word (padding, a pause): such places are left out before "
                           "sequences are compared. −1: every class is a word.",
                   .type = FieldType::integer,
                   .defaultValue = -1,
                   .hard = Range{-1, 16777215},
                   .important = true}};
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const std::vector<Shape> result = classMetricShapes(arguments);
  const Shape& scores = arguments.inputs[0];
  if (scores.rank() != 2)
    throw LayerError(
        "the rate is of sequences: the input must be T×K, such as 128×50, one score for each word at each "
        "place; of single answers Error says the same",
        "");
  if (const std::int64_t blank = arguments.values.integer("blank"); blank >= scores[-1])
    throw LayerError(fmt::format("'blank' is {}, but the classes are 0 to {}", blank, scores[-1] - 1), "blank",
                     scores[-1] - 1);
  return result;
}

// Numbers of classes come of top_k in both, for it gives them in 32 bits wherever scores are kept in 16.
std::vector<TensorId> lower(const LowerArguments& arguments) {
  ProgramBuilder& builder = arguments.builder;
  const Shape& scores = builder.shape(arguments.inputs[0]);
  const std::int64_t classes = scores[-1], length = scores[-2], places = scores.elements() / classes;
  const auto chosen = [&](TensorId of) {
    const std::vector<TensorId> top = builder.emit("top_k", {of}, {{"k", std::int64_t{1}}});
    return builder.add("reshape", {top[1]}, {{"shape", std::vector<std::int64_t>{places}}});
  };
  const TensorId truth = builder.add("one_hot", {arguments.inputs[1]}, {{"classes", classes}});
  const TensorId run = builder.add("concatenate",
                                   {builder.constant(static_cast<double>(length), {1}),
                                    builder.constant(static_cast<double>(arguments.values.integer("blank")), {1}),
                                    chosen(arguments.inputs[0]), chosen(truth)},
                                   {{"axis", std::int64_t{0}}});
  return finishSums(arguments, run, kRule);
}

}  // namespace word_error_rate_metric

const LayerDefinition& defineWordErrorRateLayer() {
  using namespace word_error_rate_metric;
  static const LayerDefinition definition{entry(), shapes, lower, LayerRole::metric, {.isShare = true}};
  return definition;
}

}  // namespace loom
