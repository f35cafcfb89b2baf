#include "engine/network/network.h"

#include <algorithm>
#include <unordered_set>

namespace loom {

const Node* Network::find(std::string_view id) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.id == id; });
  return found == nodes.end() ? nullptr : &*found;
}

Node* Network::find(std::string_view id) {
  return const_cast<Node*>(std::as_const(*this).find(id));
}

namespace {

template <class T>
const T* findIn(const std::vector<T>& all, std::string_view id) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const T& each) { return each.id == id; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

const Group* Network::group(std::string_view id) const {
  return findIn(groups, id);
}

Group* Network::group(std::string_view id) {
  return const_cast<Group*>(std::as_const(*this).group(id));
}

const Comment* Network::comment(std::string_view id) const {
  return findIn(comments, id);
}

Comment* Network::comment(std::string_view id) {
  return const_cast<Comment*>(std::as_const(*this).comment(id));
}

const Argument* Network::argument(std::string_view wanted) const {
  const auto found =
      std::find_if(arguments.begin(), arguments.end(), [&](const Argument& each) { return each.name == wanted; });
  return found == arguments.end() ? nullptr : &*found;
}

std::string Network::freeId(const std::string& wanted) const {
  if (!find(wanted) && !group(wanted) && !comment(wanted)) return wanted;
  std::unordered_set<std::string_view> taken;  // asked for each number: a drawing may hold thousands of one kind
  for (const Node& node : nodes) taken.insert(node.id);
  for (const Group& each : groups) taken.insert(each.id);
  for (const Comment& each : comments) taken.insert(each.id);
  std::string id;
  for (int number = 2; id.empty() || taken.contains(id); ++number) id = wanted + std::to_string(number);
  return id;
}

bool isArgumentName(std::string_view name) {
  static constexpr std::string_view kKeys[] = {"id", "layer", "unit", "at", "shares", "group", "repeat"};
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !name.empty() && name.size() <= 64 && letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '_';
  }) && std::find(std::begin(kKeys), std::end(kKeys), name) == std::end(kKeys);
}

std::string Network::freeId(const LayerDefinition& layer) const {
  // The names that people write: conv, bn, fc. Others are the id itself in small letters.
  static const std::map<std::string_view, std::string_view> usual = {{"Input", "x"},
                                                                     {"Output", "y"},
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
  return freeId(base);
}

}  // namespace loom
