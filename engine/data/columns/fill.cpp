#include <cmath>
#include <map>

#include "engine/base/error.h"
#include "engine/data/cell_number.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/columns/linear_effect.h"
#include "engine/data/columns/measured_numbers.h"
#include "engine/data/columns/step_fields.h"

namespace loom {
namespace fill_column {

bool isBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

class WithNumber final : public ColumnEffect {
 public:
  explicit WithNumber(double value) : m_value(value) {}
  void apply(std::vector<ColumnCells>& cells, const CellFaultSink&) const override {
    for (double& value : cells[0].numbers)
      if (std::isnan(value)) value = m_value;
  }

 private:
  double m_value;
};

class WithWord final : public ColumnEffect {
 public:
  explicit WithWord(std::string word) : m_word(std::move(word)) {}
  bool takesNumbers() const override { return false; }
  void apply(std::vector<ColumnCells>& cells, const CellFaultSink&) const override {
    for (std::string_view& text : cells[0].text)
      if (isBlank(text)) text = m_word;
  }

 private:
  std::string m_word;
};

// What the last row before had. Rows come in order.
class WithPrevious final : public ColumnEffect {
 public:
  explicit WithPrevious(CsvFormat format) : m_format(format) {}
  bool takesNumbers() const override { return false; }
  bool sequential() const override { return true; }
  void apply(std::vector<ColumnCells>& cells, const CellFaultSink&) const override {
    for (double& value : cells[0].numbers) {
      if (std::isnan(value)) value = m_number;
      m_number = value;
    }
    double value;
    if (cells[0].text.empty()) return;
    // The text of the block before is gone when its rows are written: the word is kept here until the next block.
    std::swap(m_used, m_kept);
    std::string_view last = m_used;
    for (std::string_view& text : cells[0].text) {
      // Words may be anything; an empty cell is a hole, and so is NA where numbers stand.
      const bool hole = isBlank(text) || (m_numbers && cellNumber(text, m_format, value) == NumberKind::empty);
      if (hole) {
        text = last;
      } else {
        m_numbers = cellNumber(text, m_format, value) == NumberKind::number;
        last = text;
      }
    }
    m_kept = last;
  }

 private:
  CsvFormat m_format;
  mutable double m_number = kMissing;
  mutable std::string m_kept, m_used;
  mutable bool m_numbers = true;
};

class MeasureNumber final : public ColumnMeasure {
 public:
  explicit MeasureNumber(bool median) : m_median(median) {}
  void add(const ColumnCells& cells) override {
    if (m_median)
      m_numbers.add(cells.numbers);
    else
      m_moments.add(cells.numbers);
  }
  Json finish(Json step, const std::function<void(std::string)>& warn) override {
    if (m_numbers.count() + m_moments.count() == 0) return leftOut(step["variable"], warn);
    step["value"] = m_median ? m_numbers.quantile(0.5) : m_moments.mean();
    return step;
  }

 private:
  bool m_median;
  CollectedNumbers m_numbers;
  RunningMoments m_moments;
};

// The smallest of those that are met most often, as numbers where all are some.
class MeasureMostFrequent final : public ColumnMeasure {
 public:
  explicit MeasureMostFrequent(const CsvFormat& format) : m_format(format) {}
  bool takesNumbers() const override { return false; }
  void add(const ColumnCells& cells) override {
    double value;
    for (const double number : cells.numbers)
      if (!std::isnan(number)) ++m_numbers[number];
    for (const std::string_view text : cells.text) {
      if (isBlank(text)) continue;
      ++m_words[std::string(trimmed(text))];
      const NumberKind kind = cellNumber(text, m_format, value);
      if (kind == NumberKind::number) ++m_numbers[value];
      m_onlyNumbers = m_onlyNumbers && (kind == NumberKind::number || kind == NumberKind::empty);
    }
  }
  Json finish(Json step, const std::function<void(std::string)>& warn) override {
    const auto most = [](const auto& counts) {
      return std::max_element(counts.begin(), counts.end(),
                              [](const auto& a, const auto& b) { return a.second < b.second; });
    };
    if (m_numbers.empty() && m_words.empty()) return leftOut(step["variable"], warn);
    if (m_onlyNumbers && !m_numbers.empty())
      step["value"] = most(m_numbers)->first;
    else
      step["word"] = most(m_words)->first;
    return step;
  }

 private:
  CsvFormat m_format;
  std::map<double, std::int64_t> m_numbers;
  std::map<std::string, std::int64_t> m_words;
  bool m_onlyNumbers = true;
};

}  // namespace fill_column

const ColumnStepDefinition& defineFillColumn() {
  using namespace fill_column;
  static const ColumnStepDefinition definition{
      .entry = {.id = "Fill",
                .label = "Fill",
                .category = "columns",
                .icon = "edit",
                .aliases = {"Impute", "SimpleImputer", "FillNa"},
                .summary = "Puts a value where a cell is empty",
                .help =
                    "In a column of numbers NA, NaN, null, ? and - are holes too. What is measured is measured on the "
                    "training part, the median on at most a million rows spread evenly.",
                .fields = {columnsField(),
                           {.key = "with",
                            .label = "With",
                            .help = "What is put there.",
                            .type = FieldType::choice,
                            .defaultValue = "median",
                            .choices = {{"median", "Median", "The middle of the column's numbers."},
                                        {"mean", "Mean", "The mean of the column's numbers."},
                                        {"most_frequent", "Most frequent",
                                         "The number or word that is met most often; the smallest of several."},
                                        {"value", "A value", "The number or the word that is given."},
                                        {"previous", "Previous", "What the last row before it has that is not empty."}},
                            .important = true},
                           {.key = "value",
                            .label = "Value",
                            .help = "The number; empty = measured.",
                            .type = FieldType::real,
                            .hard = Range{-3e38, 3e38},
                            .optional = true,
                            .absent = "measured"},
                           {.key = "word",
                            .label = "Word",
                            .help = "The word, for a column of words; empty = measured.",
                            .type = FieldType::text,
                            .optional = true,
                            .absent = "measured"}}},
      .effect = [](const Values& values, const CsvFormat& format) -> std::unique_ptr<ColumnEffect> {
        if (values.text("with") == "previous") return std::make_unique<WithPrevious>(format);
        if (values.has("value")) return std::make_unique<WithNumber>(values.real("value"));
        if (values.has("word")) return std::make_unique<WithWord>(values.text("word"));
        throwError(ErrorCode::badProject,
                   "step Fill of prepare: it is to fill with a value, but has neither 'value' nor 'word'");
      },
      .isMeasured =
          [](const Values& values) {
            const std::string with = values.text("with");
            return with != "previous" && with != "value" && !values.has("value") && !values.has("word");
          },
      .measure = [](const Values& values, const CsvFormat& format) -> std::unique_ptr<ColumnMeasure> {
        if (values.text("with") == "most_frequent") return std::make_unique<MeasureMostFrequent>(format);
        return std::make_unique<MeasureNumber>(values.text("with") == "median");
      }};
  return definition;
}

}  // namespace loom
