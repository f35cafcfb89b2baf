// Layers with weights: matrices, convolutions, normalisations, tables.
#include <algorithm>

#include "engine/base/error.h"
#include "engine/exchange/onnx/fold_parts.h"
#include "engine/exchange/onnx/translator.h"

namespace loom::onnx_file {

void Translator::drawLinear(const OnnxNode& node, const std::string& x, const Constant& weight, bool outputsFirst,
                            std::vector<float> bias, double factor) {
  const std::int64_t inputs = weight.extents[outputsFirst ? 1 : 0], outputs = weight.extents[outputsFirst ? 0 : 1];
  if (weight.uniform() && elementsOf(weight.extents) > (1 << 24)) refuse("its weight is one number, too often");
  if (takeOutputProjection(node, x, weight, outputsFirst, bias)) return;
  const View from = view(x);
  if (from.axes.empty() || from.batchAxis() == static_cast<std::int64_t>(from.axes.size()) - 1 ||
      from.extents().back() != inputs)
    refuse("it multiplies along the batch");
  std::vector<float> values(static_cast<std::size_t>(inputs * outputs));
  for (std::int64_t o = 0; o < outputs; ++o)
    for (std::int64_t i = 0; i < inputs; ++i)
      values[static_cast<std::size_t>(o * inputs + i)] = static_cast<float>(
          weight.at(static_cast<std::size_t>(outputsFirst ? o * inputs + i : i * outputs + o)) * factor);
  // A Linear flattens by itself.
  const DrawingSteps steps = stepsFor(from);
  const bool flattens = from.sample().rank() == 1 && from.hasBatch() && from.factor == 1 && !steps.shape &&
                        steps.cuts.empty() && !steps.axes;
  const Endpoint input = flattens ? from.source : drawn(x, node);
  const std::int64_t kept = static_cast<std::int64_t>(from.sample().rank()) - 1;
  const std::string id = m_drawing.add("Linear", wish(node),
                                       {{"outputs", outputs}, {"base_axis", kept}, {"bias", !bias.empty()}}, {input});
  m_drawing.weight(id, "weight", {outputs, inputs}, std::move(values));
  if (!bias.empty()) m_drawing.weight(id, "bias", {outputs}, std::move(bias));
  const Endpoint y = m_drawing.output(id);
  give(node, likeView(y, m_drawing.shape(y), from));
  tell(ReportItem::Kind::translated, node, id, "Linear.");
}

// loom.Linear(x, weight, bias): MatMul and Add, joined by a pattern.
void Translator::linear(const OnnxNode& node) {
  drawLinear(node, node.input(0), constant(node, 1), false, constant(node, 2).allReals(), 1);
}

void Translator::gemm(const OnnxNode& node) {
  if (node.integer("transA", 0)) refuse("it transposes its first input, the batch");
  const Constant& weight = constant(node, 1);
  const bool outputsFirst = node.integer("transB", 0) != 0;
  if (weight.extents.size() != 2 || (weight.uniform() && elementsOf(weight.extents) > (1 << 24)))
    refuse("its weight is no matrix");
  const std::int64_t outputs = weight.extents[outputsFirst ? 0 : 1];
  std::vector<float> bias;
  if (const Constant* given = optionalConstant(node, 2)) {
    const std::int64_t held = elementsOf(given->extents);
    if (held != 1 && (held != outputs || given->extents.back() != outputs))
      refuse("its bias differs from sample to sample");
    for (std::int64_t i = 0; i < outputs; ++i)
      bias.push_back(static_cast<float>(given->at(held == 1 ? 0 : static_cast<std::size_t>(i)) * node.real("beta", 1)));
  }
  drawLinear(node, node.input(0), weight, outputsFirst, std::move(bias), node.real("alpha", 1));
}

// Those that could be written out in others are (einsum.h).
void Translator::einsum(const OnnxNode& node) {
  refuse(node.text("reason", "its shapes are not known"));
}

void Translator::matmul(const OnnxNode& node) {
  const Constant* weight = m_facts.constant(node.input(1));
  if (weight && weight->extents.size() == 2) return drawLinear(node, node.input(0), *weight, false, {}, 1);
  if (weight || m_facts.isConstant(node.input(0))) {
    const std::size_t fed = weight ? 0 : 1;
    const View from = view(node.input(fed));
    const Constant& matrices = *m_facts.constant(node.input(1 - fed));
    Extents extents = matrices.extents.size() < 2 ? matrices.extents : withoutBatch(matrices, from);
    while (extents.size() > 2 && extents.front() == 1) extents.erase(extents.begin());
    if (extents.size() < 2) refuse("it multiplies with a vector");
    const Endpoint other = parameter(node, node.input(1 - fed), extents);
    std::vector<Endpoint> inputs{drawn(node.input(fed), node), other};
    if (fed == 1) std::swap(inputs[0], inputs[1]);
    const std::string id = m_drawing.add("MatrixProduct", wish(node), Json::object(), inputs);
    const Endpoint y = m_drawing.output(id);
    give(node, likeView(y, m_drawing.shape(y), from));
    return tell(ReportItem::Kind::translated, node, id, "MatrixProduct with a Parameter.");
  }
  if (m_scores.count(node.input(0))) return mixed(node);
  scores(node);
}

// kernel, stride, padding, pads, dilation as our windows have them. Pads that keep the extent are said as Same.
Json Translator::windowValues(const OnnxNode& node, const Extents& kernel, const Shape& sample, bool dilates,
                              bool ceiling) {
  const std::size_t axes = kernel.size();
  const auto filled = [&](const char* key, std::size_t count, std::int64_t otherwise) {
    std::vector<std::int64_t> numbers = node.integers(key);
    if (numbers.size() != count) numbers.assign(count, otherwise);
    return numbers;
  };
  const auto strides = filled("strides", axes, 1), dilations = filled("dilations", axes, 1);
  std::vector<std::int64_t> pads = filled("pads", 2 * axes, 0);
  if (axes + 1 != sample.rank()) refuse("its window has other axes than its input");
  constexpr std::int64_t kMost = 1 << 24;
  for (std::size_t i = 0; i < axes; ++i)
    if (strides[i] < 1 || dilations[i] < 1 || kernel[i] < 1 || strides[i] > kMost || dilations[i] > kMost ||
        kernel[i] > kMost || pads[i] > kMost || pads[i] < -kMost || pads[i + axes] > kMost || pads[i + axes] < -kMost)
      refuse("its window cannot be");
  const std::string automatic = node.text("auto_pad", "NOTSET");
  if (!dilates && std::any_of(dilations.begin(), dilations.end(), [](std::int64_t dilation) { return dilation != 1; }))
    refuse("its window has a dilation, which pooling does not have here");
  bool same = automatic == "SAME_UPPER", unit = true;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t span = dilations[i] * (kernel[i] - 1) + 1, in = sample.extents()[i + 1];
    unit = unit && strides[i] == 1 && pads[i] == (span - 1) / 2 && pads[i + axes] == span - 1 - pads[i];
    if (automatic == "SAME_LOWER") {
      const std::int64_t out = (in + strides[i] - 1) / strides[i],
                         total = std::max<std::int64_t>((out - 1) * strides[i] + span - in, 0);
      pads[i + axes] = total / 2;
      pads[i] = total - total / 2;
    }
    if (automatic == "VALID") pads[i] = pads[i + axes] = 0;
    if (!ceiling || same) continue;
    // One more window where one fits that begins inside: as padding behind, which a maximum and a mean without padding
    // do not count.
    const std::int64_t room = in + pads[i] + pads[i + axes] - span;
    if (room % strides[i] == 0 || (room / strides[i] + 1) * strides[i] >= in + pads[i]) continue;
    pads[i + axes] += strides[i] - room % strides[i];
  }
  same = same || (automatic == "NOTSET" && unit);
  const bool none = std::all_of(pads.begin(), pads.end(), [](std::int64_t pad) { return pad == 0; });
  Json values = {{"kernel", kernel}, {"stride", strides}, {"padding", same ? "same" : none ? "valid" : "explicit"}};
  if (!same && !none)
    values["pads"] =
        std::equal(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes),
                   pads.begin() + static_cast<std::ptrdiff_t>(axes))
            ? Json(std::vector<std::int64_t>(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes)))
            : Json(pads);
  if (dilates) values["dilation"] = dilations;
  return values;
}

