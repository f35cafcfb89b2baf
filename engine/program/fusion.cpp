#include "engine/program/fusion.h"

#include <algorithm>

namespace loom {
namespace {

bool isOneOf(const std::string& name, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* other) { return name == other; });
}

// Elementwise in their inputs of the output's shape.
bool isElementwise(const Operation& operation) {
  return isOneOf(operation.op->name, {"unary", "unary_gradient", "binary", "scale", "scale_by", "dropout",
                                      "batch_normalization_inference"});
}

// Worth a pass of its own, to which others may be added.
bool mayLead(const Operation& operation) {
  return isElementwise(operation) ||
         isOneOf(operation.op->name, {"convolution", "convolution_input_gradient", "matmul", "batch_normalization",
                                      "batch_normalization_gradient", "layer_normalization", "softmax", "broadcast"});
}

class Analysis {
 public:
  explicit Analysis(const Program& program)
      : m_program(program), m_producer(program.tensors.size(), -1), m_readers(program.tensors.size()) {
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
      for (TensorId id : program.operations[i].inputs)
        if (id != kNoTensor) m_readers[static_cast<std::size_t>(id)].push_back(static_cast<std::int32_t>(i));
      for (TensorId id : program.operations[i].outputs)
        m_producer[static_cast<std::size_t>(id)] = static_cast<std::int32_t>(i);
    }
    for (const NamedResult& result : program.results) m_readers[static_cast<std::size_t>(result.tensor)].push_back(-1);
  }

  FusionHints run() {
    const std::size_t count = m_program.operations.size();
    FusionHints hints{std::vector<std::vector<std::int32_t>>(count), std::vector<std::int32_t>(count, -1)};
    for (std::size_t i = 0; i < count; ++i) {
      if (hints.leader[i] >= 0 || !mayLead(m_program.operations[i])) continue;
      const auto leader = static_cast<std::int32_t>(i);
      for (std::int32_t link = next(leader, leader); link >= 0; link = next(link, leader)) {
        if (hints.leader[static_cast<std::size_t>(link)] >= 0) break;
        hints.epilogues[i].push_back(link);
        hints.leader[static_cast<std::size_t>(link)] = leader;
      }
    }
    return hints;
  }

 private:
  // The operation that may follow `link` in the pass of `leader`; -1 when there is none.
  std::int32_t next(std::int32_t link, std::int32_t leader) const {
    const TensorId written = m_program.operations[static_cast<std::size_t>(link)].outputs[0];
    const std::vector<std::int32_t>& readers = m_readers[static_cast<std::size_t>(written)];
    if (readers.size() != 1 || readers[0] < 0) return -1;
    const Operation& reader = m_program.operations[static_cast<std::size_t>(readers[0])];
    const bool sameShape = m_program.tensor(reader.outputs[0]).shape == m_program.tensor(written).shape;
    if (!isElementwise(reader) || !sameShape) return -1;
    // What else it reads must be there when the leader runs.
    for (TensorId id : reader.inputs)
      if (id != kNoTensor && id != written && m_producer[static_cast<std::size_t>(id)] >= leader) return -1;
    return readers[0];
  }

  const Program& m_program;
  std::vector<std::int32_t> m_producer;
  std::vector<std::vector<std::int32_t>> m_readers;  // -1 = a result
};

}  // namespace

FusionHints analyseFusion(const Program& program) {
  return Analysis(program).run();
}

}  // namespace loom
