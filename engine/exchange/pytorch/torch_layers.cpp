// Layers that torch has, in the words of a person who writes for it.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/exchange/pytorch/torch_code.h"
#include "engine/layers/layer_error.h"
#include "engine/layers/window.h"

namespace loom::torch {
namespace {

using Writer = bool (*)(NodeCode&);

std::string dimension(const NodeCode& code) {
  return fmt::format("{}d", code.inputs[0].rank() - 1);
}

bool allEqual(const std::vector<std::int64_t>& numbers, std::int64_t value) {
  return std::all_of(numbers.begin(), numbers.end(), [value](std::int64_t each) { return each == value; });
}

// F.pad counts from the last axis: before and after of each.
std::string padded(const NodeCode& code, const Window& window, const char* value) {
  std::vector<std::int64_t> pads;
  for (std::size_t axis = window.before.size(); axis-- > 0;) {
    pads.push_back(window.before[axis]);
    pads.push_back(window.after[axis]);
  }
  return fmt::format("F.pad({}, {}{})", code.input(), whole(pads), value);
}

void weightAndBias(NodeCode& code) {
  code.weights.push_back({"weight", "weight"});
  if (code.values.boolean("bias")) code.weights.push_back({"bias", "bias"});
}

bool convolution(NodeCode& code) {
  const Window window = slidingWindow(code.values, code.inputs[0], Dilation::field);
  const bool even = window.before == window.after;
  std::string options;
  if (!allEqual(window.stride, 1)) options += ", stride=" + tuple(window.stride);
  if (even && !allEqual(window.before, 0)) options += ", padding=" + tuple(window.before);
  if (!allEqual(window.dilation, 1)) options += ", dilation=" + tuple(window.dilation);
  if (code.values.integer("groups") != 1) options += fmt::format(", groups={}", code.values.integer("groups"));
  if (!code.values.boolean("bias")) options += ", bias=False";
  code.module("Conv" + dimension(code), fmt::format("{}, {}, {}{}", code.inputs[0][0], code.values.integer("channels"),
                                                    tuple(window.kernel), options));
  if (!even) code.result = fmt::format("self.{}({})", code.name, padded(code, window, ""));
  weightAndBias(code);
  return true;
}

bool deconvolution(NodeCode& code) {
  const SpreadWindow spread = spreadingWindow(code.values, code.inputs[0]);
  const Window& window = spread.window;
  std::vector<std::int64_t> further;
  for (std::size_t axis = 0; axis < window.kernel.size(); ++axis) {
    const std::int64_t in = code.inputs[0][static_cast<std::int64_t>(axis) + 1];
    further.push_back(spread.extents[axis] -
                      ((in - 1) * window.stride[axis] - 2 * window.before[axis] + window.span(axis)));
    if (further.back() < 0 || further.back() >= std::max(window.stride[axis], window.dilation[axis])) return false;
  }
  std::string options;
  if (!allEqual(window.stride, 1)) options += ", stride=" + tuple(window.stride);
  if (!allEqual(window.before, 0)) options += ", padding=" + tuple(window.before);
  if (!allEqual(further, 0)) options += ", output_padding=" + tuple(further);
  if (code.values.integer("groups") != 1) options += fmt::format(", groups={}", code.values.integer("groups"));
  if (!allEqual(window.dilation, 1)) options += ", dilation=" + tuple(window.dilation);
  if (!code.values.boolean("bias")) options += ", bias=False";
  code.module(
      "ConvTranspose" + dimension(code),
      fmt::format("{}, {}, {}{}", code.inputs[0][0], code.values.integer("channels"), tuple(window.kernel), options));
  weightAndBias(code);
  return true;
}

bool linear(NodeCode& code) {
  const std::int64_t kept = code.values.integer("base_axis"), rank = static_cast<std::int64_t>(code.inputs[0].rank());
  std::int64_t inputs = 1;
  for (std::int64_t axis = kept; axis < rank; ++axis) inputs *= code.inputs[0][axis];
  code.module("Linear", fmt::format("{}, {}{}", inputs, code.values.integer("outputs"),
                                    code.values.boolean("bias") ? "" : ", bias=False"));
  if (rank - kept > 1) code.result = fmt::format("self.{}({}.flatten({}))", code.name, code.input(), kept + 1);
  weightAndBias(code);
  return true;
}

bool embedding(NodeCode& code) {
  code.module("Embedding", fmt::format("{}, {}", code.values.integer("vocabulary"), code.values.integer("channels")));
  code.weights.push_back({"weight", "weight"});
  return true;
}

bool batchNormalization(NodeCode& code) {
  const std::int64_t rank = static_cast<std::int64_t>(code.inputs[0].rank()), axis = code.values.integer("axis");
  const bool scale = code.values.boolean("scale"), shift = code.values.boolean("shift");
  if ((axis < 0 ? axis + rank : axis) != 0 || rank > 4 || scale != shift) return false;
  code.module(fmt::format("BatchNorm{}d", std::max<std::int64_t>(rank - 1, 1)),
              fmt::format("{}, eps={}, momentum={}{}", code.inputs[0][0], number(code.values.real("epsilon")),
                          number(1 - code.values.real("momentum")), scale ? "" : ", affine=False"));
  if (scale) code.weights = {{"gamma", "weight"}, {"beta", "bias"}};
  code.weights.push_back({"mean", "running_mean"});
  code.weights.push_back({"variance", "running_var"});
  return true;
}

bool layerNormalization(NodeCode& code) {
  if (code.values.boolean("scale") != code.values.boolean("shift")) return false;
  const auto axes = static_cast<std::size_t>(code.values.integer("axes"));
  const std::vector<std::int64_t>& extents = code.inputs[0].extents();
  if (axes > extents.size()) return false;
  const std::vector<std::int64_t> last(extents.end() - static_cast<std::ptrdiff_t>(axes), extents.end());
  code.module("LayerNorm", fmt::format("{}, eps={}{}", axes == 1 ? fmt::format("{}", last[0]) : whole(last),
                                       number(code.values.real("epsilon")),
                                       code.values.boolean("scale") ? "" : ", elementwise_affine=False"));
  if (code.values.boolean("scale")) code.weights = {{"gamma", "weight"}, {"beta", "bias"}};
  return true;
}

bool dropout(NodeCode& code) {
  code.module("Dropout", number(code.values.real("probability")));
  return true;
}

bool pooling(NodeCode& code, bool average) {
  const Window window = slidingWindow(code.values, code.inputs[0], Dilation::none);
  const bool even = window.before == window.after;
  const bool half = std::all_of(window.kernel.begin(), window.kernel.end(),
                                [&, i = 0U](std::int64_t kernel) mutable { return 2 * window.before[i++] <= kernel; });
  std::string options = tuple(window.kernel);
  if (window.stride != window.kernel) options += ", stride=" + tuple(window.stride);
  if (even && half) {
    if (!allEqual(window.before, 0)) options += ", padding=" + tuple(window.before);
    if (average && !code.values.boolean("include_padding") && !allEqual(window.before, 0))
      options += ", count_include_pad=False";
    code.result = fmt::format("F.{}_pool{}({}, {})", average ? "avg" : "max", dimension(code), code.input(), options);
    return true;
  }
  if (average && !code.values.boolean("include_padding")) {
    // The mean over what lies inside: that of the numbers by that of ones.
    code.forward.push_back(fmt::format("{}_inside = F.avg_pool{}({}, {})", code.name, dimension(code),
                                       "F.pad(torch.ones_like(" + code.input() + "), " +
                                           padded(code, window, "").substr(padded(code, window, "").find(", ") + 2),
                                       options));
    code.result =
        fmt::format("F.avg_pool{}({}, {}) / {}_inside", dimension(code), padded(code, window, ""), options, code.name);
    return true;
  }
  code.result = fmt::format("F.{}_pool{}({}, {})", average ? "avg" : "max", dimension(code),
                            padded(code, window, average ? "" : ", value=float('-inf')"), options);
  return true;
}

bool globalAveragePooling(NodeCode& code) {
  std::vector<std::int64_t> axes;
  for (std::size_t axis = 1; axis < code.inputs[0].rank(); ++axis) axes.push_back(static_cast<std::int64_t>(axis) + 1);
  code.result =
      fmt::format("{}.mean({}{})", code.input(), whole(axes), code.values.boolean("keep_axes") ? ", keepdim=True" : "");
  return true;
}

bool reshape(NodeCode& code) {
  std::string extents;
  for (const std::int64_t extent : code.outputs[0]) extents += fmt::format(", {}", extent);
  code.result = fmt::format("{}.reshape(-1{})", code.input(), extents);
  return true;
}

bool flatten(NodeCode& code) {
  code.result = fmt::format("{}.flatten({})", code.input(), code.values.integer("base_axis") + 1);
  return true;
}

bool concatenate(NodeCode& code) {
  const std::int64_t axis = code.values.integer("axis"), rank = static_cast<std::int64_t>(code.inputs[0].rank());
  std::string list;
  for (const std::string& each : code.arguments) list += (list.empty() ? "" : ", ") + each;
  code.result = fmt::format("torch.cat(({}), dim={})", list, (axis < 0 ? axis + rank : axis) + 1);
  return true;
}

bool joined(NodeCode& code, const char* sign) {
  for (const std::string& each : code.arguments)
    code.result += (code.result.empty() ? "" : fmt::format(" {} ", sign)) + each;
  return true;
}

bool lstm(NodeCode& code) {
  const std::string direction = code.values.text("direction");
  if (direction == "backward") return false;
  const bool both = direction == "both", bias = code.values.boolean("bias");
  code.module("LSTM", fmt::format("{}, {}{}{}, batch_first=True", code.inputs[0][1], code.values.integer("units"),
                                  bias ? "" : ", bias=False", both ? ", bidirectional=True" : ""));
  for (const auto& [ours, theirs] : {std::pair{"", ""}, {"_backward", "_reverse"}}) {
    if (*ours && !both) continue;
    code.weights.push_back({fmt::format("weight_input{}", ours), fmt::format("weight_ih_l0{}", theirs)});
    code.weights.push_back({fmt::format("weight_hidden{}", ours), fmt::format("weight_hh_l0{}", theirs)});
    if (!bias) continue;
    code.weights.push_back({fmt::format("bias{}", ours), fmt::format("bias_ih_l0{}", theirs)});
    code.weights.push_back(
        {fmt::format("bias{}", ours), fmt::format("bias_hh_l0{}", theirs), NodeCode::Weight::Change::zeroSecondBias});
  }
  const std::string all = fmt::format("self.{}({})[0]", code.name, code.input());
  const std::int64_t units = code.values.integer("units");
  if (code.values.text("returns") != "last")
    code.result = all;
  else if (!both)
    code.result = all + "[:, -1]";
  else {
    code.forward.push_back(fmt::format("{}_all = {}", code.name, all));
    code.result = fmt::format("torch.cat(({0}_all[:, -1, :{1}], {0}_all[:, 0, {1}:]), dim=1)", code.name, units);
  }
  return true;
}

bool function(NodeCode& code, const std::string& text) {
  code.result = fmt::format("{}({})", text, code.input());
  return true;
}

const std::map<std::string, Writer>& writers() {
  static const std::map<std::string, Writer> all = {
      {"Convolution", convolution},
      {"Deconvolution", deconvolution},
      {"Linear", linear},
      {"Embedding", embedding},
      {"BatchNormalization", batchNormalization},
      {"LayerNormalization", layerNormalization},
      {"Dropout", dropout},
      {"ReLU", [](NodeCode& code) { return function(code, "F.relu"); }},
      {"SELU", [](NodeCode& code) { return function(code, "F.selu"); }},
      {"SiLU", [](NodeCode& code) { return function(code, "F.silu"); }},
      {"Sigmoid", [](NodeCode& code) { return function(code, "torch.sigmoid"); }},
      {"Tanh", [](NodeCode& code) { return function(code, "torch.tanh"); }},
      {"LeakyReLU",
       [](NodeCode& code) {
         code.result = fmt::format("F.leaky_relu({}, {})", code.input(), number(code.values.real("alpha")));
         return true;
       }},
      {"ELU",
       [](NodeCode& code) {
         code.result = fmt::format("F.elu({}, {})", code.input(), number(code.values.real("alpha")));
         return true;
       }},
      {"GELU",
       [](NodeCode& code) {
         code.result = fmt::format("F.gelu({}{})", code.input(),
                                   code.values.boolean("approximate") ? ", approximate='tanh'" : "");
         return true;
       }},
      {"MaxPooling", [](NodeCode& code) { return pooling(code, false); }},
      {"AveragePooling", [](NodeCode& code) { return pooling(code, true); }},
      {"GlobalAveragePooling", globalAveragePooling},
      {"Add", [](NodeCode& code) { return joined(code, "+"); }},
      {"Multiply", [](NodeCode& code) { return joined(code, "*"); }},
      {"Concatenate", concatenate},
      {"Flatten", flatten},
      {"Reshape", reshape},
      {"LSTM", lstm},
  };
  return all;
}

}  // namespace

void NodeCode::module(std::string_view type, std::string given) {
  init.push_back(fmt::format("self.{} = nn.{}({})", name, type, given));
  result = fmt::format("self.{}({})", name, input());
}

std::string tuple(const std::vector<std::int64_t>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [&](std::int64_t each) { return each == numbers[0]; })
             ? fmt::format("{}", numbers[0])
             : whole(numbers);
}

std::string whole(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t each : numbers) text += fmt::format("{}{}", text.empty() ? "" : ", ", each);
  return "(" + text + (numbers.size() == 1 ? ",)" : ")");
}

std::string number(double value) {
  return fmt::format("{:.9g}", value);
}
std::string truth(bool value) {
  return value ? "True" : "False";
}

bool writeLayer(NodeCode& code) {
  const auto writer = writers().find(code.layer.entry.id);
  return writer != writers().end() && writer->second(code);
}

}  // namespace loom::torch
