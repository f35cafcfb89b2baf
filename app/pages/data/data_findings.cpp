#include "app/pages/data/data_findings.h"

#include <QCoreApplication>
#include <algorithm>
#include <map>
#include <set>

#include "app/pages/data/step_edits.h"
#include "app/pages/data/step_words.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/prepare_step.h"
#include "engine/data/sound_rate.h"
#include "widgets/controls/text.h"

namespace loom {
namespace {

using Kind = ShownFinding::Kind;

struct DataFindings {
  Q_DECLARE_TR_FUNCTIONS(DataFindings)
};
QString q(const std::string& text) {
  return QString::fromStdString(text);
}
std::string nameOf(const std::string& header) {
  return header.substr(0, header.find(':'));
}

Kind kindOf(FaultSeverity severity) {
  return severity == FaultSeverity::error     ? Kind::error
         : severity == FaultSeverity::warning ? Kind::warning
                                              : Kind::info;
}

// What the report of the rows says beside the findings of the columns.
bool isOfRows(FaultKind kind) {
  switch (kind) {
    case FaultKind::unreadable:
    case FaultKind::indexGap:
    case FaultKind::brokenFile:
    case FaultKind::mixedShapes:
    case FaultKind::mixedKinds:
    case FaultKind::label:
    case FaultKind::duplicate:
    case FaultKind::sharedSample:
    case FaultKind::imbalance:
    case FaultKind::loneClass:
      return true;
    default:
      return false;
  }
}

// How unlike classes are the findings of the table say, of what is predicted and with a remedy.
bool isOfTable(const Fault& fault) {
  return fault.kind == FaultKind::imbalance && fault.severity == FaultSeverity::info;
}

class AllFindings {
 public:
  explicit AllFindings(const FindingsRequest& request) : m_request(request) {
    for (const Json& step : columnStepsOf(request.context.prepare)) {
      const Entry& entry = findColumnStep(step)->entry;
      try {
        const Values values(entry, step);
        if (entry.id == "SkipRows") {
          for (const std::int64_t line : values.integers("lines")) m_skipped.insert(line);
        } else {
          for (const std::string& name : values.texts("variable")) m_steps.emplace(entry.id, name);
        }
      } catch (const std::exception&) {
        // A step that is written wrongly does nothing; the project says so.
      }
    }
  }

  std::vector<DataFinding> run() {
    if (m_request.facts)
      for (const TableFinding& each : tableFindings(*m_request.facts, m_request.context)) addOfTable(each);
    for (const Fault& each : m_request.partFaults) addFaults({each}, 1);
    if (m_request.report) addReport(*m_request.report);
    addForeignPixels();
    if (!m_request.gone.isEmpty())
      add({.kind = Kind::error,
           .title = DataFindings::tr("%1 is not there").arg(m_request.gone),
           .place = {},
           .detail = DataFindings::tr("It was moved, renamed or taken away. What lay beside it is found with it."),
           .column = {},
           .actions = {}},
          {{.label = DataFindings::tr("Find file…").toStdString(), .steps = {}, .find = FindAgain::table}}, false);
    const bool broken = std::any_of(m_found.begin(), m_found.end(),
                                    [](const DataFinding& each) { return each.shown.kind == Kind::error; });
    if (m_request.error && !broken)
      add({.kind = Kind::error,
           .title = DataFindings::tr("It cannot be trained on yet"),
           .place = {},
           .detail = QString::fromUtf8(m_request.error->what()),
           .column = {},
           .actions = {}},
          {});
    // How the file is written comes first: it decides what is said of its columns.
    const auto place = [](const DataFinding& each) {
      return std::pair(each.remedies.empty() || !each.remedies.front().writing.is_object(), each.shown.kind);
    };
    std::stable_sort(m_found.begin(), m_found.end(),
                     [&](const DataFinding& a, const DataFinding& b) { return place(a) < place(b); });
    addFine();
    return std::move(m_found);
  }

 private:
  void add(ShownFinding shown, std::vector<TableRemedy> remedies, bool aboutFile = true) {
    // Lines of one file mean nothing in another.
    if (!m_request.ownSteps)
      std::erase_if(remedies, [](const TableRemedy& each) {
        return std::any_of(each.steps.begin(), each.steps.end(),
                           [](const Json& step) { return step.contains("lines"); });
      });
    m_found.push_back({std::move(shown), std::move(remedies), aboutFile});
  }

