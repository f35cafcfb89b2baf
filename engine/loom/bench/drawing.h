#pragma once
// How the workloads of `loom bench`, and the networks on which a processor is measured, are drawn.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/layers/layer.h"
#include "engine/network/network.h"
#include "engine/network/project.h"

namespace loom::drawn {

// Draws a network node by node; `at` is the node that the next one follows.
class Drawing {
 public:
  explicit Drawing(std::string name) { m_network.name = std::move(name); }

  std::string add(const std::string& layer, Json values, std::vector<std::string> from, const std::string& id) {
    Node node;
    node.id = id.empty() ? fmt::format("n{}", m_network.nodes.size()) : id;
    node.layer = layer;
    node.values = std::move(values);
    const LayerDefinition* definition = findLayer(layer);
    if (definition == nullptr) throwError(ErrorCode::internal, "no layer '{}'", layer);
    const std::vector<Port>& ports = definition->entry.inputs;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const Port& port = ports[std::min(i, ports.size() - 1)];
      const LayerDefinition* source = findLayer(m_network.find(from[i])->layer);
      m_network.edges.push_back({{from[i], source->entry.outputs[0].key}, {node.id, port.key}});
    }
    m_network.nodes.push_back(std::move(node));
    return at = m_network.nodes.back().id;
  }
  std::string add(const std::string& layer, Json values = Json::object()) {
    return add(layer, std::move(values), {at}, "");
  }
  void loss() {
    const std::string logits = at;
    add("SoftmaxCrossEntropy", Json::object(), {logits, "y"}, "loss");
  }

  std::string at;
  Network take() { return std::move(m_network); }

 private:
  Network m_network;
};

inline const Json kPyTorch = "pytorch_uniform";

inline Json linear(std::int64_t outputs, std::int64_t baseAxis = 0) {
  return {{"outputs", outputs}, {"base_axis", baseAxis}, {"initializer", kPyTorch}};
}

inline Json convolution(std::int64_t channels, std::int64_t kernel, std::int64_t stride, std::int64_t pad, bool bias) {
  return {{"channels", channels},   {"kernel", {kernel, kernel}}, {"stride", {stride, stride}},
          {"padding", "explicit"},  {"pads", {pad, pad}},         {"bias", bias},
          {"initializer", kPyTorch}};
}

inline Drawing begin(const char* name, Json inputShape, const char* inputType, Json labelShape) {
  Drawing drawing(name);
  drawing.add("Input", {{"shape", std::move(labelShape)}, {"type", "label"}}, {}, "y");
  drawing.add("Input", {{"shape", std::move(inputShape)}, {"type", inputType}}, {}, "x");
  return drawing;
}

inline void convolveNormalise(Drawing& d, std::int64_t channels, std::int64_t kernel, std::int64_t stride,
                              std::int64_t pad) {
  d.add("Convolution", convolution(channels, kernel, stride, pad, false));
  d.add("BatchNormalization");
}

// Adds the shortcut of a residual block to `main`: the block's input, or its projection where the shape changes.
inline void closeBlock(Drawing& d, const std::string& input, bool project, std::int64_t channels, std::int64_t stride) {
  const std::string main = d.at;
  std::string shortcut = input;
  if (project) {
    d.at = input;
    convolveNormalise(d, channels, 1, stride, 0);
    shortcut = d.at;
  }
  d.add("Add", Json::object(), {main, shortcut}, "");
  d.add("ReLU");
}

inline void basicBlock(Drawing& d, std::int64_t channels, std::int64_t stride, bool project) {
  const std::string input = d.at;
  convolveNormalise(d, channels, 3, stride, 1);
  d.add("ReLU");
  convolveNormalise(d, channels, 3, 1, 1);
  closeBlock(d, input, project, channels, stride);
}

inline void bottleneck(Drawing& d, std::int64_t width, std::int64_t stride, bool project) {
  const std::string input = d.at;
  convolveNormalise(d, width, 1, 1, 0);
  d.add("ReLU");
  convolveNormalise(d, width, 3, stride, 1);
  d.add("ReLU");
  convolveNormalise(d, 4 * width, 1, 1, 0);
  closeBlock(d, input, project, 4 * width, stride);
}

inline void transformerBlock(Drawing& d, std::int64_t width, std::int64_t heads) {
  const std::string input = d.at;
  d.add("LayerNormalization");
  d.add("MultiHeadAttention", {{"heads", heads}, {"causal", true}, {"initializer", kPyTorch}});
  const std::string middle = d.add("Add", Json::object(), {input, d.at}, "");
  d.add("LayerNormalization");
  d.add("Linear", linear(4 * width, 1));
  d.add("GELU");
  d.add("Linear", linear(width, 1));
  d.add("Add", Json::object(), {middle, d.at}, "");
}

// As torch.optim.SGD(lr 0.01, momentum 0.9, weight_decay 5e-4) and AdamW(3e-4): decay on every parameter.
inline UpdateSpec update(bool adam) {
  UpdateSpec spec;
  spec.decayExclude.clear();
  spec.optimizer = adam
                       ? Json{{"name", "AdamW"}, {"learning_rate", 3e-4}, {"weight_decay", 0.01}}
                       : Json{{"name", "Momentum"}, {"learning_rate", 0.01}, {"momentum", 0.9}, {"weight_decay", 5e-4}};
  return spec;
}

}  // namespace loom::drawn
