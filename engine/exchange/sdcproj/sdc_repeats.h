#pragma once
// RepeatStart and RepeatEnd of a tab: what stands between them, and how they stand in each other.
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "engine/exchange/sdcproj/sdc_file.h"

namespace loom::sdc {

struct Repeat {
  std::int64_t start = 0, end = 0;  // ids of layers
  std::set<std::int64_t> members;   // that lie on a way from the one to the other, marks of inner repeats included
  std::ptrdiff_t parent = -1;       // index of the smallest repeat around it; -1 = none
};

struct Repeats {
  std::vector<Repeat> all;
  std::set<std::int64_t> paired;                  // marks that found each other
  std::map<std::int64_t, std::size_t> innermost;  // of a layer: index of the smallest repeat around it
};

Repeats findRepeats(const Network& tab);

}  // namespace loom::sdc
