// Recurrent layers, and attention as exporters write it out.
//
// Attention is put together while its parts come by: the product of queries and keys becomes Scores, scaling, mask and
// softmax change these, and the product with the values draws a MultiHeadAttention. The views of queries, keys and
// values tell which columns of which Linear each head reads, in whatever way an exporter split, turned and cut them;
// the rows of these weights go into the layer's own. A Linear that reads the heads side by side becomes its last
// projection.
#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/exchange/onnx/translator.h"

namespace loom::onnx_file {
namespace {

constexpr std::int64_t kWidest = 65536;         // channels of an attention that is looked into
constexpr std::int64_t kWidestIdentity = 4096;  // and where its projections are not in the file

bool allZero(const Constant& constant) {
  for (std::size_t i = 0; i < constant.stored(); ++i)
    if (constant.at(i) != 0) return false;
  return true;
}

// Rows of a weight in gates, taken in another order.
std::vector<float> gates(const Constant& weight, std::int64_t way, const std::vector<std::int64_t>& order,
                         std::int64_t units, std::int64_t columns, std::int64_t firstRow = 0) {
  const std::int64_t rows = weight.extents[1];
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(static_cast<std::int64_t>(order.size()) * units * columns));
  for (const std::int64_t gate : order)
    for (std::int64_t i = 0; i < units * columns; ++i)
      values.push_back(static_cast<float>(
          weight.at(static_cast<std::size_t>((way * rows + firstRow + gate * units) * columns + i))));
  return values;
}

// Queries, keys or values of an attention: for each head and channel the column of the source, a sequence T x columns.
struct Heads {
  std::int64_t heads = 0, steps = 0, channels = 0, width = 0;
  std::vector<std::int64_t> columns;
};

// `view` is batch, heads, steps, channels in this order, as three or four axes. Nothing where it is no such view of a
// sequence.
std::optional<Heads> headsOf(const View& view) {
  if (view.shape.rank() != 2) return {};
  std::vector<Atom> atoms;
  for (const auto& axis : view.axes)
    for (const Atom& atom : axis)
      if (!atom.batch && atom.extent != 1) atoms.push_back(atom);
  Heads heads{.steps = view.shape.extents()[0], .width = view.shape.extents()[1]};
  if (heads.width > kWidest) return {};
  if (view.axes.size() < 3 || view.batchAxis() != 0) return {};
  const Extents extents = view.extents();
  if (extents[extents.size() - 2] != heads.steps) return {};
  heads.channels = extents.back();
  heads.heads = view.sample().elements() / std::max<std::int64_t>(heads.steps * heads.channels, 1);
  std::int64_t offset = 0;
  for (const Atom& atom : view.dropped) offset += atom.start * atom.stride;
  // The columns that all atoms but that of the steps reach, in their order; the steps' atom walks the rows, all of
  // them.
  std::vector<std::int64_t> places{0};
  bool steps = heads.steps == 1;
  const std::size_t last = view.axes.size() - 2;
  for (std::size_t i = 0; i < view.axes.size(); ++i) {
    for (const Atom& atom : view.axes[i]) {
      if (atom.batch || (atom.extent == 1 && atom.whole())) continue;
      if (i == last) {
        if (steps || atom.stride != heads.width || !atom.whole() || atom.extent != heads.steps) return {};
        steps = true;
        continue;
      }
      if (atom.stride * (atom.full - 1) >= heads.width) return {};
      std::vector<std::int64_t> next;
      for (const std::int64_t place : places)
        for (std::int64_t k = 0; k < atom.extent; ++k)
          next.push_back(place + (atom.start + k * atom.step) * atom.stride);
      places = std::move(next);
    }
  }
  if (!steps || static_cast<std::int64_t>(places.size()) != heads.heads * heads.channels) return {};
  for (std::int64_t& place : places) {
    place += offset;
    if (place < 0 || place >= heads.width) return {};
  }
  heads.columns = std::move(places);
  return heads;
}

// Whether a mask over queries x keys hides what comes behind each step, and nothing else. Throws where it hides
// anything else.
bool hidesFuture(const Scores& scores, const Constant& mask, bool (*hides)(double)) {
  const std::int64_t steps = headsOf(scores.query)->steps, elements = elementsOf(mask.extents);
  bool causal = true, open = true;
  if (elements == 0 ||
      (elements > 1 && (mask.extents.size() < 2 || elements != steps * steps || mask.extents.back() != steps)))
    throw Error(ErrorCode::badProject, "its mask is not one for all samples and heads");
  if (mask.uniform() && elements > 1) {
    if (hides(mask.at(0)) || (mask.kind == Constant::Kind::real && mask.at(0) != 0))
      throw Error(ErrorCode::badProject, "its mask hides everything");
    return false;
  }
  for (std::int64_t i = 0; i < elements; ++i) {
    const bool hidden = hides(mask.at(static_cast<std::size_t>(i)));
    open = open && !hidden && (mask.kind != Constant::Kind::real || mask.at(static_cast<std::size_t>(i)) == 0);
    causal = causal && hidden == (i % steps > i / steps) &&
             (hidden || mask.kind != Constant::Kind::real || mask.at(static_cast<std::size_t>(i)) == 0);
  }
  if (!open && !causal) throw Error(ErrorCode::badProject, "its mask hides other steps than those to come");
  return causal && !open;
}

}  // namespace

