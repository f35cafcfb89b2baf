#pragma once
// An update rule: prepare -> reductions (per tensor or global) -> elementwise update. Its arithmetic is written once
// (rules/); here is what a backend on the host, the references and the form see of it. State is kept in the parameter
// store by parameter name and slot name.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalogue/entry.h"
#include "engine/optimizers/evaluated.h"
#include "engine/optimizers/rules/rule.h"

namespace loom {

// Elements [0, count) of one tensor.
template <class T>
struct UpdateRangeOf {
  T* weight;
  const T* gradient;
  T* slots[kMostSlots];
  std::int64_t count;
};
using UpdateRange = UpdateRangeOf<float>;
using ReferenceRange = UpdateRangeOf<double>;

// A rule as another machine's kernels take it: kName, and the plain struct of its hyper-parameters, bit for bit.
struct PlainRule {
  std::string_view name;
  std::span<const std::byte> bytes;  // the Optimizer's
  std::size_t constantsBytes;        // of the rule's Constants<float>
};

// A rule bound to its hyper-parameters. One that `measures` is called in two passes: measure() over every range of a
// tensor, then update() with the tensorScale() of the sums; measure() may change slots, never weights. Others only get
// update(). Any thread.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual std::span<const std::string> slots() const = 0;
  virtual void update(const UpdateRange& range, const UpdateScalars& scalars) const = 0;  // one thread, vectorised
  virtual void update(const ReferenceRange& range, const UpdateScalars& scalars) const = 0;

  virtual bool followsEpochs() const = 0;  // reads UpdateScalars::epoch
  // It averages its own steps: what it reads there is not the epochs, but this step's share of the average so far.
  virtual bool weighsSteps() const = 0;
  // What is to be evaluated in place of each weight; none: the weight. The slot begins as the weight.
  virtual std::optional<EvaluatedFrom> evaluated() const = 0;
  virtual bool measures() const = 0;
  virtual UpdateSums measure(const UpdateRange&, const UpdateScalars&) const = 0;
  virtual UpdateSums measure(const ReferenceRange&, const UpdateScalars&) const = 0;
  virtual double tensorScale(const UpdateSums&, const UpdateScalars&) const = 0;  // 1 for rules that do not measure
  // Kinds (bias, normalisation) or patterns of names whose tensorScale is 1 whatever their norms.
  virtual std::span<const std::string> unscaled() const = 0;
  virtual PlainRule plain() const = 0;
};

// How a rate follows the batch: in proportion, or by the square root where a rule divides by the gradient's size.
enum class RateScaling { linear, squareRoot };

// What is said of a rule to those who choose one, and advise on it.
struct OptimizerTraits {
  RateScaling rateScaling = RateScaling::linear;
  bool stepsPerTensor = false;  // each tensor's step has a length of its own: the rate need not follow the batch
  // Fields that mean the same under every rule that has them: a value given to one stays when the rule is changed.
  std::vector<std::string> common = {"weight_decay", "momentum"};
};

class ProductRule;

struct OptimizerDefinition {
  Entry entry;  // fields: learning_rate, weight_decay and the rule's own, with the defaults users know
  std::unique_ptr<Optimizer> (*make)(const Values& values);
  OptimizerTraits traits = {};
  // Of a rule with products: how it steps those tensors that it takes (product_rule.h); the others are make()'s.
  std::unique_ptr<ProductRule> (*products)(const Values& values) = nullptr;
  bool evaluates = false;  // has weights to evaluate of its own (Optimizer::evaluated())
};

std::span<const OptimizerDefinition* const> optimizerTable();
const OptimizerDefinition* findOptimizer(std::string_view name);

}  // namespace loom
