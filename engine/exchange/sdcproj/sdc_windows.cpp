// Layers with weights and with windows: where Console's conventions differ from ours and have to be said otherwise.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/catalogue/text.h"
#include "engine/exchange/sdcproj/sdc_layer.h"

namespace loom::sdc {
namespace {

bool isNumbers(const Json& list) {
  return list.is_array() && std::all_of(list.begin(), list.end(), [](const Json& each) { return each.is_number_integer(); });
}
bool allOf(const Json& list, std::int64_t value) {
  return isNumbers(list) && std::all_of(list.begin(), list.end(), [value](const Json& each) { return each == value; });
}
std::int64_t at(const Json& list, std::size_t axis) { return list[std::min(axis, list.size() - 1)].get<std::int64_t>(); }

// Both sides of each axis alike, as in nnabla. `same` keeps the extent for odd kernels; with a stride ours shares the border otherwise,
// and so the numbers are written out.
void padConvolution(Translation& t, const Json& kernel, const Json& strides, const Json& dilation) {
  const std::string mode = t.text("BorderMode", "same"), padding = t.text("Padding", "*ConvolutionPaddingSize");
  if (!padding.starts_with('*')) {
    const Json pads = t.list("Padding", "0");
    if (allOf(pads, 0)) {
      t.set("padding", "valid");
    } else {
      t.set("padding", "explicit");
      t.set("pads", pads);
    }
    return;
  }
  if (mode == "valid") {
    t.set("padding", "valid");
    return;
  }
  if (!isNumbers(kernel) || !isNumbers(dilation) || kernel.empty() || dilation.empty()) {
    t.remark("the border keeps the extent, as far as the arguments of the unit leave the stride at 1");
    return;
  }
  Json pads = Json::array();
  bool keeps = mode == "same" && allOf(strides, 1);
  for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
    const std::int64_t reach = std::clamp<std::int64_t>((at(kernel, axis) - 1) * at(dilation, axis), 0, 1 << 20);
    pads.push_back(mode == "full" ? reach : reach / 2);
    keeps = keeps && reach % 2 == 0;
    if (mode == "same" && reach % 2 == 1) t.converted("an even kernel has the same border on both sides, as in Console, and so makes the image smaller by one");
  }
  if (keeps) return;  // ours by default
  t.set("padding", "explicit");
  t.set("pads", pads);
  if (mode == "full")
    t.converted("BorderMode full is written as explicit pads");
  else if (!allOf(strides, 1))
    t.converted("BorderMode same with a stride has the same border on both sides in Console: written as explicit pads");
}

void convolution(Translation& t) {
  t.add("Convolution");
  t.set("channels", t.number("OutMaps", "16"));
  const Json kernel = t.list("KernelShape", "3,3"), strides = t.list("Strides", "1,1"), dilation = t.list("Dilation", "1,1");
  t.set("kernel", kernel);
  padConvolution(t, kernel, strides, dilation);
  t.set("stride", strides);
  t.set("dilation", dilation);
  t.set("groups", t.number("Group", "1"));
  if (t.flag("ChannelLast", false)) t.fault("ChannelLast is not there: channels come first; put a Transpose before and behind it");
  t.set("bias", t.flag("WithBias", true));
  readWeights(t, "W", "weight");
  readWeights(t, "b", "bias");
}

void depthwise(Translation& t) {
  const bool own = findLayer("DepthwiseConvolution") && findLayer("DepthwiseConvolution")->entry.id == "DepthwiseConvolution";
  const Json multiplier = t.number("Multiplier", "1");
  if (own) {
    t.add("DepthwiseConvolution");
    t.set("multiplier", multiplier);
  } else {
    t.add("Convolution");
    t.set("groups", "=Input[0]");
    t.set("channels", multiplier == 1 ? Json("=Input[0]") : Json(fmt::format("=Input[0]*{}", multiplier.is_string() ? multiplier.get<std::string>().substr(1) : multiplier.dump())));
    t.converted("a convolution with as many groups as channels");
  }
  const Json kernel = t.list("KernelShape", "5,5"), strides = t.list("Strides", "1,1"), dilation = t.list("Dilation", "1,1");
  t.set("kernel", kernel);
  if (t.text("BorderMode").empty() && t.text("Padding").empty())
    t.set("padding", "valid");  // the border of this component is `valid` where the file says nothing
  else
    padConvolution(t, kernel, strides, dilation);
  t.set("stride", strides);
  t.set("dilation", dilation);
  for (const char* shown : {"OutMaps", "Group"}) t.know(shown);
  t.set("bias", t.flag("WithBias", true));
  readWeights(t, "W", "weight");
  readWeights(t, "b", "bias");
}

void deconvolution(Translation& t) {
  t.add("Deconvolution");
  t.set("channels", t.number("OutMaps", "16"));
  t.set("kernel", t.list("KernelShape", "5,5"));
  const Json pads = t.list("Padding", "0,0");
  if (allOf(pads, 0)) {
    t.set("padding", "valid");
  } else {
    t.set("padding", "explicit");
    t.set("pads", pads);
  }
  t.know("BorderMode");  // of old files: the numbers in Padding are what counts
  t.set("stride", t.list("Strides", "1,1"));
  t.set("dilation", t.list("Dilation", "1,1"));
  t.set("groups", t.number("Group", "1"));
  if (t.flag("ChannelLast", false)) t.fault("ChannelLast is not there: channels come first; put a Transpose before and behind it");
  t.set("bias", t.flag("WithBias", true));
  readWeights(t, "W", "weight");
  readWeights(t, "b", "bias");
}

void affine(Translation& t) {
  t.add("Linear");
  const Json shape = t.list("OutShape", "100");
  t.set("base_axis", t.number("BaseAxis", "0"));
  if (shape.is_array() && shape.size() > 1 && isNumbers(shape)) {
    std::int64_t outputs = 1;
    for (const Json& extent : shape) outputs = std::min<std::int64_t>(outputs * std::clamp<std::int64_t>(extent.get<std::int64_t>(), 1, 1 << 24), 1 << 30);
    t.set("outputs", outputs);
  } else if (shape.is_array() && shape.size() > 1) {
    t.fault("OutShape has several extents with expressions: set the number of outputs");
  } else if (shape.is_array()) {
    t.set("outputs", shape[0]);
  } else {
    t.set("outputs", shape);
  }
  t.set("bias", t.flag("WithBias", true));
  readWeights(t, "W", "weight");
  readWeights(t, "b", "bias");
  if (shape.is_array() && shape.size() > 1 && isNumbers(shape)) {
    t.add("Reshape");
    t.set("shape", shape);
    t.converted("the outputs get their shape from a Reshape behind it");
  }
}

void embed(Translation& t) {
  t.add("Embedding");
  t.set("vocabulary", t.number("NumClass", "100"));
  const Json shape = t.list("Shape", "32");
  if (shape.is_array() && shape.size() == 1)
    t.set("channels", shape[0]);
  else if (shape.is_string())
    t.set("channels", shape);
  else
    t.fault("Shape has several extents: an Embedding has one vector for each symbol");
  readWeights(t, "W", "weight");
}

// Console rounds the extent down where it ignores the border, and up otherwise: then the window may begin where only its first part is
// left, which a border behind the input says.
void pooling(Translation& t, const char* layer, bool countsPadding) {
  t.add(layer);
  const Json kernel = t.list("KernelShape", "2,2"), pads = t.list("Padding", "0,0");
  const Json strides = t.text("Strides", "*KernelShape") == "*KernelShape" ? kernel : t.list("Strides", "1,1");
  t.set("kernel", kernel);
  if (strides != kernel) t.set("stride", strides);
  const bool down = t.flag("IgnoreBorder", true);
  if (down && allOf(pads, 0)) {
    // `valid`, ours by default
  } else if (!down && isNumbers(strides) && isNumbers(pads) && isNumbers(kernel)) {
    Json both = Json::array();
    for (std::size_t axis = 0; axis < kernel.size(); ++axis) both.push_back(at(pads, axis));
    for (std::size_t axis = 0; axis < kernel.size(); ++axis) both.push_back(at(pads, axis) + std::max<std::int64_t>(at(strides, axis) - 1, 0));
    t.set("padding", "explicit");
    t.set("pads", both);
    t.converted("the extent is rounded up by a border behind the input");
  } else {
    t.set("padding", "explicit");
    t.set("pads", pads);
    if (!down) t.fault("IgnoreBorder False with expressions: set the pads behind the input to the stride less 1");
  }
  if (t.flag("ChannelLast", false)) t.fault("ChannelLast is not there: channels come first; put a Transpose before and behind it");
  if (countsPadding) t.set("include_padding", t.flag("IncludingPad", true));
}

void maxPooling(Translation& t) { pooling(t, "MaxPooling", false); }
void averagePooling(Translation& t) { pooling(t, "AveragePooling", true); }
void sumPooling(Translation& t) { pooling(t, "SumPooling", false); }

void globalAveragePooling(Translation& t) {
  t.add("GlobalAveragePooling");
  t.set("keep_axes", true);
}

void batchNormalization(Translation& t) {
  t.add("BatchNormalization");
  t.set("momentum", t.number("DecayRate", "0.9"));
  t.set("epsilon", t.number("Epsilon", "0.0001"));
  const Json axes = t.list("Axes", "0");
  if (axes.is_array() && axes.size() == 1)
    t.set("axis", axes[0]);
  else
    t.fault("Axes names several axes: normalisation over one axis of channels is there");
  if (const std::string stat = t.text("BatchStat", "True"); stat == "False")
    t.fault("BatchStat False: in training the statistics are those of the batch here");
  readWeights(t, "gamma", "gamma");
  readWeights(t, "beta", "beta");
  for (const char* known : {"mean.File", "mean.Initializer", "mean.InitializerMultiplier", "mean.LRateMultiplier", "var.File", "var.Initializer",
                            "var.InitializerMultiplier", "var.LRateMultiplier"})
    t.know(known);
  t.remark("the running variance begins at 1 here, at 0 there");
}

void layerNormalization(Translation& t) {
  t.add("LayerNormalization");
  t.set("epsilon", t.number("Epsilon", "1e-5"));
  t.know("BatchAxis");
  // Over all axes of a sample; how many there are is known with the shapes.
  t.nodes.back().values["axes"] = "all";
  readWeights(t, "gamma", "gamma");
  readWeights(t, "beta", "beta");
}

void slice(Translation& t) {
  const std::string stopText = t.text("Stop", "*Input");
  const Json start = t.list("Start", "0,0,0"), step = t.list("Step", "1,1,1");
  const bool toTheEnd = stopText == "*Input";
  const Json stop = toTheEnd ? Json::array() : t.list("Stop", "*Input");
  if (!start.is_array() || !step.is_array() || (!toTheEnd && !stop.is_array())) return;
  const auto expression = [](const Json& value) { return value.is_string() ? "(" + value.get<std::string>().substr(1) + ")" : value.dump(); };
  for (std::size_t axis = 0; axis < start.size(); ++axis) {
    const Json& from = start[axis];
    const Json by = axis < step.size() ? step[axis] : Json(1);
    const bool cut = axis < stop.size() && stop[axis] != Json(fmt::format("=Input[{}]", axis));
    if (from == 0 && by == 1 && !cut) continue;
    t.add("Slice");
    t.set("axis", static_cast<std::int64_t>(axis));
    t.set("start", from);
    t.set("step", by);
    if (!cut) continue;
    if (from.is_number() && stop[axis].is_number() && by.is_number() && by > 0)
      t.set("length", (stop[axis].get<std::int64_t>() - from.get<std::int64_t>() + by.get<std::int64_t>() - 1) / by.get<std::int64_t>());
    else
      t.set("length", by == 1 ? fmt::format("={}-{}", expression(stop[axis]), expression(from))
                              : fmt::format("=ceil(({}-{})/{})", expression(stop[axis]), expression(from), expression(by)));
  }
  if (t.nodes.empty()) t.add("Identity");
  if (t.nodes.size() > 1) t.converted("one Slice for each axis that is cut");
}

// The middle of an image, as Console takes it too where it does not train.
void centreCut(Translation& t, const Json& shape) {
  for (std::size_t axis = 1; shape.is_array() && axis < shape.size(); ++axis) {
    t.add("Slice");
    t.set("axis", static_cast<std::int64_t>(axis));
    const std::string extent = shape[axis].is_string() ? "(" + shape[axis].get<std::string>().substr(1) + ")" : shape[axis].dump();
    t.set("start", fmt::format("=floor((Input[{}]-{})/2)", axis, extent));
    t.set("length", shape[axis]);
  }
  if (t.nodes.empty()) t.add("Identity");
}

// What changes images at random is preparation of the data here, not part of the network: the extents are kept, and what is to be added there
// is said.
void imageAugmentation(Translation& t) {
  if (t.text("Shape", "*Input") == "*Input") t.add("Identity");
  else centreCut(t, t.list("Shape", "*Input"));
  t.converted("it takes the middle of the image");
  for (const char* flip : {"FlipLR", "FlipUD"})
    if (t.flag(flip, false)) t.fault(fmt::format("{}: add the step Flip to the preparation of the training set", flip));
  for (const auto& [key, neutral] : {std::pair{"MinScale", 1.0}, {"MaxScale", 1.0}, {"Angle", 0.0}, {"AspectRatio", 1.0}, {"Distortion", 0.0}, {"Brightness", 0.0}, {"Contrast", 1.0}, {"Noise", 0.0}})
    if (const std::string value = t.text(key, ""); !value.empty() && numberOf(value) != neutral)
      t.fault(fmt::format("{} {} is not there: prepare the images so, or train without it", key, clipped(value)));
  for (const char* known : {"BrightnessEach", "ContrastCenter", "ContrastEach", "NoiseProbability", "SkipAtTest"}) t.know(known);
}

void randomCrop(Translation& t) {
  centreCut(t, t.list("Shape", "*Input"));
  t.fault("it cuts at random there and from the middle here: add the step Crop to the preparation of the training set");
  for (const char* known : {"BaseAxis", "SkipAtTest"}) t.know(known);
}

void randomChange(Translation& t) {
  t.add("Identity");
  t.fault(fmt::format("{} changes images at random: add a step such as Flip or Crop to the preparation of the training set", t.layer().type));
}

void reshape(Translation& t) {
  t.add("Reshape");
  t.set("shape", t.list("OutShape", "100"));
}

// Before and after of each axis in turn there; all befores, then all afters here.
void pad(Translation& t) {
  t.add("Pad");
  const Json widths = t.list("PadWidth", "0,0,0,0");
  if (widths.is_array() && widths.size() % 2 == 0) {
    Json pads = Json::array();
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
      for (std::size_t i = side; i < widths.size(); i += 2) pads.push_back(widths[i]);
    t.set("pads", pads);
  } else if (!widths.is_null()) {
    t.fault("PadWidth is no list of befores and afters: set the pads");
  }
  const std::string mode = t.text("Mode", "constant");
  t.set("mode", mode == "repeat" ? "replicate" : mode);
  if (mode == "constant") t.set("value", t.number("ConstantValue", "0.0"));
  else t.know("ConstantValue");
}

void interpolate(Translation& t) {
  t.add("Resize");
  t.set("size", t.list("OutputSize", "32,32"));
  t.set("mode", t.text("Mode", "linear"));
  if (t.flag("AlignCorners", true)) t.set("coordinates", "align_corners");
}

void prelu(Translation& t) {
  t.add("PReLU");
  t.know("BaseAxis");
  readWeights(t, "slope", "slope");
}

// nnabla computes the form with tanh.
void gelu(Translation& t) {
  t.add("GELU");
  t.set("approximate", true);
}

void hardSigmoid(Translation& t) {
  t.add("HardSigmoid");
  t.set("alpha", 0.2);
  t.set("beta", 0.5);
}

void sampleNormalization(Translation& t, const char* layer) {
  t.add(layer);
  t.set("epsilon", t.number("Epsilon", "1e-5"));
  if (std::string_view(layer) == "GroupNormalization") t.set("groups", t.number("NumGroups", "1"));
  for (const char* axes : {"BatchAxis", "ChannelAxis"}) t.know(axes);
  readWeights(t, "gamma", "gamma");
  readWeights(t, "beta", "beta");
}

}  // namespace

