#pragma once
// What F1, Precision, Recall and MeanIoU are made of: of each class how often it was said, how often it was the truth,
// and how often it was both. These add up over batches and ranks; the figure is made of the sums.
#include "engine/layers/layer.h"

namespace loom {

// Of one class, or of several together.
struct ClassCounts {
  double right = 0, said = 0, truth = 0;
};
using CountsRatio = double (*)(const ClassCounts& counts);  // 0 where there is nothing to divide by

// The sums are 3 K numbers: K rights, K saids, K truths.
namespace class_counts {

// The mean over the classes that were said or true; of others nothing is known, and they do not count.
double macro(std::span<const double> sums, CountsRatio ratio);
// Of all classes together.
double micro(std::span<const double> sums, CountsRatio ratio);

}  // namespace class_counts

// How the sums are finished.
template <CountsRatio ratio>
inline constexpr ResultSums kMacroSums{
    .accumulate = nullptr, .finish = [](std::span<const double> sums) { return class_counts::macro(sums, ratio); }};
template <CountsRatio ratio>
inline constexpr ResultSums kMicroSums{
    .accumulate = nullptr, .finish = [](std::span<const double> sums) { return class_counts::micro(sums, ratio); }};

// A metric over class scores with the fields `average` and `positive`; `help` says the formula and its edge.
Entry averageEntry(std::string id, std::vector<std::string> aliases, std::string summary, std::string help);
std::vector<Shape> averageShapes(const ShapeArguments& arguments);
// Fields `from` and `threshold`, ports and shape rule are BinaryAccuracy's.
Entry chanceEntry(std::string id, std::vector<std::string> aliases, std::string summary, std::string help);

// Class scores against labels, averaged as the field says.
std::vector<TensorId> lowerAverage(const LowerArguments& arguments, const ResultSums& macro, const ResultSums& micro);
// The same without fields: all classes.
std::vector<TensorId> lowerClasses(const LowerArguments& arguments, const ResultSums& macro);
// Chances against 0 and 1.
std::vector<TensorId> lowerChances(const LowerArguments& arguments, const ResultSums& micro);

}  // namespace loom
