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
  std::vector<TensorId> slots, matrices;
};

// What is kept for a tensor in a shape of its own, zero at first; its name differs from those of slots.
struct ProductMatrix {
  std::string name;
  Shape shape;
};

// A tensor's slots and matrices, by name, for what is done on the host.
class ProductStore {
 public:
  virtual ~ProductStore() = default;
  virtual std::vector<float> read(std::string_view name) const = 0;
  virtual void write(std::string_view name, std::span<const float> values) = 0;
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
  // What the weight, each slot and each matrix become, in this order; kNoTensor, and what is left out at the end:
  // stays.
  virtual std::vector<TensorId> emit(ProgramBuilder& builder, const ProductInputs& inputs) const = 0;

  // Of a rule that keeps matrices. An update is then up to three things: statistics, which are a program of their own;
  // emit()'s program; and the host's work, every so many updates, between the two or behind both. Where a gradient is
  // not finite, none of them changes anything.
  virtual std::vector<ProductMatrix> matrices(const Shape&) const { return {}; }
  // What the matrices become from this step's gradient before the host works on them, as emit() answers it; of slots
  // and matrices only the latter are given. Empty: nothing.
  virtual std::vector<TensorId> emitStatistics(ProgramBuilder&, const ProductInputs&) const { return {}; }
  virtual bool worksBehind() const { return false; }
  // Whether the host works in update `number`, from 1. Where it never has worked on a tensor, it does so besides.
  virtual bool dueOnHost(std::int64_t /*number*/) const { return false; }
  // The host's work on a tensor; all ranks that have the tensor do the same. `first`: it never has worked on it. False:
  // there was nothing to work on yet. Throws Error(diverged).
  virtual bool workOnHost(const Shape&, std::int64_t /*number*/, bool /*first*/, ProductStore&) const { return false; }
  // The matrix in which its work shows: it is not zero any more then.
  virtual std::string shownOnHost(const Shape&) const { return {}; }

  // Whether each tensor that it takes is to be stepped by one rank alone, which gives it to the others; and how much
  // work a tensor of this shape is beside others.
  virtual bool oneRankEach() const { return false; }
  virtual double work(const Shape& shape) const { return static_cast<double>(shape.elements()); }
};

}  // namespace loom
