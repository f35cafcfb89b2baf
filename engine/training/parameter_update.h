#pragma once
// One update of `training` on the parameter store: its program (update_program.h), compiled by the backend whose memory
// the store is in, and how often it has run. A rule that keeps matrices has a program of their statistics before it,
// and work for the host in between.
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/program/backend.h"
#include "engine/training/update_program.h"

namespace loom {

struct ApplyOptions {
  double learningRate = 0;
  double epoch = 0;  // done before it; rules that follow epochs are told whole steps of it
  std::optional<double>
      clipNorm;  // gradients are scaled by min(1, clipNorm / (norm + 1e-6)), as PyTorch's clip_grad_norm_
};

// What a rule's reductions made of the learning rate (LARS, LAMB), over the parameters that it scales.
struct TrustRatios {
  double least = 1, median = 1;  // the lower one of two in the middle
};

struct ApplyOutcome {
  double gradientNorm = 0;  // over all tensors of this update, before clipping; accumulated in double
  std::string notFinite;    // first parameter (in order of the program) whose gradient is not finite; then nothing was
                            // changed, and the update does not count
  std::optional<TrustRatios> ratios;  // of an update that was made, by a rule that measures
};

class ParameterUpdate {
 public:
  struct Options {
    std::int64_t stepsPerEpoch = 1;  // into which rules that follow epochs see them divided
    double averageDecay = 0;         // of the average of the weights; 0: none
    std::optional<double> clipNorm;  // that apply() is going to be given
    int rank = 0, ranks = 1;         // that share the work, as in UpdateProgramOptions
    bool sharesSlots = false;
    // Where a rank has the gradients alone of what it owns: squares of these gradients become all ranks', by parameter.
    std::function<void(std::span<double>)> gatherSquares = nullptr;
    int threads = 0;  // as in CompileOptions, as are the others
    Trace* trace = nullptr;
    bool profile = false;
  };
  // As makeUpdateProgram(). Keeps a reference to `store`.
  ParameterUpdate(const UpdateSpec& spec, int index, const Program& trained, ParameterStore& store, Backend& backend,
                  const Options& options);
  ParameterUpdate(const UpdateSpec& spec, int index, const Program& trained, ParameterStore& store, Backend& backend)
      : ParameterUpdate(spec, index, trained, store, backend, Options{}) {}

  // Begins the next update, from the gradients in the store. The machine decides by itself whether they are finite;
  // where they were not, those that were begun behind it change nothing either, and do not count.
  void begin(const ApplyOptions& options);
  // How the oldest went that was begun; waits for it. One at a time may be under way behind it.
  ApplyOutcome finish();
  ApplyOutcome apply(const ApplyOptions& options) {
    begin(options);
    return finish();
  }

  const Executable& executable() const { return *m_executable; }
  double baseRate() const { return m_made.baseRate; }
  double baseDecay() const { return m_made.baseDecay; }
  std::int64_t count() const { return m_count; }          // updates done
  void setCount(std::int64_t count) { m_count = count; }  // resume
  const std::vector<std::string>& parameters() const { return m_made.parameters; }
  const std::vector<std::string>& slots() const { return m_made.slots; }                   // names in the store
  const std::vector<std::vector<std::string>>& slotsOf() const { return m_made.slotsOf; }  // by parameter
  const std::vector<int>& owners() const { return m_made.owners; }                         // by parameter, ranks
  const std::vector<std::vector<ProductMatrix>>& matricesOf() const { return m_made.matricesOf; }  // by parameter
  // One update at a time may be under way with either.
  bool worksOnHost() const { return m_made.products != nullptr; }
  bool gathersSquares() const { return m_gatherSquares != nullptr; }
  const std::vector<std::string>& copies() const { return m_made.copies; }  // slots that begin as the weight
  const std::vector<std::string>& undecayed() const { return m_made.undecayed; }
  const std::optional<EvaluatedFrom>& evaluated() const { return m_made.evaluated; }
  // Of a rule that averages its own steps: the highest rate so far, and the sum of the steps' weights. One update at a
  // time may then be under way.
  struct StepWeights {
    double most = 0, sum = 0;
  };
  bool weighsSteps() const { return m_made.weighsSteps; }
  const StepWeights& stepWeights() const { return m_weights; }
  void setStepWeights(const StepWeights& weights) { m_weights = weights; }
  // Of the update that was finished last, by parameter; 1 for rules without.
  const std::vector<double>& trustRatios() const { return m_ratios; }
  const std::vector<bool>& scaled() const { return m_made.scaled; }  // by parameter: whether ratios reach it
  bool measures() const { return m_made.measures; }
  // Of the update that was finished last, by parameter: the sum of its gradient's squares, before clipping; NaN where
  // none was read since noSquares().
  const std::vector<double>& gradientSquares() const { return m_squares; }
  void noSquares() { m_squares.assign(m_squares.size(), std::numeric_limits<double>::quiet_NaN()); }

 private:
  TrustRatios summary() const;
  std::int64_t stepScalar(const ApplyOptions& options);
  bool countStatistics(std::int64_t number, const ApplyOptions& options);
  void workOnHost(std::int64_t number);
  void takeSquares(std::int64_t number);
  std::int64_t m_stepsPerEpoch = 1;
  ParameterStore& m_store;
  int m_index;
  UpdateProgram m_made;                                                  // its programs went into the executables
  std::unique_ptr<Executable> m_statistics, m_ownSquares, m_executable;  // those but the last may be null
  std::function<void(std::span<double>)> m_gatherSquares;
  int m_rank = 0;
  std::vector<bool> m_worked;  // by place in onHost: the host has worked on it; empty: not asked yet
  std::int64_t m_count = 0;
  struct Begun {
    StepNumber step = 0;
    std::int64_t number = 0;  // of the update, from 1
  };
  std::deque<Begun> m_begun;                // and not finished
  StepWeights m_weights, m_weightsBegun;    // of updates that were made; with the one that is under way
  std::int64_t m_refused = 0;               // the number of the update whose gradients were not finite; 0 = none
  std::vector<double> m_squares, m_ratios;  // by parameter
};

}  // namespace loom
