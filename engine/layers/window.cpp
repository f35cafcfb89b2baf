#include "engine/layers/window.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"

namespace loom {
namespace {

std::size_t spatialAxes(const Shape& sample) {
  if (sample.rank() < 2 || sample.rank() > 4)
    throw LayerError(
        fmt::format("the input is {}, but channels and one to three further axes are wanted, such as 3×32×32",
                    parts::shapeText(sample)),
        "");
  return sample.rank() - 1;
}

// One number for each spatial axis, or the remedy: the first number for each.
std::vector<std::int64_t> perAxis(const Values& values, const char* key, std::size_t axes) {
  const Json& given = values.json(key);
  if (given.is_array() && given.size() != axes) {
    std::vector<std::int64_t> numbers = values.integers(key);
    const bool equal =
        std::all_of(numbers.begin(), numbers.end(), [&](std::int64_t number) { return number == numbers[0]; });
    try {
      return values.integers(key, static_cast<int>(axes));  // a default holds for every axis
    } catch (const Error&) {
      numbers.resize(axes, numbers.back());
      throw LayerError(fmt::format("'{}' has {} numbers, but the input has {} spatial {}", key, given.size(), axes,
                                   axes == 1 ? "axis" : "axes"),
                       key, equal ? Json(numbers[0]) : Json(numbers));
    }
  }
  return values.integers(key, static_cast<int>(axes));
}

void explicitPads(const Values& values, std::size_t axes, Window& window) {
  const Json& given = values.json("pads");
  if (given.is_array() && given.size() == 2 * axes) {
    const std::vector<std::int64_t> pads = values.integers("pads");
    window.before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes));
    window.after.assign(pads.begin() + static_cast<std::ptrdiff_t>(axes), pads.end());
  } else {
    window.before = window.after = perAxis(values, "pads", axes);
  }
}

Window begin(const Values& values, std::size_t axes, Dilation dilation) {
  Window window;
  window.kernel = perAxis(values, "kernel", axes);
  window.stride = values.has("stride") ? perAxis(values, "stride", axes) : window.kernel;
  window.dilation =
      dilation == Dilation::field ? perAxis(values, "dilation", axes) : std::vector<std::int64_t>(axes, 1);
  window.before = window.after = std::vector<std::int64_t>(axes, 0);
  return window;
}

std::string joined(const std::vector<std::int64_t>& numbers) {
  return Shape(numbers).toString();
}

}  // namespace

std::vector<Field> windowFields(Json kernel, Json stride, const char* padding, Dilation dilation) {
  const bool follows = stride.is_null();
  std::vector<Field> fields = {
      {.key = "kernel",
       .label = "Kernel",
       .help = "Extent of the window on each spatial axis: height, width.",
       .type = FieldType::integers,
       .defaultValue = std::move(kernel),
       .hard = Range{1, 4096},
       .comfortable = Range{1, 31},
       .important = true},
      {.key = "stride",
       .label = "Stride",
       .help = follows ? "Step of the window on each spatial axis. Absent: as large as the kernel, so that windows do "
                         "not overlap."
                       : "Step of the window on each spatial axis.",
       .type = FieldType::integers,
       .defaultValue = std::move(stride),
       .hard = Range{1, 4096},
       .comfortable = Range{1, 16},
       .optional = follows,
       .important = true},
      {.key = "padding",
       .label = "Padding",
       .help = "What surrounds the input, so that the window may begin outside of it.",
       .type = FieldType::choice,
       .defaultValue = padding,
       .choices = {{"same", "Same",
                    "As much as keeps the extent (divided by the stride, rounded up); an odd pixel goes after."},
                   {"valid", "Valid", "None: the window stays inside the input."},
                   {"explicit", "Explicit", "The numbers in Pads."}}},
      {.key = "pads",
       .label = "Pads",
       .help = "Pixels on each spatial axis, the same before and after; or twice as many numbers: all before, then all "
               "after.",
       .type = FieldType::integers,
       .defaultValue = Json::array({0, 0}),
       .hard = Range{0, 4096},
       .onlyWhen = "padding=explicit"}};
  if (dilation == Dilation::field)
    fields.push_back({.key = "dilation",
                      .label = "Dilation",
                      .help = "Distance between neighbouring taps of the kernel: 2 leaves one pixel out between them.",
                      .type = FieldType::integers,
                      .defaultValue = Json::array({1, 1}),
                      .hard = Range{1, 4096},
                      .comfortable = Range{1, 32}});
  return fields;
}

