#include "tests/engine/network/networks.h"

#include <fmt/format.h>

#include <sstream>

#include "engine/base/error.h"

namespace loom {
namespace {

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);)
    if (!trimmed(part).empty()) parts.push_back(trimmed(part));
  return parts;
}

Endpoint endpoint(const std::string& text, const std::string& otherwise) {
  const auto dot = text.find('.');
  return dot == std::string::npos ? Endpoint{text, otherwise} : Endpoint{text.substr(0, dot), text.substr(dot + 1)};
}

}  // namespace

Network drawn(const std::string& text, const std::string& name) {
  Network network;
  network.name = name;
  for (const std::string& line : split(text, '\n')) {
    const auto arrow = line.find("<-");
    std::istringstream head(line.substr(0, arrow));
    Node node;
    head >> node.id >> node.layer;
    for (std::string field; head >> field;) {
      const auto equals = field.find('=');
      const Json value = Json::parse(field.substr(equals + 1));
      if (field.substr(0, equals) == "shares")
        node.shares = value.get<std::string>();
      else
        node.values[field.substr(0, equals)] = value;
    }
    if (arrow != std::string::npos) {
      const LayerDefinition* layer = findLayer(node.layer);
      for (const std::string& group : split(line.substr(arrow + 2), ';')) {
        const auto colon = group.find(':');
        const std::string port = colon != std::string::npos              ? trimmed(group.substr(0, colon))
                                 : layer && !layer->entry.inputs.empty() ? layer->entry.inputs[0].key
                                                                         : "input";
        for (const std::string& source : split(colon == std::string::npos ? group : group.substr(colon + 1), ','))
          network.edges.push_back({endpoint(source, "output"), {node.id, port}});
      }
    }
    network.nodes.push_back(std::move(node));
  }
  return network;
}

Network leNet() {
  return drawn(R"(
    x Input shape=[1,28,28]
    conv1 Convolution channels=6 kernel=[5,5] <- x
    tanh1 Tanh <- conv1
    pool1 AveragePooling <- tanh1
    conv2 Convolution channels=16 kernel=[5,5] padding="valid" <- pool1
    tanh2 Tanh <- conv2
    pool2 AveragePooling <- tanh2
    fc1 Linear outputs=120 <- pool2
    tanh3 Tanh <- fc1
    fc2 Linear outputs=84 <- tanh3
    tanh4 Tanh <- fc2
    fc3 Linear outputs=10 <- tanh4
    y Input shape=[1] type="label"
    loss SoftmaxCrossEntropy <- fc3; target: y
    accuracy Accuracy <- fc3; target: y)");
}

Network resNet20() {
  std::string text =
      "x Input shape=[3,32,32]\n"
      "stem Convolution channels=16 bias=false <- x\n"
      "stem_bn BatchNormalization <- stem\n"
      "r0 ReLU <- stem_bn\n";
  std::string last = "r0";
  for (int stage = 0, block = 0; stage < 3; ++stage) {
    for (int i = 0; i < 3; ++i, ++block) {
      const int channels = 16 << stage, stride = stage > 0 && i == 0 ? 2 : 1;
      text += fmt::format(
          "a{0} Convolution channels={1} stride=[{2},{2}] bias=false <- {3}\n"
          "abn{0} BatchNormalization <- a{0}\n"
          "ar{0} ReLU <- abn{0}\n"
          "b{0} Convolution channels={1} bias=false <- ar{0}\n"
          "bbn{0} BatchNormalization <- b{0}\n",
          block, channels, stride, last);
      if (stride == 2) {
        text += fmt::format(
            "s{0} Convolution channels={1} kernel=[1,1] stride=[2,2] bias=false <- {2}\n"
            "sbn{0} BatchNormalization <- s{0}\n",
            block, channels, last);
        last = fmt::format("sbn{}", block);
      }
      text += fmt::format("add{0} Add <- bbn{0}, {1}\nr{2} ReLU <- add{0}\n", block, last, block + 1);
      last = fmt::format("r{}", block + 1);
    }
  }
  return drawn(text + "pool GlobalAveragePooling <- " + last +
               "\n"
               "fc Linear outputs=10 <- pool\n"
               "y Input shape=[1] type=\"label\"\n"
               "loss SoftmaxCrossEntropy smoothing=0.1 <- fc; target: y\n"
               "accuracy Accuracy <- fc; target: y\n");
}

