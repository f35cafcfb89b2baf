#pragma once
// One layer: its catalogue entry, its shape rule, and how it lowers to ops. One file per layer; no kernel.
// Costs are no rule of their own: parameters and multiply-adds are summed over the ops that the layer lowers to.
#include <span>
#include <string>
#include <vector>

#include "engine/base/shape.h"
#include "engine/catalogue/entry.h"
#include "engine/program/builder.h"

namespace loom {

struct ShapeArguments {
  std::string id;
  const Values& values;
  std::span<const Shape>
      inputs;  // of one sample, in the order of the entry's ports; a port that takes several gives several
};

struct LowerArguments {
  std::string id;
  std::string scope;  // prefix of parameter names: the node's id, or the id that its field `shares` names
  const Values& values;
  std::span<const TensorId> inputs;  // kNoTensor for an optional input that is not wired
  ProgramBuilder& builder;
};

// What a layer is to the network. Losses and metrics are results: they take a target, leave the program by themselves,
// and nothing is wired behind them.
enum class LayerRole { layer, input, output, loss, metric };

constexpr bool isResult(LayerRole role) {
  return role == LayerRole::loss || role == LayerRole::metric;
}

enum class Goal { lower, higher };  // which way a result is better: for the best checkpoint, and how a table sorts

// How a result is read; what is said here of a loss holds of every loss.
struct ResultTraits {
  Goal goal = Goal::lower;
  bool isShare = false;    // from 0 to 1, which is written in percent
  bool isPrimary = false;  // of a network's metrics, runs are compared by the first such one
};

struct LayerDefinition {
  Entry entry;
  // Output shapes of one sample (without N). Throws Error(badProject) with both numbers.
  std::vector<Shape> (*shapes)(const ShapeArguments& arguments);
  // Emits ops (through builder.training() as in training or evaluation) and answers one tensor per output port.
  // Losses and metrics call builder.result() themselves and answer a rank-0 tensor.
  std::vector<TensorId> (*lower)(const LowerArguments& arguments);
  LayerRole role = LayerRole::layer;
  ResultTraits result = {};  // of a metric
};

// Every layer, losses and metrics included, in the order of the palette.
std::span<const LayerDefinition* const> layerTable();
// By id or alias, letter case ignored; null when there is none.
const LayerDefinition* findLayer(std::string_view name);
// Of a layer that is not known: LayerRole::layer.
LayerRole roleOf(std::string_view name);

}  // namespace loom
