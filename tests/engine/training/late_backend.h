#pragma once
// The CPU as if it worked by itself: results of the last two steps are kept, and a program's are there when they are
// asked for. Told of each run and of each result that is asked for.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/engine/training/fixture.h"

namespace loom {

class LateBackend final : public Backend {
 public:
  // Runs of all its executables so far; and how often a result of the very last one was asked for, so that a machine
  // would have had nothing to do.
  int runs = 0, idle = 0;

  std::string name() const override { return cpuBackend().name(); }
  std::unique_ptr<TensorMemory> makeMemory() override { return cpuBackend().makeMemory(); }
  std::unique_ptr<Executable> compile(Program program, ParameterStore& store, const CompileOptions& options) override {
    return std::make_unique<Late>(*this, cpuBackend().compile(std::move(program), store, options));
  }
  BufferPlan::Extent measure(Program program, const CompileOptions& options) override {
    return cpuBackend().measure(std::move(program), options);
  }

 private:
  class Late final : public Executable {
   public:
    Late(LateBackend& backend, std::unique_ptr<Executable> inner) : m_backend(backend), m_inner(std::move(inner)) {}
    std::span<std::byte> input(std::string_view name) override { return m_inner->input(name); }
    StepNumber run(const StepOptions& options) override {
      m_newest = m_inner->run(options);
      Kept& kept = m_kept[static_cast<std::size_t>(m_newest % 2)];
      kept.run = ++m_backend.runs;
      for (const NamedResult& result : program().results) {
        std::vector<double>& values = kept.results[result.name];
        values.resize(static_cast<std::size_t>(program().tensor(result.tensor).shape.elements()));
        m_inner->readResult(result.name, values, m_newest);
      }
      return m_newest;
    }
    int resultsKept() const override { return 2; }
    double scalarResult(std::string_view name, StepNumber step) const override { return values(name, step).at(0); }
    void readResult(std::string_view name, std::span<float> to, StepNumber step) const override {
      std::ranges::transform(values(name, step), to.begin(), [](double value) { return static_cast<float>(value); });
    }
    void readResult(std::string_view name, std::span<double> to, StepNumber step) const override {
      std::ranges::copy(values(name, step), to.begin());
    }
    const Program& program() const override { return m_inner->program(); }
    Json describe() const override { return m_inner->describe(); }

   private:
    struct Kept {
      int run = 0;
      std::map<std::string, std::vector<double>, std::less<>> results;
    };
    const std::vector<double>& values(std::string_view name, StepNumber step) const {
      const Kept& kept = m_kept[static_cast<std::size_t>(keptStep(step, m_newest, 2) % 2)];
      m_backend.idle += kept.run == m_backend.runs;
      return kept.results.find(name)->second;
    }
    LateBackend& m_backend;
    std::unique_ptr<Executable> m_inner;
    StepNumber m_newest = 0;
    std::array<Kept, 2> m_kept;
  };
};

}  // namespace loom
