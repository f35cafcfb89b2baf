#pragma once
// A file of weights laid over a network: which tensor of the file goes to which parameter. First by name; then by the
// same path in another spelling (`layer1.0.conv1.weight` is `layer1/0/conv1/weight`); what is left by shapes in the
// order of the network, as far as these leave one answer. Nothing is guessed: of two tensors that fit alike neither is
// taken, and it is said so.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/shape.h"

namespace loom {

struct NamedShape {
  std::string name;
  Shape shape;
};

enum class MatchedBy { name, path, order };

struct WeightPair {
  std::size_t parameter = 0, tensor = 0;  // indices into what was given
  MatchedBy by = MatchedBy::name;
};

struct WeightMatch {
  std::vector<WeightPair> pairs;         // shapes equal, in the order of parameters
  std::vector<WeightPair> shapeDiffers;  // belong together by name or path, but cannot be copied
  std::vector<std::size_t> missing;      // parameters without a tensor; they begin as they would without the file
  std::vector<std::size_t> leftOver;     // tensors without a parameter
  std::string doubt;                     // where order and shapes left more than one answer, and which; empty = nowhere
};

// `parameters` in the order of execution, under our names; `tensors` in any order, under the names of whoever wrote
// them. What is no weight by its name (an optimizer's "conv1/weight#momentum", "num_batches_tracked") belongs in
// neither.
WeightMatch matchWeights(std::span<const NamedShape> parameters, std::span<const NamedShape> tensors);

// Whether a tensor of this name is part of a network, and not a counter or an optimizer's state.
bool isWeightName(std::string_view tensor);

// "53 weights matched (50 by order), 2 have another shape, 1 missing, 0 left over", and then what is not matched, a
// line each.
std::string matchText(const WeightMatch& match, std::span<const NamedShape> parameters,
                      std::span<const NamedShape> tensors);
Json toJson(const WeightMatch& match, std::span<const NamedShape> parameters, std::span<const NamedShape> tensors);

}  // namespace loom
