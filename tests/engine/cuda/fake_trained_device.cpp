#include "engine/cuda/cuda_backend.h"
#include "tests/engine/cuda/fake/fake_device.h"
#include "tests/engine/cuda/trained_device.h"

namespace loom::cuda {

std::string lackingTrainedDevice() {
  return {};
}

std::unique_ptr<Backend> trainedBackend(int checkedCalls) {
  return makeCudaBackend(std::make_shared<fake::FakeDevice>(fake::FakeOptions{.checkedCalls = checkedCalls}));
}

int trainedSteps() {
  return 8;
}

}  // namespace loom::cuda
