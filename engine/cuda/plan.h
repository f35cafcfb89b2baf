#pragma once
// Compilation in the making: lowerings ask it for their tensors' buffers and append stages, each one call to the device
// with all that it reaches. Addresses are known when every operation is lowered; calls are made then, once.
#include <array>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/cuda/calls.h"
#include "engine/cuda/device.h"
#include "engine/cuda/kernels/convert.h"
#include "engine/passes/fusion.h"
#include "engine/passes/precision.h"
#include "engine/program/backend.h"
#include "engine/program/buffer_plan.h"
#include "engine/program/step_cost.h"

namespace loom {
class RankGroup;
}

namespace loom::cuda {

inline constexpr std::size_t kScalarLine = 64;  // bytes from one scalar to the next
// So many bytes in whole lines.
inline std::size_t inLines(std::size_t bytes) {
  return (bytes + kScalarLine - 1) / kScalarLine * kScalarLine;
}

// A buffer of the device that a call reads or writes.
struct Operand {
  Ref<std::byte> at;
  std::size_t bytes = 0;
  DataType type = DataType::f32;
  // Bytes that a call moves of it, where those are not all that it spans: rows with gaps, a workspace.
  std::optional<std::size_t> moved = {};

  explicit operator bool() const { return static_cast<bool>(at); }  // false: an optional input that was left out
  Operand moving(std::size_t some) const {
    Operand made = *this;
    made.moved = some;
    return made;
  }
  // The device's address, once it is known; null for what was left out. T says how the kernel takes it.
  template <class T = std::byte>
  T* address() const {
    return reinterpret_cast<T*>(at.get());
  }
};

struct Stage {
  std::string kernel;          // "softmax.bf16", "convolution"
  std::string implementation;  // "own", "cudnn", "cublaslt", "device"
  std::string layout;
  std::string origin;
  std::vector<Operand> reads, writes;
  std::function<Call()> bind;
  double multiplyAdds = 0;
  StageKind kind = StageKind::memory;
  DataType factors = DataType::f32;  // of what is multiplied
  bool tf32 = false;                 // they may be rounded
  std::string op;                    // as StageCost has it
  // Between ranks, in turn with all others of the step: what follows waits for it; or gradients, of a step that
  // exchanges them alone, for which its end waits.
  enum class Exchange { none, awaited, gradients };
  Exchange exchange = Exchange::none;
  RankGroup* group = nullptr;  // of an exchange that is awaited

  void settle();  // once its operands have addresses: the call, and all that it reaches
  Call call;
  std::vector<Access> accesses;
};

class Plan {
 public:
  Plan(const Program& program, ParameterStore& store, Device& device, const CompileOptions& options);

  const Program& program() const { return m_program; }
  const Tensor& tensor(TensorId id) const { return m_program.tensor(id); }
  const Shape& shape(TensorId id) const { return tensor(id).shape; }
  // The type in which products and convolutions take their factors: the run's precision.
  DataType factors() const { return m_factors; }
  // Whether factors of this type may be rounded to TF32.
  bool roundsToTf32(DataType type) const { return m_tf32 && type == DataType::f32; }
  Device& device() const { return m_device; }
  Collectives* collectives() const { return m_collectives; }  // null: a group of one
  const std::string& origin() const;
  const FusedOutput& fused() const { return m_fusion.outputs[static_cast<std::size_t>(m_buffers.now())]; }
  const FusedOutput& fusedOf(std::size_t operation) const { return m_fusion.outputs[operation]; }
  // Whether anything reads this output: gradients that nobody asked for are not computed.
  bool wanted(TensorId id) const;

  const Layout& layoutOf(TensorId id) const { return m_buffers.layoutOf(id); }
  // The layout of the first input that has this one's rank and stands in one that is not plain; else plain.
  Layout commonLayout(std::initializer_list<TensorId> inputs) const;
  // Its numbers in this layout and type; appends a conversion (once) where they stand in another. kNoTensor answers an
  // empty Operand.
  Operand read(TensorId id, const Layout& layout, DataType type);
  // The same in the tensor's own type, and in the plain layout.
  Operand read(TensorId id, const Layout& layout) {
    return read(id, layout, id == kNoTensor ? DataType::f32 : tensor(id).type);
  }
  Operand read(TensorId id) { return read(id, id == kNoTensor ? Layout{} : plainLayout(shape(id).rank())); }
  // Room for a result in the tensor's own type, or in another. A parameter's gradient is delivered to the store behind
  // the operation, several of them at once.
  Operand write(TensorId id, const Layout& layout, DataType type);
  Operand write(TensorId id, const Layout& layout) { return write(id, layout, tensor(id).type); }
  Operand write(TensorId id) { return write(id, plainLayout(shape(id).rank())); }
  // `to` is `from` seen with another shape or order of axes: no copy.
  void alias(TensorId to, const Layout& layout, TensorId from, const Layout& fromLayout);
  void mayOverwrite(TensorId output, TensorId input) { m_buffers.mayOverwrite(output, input); }

  Operand scratch(std::size_t bytes);                         // during this operation
  Operand shared(const std::string& key, std::size_t bytes);  // from one operation to another
  bool hasShared(const std::string& key) const { return m_buffers.hasShared(key); }
  // Numbers that are there before the first step and never change: offsets, tables.
  Operand constant(std::vector<std::byte> content);
  // The same, asked for once addresses are known: tables of them.
  Operand constant(std::size_t bytes, std::function<std::vector<std::byte>()> content);
  // What stays from step to step, zeros before the first.
  Operand lasting(std::size_t bytes) { return constant(std::vector<std::byte>(bytes)); }
  // Where the store's tensors stand: what `update` and `gradient_squares` go through.
  StoredTensor& stored(TensorId id);
  Operand inStore(TensorId id);