void Translator::convolution(const OnnxNode& node) {
  const View from = view(node.input(0));
  wantBatchFirst(from);
  const Constant& weight = constant(node, 1);
  const Constant* bias = optionalConstant(node, 2);
  if (weight.extents.size() != from.axes.size() || weight.extents.size() < 3)
    refuse("its weight does not fit its input");
  const Extents kernel(weight.extents.begin() + 2, weight.extents.end());
  const Endpoint x = drawn(node.input(0), node);
  Json values = windowValues(node, kernel, m_drawing.shape(x), true, false);
  values["channels"] = weight.extents[0];
  values["groups"] = node.integer("group", 1);
  values["bias"] = bias != nullptr;
  if (bias && elementsOf(bias->extents) != weight.extents[0]) refuse("its bias does not fit its weight");
  const std::string id = m_drawing.add("Convolution", wish(node), std::move(values), {x});
  m_drawing.weight(id, "weight", Shape(weight.extents), weight.allReals());
  if (bias) m_drawing.weight(id, "bias", {weight.extents[0]}, bias->allReals());
  const Endpoint y = m_drawing.output(id);
  give(node, likeView(y, m_drawing.shape(y), from));
  tell(ReportItem::Kind::translated, node, id, "Convolution.");
}

void Translator::deconvolution(const OnnxNode& node) {
  const View from = view(node.input(0));
  wantBatchFirst(from);
  const Constant& weight = constant(node, 1);  // I x O/groups x kernel, as ours
  const Constant* bias = optionalConstant(node, 2);
  if (weight.extents.size() != from.axes.size() || weight.extents.size() < 3)
    refuse("its weight does not fit its input");
  const std::size_t axes = weight.extents.size() - 2;
  const std::int64_t groups = node.integer("group", 1), channels = elementsOf({weight.extents[1], groups});
  const auto filled = [&](const char* key, std::size_t count, std::int64_t otherwise) {
    std::vector<std::int64_t> numbers = node.integers(key);
    if (numbers.size() != count) numbers.assign(count, otherwise);
    return numbers;
  };
  const std::string automatic = node.text("auto_pad", "NOTSET");
  const Endpoint x = drawn(node.input(0), node);
  auto pads = filled("pads", 2 * axes, 0), further = filled("output_padding", axes, 0);
  const auto strides = filled("strides", axes, 1), dilations = filled("dilations", axes, 1),
             wanted = node.integers("output_shape");
  // The extents are named, or follow from the stride alone: padding is what is too much, the odd one behind unless in
  // front.
  const bool same = automatic.starts_with("SAME"), named = wanted.size() == axes || wanted.size() == axes + 2;
  constexpr std::int64_t kMost = 1 << 24;
  for (const auto& numbers : {pads, further, strides, dilations, wanted})
    for (const std::int64_t number : numbers)
      if (number < -kMost || number > kMost) refuse("its window cannot be");
  for (std::size_t i = 0; i < axes && (same || named); ++i) {
    const std::int64_t in = m_drawing.shape(x).extents().at(i + 1),
                       out = named ? wanted[wanted.size() - axes + i] : in * strides[i],
                       whole = strides[i] * (in - 1) + dilations[i] * (weight.extents[i + 2] - 1) + 1 + further[i],
                       total = named ? whole - out : std::max<std::int64_t>(whole - out, 0);
    if (total < 0) refuse("its output is larger than its windows reach");
    pads[i] = automatic == "SAME_UPPER" ? total / 2 : total - total / 2;
    pads[i + axes] = total - pads[i];
  }
  if (automatic == "VALID") std::fill(pads.begin(), pads.end(), 0);
  Json values = {{"channels", channels},   {"kernel", Extents(weight.extents.begin() + 2, weight.extents.end())},
                 {"stride", strides},      {"dilation", dilations},
                 {"groups", groups},       {"padding", "explicit"},
                 {"pads", pads},           {"output_padding", further},
                 {"bias", bias != nullptr}};
  const std::string id = m_drawing.add("Deconvolution", wish(node), std::move(values), {x});
  m_drawing.weight(id, "weight", Shape(weight.extents), weight.allReals());
  if (bias) m_drawing.weight(id, "bias", {channels}, bias->allReals());
  const Endpoint y = m_drawing.output(id);
  give(node, likeView(y, m_drawing.shape(y), from));
  tell(ReportItem::Kind::translated, node, id, "Deconvolution.");
}

