#pragma once
// Averages of the weights in a store (kAverageSlot): their beginning, and their turn when something is evaluated.
#include <utility>
#include <vector>

#include "engine/program/parameter_store.h"

namespace loom {

// Before the first update: each begins as its parameter.
void beginAverages(ParameterStore& store);

// As long as it lives, averages stand in the place of the weights that have one; then these do again. One thread, no
// step under way.
class AveragesInPlace {
 public:
  explicit AveragesInPlace(ParameterStore& store);
  ~AveragesInPlace();
  AveragesInPlace(const AveragesInPlace&) = delete;
  AveragesInPlace& operator=(const AveragesInPlace&) = delete;

 private:
  std::vector<std::pair<StoredTensor*, std::vector<float>>> m_trained;
};

}  // namespace loom
