#pragma once
// One update of `training` as a program: which tensors, by which rule, with which weight decay. It reads the gradients
// that stand in the store and changes weights and slots there; learning rate, count and clipping are its scalars.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/network/project.h"
#include "engine/optimizers/evaluated.h"
#include "engine/optimizers/product_rule.h"
#include "engine/program/program.h"

namespace loom {

// Results, in f64, one number a parameter: sums of squares of the gradients, and trust ratios (ops/update.cpp).
inline constexpr const char* kSquaresResult = "squares";
inline constexpr const char* kRatiosResult = "ratios";

// The exponential average of a parameter, which is what is evaluated where there is one (checkpoint.h). Whoever makes
// the program lets it begin as the parameter.
inline constexpr const char* kAverageSlot = "average";

struct UpdateProgram {
  // Of a rule that keeps matrices: their statistics, which run before the host's work and the other program. Its result
  // are the squares.
  std::optional<Program> statistics;
  // Where a rank has the gradients alone of what it owns: their squares, which the other program then is given of all
  // as its input kSquaresResult; none: it owns nothing.
  std::optional<Program> squares;
  Program program;
  std::vector<std::string> parameters;  // in their order
  // Names in the store of what is kept for a parameter: "momentum", or "momentum@1" for the second update. A rule with
  // products keeps other ones for what it steps by them.
  std::vector<std::string> slots;
  std::vector<std::vector<std::string>> slotsOf;  // by parameter
  std::vector<int> owners;                        // by parameter: the rank that steps it and has its slots; -1: all
  std::vector<std::vector<ProductMatrix>> matricesOf;  // by parameter: what is kept in another shape, as in the store
  std::shared_ptr<const ProductRule> products;         // of a rule that works on the host; else null
  std::vector<std::size_t> onHost;                     // the parameters on whose matrices this rank does
  std::vector<Shape> shapes;                           // by parameter
  std::vector<std::string> copies;                     // those of the slots that begin as the weight
  std::vector<std::string> undecayed;                  // parameters without weight decay
  std::vector<bool> scaled;                            // by parameter: whether trust ratios reach it
  double baseRate = 0, baseDecay = 0;                  // as the project has them
  bool measures = false;                               // has trust ratios
  bool weighsSteps = false;                            // Optimizer::weighsSteps()
  std::optional<EvaluatedFrom> evaluated;
};

struct UpdateProgramOptions {
  std::int64_t stepsPerEpoch = 1;  // for rules that follow epochs
  double averageDecay = 0;         // of the average of the weights, a slot kAverageSlot; 0 keeps none
  std::optional<double> clipNorm;  // that the step is going to be given
  // A rank steps alone what it owns: of all tensors where ranks share the rule's slots, else of those of which the rule
  // gives each to one rank.
  int rank = 0, ranks = 1;
  bool sharesSlots = false;
  bool ownGradients = false;  // a rank has the sums alone of what it owns
};

// Takes the parameters for which `trained` computes gradients; the states whose averages it computes take these where
// the update is made. `index` is this update's place in `training`: it keeps slots of several optimizers on one
// parameter apart. Throws Error(badProject) for an unknown optimizer, wrong values, or none to update.
UpdateProgram makeUpdateProgram(const UpdateSpec& spec, int index, const Program& trained,
                                const UpdateProgramOptions& options = {});

// A slot's or a matrix's name in the store, of this place in `training`: "momentum", "momentum@1".
std::string nameInStore(const std::string& slot, int index);
// Where the store has a parameter's matrix: "conv1/weight#left", a state.
inline std::string matrixInStore(const std::string& parameter, const std::string& matrix) {
  return slotName(parameter, matrix);
}

// Whether a name in the store is a matrix's.
inline bool isMatrix(const Parameter& parameter) {
  return parameter.name.find('#') != std::string::npos;
}

// Whether a rule gives each of its tensors to one rank.
bool givesOneRankEach(const UpdateSpec& spec);

// A step's share of an average, of a rule that weighs its steps, as its program's scalar kStepScalar has it.
std::int64_t partsOfShare(double share);

// Whether the project's patterns choose this parameter.
bool isChosen(const UpdateSpec& spec, const Parameter& parameter);

}  // namespace loom
