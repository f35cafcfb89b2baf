// What moves, cuts, joins and pools values.
#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "engine/exchange/onnx/translator.h"

namespace loom::onnx_file {

// Reshape, Flatten, Squeeze, Unsqueeze, Expand that changes nothing: the shapes are known, only the view changes.
void Translator::reshape(const OnnxNode& node) {
  const Fact& fact = m_facts.of(node.outputs.at(0));
  if (!fact.known) refuse("its shape is calculated from what is fed");
  const View& from = view(node.input(0));
  auto result = reshaped(from, fact.extents);
  if (!result) {
    if (!from.hasBatch()) refuse("its input does not depend on what is fed");
    const Endpoint x = m_drawing.draw(from, wish(node));
    result = reshaped(likeView(x, m_drawing.shape(x), from), fact.extents);
  }
  if (!result)
    refuse(fmt::format("{} as {} would mix the samples of a batch", Shape(from.extents()).toString(),
                       Shape(fact.extents).toString()));
  give(node, std::move(*result));
  tell(ReportItem::Kind::translated, node, {}, "Part of how the layers around it are wired.");
}

void Translator::transpose(const OnnxNode& node) {
  const View& from = view(node.input(0));
  std::vector<std::int64_t> axes = node.integers("perm");
  if (axes.empty())
    for (std::size_t i = from.axes.size(); i-- > 0;) axes.push_back(static_cast<std::int64_t>(i));
  if (axes.size() != from.axes.size()) refuse("its 'perm' does not fit its input");
  std::set<std::int64_t> once;
  for (std::int64_t& axis : axes) once.insert(axis = static_cast<std::int64_t>(axisIn(axis, from.axes.size())));
  if (once.size() != axes.size()) refuse("its 'perm' names an axis twice");
  give(node, *transposed(from, axes));
  tell(ReportItem::Kind::translated, node, {}, "Part of how the layers around it are wired.");
}

void Translator::identity(const OnnxNode& node) {
  give(node, view(node.input(0)));
  tell(ReportItem::Kind::translated, node, {}, "It passes its input on.");
}

// To a whole number: towards zero; to a truth value: whether it is 0. All else holds the same numbers here.
void Translator::cast(const OnnxNode& node) {
  const int from = m_facts.of(node.input(0)).type, to = m_facts.of(node.outputs.at(0)).type;
  if (castKeeps(from, to)) return identity(node);
  if (to == kBool) return map(node, "NotEqual");
  if (!isWhole(to)) refuse(fmt::format("numbers of type {} of ONNX's have no counterpart here", to));
  if (isWhole(from)) refuse("whole numbers beyond the range of its type wrap around, and numbers here do not");
  const View like = view(node.input(0));
  const Endpoint y = truncated(drawn(node.input(0), node), node);
  give(node, likeView(y, m_drawing.shape(y), like));
  tell(ReportItem::Kind::converted, node, y.node, "Rounded towards zero: the sign times the whole part.");
}

Endpoint Translator::truncated(const Endpoint& x, const OnnxNode& node) {
  const auto add = [&](const char* layer, const char* suffix, const std::vector<Endpoint>& inputs) {
    return m_drawing.output(m_drawing.add(layer, wish(node) + suffix, Json::object(), inputs));
  };
  const Endpoint sign = add("Sign", "_sign", {x});
  return add("Multiply", "", {sign, add("Floor", "_whole_part", {add("Abs", "_absolute", {x})})});
}

// A value that was quantised is read by DequantizeLinear alone; what stays of the pair is its range.
void Translator::quantize(const OnnxNode& node) {
  const Constant& scale = constant(node, 1);
  const Constant* zero = optionalConstant(node, 2);
  const int type = m_facts.of(node.outputs.at(0)).type;
  if (elementsOf(scale.extents) != 1 || !(scale.at(0) > 0)) refuse("its scale is not one positive number");
  const auto range = type == kUint8    ? std::pair(0.0, 255.0)
                     : type == kInt8   ? std::pair(-128.0, 127.0)
                     : type == kUint16 ? std::pair(0.0, 65535.0)
                     : type == kInt16  ? std::pair(-32768.0, 32767.0)
                                       : std::pair(0.0, 0.0);
  if (range.second == 0) refuse("its type has no counterpart here");
  const auto step = static_cast<float>(scale.at(0));
  const double middle = zero && zero->stored() > 0 ? zero->at(0) : 0;
  for (const OnnxNode& reader : m_graph.nodes) {
    if (std::find(reader.inputs.begin(), reader.inputs.end(), node.outputs.at(0)) == reader.inputs.end()) continue;
    const Constant *own = m_facts.constant(reader.input(1)), *ownZero = m_facts.constant(reader.input(2));
    if (reader.op != "DequantizeLinear" || reader.input(0) != node.outputs.at(0) || !own || own->stored() != 1 ||
        own->at(0) != scale.at(0) || (!reader.input(2).empty() && !ownZero) ||
        (ownZero && ownZero->stored() > 0 ? ownZero->at(0) : 0) != middle)
      refuse("other operators calculate with the numbers that it quantises");
  }
  for (const OnnxValue& output : m_graph.outputs)
    if (output.name == node.outputs.at(0)) refuse("its quantised numbers are an output of the file");
  m_quantised.insert(node.outputs.at(0));
  map(node, "Clip", {{"low", (range.first - middle) * step}, {"high", (range.second - middle) * step}},
      ReportItem::Kind::converted,
      fmt::format(
          "Not quantised here: a Clip to the range that it can hold. Its values are not rounded to steps of {}, "
          "so what the network gives differs a little from what the file gives.",
          step));
}

// Behind a QuantizeLinear, which looked at this node.
void Translator::dequantize(const OnnxNode& node) {
  if (!m_quantised.count(node.input(0))) refuse("its numbers are whole and calculated from what is fed");
  identity(node);
}

void Translator::concat(const OnnxNode& node) {
  const auto fed = std::find_if(node.inputs.begin(), node.inputs.end(),
                                [this](const std::string& input) { return m_views.count(input) > 0; });
  if (fed == node.inputs.end()) refuse("nothing that it joins is fed");
  const View first = view(*fed);
  const std::size_t axis = axisIn(node.integer("axis", 1), first.axes.size());
  if (!first.sampleAxis(axis)) refuse("it joins samples of a batch");
  std::vector<Endpoint> inputs;
  for (const std::string& input : node.inputs) {
    if (const Constant* constant = m_facts.constant(input)) {  // the same for each sample: a class token
      if (elementsOf(constant->extents) > 0)
        inputs.push_back(parameter(node, input, withoutBatch(*constant, first, OverBatch::alike)));
      continue;
    }
    inputs.push_back(drawn(input, node));
    if (view(input).batchAxis() != first.batchAxis() || view(input).sample().rank() != first.sample().rank())
      refuse("its inputs have the batch at different places");
  }
  if (inputs.size() == 1) return identity(node);
  const std::string id = m_drawing.add("Concatenate", wish(node), {{"axis", *first.sampleAxis(axis)}}, inputs);
  const Endpoint y = m_drawing.output(id);
  give(node, likeView(y, m_drawing.shape(y), first));
  tell(ReportItem::Kind::translated, node, id, "Concatenate.");
}

// As a view, or drawn where no view can say it.
void Translator::giveSliced(const OnnxNode& node, const std::vector<Cut>& cuts, std::size_t output) {
  View result = view(node.input(0));
  for (const Cut& cut : cuts) {
    if (cut.start == 0 && cut.step == 1 && cut.length == result.extents()[cut.axis]) continue;
    if (static_cast<std::int64_t>(cut.axis) == result.batchAxis())
      refuse("it takes some samples of a batch and leaves others");
    if (cut.step == -1 && cut.length == result.extents()[cut.axis]) {
      const Endpoint x = m_drawing.draw(result, wish(node));
      const std::string id = m_drawing.add("Flip", wish(node), {{"axes", {*result.sampleAxis(cut.axis)}}}, {x});
      result = likeView(m_drawing.output(id), m_drawing.shape(x), result);
      continue;
    }
    if (cut.step < 1) refuse("it reverses a part of an axis");
    if (cut.length < 1) refuse("nothing is left of its input");
    auto next = sliced(result, cut);
    if (!next) {
      const Endpoint x = m_drawing.draw(result, wish(node));
      next = sliced(likeView(x, m_drawing.shape(x), result), cut);
    }
    if (!next) refuse("no layer here cuts it so");
    result = std::move(*next);
  }
  give(node, std::move(result), output);
}

void Translator::slice(const OnnxNode& node) {
  std::vector<const Constant*> inputs;
  for (const std::string& input : node.inputs) inputs.push_back(m_facts.constant(input));
  const auto cuts = cutsOf(node, inputs, view(node.input(0)).extents(), m_graph.opset);
  if (!cuts) refuse("where it cuts is calculated from what is fed");
  giveSliced(node, *cuts, 0);
  tell(ReportItem::Kind::translated, node, {}, "Slice, where a layer wants it.");
}

void Translator::split(const OnnxNode& node) {
  const std::size_t axis = axisIn(node.integer("axis", 0), view(node.input(0)).axes.size());
  std::int64_t start = 0;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const Fact& fact = m_facts.of(node.outputs[i]);
    if (!fact.known) refuse("where it cuts is calculated from what is fed");
    giveSliced(node, {{.axis = axis, .start = start, .step = 1, .length = fact.extents[axis]}}, i);
    start += fact.extents[axis];
  }
  tell(ReportItem::Kind::translated, node, {}, "Slices, where layers want them.");
}

