#pragma once
// Which rows of a CSV a dataset of a project is.
#include <cstdint>
#include <optional>
#include <string>

namespace loom {

struct HoldOut {
  double share = 0.1;    // of the rows (of each class, with `by`); at least one row, never all
  bool held = false;     // the part that is held out; false: the rest
  bool shuffled = true;  // false: the last rows are held out
  std::string by;        // a variable of classes, whose shares stay the same in both parts; empty: rows as they come
  std::string group;     // a variable whose equal values stay in one part (all rows of a patient); empty: none
  std::string order;     // a variable (number, date) in whose order the last rows are held out; empty: none
  std::uint64_t seed = 1;
};

struct RowChoice {
  std::int64_t first = 0;   // negative: counted from the end
  std::int64_t count = -1;  // negative: all that follow
  std::optional<HoldOut> holdOut;
  bool all() const { return first == 0 && count < 0 && !holdOut; }
};

// The variable that a pack made of prepared columns holds beside them where rows are held out: 1 for these, 0 for the
// rest.
inline constexpr const char* kHeldOutVariable = "held_out";
inline constexpr const char* kHeldOutLabel = "part";

}  // namespace loom
