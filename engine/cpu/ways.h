#pragma once
// Ways of computing that a plan takes where they are faster: for each of them a test, or a measurement of one beside
// the other, may want it nowhere or wherever it can be done.
namespace loom {

enum class CpuWay { whereFaster, nowhere, wherePossible };

struct CpuWays {
  CpuWay winograd = CpuWay::whereFaster;  // cpu/lowerings/winograd.h
  CpuWay pixels = CpuWay::whereFaster;    // cpu/lowerings/pixels.h
  CpuWay halves = CpuWay::whereFaster;    // kernels/strassen.h
};

inline bool isTaken(CpuWay way, bool isFaster) {
  return way == CpuWay::whereFaster ? isFaster : way == CpuWay::wherePossible;
}

}  // namespace loom
