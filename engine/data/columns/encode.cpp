#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "engine/base/error.h"
#include "engine/data/cell_number.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/columns/linear_effect.h"
#include "engine/data/columns/step_fields.h"
#include "engine/data/text.h"

namespace loom {
namespace encode_column {

constexpr std::size_t kMostClasses = 100'000, kMostColumns = 1000;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string wordOf(double number) {
  std::string word;
  appendFloat(word, number);
  return word;
}

// As a part of a column's name: what a header would read as something else is left out.
std::string asName(std::string word) {
  std::replace(word.begin(), word.end(), ':', ' ');
  for (auto at = word.find("__"); at != std::string::npos; at = word.find("__")) word.erase(at, 1);
  while (!word.empty() && word.front() == '_') word.erase(0, 1);
  return word;
}

class Effect final : public ColumnEffect {
 public:
  Effect(std::vector<std::string> classes, bool oneHot, bool refuses)
      : m_classes(std::move(classes)), m_oneHot(oneHot), m_refuses(refuses) {
    for (std::size_t i = 0; i < m_classes.size(); ++i) m_index.emplace(m_classes[i], static_cast<double>(i));
    if (m_oneHot && m_classes.size() > kMostColumns)
      throwError(
          ErrorCode::badProject,
          "step Encode of prepare: {} classes would be as many columns, and at most {} are possible; encode them "
          "as an index, for an Embedding",
          m_classes.size(), kMostColumns);
  }
  std::vector<std::string> names(const std::string& column) const override {
    if (!m_oneHot) return {column};
    std::vector<std::string> names;
    for (const std::string& word : m_classes) names.push_back(column + "_" + asName(word));
    return names;
  }
  bool takesNumbers() const override { return false; }
  bool makesNumbers() const override { return true; }
  bool makesClasses() const override { return !m_oneHot; }
  void apply(std::vector<ColumnCells>& cells, const CellFaultSink& fault) const override {
    ColumnCells index{.number = true, .text = {}, .numbers = {}};
    const std::size_t rows = cells[0].rows();
    index.numbers.resize(rows, kMissing);
    std::string number;
    for (std::size_t row = 0; row < rows; ++row) {
      if (cells[0].number) number = wordOf(cells[0].numbers[row]);
      const std::string_view word = cells[0].number ? std::string_view(number) : trimmed(cells[0].text[row]);
      if (word.empty()) continue;
      const auto found = m_index.find(std::string(word));
      if (found != m_index.end()) {
        index.numbers[row] = found->second;
        continue;
      }
      index.numbers[row] = static_cast<double>(m_classes.size());
      if (m_refuses)
        fault({row, FaultKind::label, fmt::format("the cell is {}", toldText(word)),
               "it is none of the " + std::to_string(m_classes.size()) + " classes of the training part",
               "correct the cell, skip the row, or let Encode take unknown classes"});
    }
    if (!m_oneHot) {
      cells[0] = std::move(index);
      return;
    }
    cells.assign(m_classes.size(), {.number = true, .text = {}, .numbers = std::vector<double>(rows, 0)});
    for (std::size_t row = 0; row < rows; ++row) {
      const double at = index.numbers[row];
      if (std::isnan(at))
        for (ColumnCells& column : cells) column.numbers[row] = kMissing;
      else if (at < static_cast<double>(m_classes.size()))
        cells[static_cast<std::size_t>(at)].numbers[row] = 1;
    }
  }
  bool invert(TargetMeaning& target) const override {
    if (!m_oneHot) target.classes = m_classes;
    return !m_oneHot;
  }

 private:
  std::vector<std::string> m_classes;
  std::unordered_map<std::string, double> m_index;
  bool m_oneHot, m_refuses;
};

class Measure final : public ColumnMeasure {
 public:
  explicit Measure(const CsvFormat& format) : m_format(format) {}
  bool takesNumbers() const override { return false; }
  void add(const ColumnCells& cells) override {
    for (const double number : cells.numbers)
      if (!std::isnan(number)) m_words.insert(wordOf(number));
    for (const std::string_view text : cells.text)
      if (const std::string_view word = trimmed(text); !word.empty() && m_words.size() <= kMostClasses)
        if (!m_words.contains(word)) m_words.emplace(word);
  }
  Json finish(Json step, const std::function<void(std::string)>& warn) override {
    const std::string column = step["variable"];
    if (m_words.empty()) return leftOut(column, warn);
    if (m_words.size() > kMostClasses)
      throwError(
          ErrorCode::badProject,
          "step Encode of prepare: column {} has more than {} different words, which are no classes; leave it out",
          column, kMostClasses);
    std::vector<std::string> classes(m_words.begin(), m_words.end());
    // Numbers as numbers: 2 before 10.
    double a = 0, b = 0;
    if (std::all_of(classes.begin(), classes.end(),
                    [&](const std::string& word) { return cellNumber(word, m_format, a) == NumberKind::number; }))
      std::stable_sort(classes.begin(), classes.end(), [&](const std::string& one, const std::string& other) {
        cellNumber(one, m_format, a);
        cellNumber(other, m_format, b);
        return a < b;
      });
    step["classes"] = classes;
    return step;
  }

 private:
  CsvFormat m_format;
  std::set<std::string, std::less<>> m_words;
};

}  // namespace encode_column

const ColumnStepDefinition& defineEncodeColumn() {
  using namespace encode_column;
  static const ColumnStepDefinition definition{
      .entry = {.id = "Encode",
                .label = "Encode",
                .category = "columns",
                .icon = "list",
                .aliases = {"OneHot", "OrdinalEncoder", "OneHotEncoder", "LabelEncoder"},
                .summary = "Makes numbers of words: an index of classes, or a column for each",
                .help =
                    "The classes of the training part in the order of the alphabet (numbers by size). An index is for "
                    "what is predicted and for an Embedding; one-hot columns are for a network that takes numbers.",
                .fields = {columnsField(),
                           {.key = "form",
                            .label = "Form",
                            .help = "What becomes of a word.",
                            .type = FieldType::choice,
                            .defaultValue = "index",
                            .choices = {{"index", "Index", "0, 1, 2 … in one column."},
                                        {"one_hot", "One-hot", "A column for each class, with 1 in its own."}},
                            .important = true},
                           {.key = "unknown",
                            .label = "Unknown classes",
                            .help = "What becomes of a class that the training part does not have.",
                            .type = FieldType::choice,
                            .defaultValue = "refuse",
                            .choices = {{"refuse", "Refused", "The row is an error."},
                                        {"own", "Its own", "An index behind all others; one-hot: no column has 1."}}},
                           {.key = "classes",
                            .label = "Classes",
                            .help = "In their order; empty = measured on the training part.",
                            .type = FieldType::texts,
                            .optional = true,
                            .absent = "measured"}}},
      .effect = [](const Values& values, const CsvFormat&) -> std::unique_ptr<ColumnEffect> {
        return std::make_unique<Effect>(values.texts("classes"), values.text("form") == "one_hot",
                                        values.text("unknown") == "refuse");
      },
      .isMeasured = [](const Values& values) { return values.texts("classes").empty(); },
      .measure = [](const Values&, const CsvFormat& format) -> std::unique_ptr<ColumnMeasure> {
        return std::make_unique<Measure>(format);
      }};
  return definition;
}

}  // namespace loom
