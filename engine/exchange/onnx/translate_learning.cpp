// Operators of ai.onnx.ml: the steps of a pipeline of scikit-learn around a network, and its linear models.
#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/exchange/onnx/translator.h"

namespace loom::onnx_file {
namespace {

std::vector<float> realsOf(const OnnxNode& node, const std::string& key) {
  const auto found = node.attributes.find(key);
  if (found == node.attributes.end()) return {};
  return {found->second.reals.begin(), found->second.reals.end()};
}

std::size_t labelsOf(const OnnxNode& node) {
  const auto texts = node.attributes.find("classlabels_strings");
  return std::max(node.integers("classlabels_ints").size(),
                  texts == node.attributes.end() ? 0 : texts->second.texts.size());
}

bool countsFromZero(const std::vector<std::int64_t>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != static_cast<std::int64_t>(i)) return false;
  return !numbers.empty();
}

}  // namespace

Endpoint Translator::withColumns(const OnnxNode& node, const Endpoint& x, const char* layer,
                                 const std::vector<float>& numbers) {
  const Shape& sample = m_drawing.shape(x);
  if (sample.rank() != 1 || static_cast<std::int64_t>(numbers.size()) != sample[0])
    refuse(fmt::format("it has {} numbers for samples of {}", numbers.size(), sample.toString()));
  const std::string id =
      m_drawing.add("Parameter", wish(node) + "_constant", {{"shape", sample.extents()}, {"trained", false}}, {});
  m_drawing.weight(id, "weight", sample, numbers);
  return m_drawing.output(m_drawing.add(layer, wish(node), Json::object(), {x, m_drawing.output(id)}));
}

// (x - offset) scale, of each column by itself.
void Translator::scaler(const OnnxNode& node) {
  const View from = view(node.input(0));
  Endpoint y = drawn(node.input(0), node);
  const auto apply = [&](const char* key, const char* ofAll, const char* ofEach) {
    std::vector<float> numbers = realsOf(node, key);
    if (numbers.empty()) return;
    const bool same = std::all_of(numbers.begin(), numbers.end(), [&](float number) { return number == numbers[0]; });
    if (same && (numbers.size() == 1 || m_drawing.shape(y).rank() == 1)) {
      const double number = std::string(ofAll) == "AddScalar" ? -numbers[0] : numbers[0];
      y = m_drawing.output(m_drawing.add(ofAll, wish(node), {{"value", number}}, {y}));
    } else {
      y = withColumns(node, y, ofEach, numbers);
    }
  };
  apply("offset", "AddScalar", "Subtract");
  apply("scale", "MultiplyScalar", "Multiply");
  give(node, likeView(y, m_drawing.shape(y), from));
  tell(ReportItem::Kind::translated, node, y.node, "Less the offset, times the scale.");
}

// What is missing, a NaN or another number, becomes the column's own number.
void Translator::imputer(const OnnxNode& node) {
  const View from = view(node.input(0));
  const Endpoint x = drawn(node.input(0), node);
  std::vector<float> numbers = realsOf(node, "imputed_value_floats");
  for (const std::int64_t number : node.integers("imputed_value_int64s")) numbers.push_back(static_cast<float>(number));
  const Shape& sample = m_drawing.shape(x);
  if (numbers.size() == 1) numbers.assign(static_cast<std::size_t>(sample.elements()), numbers[0]);
  if (sample.rank() != 1 || static_cast<std::int64_t>(numbers.size()) != sample[0])
    refuse(fmt::format("it has {} numbers for samples of {}", numbers.size(), sample.toString()));
  const double missing = node.has("replaced_value_int64") ? static_cast<double>(node.integer("replaced_value_int64", 0))
                                                          : node.real("replaced_value_float", 0);
  // A NaN is what differs from itself.
  const std::string missed = std::isnan(missing)
                                 ? m_drawing.add("NotEqual", wish(node) + "_missing", Json::object(), {x, x})
                                 : m_drawing.add("Equal", wish(node) + "_missing", {{"value", missing}}, {x});
  const std::string constant =
      m_drawing.add("Parameter", wish(node) + "_constant", {{"shape", sample.extents()}, {"trained", false}}, {});
  m_drawing.weight(constant, "weight", sample, std::move(numbers));
  const std::string id =
      m_drawing.add("Where", wish(node), Json::object(), {m_drawing.output(missed), m_drawing.output(constant), x});
  give(node, likeView(m_drawing.output(id), sample, from));
  tell(ReportItem::Kind::translated, node, id, "Where a value is missing, the column's own number.");
}

void Translator::binarizer(const OnnxNode& node) {
  map(node, "Greater", {{"value", node.real("threshold", 0)}});
}

// Each row by the sum of its absolute values, or by the root of the sum of its squares.
void Translator::normalizer(const OnnxNode& node) {
  const std::string norm = node.text("norm", "MAX");
  if (norm != "L1" && norm != "L2") refuse("it divides by the largest of a row, which no layer here does");
  const View from = view(node.input(0));
  const Endpoint x = drawn(node.input(0), node);
  if (m_drawing.shape(x).rank() != 1) refuse("its rows are no samples");
  const auto add = [&](const char* layer, const char* suffix, Json values, const std::vector<Endpoint>& inputs) {
    return m_drawing.output(m_drawing.add(layer, wish(node) + suffix, std::move(values), inputs));
  };
  const Endpoint length =
      add(norm == "L1" ? "ReduceL1" : "ReduceL2", "_length", {{"axes", {0}}, {"keep_axes", true}}, {x});
  // A row of zeros stays one.
  const Endpoint positive = add("MaximumScalar", "_positive", {{"value", 1e-30}}, {length});
  const Endpoint y = add("Divide", "", Json::object(), {x, positive});
  give(node, likeView(y, m_drawing.shape(y), from));
  tell(ReportItem::Kind::translated, node, y.node, fmt::format("Divided by its {}.", norm));
}

