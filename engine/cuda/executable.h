#pragma once
// A compiled program on one device: the stages of a step, its inputs on their way up, its results on their way down.
// run() begins a step and does not wait for it; what reads a result waits. Inputs stand in two buffers of pinned memory
// in turn, so that the next batch is written while this one travels.
#include <array>
#include <memory>

#include "engine/cuda/device_memory.h"
#include "engine/cuda/plan.h"

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
  void run(const StepOptions& options) override;
  double scalarResult(std::string_view name) const override;
  void readResult(std::string_view name, std::span<float> to) const override;
  void readResult(std::string_view name, std::span<double> to) const override;
  const Program& program() const override { return m_program; }
  Json describe() const override;

 private:
  // Something in pinned memory, and where it stands on the device.
  struct Transfer {
    TensorId tensor = kNoTensor;
    std::size_t at = 0, bytes = 0;  // in the pinned block
    Operand device;
  };
  struct Slot {
    std::unique_ptr<PinnedBlock> pinned;  // inputs, and the scalars behind them
    std::unique_ptr<Event> uploaded;
    bool used = false;
  };

  void writeConstants(const Plan::Result& compiled);
  void writeScalars(const StepOptions& options);
  void upload();
  void enqueueStages();
  const Transfer& result(std::string_view name) const;
  void waitForResults() const;
  template <class T>
  void copyResult(std::string_view name, std::span<T> to) const;

  std::shared_ptr<Device> m_device;
  Program m_program;
  std::shared_ptr<DeviceBlock> m_arena;    // of this step alone, whichever executable runs it
  std::unique_ptr<DeviceBlock> m_lasting;  // what must stay from step to step
  std::unique_ptr<Plan> m_plan;            // owns the addresses that stages were bound to
  Plan::Result m_compiled;
  DataType m_precision;

  std::vector<Transfer> m_inputs;
  Transfer m_scalars;
  std::array<Slot, 2> m_slots;
  std::size_t m_slot = 0;  // the one that the caller fills
  std::vector<Transfer> m_results;  // in the order of the program's
  std::unique_ptr<PinnedBlock> m_resultBytes;
  std::unique_ptr<Event> m_done;  // of the last step, results included
  std::vector<StoredTensor*> m_updated;
  std::unique_ptr<Graph> m_graph;
  std::int64_t m_runs = 0;
};

}  // namespace loom::cuda
