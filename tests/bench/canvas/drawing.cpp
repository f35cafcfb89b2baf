#include "tests/bench/canvas/drawing.h"

#include "widgets/document/arrange.h"

namespace loom::bench {

namespace {

struct Drawer {
  Network network{.name = "main"};
  void node(const std::string& id, const std::string& layer, Json values = Json::object()) {
    network.nodes.push_back({.id = id, .layer = layer, .values = std::move(values)});
  }
  void wire(const std::string& from, const std::string& to, const std::string& port = "input") {
    network.edges.push_back({{from, "output"}, {to, port}});
  }
  void head(const std::string& last) {
    node("mean", "GlobalAveragePooling");
    node("fc", "Linear", {{"outputs", 10}});
    node("y", "Input", {{"shape", {1}}, {"type", "label"}});
    node("loss", "SoftmaxCrossEntropy");
    wire(last, "mean");
    wire("mean", "fc");
    wire("fc", "loss");
    wire("y", "loss", "target");
  }
};

}  // namespace

std::string residualProject(int nodes, int wires, int columns) {
  Drawer draw;
  const int blocks = (nodes - 4 - columns) / 7 / columns;
  int more = wires - 4 - 8 * blocks * columns;  // skips over three blocks
  std::string last;
  for (int column = 0; column < columns; ++column) {
    const std::string c = "c" + std::to_string(column) + "_";
    last = c + "x";
    draw.node(last, "Input", {{"shape", {4, 8, 8}}});
    std::vector<std::string> ends;
    for (int i = 0; i < blocks; ++i) {
      const std::string b = c + "b" + std::to_string(i) + "_";
      draw.node(b + "conv1", "Convolution", {{"channels", 4}});
      draw.node(b + "norm1", "BatchNormalization");
      draw.node(b + "relu1", "ReLU");
      draw.node(b + "conv2", "Convolution", {{"channels", 4}});
      draw.node(b + "norm2", "BatchNormalization");
      draw.node(b + "add", "Add");
      draw.node(b + "relu2", "ReLU");
      draw.wire(last, b + "conv1");
      draw.wire(b + "conv1", b + "norm1");
      draw.wire(b + "norm1", b + "relu1");
      draw.wire(b + "relu1", b + "conv2");
      draw.wire(b + "conv2", b + "norm2");
      draw.wire(b + "norm2", b + "add");
      draw.wire(last, b + "add");
      if (i >= 3 && i % 2 == 0 && more-- > 0) draw.wire(ends[static_cast<std::size_t>(i) - 3], b + "add");
      draw.wire(b + "add", b + "relu2");
      last = b + "relu2";
      ends.push_back(last);
    }
  }
  draw.head(last);
  placeUnplaced(draw.network);
  for (Node& node : draw.network.nodes) node.placed = true;
  Project project;
  project.networks.push_back(std::move(draw.network));
  project.training.updates.push_back(defaultUpdate());
  return writeProject(project);
}

Network chain(int layers) {
  Drawer draw;
  draw.node("x", "Input", {{"shape", {3, 64, 64}}});
  std::string last = "x";
  static const char* const kinds[] = {"Convolution", "BatchNormalization", "ReLU"};
  for (int i = 0; i + 5 < layers; ++i) {
    const std::string id = "n" + std::to_string(i);
    draw.node(id, kinds[i % 3]);
    draw.wire(last, id);
    last = id;
  }
  draw.head(last);
  return draw.network;
}

}  // namespace loom::bench
