#include "engine/loom/bench/workloads.h"

#include <fmt/format.h>

#include "engine/base/error.h"

namespace loom {
namespace {

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

const Json kPyTorch = "pytorch_uniform";

Json linear(std::int64_t outputs, std::int64_t baseAxis = 0) {
  return {{"outputs", outputs}, {"base_axis", baseAxis}, {"initializer", kPyTorch}};
}

Json convolution(std::int64_t channels, std::int64_t kernel, std::int64_t stride, std::int64_t pad, bool bias) {
  return {{"channels", channels},   {"kernel", {kernel, kernel}}, {"stride", {stride, stride}},
          {"padding", "explicit"},  {"pads", {pad, pad}},         {"bias", bias},
          {"initializer", kPyTorch}};
}

Drawing begin(const char* name, Json inputShape, const char* inputType, Json labelShape) {
  Drawing drawing(name);
  drawing.add("Input", {{"shape", std::move(labelShape)}, {"type", "label"}}, {}, "y");
  drawing.add("Input", {{"shape", std::move(inputShape)}, {"type", inputType}}, {}, "x");
  return drawing;
}

Network mlp() {
  Drawing d = begin("mlp", {784}, "values", {1});
  d.add("Linear", linear(512));
  d.add("ReLU");
  d.add("Linear", linear(512));
  d.add("ReLU");
  d.add("Linear", linear(10));
  d.loss();
  return d.take();
}

Network mnistCnn() {
  Drawing d = begin("mnist-cnn", {1, 28, 28}, "values", {1});
  d.add("Convolution", convolution(32, 3, 1, 0, true));
  d.add("ReLU");
  d.add("Convolution", convolution(64, 3, 1, 0, true));
  d.add("ReLU");
  d.add("MaxPooling", {{"kernel", {2, 2}}});
  d.add("Dropout", {{"probability", 0.25}});
  d.add("Flatten");
  d.add("Linear", linear(128));
  d.add("ReLU");
  d.add("Dropout", {{"probability", 0.5}});
  d.add("Linear", linear(10));
  d.loss();
  return d.take();
}

void convolveNormalise(Drawing& d, std::int64_t channels, std::int64_t kernel, std::int64_t stride, std::int64_t pad) {
  d.add("Convolution", convolution(channels, kernel, stride, pad, false));
  d.add("BatchNormalization");
}

// Adds the shortcut of a residual block to `main`: the block's input, or its projection where the shape changes.
void closeBlock(Drawing& d, const std::string& input, bool project, std::int64_t channels, std::int64_t stride) {
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

Network resnet20() {
  Drawing d = begin("resnet20", {3, 32, 32}, "values", {1});
  convolveNormalise(d, 16, 3, 1, 1);
  d.add("ReLU");
  std::int64_t before = 16;
  for (const std::int64_t channels : {16, 32, 64}) {
    for (int block = 0; block < 3; ++block) {
      const std::string input = d.at;
      const std::int64_t stride = channels > 16 && block == 0 ? 2 : 1;
      convolveNormalise(d, channels, 3, stride, 1);
      d.add("ReLU");
      convolveNormalise(d, channels, 3, 1, 1);
      closeBlock(d, input, stride != 1 || before != channels, channels, stride);
      before = channels;
    }
  }
  d.add("GlobalAveragePooling");
  d.add("Linear", linear(10));
  d.loss();
  return d.take();
}

Network resnet50() {
  Drawing d = begin("resnet50", {3, 224, 224}, "values", {1});
  convolveNormalise(d, 64, 7, 2, 3);
  d.add("ReLU");
  d.add("MaxPooling", {{"kernel", {3, 3}}, {"stride", {2, 2}}, {"padding", "explicit"}, {"pads", {1, 1}}});
  struct Group {
    std::int64_t width, blocks, stride;
  };
  std::int64_t before = 64;
  for (const Group& group : {Group{64, 3, 1}, Group{128, 4, 2}, Group{256, 6, 2}, Group{512, 3, 2}}) {
    for (std::int64_t block = 0; block < group.blocks; ++block) {
      const std::string input = d.at;
      const std::int64_t stride = block == 0 ? group.stride : 1, channels = 4 * group.width;
      convolveNormalise(d, group.width, 1, 1, 0);
      d.add("ReLU");
      convolveNormalise(d, group.width, 3, stride, 1);
      d.add("ReLU");
      convolveNormalise(d, channels, 1, 1, 0);
      closeBlock(d, input, stride != 1 || before != channels, channels, stride);
      before = channels;
    }
  }
  d.add("GlobalAveragePooling");
  d.add("Linear", linear(1000));
  d.loss();
  return d.take();
}

Network lstm() {
  Drawing d = begin("lstm", {100, 80}, "values", {1});
  d.add("LSTM", {{"units", 512}});
  d.add("LSTM", {{"units", 512}, {"returns", "last"}});
  d.add("Linear", linear(1000));
  d.loss();
  return d.take();
}

Network gptMini() {
  constexpr std::int64_t kWidth = 384, kTokens = 128, kVocabulary = 256, kHeads = 6, kBlocks = 6;
  Drawing d = begin("gpt-mini", {kTokens}, "index", {kTokens});
  d.add("Embedding", {{"vocabulary", kVocabulary}, {"channels", kWidth}});
  d.add("PositionEmbedding");
  for (std::int64_t block = 0; block < kBlocks; ++block) {
    const std::string input = d.at;
    d.add("LayerNormalization");
    d.add("MultiHeadAttention", {{"heads", kHeads}, {"causal", true}, {"initializer", kPyTorch}});
    const std::string middle = d.add("Add", Json::object(), {input, d.at}, "");
    d.add("LayerNormalization");
    d.add("Linear", linear(4 * kWidth, 1));
    d.add("GELU");
    d.add("Linear", linear(kWidth, 1));
    d.add("Add", Json::object(), {middle, d.at}, "");
  }
  d.add("LayerNormalization");
  d.add("Linear", linear(kVocabulary, 1));
  d.loss();
  return d.take();
}

// As torch.optim.SGD(lr 0.01, momentum 0.9, weight_decay 5e-4) and AdamW(3e-4): decay on every parameter.
UpdateSpec update(bool adam) {
  UpdateSpec spec;
  spec.decayExclude.clear();
  spec.optimizer = adam
                       ? Json{{"name", "AdamW"}, {"learning_rate", 3e-4}, {"weight_decay", 0.01}}
                       : Json{{"name", "Momentum"}, {"learning_rate", 0.01}, {"momentum", 0.9}, {"weight_decay", 5e-4}};
  return spec;
}

struct Row {
  const char* name;
  Network (*draw)();
  std::int64_t batch;
  std::int64_t classes;
};
constexpr Row kRows[] = {{"mlp", mlp, 128, 10},           {"mnist-cnn", mnistCnn, 64, 10},
                         {"resnet20", resnet20, 128, 10}, {"resnet50", resnet50, 32, 1000},
                         {"lstm", lstm, 32, 1000},        {"gpt-mini", gptMini, 16, 256}};

}  // namespace

const std::vector<std::string>& workloadNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Row& row : kRows) all.emplace_back(row.name);
    return all;
  }();
  return names;
}

Workload makeWorkload(const std::string& name) {
  for (const Row& row : kRows) {
    if (name != row.name) continue;
    Workload workload{name, row.draw(), row.batch, update(name == "gpt-mini"), {{"y", row.classes}}};
    if (name == "gpt-mini") workload.classes["x"] = 256;
    return workload;
  }
  throwError(ErrorCode::badArgument, "there is no workload '{}'; there are {}", name, fmt::join(workloadNames(), ", "));
}

}  // namespace loom