Network textClassifier() {
  return drawn(R"(
    words Input shape=[12] type="index"
    embed Embedding vocabulary=50 channels=8 <- words
    lstm LSTM units=6 direction="both" returns="last" <- embed
    drop Dropout probability=0.2 <- lstm
    fc Linear outputs=1 <- drop
    y Input shape=[1]
    loss BinaryCrossEntropy <- fc; target: y
    accuracy BinaryAccuracy <- fc; target: y)");
}

Network characterTransformer() {
  std::string text =
      "x Input shape=[16] type=\"index\"\n"
      "embed Embedding vocabulary=30 channels=12 <- x\n"
      "pos PositionEmbedding <- embed\n";
  std::string last = "pos";
  for (int i = 0; i < 2; ++i) {
    text += fmt::format(
        "ln{0}a LayerNormalization <- {1}\n"
        "att{0} MultiHeadAttention heads=3 causal=true <- ln{0}a\n"
        "add{0}a Add <- {1}, att{0}\n"
        "ln{0}b LayerNormalization <- add{0}a\n"
        "up{0} Linear outputs=24 base_axis=1 <- ln{0}b\n"
        "g{0} GELU <- up{0}\n"
        "down{0} Linear outputs=12 base_axis=1 <- g{0}\n"
        "add{0}b Add <- add{0}a, down{0}\n",
        i, last);
    last = fmt::format("add{}b", i);
  }
  return drawn(text + "ln LayerNormalization <- " + last +
               "\n"
               "head Linear outputs=30 base_axis=1 <- ln\n"
               "y Input shape=[16] type=\"label\"\n"
               "loss SoftmaxCrossEntropy <- head; target: y\n"
               "top TopKAccuracy <- head; target: y\n");
}

std::string unitProject() {
  return R"({
  "loom": 1,
  "networks": {"main": {
    "nodes": [
      {"id": "x", "layer": "Input", "shape": [3, 8, 8]},
      {"id": "stage", "unit": "Stage", "channels": 4, "blocks": 3},
      {"id": "tied", "unit": "Block", "channels": 8, "repeat": 2, "shares": "tied"},
      {"id": "drop", "layer": "Dropout", "probability": "=(k+1)/10", "group": "body"},
      {"id": "conv", "layer": "Convolution", "channels": "=Input[0]", "group": "body"},
      {"id": "pool", "layer": "GlobalAveragePooling"},
      {"id": "fc", "layer": "Linear", "outputs": "=pool[0]/2"},
      {"id": "y", "layer": "Input", "shape": ["=1"], "type": "label"},
      {"id": "loss", "layer": "SoftmaxCrossEntropy"}
    ],
    "edges": [["x", "stage"], ["stage", "tied"], ["tied", "drop"], ["drop", "conv"], ["conv", "pool"], ["pool", "fc"], ["fc", "loss"], ["y", "loss.target"]],
    "groups": [{"id": "body", "repeat": 2, "counter": "k"}],
    "comments": [{"id": "note", "text": "look", "at": [0, 0]}]
  }},
  "units": {
    "Stage": {
      "arguments": {"channels": 8, "blocks": 2},
      "nodes": [
        {"id": "in", "layer": "Input"},
        {"id": "first", "unit": "Block", "channels": "=channels", "stride": 2},
        {"id": "more", "unit": "Block", "channels": "=channels*i+channels", "repeat": "=blocks-1"},
        {"id": "out", "layer": "Output"}
      ],
      "edges": [["in", "first"], ["first", "more"], ["more", "out"]]
    },
    "Block": {
      "arguments": {"channels": 8, "stride": 1, "padding": "same"},
      "nodes": [
        {"id": "in", "layer": "Input"},
        {"id": "conv", "layer": "Convolution", "channels": "=channels", "stride": ["=stride", "=stride"], "padding": "=padding"},
        {"id": "relu", "layer": "ReLU"},
        {"id": "out", "layer": "Output"}
      ],
      "edges": [["in", "conv"], ["conv", "relu"], ["relu", "out"]]
    }
  },
  "datasets": {"training": {"csv": "train.csv"}}
}
)";
}

