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
  const Endpoint x = drawn(node.input(0), node);
  const bool maximum = node.op == "MaxPool";
  Json values =
      windowValues(node, node.integers("kernel_shape"), m_drawing.shape(x), false, node.integer("ceil_mode", 0) != 0);
  if (!maximum) values["include_padding"] = node.integer("count_include_pad", 0) != 0;
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
  for (const char* op : {"Identity", "Cast", "CastLike"}) rules[op] = &Translator::identity;
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
