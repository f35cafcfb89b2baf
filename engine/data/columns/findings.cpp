#include "engine/data/columns/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/data/cell_number.h"
#include "engine/data/columns/first_row.h"
#include "engine/data/columns/media_facts.h"
#include "engine/data/columns/prepared_columns.h"
#include "engine/data/columns/suggestion.h"
#include "engine/data/columns/twins.h"

namespace loom {
namespace {

std::string share(std::int64_t some, std::int64_t all) {
  return fmt::format("{:.1f} % of {} rows",
                     100.0 * static_cast<double>(some) / static_cast<double>(std::max<std::int64_t>(all, 1)), all);
}

bool isPercent(std::string_view cell) {
  double value;
  return takePercent(cell) && cellNumber(cell, {}, value) == NumberKind::number;
}

class Doctor {
 public:
  Doctor(const TableFacts& facts, const FindingsContext& context)
      : m_facts(facts), m_context(context), m_prepared(context.prepare), m_targets(context.targets) {
    if (m_targets.empty()) try {
        m_targets.push_back(suggestTable(facts).target.column);
      } catch (const std::exception&) {
        // Nothing can be predicted: no column is a target.
      }
  }

  std::vector<TableFinding> run() {
    if (auto firstRow = firstRowFinding(m_facts)) add(std::move(*firstRow));
    tellHeader();
    tellStrays();
    for (const ColumnFacts& column : m_facts.columns)
      if (!m_prepared.leftOut(column)) tellColumn(column);
    tellScales();
    tellTwins();
    if (!m_context.hasValidation)
      add({.kind = FindingKind::noValidation,
           .severity = FaultSeverity::warning,
           .title = "No validation set",
           .detail = fmt::format("Of {} rows some should be held out, so that it shows what was learnt and what was "
                                 "learnt by heart.",
                                 m_facts.rows),
           .remedies = {{.label = "Split…", .split = true}}});
    std::stable_sort(m_found.begin(), m_found.end(),
                     [](const TableFinding& a, const TableFinding& b) { return a.severity < b.severity; });
    return std::move(m_found);
  }

 private:
  void add(TableFinding finding) { m_found.push_back(std::move(finding)); }
  static Json on(const char* step, const std::string& column, Json more = Json::object()) {
    Json json = {{"step", step}, {"variable", Json::array({column})}};
    json.update(more);
    return json;
  }
  bool isTarget(const ColumnFacts& column) const {
    return std::find(m_targets.begin(), m_targets.end(), column.name) != m_targets.end();
  }

  void tellHeader() {
    for (const Fault& fault : m_facts.told) {
      if (fault.kind == FaultKind::firstRow) continue;
      const std::string name = fault.column.substr(0, fault.column.find(':'));
      const bool given = fault.kind == FaultKind::givenName;
      if (given && (m_prepared.has("LeaveOut", name) || m_prepared.has("Rename", name))) continue;
      TableFinding finding{
          .kind = FindingKind::header,
          .severity = fault.severity,
          .columns = fault.column.empty() ? std::vector<std::string>() : std::vector<std::string>{fault.column},
          .title = fault.found,
          .detail = fault.wanted + "; " + fault.remedy,
          .places = {},
          .remedies = {}};
      if (given) {
        finding.columns = {name};
        finding.remedies = {{.label = "Keep", .steps = {}}, {.label = "Leave out", .steps = {on("LeaveOut", name)}}};
      }
      add(std::move(finding));
    }
  }

  void tellStrays() {
    if (m_prepared.skipsFaulty() || m_facts.strayRows == 0) return;
    std::vector<CellPlace> places;
    Json lines = Json::array();
    for (const StrayRow& stray : m_facts.strays) {
      if (m_prepared.skipsLine(stray.line)) continue;
      lines.push_back(stray.line);
      if (places.size() < kListedCells) places.push_back({stray.row, stray.line, stray.text});
    }
    if (lines.empty()) return;
    const bool all = m_facts.strayRows == static_cast<std::int64_t>(m_facts.strays.size());
    const std::size_t count = all ? lines.size() : static_cast<std::size_t>(m_facts.strayRows);
    TableFinding finding{.kind = FindingKind::strayRows,
                         .severity = FaultSeverity::error,
                         .columns = {},
                         .title = count == 1 ? "1 row is no data" : fmt::format("{} rows are no data", count),
                         .detail = fmt::format("Line {}: {}.", m_facts.strays[0].line, m_facts.strays[0].why),
                         .places = std::move(places),
                         .remedies = {}};
    const std::string label = count == 1 ? "Skip the row" : fmt::format("Skip {} rows", count);
    if (all) finding.remedies.push_back({.label = label, .steps = {{{"step", "SkipRows"}, {"lines", lines}}}});
    finding.remedies.push_back(
        {.label = all ? "Skip all faulty rows" : label, .steps = {{{"step", "SkipRows"}, {"faulty", true}}}});
    add(std::move(finding));
  }

