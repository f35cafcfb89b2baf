#pragma once
// The smoothed line of a chart. With weight w in [0, 1), and R the span of the whole x axis:
//
//   s(x_i) = sum_j w^(1000 |x_i - x_j| / R) y_j  /  sum_j w^(1000 |x_i - x_j| / R)
//
// an exponential mean weighted by distance on x, run forward and backward, divided by the weights that were there: no
// bias at the start, no lag on a falling curve, and at the live edge, where no future is known, the causal mean by
// itself. The thousand makes one setting look alike on every axis unit and density of points; R is the whole axis, not
// what is zoomed into, so that zooming never bends a curve.
#include <vector>

namespace loom {

// x rising; values finite. `weights` says how many points each stands for (empty = one each). w = 0 gives the values.
std::vector<double> smooth(const std::vector<double>& x, const std::vector<double>& y, double weight, double axisSpan,
                           const std::vector<double>& weights = {});

}  // namespace loom
