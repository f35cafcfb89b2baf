#pragma once
// A drawing as arithmetic: operations in execution order over tensors whose shapes are all known. Everything a backend
// decides, it decides from this before the first step.
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/data_type.h"
#include "engine/base/shape.h"
#include "engine/program/op.h"

namespace loom {

enum class TensorRole {
  input,              // filled by the caller before a step: a batch of a dataset variable, N first
  scalar,             // rank 0, set by the caller before a step: see kStepScalar and the others
  parameter,          // owned by the parameter store under `name`; read, and written by an optimizer's step
  parameterGradient,  // owned by the store; `name` is the parameter's name. Overwritten, or added to (StepOptions);
                      // read as it stands there where no operation of the program computes it
  slot,               // owned by the store; `name` is slotName(). Read and written by an optimizer's step
  state,              // owned by the store under `name`; read and written (running mean and variance)
  constant,           // `value` everywhere
  intermediate,       // lives in the executable's arena
};

// Scalars that a program may read. The step counts updates from 0; the first sample is the place of this batch's row 0
// in the global batch: dropout and noise are functions of (seed, node, step, first sample + row).
inline constexpr const char* kStepScalar = "step";
inline constexpr const char* kFirstSampleScalar = "first_sample";
// What the loss's gradient is multiplied with: shard samples / batch samples, times a loss scale. 1 when absent.
inline constexpr const char* kLossScaleScalar = "loss_scale";
// Of an optimizer's step: after schedule and warm-up; the number of this update, from 1; what the gradients' common
// norm is clipped to, infinity for none.
inline constexpr const char* kLearningRateScalar = "learning_rate";
inline constexpr const char* kUpdateCountScalar = "update_count";
inline constexpr const char* kClipNormScalar = "clip_norm";

struct Tensor {
  std::string name;  // input: the Input node's id; parameter, state: "conv1/weight"; else "conv1" or "conv1.gradient"
  Shape shape;
  DataType type = DataType::f32;
  TensorRole role = TensorRole::intermediate;
  double value = 0;  // of a constant
};

struct Operation {
  const OpDefinition* op = nullptr;
  std::vector<TensorId> inputs;  // kNoTensor = optional input left out
  std::vector<TensorId> outputs;
  Attributes attributes;
  std::string origin;  // id of the node it came from: errors, profiles and costs are told by it
  bool backward = false;
};

enum class ParameterKind { weight, bias, normalisation };  // the last two are left out of weight decay by default

enum class InitializerKind { zeros, ones, constant, normal, uniform, given };

// Element i of parameter `name` = f(Philox(seed, name), i): the same on every machine and number of ranks.
struct Initializer {
  InitializerKind kind = InitializerKind::zeros;
  double scale = 0;  // constant: the value; normal: standard deviation; uniform: bound b of [-b, b)
  std::shared_ptr<const std::vector<double>> values = {};  // given: as many as the parameter has elements
};

struct Parameter {
  std::string name;
  Shape shape;
  ParameterKind kind = ParameterKind::weight;
  Initializer initializer;
  bool isState = false;  // running statistics: no gradient, no optimizer
};

// What an optimizer keeps for a parameter, "conv1/weight#momentum", as checkpoints name it; and taken apart.
std::string slotName(std::string_view parameter, std::string_view slot);
std::pair<std::string, std::string> parameterAndSlot(std::string_view name);

enum class ResultKind { output, loss, metric };
std::string_view toString(ResultKind kind);

// How a metric that is no mean over samples comes about: a run of the program gives a vector of numbers, sums are kept
// of these over batches and ranks, and the number is made of the sums at the end. So an uneven last batch weighs what
// it holds. Objects of it live as long as the process.
struct ResultSums {
  // Adds one run's numbers to the sums, which are as many. Null: each to its own.
  void (*accumulate)(std::span<const double> run, std::span<double> sums);
  double (*finish)(std::span<const double> sums);  // NaN where they say nothing
};

// A value that leaves the program: rank 0 for losses and for metrics that are means over samples.
struct NamedResult {
  std::string name;  // the node's id ("loss", "accuracy", "fc")
  ResultKind kind = ResultKind::output;
  TensorId tensor = kNoTensor;
  const ResultSums* sums = nullptr;  // of a metric whose tensor is a vector to be summed; null: a mean over samples
};

struct Program {
  std::vector<Tensor> tensors;
  std::vector<Operation> operations;
  std::vector<Parameter> parameters;  // states included, in order of first use
  std::vector<NamedResult> results;
  std::int64_t batch = 0;  // N
  std::uint64_t seed = 1;
  bool training = false;  // has a backward part

  const Tensor& tensor(TensorId id) const { return tensors[static_cast<std::size_t>(id)]; }
  TensorId findTensor(std::string_view name, TensorRole role) const;  // kNoTensor when there is none
  const Parameter* findParameter(std::string_view name) const;        // null when there is none
  // The specs of tensors, absent where kNoTensor: what an op's rules take.
  std::vector<TensorSpec> specs(const std::vector<TensorId>& ids) const;
  // The same, with f32 for what the precision pass keeps in 16 bits: ops' rules are from before it.
  std::vector<TensorSpec> wideSpecs(const std::vector<TensorId>& ids) const;
  // Multiply-adds of one run; `backward` chooses the part.
  double multiplyAdds(bool backward) const;
  // One operation a line, for tests, bug reports and `loom plan --program`.
  std::string toString() const;
};

}  // namespace loom
