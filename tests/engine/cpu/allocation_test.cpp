// A step allocates nothing: operator new and malloc's users are counted while one runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "engine/base/json.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/ops/update.h"
#include "engine/program/builder.h"
#include "tests/engine/cpu/networks.h"

namespace {

std::atomic<bool> counting{false};
std::atomic<long> blocks{0}, largest{0};

void* counted(std::size_t bytes, std::size_t alignment = 0) {
  if (counting.load(std::memory_order_relaxed)) {
    ++blocks;
    long before = largest.load();
    while (before < static_cast<long>(bytes) && !largest.compare_exchange_weak(before, static_cast<long>(bytes))) {
    }
  }
  const std::size_t rounded =
      alignment == 0 ? std::max<std::size_t>(bytes, 1) : (bytes + alignment) / alignment * alignment;
  if (void* memory = alignment == 0 ? std::malloc(rounded) : std::aligned_alloc(alignment, rounded)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) {
  return counted(bytes);
}
void* operator new[](std::size_t bytes) {
  return counted(bytes);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace loom {
namespace {

struct Count {
  long blocks, largest;
};

Count countSteps(const Program& program, int steps) {
  const auto cpu = makeCpuBackend(2);
  ParameterStore store(1);
  const auto executable = cpu->compile(program, store, {});
  networks::fill(*executable, networks::kClasses);
  executable->run({});
  blocks = 0;
  largest = 0;
  counting = true;
  for (int i = 0; i < steps; ++i) executable->run({.step = i, .accumulate = i % 2 == 1});
  counting = false;
  return {blocks, largest};
}

TEST(CpuAllocation, ownKernelsAllocateNothing) {
  for (const auto make :
       {networks::perceptron, networks::stackedLstm, networks::gatedRecurrent, networks::transformerBlock}) {
    EXPECT_EQ(countSteps(make(4), 3).blocks, 0);
  }
}

TEST(CpuAllocation, anOptimizersStepAllocatesNothing) {
  const Json defaults = Json::object();
  for (const OptimizerDefinition* definition : optimizerTable()) {
    const Values values(definition->entry, defaults);
    const auto rule = definition->make(values);
    ProgramBuilder builder(1, 1, true);
    const Parameter weight{.name = "w", .shape = {3, 9000}};
    std::vector<TensorId> inputs{
        builder.scalar(kLearningRateScalar), builder.scalar(kUpdateCountScalar),
        builder.scalar(kClipNormScalar),     builder.add("gradient_squares", {builder.gradient(weight)}),
        builder.parameter(weight),           builder.gradient(weight)};
    for (const std::string& slot : rule->slots()) inputs.push_back(builder.slot(weight, slot));
    if (rule->followsEpochs()) inputs.push_back(builder.scalar(kStepScalar));
    builder.add("update", inputs, updateAttributes(*definition, values, {0.1}, {1}));
    EXPECT_EQ(countSteps(builder.take(), 3).blocks, 0) << definition->entry.id;
  }
}

// oneDNN 2.6 builds a small table of its arguments whenever a primitive runs (a map of at most six entries), and gives
// it back before it returns. Buffers and scratchpads come from the arena: nothing it asks for has the size of one.
TEST(CpuAllocation, convolutionsAllocateNoBuffers) {
  for (const auto make : {networks::smallCnn, networks::residualNetwork}) {
    const Program program = make(4);
    const Count count = countSteps(program, 1);
    EXPECT_LE(count.largest, 512);
    EXPECT_LE(count.blocks, 40 * 2 * static_cast<long>(program.operations.size()));
  }
}

}  // namespace
}  // namespace loom