void readWeights(Translation& t, const char* prefix, const char* parameter) {
  const auto key = [&](const char* name) { return fmt::format("{}.{}", prefix, name); };
  const auto text = [&](const char* name, const char* otherwise) {
    const std::string whole = key(name);
    return t.text(whole.c_str(), otherwise);
  };
  const bool isWeight = std::string_view(parameter) == "weight";
  if (const std::string file = text("File", ""); !file.empty())
    t.fault(fmt::format("{} are read from {}: export them as .safetensors and name it in the setting Start from", key("File"), clipped(file)));
  const std::string rate = text("LRateMultiplier", "1.0");
  if (numberOf(rate) == 0.0)
    t.frozen.emplace_back(parameter);
  else if (numberOf(rate) != 1.0)
    t.fault(fmt::format("{} learns at {} times the rate of the others there, at the same rate here", prefix, clipped(rate)));
  const std::string rule = text("Initializer", ""), factorText = text("InitializerMultiplier", isWeight || std::string_view(parameter) == "gamma" ? "1.0" : "0.0");
  const double factor = numberOf(factorText).value_or(1);
  if (!numberOf(factorText)) t.remark(fmt::format("{} begins as if it were 1", key("InitializerMultiplier")));
  if (!isWeight) {
    const bool gamma = std::string_view(parameter) == "gamma";
    if (gamma && rule == "Constant" && factor == 0) t.set("zero_gamma", true);
    else if (!rule.empty() && (rule != "Constant" || factor != (gamma ? 1 : 0)) && std::string_view(parameter) != "slope")
      t.converted(fmt::format("{} begins at {} here", prefix, gamma ? 1 : 0));
    return;
  }
  if (rule.empty()) return;
  if (rule == "Constant") {
    if (factor == 0 || factor == 1) t.set("initializer", factor == 0 ? "zeros" : "ones");
    else t.converted("its weights begin at random numbers instead of a constant");
    return;
  }
  if (rule == "Normal" || rule == "Uniform") {
    t.set("initializer", "normal");
    t.set("deviation", rule == "Normal" ? factor : factor / std::sqrt(3.0));
    if (rule == "Uniform") t.converted("its weights begin with a normal distribution of the same variance");
    return;
  }
  if (rule.find("Glorot") != rule.npos)
    t.set("initializer", rule.starts_with("Uniform") ? "xavier_uniform" : "xavier_normal");
  else
    t.set("initializer", "he_normal");
  if (rule.find("HeBackward") != rule.npos) t.remark("its weights begin with the variance of what comes in, there of what goes out");
  if (factor != 1) t.converted(fmt::format("its initial weights are not multiplied by {}", clipped(factorText)));
}

