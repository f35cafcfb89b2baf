#include "engine/cpu/lowerings/convolution_description.h"

namespace loom::cpu {

std::int64_t ConvolutionDescription::product(const dnnl::memory::dims& dims) {
  std::int64_t all = 1;
  for (auto extent : dims) all *= extent;
  return all;
}

std::string ConvolutionDescription::toString() const {
  std::string text = "a convolution of ";
  for (std::size_t i = 0; i < input.size(); ++i) text += (i ? "×" : "") + std::to_string(input[i]);
  text += " with ";
  for (std::size_t i = 0; i < weight.size(); ++i) text += (i ? "×" : "") + std::to_string(weight[i]);
  return text;
}

ConvolutionDescription describeConvolution(const Attributes& attributes, const Shape& input, const Shape& weight,
                                           const Shape& output) {
  using Tag = dnnl::memory::format_tag;
  const std::size_t space = input.rank() - 2;
  ConvolutionDescription g;
  g.batch = input[0];
  g.groups = attributes.integer("groups", 1);
  g.input = input.extents();
  g.output = output.extents();
  g.weight = weight.extents();
  if (g.groups > 1) {
    g.weight[0] /= g.groups;
    g.weight.insert(g.weight.begin(), g.groups);
  }
  const auto each = [&](const char* key, std::int64_t otherwise) {
    return attributes.has(key) ? attributes.integers(key) : std::vector<std::int64_t>(space, otherwise);
  };
  g.strides = each("strides", 1);
  g.dilation = each("dilation", 1);
  for (auto& d : g.dilation) d -= 1;
  const std::vector<std::int64_t> padding =
      attributes.has("padding") ? attributes.integers("padding") : std::vector<std::int64_t>(2 * space, 0);
  g.before.assign(padding.begin(), padding.begin() + static_cast<std::ptrdiff_t>(space));
  g.after.assign(padding.begin() + static_cast<std::ptrdiff_t>(space), padding.end());
  g.activations = space == 1 ? Tag::nwc : space == 2 ? Tag::nhwc : Tag::ndhwc;
  g.plainWeight = g.groups > 1 ? (space == 1   ? Tag::goiw
                                  : space == 2 ? Tag::goihw
                                               : Tag::goidhw)
                               : (space == 1   ? Tag::oiw
                                  : space == 2 ? Tag::oihw
                                               : Tag::oidhw);
  return g;
}

}  // namespace loom::cpu
