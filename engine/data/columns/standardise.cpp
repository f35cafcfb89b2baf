#include "engine/data/columns/column_step.h"
#include "engine/data/columns/linear_effect.h"
#include "engine/data/columns/measured_numbers.h"
#include "engine/data/columns/step_fields.h"

namespace loom {
namespace standardise_column {

class Measure final : public ColumnMeasure {
 public:
  void add(const ColumnCells& cells) override { m_moments.add(cells.numbers); }
  Json finish(Json step, const std::function<void(std::string)>& warn) override {
    const std::string column = step["variable"];
    if (m_moments.count() == 0) return leftOut(column, warn);
    double deviation = m_moments.deviation();
    if (!(deviation > 1e-12 * std::abs(m_moments.mean()))) {
      warn(fmt::format("column {} holds {:.6g} everywhere: there is no spread to divide by, it becomes 0", column,
                       m_moments.mean()));
      deviation = 1;
    }
    step["mean"] = m_moments.mean();
    step["deviation"] = deviation;
    return step;
  }

 private:
  RunningMoments m_moments;
};

}  // namespace standardise_column

const ColumnStepDefinition& defineStandardiseColumn() {
  static const ColumnStepDefinition definition{
      .entry = {.id = "Standardise",
                .label = "Standardise",
                .category = "columns",
                .icon = "normalisation",
                .aliases = {"Standardize", "StandardScaler", "ZScore"},
                .summary = "Brings a column of numbers to mean 0 and deviation 1",
                .help = "y = (x − mean) / deviation; the deviation is that of the population (divided by the number of "
                        "rows). Left empty, both are measured on the training part. For pictures and vectors there is "
                        "Normalise.",
                .fields = {columnsField(),
                           {.key = "mean",
                            .label = "Mean",
                            .help = "Empty = measured on the training part.",
                            .type = FieldType::real,
                            .hard = Range{-1e30, 1e30},
                            .optional = true,
                            .absent = "measured"},
                           {.key = "deviation",
                            .label = "Deviation",
                            .help = "Empty = measured on the training part.",
                            .type = FieldType::real,
                            .hard = Range{1e-30, 1e30},
                            .optional = true,
                            .absent = "measured"}}},
      .effect = [](const Values& values, const CsvFormat&) -> std::unique_ptr<ColumnEffect> {
        return std::make_unique<LinearEffect>(values.real("mean"), values.real("deviation"));
      },
      .isMeasured = [](const Values& values) { return !values.has("mean") || !values.has("deviation"); },
      .measure = [](const Values&, const CsvFormat&) -> std::unique_ptr<ColumnMeasure> {
        return std::make_unique<standardise_column::Measure>();
      }};
  return definition;
}

}  // namespace loom
