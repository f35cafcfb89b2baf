#include "engine/cpu/cpu_backend.h"

#include <cstdlib>

#include "engine/base/error.h"
#include "engine/cpu/core_distance.h"
#include "engine/cpu/dnnl_layer.h"
#include "engine/cpu/executable.h"
#include "engine/cpu/kernels/isa.h"

namespace loom {
namespace {

void expectPrecision(const CompileOptions& options) {
  if (options.precision != DataType::f32 && options.precision != DataType::bf16)
    throwError(ErrorCode::device, "processors compute in f32 and bf16, but precision is {}: set it to one of those",
               toString(options.precision));
}

class CpuBackend final : public Backend {
 public:
  CpuBackend(int threads, const CpuWays& ways)
      : m_pool(std::make_shared<cpu::ThreadPool>(threads > 0 ? threads : cpu::availableThreads())), m_ways(ways) {}

  std::string name() const override { return "cpu"; }
  std::unique_ptr<TensorMemory> makeMemory() override { return makeHostMemory(); }

  std::unique_ptr<Executable> compile(Program program, ParameterStore& store, const CompileOptions& options) override {
    expectPrecision(options);
    auto pool = m_pool;
    if (options.threads > 0 && options.threads != pool->size())
      pool = std::make_shared<cpu::ThreadPool>(options.threads);
    return std::make_unique<cpu::CpuExecutable>(std::move(program), store, std::move(pool), m_arena, options, m_ways);
  }

  BufferPlan::Extent measure(Program program, const CompileOptions& options) override {
    expectPrecision(options);
    return cpu::CpuExecutable::cost(std::move(program), options.threads > 0 ? options.threads : m_pool->size(), options,
                                    m_ways)
        .memory;
  }

 private:
  std::shared_ptr<cpu::ThreadPool> m_pool;
  CpuWays m_ways;
  std::shared_ptr<cpu::Arena> m_arena;  // the largest that was asked for; smaller ones end with their executables
};

}  // namespace

std::unique_ptr<Backend> makeCpuBackend(int threads, const CpuWays& ways) {
  return std::make_unique<CpuBackend>(threads, ways);
}

StepCost stepCost(Program program, const CompileOptions& options) {
  expectPrecision(options);
  return cpu::CpuExecutable::cost(std::move(program), options.threads > 0 ? options.threads : cpu::availableThreads(),
                                  options);
}

ProcessorFacts processorFacts(int threads) {
  return {.threads = threads > 0 ? threads : cpu::availableThreads(),
          .instructions = cpu::toString(cpu::isa()) + std::string(std::getenv("GRADLOOM_ISA") ? " at most" : ""),
          .library = cpu::dnnlWords()};
}

bool coresAreApart(int threads) {
  // A line there and back: 50 to 65 ns within a third-level cache of Zen 3 and 4, 300 to 340 between two.
  constexpr double kApart = 180e-9;
  return cpu::coreDistance(processorFacts(threads).threads) > kApart;
}

}  // namespace loom
