#pragma once
// What the values of a dataset look like: mean, deviation, extremes, classes; and from them the numbers of `Normalise`.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/data/dataset.h"

namespace loom {

struct Moments {
  std::int64_t count = 0;
  double mean = 0, deviation = 0;  // of the population: divided by count
  double low = 0, high = 0;
};

inline constexpr std::int64_t kMostLabels = 100'000;

// Whether a scalar whose values are whole numbers from 0, counts[i] of them i, holds classes: those that the header
// calls labels do. Others where it looks so: few values, most of them met, each by several rows. What a flat costs is
// no class.
bool areClasses(const Variable& variable, const std::vector<std::int64_t>& counts);

// The column that is most likely to be predicted: "y", else the last of those that hold classes, else the last of
// several; empty where there is one alone. `columns` in the order of the file.
std::string likelyTarget(const std::vector<std::string>& columns,
                         const std::function<bool(const std::string&)>& holdsClasses);

struct VariableStats {
  std::string variable;
  Moments all;
  std::vector<Moments>
      channels;  // image: C; wave and matrix: the last axis; vector: each element; at most 4096, else empty
  std::vector<std::int64_t> classes;    // samples of class 0, 1, ... of scalars that areClasses(), else empty
  std::vector<std::int64_t> histogram;  // 64 equal bins of [low, high]
  // Of each number of a vector, and of a scalar: 17 equal bins of its own [low, high]; empty for other kinds and beyond
  // 256 numbers.
  std::vector<std::vector<std::int64_t>> elements;
};

struct StatsOptions {
  std::int64_t rows = 0;  // how many, spread evenly over the dataset; 0 = all
  int threads = 0;        // 0 = cores; the result does not depend on it
  std::function<bool(std::int64_t done, std::int64_t total)> progress;  // false cancels (Error stopped)
};

std::vector<VariableStats> measure(const Dataset& dataset, const StatsOptions& options = {});
Json toJson(const VariableStats& stats);

// `prepare` with the mean and deviation of each Normalise step that names none measured on `dataset` (the training
// set's hold for validation too, so ask once and give both loaders the answer). At most 100,000 rows are read.
bool needsMeasuring(const std::vector<Json>& prepare);  // whether a Normalise step names none
std::vector<Json> measurePrepare(const Dataset& dataset, const std::vector<Json>& prepare);

// Highest label + 1 of a scalar variable whose values are all integers >= 0; 0 when they are not.
std::int64_t classCount(const Dataset& dataset, std::size_t variable);

}  // namespace loom