  void tellColumn(const ColumnFacts& column) {
    const std::string& name = column.name;
    if (column.type == ColumnType::empty)
      return add({.kind = FindingKind::emptyColumn,
                  .severity = FaultSeverity::error,
                  .columns = {name},
                  .title = name + " is empty",
                  .detail = fmt::format("None of {} rows has a value there.", m_facts.rows),
                  .places = {},
                  .remedies = {{.label = "Leave out", .steps = {on("LeaveOut", name)}}}});
    tellMissing(column);
    tellUnreadable(column);
    if (column.type == ColumnType::classes || column.type == ColumnType::text) tellWords(column);
    if (column.type == ColumnType::date) tellDate(column);
    if (column.blurred && !m_prepared.scales(name))
      add({.kind = FindingKind::blurred,
           .severity = FaultSeverity::warning,
           .columns = {name},
           .title = name + ": numbers that float32 does not tell apart",
           .detail = fmt::format("Of {}{} different numbers between {:.10g} and {:.10g} several become one; take the "
                                 "first away, or read the column as a date.",
                                 column.distinctMore ? "the first " : "", column.distinct, column.low, column.high),
           .places = {},
           .remedies = {{.label = "Standardise", .steps = {on("Standardise", name)}},
                        {.label = "Leave out", .steps = {on("LeaveOut", name)}}}});
    if (column.distinct == 1 && !column.distinctMore && m_facts.rows > 1)
      add({.kind = FindingKind::constant,
           .severity = FaultSeverity::warning,
           .columns = {name},
           .title = name + " never changes",
           .detail = fmt::format("Every cell is {}: it teaches nothing.",
                                 column.words.empty() ? fmt::format("{:.6g}", column.low) : column.words[0].word),
           .places = {},
           .remedies = {{.label = "Leave out", .steps = {on("LeaveOut", name)}}, {.label = "Keep", .steps = {}}}});
    if (isTarget(column) && column.likelyClasses()) tellRareClasses(column);
  }

  void tellMissing(const ColumnFacts& column) {
    const std::string& name = column.name;
    if (column.missing == 0 || m_prepared.has("Fill", name) || m_prepared.has("SkipRows", name)) return;
    const TableRemedy skip{.label = column.missing == 1 ? "Skip the row" : fmt::format("Skip {} rows", column.missing),
                           .steps = {{{"step", "SkipRows"}, {"missing", Json::array({name})}}}};
    TableFinding finding{.kind = FindingKind::missing,
                         .severity = FaultSeverity::error,
                         .columns = {name},
                         .title = fmt::format("{}: {} empty", name, column.missing),
                         .detail = share(column.missing, m_facts.rows) + " have no value there.",
                         .places = column.missingAt,
                         .remedies = {}};
    if (isTarget(column)) {
      finding.kind = FindingKind::missingTarget;
      finding.detail = fmt::format("{} shall be predicted: {} do not say what would be right.", name,
                                   share(column.missing, m_facts.rows));
      finding.remedies = {skip};
    } else if (column.type == ColumnType::number) {
      finding.remedies = {{.label = "Fill with median", .steps = {on("Fill", name)}},
                          {.label = "Fill with mean", .steps = {on("Fill", name, {{"with", "mean"}})}},
                          skip,
                          {.label = "Leave out", .steps = {on("LeaveOut", name)}}};
    } else if (column.type == ColumnType::classes) {
      finding.remedies = {
          {.label = "Fill with the most frequent", .steps = {on("Fill", name, {{"with", "most_frequent"}})}},
          {.label = "A class of their own", .steps = {on("Fill", name, {{"with", "value"}, {"word", "missing"}})}},
          skip,
          {.label = "Leave out", .steps = {on("LeaveOut", name)}}};
    } else {
      finding.remedies = {skip,
                          {.label = "Fill with the previous", .steps = {on("Fill", name, {{"with", "previous"}})}},
                          {.label = "Leave out", .steps = {on("LeaveOut", name)}}};
    }
    add(std::move(finding));
  }

