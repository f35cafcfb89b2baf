// Attention as exporters write it out.
//
// It is put together while its parts come by: the product of queries and keys becomes Scores, scaling, mask and
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
    if (node.op == "Cast" && !isReal(m_facts.of(node.outputs.at(0)).type)) return false;
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

}  // namespace loom::onnx_file
