#pragma once
// One update of `training` on the parameter store: its program (update_program.h), compiled by the backend whose memory
// the store is in, and how often it has run.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/program/backend.h"
#include "engine/training/update_program.h"

namespace loom {

struct ApplyOptions {
  double learningRate = 0;
  std::optional<double>
      clipNorm;  // gradients are scaled by min(1, clipNorm / (norm + 1e-6)), as PyTorch's clip_grad_norm_
};

struct ApplyOutcome {
  double gradientNorm = 0;  // over all tensors of this update, before clipping; accumulated in double
  std::string notFinite;    // first parameter (in order of the program) whose gradient is not finite; then nothing was
                            // changed, and the update does not count
};

class ParameterUpdate {
 public:
  // As makeUpdateProgram(). Keeps a reference to `store`.
  ParameterUpdate(const UpdateSpec& spec, int index, const Program& trained, ParameterStore& store, Backend& backend,
                  Trace* trace = nullptr);

  // The next update from the gradients in the store.
  ApplyOutcome apply(const ApplyOptions& options);

  double baseRate() const { return m_made.baseRate; }
  double baseDecay() const { return m_made.baseDecay; }
  std::int64_t count() const { return m_count; }          // updates done
  void setCount(std::int64_t count) { m_count = count; }  // resume
  const std::vector<std::string>& parameters() const { return m_made.parameters; }
  const std::vector<std::string>& slots() const { return m_made.slots; }  // names in the store
  const std::vector<std::string>& undecayed() const { return m_made.undecayed; }
  // Of the last update, by parameter: what the rule's reductions made of the learning rate (LARS, LAMB); 1 for rules
  // without.
  const std::vector<double>& trustRatios() const { return m_ratios; }
  bool measures() const { return m_made.measures; }

 private:
  UpdateProgram m_made;  // its program went into the executable
  std::unique_ptr<Executable> m_executable;
  std::int64_t m_count = 0;
  std::vector<double> m_squares, m_ratios;  // by parameter
};

}  // namespace loom
