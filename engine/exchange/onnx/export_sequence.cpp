#include "engine/exchange/onnx/export_sequence.h"

#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/exchange/onnx/facts.h"

namespace loom::onnx_file {
namespace {

using Names = std::vector<std::string>;

// Gates as ONNX orders them: place i of the result is gate order[i] of ours.
std::vector<float> reordered(const std::vector<float>& values, const std::vector<std::size_t>& order) {
  const std::size_t gate = values.size() / order.size();
  std::vector<float> result;
  for (const std::size_t from : order)
    result.insert(result.end(), values.begin() + static_cast<std::ptrdiff_t>(from * gate),
                  values.begin() + static_cast<std::ptrdiff_t>((from + 1) * gate));
  return result;
}

// x: N x T x C; ONNX wants T x N x C, and gives T x 1 x N x units.
Names recurrent(const OpExport& given, const char* op, const std::vector<std::size_t>& order, bool biasesAdd) {
  GraphWriter& graph = given.graph;
  const auto gates = static_cast<std::int64_t>(order.size());
  const std::int64_t columns = given.of(1)[1], units = given.of(2)[1];
  for (const std::size_t weight : {std::size_t{1}, std::size_t{2}})
    if (!given.isWeight(weight))
      throwError(ErrorCode::badProject, "its weights are calculated, which ONNX does not have");
  const std::string& scope = given.operation.origin;
  Names inputs{graph.node("Transpose", {given.at(0)}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}}),
               graph.constant(scope + "/W", {1, gates * units, columns}, reordered(given.values(1), order)),
               graph.constant(scope + "/R", {1, gates * units, units}, reordered(given.values(2), order))};
  std::vector<float> bias(static_cast<std::size_t>(2 * gates * units), 0.0F);
  bool any = false;
  for (const std::size_t input : {std::size_t{3}, std::size_t{4}}) {
    if (!given.has(input) || (input == 4 && biasesAdd)) continue;
    any = true;
    const std::vector<float> values = reordered(given.values(input), order);
    std::copy(values.begin(), values.end(),
              bias.begin() + (input == 4 ? static_cast<std::ptrdiff_t>(gates * units) : 0));
  }
  if (any) inputs.push_back(graph.constant(scope + "/B", {1, 2 * gates * units}, bias));
  GraphWriter::Attributes attributes{
      {"hidden_size", units},
      {"direction", std::string(given.operation.attributes.boolean("reverse", false) ? "reverse" : "forward")}};
  if (!biasesAdd) attributes["linear_before_reset"] = std::int64_t{1};
  // First states: ours are N x units.
  if (biasesAdd && (given.has(4) || given.has(5))) {
    inputs.resize(5);
    for (const std::size_t input : {std::size_t{4}, std::size_t{5}})
      inputs.push_back(given.has(input) ? graph.node("Unsqueeze", {given.at(input), graph.wholes({0})}) : "");
  }
  const std::string y = graph.node("Squeeze", {graph.node(op, inputs, attributes), graph.wholes({1})});
  return {graph.node("Transpose", {y}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}})};
}

}  // namespace

// Gates i, f, g, o to i, o, f, g.
Names writeLstm(const OpExport& given) {
  return recurrent(given, "LSTM", {0, 3, 1, 2}, true);
}

// Gates r, z, n to z, r, n.
Names writeGru(const OpExport& given) {
  return recurrent(given, "GRU", {1, 0, 2}, false);
}

// softmax(q kᵀ / sqrt(d)) v in heads, of N x T x C each.
Names writeAttention(const OpExport& given) {
  GraphWriter& graph = given.graph;
  const std::int64_t heads = given.operation.attributes.integer("heads", 1), channels = given.of(0)[2],
                     each = channels / heads;
  const auto inHeads = [&](std::size_t input, const std::vector<std::int64_t>& axes) {
    const Shape& shape = given.of(input);
    return graph.node("Transpose", {reshapeTo(given, given.at(input), {shape[0], shape[1], heads, shape[2] / heads})},
                      {{"perm", axes}});
  };
  const std::string q = inHeads(0, {0, 2, 1, 3}), k = inHeads(1, {0, 2, 3, 1}), v = inHeads(2, {0, 2, 1, 3});
  std::string scores =
      graph.node("Mul", {graph.node("MatMul", {q, k}), graph.number(1 / std::sqrt(static_cast<double>(each)))});
  if (given.operation.attributes.boolean("causal", false)) {
    const Extents square{given.of(0)[1], given.of(1)[1]};
    const std::string hidden =
        graph.node("Expand", {graph.number(-std::numeric_limits<double>::infinity()), graph.wholes(square)});
    scores = graph.node("Add", {scores, graph.node("Trilu", {hidden, graph.whole(1)}, {{"upper", std::int64_t{1}}})});
  }
  const std::string mixed = graph.node("MatMul", {graph.node("Softmax", {scores}, {{"axis", std::int64_t{-1}}}), v});
  return {reshapeTo(given, graph.node("Transpose", {mixed}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}}),
                    given.made().extents())};
}