void Translator::recurrent(const OnnxNode& node) {
  const bool isLstm = node.op == "LSTM";
  const View from = view(node.input(0));
  const bool batchFirst = node.integer("layout", 0) != 0;
  if (from.axes.size() != 3 || from.batchAxis() != (batchFirst ? 0 : 1) || from.extents()[batchFirst ? 0 : 1] != kBatch)
    refuse("its input is no sequence of a batch");
  const Constant &input = constant(node, 1), &hidden = constant(node, 2);
  const Constant* bias = optionalConstant(node, 3);
  if (const Constant* lengths = optionalConstant(node, 4))
    for (std::size_t i = 0; i < lengths->stored(); ++i)
      if (lengths->at(i) != static_cast<double>(from.extents()[batchFirst ? 1 : 0]))
        refuse("its sequences have lengths of their own");
  for (const std::size_t state : {std::size_t{5}, std::size_t{6}})
    if (state == 5 || isLstm)
      if (const Constant* initial = optionalConstant(node, state); initial && !allZero(*initial))
        refuse("its first state is not zero");
  if (isLstm)
    if (const Constant* peepholes = optionalConstant(node, 7); peepholes && !allZero(*peepholes))
      refuse("it has peepholes, which an LSTM here does not have");
  if (node.has("activations"))
    for (const std::string& function : node.attributes.at("activations").texts)
      if (function != "Sigmoid" && function != "Tanh")
        refuse(fmt::format("its gates use {}, but here they use sigmoid and tanh", function));
  if (node.has("clip")) refuse("it clips its cells");
  if (isLstm && node.integer("input_forget", 0)) refuse("its input and forget gates are one");
  if (!isLstm && !node.integer("linear_before_reset", 0))
    refuse(
        "its reset gate stands before the product with U; here, in PyTorch and in Keras (reset_after) it stands "
        "behind");
  if (isLstm && node.outputs.size() > 2 && readersOf(node.outputs[2]) > 0)
    refuse("its last cell is read, which stays inside the layer here");
  if (input.extents.size() != 3 || hidden.extents.size() != 3) refuse("its weights do not fit each other");
  const std::int64_t count = isLstm ? 4 : 3, ways = input.extents[0], units = hidden.extents.at(2),
                     columns = input.extents.at(2);
  if (input.extents.size() != 3 || hidden.extents != Extents{ways, count * units, units} ||
      input.extents[1] != count * units || (bias && bias->extents != Extents{ways, 2 * count * units}))
    refuse("its weights do not fit each other");
  const std::string direction = node.text("direction", "forward");
  const Endpoint x = drawn(node.input(0), node);
  const bool sequence = readersOf(node.outputs.at(0)) > 0,
             last = node.outputs.size() > 1 && readersOf(node.outputs[1]) > 0;
  if (!sequence && !last) return tell(ReportItem::Kind::ignored, node, {}, "Nothing reads what it gives.");
  Json values = {{"units", units},
                 {"direction", direction == "reverse"         ? "backward"
                               : direction == "bidirectional" ? "both"
                                                              : "forward"},
                 {"bias", bias != nullptr}};
  std::string first;
  const auto add = [&](const char* returns) {
    values["returns"] = returns;
    const std::string id = m_drawing.add(isLstm ? "LSTM" : "GRU", wish(node), values, {x});
    if (!first.empty())
      m_drawing.node(id).shares = first;
    else
      first = id;
    return id;
  };
  const Extents extents = from.extents();
  if (sequence) {
    const Endpoint y = m_drawing.output(add("sequence"));
    // Steps x (ways units), as steps, ways, batch, units or batch, steps, ways, units.
    View result = plainView(y, m_drawing.shape(y), {kBatch, extents[batchFirst ? 1 : 0], ways * units});
    result = *reshaped(result, {kBatch, extents[batchFirst ? 1 : 0], ways, units});
    give(node, batchFirst ? result : *transposed(result, {1, 2, 0, 3}), 0);
  }
  if (last) {
    const Endpoint y = m_drawing.output(add("last"));
    const View result = *reshaped(plainView(y, m_drawing.shape(y), {kBatch, ways * units}), {kBatch, ways, units});
    give(node, batchFirst ? result : *transposed(result, {1, 0, 2}), 1);
  }
  // ONNX has input, output, forget, cell; here input, forget, cell, output. GRU: update, reset, new; here reset,
  // update, new.
  const std::vector<std::int64_t> order =
      isLstm ? std::vector<std::int64_t>{0, 2, 3, 1} : std::vector<std::int64_t>{1, 0, 2};
  for (std::int64_t way = 0; way < ways; ++way) {
    const std::string suffix = way == 1 ? "_backward" : "";
    m_drawing.weight(first, "weight_input" + suffix, {count * units, columns},
                     gates(input, way, order, units, columns));
    m_drawing.weight(first, "weight_hidden" + suffix, {count * units, units}, gates(hidden, way, order, units, units));
    if (!bias) continue;
    std::vector<float> own = gates(*bias, way, order, units, 1), of = gates(*bias, way, order, units, 1, count * units);
    if (isLstm)
      for (std::size_t i = 0; i < own.size(); ++i) own[i] += of[i];
    else
      m_drawing.weight(first, "bias_hidden" + suffix, {count * units}, std::move(of));
    m_drawing.weight(first, "bias" + suffix, {count * units}, std::move(own));
  }
  tell(ReportItem::Kind::converted, node, first,
       fmt::format("{}; its gates stand in another order here{}.", node.op,
                   sequence && last ? ", and its last state is a second layer that shares the weights" : ""));
}

