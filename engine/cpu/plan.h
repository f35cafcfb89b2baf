#pragma once
// Compilation in the making: lowerings ask it for their tensors' buffers and append stages; afterwards every buffer
// gets its place in one arena from its lifetime. Time is the index of the program's operation being lowered.
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/cpu/stage.h"
#include "engine/cpu/ways.h"
#include "engine/passes/fusion.h"
#include "engine/passes/precision.h"
#include "engine/program/backend.h"
#include "engine/program/buffer_plan.h"

namespace loom::cpu {

// Memory for each thread alone, by Worker::thread, or by the index of a part of a stage whose parts are whole or which
// share what a part makes for itself; in a later phase, too. One piece of memory a thread, the same for all operations:
// what another core wrote last comes line by line. A core also looks ahead beyond the end of what it uses, and would
// take from another one's cache what that is about to write: so these pieces are further apart than that.
class Rooms {
 public:
  Rooms() = default;
  // `apart`: floats from a thread's memory to the next one's, which may grow until the plan is finished.
  Rooms(const Ref<float>& first, const std::int64_t& apart) : m_first(first), m_apart(&apart) {}
  float* of(int thread) const { return m_apart == nullptr ? nullptr : m_first.get() + thread * *m_apart; }
  explicit operator bool() const { return static_cast<bool>(m_first); }

 private:
  Ref<float> m_first;
  const std::int64_t* m_apart = nullptr;
};

class Plan {
 public:
  Plan(const Program& program, ParameterStore& store, int threads, const CompileOptions& options = {},
       const CpuWays& ways = {});
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const Program& program() const { return m_program; }
  const Tensor& tensor(TensorId id) const { return m_program.tensor(id); }
  const Shape& shape(TensorId id) const { return tensor(id).shape; }
  int threads() const { return m_threads; }
  const CpuWays& ways() const { return m_ways; }
  // Factors of products and convolutions are rounded to bf16 and summed in f32. Tensors of the program that are of this
  // type stand so in memory; everything else stays f32.
  bool bf16() const { return m_bf16; }
  Collectives* collectives() const { return m_collectives; }  // null: a group of one
  const std::string& origin() const { return m_program.operations[static_cast<std::size_t>(m_buffers.now())].origin; }
  const FusedOutput& fused() const { return m_fusion.outputs[static_cast<std::size_t>(m_buffers.now())]; }
  const Fusion& fusion() const { return m_fusion; }

  // The layout in which the tensor stands (first one made).
  const Layout& layoutOf(TensorId id) const { return m_buffers.layoutOf(id); }
  // Its numbers in this layout, plain when none is named; appends a reorder (once) where it stands in another.
  Ref<float> read(TensorId id, const Layout& layout);
  Ref<float> read(TensorId id) { return read(id, plainLayout(shape(id).rank())); }
  // The same rounded to bf16; appends the rounding once, whoever reads it.
  Ref<std::uint16_t> readBf16(TensorId id, const Layout& layout);
  // In bf16 where it is kept so, else in f32: for kernels that take either.
  StoredRef readStored(TensorId id, const Layout& layout);
  StoredRef readStoredOptional(TensorId id, const Layout& layout) {
    return id == kNoTensor ? StoredRef{} : readStored(id, layout);
  }
  IntRef readInts(TensorId id) { return read(id).as<std::int32_t>(); }
  // kNoTensor answers an empty Ref.
  Ref<float> readOptional(TensorId id) { return id == kNoTensor ? Ref<float>{} : read(id); }
  // Room for the result, in f32: what is kept in bf16 is rounded when the operation is lowered. For a parameter's
  // gradient: a buffer that is delivered to the store then.
  Ref<float> write(TensorId id, const Layout& layout);
  Ref<float> write(TensorId id) { return write(id, plainLayout(shape(id).rank())); }
  // Room for the result as it is kept.
  StoredRef writeStored(TensorId id, const Layout& layout);
  // For kernels that themselves add to or overwrite (StepOptions::accumulate) a parameter's gradient: the store's
  // memory when `direct`, else an ordinary buffer that is always overwritten.
  struct Target {
    Ref<float> to = {};
    bool direct = false;
    Ref<std::uint16_t> half = {};  // instead of `to`: what is kept in bf16
    bool adds(const Worker& worker) const { return direct && worker.step->options.accumulate; }
  };
  Target writeGradient(TensorId id);
  // The store's memory for a gradient that nothing but an exchange reads.
  Target deliverTo(TensorId id);
  // The same for kernels that can write bf16: room as it is kept.
  Target writeProduct(TensorId id);
  // `to` is `from` seen with another shape or order of axes: no copy (but one that rounds, where only `to` is in bf16).
  void alias(TensorId to, const Layout& layout, TensorId from, const Layout& fromLayout);
  // The result may take the input's place when this operation is the last to read it.
  void mayOverwrite(TensorId output, TensorId input) { m_buffers.mayOverwrite(output, input); }