  void tellUnreadable(const ColumnFacts& column) {
    if (column.unreadable == 0 || m_prepared.skipsFaulty()) return;
    if (column.type == ColumnType::picture || column.type == ColumnType::sound || column.type == ColumnType::matrix)
      return add(goneFiles(column, m_facts.columns.size()));
    const std::string first = column.unreadableAt.empty() ? std::string() : column.unreadableAt[0].text;
    add({.kind = FindingKind::unreadable,
         .severity = FaultSeverity::error,
         .columns = {column.name},
         .title = fmt::format("{}: {} {}", column.name, column.unreadable,
                              column.type == ColumnType::date ? "no dates"
                              : column.percents               ? "no percents"
                                                              : "no numbers"),
         .detail = fmt::format(
             "Such as '{}'{}{}.", first,
             column.unreadableAt.empty() ? std::string() : fmt::format(" in line {}", column.unreadableAt[0].line),
             column.percents ? ": the others are percents, as '12 %'"
             : isPercent(first) && column.type == ColumnType::number
                 ? ": a percent, and the others are numbers without the sign"
                 : ""),
         .places = column.unreadableAt,
         .remedies = {
             {.label = column.unreadable == 1 ? "Skip the row" : fmt::format("Skip {} rows", column.unreadable),
              .steps = {{{"step", "SkipRows"}, {"faulty", true}}}},
             {.label = "Leave out", .steps = {on("LeaveOut", column.name)}}}});
  }

  void tellWords(const ColumnFacts& column) {
    const std::string& name = column.name;
    if (!column.histogram.empty() || m_prepared.has("Encode", name) || m_prepared.has("DateParts", name)) return;
    std::string some;
    for (std::size_t i = 0; i < std::min<std::size_t>(column.words.size(), 4); ++i)
      some += (i == 0 ? "" : ", ") + column.words[i].word;
    const TableRemedy leave{.label = "Leave out", .steps = {on("LeaveOut", name)}};
    TableFinding finding{.kind = FindingKind::text,
                         .severity = FaultSeverity::error,
                         .columns = {name},
                         .title = name + " is text",
                         .detail = {},
                         .places = {},
                         .remedies = {}};
    if (column.type == ColumnType::text) {
      finding.detail = fmt::format(
          "{} different texts in {} rows are no classes.",
          column.distinctMore ? fmt::format("More than {}", kMostDistinct) : std::to_string(column.distinct),
          column.count);
      finding.remedies = {leave};
    } else {
      finding.detail =
          fmt::format("A network takes numbers: {} different words ({}{}), each at least {} times.", column.distinct,
                      some, column.words.size() > 4 ? " …" : "", column.words.back().rows);
      const TableRemedy index{.label = "Encode as classes", .steps = {on("Encode", name)}};
      const TableRemedy oneHot{.label = "One column a class",
                               .steps = {on("Encode", name, {{"form", "one_hot"}, {"unknown", "own"}})}};
      finding.remedies =
          isTarget(column) ? std::vector<TableRemedy>{index, leave} : std::vector<TableRemedy>{oneHot, index, leave};
    }
    add(std::move(finding));
  }

  void tellDate(const ColumnFacts& column) {
    const std::string& name = column.name;
    if (m_prepared.has("DateParts", name)) return;
    const Json parts = datePartsOf(column);
    const std::string year = parts[0] == "year" ? "the year, " : "";
    TableFinding finding{
        .kind = FindingKind::date,
        .severity = FaultSeverity::error,
        .columns = {name},
        .title = name + " is a date",
        .detail = fmt::format("A network takes numbers: {}the day of the year and of the week on a circle.", year),
        .places = {},
        .remedies = {}};
    const auto remedy = [&](const char* label, const char* order) {
      Json more = {{"parts", parts}};
      if (*order != 0) more["order"] = order;
      finding.remedies.push_back({.label = label, .steps = {on("DateParts", name, more)}});
    };
    if (column.orders.doubtful()) {
      finding.title = name + ": does the day or the month stand first?";
      finding.detail = fmt::format(
          "Every date of the column can be read in both ways; {}the day of the year and the weekday become numbers.",
          year);
      remedy("The day", "dmy");
      remedy("The month", "mdy");
    } else {
      remedy("Day of the year", "");
    }
    finding.remedies.push_back({.label = "Leave out", .steps = {on("LeaveOut", name)}});
    add(std::move(finding));
  }