// The product of two fed values: what could be queries and keys waits for what follows, all else is a MatrixProduct.
void Translator::scores(const OnnxNode& node) {
  const View &a = view(node.input(0)), &b = view(node.input(1));
  const auto swapped = [](const View& view) {
    View result = view;
    std::swap(result.axes[result.axes.size() - 1], result.axes[result.axes.size() - 2]);
    return result;
  };
  if (a.axes.size() < 3 || a.axes.size() != b.axes.size()) return drawProduct(node, a, b, false);
  Scores scores{
      .query = a, .key = swapped(b), .extents = m_facts.of(node.outputs.at(0)).extents, .scale = a.factor * b.factor};
  if (!headsOf(scores.query) || !headsOf(scores.key) || scores.extents.size() != a.axes.size())
    return drawProduct(node, a, b, false);
  m_scores[node.outputs.at(0)] = std::move(scores);
  tell(ReportItem::Kind::translated, node, {}, "Part of a MultiHeadAttention.");
}

void Translator::drawProduct(const OnnxNode& node, const View& a, const View& b, bool transposeB) {
  const std::size_t rank = std::max(a.axes.size(), b.axes.size());
  const auto aligned = [&](View view) {
    view.axes.insert(view.axes.begin(), rank - view.axes.size(), {});
    return view;
  };
  const View left = aligned(a), right = aligned(b);
  const auto matrix = static_cast<std::int64_t>(rank) - 2;
  if (left.batchAxis() != right.batchAxis() || left.batchAxis() < 0 || left.batchAxis() >= matrix ||
      left.sample().rank() != right.sample().rank())
    refuse("it multiplies matrices over the batch");
  const Endpoint x = m_drawing.draw(left, wish(node)), y = m_drawing.draw(right, wish(node));
  const std::string id = m_drawing.add("MatrixProduct", wish(node), {{"transpose_b", transposeB}}, {x, y});
  const Endpoint product = m_drawing.output(id);
  give(node, likeView(product, m_drawing.shape(product), left));
  tell(ReportItem::Kind::translated, node, id, "MatrixProduct.");
}

