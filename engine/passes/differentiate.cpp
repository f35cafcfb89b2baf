// Walks the program backwards and lets every op emit its own gradient.
#include "engine/passes/differentiate.h"

#include <algorithm>
#include <memory>

#include "engine/base/error.h"
#include "engine/ops/emissions.h"
#include "engine/passes/passes.h"

namespace loom {
namespace {

class Differentiation {
 public:
  Differentiation(ProgramBuilder& builder, std::span<const TensorId> targets)
      : m_builder(builder), m_forward(program().operations.size()), m_origin(builder.origin()) {
    m_gradients.assign(program().tensors.size(), kNoTensor);
    findWanted(targets);
  }

  std::vector<TensorId> run(std::span<const TensorId> targets) {
    m_builder.setBackward(true);
    seed();
    for (std::size_t i = m_forward; i-- > 0;) passThrough(i);
    m_builder.setBackward(false);
    m_builder.setOrigin(m_origin);
    std::vector<TensorId> gradients;
    for (TensorId target : targets) gradients.push_back(m_gradients[static_cast<std::size_t>(target)]);
    return gradients;
  }

 private:
  Program& program() { return m_builder.program(); }

  // A tensor is wanted when it is a target or is computed from one: everything else stops the walk at once.
  void findWanted(std::span<const TensorId> targets) {
    m_wanted.assign(program().tensors.size(), false);
    for (TensorId target : targets) m_wanted[static_cast<std::size_t>(target)] = true;
    for (const Operation& operation : program().operations) {
      if (operation.op->flat) continue;
      const bool any =
          std::any_of(operation.inputs.begin(), operation.inputs.end(), [&](TensorId id) { return isWanted(id); });
      if (!any) continue;
      for (TensorId id : operation.outputs)
        if (program().tensor(id).type == DataType::f32) m_wanted[static_cast<std::size_t>(id)] = true;
    }
  }

  bool isWanted(TensorId id) const { return id != kNoTensor && m_wanted[static_cast<std::size_t>(id)]; }

  void seed() {
    const std::vector<NamedResult> results = program().results;
    for (const NamedResult& result : results) {
      if (result.kind != ResultKind::loss || !isWanted(result.tensor)) continue;
      const Shape& shape = program().tensor(result.tensor).shape;
      if (shape.rank() != 0)
        throwError(ErrorCode::badProject, "the loss '{}' must be one number, but is {}", result.name, shape.toString());
      contribute(result.tensor, m_builder.scalar(kLossScaleScalar));
    }
  }

  void passThrough(std::size_t index) {
    const Operation operation = program().operations[index];  // a copy: emitting moves the list
    if (operation.op->flat) return;
    std::vector<TensorId> outputGradients;
    bool flows = false;
    for (TensorId id : operation.outputs) {
      outputGradients.push_back(m_gradients[static_cast<std::size_t>(id)]);
      flows |= outputGradients.back() != kNoTensor;
    }
    const auto wanted = std::make_unique<bool[]>(operation.inputs.size());
    bool any = false;
    for (std::size_t i = 0; i < operation.inputs.size(); ++i) any |= wanted[i] = isWanted(operation.inputs[i]);
    if (!flows || !any) return;

    if (!operation.op->gradient)
      throwError(ErrorCode::badProject, "the loss depends on '{}' through {}, which has no derivative yet{}",
                 operation.origin, operation.op->name,
                 operation.backward ? ": derivatives of derivatives are not there for it" : "");
    m_builder.setOrigin(operation.origin);
    const std::vector<TensorId> inputGradients =
        operation.op->gradient(m_builder, {operation.inputs,
                                           operation.outputs,
                                           outputGradients,
                                           {wanted.get(), operation.inputs.size()},
                                           operation.attributes});
    if (inputGradients.size() != operation.inputs.size())
      throwError(ErrorCode::internal, "the gradient of {} answers {} tensors for {} inputs", operation.op->name,
                 inputGradients.size(), operation.inputs.size());
    for (std::size_t i = 0; i < operation.inputs.size(); ++i) {
      if (!wanted[i] || inputGradients[i] == kNoTensor) continue;
      const Shape &is = m_builder.shape(inputGradients[i]), &wants = m_builder.shape(operation.inputs[i]);
      if (is != wants)
        throwError(ErrorCode::internal, "the gradient of {} gives {} for its input {}, which is {}", operation.op->name,
                   is.toString(), i, wants.toString());
      contribute(operation.inputs[i], inputGradients[i]);
    }
  }

  // Sums from left to right in the order in which contributions come, which the program alone decides.
  void contribute(TensorId to, TensorId gradient) {
    TensorId& sum = m_gradients[static_cast<std::size_t>(to)];
    sum = sum == kNoTensor ? gradient : emitSum(m_builder, sum, gradient);
  }

  ProgramBuilder& m_builder;
  std::size_t m_forward;  // operations before the backward part
  std::string m_origin;
  std::vector<bool> m_wanted;
  std::vector<TensorId> m_gradients;  // by TensorId of the forward part
};

bool isRead(const Program& program, TensorId id) {
  for (const Operation& operation : program.operations)
    if (std::find(operation.inputs.begin(), operation.inputs.end(), id) != operation.inputs.end()) return true;
  return std::any_of(program.results.begin(), program.results.end(),
                     [&](const NamedResult& result) { return result.tensor == id; });
}

std::string layerOf(const std::string& parameter) {
  return parameter.substr(0, parameter.rfind('/'));
}

}  // namespace

std::vector<TensorId> gradientsOf(ProgramBuilder& builder, std::span<const TensorId> targets) {
  return Differentiation(builder, targets).run(targets);
}

void differentiate(ProgramBuilder& builder, const std::function<bool(const Parameter&)>& wanted) {
  std::vector<TensorId> targets;
  for (const Parameter& parameter : builder.program().parameters)
    if (!parameter.isState && (!wanted || wanted(parameter)))
      targets.push_back(builder.program().findTensor(parameter.name, TensorRole::parameter));
  const std::vector<TensorId> gradients = gradientsOf(builder, targets);
  eliminateDeadCode(builder.program(), gradients);  // first, so that what nobody reads any more is no reader

  for (std::size_t i = 0; i < targets.size(); ++i) {
    TensorId gradient = gradients[i];
    if (gradient == kNoTensor) continue;
    const std::string name = builder.tensor(targets[i]).name;
    if (builder.tensor(gradient).role != TensorRole::intermediate || isRead(builder.program(), gradient)) {
      const std::string origin = builder.origin();
      builder.setOrigin(layerOf(name));
      builder.setBackward(true);
      gradient = emitCopy(builder, gradient);
      builder.setBackward(false);
      builder.setOrigin(origin);
    }
    Tensor& tensor = builder.program().tensors[static_cast<std::size_t>(gradient)];
    tensor.role = TensorRole::parameterGradient;
    tensor.name = name;
  }
  builder.program().training = true;
}

}  // namespace loom
