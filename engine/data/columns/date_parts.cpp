#include <cmath>
#include <map>
#include <numbers>

#include "engine/base/error.h"
#include "engine/data/cell_number.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/columns/date.h"
#include "engine/data/columns/linear_effect.h"
#include "engine/data/columns/step_fields.h"
#include "engine/data/text.h"

namespace loom {
namespace date_parts_column {

struct Part {
  std::string_view id;
  double first, period;  // of its circle; a period of 0: a number in any case
  double (*value)(const Date& date);
};
constexpr Part kParts[] = {
    {"year", 0, 0, [](const Date& date) { return static_cast<double>(date.year); }},
    {"month", 1, 12, [](const Date& date) { return static_cast<double>(date.month); }},
    {"day", 1, 31, [](const Date& date) { return static_cast<double>(date.day); }},
    {"day_of_year", 1, 365.25, [](const Date& date) { return static_cast<double>(date.dayOfYear()); }},
    {"weekday", 0, 7, [](const Date& date) { return static_cast<double>(date.weekday()); }},
    {"hour", 0, 24, [](const Date& date) { return static_cast<double>(date.hour); }}};

const Part& partOf(const std::string& id) {
  for (const Part& part : kParts)
    if (part.id == id) return part;
  throwError(
      ErrorCode::badProject,
      "step DateParts of prepare: a date has no part '{}'; known are year, month, day, day_of_year, weekday, hour", id);
}

constexpr std::pair<std::string_view, DateOrder> kOrders[] = {
    {"ymd", DateOrder::yearFirst}, {"dmy", DateOrder::dayFirst}, {"mdy", DateOrder::monthFirst}};

bool isHole(std::string_view text) {
  double none;
  return cellNumber(text, {}, none) == NumberKind::empty;
}

class Effect final : public ColumnEffect {
 public:
  Effect(const std::vector<std::string>& parts, bool circle, DateOrder order) : m_circle(circle), m_order(order) {
    for (const std::string& part : parts) m_parts.push_back(&partOf(part));
    if (m_parts.empty()) throwError(ErrorCode::badProject, "step DateParts of prepare: it names no part of a date");
  }
  std::vector<std::string> names(const std::string& column) const override {
    std::vector<std::string> names;
    for (const Part* part : m_parts) {
      const std::string name = fmt::format("{}_{}", column, part->id);
      if (onCircle(*part)) {
        names.push_back(name + "_sin");
        names.push_back(name + "_cos");
      } else {
        names.push_back(name);
      }
    }
    return names;
  }
  bool takesNumbers() const override { return false; }
  bool makesNumbers() const override { return true; }
  void apply(std::vector<ColumnCells>& cells, const CellFaultSink& fault) const override {
    const std::vector<std::string_view> texts = std::move(cells[0].text);
    const std::size_t rows = texts.size();
    if (cells[0].number && !cells[0].numbers.empty())
      throwError(ErrorCode::badProject,
                 "step DateParts of prepare: the column holds numbers by then; put it before them");
    cells.assign(names("").size(), {.number = true, .text = {}, .numbers = std::vector<double>(rows, kMissing)});
    Date date;
    for (std::size_t row = 0; row < rows; ++row) {
      if (isHole(texts[row])) continue;
      if (!parseDate(texts[row], m_order, date)) {
        fault({row, FaultKind::notANumber, fmt::format("the cell is {}", toldText(texts[row])),
               fmt::format("a date is needed, {}", m_order == DateOrder::yearFirst  ? "such as 2026-03-31"
                                                   : m_order == DateOrder::dayFirst ? "with the day first"
                                                                                    : "with the month first"),
               "correct the cell or skip the row"});
        continue;
      }
      std::size_t column = 0;
      for (const Part* part : m_parts) {
        const double value = part->value(date);
        if (!onCircle(*part)) {
          cells[column++].numbers[row] = value;
          continue;
        }
        const double angle = 2 * std::numbers::pi * (value - part->first) / part->period;
        cells[column++].numbers[row] = std::sin(angle);
        cells[column++].numbers[row] = std::cos(angle);
      }
    }
  }
  bool invert(TargetMeaning&) const override { return false; }

