#include "engine/network/network.h"

#include <algorithm>

namespace loom {

const Node* Network::find(std::string_view id) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.id == id; });
  return found == nodes.end() ? nullptr : &*found;
}

Node* Network::find(std::string_view id) {
  return const_cast<Node*>(std::as_const(*this).find(id));
}

std::string Network::freeId(const LayerDefinition& layer) const {
  // The names that people write: conv, bn, fc. Others are the id itself in small letters.
  static const std::map<std::string_view, std::string_view> usual = {{"Input", "x"},
                                                                     {"Convolution", "conv"},
                                                                     {"Deconvolution", "deconv"},
                                                                     {"Linear", "fc"},
                                                                     {"Embedding", "embed"},
                                                                     {"PositionEmbedding", "position"},
                                                                     {"BatchNormalization", "bn"},
                                                                     {"LayerNormalization", "ln"},
                                                                     {"LocalResponseNormalization", "lrn"},
                                                                     {"MaxPooling", "pool"},
                                                                     {"AveragePooling", "pool"},
                                                                     {"GlobalAveragePooling", "pool"},
                                                                     {"Concatenate", "concat"},
                                                                     {"MultiHeadAttention", "attention"},
                                                                     {"SoftmaxCrossEntropy", "loss"},
                                                                     {"BinaryCrossEntropy", "loss"},
                                                                     {"MeanSquaredError", "loss"},
                                                                     {"HuberLoss", "loss"},
                                                                     {"TopKAccuracy", "top5"},
                                                                     {"BinaryAccuracy", "accuracy"}};
  std::string base;
  if (const auto found = usual.find(layer.entry.id); found != usual.end()) {
    base = found->second;
  } else {
    for (char c : layer.entry.id) base += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  std::string id = base;
  for (int number = 2; find(id); ++number) id = base + std::to_string(number);
  return id;
}

}  // namespace loom