void Translator::gather(const OnnxNode& node) {
  if (m_facts.isConstant(node.input(0))) return embedding(node);
  const Constant& indices = constant(node, 1);
  const View from = view(node.input(0));
  const std::size_t axis = axisIn(node.integer("axis", 0), from.axes.size());
  const std::int64_t extent = from.extents()[axis], count = elementsOf(indices.extents);
  if (static_cast<std::int64_t>(axis) == from.batchAxis()) refuse("it takes some samples of a batch and leaves others");
  const auto index = [&](std::int64_t i) {
    const std::int64_t given = indices.whole(static_cast<std::size_t>(i)), place = given < 0 ? given + extent : given;
    if (place < 0 || place >= extent) refuse(fmt::format("it takes element {} of {}", given, extent));
    return place;
  };
  if (indices.extents.empty()) {
    auto result = onnx_file::picked(from, axis, index(0));
    if (!result) {
      const Endpoint x = m_drawing.draw(from, wish(node));
      result = onnx_file::picked(likeView(x, m_drawing.shape(x), from), axis, index(0));
    }
    if (!result) refuse("no layer here takes it so");
    give(node, std::move(*result));
    tell(ReportItem::Kind::translated, node, {}, "Slice, where a layer wants it.");
    return;
  }
  const std::int64_t step = count > 1 ? index(1) - index(0) : 1;
  bool even = indices.extents.size() == 1 && step > 0 && count > 0;
  for (std::int64_t i = 1; i < count && even; ++i) even = index(i) == index(0) + i * step;
  if (!even) {
    if (indices.extents.size() != 1 || count == 0) refuse("its indices have several axes");
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(index(i));
    const Endpoint x = drawn(node.input(0), node);
    return giveAs(node, m_drawing.add("Gather", wish(node), {{"axis", *from.sampleAxis(axis)}, {"indices", all}}, {x}),
                  from);
  }
  giveSliced(node, {{.axis = axis, .start = index(0), .step = step, .length = count}}, 0);
  tell(ReportItem::Kind::translated, node, {}, "Slice, where a layer wants it.");
}