  void addOfTable(const TableFinding& found) {
    ShownFinding shown{.kind = kindOf(found.severity),
                       .title = q(found.title),
                       .place = {},
                       .detail = q(found.detail),
                       .column = found.columns.empty() ? QString() : q(found.columns.front()),
                       .actions = {}};
    if (!found.places.empty()) {
      shown.row = found.places.front().row;
      shown.line = found.places.front().line;
    }
    const bool project = found.kind == FindingKind::noValidation;
    if (found.columns.size() > 2)
      shown.place = counted(static_cast<qint64>(found.columns.size()), DataFindings::tr("columns"));
    else if (shown.line > 0)
      shown.place = DataFindings::tr("line %L1").arg(shown.line);
    else if (!found.columns.empty())
      shown.place = columnPlace(found.columns.front());
    m_constant |= found.kind == FindingKind::constant;
    add(std::move(shown), found.remedies, !project);
  }

  QString columnPlace(const std::string& name) const {
    for (std::size_t c = 0; m_request.facts && c < m_request.facts->columns.size(); ++c)
      if (m_request.facts->columns[c].name == name) return DataFindings::tr("column %L1").arg(c + 1);
    return {};
  }

  bool has(const char* step, const std::string& column) const { return m_steps.contains({step, column}); }

  // Whether a step makes what differs equal.
  bool isMended(const Fault& fault) const {
    const std::string column = nameOf(fault.column);
    if (has("LeaveOut", column)) return true;
    if (fault.kind == FaultKind::label) return has("Encode", column);
    if ((fault.kind != FaultKind::mixedShapes && fault.kind != FaultKind::mixedKinds) || !fault.step.is_object())
      return false;
    const std::string wanted = fault.step.value("step", "");
    const std::set<std::string> mending = wanted == "Colours"    ? std::set<std::string>{"Colours"}
                                          : wanted == "Resample" ? std::set<std::string>{"Resample"}
                                          : wanted == "Resize"
                                              ? std::set<std::string>{"Resize", "RandomResizedCrop", "Crop"}
                                              : std::set<std::string>{"Pad", "Crop"};
    return std::any_of(m_request.context.prepare.begin(), m_request.context.prepare.end(), [&](const Json& step) {
      const PrepareStep* const kind = sampleStep(step);
      if (!kind || !mending.contains(kind->entry.id)) return false;
      const auto named = step.find("variable");
      if (named == step.end() || named->empty()) return true;
      return *named == column || (named->is_array() && std::find(named->begin(), named->end(), column) != named->end());
    });
  }

  void addReport(const CheckReport& report) {
    std::map<std::tuple<FaultKind, FaultSeverity, std::string>, std::vector<Fault>> groups;
    std::vector<Fault> all;
    std::set<std::string> clips;  // they are as the steps leave them
    for (const ClipFacts& each : report.clips) {
      clips.insert(each.column);
      for (Fault& fault : clipFaults(each, rateBeforePacking(each.variable, m_request.context.prepare)))
        all.push_back(std::move(fault));
    }
    for (const Fault& fault : report.faults)
      if (!(clips.contains(fault.column) && fault.step.is_object())) all.push_back(fault);
    for (const Fault& fault : all)
      if (isOfRows(fault.kind) && !isOfTable(fault) && !m_skipped.contains(fault.line) && !isMended(fault))
        groups[{fault.kind, fault.severity, fault.column + (fault.line > 1 ? std::string() : "\n" + fault.found)}]
            .push_back(fault);
    for (const auto& [key, faults] : groups) {
      // Of very many not all are listed; where they are all of one group, they are counted nevertheless.
      const FaultKind kind = std::get<0>(key);
      const auto alone = std::count_if(groups.begin(), groups.end(),
                                       [kind](const auto& each) { return std::get<0>(each.first) == kind; }) == 1;
      const bool cut = faults.size() >= CheckOptions().listed;
      addFaults(faults, alone && cut ? report.count(kind) : static_cast<std::int64_t>(faults.size()));
    }
  }

  static bool isClip(const Fault& fault) {
    return fault.kind == FaultKind::mixedShapes && fault.step.is_object() && fault.step.value("step", "") == "Pad";
  }

  // Sounds are brought to one length in two ways: nothing is lost, or nothing is added. Both steps in both of them, for
  // what is predicted later may be longer or shorter than all of these.
  void addLengths(const Fault& fault, std::vector<TableRemedy>& remedies) const {
    const Json variable = fault.step.at("variable");
    const auto add = [&](const QString& label, std::int64_t length) {
      remedies.push_back(
          {.label = label.toStdString(),
           .steps = {{{"step", "Pad"}, {"to", {length}}, {"variable", variable}},
                     {{"step", "Crop"}, {"size", {length}}, {"position", "centre"}, {"variable", variable}}}});
    };
    add(DataFindings::tr("Pad to the longest"), fault.step.at("to").at(0).get<std::int64_t>());
    const int rate = rateBeforePacking(variable.get<std::string>(), m_request.context.prepare);
    for (const ClipFacts& clip : m_request.report->clips)
      if (clip.variable == variable)
        add(DataFindings::tr("Cut to the shortest"), lengthsAt(clip, rate > 0 ? rate : clip.usualRate()).shortest);
  }