void Translator::drawScores(const OnnxNode& node, const std::string& value) {
  const Scores scores = m_scores.at(value);
  View query = scores.query, key = scores.key;
  query.factor = key.factor = 1;
  const std::string wished = idFrom(node.name, node.op) + "_scores";
  const Endpoint a = m_drawing.draw(query, wished), b = m_drawing.draw(key, wished);
  Endpoint now = m_drawing.output(m_drawing.add("MatrixProduct", wished, {{"transpose_b", true}}, {a, b}));
  const auto then = [&](const char* layer, const char* suffix, const Json& values) {
    now = m_drawing.output(m_drawing.add(layer, wished + suffix, values, {now}));
  };
  if (scores.scale != 1) then("MultiplyScalar", "_scale", {{"value", scores.scale}});
  if (scores.causal) {
    const std::int64_t steps = scores.query.shape[0];
    const std::string mask =
        m_drawing.add("Parameter", wished + "_mask", {{"shape", {steps, steps}}, {"trained", false}}, {});
    std::vector<float> hidden(static_cast<std::size_t>(steps * steps), 0.0F);
    for (std::int64_t i = 0; i < steps * steps; ++i)
      if (i % steps > i / steps) hidden[static_cast<std::size_t>(i)] = -1e9F;
    m_drawing.weight(mask, "weight", {steps, steps}, std::move(hidden));
    now = m_drawing.output(m_drawing.add("Add", wished + "_masked", Json::object(), {now, m_drawing.output(mask)}));
  }
  if (scores.softmax) then("Softmax", "_softmax", {{"axis", -1}});
  // The heads may share an axis with the batch, as those of the queries do.
  View like = scores.query;
  like.factor = 1;
  View result = likeView(now, m_drawing.shape(now), like);
  if (result.extents() != scores.extents) {
    const auto grouped = reshaped(result, scores.extents);
    if (!grouped) refuse("its heads and batch are mixed");
    result = *grouped;
  }
  m_views[value] = std::move(result);
  m_scores.erase(value);
}