void Translator::batchNormalization(const OnnxNode& node) {
  const View from = view(node.input(0));
  if (from.axes.size() < 2 || !from.sampleAxis(1)) refuse("its input does not have the channels as second axis");
  const Endpoint x = drawn(node.input(0), node);
  const std::int64_t axis = *from.sampleAxis(1), channels = from.extents()[1];
  std::vector<std::vector<float>> numbers;
  for (std::size_t i = 1; i <= 4; ++i) {
    numbers.push_back(constant(node, i).allReals());
    if (static_cast<std::int64_t>(numbers.back().size()) != channels)
      refuse(fmt::format("it has {} numbers for {} channels", numbers.back().size(), channels));
  }
  const std::string id = m_drawing.add(
      "BatchNormalization", wish(node),
      {{"epsilon", node.real("epsilon", 1e-5)}, {"momentum", node.real("momentum", 0.9)}, {"axis", axis}}, {x});
  const char* names[] = {"gamma", "beta", "mean", "variance"};
  for (std::size_t i = 0; i < 4; ++i) m_drawing.weight(id, names[i], {channels}, std::move(numbers[i]));
  give(node, likeView(m_drawing.output(id), m_drawing.shape(x), from));
  if (node.integer("training_mode", 0) != 0)
    return tell(ReportItem::Kind::converted, node, id,
                "BatchNormalization: by the batch's own mean and variance in a training alone, where the file always "
                "does so.");
  tell(ReportItem::Kind::translated, node, id, "BatchNormalization.");
}

