#pragma once
// A program meets a machine. compile() decides everything: kernels, layouts, one arena; a step then allocates nothing.
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>

#include "engine/base/json_fwd.h"
#include "engine/program/buffer_plan.h"
#include "engine/program/parameter_store.h"
#include "engine/program/program.h"
#include "engine/program/step_cost.h"

namespace loom {

class Collectives;
class Trace;

// What was done to keep a step within CompileOptions::memoryBudget.
struct Recomputation {
  std::size_t without = 0, with = 0;  // bytes of the arena
  int operations = 0;                 // that are computed again in the backward part
  double multiplyAdds = 0;            // of these
};

struct CompileOptions {
  DataType precision = DataType::f32;
  // Factors of products and convolutions that stand in f32 may be rounded to TF32's 11 bits, where the machine has it;
  // processors have none and compute the same with and without.
  bool tf32 = false;
  int threads = 0;  // 0 = as many as the affinity mask allows
  // Bytes of what lives during a step alone (Extent::shared) where the program has a backward part: what does not fit
  // is computed again, with the same bits. 0 = no limit. One that cannot be kept is Error(badProject).
  std::size_t memoryBudget = 0;
  std::int64_t passes = 1;                 // of a step: how often it runs between two changes of the weights
  Recomputation* recomputation = nullptr;  // where to tell what was done for it; null: nobody asks
  Collectives* collectives = nullptr;      // for all_reduce and synchronised statistics; null: a group of one
  Trace* trace = nullptr;                  // where stages are recorded
  bool profile = false;                    // counts the processor time of its stages, of a machine that can
};

struct StepOptions {
  std::int64_t step = 0;         // scalar "step"
  std::int64_t firstSample = 0;  // scalar "first_sample"
  double lossScale = 1;          // scalar "loss_scale"
  // In f16: what the loss's gradient is multiplied with besides, and every parameter's gradient is divided by where it
  // is delivered to the store, so that small ones do not vanish on their way. A power of two.
  double gradientScale = 1;
  bool accumulate = false;  // parameter gradients: added to instead of overwritten
  bool exchange = false;    // the last pass of a step: gradients leave for other ranks
  // Every rank runs the same program in this step, with the same `accumulate` and `exchange`: a machine may then record
  // the step with its exchanges once and play it again.
  bool everywhere = false;
  double learningRate = 0;                                    // scalar "learning_rate"
  std::int64_t updateCount = 1;                               // scalar "update_count"
  double clipNorm = std::numeric_limits<double>::infinity();  // scalar "clip_norm"
};

// The scalar of that name. Throws Error(internal) for one that no step gives.
double scalarOf(const StepOptions& options, std::string_view name);
// What the store owns of a program's tensors (parameters, their gradients, states, slots), made where it is not there
// yet. Null for every other tensor.
StoredTensor* storedTensor(ParameterStore& store, const Tensor& tensor);
// All that operations of the program change in place: whoever ran it tells them by changed().
std::vector<StoredTensor*> updatedTensors(ParameterStore& store, const Program& program);

// The steps of an executable, from 1 in the order in which they were begun.
using StepNumber = std::int64_t;
inline constexpr StepNumber kNewestStep = 0;

// One program on one machine, bound to one store. Not thread-safe. A machine of its own is given the next step while
// it works on the one before: a step's results are asked for by its number, and asking waits.
class Executable {
 public:
  virtual ~Executable() = default;

  // Where the caller writes the batch of an input for the next run(): row-major, in the input tensor's type. Throws
  // Error(internal) for a name that the program lacks. Valid until that run(), for several places may take turns.
  virtual std::span<std::byte> input(std::string_view name) = 0;
  // Begins a step, and answers its number.
  virtual StepNumber run(const StepOptions& options) = 0;
  // How many steps' results can be read, the newest included. 1: a step is done when run() returns; no other machine
  // works meanwhile.
  virtual int resultsKept() const { return 1; }
  // A result of rank 0. Waits until it is there; throws Error(internal) for a step that is not kept.
  virtual double scalarResult(std::string_view name, StepNumber step = kNewestStep) const = 0;
  // The same of a result of any rank and type, copied row-major into `to`.
  virtual void readResult(std::string_view name, std::span<float> to, StepNumber step = kNewestStep) const = 0;
  virtual void readResult(std::string_view name, std::span<double> to, StepNumber step = kNewestStep) const = 0;

  virtual const Program& program() const = 0;
  // "arena_bytes", "operations" (kernel, implementation, layout, origin), "reorders": for plan, tests and bug reports.
  virtual Json describe() const = 0;
  // What a step of it asks of the machine; nothing of one that cannot tell.
  virtual StepCost cost() const { return {}; }
};

// Which step is asked for: `step`, or the newest of all. Throws Error(internal) where it is not among the last `kept`.
StepNumber keptStep(StepNumber step, StepNumber newest, int kept);

// A machine: compiles programs for itself.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;  // "cpu", "cuda", "reference"
  // Whether images had better come to it as the bytes that a dataset holds, and be prepared by the program: where the
  // way is long and arithmetic is cheap.
  virtual bool preparesImages() const { return false; }
  // For a parameter store whose tensors this machine computes with.
  virtual std::unique_ptr<TensorMemory> makeMemory() = 0;
  // Keeps a reference to `store`, whose tensors must not move (ParameterStore guarantees it) and stand in memory of
  // this machine. What only lives during a step stands in one arena of the backend, as large as its largest executable
  // wants it: one step of one executable at a time.
  virtual std::unique_ptr<Executable> compile(Program program, ParameterStore& store,
                                              const CompileOptions& options) = 0;
  // What compile() would take besides the store, decided in the same way; nothing is allocated on the machine.
  virtual BufferPlan::Extent measure(Program program, const CompileOptions& options) = 0;
};

// Every op by its double-precision reference: slow, for tests and gradient checks. Stores and results stay f32 outside.
std::unique_ptr<Backend> makeReferenceBackend();

}  // namespace loom
