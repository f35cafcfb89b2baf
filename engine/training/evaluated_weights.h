#pragma once
// The weights to evaluate, where they are not those that are trained (an average, slow weights, Schedule-Free's): by
// these a run is judged, and these it leaves under the weights' names. Batch statistics are taken anew for them.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/optimizers/evaluated.h"
#include "engine/program/parameter_store.h"

namespace loom {

class FreshStatistics;

// Of a store at one moment.
struct EvaluatedWeights {
  std::map<std::string, EvaluatedFrom, std::less<>> from;  // by weight
  std::vector<FreshStatistics*> statistics;                // of the networks that have them
};

// As long as it lives, the weights to evaluate stand in the place of those that are trained, and statistics that fit
// them; then these do again. One thread, no step under way.
class EvaluatedInPlace {
 public:
  EvaluatedInPlace(ParameterStore& store, EvaluatedWeights evaluated);
  ~EvaluatedInPlace();
  EvaluatedInPlace(const EvaluatedInPlace&) = delete;
  EvaluatedInPlace& operator=(const EvaluatedInPlace&) = delete;

  bool any() const { return !m_evaluated.from.empty(); }
  // What another tensor stands in the place of; null: what stands there is trained.
  const std::vector<float>* trained(std::string_view name) const;
  // Whether this slot stands in the weight's place as it is.
  bool isShown(std::string_view name, std::string_view slot) const;
  // The slots that do so with some weight.
  std::vector<std::string> shownSlots() const;

 private:
  void putBack();
  ParameterStore& m_store;
  EvaluatedWeights m_evaluated;
  std::map<std::string, std::vector<float>, std::less<>> m_trained;
};

// Slots of these names begin as their weights.
void beginAsWeights(ParameterStore& store, const std::vector<std::string>& slots);

}  // namespace loom