  // Whoever never says a rare class is right nearly always: it is to count more, or to be shown more often.
  void tellRareClasses(const ColumnFacts& column) {
    constexpr std::int64_t kFew = 5, kUnlike = 10;
    if (column.words.empty()) return;
    const ClassCount &most = column.words.front(), &fewest = column.words.back();
    const bool unlike =
        m_context.learnsClasses && !balancesClasses(m_context.settings) && most.rows >= kUnlike * fewest.rows;
    if (fewest.rows >= kFew && !unlike) return;
    std::string rare;
    std::int64_t count = 0;
    for (const ClassCount& word : column.words)
      if (word.rows < (unlike ? most.rows / kUnlike + 1 : kFew) && ++count <= 5)
        rare += fmt::format("{}{} ({})", rare.empty() ? "" : ", ", word.word, word.rows);
    TableFinding finding{
        .kind = FindingKind::rareClass,
        .severity = FaultSeverity::warning,
        .columns = {column.name},
        .title =
            fmt::format("{}: {} rare", column.name, count == 1 ? "1 class is" : fmt::format("{} classes are", count)),
        .detail =
            rare + (count > 5 ? " …" : "") +
            (unlike ? fmt::format(": {} stands in {} rows. A network that never says the rare ones is right in most.",
                                  most.word, most.rows)
                    : std::string(": with fewer than five rows a class can hardly be learnt.")),
        .places = {},
        .remedies = {}};
    // Weights first: an epoch stays as long as it is, and no row is seen so often that it is learnt by heart.
    if (unlike)
      finding.remedies = {
          {.label = "Weigh classes", .steps = {}, .settings = {{"weigh_classes", "balanced"}, {"oversample", ""}}},
          {.label = "Oversample", .steps = {}, .settings = {{"weigh_classes", "none"}, {"oversample", column.name}}}};
    finding.remedies.push_back({.label = "Keep", .steps = {}});
    add(std::move(finding));
  }

  std::vector<const ColumnFacts*> features() const {
    std::vector<const ColumnFacts*> found;
    for (const ColumnFacts& column : m_facts.columns)
      if (column.type == ColumnType::number && !m_prepared.leftOut(column) && !isTarget(column) &&
          !m_prepared.has("Encode", column.name))
        found.push_back(&column);
    return found;
  }

  void tellScales() {
    constexpr double kUnlike = 100;
    const ColumnFacts *widest = nullptr, *narrowest = nullptr;
    Json names = Json::array();
    for (const ColumnFacts* column : features()) {
      const double spread = column->high - column->low;
      if (!(spread > 0) || m_prepared.scales(column->name)) continue;
      names.push_back(column->name);
      if (!widest || spread > widest->high - widest->low) widest = column;
      if (!narrowest || spread < narrowest->high - narrowest->low) narrowest = column;
    }
    if (!widest || widest->high - widest->low < kUnlike * (narrowest->high - narrowest->low)) return;
    add({.kind = FindingKind::unlikeScales,
         .severity = FaultSeverity::warning,
         .columns = names.get<std::vector<std::string>>(),
         .title = fmt::format("Ranges differ {:.0f} fold",
                              (widest->high - widest->low) / (narrowest->high - narrowest->low)),
         .detail =
             fmt::format("{} spans {:.4g} to {:.4g}, {} only {:.4g} to {:.4g}. Large columns would drown the small.",
                         widest->name, widest->low, widest->high, narrowest->name, narrowest->low, narrowest->high),
         .places = {},
         .remedies = {{.label = "Standardise columns", .steps = {{{"step", "Standardise"}, {"variable", names}}}},
                      {.label = "By median and quartiles", .steps = {{{"step", "RobustScale"}, {"variable", names}}}},
                      {.label = "Not needed", .steps = {}}}});
  }

  void tellTwins() {
    for (const TwinColumns& twins : twinsOf(m_facts, features()))
      add({.kind = FindingKind::twins,
           .severity = FaultSeverity::warning,
           .columns = {twins.second, twins.first},
           .title = fmt::format("{} says what {} says", twins.second, twins.first),
           .detail = fmt::format("r = {:.3f}: one of the two can go without loss.", twins.correlation),
           .places = {},
           .remedies = {{.label = "Leave out " + twins.second, .steps = {on("LeaveOut", twins.second)}},
                        {.label = "Keep both", .steps = {}}}});
  }

  const TableFacts& m_facts;
  const FindingsContext& m_context;
  PreparedColumns m_prepared;
  std::vector<std::string> m_targets;
  std::vector<TableFinding> m_found;
};

}  // namespace

bool balancesClasses(const Json& settings) {
  if (!settings.is_object()) return false;
  const auto weighed = settings.find("weigh_classes"), shown = settings.find("oversample");
  return (weighed != settings.end() && *weighed == "balanced") ||
         (shown != settings.end() && shown->is_string() && !shown->empty() && *shown != "");
}

std::string_view toString(FindingKind kind) {
  constexpr std::string_view names[] = {
      "missing",      "unreadable",     "text",       "date",    "stray rows",    "unlike scales", "twins", "constant",
      "empty column", "missing target", "rare class", "blurred", "no validation", "first row",     "header"};
  return names[static_cast<std::size_t>(kind)];
}

std::vector<TableFinding> tableFindings(const TableFacts& facts, const FindingsContext& context) {
  return Doctor(facts, context).run();
}

}  // namespace loom