bool Translator::onScores(const OnnxNode& node) try {
  const auto found = std::find_if(node.inputs.begin(), node.inputs.end(),
                                  [&](const std::string& input) { return m_scores.count(input) > 0; });
  if (found == node.inputs.end() || readersOf(*found) != 1) return false;
  Scores next = m_scores.at(*found);
  const std::size_t place = static_cast<std::size_t>(found - node.inputs.begin());
  const Constant* other = node.inputs.size() == 2 ? m_facts.constant(node.inputs[1 - place]) : nullptr;
  const bool scalar = other && other->stored() > 0 && elementsOf(other->extents) == 1;
  if ((node.op == "Mul" || (node.op == "Div" && place == 0)) && scalar && !next.softmax && !next.causal) {
    next.scale = node.op == "Mul" ? next.scale * other->at(0) : next.scale / other->at(0);
  } else if (node.op == "Add" && other && !next.softmax) {
    next.causal = hidesFuture(next, *other, [](double value) { return value < -1e4; }) || next.causal;
  } else if (node.op == "Where" && !next.softmax && place > 0 && node.inputs.size() == 3) {
    // A truth value chooses between the scores and a number far below.
    const Constant *condition = m_facts.constant(node.inputs[0]), *low = m_facts.constant(node.inputs[3 - place]);
    if (!condition || !low || low->stored() != 1 || low->at(0) > -1e4)
      refuse("its mask is calculated from what is fed");
    next.causal =
        hidesFuture(
            next, *condition,
            place == 2 ? +[](double value) { return value != 0; } : +[](double value) { return value == 0; }) ||
        next.causal;
  } else if (node.op == "Softmax" && !next.softmax) {
    const auto rank = static_cast<std::int64_t>(next.query.axes.size());
    if (axisIn(node.integer("axis", m_graph.opset < 13 ? 1 : -1), next.query.axes.size()) + 1 !=
        static_cast<std::size_t>(rank))
      refuse("its softmax is not over the keys");
    next.softmax = true;
  } else if ((node.op == "Identity" || node.op == "Cast" || node.op == "Dropout" || node.op == "Reshape") &&
             place == 0) {
    if (node.op == "Reshape") {  // (B, heads, T, T) to (B heads, T, T) and back
      const Extents& now = m_facts.of(node.input(0)).extents;
      const Extents& wanted = m_facts.of(node.outputs.at(0)).extents;
      if (now.empty() || wanted.empty() || now.back() != wanted.back()) return false;
    }
  } else {
    return false;
  }
  next.extents = m_facts.of(node.outputs.at(0)).extents;
  m_scores[node.outputs.at(0)] = std::move(next);
  tell(ReportItem::Kind::translated, node, {}, "Part of a MultiHeadAttention.");
  return true;
} catch (const Error& error) {
  if (error.code() != ErrorCode::badProject) throw;
  return false;  // then it is drawn in its parts
}

// Probabilities times values.
void Translator::mixed(const OnnxNode& node) {
  const Scores scores = m_scores.at(node.input(0));
  const View values = view(node.input(1));
  const auto q = headsOf(scores.query), k = headsOf(scores.key), v = headsOf(values);
  const bool alike = q && k && v && q->heads == k->heads && k->heads == v->heads && q->channels == k->channels &&
                     q->channels == v->channels && q->steps == k->steps && k->steps == v->steps;
  // What a Linear before gives goes into the layer's own projection; else it is the identity.
  const auto linearOf = [&](const View& view) {
    return m_drawing.node(view.source.node).layer == "Linear" ? m_drawing.findWeight(view.source.node + "/weight")
                                                              : nullptr;
  };
  const auto fits = [&](const View& view) {
    const Endpoint input = linearOf(view) ? m_drawing.inputsOf(view.source.node).front() : view.source;
    const std::int64_t channels = q->heads * q->channels;
    return m_drawing.shape(input) == Shape{q->steps, channels} && (linearOf(view) || channels <= kWidestIdentity);
  };
  if (!scores.softmax || !alike || !fits(scores.query) || !fits(scores.key) || !fits(values)) {
    drawScores(node, node.input(0));
    return drawProduct(node, view(node.input(0)), values, false);
  }
  const std::int64_t channels = q->heads * q->channels;
  struct Part {
    Endpoint input;
    std::vector<float> weight, bias;
    std::string linear;
  };
  const auto part = [&](const View& view, const Heads& heads, double factor) {
    Part result{.input = view.source};
    const Node& source = m_drawing.node(view.source.node);
    ImportedWeight* weight = linearOf(view);
    const std::int64_t inputs = channels;
    if (weight) {
      result.linear = source.id;
      result.input = m_drawing.inputsOf(source.id).front();
    }
    const ImportedWeight* bias = weight ? m_drawing.findWeight(source.id + "/bias") : nullptr;
    for (const std::int64_t column : heads.columns) {
      for (std::int64_t i = 0; i < inputs; ++i)
        result.weight.push_back(
            static_cast<float>(factor * (weight        ? weight->values[static_cast<std::size_t>(column * inputs + i)]
                                         : column == i ? 1
                                                       : 0)));
      result.bias.push_back(bias ? static_cast<float>(factor * bias->values[static_cast<std::size_t>(column)]) : 0);
    }
    return result;
  };
  Part query = part(scores.query, *q, scores.scale * std::sqrt(static_cast<double>(q->channels))),
       key = part(scores.key, *k, 1), value = part(values, *v, values.factor);
  std::vector<Endpoint> inputs{query.input};
  if (key.input != query.input || value.input != query.input) inputs.push_back(key.input);
  if (value.input != key.input) inputs.push_back(value.input);
  const std::string id = m_drawing.add("MultiHeadAttention", idFrom(node.name, "MatMul"),
                                       {{"heads", q->heads}, {"causal", scores.causal}}, inputs);
  for (auto& [name, part] : {std::pair<const char*, Part&>{"query", query}, {"key", key}, {"value", value}}) {
    if (!part.linear.empty()) m_spare.insert(part.linear);
    m_drawing.weight(id, std::string("weight_") + name, {channels, channels}, std::move(part.weight));
    m_drawing.weight(id, std::string("bias_") + name, {channels}, std::move(part.bias));
  }
  std::vector<float> same(static_cast<std::size_t>(channels * channels), 0.0F);
  for (std::int64_t i = 0; i < channels; ++i) same[static_cast<std::size_t>(i * channels + i)] = 1;
  m_drawing.weight(id, "weight_output", {channels, channels}, std::move(same));
  m_drawing.weight(id, "bias_output", {channels}, std::vector<float>(static_cast<std::size_t>(channels), 0.0F));
  m_openAttention.insert(id);
  // Heads side by side: T x (heads channels), viewed as the file has it.
  const Endpoint y = m_drawing.output(id);
  View result = plainView(y, m_drawing.shape(y), {kBatch, q->steps, channels});
  result = *transposed(*reshaped(result, {kBatch, q->steps, q->heads, q->channels}), {0, 2, 1, 3});
  const Fact& fact = m_facts.of(node.outputs.at(0));
  if (fact.known && fact.extents != result.extents()) {
    auto grouped = reshaped(result, fact.extents);
    if (!grouped) refuse("its heads and batch are mixed");
    result = std::move(*grouped);
  }
  give(node, std::move(result));
  tell(ReportItem::Kind::converted, node, id,
       fmt::format("MultiHeadAttention of {} heads, put together from the operators that the exporter wrote it out in.",
                   q->heads));
}

