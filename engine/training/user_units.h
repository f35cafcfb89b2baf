#pragma once
// How far a network is off in the unit of the column that it predicts, beside a loss of numbers that were scaled for
// training: RMSE of a MeanSquaredError, MAE of an AbsoluteError. Told where it follows from the loss exactly: of a
// column of single numbers that is scaled in a straight line (not of its logarithm). Pure functions, any thread.
#include <string>
#include <vector>

#include "engine/training/means.h"
#include "engine/training/project_data.h"

namespace loom {

struct UnitMetric {
  std::string name;   // "RMSE_price"
  std::string loss;   // the node
  bool root = false;  // of the mean square
  double weight = 1;  // that the loss is multiplied by
  double factor = 1;  // a deviation of the column, say: in its unit
};
std::vector<UnitMetric> unitMetrics(const Network& flat, const OpenedDataset& dataset);
// With these behind its own metrics: of a mean over many samples the root is taken of the mean.
Measured inUnits(Measured measured, const std::vector<UnitMetric>& metrics);

}  // namespace loom