  // During this operation.
  Ref<float> scratch(std::int64_t floats);
  Rooms scratchOfThreads(std::int64_t floats);
  Ref<float> persistent(std::int64_t floats);  // stays from step to step; 0 at first
  // Memory that a forward operation fills and its gradient reads: both ask for it by the same key.
  Ref<float> shared(const std::string& key, std::int64_t floats);
  // Whether it has a backward part.
  bool learns() const { return m_learns; }
  // Whether anything reads this output: gradients that nobody asked for are not computed.
  bool wanted(TensorId id) const {
    return id != kNoTensor && (tensor(id).role == TensorRole::parameterGradient ||
                               !m_fusion.consumers[static_cast<std::size_t>(id)].empty());
  }
  bool hasShared(const std::string& key) const { return m_buffers.hasShared(key); }
  // Whether a weight that so many rows are multiplied with stays in a kernel's layout from step to step (packedWeight).
  // Else packInStep() brings it there in each operation that reads it: what changes with every run would be packed as
  // often if it stayed, and held all of the step.
  bool keepsPacked(TensorId weight, std::int64_t floats, std::int64_t rows) const;
  // `make(packed)` answers what fills it. What is packed, weight or not, is read before the operation packs again: all
  // of it shares one room.
  Ref<float> packInStep(TensorId weight, std::int64_t floats, std::string implementation,
                        const std::function<std::function<void(const Worker&)>(const Ref<float>&)>& make);
  // Of what is packed in a step, weight or not: the stage that packs it.
  void packStage(TensorId weight, std::string implementation, std::function<void(const Worker&)> run);
  // A weight in a kernel's layout, made once under this key: `make` appends the prologue tasks that fill it after every
  // change of the weight.
  Ref<float> packedWeight(const std::string& key, std::int64_t floats,
                          const std::function<void(const Ref<float>&)>& make);
  // Every element set once, before the first step.
  Ref<float> filled(std::int64_t floats, std::function<void(float*)> fill);

  void stage(std::string kernel, std::string implementation, std::string layout,
             std::function<void(const Worker&)> run);
  void stage(std::string kernel, std::function<void(const Worker&)> run) {
    stage(std::move(kernel), {}, {}, std::move(run));
  }
  // Of the stage that was appended last: Stage::phases, Stage::pieces, Stage::onCaller.
  void phases(std::int64_t count) { m_stages.back().phases = static_cast<int>(count); }
  // Of parts that have up to so many rows each, pieces of about `block` rows or, where `multiplyAdds` (of all threads)
  // are too few to pay for claiming them, of more.
  void pieces(std::int64_t rows, std::int64_t block, double multiplyAdds);
  void onCaller() { m_stages.back().onCaller = true; }
  // Runs before all stages of a step in which the parameter is another than in the last one, on one thread each, shared
  // out among them: weights into the kernels' layouts.
  void prologue(TensorId parameter, std::function<void()> task);
  // Checks on the step's inputs before anything is written, on the caller's thread; throws what is wrong.
  void guard(std::function<void()> check) { m_guards.push_back(std::move(check)); }
  // Called once when addresses are known.
  void onBind(std::function<void()> call) { m_onBind.push_back(std::move(call)); }