 private:
  bool onCircle(const Part& part) const { return m_circle && part.period > 0; }
  std::vector<const Part*> m_parts;
  bool m_circle;
  DateOrder m_order;
};

class Measure final : public ColumnMeasure {
 public:
  bool takesNumbers() const override { return false; }
  void add(const ColumnCells& cells) override {
    Date date;
    for (const std::string_view text : cells.text) {
      if (isHole(text)) continue;
      ++m_cells;
      for (std::size_t i = 0; i < 3; ++i) m_read[i] += parseDate(text, kOrders[i].second, date);
      if (m_example.empty()) m_example = text;
    }
  }
  Json finish(Json step, const std::function<void(std::string)>& warn) override {
    const std::string column = step["variable"];
    if (m_cells == 0) return leftOut(column, warn);
    const std::int64_t best = std::max({m_read[0], m_read[1], m_read[2]});
    if (best == 0)
      throwError(ErrorCode::badProject, "step DateParts of prepare: column {} holds no dates: its first cell is {}",
                 column, toldText(m_example));
    if (m_read[1] == best && m_read[2] == best)
      throwError(
          ErrorCode::badProject,
          "step DateParts of prepare: of the dates of column {}, such as {}, the day or the month may stand first; "
          "say which with order, \"dmy\" or \"mdy\"",
          column, toldText(m_example));
    for (std::size_t i = 0; i < 3; ++i)
      if (m_read[i] == best) step["order"] = kOrders[i].first;
    return step;
  }

 private:
  std::int64_t m_cells = 0;
  std::int64_t m_read[3] = {};
  std::string m_example;
};

}  // namespace date_parts_column

const ColumnStepDefinition& defineDatePartsColumn() {
  using namespace date_parts_column;
  static const ColumnStepDefinition definition{
      .entry = {.id = "DateParts",
                .label = "Date parts",
                .category = "columns",
                .icon = "clock",
                .aliases = {"DateFeatures", "Datetime"},
                .summary = "Makes numbers of dates: year, month, day, weekday, hour",
                .help =
                    "On a circle a part becomes two columns, sin and cos of 2π (part − first) / period, so that "
                    "December lies beside January. The year is always a number. Weekdays count from 0, Monday. Dates "
                    "are 2026-03-31, 31.03.2026, 31/3/26 or 3/31/2026, with a time behind them or none; zones are "
                    "passed over.",
                .fields = {columnsField(),
                           {.key = "parts",
                            .label = "Parts",
                            .help = "Of year, month, day, day_of_year, weekday, hour.",
                            .type = FieldType::texts,
                            .defaultValue = Json::array({"year", "day_of_year", "weekday"}),
                            .important = true},
                           {.key = "form",
                            .label = "Form",
                            .help = "How a part that comes again is written.",
                            .type = FieldType::choice,
                            .defaultValue = "circle",
                            .choices = {{"circle", "Circle", "Sine and cosine."},
                                        {"numbers", "Numbers", "The part as it is."}}},
                           {.key = "order",
                            .label = "Order",
                            .help = "What stands first; where a column allows two orders it has to be chosen.",
                            .type = FieldType::choice,
                            .defaultValue = "auto",
                            .choices = {{"auto", "Measured", "As the dates of the training part say."},
                                        {"ymd", "Year first", "2026-03-31"},
                                        {"dmy", "Day first", "31.03.2026"},
                                        {"mdy", "Month first", "3/31/2026"}},
                            .important = true}}},
      .effect = [](const Values& values, const CsvFormat&) -> std::unique_ptr<ColumnEffect> {
        DateOrder order = DateOrder::yearFirst;
        for (const auto& [id, one] : kOrders)
          if (values.text("order") == id) order = one;
        return std::make_unique<Effect>(values.texts("parts"), values.text("form") == "circle", order);
      },
      .isMeasured = [](const Values& values) { return values.text("order") == "auto"; },
      .measure = [](const Values&, const CsvFormat&) -> std::unique_ptr<ColumnMeasure> {
        return std::make_unique<Measure>();
      }};
  return definition;
}

}  // namespace loom