void Translator::layerNormalization(const OnnxNode& node) {
  const View from = view(node.input(0));
  const std::size_t first = axisIn(node.integer("axis", -1), from.axes.size());
  const auto axes = static_cast<std::int64_t>(from.axes.size() - first);
  if (from.batchAxis() >= static_cast<std::int64_t>(first)) refuse("it normalises over the batch");
  if (node.outputs.size() > 1 && readersOf(node.outputs[1]) > 0)
    refuse("its mean is read by others, which stays inside the layer here");
  const Endpoint x = drawn(node.input(0), node);
  const Shape& sample = m_drawing.shape(x);
  const Shape normalised(std::vector<std::int64_t>(sample.end() - axes, sample.end()));
  const Constant *gamma = optionalConstant(node, 1), *beta = optionalConstant(node, 2);
  // Stretched from the last axis, as shapes are; over the axes before those that are normalised it must not differ.
  const auto stretchedOver = [&](const Constant& given) {
    Extents own = given.extents;
    while (own.size() > normalised.rank() && own.front() == 1) own.erase(own.begin());
    const auto fits = stretched(own, normalised.extents());
    if (!fits || *fits != normalised.extents()) refuse("its weights do not fit the axes that it normalises");
    std::vector<float> values(static_cast<std::size_t>(normalised.elements()));
    Walk walk(*fits, own);
    for (float& value : values) {
      value = static_cast<float>(given.at(walk.place()));
      walk.next();
    }
    return values;
  };
  const std::string id = m_drawing.add("LayerNormalization", wish(node),
                                       {{"axes", axes},
                                        {"epsilon", node.real("epsilon", 1e-5)},
                                        {"scale", gamma != nullptr},
                                        {"shift", beta != nullptr}},
                                       {x});
  if (gamma) m_drawing.weight(id, "gamma", normalised, stretchedOver(*gamma));
  if (beta) m_drawing.weight(id, "beta", normalised, stretchedOver(*beta));
  give(node, likeView(m_drawing.output(id), sample, from));
  tell(ReportItem::Kind::translated, node, id, "LayerNormalization.");
}

