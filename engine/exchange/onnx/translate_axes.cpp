// Layers that take axes together, widen or repeat them.
#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/exchange/onnx/translator.h"

namespace loom::onnx_file {

void Translator::giveAs(const OnnxNode& node, const std::string& id, const View& from, std::size_t output) {
  const Fact& fact = m_facts.of(node.outputs.at(output));
  const Endpoint y = m_drawing.output(id, output);
  if (fact.known && fact.extents.size() == from.axes.size())
    give(node, likeView(y, m_drawing.shape(y), from), output);
  else if (fact.known)
    give(node, plainView(y, m_drawing.shape(y), fact.extents), output);
  else
    refuse("the shape of what it gives is not known");
  if (output == 0) tell(ReportItem::Kind::translated, node, id, fmt::format("{}.", m_drawing.node(id).layer));
}

// The mean over all axes behind the channels, or over the steps of a sequence, is a GlobalAveragePooling.
void Translator::reduceMean(const OnnxNode& node) {
  const View from = view(node.input(0));
  const auto given = axesOf(node, m_facts, 1);
  std::vector<std::size_t> axes;
  if (given)
    for (const std::int64_t axis : *given) axes.push_back(axisIn(axis, from.axes.size()));
  std::sort(axes.begin(), axes.end());
  const bool keep = node.integer("keepdims", 1) != 0;
  bool trailing = from.batchAxis() == 0 && from.axes.size() >= 3 && axes.size() + 2 == from.axes.size();
  for (std::size_t i = 0; i < axes.size() && trailing; ++i) trailing = axes[i] == i + 2;
  View plain = from;
  std::optional<std::vector<std::int64_t>> order;
  if (!trailing && from.batchAxis() == 0 && axes.size() == 1 && from.axes.size() == 3 && axes[0] == 1) {
    plain = *transposed(from, {0, 2, 1});  // over the steps of a sequence T x C
  } else if (!trailing) {
    return reduce(node);
  }
  const Endpoint x = m_drawing.draw(plain, wish(node));
  const std::string id = m_drawing.add("GlobalAveragePooling", wish(node), {{"keep_axes", keep && trailing}}, {x});
  const Endpoint y = m_drawing.output(id);
  View result =
      plainView(y, m_drawing.shape(y),
                trailing && keep ? m_facts.of(node.outputs.at(0)).extents : Extents{kBatch, plain.extents()[1]});
  if (keep && !trailing) result = *reshaped(result, {kBatch, 1, plain.extents()[1]});
  give(node, std::move(result));
  tell(ReportItem::Kind::translated, node, id, "GlobalAveragePooling.");
}

void Translator::reduce(const OnnxNode& node) {
  const View from = view(node.input(0));
  const auto given = axesOf(node, m_facts, 1);
  const std::string layer = node.op == "ReduceProd" ? "ReduceProduct" : node.op;
  if ((!given || given->empty()) && node.integer("noop_with_empty_axes", 0)) {  // of each number by itself
    if (node.op == "ReduceL1" || node.op == "ReduceL2") return map(node, "Abs");
    if (node.op == "ReduceSumSquare") return map(node, "Square");
    return node.op == "ReduceLogSum" ? map(node, "Log") : identity(node);
  }
  std::vector<std::int64_t> axes;
  if (!given || given->empty()) refuse("it takes the samples of a batch together");
  for (const std::int64_t axis : *given) {
    const auto place = from.sampleAxis(axisIn(axis, from.axes.size()));
    if (!place) refuse("it takes the samples of a batch together");
    axes.push_back(*place);
  }
  std::sort(axes.begin(), axes.end());
  const bool keep = node.integer("keepdims", 1) != 0;
  if (!keep && from.axes[static_cast<std::size_t>(from.batchAxis())].size() != 1)
    refuse("an axis of its input holds the batch and more");
  const Endpoint x = drawn(node.input(0), node);
  const std::string id = m_drawing.add(layer, wish(node), {{"axes", axes}, {"keep_axes", keep}}, {x});
  const Endpoint y = m_drawing.output(id);
  const Fact& fact = m_facts.of(node.outputs.at(0));
  if (!keep && m_drawing.shape(y).rank() + 1 != fact.extents.size())  // one number a sample
    give(node, *reshaped(plainView(y, m_drawing.shape(y), {kBatch, 1}), fact.extents));
  else
    give(node, keep ? likeView(y, m_drawing.shape(y), from) : plainView(y, m_drawing.shape(y), fact.extents));
  tell(ReportItem::Kind::translated, node, id, layer + ".");
}

void Translator::pad(const OnnxNode& node) {
  const View from = view(node.input(0));
  const std::size_t rank = from.axes.size();
  std::vector<std::int64_t> pads = node.integers("pads"), axes;
  double value = node.real("value", 0);
  if (m_graph.opset >= 11) {
    const Constant& given = constant(node, 1);
    pads.clear();
    for (std::int64_t i = 0; i < elementsOf(given.extents); ++i)
      pads.push_back(given.whole(static_cast<std::size_t>(i)));
    if (const Constant* number = optionalConstant(node, 2); number && number->stored() > 0) value = number->at(0);
    if (const Constant* chosen = optionalConstant(node, 3))
      for (std::int64_t i = 0; i < elementsOf(chosen->extents); ++i)
        axes.push_back(static_cast<std::int64_t>(axisIn(chosen->whole(static_cast<std::size_t>(i)), rank)));
  }
  if (axes.empty())
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  if (pads.size() != 2 * axes.size()) refuse("its pads do not fit its input");
  const std::size_t samples = from.sample().rank();
  std::vector<std::int64_t> own(2 * samples, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto place = from.sampleAxis(static_cast<std::size_t>(axes[i]));
    if (!place && (pads[i] != 0 || pads[i + axes.size()] != 0)) refuse("it pads the batch");
    if (!place) continue;
    own[static_cast<std::size_t>(*place)] = pads[i];
    own[samples + static_cast<std::size_t>(*place)] = pads[i + axes.size()];
  }
  if (std::all_of(own.begin(), own.end(), [](std::int64_t number) { return number == 0; })) return identity(node);
  // Leading axes without a margin go unsaid: those of an image are its last two.
  std::size_t first = 0;
  while (first + 1 < samples && own[first] == 0 && own[samples + first] == 0) ++first;
  if (samples == 3 && first == 2) first = 1;
  std::vector<std::int64_t> said(own.begin() + static_cast<std::ptrdiff_t>(first),
                                 own.begin() + static_cast<std::ptrdiff_t>(samples));
  said.insert(said.end(), own.begin() + static_cast<std::ptrdiff_t>(samples + first), own.end());
  const std::string mode = node.text("mode", "constant");
  Json values = {{"pads", said}, {"mode", mode == "edge" ? "replicate" : mode}};
  if (mode == "constant") values["value"] = value;
  const Endpoint x = drawn(node.input(0), node);
  const std::string id = m_drawing.add("Pad", wish(node), std::move(values), {x});
  const Endpoint y = m_drawing.output(id);
  give(node, likeView(y, m_drawing.shape(y), from));
  tell(ReportItem::Kind::translated, node, id, "Pad.");
}

void Translator::resize(const OnnxNode& node) {
  const View from = view(node.input(0));
  wantBatchFirst(from);
  const Fact& fact = m_facts.of(node.outputs.at(0));
  if (!fact.known || fact.extents.size() < 3 || fact.extents.size() != from.axes.size() ||
      fact.extents[1] != from.extents()[1])
    refuse("its size is calculated from what is fed, or it changes the channels");
  const bool old = node.op == "Upsample" || m_graph.opset < 11;
  std::string mode = node.text("mode", "nearest"),
              coordinates = node.text("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel"),
              rounding = node.text("nearest_mode", old ? "floor" : "round_prefer_floor");
  if (mode == "bilinear") mode = "linear";
  // Whatever the factors say, onnxruntime copies then.
  if (fact.extents == from.extents() && coordinates != "tf_crop_and_resize") return identity(node);
  // The middles of TensorFlow, half a place to the right: the lower of them is the nearer one counted from ours.
  if (coordinates == "tf_half_pixel_for_nn" && mode == "nearest" && rounding == "floor") {
    coordinates = "half_pixel";
    rounding = "round_prefer_ceil";
  }
  if (rounding.starts_with("round_")) rounding = rounding.substr(6);
  if (node.integer("exclude_outside", 0) || node.integer("antialias", 0) ||
      node.text("keep_aspect_ratio_policy", "stretch") != "stretch" || node.has("axes"))
    refuse("it resizes in a way that has no counterpart here");
  std::vector<std::int64_t> size(fact.extents.begin() + 2, fact.extents.end());
  Json values = {{"mode", mode}, {"coordinates", coordinates}};
  // Factors are said as such where the file has them or they are whole, so that another image may come in; places are
  // found with the factor, not with the extents.
  std::vector<double> factors;
  for (std::size_t i = 0; i < size.size(); ++i)
    factors.push_back(static_cast<double>(size[i]) / static_cast<double>(from.extents()[i + 2]));
  const bool whole =
      std::all_of(factors.begin(), factors.end(), [](double factor) { return factor == std::floor(factor); });
  std::vector<double> named;  // the file's own factors
  if (const auto given = node.attributes.find("scales"); given != node.attributes.end()) named = given->second.reals;
  if (const Constant* scales = m_facts.constant(node.input(old ? 1 : 2)))
    for (std::int64_t i = 0; i < std::min<std::int64_t>(elementsOf(scales->extents), 16); ++i)
      named.push_back(scales->at(static_cast<std::size_t>(i)));
  if (named.size() == from.axes.size() && (old || node.input(3).empty())) {
    // The shortest number that is this one in 32 bits: 10 times 0.7 are 7, 10 times 0.699999988 are 6.
    for (std::size_t i = 0; i < size.size(); ++i)
      factors[i] = std::stod(fmt::format("{}", static_cast<float>(named[i + 2])));
    values["scale"] = factors;
  } else if (whole) {
    values["scale"] = factors;
  } else {
    values["size"] = size;
  }
  if (m_graph.opset == 10 && mode == "nearest") {  // before version 11 the way follows from the factor
    const bool smaller = std::any_of(factors.begin(), factors.end(), [](double factor) { return factor < 1; }),
               larger = std::any_of(factors.begin(), factors.end(), [](double factor) { return factor > 1; });
    if (smaller && larger) refuse("it makes one axis larger and another smaller, which version 10 rounds in two ways");
    if (smaller) rounding = "ceil";
  }
  if (mode == "nearest") values["rounding"] = rounding;
  if (mode == "cubic") values["cubic"] = node.real("cubic_coeff_a", -0.75);
  const Endpoint x = drawn(node.input(0), node);
  const std::string id = m_drawing.add("Resize", wish(node), std::move(values), {x});
  const Endpoint y = m_drawing.output(id);
  give(node, likeView(y, m_drawing.shape(y), from));
  tell(ReportItem::Kind::translated, node, id, "Resize.");
}

// Tile, and an Expand that widens.
void Translator::tile(const OnnxNode& node) {
  const View from = view(node.input(0));
  const Fact& fact = m_facts.of(node.outputs.at(0));
  if (!fact.known) refuse("how often it repeats is calculated from what is fed");
  if (fact.extents == from.extents()) return identity(node);
  if (fact.extents.size() != from.axes.size()) {
    Extents padded = from.extents();
    padded.insert(padded.begin(), fact.extents.size() - std::min(fact.extents.size(), padded.size()), 1);
    if (padded != fact.extents) refuse("it makes a new axis before the batch");
    return reshape(node);
  }
  if (from.axes[static_cast<std::size_t>(from.batchAxis())].size() != 1)
    refuse("an axis of its input holds the batch and more");
  std::vector<std::int64_t> repeats;
  for (std::size_t i = 0; i < fact.extents.size(); ++i) {
    if (static_cast<std::int64_t>(i) == from.batchAxis()) {
      if (fact.extents[i] != kBatch) refuse("it repeats the samples of a batch");
      continue;
    }
    repeats.push_back(fact.extents[i] / std::max<std::int64_t>(from.extents()[i], 1));
  }
  const Endpoint x = drawn(node.input(0), node);
  giveAs(node, m_drawing.add("Tile", wish(node), {{"repeats", repeats}}, {x}), from);
}

void Translator::blocks(const OnnxNode& node) {
  const View from = view(node.input(0));
  wantBatchFirst(from);
  const Endpoint x = drawn(node.input(0), node);
  Json values = {{"block", node.integer("blocksize", 1)}};
  values["order"] =
      node.text("mode", "DCR") == "CRD" ? "channels_first" : "block_first";  // DCR: the block counts first
  giveAs(node, m_drawing.add(node.op, wish(node), std::move(values), {x}), from);
}

// ArgMax and ArgMin.
void Translator::place(const OnnxNode& node) {
  const View from = view(node.input(0));
  const auto axis = from.sampleAxis(axisIn(node.integer("axis", 0), from.axes.size()));
  if (!axis) refuse("it compares samples of a batch with each other");
  if (node.integer("select_last_index", 0)) refuse("of equals it takes the last, and the first is taken here");
  const bool keep = node.integer("keepdims", 1) != 0;
  if (!keep && from.axes[static_cast<std::size_t>(from.batchAxis())].size() != 1)
    refuse("an axis of its input holds the batch and more");
  const Endpoint x = drawn(node.input(0), node);
  giveAs(node, m_drawing.add(node.op, wish(node), {{"axis", *axis}, {"keep_axes", keep}}, {x}), from);
}

void Translator::cumulativeSum(const OnnxNode& node) {
  const View from = view(node.input(0));
  const Constant& given = constant(node, 1);
  if (given.stored() != 1) refuse("its axis is none");
  const auto axis = from.sampleAxis(axisIn(given.whole(0), from.axes.size()));
  if (!axis) refuse("it sums over the samples of a batch");
  map(node, "CumulativeSum",
      {{"axis", *axis},
       {"exclusive", node.integer("exclusive", 0) != 0},
       {"reverse", node.integer("reverse", 0) != 0}});
}

void Translator::topK(const OnnxNode& node) {
  const View from = view(node.input(0));
  const auto axis = from.sampleAxis(axisIn(node.integer("axis", -1), from.axes.size()));
  if (!axis) refuse("it compares samples of a batch with each other");
  if (m_graph.opset >= 10 && constant(node, 1).stored() != 1) refuse("its number of places is none");
  const std::int64_t k = m_graph.opset < 10 ? node.integer("k", 1) : constant(node, 1).whole(0);
  const Endpoint x = drawn(node.input(0), node);
  const std::string id =
      m_drawing.add("TopK", wish(node), {{"k", k}, {"axis", *axis}, {"largest", node.integer("largest", 1) != 0}}, {x});
  for (std::size_t i = 0; i < 2; ++i) {
    const Endpoint y = m_drawing.output(id, i);
    give(node, likeView(y, m_drawing.shape(y), from), i);
  }
  tell(ReportItem::Kind::translated, node, id, "TopK.");
}

void Translator::oneHot(const OnnxNode& node) {
  const View indices = view(node.input(0));
  const Constant &depth = constant(node, 1), &values = constant(node, 2);
  if (axisIn(node.integer("axis", -1), indices.axes.size() + 1) != indices.axes.size())
    refuse("its new axis is not the last");
  if (values.stored() != 2 || values.at(0) != 0 || values.at(1) != 1 || depth.stored() != 1)
    refuse("it writes other numbers than 0 and 1");
  const std::string id = m_drawing.add("OneHot", wish(node), {{"classes", depth.whole(0)}}, {indicesOf(node.input(0))});
  const Endpoint y = m_drawing.output(id);
  Extents extents = indices.extents();
  extents.push_back(depth.whole(0));
  // One number a sample becomes one row here.
  const Shape& sample = m_drawing.shape(y);
  if (sample.rank() + 1 < extents.size())
    give(node, *reshaped(plainView(y, sample, {kBatch, depth.whole(0)}), extents));
  else
    give(node, plainView(y, sample, extents));
  tell(ReportItem::Kind::translated, node, id, "OneHot.");
}

void addAxesRules(std::unordered_map<std::string, Translator::Rule>& rules) {
  for (const char* op : {"ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare",
                         "ReduceLogSum", "ReduceLogSumExp"})
    rules[op] = &Translator::reduce;
  rules["ReduceMean"] = &Translator::reduceMean;
  rules["Pad"] = &Translator::pad;
  rules["Resize"] = rules["Upsample"] = &Translator::resize;
  rules["Tile"] = rules["Expand"] = &Translator::tile;
  rules["DepthToSpace"] = rules["SpaceToDepth"] = &Translator::blocks;
  rules["CumSum"] = &Translator::cumulativeSum;
  rules["TopK"] = &Translator::topK;
  rules["OneHot"] = &Translator::oneHot;
  rules["ArgMax"] = rules["ArgMin"] = &Translator::place;
}

}  // namespace loom::onnx_file
