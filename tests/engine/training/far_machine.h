#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/program/backend.h"

namespace loom {

// A machine whose addresses mean nothing to the host: whoever follows one ends the test.
class FarMemory final : public TensorMemory {
 public:
  float* allocate(std::int64_t elements) override {
    m_blocks.emplace_back(static_cast<std::size_t>(elements));
    return reinterpret_cast<float*>(m_blocks.size() << 32);
  }
  void read(const float* from, std::span<float> to) const override {
    std::copy_n(block(from).begin(), to.size(), to.begin());
  }
  void write(std::span<const float> from, float* to) override { std::copy(from.begin(), from.end(), mine(to).begin()); }
  void copy(const float* from, float* to, std::int64_t) override { mine(to) = block(from); }
  bool isHost() const override { return false; }

 private:
  const std::vector<float>& block(const float* at) const {
    return m_blocks.at((reinterpret_cast<std::uintptr_t>(at) >> 32) - 1);
  }
  std::vector<float>& mine(const float* at) { return const_cast<std::vector<float>&>(block(at)); }
  std::vector<std::vector<float>> m_blocks;
};

// The reference's arithmetic in such memory.
class FarBackend final : public Backend {
 public:
  std::string name() const override { return "far"; }
  std::unique_ptr<TensorMemory> makeMemory() override { return std::make_unique<FarMemory>(); }
  std::unique_ptr<Executable> compile(Program program, ParameterStore& store, const CompileOptions& options) override {
    return m_reference->compile(std::move(program), store, options);
  }
  BufferPlan::Extent measure(Program program, const CompileOptions& options) override {
    return m_reference->measure(std::move(program), options);
  }

 private:
  std::unique_ptr<Backend> m_reference = makeReferenceBackend();
};

}  // namespace loom
