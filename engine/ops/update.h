#pragma once
// The op `update` taken apart, for its reference and for backends: its inputs by name, its rule, and the settings of
// each tensor.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/optimizers/optimizer.h"
#include "engine/program/op.h"

namespace loom {

struct UpdateInputs {
  TensorId learningRate, updateCount, clipNorm, squares;  // clipNorm: may be kNoTensor
};

struct UpdateOfTensor {
  std::size_t weight, gradient, firstSlot;  // places among the operation's inputs; slots stand behind each other
  std::size_t average;                      // of the weights: behind the slots, where averages are kept
  std::size_t square;                       // place of its gradient's among the squares, and of its ratio
  double weightDecay;
  bool scaled;  // by its trust ratio, where the rule has one
};

// A state that takes the value of another tensor where the update is made: places among the inputs.
struct StateOfUpdate {
  std::size_t state, becomes;
};

struct UpdateSettings {
  std::unique_ptr<Optimizer> rule;
  std::size_t slots = 0;           // of the rule
  double averageDecay = 0;         // of an exponential average of the weights; 0: none is kept
  std::int64_t stepsPerEpoch = 1;  // for rules that follow epochs
  std::vector<UpdateOfTensor> tensors;
  std::size_t kept() const { return slots + (averageDecay > 0 ? 1 : 0); }  // tensors beside each weight
};
// Those of an operation with so many inputs.
std::vector<StateOfUpdate> statesOf(const UpdateSettings& settings, std::size_t inputs);

// The place of the scalar that counts epochs in such steps: the last input, of rules that follow epochs.
std::optional<std::size_t> epochInput(const UpdateSettings& settings, std::size_t inputs);

inline UpdateInputs updateInputs(const std::vector<TensorId>& inputs) {
  return {inputs[0], inputs[1], inputs[2], inputs[3]};
}

// Throws Error(badProject) for a rule or for values that there are not.
UpdateSettings updateSettings(const Attributes& attributes);

// The attributes of the rule with these values; one weight decay and one `scaled` for each tensor. `stepsPerEpoch`: for
// rules that follow epochs. Where squares of other gradients stand among those of the tensors, the attribute
// `squares_at` has each tensor's place.
Attributes updateAttributes(const OptimizerDefinition& definition, const Values& values,
                            std::vector<double> weightDecay, std::vector<std::int64_t> scaled,
                            std::int64_t stepsPerEpoch = 1);

}  // namespace loom
