// gpu_profile WORKLOAD PRECISION COUNT [BATCH]: the stages of a workload of `loom bench` that take longest on this
// machine's GPU, each launched by itself, beside its floor.
#include <cstdio>
#include <cstdlib>

#include "engine/base/error.h"
#include "engine/cuda/module_device.h"
#include "engine/loom/bench/inputs.h"
#include "engine/loom/bench/workloads.h"
#include "engine/network/analysis.h"
#include "engine/passes/differentiate.h"
#include "engine/program/builder.h"
#include "tests/gpu/cuda/stage_profile.h"

namespace loom::cuda {
namespace {

DataType typeNamed(std::string_view name) {
  for (const DataType type : {DataType::f32, DataType::bf16, DataType::f16})
    if (name == toString(type)) return type;
  throwError(ErrorCode::badArgument, "the precision is f32, bf16 or f16, not '{}'", name);
}

void profile(const std::string& name, std::string_view precision, int most, std::int64_t batch) {
  Workload workload = makeWorkload(name);
  if (batch > 0) workload.batch = batch;
  ProgramBuilder builder(lower(workload.network, {.batch = workload.batch, .seed = 1, .training = true}));
  differentiate(builder);
  const Program program = builder.take();
  const auto device = std::make_shared<StageTimes>(openCudaDevice(0, {.times = true, .file = keptEngines()}));
  const DeviceFacts facts = device->facts();
  const GpuModel* const gpu = findGpuModel(facts.name);
  if (gpu == nullptr)
    throwError(ErrorCode::device, "there is no data sheet of {} in engine/planner/gpu_model.cpp", facts.name);
  std::printf("%s in %.*s, batch %lld\n%s", name.c_str(), static_cast<int>(precision.size()), precision.data(),
              static_cast<long long>(workload.batch),
              stageProfile(program, device, *gpu, typeNamed(precision), most, [&](Executable& executable) {
                fillInputs(executable, workload.classes);
              }).c_str());
}

}  // namespace
}  // namespace loom::cuda

int main(int count, char** arguments) {
  if (count != 4 && count != 5) {
    std::fprintf(stderr, "usage: gpu_profile WORKLOAD PRECISION COUNT [BATCH]\n");
    return 2;
  }
  try {
    loom::cuda::profile(arguments[1], arguments[2], std::atoi(arguments[3]), count == 5 ? std::atoll(arguments[4]) : 0);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_profile: %s\n", error.what());
    return 1;
  }
}
