// What a run predicts from: the columns of the file that it was trained on where its preparation tells them, else the
// numbers of its inputs.
#include <algorithm>
#include <cmath>
#include <map>

#include "app/planned_run.h"
#include "app/row_form.h"
#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/data/cell_number.h"
#include "engine/data/columns/raw_columns.h"
#include "engine/data/dataset.h"
#include "engine/data/raw_rows.h"
#include "engine/network/analysis.h"
#include "engine/network/dataset_rows.h"
#include "engine/network/flatten.h"
#include "engine/network/project.h"
#include "widgets/controls/expression.h"

namespace loom {
namespace {

constexpr std::int64_t kMostTyped = 64, kRowsSeen = 1000;
constexpr std::size_t kLargestRun = std::size_t{256} << 20;

// What run.json says of the data that it was trained on; null where it does not.
Json factsOf(const RunRecord& run, const std::string& dataset) {
  try {
    const std::filesystem::path file = std::filesystem::path(run.folder.toStdString()) / "run.json";
    const Json json = parseJson(readFile(file, kLargestRun), "run.json");
    return json.value("datasets", Json::object()).value(dataset, Json());
  } catch (const std::exception&) {
    return {};
  }
}

std::vector<Json> stepsOf(const Json& facts) {
  const auto prepare = facts.is_object() ? facts.find("prepare") : facts.end();
  return facts.is_object() && prepare != facts.end() && prepare->is_array() ? prepare->get<std::vector<Json>>()
                                                                            : std::vector<Json>();
}

// Of the training set, where its file is still there: the words of its header.
Schema schemaOf(const std::filesystem::path& csv, const CsvFormatChoice& format) {
  try {
    return csv.empty() ? Schema() : peekSchema(csv, {.format = format});
  } catch (const Error&) {
    return {};
  }
}

// What the first rows of a file hold, by column.
struct Seen {
  double low = INFINITY, high = -INFINITY;
  QString first;  // cell that is not empty
};

std::map<std::string, Seen> seenIn(const std::filesystem::path& csv, const CsvFormatChoice& choice,
                                   RowColumn::Comma& comma) {
  std::map<std::string, Seen> seen;
  try {
    if (csv.empty() || !std::filesystem::exists(csv)) return seen;
    std::vector<Seen> columns;
    const CsvFormat format = recogniseCsv(csv, choice);
    comma = format.decimal == ','     ? RowColumn::Comma::ofDecimals
            : format.thousands == ',' ? RowColumn::Comma::ofThousands
                                      : RowColumn::Comma::either;
    std::int64_t rows = 0;
    const auto take = [&](std::int64_t, const std::vector<std::string>& cells) {
      columns.resize(std::max(columns.size(), cells.size()));
      for (std::size_t c = 0; c < cells.size(); ++c) {
        double value = 0;
        if (columns[c].first.isEmpty()) columns[c].first = QString::fromStdString(cells[c]).trimmed();
        if (cellNumber(cells[c], format, c, value) != NumberKind::number) continue;
        columns[c].low = std::min(columns[c].low, value);
        columns[c].high = std::max(columns[c].high, value);
      }
      return ++rows < kRowsSeen;
    };
    const auto header = readRecords(csv, take, choice);
    for (std::size_t c = 0; c < std::min(header.size(), columns.size()); ++c)
      seen[header[c].substr(0, header[c].find(':'))] = columns[c];
  } catch (const std::exception&) {
    seen.clear();  // the hints alone are lost
  }
  return seen;
}

// As one would type it: without marks of thousands.
QString typedText(double value) {
  return shortestNumber(QString::number(value, 'g', 6).toDouble());
}

QString rangeText(double low, double high) {
  return QStringLiteral("%1 … %2").arg(typedText(low), typedText(high));
}

RowColumn typedOf(const RawColumn& raw, const std::map<std::string, Seen>& seen) {
  RowColumn column{.header = QString::fromStdString(raw.name), .label = QString::fromStdString(raw.name)};
  column.mayBeEmpty = raw.mayBeEmpty;
  const auto found = seen.find(raw.name);
  if (raw.kind == RawColumn::Kind::words) {
    column.kind = RowColumn::Kind::words;
    for (const std::string& word : raw.words) column.words << QString::fromStdString(word);
  } else if (raw.kind == RawColumn::Kind::date) {
    column.kind = RowColumn::Kind::date;
    column.hint = found != seen.end() && !found->second.first.isEmpty() ? found->second.first
                                                                        : QString::fromStdString(raw.example);
  } else if (found != seen.end() && found->second.low <= found->second.high) {
    column.hint = rangeText(found->second.low, found->second.high);
  } else if (raw.mean && raw.deviation) {
    column.hint = rangeText(*raw.mean - 2 * *raw.deviation, *raw.mean + 2 * *raw.deviation);
  }
  return column;
}

// The numbers of an input under its own name, "x__0" ..., where no step made them of others.
QList<RowColumn> numbersOf(const DatasetInput& input, const Variable* column, const std::map<std::string, Seen>& seen) {
  QList<RowColumn> columns;
  const std::int64_t count = input.shape.elements();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string header = count == 1 ? input.variable : input.variable + "__" + std::to_string(i);
    const auto place = static_cast<std::size_t>(i);
    const std::string label = !column                                ? std::string()
                              : count == 1                           ? column->label
                              : place < column->elementLabels.size() ? column->elementLabels[place]
                                                                     : std::string();
    RowColumn made{.header = QString::fromStdString(header),
                   .label = QString::fromStdString(label.empty() ? header : label)};
    if (const auto found = seen.find(header); found != seen.end() && found->second.low <= found->second.high)
      made.hint = rangeText(found->second.low, found->second.high);
    columns << made;
  }
  return columns;
}

}  // namespace