Endpoint Translator::transformed(const OnnxNode& node, const Endpoint& x) {
  const std::string name = node.text("post_transform", "NONE");
  if (name == "NONE") return x;
  if (name != "SOFTMAX" && name != "LOGISTIC") refuse(fmt::format("its '{}' has no counterpart here", name));
  return m_drawing.output(
      m_drawing.add(name == "SOFTMAX" ? "Softmax" : "Sigmoid", wish(node) + "_transformed", Json::object(), {x}));
}

// LinearRegressor, and LinearClassifier with its label as the place of the largest score.
void Translator::linearModel(const OnnxNode& node) {
  const bool classifies = node.op == "ai.onnx.ml.LinearClassifier";
  const View from = view(node.input(0));
  const Endpoint x = drawn(node.input(0), node);
  std::vector<float> weight = realsOf(node, "coefficients"), bias = realsOf(node, "intercepts");
  const Shape& sample = m_drawing.shape(x);
  const std::int64_t outputs = classifies ? static_cast<std::int64_t>(labelsOf(node)) : node.integer("targets", 1);
  if (sample.rank() != 1 || outputs < 1 || static_cast<std::int64_t>(weight.size()) != sample[0] * outputs ||
      !(bias.empty() || static_cast<std::int64_t>(bias.size()) == outputs))
    refuse("its coefficients do not fit its input, or are those of one of two classes alone");
  const bool hasBias = !bias.empty(), readsLabel = classifies && readersOf(node.outputs.at(0)) > 0;
  if (readsLabel && !countsFromZero(node.integers("classlabels_ints")))
    refuse("its labels are other numbers than 0, 1, 2 ..., or texts");
  const std::string id = m_drawing.add("Linear", wish(node), {{"outputs", outputs}, {"bias", hasBias}}, {x});
  m_drawing.weight(id, "weight", {outputs, sample[0]}, std::move(weight));
  if (hasBias) m_drawing.weight(id, "bias", {outputs}, std::move(bias));
  const Endpoint scores = m_drawing.output(id);
  if (readsLabel) {
    const Endpoint label =
        m_drawing.output(m_drawing.add("ArgMax", wish(node) + "_label", {{"axis", 0}, {"keep_axes", true}}, {scores}));
    give(node, *reshaped(plainView(label, m_drawing.shape(label), {kBatch, 1}), {kBatch}), 0);
  }
  if (!classifies || readersOf(node.outputs.size() > 1 ? node.outputs[1] : "") > 0) {
    const Endpoint y = transformed(node, scores);
    give(node, plainView(y, m_drawing.shape(y), {kBatch, outputs}), classifies ? 1 : 0);
  }
  tell(ReportItem::Kind::translated, node, id, "Linear.");
}

// ArrayFeatureExtractor: columns of what is fed; or the labels of classes, by their places.
void Translator::columns(const OnnxNode& node) {
  if (const Constant* labels = m_facts.constant(node.input(0))) {
    for (std::size_t i = 0; i < labels->stored(); ++i)
      if (labels->at(i) != static_cast<double>(i)) refuse("its labels are other numbers than 0, 1, 2 ...");
    auto result = reshaped(view(node.input(1)), {1, kBatch});
    if (!result) refuse("it looks up several labels a sample");
    give(node, std::move(*result));
    return tell(ReportItem::Kind::translated, node, {}, "It passes its input on: the labels are the places.");
  }
  const Constant& indices = constant(node, 1);
  const View from = view(node.input(0));
  if (from.axes.empty()) refuse("its input has no columns");
  const std::size_t last = from.axes.size() - 1;
  const auto axis = from.sampleAxis(last);
  if (!axis) refuse("it takes some samples of a batch and leaves others");
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < elementsOf(indices.extents); ++i)
    all.push_back(indices.whole(static_cast<std::size_t>(i)));
  const Endpoint x = drawn(node.input(0), node);
  const Endpoint y = m_drawing.output(m_drawing.add("Gather", wish(node), {{"axis", *axis}, {"indices", all}}, {x}));
  give(node, likeView(y, m_drawing.shape(y), from));
  tell(ReportItem::Kind::translated, node, y.node, "Gather.");
}

void Translator::mapOfProbabilities(const OnnxNode& node) {
  give(node, view(node.input(0)));
  tell(ReportItem::Kind::converted, node, {},
       "The probabilities as they are, in the order of the classes; the file gives them as a map by label.");
}

void addLearningRules(std::unordered_map<std::string, Translator::Rule>& rules) {
  rules["ai.onnx.ml.Scaler"] = &Translator::scaler;
  rules["ai.onnx.ml.Imputer"] = &Translator::imputer;
  rules["ai.onnx.ml.Binarizer"] = &Translator::binarizer;
  rules["ai.onnx.ml.Normalizer"] = &Translator::normalizer;
  rules["ai.onnx.ml.LinearRegressor"] = rules["ai.onnx.ml.LinearClassifier"] = &Translator::linearModel;
  rules["ai.onnx.ml.ArrayFeatureExtractor"] = &Translator::columns;
  rules["ai.onnx.ml.ZipMap"] = &Translator::mapOfProbabilities;
}

}  // namespace loom::onnx_file
