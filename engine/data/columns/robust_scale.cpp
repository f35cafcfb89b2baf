#include "engine/data/columns/column_step.h"
#include "engine/data/columns/linear_effect.h"
#include "engine/data/columns/measured_numbers.h"
#include "engine/data/columns/step_fields.h"

namespace loom {
namespace robust_scale_column {

class Measure final : public ColumnMeasure {
 public:
  void add(const ColumnCells& cells) override { m_numbers.add(cells.numbers); }
  Json finish(Json step, const std::function<void(std::string)>& warn) override {
    const std::string column = step["variable"];
    if (m_numbers.count() == 0) return leftOut(column, warn);
    const double median = m_numbers.quantile(0.5);
    double spread = m_numbers.quantile(0.75) - m_numbers.quantile(0.25);
    if (!(spread > 0)) {
      warn(fmt::format("column {} has no spread: half of its values are {:.6g}, so only the median is taken away",
                       column, median));
      spread = 1;
    }
    step["centre"] = median;
    step["spread"] = spread;
    return step;
  }

 private:
  CollectedNumbers m_numbers;
};

}  // namespace robust_scale_column

const ColumnStepDefinition& defineRobustScaleColumn() {
  static const ColumnStepDefinition definition{
      .entry = {.id = "RobustScale",
                .label = "Robust scale",
                .category = "columns",
                .icon = "normalisation",
                .aliases = {"RobustScaler"},
                .summary = "Brings a column of numbers to median 0 and quartile range 1",
                .help = "y = (x − median) / (third quartile − first quartile). A few values far out change neither, as "
                        "they would change mean and deviation. Left empty, both are measured on the training part, on "
                        "at most a million rows spread evenly.",
                .fields = {columnsField(),
                           {.key = "centre",
                            .label = "Median",
                            .help = "Empty = measured on the training part.",
                            .type = FieldType::real,
                            .hard = Range{-1e30, 1e30},
                            .optional = true,
                            .absent = "measured"},
                           {.key = "spread",
                            .label = "Quartile range",
                            .help = "Empty = measured on the training part.",
                            .type = FieldType::real,
                            .hard = Range{1e-30, 1e30},
                            .optional = true,
                            .absent = "measured"}}},
      .effect = [](const Values& values, const CsvFormat&) -> std::unique_ptr<ColumnEffect> {
        return std::make_unique<LinearEffect>(values.real("centre"), values.real("spread"));
      },
      .isMeasured = [](const Values& values) { return !values.has("centre") || !values.has("spread"); },
      .measure = [](const Values&, const CsvFormat&) -> std::unique_ptr<ColumnMeasure> {
        return std::make_unique<robust_scale_column::Measure>();
      }};
  return definition;
}

}  // namespace loom
