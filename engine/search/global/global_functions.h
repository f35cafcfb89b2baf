#pragma once
// What the module "loom_dlib.so", which links dlib, gives to the engine: plain C, so that either may be of another
// build.
#include <cstddef>
#include <cstdint>

extern "C" {

struct LoomGlobalFunctions {
  int version;
  // From `known` evaluations (x: point after point, each coordinate from 0 to 1; y: more is better) the next two points
  // of a global search: around the best one, and where the most may be gained. 0, or 1 with a sentence in `why`.
  int (*next)(int dimensions, int known, const double* x, const double* y, std::uint64_t seed, double* refined,
              double* explored, char* why, std::size_t room);
};

using LoomGlobalEntry = const LoomGlobalFunctions* (*)();
}

inline constexpr int kLoomGlobalVersion = 1;
inline constexpr char kLoomGlobalEntryName[] = "loomGlobalFunctions";