  // Of one kind, column and severity.
  void addFaults(const std::vector<Fault>& faults, std::int64_t all) {
    const Fault& first = faults.front();
    const QString column = q(nameOf(first.column));
    const auto count = static_cast<qint64>(all);
    const bool rows = first.line > 1;
    ShownFinding shown{.kind = kindOf(first.severity),
                       .title = {},
                       .place = rows ? DataFindings::tr("line %L1").arg(first.line) : columnPlace(column.toStdString()),
                       .detail = {},
                       .column = column,
                       .line = rows ? first.line : 0,
                       .actions = {}};
    std::vector<TableRemedy> remedies;
    switch (first.kind) {
      case FaultKind::brokenFile:
        shown.title = DataFindings::tr("%1: %L2 cannot be read").arg(column).arg(count);
        break;
      case FaultKind::label:
        shown.title = DataFindings::tr("%1: %L2 are no classes").arg(column).arg(count);
        break;
      case FaultKind::duplicate:
        shown.title =
            first.severity == FaultSeverity::warning && first.found.find("another target") != std::string::npos
                ? DataFindings::tr("%1 stand twice, with another target").arg(counted(count, DataFindings::tr("rows")))
                : DataFindings::tr("%1 stand twice").arg(counted(count, DataFindings::tr("rows")));
        break;
      case FaultKind::sharedSample:
        shown.title = DataFindings::tr("%1 stand in the other set too").arg(counted(count, DataFindings::tr("rows")));
        break;
      case FaultKind::mixedShapes:
        shown.title = isClip(first) ? DataFindings::tr("%1: of several lengths").arg(column)
                                    : DataFindings::tr("%1: of several sizes").arg(column);
        // Without a step they cannot be trained on.
        if (first.severity == FaultSeverity::warning) shown.kind = Kind::error;
        break;
      case FaultKind::mixedKinds:
        shown.title = first.step.is_object() ? DataFindings::tr("%1: of several rates").arg(column)
                                             : DataFindings::tr("%1: of several kinds").arg(column);
        break;
      case FaultKind::imbalance:
        shown.title = DataFindings::tr("%1: unlike classes").arg(column);
        break;
      case FaultKind::loneClass:
        shown.title = DataFindings::tr("Classes of one part alone");
        shown.place = DataFindings::tr("both parts");
        remedies.push_back({.label = DataFindings::tr("Split anew…").toStdString(), .steps = {}, .split = true});
        break;
      default:
        shown.title = column.isEmpty() ? DataFindings::tr("The whole file") : column;
    }
    const QString sentence =
        first.wanted.empty() ? q(first.found) : DataFindings::tr("%1, but %2").arg(q(first.found), q(first.wanted));
    shown.detail = (rows ? DataFindings::tr("Line %L1: ").arg(first.line) : QString()) + sentence + '.';
    if (!rows && !sentence.isEmpty()) shown.detail[0] = shown.detail[0].toUpper();
    const bool skippable = first.kind == FaultKind::brokenFile || first.kind == FaultKind::label ||
                           first.kind == FaultKind::duplicate || first.kind == FaultKind::sharedSample;
    if (isClip(first)) {
      addLengths(first, remedies);
    } else if (first.step.is_object()) {
      Json mend = first.step;
      if (mend.value("step", "") == "Resize") {
        // What is drawn already may be trained already.
        if (const auto wanted = m_request.wanted.find(column.toStdString());
            wanted != m_request.wanted.end() && wanted->second.rank() == 3)
          mend["size"] = {wanted->second[1], wanted->second[2]};
        Json crop = {{"step", "RandomResizedCrop"}, {"size", mend.at("size")}};
        if (mend.contains("variable")) crop["variable"] = mend["variable"];
        remedies.push_back({.label = DataFindings::tr("Random crops").toStdString(), .steps = {crop}});
      }
      remedies.insert(remedies.begin(), {.label = stepWords(mend).toStdString(), .steps = {mend}});
    } else if (rows && skippable) {
      Json lines = Json::array();
      for (const Fault& each : faults) lines.push_back(each.line);
      remedies.push_back({.label = faults.size() == 1
                                       ? DataFindings::tr("Skip the row").toStdString()
                                       : DataFindings::tr("Skip %L1 rows").arg(faults.size()).toStdString(),
                          .steps = {{{"step", "SkipRows"}, {"lines", lines}}}});
    }
    if (remedies.empty() && !first.remedy.empty()) {
      QString advice = q(first.remedy);
      advice[0] = advice[0].toUpper();
      shown.detail += ' ' + advice + '.';
    }
    if (skippable && first.severity != FaultSeverity::error)
      remedies.push_back({.label = DataFindings::tr("Keep").toStdString(), .steps = {}});
    add(std::move(shown), std::move(remedies));
  }

