// Layers with weights: where Console's conventions differ from ours and have to be said otherwise.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/catalogue/text.h"
#include "engine/exchange/sdcproj/sdc_layer.h"

namespace loom::sdc {
namespace {

// Both sides of each axis alike, as in nnabla. `same` keeps the extent for odd kernels; with a stride ours shares the
// border otherwise, and so the numbers are written out.
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
    const std::int64_t reach =
        std::clamp<std::int64_t>((lastAt(kernel, axis) - 1) * lastAt(dilation, axis), 0, 1 << 20);
    pads.push_back(mode == "full" ? reach : reach / 2);
    keeps = keeps && reach % 2 == 0;
    if (mode == "same" && reach % 2 == 1)
      t.converted(
          "an even kernel has the same border on both sides, as in Console, and so makes the image smaller by one");
  }
  if (keeps) return;  // ours by default
  t.set("padding", "explicit");
  t.set("pads", pads);
  if (mode == "full")
    t.converted("BorderMode full is written as explicit pads");
  else if (!allOf(strides, 1))
    t.converted("BorderMode same with a stride has the same border on both sides in Console: written as explicit pads");
}

void convolutionAs(Translation& t, const char* layer) {
  t.add(layer);
  t.set("channels", t.number("OutMaps", "16"));
  const Json kernel = t.list("KernelShape", "3,3"), strides = t.list("Strides", "1,1"),
             dilation = t.list("Dilation", "1,1");
  t.set("kernel", kernel);
  padConvolution(t, kernel, strides, dilation);
  t.set("stride", strides);
  t.set("dilation", dilation);
  t.set("groups", t.number("Group", "1"));
  if (t.flag("ChannelLast", false))
    t.fault("ChannelLast is not there: channels come first; put a Transpose before and behind it");
  t.set("bias", t.flag("WithBias", true));
  readWeights(t, "W", "weight");
  readWeights(t, "b", "bias");
}

void convolution(Translation& t) {
  convolutionAs(t, "Convolution");
}

// Weights of two values; which two says `form`. Zero counts as a third value here, which random weights never are.
void binary(Translation& t, void (*rule)(Translation&), const char* form) {
  rule(t);
  if (form[0] != '\0') t.nodes.front().values["form"] = form;
  for (const char* key :
       {"QuantizeZeroTo", "alpha.File", "alpha.Initializer", "alpha.InitializerMultiplier", "alpha.LRateMultiplier"})
    t.know(key);
  for (const char* key : {"Wb.File", "Wb.Initializer", "Wb.InitializerMultiplier", "Wb.LRateMultiplier"}) t.know(key);
}

void depthwise(Translation& t) {
  const bool own =
      findLayer("DepthwiseConvolution") && findLayer("DepthwiseConvolution")->entry.id == "DepthwiseConvolution";
  const Json multiplier = t.number("Multiplier", "1");
  if (own) {
    t.add("DepthwiseConvolution");
    t.set("multiplier", multiplier);
  } else {
    t.add("Convolution");
    t.set("groups", "=Input[0]");
    t.set("channels", multiplier == 1 ? Json("=Input[0]")
                                      : Json(fmt::format("=Input[0]*{}", multiplier.is_string()
                                                                             ? multiplier.get<std::string>().substr(1)
                                                                             : multiplier.dump())));
    t.converted("a convolution with as many groups as channels");
  }
  const Json kernel = t.list("KernelShape", "5,5"), strides = t.list("Strides", "1,1"),
             dilation = t.list("Dilation", "1,1");
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
  if (t.flag("ChannelLast", false))
    t.fault("ChannelLast is not there: channels come first; put a Transpose before and behind it");
  t.set("bias", t.flag("WithBias", true));
  readWeights(t, "W", "weight");
  readWeights(t, "b", "bias");
}

void affineAs(Translation& t, const char* layer) {
  t.add(layer);
  const Json shape = t.list("OutShape", "100");
  t.set("base_axis", t.number("BaseAxis", "0"));
  if (shape.is_array() && shape.size() > 1 && isNumbers(shape)) {
    std::int64_t outputs = 1;
    for (const Json& extent : shape)
      outputs =
          std::min<std::int64_t>(outputs * std::clamp<std::int64_t>(extent.get<std::int64_t>(), 1, 1 << 24), 1 << 30);
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

void affine(Translation& t) {
  affineAs(t, "Linear");
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

}  // namespace

void readWeights(Translation& t, const char* prefix, const char* parameter) {
  const auto key = [&](const char* name) { return fmt::format("{}.{}", prefix, name); };
  const auto text = [&](const char* name, const char* otherwise) {
    const std::string whole = key(name);
    return t.text(whole.c_str(), otherwise);
  };
  const bool isWeight = std::string_view(parameter) == "weight";
  if (const std::string file = text("File", ""); !file.empty())
    t.fault(fmt::format("{} are read from {}: export them as .safetensors and name it in the setting Start from",
                        key("File"), clipped(file)));
  const std::string rate = text("LRateMultiplier", "1.0");
  if (numberOf(rate) == 0.0)
    t.frozen.emplace_back(parameter);
  else if (numberOf(rate) != 1.0)
    t.fault(fmt::format("{} learns at {} times the rate of the others there, at the same rate here", prefix,
                        clipped(rate)));
  const std::string rule = text("Initializer", ""),
                    factorText = text("InitializerMultiplier",
                                      isWeight || std::string_view(parameter) == "gamma" ? "1.0" : "0.0");
  const double factor = numberOf(factorText).value_or(1);
  if (!numberOf(factorText)) t.remark(fmt::format("{} begins as if it were 1", key("InitializerMultiplier")));
  if (!isWeight) {
    const bool gamma = std::string_view(parameter) == "gamma";
    if (gamma && rule == "Constant" && factor == 0)
      t.set("zero_gamma", true);
    else if (!rule.empty() && (rule != "Constant" || factor != (gamma ? 1 : 0)) &&
             std::string_view(parameter) != "slope")
      t.converted(fmt::format("{} begins at {} here", prefix, gamma ? 1 : 0));
    return;
  }
  if (rule.empty()) return;
  if (rule == "Constant") {
    if (factor == 0 || factor == 1)
      t.set("initializer", factor == 0 ? "zeros" : "ones");
    else
      t.converted("its weights begin at random numbers instead of a constant");
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
  if (rule.find("HeBackward") != rule.npos)
    t.remark("its weights begin with the variance of what comes in, there of what goes out");
  if (factor != 1) t.converted(fmt::format("its initial weights are not multiplied by {}", clipped(factorText)));
}

const std::map<std::string, Rule>& weightRules() {
  static const std::map<std::string, Rule> rules = {
      {"Convolution", convolution},
      {"DepthwiseConvolution", depthwise},
      {"Deconvolution", deconvolution},
      {"Affine", affine},
      {"BinaryConnectAffine",
       [](Translation& t) {
         binary(
             t, [](Translation& u) { affineAs(u, "BinaryLinear"); }, "");
       }},
      {"BinaryWeightAffine",
       [](Translation& t) {
         binary(
             t, [](Translation& u) { affineAs(u, "BinaryLinear"); }, "scaled");
       }},
      {"BinaryConnectConvolution",
       [](Translation& t) {
         binary(
             t, [](Translation& u) { convolutionAs(u, "BinaryConvolution"); }, "");
       }},
      {"BinaryWeightConvolution",
       [](Translation& t) {
         binary(
             t, [](Translation& u) { convolutionAs(u, "BinaryConvolution"); }, "scaled");
       }},
      {"Embed", embed},
  };
  return rules;
}

}  // namespace loom::sdc
