#pragma once
// One update of `training` on the parameter store: which tensors, by which rule, with which weight decay. It works in
// pieces of a few thousand elements, so that a piece's gradient is still in the cache when the rule reads it after the
// check for numbers that are not finite, and so that the backend can share pieces of all tensors among threads at once.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/network/project.h"
#include "engine/optimizers/optimizer.h"
#include "engine/program/backend.h"

namespace loom {

struct ApplyOptions {
  double learningRate = 0;
  std::optional<double>
      clipNorm;  // gradients are scaled by min(1, clipNorm / (norm + 1e-6)), as PyTorch's clip_grad_norm_
};

struct ApplyOutcome {
  double gradientNorm = 0;  // over all tensors of this update, before clipping; accumulated in double
  std::string notFinite;    // first parameter (in order of the program) whose gradient is not finite; then nothing
                            // is saved any more: weights in memory may have been changed in part
};

class ParameterUpdate {
 public:
  // Takes the parameters for which `program` computes gradients. `index` is this update's place in `training`: it keeps
  // slots of several optimizers on one parameter apart. Throws Error(badProject) for an unknown optimizer, wrong
  // values, or none to update.
  ParameterUpdate(const UpdateSpec& spec, int index, const Program& program, ParameterStore& store);

  // Whether the project's patterns choose this parameter.
  static bool chosen(const UpdateSpec& spec, const Parameter& parameter);
  // Name of a slot in the store: "momentum", or "momentum@1" for the second update.
  static std::string slotName(std::string_view slot, int index);

  // The next update from the gradients in the store.
  ApplyOutcome apply(Backend& backend, const ApplyOptions& options);

  double baseRate() const { return m_baseRate; }
  double baseDecay() const { return m_baseDecay; }
  std::int64_t count() const { return m_count; }          // updates done
  void setCount(std::int64_t count) { m_count = count; }  // resume
  const std::vector<std::string>& parameters() const { return m_names; }
  const std::vector<std::string>& slots() const { return m_slots; }  // names in the store
  const std::vector<std::string>& undecayed() const { return m_undecayed; }
  // Of the last update, by parameter: what the rule's reductions made of the learning rate (LARS, LAMB); 1 for rules
  // without.
  const std::vector<double>& trustRatios() const { return m_scales; }
  bool measures() const { return m_optimizer->measures(); }

 private:
  struct Tensor {
    UpdateRange range;
    float weightDecay;
    bool scaled;  // by its trust ratio, where the rule has one
  };
  struct Piece {
    std::size_t tensor;
    std::int64_t first, count;
  };
  void makePieces();
  template <class Work>
  void forEachPiece(Backend& backend, const Work& work);  // in parallel
  UpdateRange rangeOf(const Piece& piece) const;
  void measure(Backend& backend);
  void measureRule(Backend& backend, const UpdateScalars& scalars, bool squares);
  ApplyOutcome checked() const;
  std::string firstNotFinite() const;

  std::unique_ptr<Optimizer> m_optimizer;
  double m_baseRate = 0, m_baseDecay = 0;
  std::int64_t m_count = 0;
  std::vector<std::string> m_names, m_slots, m_undecayed;
  std::vector<Tensor> m_tensors;
  std::vector<StoredTensor*> m_weights;  // of each tensor
  std::vector<Piece> m_pieces;
  std::vector<std::size_t> m_units;  // first piece of each unit of work, and the end
  std::vector<UpdateSums> m_sums;    // of each piece, for rules that measure
  std::vector<double> m_scales;      // of each tensor
  std::vector<double> m_squares;     // of each piece, summed in their order: the same on any number of threads
};

}  // namespace loom
