// Which layers "Start from data" draws: what each Input needs before it is a vector, and one head on all of them.
#include <algorithm>

#include "engine/base/error.h"
#include "engine/network/start_from_data.h"

namespace loom {
namespace start_network {

constexpr std::int64_t kHidden = 64, kFewPixels = 8;

// Letters, digits, '_' and '-'; begins with a letter.
bool isId(const std::string& text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

class StartDrawing {
 public:
  explicit StartDrawing(Network& network) : m_network(network) {}

  std::string add(const char* layer, const std::string& wanted, Json values = Json::object()) {
    const LayerDefinition& definition = *findLayer(layer);
    Node node;
    node.id = isId(wanted) ? m_network.freeId(wanted) : m_network.freeId(definition);
    node.layer = definition.entry.id;
    node.values = std::move(values);
    m_network.nodes.push_back(node);
    return node.id;
  }
  void wire(const std::string& from, const std::string& to, std::size_t port = 0) {
    m_network.edges.push_back({{from, findLayer(m_network.find(from)->layer)->entry.outputs.front().key},
                               {to, findLayer(m_network.find(to)->layer)->entry.inputs.at(port).key}});
  }
  // A layer behind another, by the name that such layers usually have.
  std::string behind(const std::string& from, const char* layer, Json values = Json::object()) {
    const std::string id = add(layer, m_network.freeId(*findLayer(layer)), std::move(values));
    wire(from, id);
    return id;
  }
  std::string input(const StartInput& given, bool label = false) {
    Json values = {{"shape", given.shape.extents()}};
    if (label) values["type"] = "label";
    const bool named = isId(given.variable) && m_network.freeId(given.variable) == given.variable;
    if (!named) values["variable"] = given.variable;
    return add("Input", given.variable, std::move(values));
  }

  std::string hidden(const std::string& from) { return behind(behind(from, "Linear", {{"outputs", kHidden}}), "ReLU"); }

  // Halves a picture until it is small, then one vector.
  std::string picture(std::string from, const Shape& shape) {
    std::int64_t side = std::min(shape[1], shape[2]), channels = 16;
    for (int block = 0; block < 4 && (block == 0 || side > kFewPixels); ++block) {
      from = behind(behind(from, "Convolution", {{"channels", channels}}), "ReLU");
      if (side >= 4) from = behind(from, "MaxPooling");
      side /= 2;
      channels = std::min<std::int64_t>(2 * channels, 64);
    }
    return hidden(from);
  }
  // As it is stored a sound is samples × channels.
  std::string sound(std::string from, const Shape& shape) {
    from = behind(from, "Transpose");
    std::int64_t length = shape[0], channels = 16;
    for (int block = 0; block < 5 && (block == 0 || length > 64); ++block) {
      from = behind(from, "Convolution",
                    {{"channels", channels}, {"kernel", Json::array({9})}, {"stride", Json::array({4})}});
      from = behind(from, "ReLU");
      length = (length + 3) / 4;
      channels = std::min<std::int64_t>(2 * channels, 64);
    }
    return hidden(behind(from, "GlobalAveragePooling"));
  }
  std::string features(const StartInput& given) {
    const std::string from = input(given);
    if (given.kind == VariableKind::wave && given.shape.rank() == 2) return sound(from, given.shape);
    if (given.shape.rank() == 3) return picture(from, given.shape);
    return hidden(from);
  }

 private:
  Network& m_network;
};

// As many pixels come out as went in.
std::string pictureToPicture(StartDrawing& drawing, const StartInput& from, const Shape& wanted) {
  std::string at = drawing.input(from);
  for (int block = 0; block < 2; ++block)
    at = drawing.behind(drawing.behind(at, "Convolution", {{"channels", 16}}), "ReLU");
  return drawing.behind(at, "Convolution", {{"channels", wanted[0]}});
}

}  // namespace start_network

void drawFromData(Network& network, const std::vector<StartInput>& inputs, const TargetChoice& target,
                  const StartInput& output) {
  using namespace start_network;
  if (inputs.empty()) throwError(ErrorCode::badArgument, "there is no column to predict '{}' from", output.variable);
  StartDrawing drawing(network);
  const bool itself = target.column.empty();  // the samples are to be found again
  const bool classes = !itself && target.kind == TargetKind::classes;
  const bool alike = inputs.size() == 1 && !itself && inputs[0].shape.rank() == 3 && output.shape.rank() == 3 &&
                     inputs[0].shape[1] == output.shape[1] && inputs[0].shape[2] == output.shape[2];
  std::string last, truth;
  if (alike && target.kind == TargetKind::picture) {
    last = pictureToPicture(drawing, inputs[0], output.shape);
  } else {
    std::vector<std::string> ends;
    if (itself) {
      truth = drawing.input(inputs[0]);
      ends = {drawing.hidden(truth)};
    } else {
      for (const StartInput& each : inputs) ends.push_back(drawing.features(each));
    }
    if (ends.size() > 1) {
      const std::string joined = drawing.add("Concatenate", "together");
      for (const std::string& end : ends) drawing.wire(end, joined);
      ends = {joined};
    }
    const std::int64_t count = classes ? std::max<std::int64_t>(target.classes, 2) : output.shape.elements();
    last = drawing.behind(drawing.hidden(ends[0]), "Linear", {{"outputs", count}});
    if (!classes && output.shape.rank() > 1)
      last = drawing.behind(last, "Reshape", {{"shape", output.shape.extents()}});
  }
  if (truth.empty()) truth = drawing.input(output, classes);
  const std::string loss = drawing.add(classes ? "SoftmaxCrossEntropy" : "MeanSquaredError", "loss");
  drawing.wire(last, loss);
  drawing.wire(truth, loss, 1);
  if (!classes) return;
  const std::string accuracy = drawing.add("Accuracy", "accuracy");
  drawing.wire(last, accuracy);
  drawing.wire(truth, accuracy, 1);
}

}  // namespace loom
