// The GPU of this machine: one for all trainings, as for the runs of a person.
#include "engine/base/error.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/module_device.h"
#include "tests/engine/cuda/trained_device.h"

namespace loom::cuda {
namespace {

const std::shared_ptr<Device>& device() {
  static const std::shared_ptr<Device> only = openCudaDevice();
  return only;
}

}  // namespace

std::string lackingTrainedDevice() {
  try {
    device();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

std::unique_ptr<Backend> trainedBackend(int) {
  return makeCudaBackend(device());
}

int trainedSteps() {
  return 50;
}

}  // namespace loom::cuda
