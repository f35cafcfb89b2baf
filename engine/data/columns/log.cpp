#include <fmt/format.h>

#include <cmath>

#include "engine/data/columns/column_step.h"
#include "engine/data/columns/step_fields.h"

namespace loom {
namespace log_column {

class Effect final : public ColumnEffect {
 public:
  explicit Effect(bool plusOne) : m_plusOne(plusOne) {}
  void apply(std::vector<ColumnCells>& cells, const CellFaultSink& fault) const override {
    std::vector<double>& numbers = cells[0].numbers;
    for (std::size_t row = 0; row < numbers.size(); ++row) {
      double& value = numbers[row];
      if (value <= (m_plusOne ? -1 : 0)) {
        fault({row, FaultKind::notFinite, fmt::format("the cell is {:.6g}", value),
               m_plusOne ? "log(x + 1) needs numbers above -1" : "a logarithm needs numbers above 0",
               m_plusOne ? "put a Clip before it, or skip the row"
                         : "take log1p, put a Clip before it, or skip the row"});
        value = kMissing;
      } else {
        value = m_plusOne ? std::log1p(value) : std::log(value);
      }
    }
  }
  bool invert(TargetMeaning& target) const override {
    using Kind = TargetMeaning::Link::Kind;
    target.links.insert(target.links.begin(), {.kind = m_plusOne ? Kind::exponentialMinusOne : Kind::exponential});
    return true;
  }

 private:
  bool m_plusOne;
};

}  // namespace log_column

const ColumnStepDefinition& defineLogColumn() {
  static const ColumnStepDefinition definition{
      .entry = {.id = "Log",
                .label = "Logarithm",
                .category = "columns",
                .icon = "function",
                .aliases = {"Log1p", "Logarithm"},
                .summary = "Takes the logarithm of a column",
                .help =
                    "For numbers that span powers of ten (prices, counts): what lies a tenfold apart then lies a step "
                    "apart. log(x) needs numbers above 0; log(x + 1) takes 0 too. Others are refused with their "
                    "row.",
                .fields = {columnsField(),
                           {.key = "function",
                            .label = "Function",
                            .help = "Which logarithm.",
                            .type = FieldType::choice,
                            .defaultValue = "log1p",
                            .choices = {{"log", "log(x)", "Of numbers above 0."},
                                        {"log1p", "log(x + 1)", "Of numbers above −1, counts say."}},
                            .important = true}}},
      .effect = [](const Values& values, const CsvFormat&) -> std::unique_ptr<ColumnEffect> {
        return std::make_unique<log_column::Effect>(values.text("function") == "log1p");
      }};
  return definition;
}

}  // namespace loom
