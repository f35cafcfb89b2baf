// Recurrent layers: LSTM and GRU as they are here, all others as a loop over their cell.
#include <algorithm>
#include <cctype>

#include "engine/base/error.h"
#include "engine/exchange/onnx/translator.h"

namespace loom::onnx_file {
namespace {

constexpr std::int64_t kMostCellSteps = 1000;  // a loop is written out

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

// Rows of a cell's weights side by side: those of what comes in, then those of the state before.
struct CellRows {
  std::vector<float> weight, bias;
  Shape shape;
};

CellRows cellRows(const RecurrentWeights& weights, std::int64_t way, const std::vector<std::int64_t>& order) {
  const std::int64_t units = weights.hidden.extents[2], columns = weights.input.extents[2],
                     rows = static_cast<std::int64_t>(order.size()) * units, gatesHeld = weights.input.extents[1];
  const std::vector<float> in = gates(weights.input, way, order, units, columns),
                           state = gates(weights.hidden, way, order, units, units);
  CellRows result{.weight = {}, .bias = {}, .shape = {rows, columns + units}};
  for (std::int64_t row = 0; row < rows; ++row) {
    result.weight.insert(result.weight.end(), in.begin() + row * columns, in.begin() + (row + 1) * columns);
    result.weight.insert(result.weight.end(), state.begin() + row * units, state.begin() + (row + 1) * units);
  }
  if (!weights.bias) return result;
  result.bias = gates(*weights.bias, way, order, units, 1);
  const std::vector<float> second = gates(*weights.bias, way, order, units, 1, gatesHeld);
  for (std::size_t i = 0; i < second.size(); ++i) result.bias[i] += second[i];
  return result;
}

// The name of an activation in small letters, as runtimes compare them; the default where the list is shorter.
std::string activationAt(const OnnxNode& node, std::size_t place, const char* otherwise) {
  const auto found = node.attributes.find("activations");
  std::string name =
      found == node.attributes.end() || place >= found->second.texts.size() ? otherwise : found->second.texts[place];
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return name;
}

// The layer of an activation of RNN by its name in ONNX; empty where there is none.
std::string activationOf(const OnnxNode& node, std::size_t way) {
  const std::string name = activationAt(node, way, "tanh");
  for (const auto& [theirs, ours] : {std::pair("tanh", "Tanh"),
                                     {"relu", "ReLU"},
                                     {"sigmoid", "Sigmoid"},
                                     {"softsign", "Softsign"},
                                     {"softplus", "Softplus"}})
    if (name == theirs) return ours;
  return {};
}

}  // namespace

void Translator::recurrent(const OnnxNode& node) {
  const bool isLstm = node.op == "LSTM";
  const bool isCell = node.op == "RNN" || (node.op == "GRU" && !node.integer("linear_before_reset", 0));
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
  if (node.op != "RNN") {
    // For each direction that of the gates, that of the new value and, of an LSTM, that of the cell's output.
    const std::size_t each = isLstm ? 3 : 2;
    for (std::size_t i = 0; i < 2 * each; ++i) {
      const char* wanted = i % each == 0 ? "sigmoid" : "tanh";
      if (const std::string given = activationAt(node, i, wanted); given != wanted)
        refuse(
            fmt::format("its activation {} of {} is {}, but here {} stands there", i % each + 1, each, given, wanted));
    }
  }
  if (node.has("clip")) refuse("it clips its cells");
  if (isLstm && node.integer("input_forget", 0)) refuse("its input and forget gates are one");
  if (isLstm && node.outputs.size() > 2 && readersOf(node.outputs[2]) > 0)
    refuse("its last cell is read, which stays inside the layer here");
  if (input.extents.size() != 3 || hidden.extents.size() != 3) refuse("its weights do not fit each other");
  const std::int64_t count = isLstm             ? 4
                             : node.op == "RNN" ? 1
                                                : 3,
                     ways = input.extents[0], units = hidden.extents.at(2), columns = input.extents.at(2);
  if (input.extents.size() != 3 || hidden.extents != Extents{ways, count * units, units} ||
      input.extents[1] != count * units || (bias && bias->extents != Extents{ways, 2 * count * units}))
    refuse("its weights do not fit each other");
  const std::string direction = node.text("direction", "forward");
  const Endpoint x = drawn(node.input(0), node);
  const bool sequence = readersOf(node.outputs.at(0)) > 0,
             last = node.outputs.size() > 1 && readersOf(node.outputs[1]) > 0;
  if (!sequence && !last) return tell(ReportItem::Kind::ignored, node, {}, "Nothing reads what it gives.");
  if (isCell) {
    drawCells(node, {.input = input, .hidden = hidden, .bias = bias, .x = x, .direction = direction});
    return;
  }
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

// A cell drawn between RecurrentInput and RecurrentOutput, its state in a Delay: RNN, and a GRU whose reset gate stands
// before the product with the state's weights. One loop a direction.
void Translator::drawCells(const OnnxNode& node, const RecurrentWeights& weights) {
  const std::int64_t units = weights.hidden.extents[2], ways = weights.input.extents[0];
  const Shape sample = m_drawing.shape(weights.x);
  if (sample.rank() != 2 || sample[0] > kMostCellSteps)
    refuse(fmt::format("its {} steps are too many for a loop that is written out", sample.rank() > 0 ? sample[0] : 0));
  const std::int64_t steps = sample[0];
  const std::string wished = wish(node);
  std::vector<Endpoint> sequences, lasts;
  std::string told;
  const bool readsAll = readersOf(node.outputs.at(0)) > 0,
             readsLast = node.outputs.size() > 1 && readersOf(node.outputs[1]) > 0;
  for (std::int64_t way = 0; way < ways; ++way) {
    const bool isBackward = weights.direction == "reverse" || way == 1;
    const std::string name = wished + (way == 1 ? "_backward" : "");
    const auto add = [&](const char* layer, const std::string& suffix, Json values,
                         const std::vector<Endpoint>& inputs) {
      return m_drawing.output(m_drawing.add(layer, name + suffix, std::move(values), inputs));
    };
    const auto linear = [&](const std::string& suffix, const std::vector<std::int64_t>& order,
                            const std::vector<Endpoint>& inputs) {
      CellRows rows = cellRows(weights, way, order);
      const Endpoint y = add("Linear", suffix, {{"outputs", rows.shape[0]}, {"bias", weights.bias != nullptr}},
                             {add("Concatenate", suffix + "_both", Json::object(), inputs)});
      if (weights.bias) m_drawing.weight(y.node, "bias", {rows.shape[0]}, std::move(rows.bias));
      m_drawing.weight(y.node, "weight", rows.shape, std::move(rows.weight));
      return y;
    };
    const Endpoint x = isBackward ? add("Flip", "_reversed", {{"axes", {0}}}, {weights.x}) : weights.x;
    const Endpoint step = add("RecurrentInput", "_step", {{"length", steps}}, {x});
    const Endpoint state = add("Delay", "_state", {{"shape", {units}}}, {});
    Endpoint next;
    if (node.op == "RNN") {
      const std::string activation = activationOf(node, static_cast<std::size_t>(way));
      if (activation.empty()) refuse("there is no layer of its activation here");
      next = add(activation.c_str(), "_next", Json::object(), {linear("_mix", {0}, {step, state})});
    } else {
      const Endpoint both = add("Sigmoid", "_open", Json::object(), {linear("_gates", {0, 1}, {step, state})});
      const Endpoint update = add("Slice", "_update", {{"length", units}}, {both}),
                     reset = add("Slice", "_reset", {{"start", units}}, {both});
      const Endpoint kept = add("Multiply", "_kept", Json::object(), {reset, state});
      const Endpoint fresh = add("Tanh", "_new", Json::object(), {linear("_mix", {2}, {step, kept})});
      const Endpoint older = add("Multiply", "_older", Json::object(),
                                 {update, add("Subtract", "_difference", Json::object(), {state, fresh})});
      next = add("Add", "_next", Json::object(), {fresh, older});
    }
    m_drawing.wire(next, {state.node, "input"});
    const Endpoint all = add("RecurrentOutput", "_steps", Json::object(), {next});
    // The shape rule speaks of one step alone.
    m_drawing.setShape(all, {steps, units});
    if (told.empty()) told = all.node;
    if (readsLast)
      lasts.push_back(add("Reshape", "_last_state", {{"shape", {units}}},
                          {add("Slice", "_last", {{"start", -1}, {"length", 1}}, {all})}));
    if (readsAll) sequences.push_back(isBackward ? add("Flip", "_forward", {{"axes", {0}}}, {all}) : all);
  }
  const bool batchFirst = node.integer("layout", 0) != 0;
  if (readsAll) {
    const Endpoint y = ways == 1
                           ? sequences[0]
                           : m_drawing.output(m_drawing.add("Concatenate", wished + "_ways", {{"axis", 1}}, sequences));
    const View result =
        *reshaped(plainView(y, m_drawing.shape(y), {kBatch, steps, ways * units}), {kBatch, steps, ways, units});
    give(node, batchFirst ? result : *transposed(result, {1, 2, 0, 3}), 0);
  }
  if (readsLast) {
    const Endpoint y =
        ways == 1 ? lasts[0]
                  : m_drawing.output(m_drawing.add("Concatenate", wished + "_last_ways", Json::object(), lasts));
    const View result = *reshaped(plainView(y, m_drawing.shape(y), {kBatch, ways * units}), {kBatch, ways, units});
    give(node, batchFirst ? result : *transposed(result, {1, 0, 2}), 1);
  }
  tell(ReportItem::Kind::converted, node, told,
       node.op == "RNN"
           ? "RNN, drawn as a loop over its cell."
           : "GRU, drawn as a loop over its cell: its reset gate stands before the product with the state's "
             "weights, and behind it in the layer GRU.");
}

void addSequenceRules(std::unordered_map<std::string, Translator::Rule>& rules) {
  rules["LSTM"] = rules["GRU"] = rules["RNN"] = &Translator::recurrent;
}

}  // namespace loom::onnx_file