bool Translator::takeOutputProjection(const OnnxNode& node, const std::string& x, const Constant& weight,
                                      bool outputsFirst, const std::vector<float>& bias) {
  const View from = view(x);
  const std::string id = from.source.node;
  if (!m_openAttention.count(id) || from.shape.rank() != 2) return false;
  const std::int64_t channels = from.shape[1];
  const DrawingSteps steps = stepsFor(from);
  if (weight.extents[0] != channels || weight.extents[1] != channels || from.extents().back() != channels ||
      steps.axes || !steps.cuts.empty() || from.factor != 1 || m_drawing.readers(id) > 0)
    return false;
  // Nobody else reads the heads as they are.
  std::size_t views = 0;
  for (const auto& [name, other] : m_views)
    if (other.source.node == id && readersOf(name) != 1) ++views;
  if (views > 0) return false;
  ImportedWeight &own = *m_drawing.findWeight(id + "/weight_output"),
                 &ownBias = *m_drawing.findWeight(id + "/bias_output");
  for (std::int64_t o = 0; o < channels; ++o)
    for (std::int64_t i = 0; i < channels; ++i)
      own.values[static_cast<std::size_t>(o * channels + i)] =
          static_cast<float>(weight.at(static_cast<std::size_t>(outputsFirst ? o * channels + i : i * channels + o)));
  if (!bias.empty()) ownBias.values = bias;
  m_openAttention.erase(id);
  give(node, likeView(from.source, from.shape, from));
  tell(ReportItem::Kind::converted, node, id, "The last projection of this MultiHeadAttention.");
  return true;
}

void addSequenceRules(std::unordered_map<std::string, Translator::Rule>& rules) {
  rules["LSTM"] = rules["GRU"] = &Translator::recurrent;
}

}  // namespace loom::onnx_file