RunInput runInputOf(const RunRecord& run) {
  RunInput made;
  try {
    const ReadProject read = readProject(plannedAs(run).snapshot.toStdString(), "the run's project");
    const Project& project = read.project;
    const TrainingSpec& training = project.training;
    if (!read.readable || training.updates.empty()) return made;
    const std::string name =
        training.validationNetwork.empty() ? training.updates.front().network : training.validationNetwork;
    const Network network = flatNetwork(project, name);
    const Program program = lowerForPrediction(network, {});
    const DatasetSpec* const dataset = project.dataset(training.updates.front().dataset);
    const Json facts = factsOf(run, training.updates.front().dataset);
    const std::filesystem::path csv = dataset && !dataset->csv.empty()
                                          ? std::filesystem::path(run.folder.toStdString()) / dataset->csv
                                          : std::filesystem::path();
    const std::vector<Json> steps = stepsOf(facts);
    const CsvFormatChoice format = dataset ? openingOf(*dataset, {}).format : CsvFormatChoice();
    const Schema schema = schemaOf(csv, format);
    RowColumn::Comma comma = RowColumn::Comma::either;
    const std::map<std::string, Seen> seen = seenIn(csv, format, comma);
    QList<RowColumn> columns;
    bool whole = true, rows = true;
    for (const DatasetInput& input : datasetInputs(network)) {
      if (program.findTensor(input.node, TensorRole::input) == kNoTensor) continue;
      const std::int64_t count = input.shape.elements();
      if (facts.is_object() && facts.value("rates", Json::object()).contains(input.variable))
        made.takes = RunInput::Takes::sounds;
      else if (input.shape.rank() == 3)
        made.takes = RunInput::Takes::pictures;
      const std::vector<RawColumn> raw = rawColumnsOf(steps, input.variable, count);
      const Variable* const column = schema.find(input.variable);
      rows = rows && (!raw.empty() || count == 1 ||
                      (column && static_cast<std::int64_t>(column->elementLabels.size()) == count));
      whole = whole && (!raw.empty() || (input.shape.rank() <= 1 && count <= kMostTyped)) &&
              made.takes != RunInput::Takes::sounds;
      if (!whole) continue;
      for (const RawColumn& each : raw)
        if (std::none_of(columns.begin(), columns.end(),
                         [&](const RowColumn& known) { return known.header.toStdString() == each.name; }))
          columns << typedOf(each, seen);
      if (raw.empty()) columns << numbersOf(input, column, seen);
    }
    const Json percents = facts.is_object() ? facts.value("percents", Json::array()) : Json::array();
    for (RowColumn& each : columns) {
      each.comma = comma;
      each.percents = each.kind == RowColumn::Kind::number &&
                      std::find(percents.begin(), percents.end(), Json(each.header.toStdString())) != percents.end();
    }
    if (whole && columns.size() <= kMostTyped) made.columns = columns;
    if (rows && made.takes == RunInput::Takes::anything) made.takes = RunInput::Takes::rows;
  } catch (const Error&) {
    return {};
  }
  return made;
}

}  // namespace loom