  // Lowers everything; throws Error with the operation's origin as context.
  void lowerAll();

  struct Pack {
    const StoredTensor* weight;
    std::function<void()> run;
    std::int64_t elements;
  };
  struct Result {
    std::vector<Stage> stages;
    std::vector<Pack> prologue;
    std::vector<std::function<void()>> guards;
    BufferPlan::Extent bytes;
    int reorders = 0;
  };
  // Places what lives during a step alone and what stays (packed weights, constants, inputs, results), binds, and hands
  // over. The Plan must outlive the stages (it owns the addresses).
  Result finish(const BufferPlan::Allocate& allocate);
  // How much memory that would take, and what there is to run, instead.
  BufferPlan::Extent measure() { return m_buffers.layOut(); }
  const std::vector<Stage>& stages() const { return m_stages; }
  const std::vector<Pack>& packs() const { return m_prologue; }

 private:
  Ref<float> use(int buffer) { return m_buffers.use(buffer).as<float>(); }
  void prepareTensors();
  void deliver(TensorId id);
  bool keptInBf16(TensorId id) const { return tensor(id).type == DataType::bf16; }
  // The type of the numbers that a kernel for f32 reads: the tensor's own unless that is kept in bf16.
  DataType wideType(TensorId id) const { return keptInBf16(id) ? DataType::f32 : tensor(id).type; }
  std::size_t wideBytes(TensorId id) const;
  std::size_t halfBytes(TensorId id) const;
  // The stage that was appended last only moves numbers: elements of so many bytes, there and here.
  void moves(TensorId id, std::size_t from, std::size_t to) {
    m_stages.back().moved = static_cast<double>(shape(id).elements()) * static_cast<double>(from + to);
  }
  template <class Number>
  void reorder(TensorId id, const Layout& layout, const Ref<Number>& source, const Ref<Number>& target);
  Ref<float> widened(TensorId id);
  struct Rounding {
    TensorId tensor;
    int from, to;
  };
  void round(const Rounding& rounding);

  const Program& m_program;
  ParameterStore& m_store;
  int m_threads;
  CpuWays m_ways;
  Collectives* m_collectives;
  bool m_bf16;
  bool m_learns;  // has a backward part: its weights change
  std::int64_t m_passes;
  Fusion m_fusion;
  BufferPlan m_buffers;
  std::vector<TensorId> m_undelivered;
  std::vector<Rounding> m_unrounded;
  std::map<std::string, Ref<float>> m_packed;
  std::pair<int, int> m_room{-1, -1};  // of packInStep(): the operation, the buffer
  // Of scratchOfThreads(): the buffer, the operation that used it last and how much of it, a thread, and how far apart.
  struct ThreadMemory {
    int buffer = -1, operation = -1;
    std::int64_t used = 0, apart = 0;  // floats
  };
  ThreadMemory m_ofThreads;
  std::vector<Stage> m_stages;
  std::vector<Pack> m_prologue;
  std::vector<std::function<void()>> m_guards;
  std::vector<std::function<void()>> m_onBind;
  int m_reorders = 0;
};

// One operation of the program into stages.
using Lowering = void (*)(Plan& plan, const Operation& operation);
// Null for an op that this backend does not know.
Lowering findLowering(std::string_view op);
// What it can take and give in bf16 without a pass that converts.
SixteenBits inBf16(const Program& program, const Operation& operation);
// What else its kernels do in the same pass.
Joins joinsOf(const Program& program, const Operation& operation);

}  // namespace loom::cpu
