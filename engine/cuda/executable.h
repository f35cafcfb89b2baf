#pragma once
// A compiled program on one device: the stages of a step, its inputs on their way up, its results on their way down.
// run() begins a step and does not wait for it; what reads a result waits. Inputs and results stand in two buffers of
// pinned memory in turn, so that the next batch is written, and goes up, while the device works on this one, and a
// step's results are read while it works on the next.
#include <array>
#include <memory>

#include "engine/cuda/device_memory.h"
#include "engine/cuda/plan.h"
#include "engine/cuda/stage_queue.h"

namespace loom::cuda {

class CudaExecutable final : public Executable {
 public:
  // `arena`: what this backend's executables share; made anew where it is too small.
  CudaExecutable(Program program, ParameterStore& store, std::shared_ptr<Device> device,
                 std::shared_ptr<DeviceBlock>& arena, const CompileOptions& options);
  ~CudaExecutable() override;
  // What one of these would take, and ask of the device in a step.
  static StepCost cost(Program program, Device& device, const CompileOptions& options);

  std::span<std::byte> input(std::string_view name) override;
  StepNumber run(const StepOptions& options) override;
  int resultsKept() const override { return kSlots; }
  double scalarResult(std::string_view name, StepNumber step) const override;
  void readResult(std::string_view name, std::span<float> to, StepNumber step) const override;
  void readResult(std::string_view name, std::span<double> to, StepNumber step) const override;
  const Program& program() const override { return m_program; }
  Json describe() const override;

 private:
  static constexpr int kSlots = 2;
  struct Input {
    TensorId tensor = kNoTensor;
    std::size_t at = 0, bytes = 0;  // in the pinned block
  };
  struct Result {
    TensorId tensor = kNoTensor;
    std::size_t at = 0, bytes = 0;  // in the pinned block
    Operand device;
  };
  // Of every other step.
  struct Slot {
    std::unique_ptr<PinnedBlock> fed;  // as Plan::Fed
    std::unique_ptr<Event> uploaded;
    std::unique_ptr<PinnedBlock> results;
    std::unique_ptr<Event> done;  // of the step, results included
    bool used = false;
  };

  void writeConstants(const Plan::Result& compiled);
  void writeScalars(const StepOptions& options);
  void upload();
  void begin(const StepOptions& options);
  void download();
  // Of the step that comes next, and of one that was begun.
  Slot& next() { return m_slots[static_cast<std::size_t>(m_newest % kSlots)]; }
  const Slot& next() const { return m_slots[static_cast<std::size_t>(m_newest % kSlots)]; }
  const Slot& slotOf(StepNumber step) const { return m_slots[static_cast<std::size_t>((step - 1) % kSlots)]; }
  const Result& result(std::string_view name) const;
  template <class T>
  void copyResult(std::string_view name, std::span<T> to, StepNumber step) const;

  std::shared_ptr<Device> m_device;
  Program m_program;
  std::shared_ptr<DeviceBlock> m_arena;    // of this step alone, whichever executable runs it
  std::unique_ptr<DeviceBlock> m_lasting;  // what must stay from step to step
  std::unique_ptr<Plan> m_plan;            // owns the addresses that stages were bound to
  Plan::Result m_compiled;
  DataType m_precision;
  Recomputation m_recomputation;

  Plan::Fed m_fed;
  std::vector<Input> m_inputs;
  std::vector<Result> m_results;  // in the order of the program's
  std::array<Slot, kSlots> m_slots;
  std::unique_ptr<Event> m_taken;  // the landing is free again
  std::vector<StoredTensor*> m_updated;
  std::unique_ptr<StageQueue> m_queue;
  // Steps without and with sums of gradients between ranks.
  struct Repeated {
    bool hasRun = false;  // outside of a capture
    std::unique_ptr<Graph> graph;
  };
  std::array<Repeated, 2> m_repeated;
  StepNumber m_newest = 0;
};

}  // namespace loom::cuda
