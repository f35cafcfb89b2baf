#pragma once
// Where the next trial of a search is: a row of a table, a pure function of the trials so far. So a search that was
// interrupted goes on as if it had not been.
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "engine/search/trial.h"

namespace loom {

struct SoFar {
  const Space& space;
  std::span<const Trial> trials;  // in any order; those that go on included
  int planned = 0;                // trials in all
  std::uint64_t seed = 0;
  std::span<const Point> refused = {};  // points that cannot be a trial: never answered again
  int redraw = 0;                       // how many of them were refused for the trial that is drawn now
};

struct SearchStrategy {
  std::string id, label, help;
  // A point that no trial has and none was refused for; nothing when the space holds no further one. Throws Error where
  // a library is missing.
  std::optional<Point> (*next)(const SoFar& soFar);
};

std::span<const SearchStrategy* const> strategyTable();
// Throws Error(badArgument) with the names that there are.
const SearchStrategy& strategyNamed(std::string_view id);

// A point drawn evenly over the space, a function of seed and number alone; one that no trial has.
std::optional<Point> randomPoint(const SoFar& soFar);
// Whether a trial has it, or it was refused.
bool isTaken(const SoFar& soFar, const Point& point);
// keyOf() of all those points.
std::set<std::string> takenKeys(const SoFar& soFar);

}  // namespace loom
