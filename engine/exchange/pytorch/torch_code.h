#pragma once
// One node as lines of Python: a module where torch.nn has one, operations of torch otherwise.
#include <string>
#include <string_view>
#include <vector>

#include "engine/exchange/exporter.h"
#include "engine/layers/layer.h"
#include "engine/program/program.h"

namespace loom::torch {

// A node with what surrounds it.
struct NodeCode {
  const Node& node;
  const LayerDefinition& layer;
  Values values;
  std::vector<Shape> inputs;           // of one sample, by port; a port that takes several gives several
  std::vector<DataType> types;         // of the inputs
  std::vector<Shape> outputs;          // of one sample
  std::string name;                    // of its module and its parameters: self.NAME
  std::vector<std::string> arguments;  // expressions of its inputs; empty for an optional one that is not wired
  std::string batch;                   // how many samples there are: "len(x)"

  // To be filled: lines of __init__ and of forward, the expression of the result, and where each parameter goes.
  std::vector<std::string> init{}, forward{};
  std::string result{};
  struct Weight {
    std::string leaf;  // "weight", "gamma": of our parameter
    std::string key;   // of the state_dict, behind the name: "weight"
    enum class Change { none, zeroSecondBias } change = Change::none;
  };
  std::vector<Weight> weights{};
  bool makesModule = true;  // false: the lines of __init__ stand there already, of a node whose weights it shares

  void module(std::string_view type,
              std::string arguments);  // self.NAME = nn.TYPE(ARGUMENTS); the result is its call on the first input
  const std::string& input(std::size_t i = 0) const { return arguments[i]; }
};

// As a person writes it: 3 for [3, 3], (3, 5) for [3, 5].
std::string tuple(const std::vector<std::int64_t>& numbers);
std::string whole(const std::vector<std::int64_t>& numbers);  // (3, 3), whatever the numbers
std::string number(double value);
std::string truth(bool value);

// With a module or function of torch that a person would take; false where none is known.
bool writeLayer(NodeCode& code);
// From the operations that the layer lowers to. Throws Error(badProject) for one that is not known.
void writeOperations(NodeCode& code);

}  // namespace loom::torch
