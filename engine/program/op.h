#pragma once
// One mathematical operation: its contract, shape rule, gradient as other ops, and a plain double-precision reference.
// One file per op; `ops/README.md` is the table of all of them with inputs, outputs and attributes, and what backends
// lower. An op knows no vendor and no memory layout: tensors are row-major N-first as far as it can tell.
#include <span>
#include <string>
#include <vector>

#include "engine/base/data_type.h"
#include "engine/base/shape.h"
#include "engine/program/attributes.h"

namespace loom {

class ProgramBuilder;  // engine/program/builder.h; gradients emit ops through it
using TensorId = std::int32_t;
constexpr TensorId kNoTensor = -1;

struct TensorSpec {
  Shape shape;
  DataType type = DataType::f32;
  bool present = true;  // false: an optional input that was left out; shape and type then mean nothing
};

// A tensor of the reference executor: row-major, every number as double (indices and labels too).
struct ReferenceTensor {
  Shape shape;
  std::vector<double> values;
};

// What an operation does to each element by itself, as far as others can be joined with it.
enum class Pointwise {
  none,          // not on each element by itself, or none of those below
  relu,          // max(x, 0), of its only input
  reluGradient,  // inputs: (x, y, dy) of that
  sum,           // of its two inputs
};

struct GradientArguments {
  std::span<const TensorId> inputs;  // of the forward operation
  std::span<const TensorId> outputs;
  std::span<const TensorId> outputGradients;  // kNoTensor where nothing flows back
  std::span<const bool> wanted;               // which inputs need a gradient
  const Attributes& attributes;
};

struct OpDefinition {
  std::string name;  // "convolution_weight_gradient"
  // Output specs from input specs; throws Error(badProject) with both numbers for what cannot be.
  std::vector<TensorSpec> (*infer)(std::span<const TensorSpec> inputs, const Attributes& attributes);
  // Emits the gradient; answers one tensor (or kNoTensor) for each input. Null for ops that have none: a loss that
  // leads through one is refused, unless the op is `flat`. Contributions of several consumers are summed by the caller.
  std::vector<TensorId> (*gradient)(ProgramBuilder& builder, const GradientArguments& arguments);
  // Overwrites outputs, whose shapes are set (values too, at 0). Optional inputs that are absent come as a null
  // pointer. After the outputs come the new values of the inputs that are updated, as copies of the old ones.
  void (*reference)(std::span<const ReferenceTensor* const> inputs, std::span<ReferenceTensor> outputs,
                    const Attributes& attributes);
  // Multiply-adds of one execution; null counts none.
  double (*multiplyAdds)(std::span<const TensorSpec> inputs, std::span<const TensorSpec> outputs,
                         const Attributes& attributes);
  // "x, w, b? -> y": inputs and outputs by name and place. '?' = may be left out (kNoTensor), "..." = one and more.
  std::string signature;
  // Inputs whose memory the first output may take when both are of one size: an element of the output is written after
  // the same element of that input was read, and no other element is needed any more.
  std::vector<int> reusable;
  // Inputs that are changed in place: states (running mean and variance), weights and slots. `updatesOf` says it for an
  // op with any number of inputs; passes and backends ask updatedInputs().
  std::vector<int> updates;
  std::vector<int> (*updatesOf)(std::size_t inputs, const Attributes& attributes);
  // The place of the input that the first output always equals (a scale by 1, a transpose that moves nothing), -1 where
  // it may differ. Null: it may always differ.
  int (*equals)(std::span<const TensorSpec> inputs, std::span<const TensorSpec> outputs, const Attributes& attributes);
  // Whether this operation, reading the output of one of the same op, answers what that one read, as long as the shapes
  // agree (a transpose that undoes a transpose). Null: never.
  bool (*undoes)(const Attributes& attributes, const Attributes& earlier);
  // Of an op that changes states: the op that gives its first output again, to the bit, and changes nothing. It takes
  // the inputs that are not updated, and behind them the other outputs, which are kept for it. Null: there is none; a
  // pure operation is simply repeated.
  const char* again = nullptr;
  // Null: none.
  Pointwise (*pointwise)(const Attributes& attributes) = nullptr;
  // Takes statistics of the samples that are computed at once, unless its attribute `synchronised` says of all ranks';
  // what it keeps of them in the states that it updates goes by its attribute `momentum`.
  bool batchStatistics = false;
  // The output is the first input's bytes under another shape.
  bool isView = false;
  // Without a gradient, and rightly so: the derivative is 0 wherever there is one (an accuracy).
  bool flat = false;
  // Other ranks take part (communication.h): never dead and never merged with its like, whatever this rank reads of it.
  bool communicates = false;

  // A function of its inputs and attributes (noise too) and nothing else: may be dropped, or computed once for several.
  bool isPure() const { return updates.empty() && updatesOf == nullptr && !communicates; }
};

// `signature`, taken apart.
struct OpSignature {
  struct Input {
    std::string name;
    bool optional = false;
  };
  std::vector<Input> inputs;
  std::vector<std::string> outputs;
  bool several = false;  // the last input may come any number of times, and at least once
};
OpSignature signatureOf(const OpDefinition& op);
// The input specs with what was left out at the end filled in as absent. Throws Error(badProject) for a wrong number.
std::vector<TensorSpec> completeInputs(const OpDefinition& op, std::span<const TensorSpec> inputs);

// The places of the inputs that an operation with so many of them changes in place.
std::vector<int> updatedInputs(const OpDefinition& op, std::size_t inputs, const Attributes& attributes);

std::span<const OpDefinition* const> opTable();
// Throws Error(internal) for a name that is not in the table.
const OpDefinition& findOp(std::string_view name);

}  // namespace loom