  // One call of one of our kernels, "softmax" + its type's name. `arguments` answers the kernel's struct; called once
  // addresses are known. What a kernel reads and writes at once stands in both lists.
  template <class MakeArguments>
  void kernel(const std::string& name, const Launch& launch, std::vector<Operand> reads, std::vector<Operand> writes,
              MakeArguments arguments) {
    using Arguments = std::invoke_result_t<MakeArguments>;
    static_assert(std::is_trivially_copyable_v<Arguments>);
    stage({.kernel = name,
           .implementation = "own",
           .reads = std::move(reads),
           .writes = std::move(writes),
           .bind = [name, launch, arguments]() mutable -> Call {
             KernelCall call{name, launch, std::vector<std::byte>(sizeof(Arguments))};
             const Arguments values = arguments();
             std::memcpy(call.arguments.data(), &values, sizeof(values));
             return call;
           }});
  }
  void stage(Stage stage);
  Stage& lastStage() { return m_stages.back(); }        // for what else is known of it
  void fill(const Operand& what, unsigned char value);  // every byte

  // Checks on the step's inputs, in the host's memory, before anything is sent; throws what is wrong. `input` must be
  // one of the program's inputs.
  void guard(TensorId input, std::function<void(std::span<const std::byte>)> check);
  bool isInput(TensorId id) const { return id != kNoTensor && tensor(id).role == TensorRole::input; }

  // How long the stages take that `emit` appends, run by themselves in memory of their own; they are forgotten again.
  // Throws Error(device) where they cannot be run now.
  double secondsOf(const std::function<void(Plan&)>& emit, const Device::Timing& timing);

  void lowerAll();

  struct Guard {
    TensorId input;
    std::function<void(std::span<const std::byte>)> check;
  };
  struct Result {
    std::vector<Stage> stages;
    std::vector<Guard> guards;
    std::vector<std::pair<Operand, std::vector<std::byte>>> constants;  // to be written before the first step
    BufferPlan::Extent bytes;
    int conversions = 0;
  };
  // The Plan must outlive the stages (it owns the addresses).
  Result finish(const BufferPlan::Allocate& allocate);
  // How much memory that would take, instead.
  BufferPlan::Extent measure() { return m_buffers.layOut(); }
  // What its stages move and compute.
  std::vector<StageCost> costs() const;
  Operand deliveryWords();  // DeliveryWords of the step
  // All that changes from step to step, in one block: the inputs in the order of tensors, each at a multiple of 256
  // bytes, each scalar in a line of 64 bytes, and the words of delivery behind them. `landing` is where the next step's
  // arrive while the device works with this one's.
  struct Fed {
    Operand place, landing;
    std::size_t scalarsAt = 0;
  };
  Fed fed();
  std::size_t placeInFed(TensorId input) const { return m_buffers.versions(input).front().offset; }

 private:
  void prepareTensors();
  void layOutFed();
  void guardLosses();
  Operand lossGuard();
  Operand operand(const BufferPlan::Version& version);
  void deliver(TensorId id);
  bool isDeliveryDue() const;
  void deliverPending();
  void convertWeights();
  void ofManyLayers(const char* op);
  bool isSteadyWeight(TensorId id) const;

  const Program& m_program;
  ParameterStore& m_store;
  Device& m_device;
  Collectives* m_collectives;
  DataType m_factors;
  bool m_tf32;
  Fusion m_fusion;
  BufferPlan m_buffers;
  int m_fed = -1, m_landing = -1;  // buffers
  std::size_t m_fedBytes = 0, m_scalarsAt = 0;
  std::vector<TensorId> m_undelivered;
  // Gradients that are computed and not yet delivered; weights that are converted before the first operation.
  struct Moved {
    ConvertArguments how;
    BufferPlan::Version from;
    Operand to;
    int buffer = -1;  // of `to`; -1: it is the store's
  };
  struct MovedTable {
    Operand tensors, pieces;
    Launch launch;
    std::vector<Operand> reads;  // what is moved, and the tables
  };
  MovedTable tableOf(const std::vector<Moved>& moved);
  std::vector<Moved> m_pending, m_weights;
  std::size_t m_pendingBytes = 0;
  std::vector<bool> m_changed;        // by tensor: what the program changes in place
  std::vector<TensorId> m_unguarded;  // losses of a training that are not computed yet
  std::string m_guard;                // what those that are computed leave for deliver(), as shared() has it
  std::vector<std::pair<Operand, std::function<std::vector<std::byte>()>>> m_constants;
  std::vector<Stage> m_stages;
  std::vector<Guard> m_guards;
  int m_conversions = 0;
};

// Blocks of 256 threads for so many elements, one thread each, as far as a grid may reach; kernels stride over the
// rest.
Launch overElements(std::int64_t elements, std::int64_t perThread = 1);
// "relu" and bf16: "relu.bf16".
std::string named(std::string_view kernel, DataType type);

using Lowering = void (*)(Plan& plan, const Operation& operation);
// Null for an op that this backend does not know.
Lowering findLowering(std::string_view op);
// What its own kernels' speed goes by.
StageKind kindOf(std::string_view op);
// What it takes and gives in 16 bits.
SixteenBits inSixteenBits(const Program& program, const Operation& operation);
// What else its kernels do in the same pass.
Joins joinsOf(const Program& program, const Operation& operation);

}  // namespace loom::cuda
