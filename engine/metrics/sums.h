#pragma once
// Metrics that are no means over samples: their tensor is a vector whose numbers are summed over batches and ranks
// (ResultSums), and the figure is made of the sums at the end.
#include <limits>

#include "engine/layers/layer.h"

namespace loom {

// Makes the vector known as the node's result. Within the network its number is not known: what is answered for the
// output port is NaN.
std::vector<TensorId> finishSums(const LowerArguments& arguments, TensorId vector, const ResultSums& sums);

// A function of a mean over all values, such as its root. A run gives its own mean, and of how many.
template <double (*function)(double)>
inline constexpr ResultSums kOfMean{.accumulate =
                                        [](std::span<const double> run, std::span<double> sums) {
                                          sums[0] += run[0] * run[1];
                                          sums[1] += run[1];
                                        },
                                    .finish =
                                        [](std::span<const double> sums) {
                                          return sums[1] > 0 ? function(sums[0] / sums[1])
                                                             : std::numeric_limits<double>::quiet_NaN();
                                        }};
// `mean` of rank 0 over so many values of the batch, for kOfMean.
std::vector<TensorId> finishMean(const LowerArguments& arguments, TensorId mean, double values, const ResultSums& sums);

// Input and target of one shape, and one number.
std::vector<Shape> equalTargetShapes(const ShapeArguments& arguments);

}  // namespace loom
