// One walk over the program; what an operation's outputs are replaced by is seen by all that follow.
#include <algorithm>
#include <map>
#include <set>

#include "engine/passes/passes.h"

namespace loom {
namespace {

class Simplification {
 public:
  explicit Simplification(Program& program)
      : m_program(program), m_replacement(program.tensors.size()), m_producer(program.tensors.size(), -1) {
    for (std::size_t id = 0; id < m_replacement.size(); ++id) m_replacement[id] = static_cast<TensorId>(id);
    for (const Operation& operation : program.operations)
      for (int i : updatedInputs(*operation.op, operation.inputs.size(), operation.attributes))
        m_changing.insert(operation.inputs[static_cast<std::size_t>(i)]);
  }

  void run() {
    for (std::size_t i = 0; i < m_program.operations.size(); ++i) {
      Operation& operation = m_program.operations[i];
      for (TensorId& id : operation.inputs) id = current(id);
      for (TensorId id : operation.outputs) m_producer[static_cast<std::size_t>(id)] = static_cast<std::int32_t>(i);
      if (isFixed(operation)) continue;
      if (const TensorId same = sameAsInput(operation); same != kNoTensor)
        replace(operation.outputs[0], same);
      else if (const Operation* earlier = computedBefore(i))
        replaceAll(operation, *earlier);
      else
        foldConstant(operation);
    }
    for (NamedResult& result : m_program.results) result.tensor = current(result.tensor);
    eliminateDeadCode(m_program);
  }

 private:
  TensorId current(TensorId id) const { return id == kNoTensor ? id : m_replacement[static_cast<std::size_t>(id)]; }
  void replace(TensorId id, TensorId by) { m_replacement[static_cast<std::size_t>(id)] = by; }
  const Shape& shape(TensorId id) const { return m_program.tensor(id).shape; }
  bool isResult(TensorId id) const {
    return std::any_of(m_program.results.begin(), m_program.results.end(),
                       [&](const NamedResult& result) { return result.tensor == id; });
  }

  // Parameter gradients must be written by an operation, results must live in the program, states must change, and
  // other ranks wait for what is exchanged.
  bool isFixed(const Operation& operation) const {
    if (!operation.op->isPure()) return true;
    return std::any_of(operation.outputs.begin(), operation.outputs.end(), [&](TensorId id) {
      return m_program.tensor(id).role != TensorRole::intermediate || isResult(id);
    });
  }

  TensorId sameAsInput(const Operation& operation) const {
    const OpDefinition& op = *operation.op;
    if (op.equals != nullptr) {
      const int same =
          op.equals(m_program.specs(operation.inputs), m_program.specs(operation.outputs), operation.attributes);
      if (same >= 0) return operation.inputs[static_cast<std::size_t>(same)];
    }
    if (op.undoes == nullptr) return kNoTensor;
    const std::int32_t producer = m_producer[static_cast<std::size_t>(operation.inputs[0])];
    if (producer < 0) return kNoTensor;
    const Operation& earlier = m_program.operations[static_cast<std::size_t>(producer)];
    const bool undone = earlier.op == &op && op.undoes(operation.attributes, earlier.attributes) &&
                        shape(earlier.inputs[0]) == shape(operation.outputs[0]);
    return undone ? earlier.inputs[0] : kNoTensor;
  }

  // Every op is a function of its inputs and attributes (noise too), so the same twice is one. Not what reads a state
  // or a weight that is updated: it may change in between.
  const Operation* computedBefore(std::size_t index) {
    const Operation& operation = m_program.operations[index];
    for (TensorId id : operation.inputs)
      if (id != kNoTensor && (m_program.tensor(id).role == TensorRole::state || m_changing.contains(id)))
        return nullptr;
    std::vector<std::size_t>& seen = m_seen[{operation.op, operation.inputs}];
    for (std::size_t earlier : seen)
      if (m_program.operations[earlier].attributes == operation.attributes) return &m_program.operations[earlier];
    seen.push_back(index);
    return nullptr;
  }

  void replaceAll(const Operation& operation, const Operation& by) {
    for (std::size_t i = 0; i < operation.outputs.size(); ++i) replace(operation.outputs[i], current(by.outputs[i]));
  }

  void foldConstant(const Operation& operation) {
    std::vector<ReferenceTensor> inputs;
    for (TensorId id : operation.inputs) {
      if (id == kNoTensor || m_program.tensor(id).role != TensorRole::constant) return;
      inputs.push_back(
          {shape(id), std::vector<double>(static_cast<std::size_t>(shape(id).elements()), m_program.tensor(id).value)});
    }
    if (inputs.empty() || operation.outputs.size() != 1) return;
    std::vector<const ReferenceTensor*> pointers;
    for (const ReferenceTensor& input : inputs) pointers.push_back(&input);
    ReferenceTensor y{shape(operation.outputs[0]),
                      std::vector<double>(static_cast<std::size_t>(shape(operation.outputs[0]).elements()), 0.0)};
    operation.op->reference(pointers, {&y, 1}, operation.attributes);
    if (y.values.empty() ||
        std::any_of(y.values.begin(), y.values.end(), [&](double value) { return value != y.values[0]; }))
      return;
    m_program.tensors.push_back({"constant", y.shape, DataType::f32, TensorRole::constant, y.values[0]});
    m_replacement.push_back(static_cast<TensorId>(m_program.tensors.size() - 1));
    m_producer.push_back(-1);
    replace(operation.outputs[0], m_replacement.back());  // its operation is dead now
  }

  Program& m_program;
  std::vector<TensorId> m_replacement;  // by TensorId
  std::vector<std::int32_t> m_producer;
  std::set<TensorId> m_changing;
  std::map<std::pair<const OpDefinition*, std::vector<TensorId>>, std::vector<std::size_t>> m_seen;
};

}  // namespace

void simplify(Program& program) {
  Simplification(program).run();
}

}  // namespace loom
