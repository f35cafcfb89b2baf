#pragma once
// What several runs that differ by their seed alone say together: mean and spread over those that may be averaged, and
// why the others may not. Pure functions.
#include <QString>
#include <vector>

#include "launcher/store/run_record.h"

namespace loom {

// How far the runs of a group lie apart: standard deviation (n - 1), standard error of the mean, least to largest.
enum class Spread { deviation, error, range };

struct SeedSpread {
  double mean = 0, low = 0, high = 0;  // low and high: the ends of the spread
  double spread = 0;                   // half of it, for "±"; of a range its width
};
// Of at least one value; one alone has no spread.
SeedSpread seedSpreadOf(const std::vector<double>& values, Spread spread);

// Why each run of a group may not be averaged with the others, in a word or two; empty = it may. "stopped", "NaN",
// "other metric", "other length", "same seed", "running".
std::vector<QString> whyNotAveraged(const std::vector<const RunRecord*>& runs);

bool isSeedSetting(const QString& key);  // "seed", also of one of several updates
// Of a setting "seed"; empty where the run has none.
QString seedOf(const RunRecord& run);
// "digits-4" of "digits-4-seed11": the name of a group.
QString nameWithoutSeed(const QString& name);

}  // namespace loom
