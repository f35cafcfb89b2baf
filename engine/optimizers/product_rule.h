#pragma once
// A rule that contains products: its step on a tensor is a program of ops, so every machine that knows these can take
// it. What an op by itself cannot say (nothing is changed where a gradient is not finite) the op `update` does, which
// puts the new values in their places.
#include <span>
#include <string>
#include <vector>

#include "engine/program/builder.h"

namespace loom {

// Of one tensor, in the program of an update.
struct ProductInputs {
  TensorId weight = kNoTensor, gradient = kNoTensor;  // the gradient is clipped already
  TensorId learningRate = kNoTensor;                  // one number
  double weightDecay = 0;
  std::vector<TensorId> slots;
};

class ProductRule {
 public:
  virtual ~ProductRule() = default;
  virtual std::span<const std::string> slots() const = 0;
  // Whether it can step a weight of this shape.
  virtual bool fits(const Shape& shape) const = 0;
  // What it leaves to the elementwise rule whatever its shape: kinds of parameters, patterns of names, "embedding", and
  // "last", behind which no other weight comes on the way to the loss.
  virtual std::span<const std::string> leaves() const = 0;
  // What the learning rate is multiplied with for tensors that it does not take.
  virtual double restRate() const { return 1; }
  // What the weight and each slot become, in this order.
  virtual std::vector<TensorId> emit(ProgramBuilder& builder, const ProductInputs& inputs) const = 0;
};

}  // namespace loom
