#pragma once
// The weights to evaluate: what stands in a weight's place where a run is judged, and in what it leaves, made of the
// weight and of one of its slots, element by element.
#include <string>

namespace loom {

struct EvaluatedFrom {
  std::string slot;
  double ofWeight = 0, ofSlot = 1;  // evaluated = ofWeight · weight + ofSlot · slot
  // Whether the slot itself is evaluated, so that a checkpoint need not hold it twice.
  bool isSlot() const { return ofWeight == 0 && ofSlot == 1; }
};

}  // namespace loom