  // Weights of another program were trained on other numbers than the bytes of a file, nearly always: nothing else
  // shows that they get these.
  void addForeignPixels() {
    const Json& settings = m_request.context.settings;
    if (!m_request.facts || !settings.is_object() || !settings.contains("start_from")) return;
    if (!settings["start_from"].is_string() || !settings["start_from"].get<std::string>().ends_with(".safetensors"))
      return;
    for (const ColumnFacts& column : m_request.facts->columns) {
      const auto wanted = m_request.wanted.find(column.name);
      if (column.type != ColumnType::picture || wanted == m_request.wanted.end() || wanted->second.rank() != 3)
        continue;
      const Variable pixels{.name = nameAfter(m_request.context.prepare, column.name),
                            .label = {},
                            .kind = VariableKind::image,
                            .shape = wanted->second,
                            .elementLabels = {}};
      const auto changes = [&](const Json& step) {
        const PrepareStep* const kind = sampleStep(step);
        return kind && kind->values && appliesTo(step, *kind, pixels);
      };
      if (std::any_of(m_request.context.prepare.begin(), m_request.context.prepare.end(), changes)) continue;
      const Json on = Json::array({pixels.name});
      // Of pictures of 0 to 255, by channel.
      Json imagenet = {{"step", "Normalise"}, {"variable", on}};
      const bool colours = wanted->second[0] == 3;
      imagenet["mean"] = colours ? Json{123.675, 116.28, 103.53} : Json::array({115.7});
      imagenet["deviation"] = colours ? Json{58.395, 57.12, 57.375} : Json::array({57.6});
      add({.kind = Kind::warning,
           .title = DataFindings::tr("%1: pixels of 0 to 255 for weights of another program").arg(q(column.name)),
           .place = columnPlace(column.name),
           .detail = DataFindings::tr("The network begins with %1, which does not say on which numbers it was trained. "
                                      "Most want 0 to 1, or these less a mean and over a deviation.")
                         .arg(q(std::filesystem::path(settings["start_from"].get<std::string>()).filename().string())),
           .column = q(column.name),
           .actions = {}},
          {{.label = DataFindings::tr("Scale to 0..1").toStdString(),
            .steps = {{{"step", "Scale"}, {"by", 1.0 / 255}, {"variable", on}}}},
           {.label = DataFindings::tr("Normalise as ImageNet (mean, std)").toStdString(), .steps = {imagenet}},
           {.label = DataFindings::tr("Keep").toStdString(), .steps = {}}});
    }
  }

  void addFine() {
    const auto fine = [this](const QString& words) {
      add({.kind = Kind::fine, .title = words, .place = {}, .detail = {}, .column = {}, .actions = {}}, {});
    };
    if (!m_request.facts || !m_request.facts->whole || m_request.facts->rows == 0) return;
    const bool twice = !m_request.report || m_request.report->count(FaultKind::duplicate) > 0;
    if (!twice && !m_constant)
      fine(DataFindings::tr("No row stands twice, no constant column"));
    else if (!twice)
      fine(DataFindings::tr("No row stands twice"));
    else if (!m_constant)
      fine(DataFindings::tr("No constant column"));
    std::int64_t filled = 0, scaled = 0;
    for (const ColumnFacts& column : m_request.facts->columns) {
      if (has("Fill", column.name)) filled += column.missing;
      scaled += has("Standardise", column.name) || has("RobustScale", column.name);
    }
    if (filled > 0) fine(DataFindings::tr("%1 are filled").arg(counted(filled, DataFindings::tr("missing cells"))));
    if (balancesClasses(m_request.context.settings)) fine(DataFindings::tr("Rare classes count as much as others"));
    if (scaled > 0) fine(DataFindings::tr("%1 have one scale").arg(counted(scaled, DataFindings::tr("columns"))));
  }

  const FindingsRequest& m_request;
  std::set<std::pair<std::string, std::string>> m_steps;  // kind, column
  std::set<std::int64_t> m_skipped;
  bool m_constant = false;
  std::vector<DataFinding> m_found;
};

}  // namespace

std::vector<DataFinding> dataFindings(const FindingsRequest& request) {
  return AllFindings(request).run();
}

}  // namespace loom
