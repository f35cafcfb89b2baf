#pragma once
// What a network's numbers mean to the user: the target's steps backwards, so that predictions are in the units and
// class names of the file.
#include <string>
#include <vector>

#include "engine/base/json.h"

namespace loom {

struct TargetMeaning {
  // One number backwards: value = inverse(value) for each link, in this order.
  struct Link {
    enum class Kind { linear, exponential, exponentialMinusOne } kind = Kind::linear;
    double by = 1, add = 0;  // linear: value * by + add
  };
  std::string column;                // of the file, "price"
  std::vector<std::string> classes;  // words of class 0, 1, 2 ... where it was encoded; else empty
  std::vector<Link> links;
  bool changed() const { return !classes.empty() || !links.empty(); }
  double inUnits(double value) const;
  std::string className(std::int64_t index) const;  // the index itself where there is no word for it
};

// Of variable `target` after the resolved steps of `prepare` (column steps; Scale and Normalise that name it); one a
// number of a vector.
std::vector<TargetMeaning> meaningOf(const std::vector<Json>& prepare, const std::string& target);

// Of which variable of the dataset a column of the file is behind the steps on columns. Empty where it is left out or
// has become several.
std::string variableOf(const std::vector<Json>& prepare, const std::string& column);

}  // namespace loom
