#pragma once
// A compiled program: stages over one arena.
#include <memory>

#include "engine/cpu/arena.h"
#include "engine/cpu/plan.h"
#include "engine/cpu/thread_pool.h"
#include "engine/cpu/turns.h"
#include "engine/program/trace.h"

namespace loom::cpu {

class CpuExecutable final : public Executable {
 public:
  // `arena`: what this backend's executables share; made anew where it is too small.
  CpuExecutable(Program program, ParameterStore& store, std::shared_ptr<ThreadPool> pool, std::shared_ptr<Arena>& arena,
                const CompileOptions& options = {}, const CpuWays& ways = {});

  // What one of these would take, and what a step of it asks of the processor; nothing is allocated for it.
  static StepCost cost(Program program, int threads, const CompileOptions& options, const CpuWays& ways = {});

  std::span<std::byte> input(std::string_view name) override;
  StepNumber run(const StepOptions& options) override;
  double scalarResult(std::string_view name, StepNumber step) const override;
  void readResult(std::string_view name, std::span<float> to, StepNumber step) const override;
  void readResult(std::string_view name, std::span<double> to, StepNumber step) const override;
  const Program& program() const override { return m_program; }
  Json describe() const override;
  StepCost cost() const override;

 private:
  struct Turn {
    int stage, phase;  // stage -1: the prologue
  };
  bool workOn(int thread);
  void runPiece(const Turn& turn, const Turns::Claim& claim, int thread);
  void measured(const Turn& turn);
  void least(std::size_t at, double seconds);
  void tookSince(std::chrono::steady_clock::time_point began);
  void choosePacks();
  void pack();
  std::string nameOfOperation(const Stage& stage) const;
  const NamedResult& result(std::string_view name) const;
  template <class T>
  void copyResult(std::string_view name, std::span<T> to, StepNumber step) const;

  Program m_program;
  std::shared_ptr<ThreadPool> m_pool;
  std::shared_ptr<Arena> m_arena;    // of this step alone, whichever executable runs it
  std::unique_ptr<Arena> m_lasting;  // what must stay from step to step
  std::unique_ptr<Plan> m_plan;      // owns the addresses that stages read
  Plan::Result m_compiled;
  std::vector<Turn> m_order;
  std::unique_ptr<Turns> m_turns;
  Recomputation m_recomputation;
  struct Scalar {
    Ref<float> at;
    std::string name;
    DataType type;
  };
  std::vector<Scalar> m_scalars;
  std::vector<Ref<float>> m_inputs;      // by tensor
  std::vector<Ref<float>> m_results;     // by result
  std::vector<StoredTensor*> m_updated;  // changed in place by a step
  StepState m_step;
  StepNumber m_newest = 0;
  double m_earlier = 0;                 // seconds of one of its first steps
  std::vector<std::uint64_t> m_packed;  // by task of the prologue: the version of the weight that it packed last
  std::vector<std::size_t> m_due;       // tasks of this step's prologue
  std::atomic<std::size_t> m_nextTask{0};
  std::vector<double> m_profile;     // least CPU seconds of part 0 by stage, and of the prologue
  std::atomic<double> m_spent{0};    // of those, by the pieces of the stage so far
  Trace::Clock::time_point m_began;  // the stage
  std::atomic<double> m_packing{0};  // CPU seconds of this step's prologue, of all threads
  bool m_profiling = false;
  Trace* m_trace = nullptr;
};

}  // namespace loom::cpu
