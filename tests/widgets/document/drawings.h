#pragma once
// Networks that several tests of the document and the canvas use.
#include <string>

#include "engine/base/json.h"
#include "engine/network/project.h"

namespace loom::drawings {

// x -> conv -> relu -> pool -> fc -> loss <- y
inline const char* const kSmall = R"({"loom": 1, "networks": {"main": {
  "nodes": [{"id": "x", "layer": "Input", "shape": [1, 8, 8], "at": [0, 0]},
            {"id": "conv", "layer": "Convolution", "channels": 4, "at": [0, 60]},
            {"id": "relu", "layer": "ReLU", "at": [0, 120]},
            {"id": "pool", "layer": "MaxPooling", "at": [0, 180]},
            {"id": "fc", "layer": "Linear", "outputs": 10, "at": [0, 240]},
            {"id": "loss", "layer": "SoftmaxCrossEntropy", "at": [0, 324]},
            {"id": "y", "layer": "Input", "shape": [1], "type": "label", "at": [264, 240]}],
  "edges": [["x", "conv"], ["conv", "relu"], ["relu", "pool"], ["pool", "fc"], ["fc", "loss"], ["y", "loss.target"]]}},
  "datasets": {"training": {"csv": "train.csv"}},
  "training": {"network": "main", "dataset": "training", "optimizer": {"name": "SGD", "learning_rate": 0.1}}})";

// `blocks` residual blocks of seven nodes each, and a head: 7 * blocks + 6 nodes. No places.
inline std::string residual(int blocks) {
  std::string nodes = R"({"id": "x", "layer": "Input", "shape": [4, 8, 8]})", edges;
  const auto node = [&](const std::string& id, const std::string& layer, const std::string& more = {}) {
    nodes += ", {\"id\": \"" + id + "\", \"layer\": \"" + layer + "\"" + more + "}";
  };
  const auto edge = [&](const std::string& from, const std::string& to) {
    edges += (edges.empty() ? "" : ", ") + ("[\"" + from + "\", \"" + to + "\"]");
  };
  std::string last = "x";
  for (int i = 0; i < blocks; ++i) {
    const std::string b = "b" + std::to_string(i) + "_";
    node(b + "conv1", "Convolution", ", \"channels\": 4");
    node(b + "norm1", "BatchNormalization");
    node(b + "relu1", "ReLU");
    node(b + "conv2", "Convolution", ", \"channels\": 4");
    node(b + "norm2", "BatchNormalization");
    node(b + "add", "Add");
    node(b + "relu2", "ReLU");
    edge(last, b + "conv1");
    edge(b + "conv1", b + "norm1");
    edge(b + "norm1", b + "relu1");
    edge(b + "relu1", b + "conv2");
    edge(b + "conv2", b + "norm2");
    edge(b + "norm2", b + "add");
    edge(last, b + "add");
    edge(b + "add", b + "relu2");
    last = b + "relu2";
  }
  node("mean", "GlobalAveragePooling");
  node("fc", "Linear", ", \"outputs\": 10");
  node("y", "Input", ", \"shape\": [1], \"type\": \"label\"");
  node("loss", "SoftmaxCrossEntropy");
  node("accuracy", "Accuracy");
  edge(last, "mean");
  edge("mean", "fc");
  edge("fc", "loss");
  edge("y", "loss.target");
  edge("fc", "accuracy");
  edge("y", "accuracy.target");
  return "{\"loom\": 1, \"networks\": {\"main\": {\"nodes\": [" + nodes + "], \"edges\": [" + edges + "]}}}";
}

}  // namespace loom::drawings