void Translator::pooling(const OnnxNode& node) {
  const View from = view(node.input(0));
  wantBatchFirst(from);
  if (node.outputs.size() > 1 && readersOf(node.outputs[1]) > 0)
    refuse("the places of its maxima are read, which stay inside the layer here");
  Endpoint x = drawn(node.input(0), node);
  const bool maximum = node.op == "MaxPool", ceiling = node.integer("ceil_mode", 0) != 0,
             counts = node.integer("count_include_pad", 0) != 0;
  const Extents kernel = node.integers("kernel_shape");
  Json values = windowValues(node, kernel, m_drawing.shape(x), false, ceiling);
  if (!maximum) values["include_padding"] = counts;
  if (!maximum && counts && ceiling && values["padding"] == "explicit") {
    // The padding that the file names counts in the means, what ceil_mode adds behind it does not: the first is drawn
    // as a Pad where there is any.
    std::vector<std::int64_t> all = values["pads"], named = node.integers("pads");
    if (all.size() == kernel.size()) all.insert(all.end(), all.begin(), all.end());
    if (named.size() != all.size() || node.text("auto_pad", "NOTSET") == "VALID") named.assign(all.size(), 0);
    if (all != named) {
      for (std::size_t i = 0; i < all.size(); ++i) all[i] -= named[i];
      if (std::any_of(named.begin(), named.end(), [](std::int64_t pad) { return pad != 0; }))
        x = m_drawing.output(m_drawing.add("Pad", wish(node) + "_pad", {{"pads", named}}, {x}));
      values["pads"] = all;
      values["include_padding"] = false;
    }
  }
  const std::string layer = maximum ? "MaxPooling" : "AveragePooling";
  const std::string id = m_drawing.add(layer, wish(node), std::move(values), {x});
  const Endpoint y = m_drawing.output(id);
  give(node, likeView(y, m_drawing.shape(y), from));
  tell(ReportItem::Kind::translated, node, id, layer + ".");
}

void Translator::globalPooling(const OnnxNode& node) {
  const View from = view(node.input(0));
  wantBatchFirst(from);
  const Endpoint x = drawn(node.input(0), node);
  const std::string layer = node.op == "GlobalAveragePool" ? "GlobalAveragePooling" : "GlobalMaxPooling";
  const std::string id = m_drawing.add(layer, wish(node), {{"keep_axes", true}}, {x});
  const Endpoint y = m_drawing.output(id);
  give(node, likeView(y, m_drawing.shape(y), from));
  tell(ReportItem::Kind::translated, node, id, layer + ".");
}

void addShapeRules(std::unordered_map<std::string, Translator::Rule>& rules) {
  for (const char* op : {"Reshape", "Flatten", "Squeeze", "Unsqueeze"}) rules[op] = &Translator::reshape;
  rules["Identity"] = &Translator::identity;
  rules["Cast"] = rules["CastLike"] = &Translator::cast;
  rules["QuantizeLinear"] = &Translator::quantize;
  rules["DequantizeLinear"] = &Translator::dequantize;
  rules["Transpose"] = &Translator::transpose;
  rules["Concat"] = &Translator::concat;
  rules["Split"] = &Translator::split;
  rules["Slice"] = &Translator::slice;
  rules["Gather"] = &Translator::gather;
  rules["MaxPool"] = &Translator::pooling;
  rules["AveragePool"] = &Translator::pooling;
  rules["GlobalAveragePool"] = &Translator::globalPooling;
  rules["GlobalMaxPool"] = &Translator::globalPooling;
}

}  // namespace loom::onnx_file
