#include <algorithm>
#include <limits>

#include "engine/base/error.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/columns/linear_effect.h"
#include "engine/data/columns/measured_numbers.h"
#include "engine/data/columns/step_fields.h"

namespace loom {
namespace clip_column {

class Effect final : public ColumnEffect {
 public:
  Effect(double low, double high) : m_low(low), m_high(high) {}
  void apply(std::vector<ColumnCells>& cells, const CellFaultSink&) const override {
    for (double& value : cells[0].numbers)
      if (value < m_low)
        value = m_low;
      else if (value > m_high)
        value = m_high;
  }

 private:
  double m_low, m_high;
};

class Measure final : public ColumnMeasure {
 public:
  void add(const ColumnCells& cells) override { m_numbers.add(cells.numbers); }
  Json finish(Json step, const std::function<void(std::string)>& warn) override {
    if (m_numbers.count() == 0) return leftOut(step["variable"], warn);
    const auto shares = step["percentiles"].get<std::vector<double>>();
    if (shares[0] >= shares[1])
      throwError(ErrorCode::badProject, "step Clip of prepare: percentiles {} and {} enclose nothing", shares[0],
                 shares[1]);
    for (const auto& [key, share] : {std::pair("low", shares[0]), std::pair("high", shares[1])})
      if (!step.contains(key) || step[key].is_null()) step[key] = m_numbers.quantile(share / 100);
    return step;
  }

 private:
  CollectedNumbers m_numbers;
};

}  // namespace clip_column

const ColumnStepDefinition& defineClipColumn() {
  static const ColumnStepDefinition definition{
      .entry = {.id = "Clip",
                .label = "Clip",
                .category = "columns",
                .icon = "fit",
                .aliases = {"Winsorise", "Winsorize", "Clamp"},
                .summary = "Holds numbers within bounds",
                .help =
                    "What lies below the lower bound becomes it, what lies above the upper one becomes that. Bounds "
                    "are given, or measured as percentiles of the training part.",
                .fields = {columnsField(),
                           {.key = "low",
                            .label = "Low",
                            .help = "The lower bound; empty = none, or the lower percentile.",
                            .type = FieldType::real,
                            .hard = Range{-1e30, 1e30},
                            .optional = true,
                            .absent = "none"},
                           {.key = "high",
                            .label = "High",
                            .help = "The upper bound; empty = none, or the upper percentile.",
                            .type = FieldType::real,
                            .hard = Range{-1e30, 1e30},
                            .optional = true,
                            .absent = "none"},
                           {.key = "percentiles",
                            .label = "Percentiles",
                            .help = "Two of 0 … 100, such as 0.1 and 99.9, whose values are the bounds.",
                            .type = FieldType::reals,
                            .hard = Range{0, 100},
                            .count = 2,
                            .optional = true,
                            .important = true}}},
      .effect = [](const Values& values, const CsvFormat&) -> std::unique_ptr<ColumnEffect> {
        constexpr double kFar = std::numeric_limits<double>::infinity();
        const double low = values.has("low") ? values.real("low") : -kFar;
        const double high = values.has("high") ? values.real("high") : kFar;
        if (low == -kFar && high == kFar)
          throwError(ErrorCode::badProject, "step Clip of prepare: it has no bounds; give low, high or percentiles");
        if (low > high) throwError(ErrorCode::badProject, "step Clip of prepare: low is {}, above high, {}", low, high);
        return std::make_unique<clip_column::Effect>(low, high);
      },
      .isMeasured =
          [](const Values& values) { return values.has("percentiles") && (!values.has("low") || !values.has("high")); },
      .measure = [](const Values&, const CsvFormat&) -> std::unique_ptr<ColumnMeasure> {
        return std::make_unique<clip_column::Measure>();
      }};
  return definition;
}

}  // namespace loom
