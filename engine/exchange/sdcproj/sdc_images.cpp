// Layers that change images at random in training, and the mean that is subtracted from them.
#include <fmt/format.h>

#include <numbers>

#include "engine/catalogue/text.h"
#include "engine/exchange/sdcproj/sdc_layer.h"

namespace loom::sdc {
namespace {

std::string inBrackets(const Json& value) {
  return value.is_string() ? "(" + value.get<std::string>().substr(1) + ")" : value.dump();
}

Json times(const Json& value, double factor) {
  if (value.is_number()) return value.get<double>() * factor;
  return value.is_null() ? value : Json(fmt::format("={}*{}", inBrackets(value), factor));
}

// The middle of an image, as Console takes it too where it does not train.
void centreCut(Translation& t, const Json& shape) {
  for (std::size_t axis = 1; shape.is_array() && axis < shape.size(); ++axis) {
    t.add("Slice");
    t.set("axis", static_cast<std::int64_t>(axis));
    t.set("start", fmt::format("=floor((Input[{}]-{})/2)", axis, inBrackets(shape[axis])));
    t.set("length", shape[axis]);
  }
  if (t.nodes.empty()) t.add("Identity");
}

// Console cuts a window anywhere out of the padded image: here the whole image is moved by as much and the middle is
// cut.
Json reachOf(Translation& t, const Json& shape) {
  const Json pads = t.list("Pad", "0,0");
  const bool cuts = shape.is_array() && shape.size() > 1;
  if (!cuts && (!pads.is_array() || allOf(pads, 0))) return 0.0;
  if (pads.is_array() && pads.size() == 2 && pads[0] != pads[1])
    t.converted("it is moved as far across as up and down");
  const std::string pad = pads.is_array() && !pads.empty() ? inBrackets(pads[0]) : "0";
  return cuts ? fmt::format("=max((Input[1]-{})/2,0)+{}", inBrackets(shape[1]), pad) : "=" + pad;
}

void imageAugmentation(Translation& t) {
  const bool keeps = t.text("Shape", "*Input") == "*Input";
  const Json shape = keeps ? Json() : t.list("Shape", "*Input");
  t.add("ImageAugmentation");
  t.set("shift", reachOf(t, shape));
  t.set("min_scale", t.number("MinScale", "1.0"));
  t.set("max_scale", t.number("MaxScale", "1.0"));
  t.set("angle", times(t.number("Angle", "0.0"), 180 / std::numbers::pi));
  t.set("aspect_ratio", t.number("AspectRatio", "1.0"));
  t.set("distortion", t.number("Distortion", "0.0"));
  t.set("flip_horizontal", t.flag("FlipLR", false));
  t.set("flip_vertical", t.flag("FlipUD", false));
  t.set("brightness", t.number("Brightness", "0.0"));
  t.set("contrast", t.number("Contrast", "1.0"));
  t.set("noise", t.number("Noise", "0.0"));
  for (const char* each : {"BrightnessEach", "ContrastEach"})
    if (t.flag(each, false)) t.converted(fmt::format("{}: all channels change alike here", each));
  if (numberOf(t.text("Contrast", "1.0")) != 1.0 && numberOf(t.text("ContrastCenter", "0.0")) != 0.5)
    t.converted("contrast is about ½ here");
  if (numberOf(t.text("Noise", "0.0")) != 0.0) t.converted("its noise has one strength, there up to that");
  const bool changes = !t.nodes.back().values.empty();
  if (!changes) t.nodes.pop_back();
  if (changes) t.remark("outside of the image it shows 0, there the image's border");
  if (!keeps) centreCut(t, shape);
  if (t.nodes.empty()) t.add("Identity");
  if (!keeps) t.converted("the middle is cut behind it");
  for (const char* known : {"NoiseProbability", "Seed", "SkipAtTest"}) t.know(known);
}

void randomCrop(Translation& t) {
  const Json shape = t.list("Shape", "*Input");
  t.add("ImageAugmentation");
  t.set("shift", reachOf(t, shape));
  centreCut(t, shape);
  t.converted("the image is moved at random and its middle cut; it moves as far across as up and down");
  for (const char* known : {"BaseAxis", "Seed", "SkipAtTest"}) t.know(known);
}

void randomChange(Translation& t) {
  t.add("Identity");
  t.fault(
      fmt::format("{} changes images at random: add a step such as Flip or Crop to the preparation of the training "
                  "set, or an ImageAugmentation",
                  t.layer().type));
}

// Two numbers, the least and the largest.
void range(Translation& t, const char* key, const char* otherwise, const char* least, const char* largest) {
  const Json both = t.list(key, otherwise);
  if (!both.is_array() || both.size() != 2)
    return t.fault(fmt::format("{} is no pair of numbers: set the fields", key));
  t.set(least, both[0]);
  t.set(largest, both[1]);
}

void randomErase(Translation& t) {
  t.add("RandomErase");
  t.set("probability", t.number("Prob", "0.5"));
  range(t, "AreaRatios", "0.02,0.4", "min_area", "max_area");
  range(t, "AspectRatios", "0.3,3.3333", "min_ratio", "max_ratio");
  range(t, "Replacements", "0.0,1.0", "low", "high");
  t.set("patches", t.number("N", "1"));
  t.set("share", t.flag("Share", true));
  if (t.flag("ChannelLast", false))
    t.fault("ChannelLast is not there: channels come first; put a Transpose before and behind it");
  if (!t.flag("STEFineGrained", true)) t.converted("nothing flows back through what is erased");
  for (const char* known : {"Seed", "SkipAtTest"}) t.know(known);
}

void meanSubtraction(Translation& t) {
  t.add("MeanSubtraction");
  t.set("base_axis", t.number("BaseAxis", "0"));
  t.set("update", t.flag("UpdateRunningMean", true));
  if (const std::string file = t.text("mean.File"); !file.empty())
    t.fault(
        fmt::format("mean.File is {}: export it as .safetensors and name it in the setting Start from", clipped(file)));
  for (const char* known : {"mean.Initializer", "mean.InitializerMultiplier", "mean.LRateMultiplier", "t.File",
                            "t.Initializer", "t.InitializerMultiplier", "t.LRateMultiplier"})
    t.know(known);
}

}  // namespace

const std::map<std::string, Rule>& imageRules() {
  static const std::map<std::string, Rule> rules = {{"ImageAugmentation", imageAugmentation},
                                                    {"RandomCrop", randomCrop},
                                                    {"RandomFlip", randomChange},
                                                    {"RandomShift", randomChange},
                                                    {"RandomErase", randomErase},
                                                    {"MeanSubtraction", meanSubtraction}};
  return rules;
}

}  // namespace loom::sdc