// Value a along the axis is the sum over k from starts[a] to starts[a + 1] of weights[k] times x at places[k]; `fill`
// where there is none.
Names writeResample(const OpExport& given) {
  GraphWriter& graph = given.graph;
  const Attributes& attributes = given.operation.attributes;
  const auto rank = static_cast<std::int64_t>(given.of(0).rank());
  const std::int64_t given_axis = attributes.integer("axis"), axis = given_axis < 0 ? given_axis + rank : given_axis,
                     extent = given.of(0)[axis];
  const std::vector<std::int64_t>&starts = attributes.integers("starts"), &places = attributes.integers("places");
  const bool plain = !attributes.has("weights") || attributes.reals("weights").empty();
  const std::int64_t length = static_cast<std::int64_t>(starts.size()) - 1;
  const double fill = attributes.has("fill") ? attributes.real("fill") : 0;
  bool single = plain, full = true;
  for (std::int64_t a = 0; a < length; ++a) {
    const std::int64_t entries = starts[static_cast<std::size_t>(a) + 1] - starts[static_cast<std::size_t>(a)];
    single = single && entries <= 1;
    full = full && entries >= 1;
  }
  if (single && full) return {graph.node("Gather", {given.at(0), graph.wholes(places)}, {{"axis", axis}})};
  // A margin around all of x in its order is a padding.
  std::int64_t before = 0;
  while (before < length && starts[static_cast<std::size_t>(before) + 1] == starts[static_cast<std::size_t>(before)])
    ++before;
  bool padding = single && static_cast<std::int64_t>(places.size()) == extent && before + extent <= length;
  for (std::int64_t i = 0; i < extent && padding; ++i)
    padding = places[static_cast<std::size_t>(i)] == i &&
              starts[static_cast<std::size_t>(before + i) + 1] - starts[static_cast<std::size_t>(before + i)] == 1;
  if (padding) {
    std::vector<std::int64_t> pads(static_cast<std::size_t>(2 * rank), 0);
    pads[static_cast<std::size_t>(axis)] = before;
    pads[static_cast<std::size_t>(rank + axis)] = length - extent - before;
    return {graph.node("Pad", {given.at(0), graph.wholes(pads), graph.number(fill)})};
  }
  // Anything else as a product with the matrix itself, the axis turned to the end and back.
  if (extent * length > (std::int64_t{1} << 26))
    throwError(ErrorCode::badProject, "it resamples {} values to {}, too many for the matrix that ONNX wants", extent,
               length);
  std::vector<float> matrix(static_cast<std::size_t>(extent * length), 0.0F),
      margin(static_cast<std::size_t>(length), 0.0F);
  bool filled = false;
  for (std::int64_t a = 0; a < length; ++a) {
    const auto from = static_cast<std::size_t>(starts[static_cast<std::size_t>(a)]),
               to = static_cast<std::size_t>(starts[static_cast<std::size_t>(a) + 1]);
    for (std::size_t k = from; k < to; ++k)
      matrix[static_cast<std::size_t>(places[k] * length + a)] +=
          plain ? 1.0F : static_cast<float>(attributes.reals("weights")[k]);
    if (from == to && fill != 0) margin[static_cast<std::size_t>(a)] = static_cast<float>(fill), filled = true;
  }
  std::vector<std::int64_t> turn;
  for (std::int64_t i = 0; i < rank; ++i) turn.push_back(i);
  std::swap(turn[static_cast<std::size_t>(axis)], turn.back());
  std::string x = given.at(0);
  if (axis != rank - 1) x = graph.node("Transpose", {x}, {{"perm", turn}});
  x = graph.node("MatMul", {x, graph.constant(given.operation.origin + "/matrix", {extent, length}, matrix)});
  if (filled) x = graph.node("Add", {x, graph.constant(given.operation.origin + "/margin", {length}, margin)});
  return {axis == rank - 1 ? x : graph.node("Transpose", {x}, {{"perm", turn}})};
}

}  // namespace loom::onnx_file