// Of each sample by itself: InstanceNormalization, GroupNormalization, RMSNormalization.
void Translator::channelNormalization(const OnnxNode& node) {
  const View from = view(node.input(0));
  const bool rms = node.op == "RMSNormalization" || node.op == "SimplifiedLayerNormalization",
             grouped = node.op == "GroupNormalization";
  const Endpoint x = drawn(node.input(0), node);
  const Shape sample = m_drawing.shape(x);
  Json values = {{"epsilon", node.real("epsilon", 1e-5)}};
  Shape normalised;
  std::int64_t repeats = 1;
  if (rms) {
    const std::size_t first = axisIn(node.integer("axis", -1), from.axes.size());
    if (from.batchAxis() >= static_cast<std::int64_t>(first)) refuse("it normalises over the batch");
    const auto axes = static_cast<std::int64_t>(from.axes.size() - first);
    values["axes"] = axes;
    normalised = Shape(std::vector<std::int64_t>(sample.end() - axes, sample.end()));
  } else {
    wantBatchFirst(from);
    if (sample.rank() == 0) refuse("its input has no channels");
    normalised = {sample[0]};
    if (grouped) {
      const std::int64_t groups = node.integer("num_groups", 1);
      values["groups"] = groups;
      // Before version 21 there was one scale and shift a group.
      if (elementsOf(constant(node, 1).extents) == groups && groups != sample[0] && groups > 0)
        repeats = sample[0] / groups;
    }
  }
  const auto weightOf = [&](std::size_t input) {
    const Constant& given = constant(node, input);
    if (elementsOf(given.extents) * repeats != normalised.elements()) refuse("its weights do not fit its input");
    std::vector<float> numbers;
    for (std::int64_t i = 0; i < normalised.elements(); ++i)
      numbers.push_back(static_cast<float>(given.at(static_cast<std::size_t>(i / repeats))));
    return numbers;
  };
  const std::string layer = rms ? "RMSNormalization" : node.op;
  std::vector<float> gamma = weightOf(1);
  const std::string id = m_drawing.add(layer, wish(node), std::move(values), {x});
  m_drawing.weight(id, "gamma", normalised, std::move(gamma));
  if (!rms) m_drawing.weight(id, "beta", normalised, weightOf(2));
  give(node, likeView(m_drawing.output(id), sample, from));
  tell(ReportItem::Kind::translated, node, id, layer + ".");
}

void Translator::localResponse(const OnnxNode& node) {
  wantBatchFirst(view(node.input(0)));
  map(node, "LocalResponseNormalization",
      {{"size", node.integer("size", 5)},
       {"alpha", node.real("alpha", 1e-4)},
       {"beta", node.real("beta", 0.75)},
       {"k", node.real("bias", 1)}});
}

Endpoint Translator::indicesOf(const std::string& value) {
  const View& indices = view(value);
  const DrawingSteps steps = stepsFor(indices);
  if (m_drawing.node(indices.source.node).layer != "Input" || steps.shape || !steps.cuts.empty() || steps.axes ||
      steps.last || indices.factor != 1)
    refuse("its indices are calculated; here they come from an Input as they are");
  m_drawing.makeIndices(indices.source);
  return indices.source;
}

// Gather of rows of a table by what is fed.
void Translator::embedding(const OnnxNode& node) {
  const Constant& table = constant(node, 0);
  const View indices = view(node.input(1));
  if (table.extents.size() != 2 || node.integer("axis", 0) != 0)
    refuse("it takes elements of a constant that is no table of rows");
  const Endpoint source = indicesOf(node.input(1));
  const std::string id = m_drawing.add("Embedding", wish(node),
                                       {{"vocabulary", table.extents[0]}, {"channels", table.extents[1]}}, {source});
  m_drawing.weight(id, "weight", Shape(table.extents), table.allReals());
  Extents extents = indices.extents();
  extents.push_back(table.extents[1]);
  const Endpoint y = m_drawing.output(id);
  give(node, plainView(y, m_drawing.shape(y), extents));
  tell(ReportItem::Kind::translated, node, id, "Embedding.");
}

void addLinearRules(std::unordered_map<std::string, Translator::Rule>& rules) {
  rules["loom.Linear"] = &Translator::linear;
  rules["Gemm"] = &Translator::gemm;
  rules["Einsum"] = &Translator::einsum;
  rules["MatMul"] = &Translator::matmul;
  rules["Conv"] = &Translator::convolution;
  rules["ConvTranspose"] = &Translator::deconvolution;
  rules["BatchNormalization"] = &Translator::batchNormalization;
  rules["LayerNormalization"] = &Translator::layerNormalization;
  for (const char* op :
       {"InstanceNormalization", "GroupNormalization", "RMSNormalization", "SimplifiedLayerNormalization"})
    rules[op] = &Translator::channelNormalization;
  rules["LRN"] = &Translator::localResponse;
}

}  // namespace loom::onnx_file
