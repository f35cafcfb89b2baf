// Layers with windows, normalisations and shapes: where Console's conventions differ from ours and have to be said
// otherwise.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/catalogue/text.h"
#include "engine/exchange/sdcproj/sdc_layer.h"

namespace loom::sdc {
namespace {

// Console rounds the extent down where it ignores the border, and up otherwise: then the window may begin where only
// its first part is left, which a border behind the input says.
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
    for (std::size_t axis = 0; axis < kernel.size(); ++axis) both.push_back(lastAt(pads, axis));
    for (std::size_t axis = 0; axis < kernel.size(); ++axis)
      both.push_back(lastAt(pads, axis) + std::max<std::int64_t>(lastAt(strides, axis) - 1, 0));
    t.set("padding", "explicit");
    t.set("pads", both);
    t.converted("the extent is rounded up by a border behind the input");
  } else {
    t.set("padding", "explicit");
    t.set("pads", pads);
    if (!down) t.fault("IgnoreBorder False with expressions: set the pads behind the input to the stride less 1");
  }
  if (t.flag("ChannelLast", false))
    t.fault("ChannelLast is not there: channels come first; put a Transpose before and behind it");
  if (countsPadding) t.set("include_padding", t.flag("IncludingPad", true));
}

void maxPooling(Translation& t) {
  pooling(t, "MaxPooling", false);
}
void averagePooling(Translation& t) {
  pooling(t, "AveragePooling", true);
}
void sumPooling(Translation& t) {
  pooling(t, "SumPooling", false);
}

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
  for (const char* known : {"mean.File", "mean.Initializer", "mean.InitializerMultiplier", "mean.LRateMultiplier",
                            "var.File", "var.Initializer", "var.InitializerMultiplier", "var.LRateMultiplier"})
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
  const auto expression = [](const Json& value) {
    return value.is_string() ? "(" + value.get<std::string>().substr(1) + ")" : value.dump();
  };
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
      t.set("length", (stop[axis].get<std::int64_t>() - from.get<std::int64_t>() + by.get<std::int64_t>() - 1) /
                          by.get<std::int64_t>());
    else
      t.set("length", by == 1
                          ? fmt::format("={}-{}", expression(stop[axis]), expression(from))
                          : fmt::format("=ceil(({}-{})/{})", expression(stop[axis]), expression(from), expression(by)));
  }
  if (t.nodes.empty()) t.add("Identity");
  if (t.nodes.size() > 1) t.converted("one Slice for each axis that is cut");
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
  if (mode == "constant")
    t.set("value", t.number("ConstantValue", "0.0"));
  else
    t.know("ConstantValue");
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

const std::map<std::string, Rule>& windowRules() {
  static const std::map<std::string, Rule> rules = {
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
      {"Pad", pad},
      {"Interpolate", interpolate},
  };
  return rules;
}

}  // namespace loom::sdc