std::string ganProject() {
  return R"({
  "loom": 1,
  "networks": {
    "discriminate": {
      "nodes": [
        {"id": "x", "layer": "Input", "shape": [2]},
        {"id": "z", "layer": "Input", "shape": [4], "source": "normal"},
        {"id": "g1", "layer": "Linear", "outputs": 8},
        {"id": "g2", "layer": "Linear", "outputs": 2},
        {"id": "d1", "layer": "Linear", "outputs": 8},
        {"id": "d2", "layer": "Linear", "outputs": 1},
        {"id": "real", "layer": "Input", "shape": [1], "source": "constant", "value": 1.0},
        {"id": "real_loss", "layer": "BinaryCrossEntropy"},
        {"id": "d1_fake", "layer": "Linear", "shares": "d1", "outputs": 8},
        {"id": "d2_fake", "layer": "Linear", "shares": "d2", "outputs": 1},
        {"id": "fake", "layer": "Input", "shape": [1], "source": "constant"},
        {"id": "fake_loss", "layer": "BinaryCrossEntropy"}
      ],
      "edges": [
        ["x", "d1"],
        ["d1", "d2"],
        ["d2", "real_loss"],
        ["real", "real_loss.target"],
        ["z", "g1"],
        ["g1", "g2"],
        ["g2", "d1_fake"],
        ["d1_fake", "d2_fake"],
        ["d2_fake", "fake_loss"],
        ["fake", "fake_loss.target"]
      ]
    },
    "generate": {
      "nodes": [
        {"id": "z", "layer": "Input", "shape": [4], "source": "normal"},
        {"id": "g1", "layer": "Linear", "outputs": 8},
        {"id": "g2", "layer": "Linear", "outputs": 2},
        {"id": "d1", "layer": "Linear", "outputs": 8},
        {"id": "d2", "layer": "Linear", "outputs": 1},
        {"id": "wish", "layer": "Input", "shape": [1], "source": "constant", "value": 1.0},
        {"id": "loss", "layer": "BinaryCrossEntropy"}
      ],
      "edges": [["z", "g1"], ["g1", "g2"], ["g2", "d1"], ["d1", "d2"], ["d2", "loss"], ["wish", "loss.target"]]
    }
  },
  "datasets": {"training": {"csv": "points.csv"}},
  "training": [
    {
      "network": "discriminate",
      "epochs": 5,
      "batch": 32,
      "parameters": ["d?/*"],
      "optimizer": {"name": "Adam", "learning_rate": 0.002}
    },
    {"network": "generate", "parameters": ["g?/*"], "every": 2}
  ]
}
)";
}

std::string exampleProject() {
  return R"({
  "loom": 1,
  "networks": { "main": {
    "nodes": [ {"id": "x", "layer": "Input", "shape": [1, 28, 28], "at": [0, 0]},
               {"id": "conv1", "layer": "Convolution", "channels": 32, "kernel": [3, 3]},
               {"id": "relu1", "layer": "ReLU"},
               {"id": "fc", "layer": "Linear", "outputs": 10},
               {"id": "y", "layer": "Input", "shape": [1], "type": "label"},
               {"id": "loss", "layer": "SoftmaxCrossEntropy"} ],
    "edges": [ ["x", "conv1"], ["conv1", "relu1"], ["relu1", "fc"], ["fc", "loss"], ["y", "loss.target"] ] } },
  "datasets": { "training": {"csv": "data/train.csv", "prepare": [{"step": "Scale", "by": 0.00392156862745098}]},
                "validation": {"csv": "data/test.csv"} },
  "training": { "network": "main", "dataset": "training", "validation": "validation", "epochs": 10,
                "batch": 128, "accumulate": 1, "precision": "f32", "seed": 1,
                "optimizer": {"name": "Momentum", "learning_rate": 0.01, "momentum": 0.9, "weight_decay": 0.0005},
                "schedule": {"name": "Cosine"}, "warmup": {"epochs": 1} }
})";
}

std::vector<std::string> messages(const std::vector<Problem>& problems) {
  std::vector<std::string> texts;
  for (const Problem& problem : problems) texts.push_back(problem.message);
  return texts;
}

}  // namespace loom
