#include "engine/cuda/cuda_backend.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/cuda/executable.h"

namespace loom {
namespace {

void expectPrecision(const CompileOptions& options) {
  if (options.precision != DataType::f32 && options.precision != DataType::bf16 && options.precision != DataType::f16)
    throwError(ErrorCode::device, "GPUs compute in f32, bf16 and f16, but precision is {}: set it to one of those",
               toString(options.precision));
}

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(std::shared_ptr<cuda::Device> device) : m_device(std::move(device)) {}

  std::string name() const override { return "cuda"; }
  bool preparesImages() const override { return true; }
  std::unique_ptr<TensorMemory> makeMemory() override { return cuda::makeDeviceMemory(m_device); }

  std::unique_ptr<Executable> compile(Program program, ParameterStore& store, const CompileOptions& options) override {
    expectPrecision(options);
    return std::make_unique<cuda::CudaExecutable>(std::move(program), store, m_device, m_arena, options);
  }

  BufferPlan::Extent measure(Program program, const CompileOptions& options) override {
    return stepCost(std::move(program), *m_device, options).memory;
  }

 private:
  std::shared_ptr<cuda::Device> m_device;
  std::shared_ptr<cuda::DeviceBlock>
      m_arena;  // the largest that was asked for; smaller ones end with their executables
};

}  // namespace

bool cudaKnowsEveryOp() {
  const auto ops = opTable();
  return std::all_of(ops.begin(), ops.end(),
                     [](const OpDefinition* op) { return cuda::findLowering(op->name) != nullptr; });
}

StepCost stepCost(Program program, cuda::Device& device, const CompileOptions& options) {
  expectPrecision(options);
  return cuda::CudaExecutable::cost(std::move(program), device, options);
}

std::unique_ptr<Backend> makeCudaBackend(std::shared_ptr<cuda::Device> device) {
  return std::make_unique<CudaBackend>(std::move(device));
}

}  // namespace loom