const std::map<std::string, Rule>& windowRules() {
  static const std::map<std::string, Rule> rules = {
      {"Convolution", convolution},
      {"DepthwiseConvolution", depthwise},
      {"Deconvolution", deconvolution},
      {"Affine", affine},
      {"Embed", embed},
      {"MaxPooling", maxPooling},
      {"AveragePooling", averagePooling},
      {"SumPooling", sumPooling},
      {"GlobalAveragePooling", globalAveragePooling},
      {"BatchNormalization", batchNormalization},
      {"LayerNormalization", layerNormalization},
      {"PReLU", prelu},
      {"GELU", gelu},
      {"HardSigmoid", hardSigmoid},
      {"GroupNormalization", [](Translation& t) { sampleNormalization(t, "GroupNormalization"); }},
      {"InstanceNormalization", [](Translation& t) { sampleNormalization(t, "InstanceNormalization"); }},
      {"Slice", slice},
      {"Reshape", reshape},
      {"ImageAugmentation", imageAugmentation},
      {"RandomCrop", randomCrop},
      {"RandomFlip", randomChange},
      {"RandomShift", randomChange},
      {"RandomErase", randomChange},
      {"Pad", pad},
      {"Interpolate", interpolate},
  };
  return rules;
}

}  // namespace loom::sdc
