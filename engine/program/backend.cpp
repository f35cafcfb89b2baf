#include "engine/program/backend.h"

#include "engine/base/error.h"

namespace loom {

double scalarOf(const StepOptions& options, std::string_view name) {
  if (name == kStepScalar) return static_cast<double>(options.step);
  if (name == kFirstSampleScalar) return static_cast<double>(options.firstSample);
  if (name == kLossScaleScalar) return options.lossScale;
  if (name == kLearningRateScalar) return options.learningRate;
  if (name == kUpdateCountScalar) return static_cast<double>(options.updateCount);
  if (name == kClipNormScalar) return options.clipNorm;
  throwError(ErrorCode::internal, "the program reads a scalar '{}', which no step option gives", name);
}

StepNumber keptStep(StepNumber step, StepNumber newest, int kept) {
  if (newest == 0) throwError(ErrorCode::internal, "a result is read before the first step");
  if (step == kNewestStep) return newest;
  if (step > newest || step <= newest - kept)
    throwError(ErrorCode::internal, "a result of step {} is asked for, but those of the last {} of {} are kept", step,
               kept, newest);
  return step;
}

StoredTensor* storedTensor(ParameterStore& store, const Tensor& tensor) {
  switch (tensor.role) {
    case TensorRole::parameter:
    case TensorRole::state:
      return &store.at(tensor.name).value;
    case TensorRole::parameterGradient:
      return &store.gradient(tensor.name);
    case TensorRole::slot: {
      const auto [parameter, slot] = parameterAndSlot(tensor.name);
      return &store.slot(parameter, slot);
    }
    default:
      return nullptr;
  }
}

std::vector<StoredTensor*> updatedTensors(ParameterStore& store, const Program& program) {
  std::vector<StoredTensor*> updated;
  for (const Operation& operation : program.operations)
    for (const int i : updatedInputs(*operation.op, operation.inputs.size(), operation.attributes))
      if (StoredTensor* tensor = storedTensor(store, program.tensor(operation.inputs[static_cast<std::size_t>(i)])))
        updated.push_back(tensor);
  return updated;
}

}  // namespace loom