std::vector<std::int64_t> Window::padding() const {
  std::vector<std::int64_t> all = before;
  all.insert(all.end(), after.begin(), after.end());
  return all;
}

Window slidingWindow(const Values& values, const Shape& sample, Dilation dilation) {
  const std::size_t axes = spatialAxes(sample);
  Window window = begin(values, axes, dilation);
  const std::string padding = values.text("padding");
  if (padding == "explicit") explicitPads(values, axes, window);
  if (padding == "same") {
    for (std::size_t i = 0; i < axes; ++i) {
      const std::int64_t in = sample.extents()[i + 1], out = (in + window.stride[i] - 1) / window.stride[i];
      const std::int64_t total = std::max<std::int64_t>((out - 1) * window.stride[i] + window.span(i) - in, 0);
      window.before[i] = total / 2;
      window.after[i] = total - total / 2;
    }
  }
  return window;
}

std::vector<std::int64_t> slidOver(const Window& window, const Shape& sample) {
  std::vector<std::int64_t> extents;
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    const std::int64_t in = sample.extents()[i + 1] + window.before[i] + window.after[i];
    if (window.span(i) > in) {
      const std::vector<std::int64_t> inputs(sample.begin() + 1, sample.end());
      const bool padded = window.before[i] + window.after[i] > 0, dilated = window.dilation[i] > 1;
      std::vector<std::int64_t> fitting = window.kernel;
      for (std::size_t axis = 0; axis < fitting.size(); ++axis)
        fitting[axis] = std::min(
            fitting[axis], (inputs[axis] + window.before[axis] + window.after[axis] - 1) / window.dilation[axis] + 1);
      throw LayerError(fmt::format("the kernel is {}{}, but the input is only {}{}", joined(window.kernel),
                                   dilated ? fmt::format(" (with dilation it spans {})", window.span(i)) : "",
                                   joined(inputs), padded ? fmt::format(" (with padding {})", in) : ""),
                       "kernel", Json(fitting));
    }
    extents.push_back((in - window.span(i)) / window.stride[i] + 1);
  }
  return extents;
}

SpreadWindow spreadingWindow(const Values& values, const Shape& sample) {
  const std::size_t axes = spatialAxes(sample);
  SpreadWindow spread;
  spread.window = begin(values, axes, Dilation::field);
  Window& window = spread.window;
  const std::string padding = values.text("padding");
  std::vector<std::int64_t> further(axes, 0);
  if (padding == "explicit") {
    explicitPads(values, axes, window);
    further = perAxis(values, "output_padding", axes);
  }
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t in = sample.extents()[i + 1], full = (in - 1) * window.stride[i] + window.span(i);
    if (padding == "same") {
      const std::int64_t total = std::max<std::int64_t>(window.span(i) - window.stride[i], 0);
      window.before[i] = total / 2;
      window.after[i] = total - total / 2;
      spread.extents.push_back(in * window.stride[i]);
      continue;
    }
    if (further[i] >= window.stride[i])
      throw LayerError(
          fmt::format("'output_padding' is {}, but must be less than the stride, {}", further[i], window.stride[i]),
          "output_padding", Json(window.stride[i] - 1));
    const std::int64_t out = full - window.before[i] - window.after[i] + further[i];
    if (out < 1)
      throw LayerError(fmt::format("the pads take away {} of {} pixels, so that nothing is left",
                                   window.before[i] + window.after[i], full),
                       "pads", Json(0));
    spread.extents.push_back(out);
  }
  return spread;
}

}  // namespace loom
