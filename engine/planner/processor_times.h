#pragma once
// How long a processor takes for the stages of a compiled program: from what it took for a few networks that were run
// on it once and kept (engine/loom/bench/calibration.h), or, where nothing was measured, from a crude model of it.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/program/step_cost.h"

namespace loom {

// What a processor is taken to reach where nothing was measured.
struct ProcessorModel {
  int threads = 1;
  double operations = 40e9;  // of products and convolutions in f32, a thread and second; a multiply-add is two
  double bandwidth = 10e9;   // bytes that a thread reads or writes a second
  double stage = 4e-6;       // seconds from one operation to the next
};
// This machine's number of threads and the width of its vectors; `threads` 0 = all that there are.
ProcessorModel thisProcessor(int threads = 0);

struct ProcessorTimes {
  // One stage as it was measured: by all threads together, with what they read as near as it is in a step.
  struct Point {
    std::string op, kernel;
    StageKind kind = StageKind::memory;
    DataType factors = DataType::f32;
    double bytes = 0, operations = 0;  // as StageCost has them
    double seconds = 0;
    std::vector<double> sizes;
    double step = 0;
  };
  std::string machine;        // "AMD EPYC, avx512, 2 threads, oneDNN 2.6.3": what the times hold for
  std::string program, date;  // which program measured them, and when; empty: nothing was measured
  double betweenStages = 0;   // seconds that a step takes beside its stages, for each of them
  std::vector<Point> points;  // none: nothing was measured
  ProcessorModel assumed;
};

// Of a stage with all its calls. Measured: what its nearest relatives of the same op and type took for an operation (a
// byte, where it multiplies nothing), the mean of their logarithms weighted by 1 / (d^2 + 0.05)^2 with d the distance
// of the sizes, and of what reads weights once a step also of what the step moves (Shepard, "A two-dimensional
// interpolation function for irregularly-spaced data", 1968). An op that nobody measured takes as long a byte as others
// of its kind. Assumed: memory and arithmetic beside each other.
double secondsOf(const StageCost& stage, const ProcessorTimes& times);

// "measured on 2026-11-23", or "assumed, nothing was measured on this machine": which times these are.
std::string sourceOf(const ProcessorTimes& times);

// Where what was measured is kept: one entry a machine (README).
std::filesystem::path keptProcessorTimes();
// Those of this machine, by its words. Nothing where none are kept. A file that is no such file throws Error(badData)
// with the remedy.
std::optional<ProcessorTimes> readProcessorTimes(const std::filesystem::path& file, const std::string& machine);
// Replaces this machine's; other machines' stay.
void keepProcessorTimes(const std::filesystem::path& file, const ProcessorTimes& times);

}  // namespace loom
