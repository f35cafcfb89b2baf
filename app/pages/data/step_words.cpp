#include "app/pages/data/step_words.h"

#include <QCoreApplication>
#include <QStringList>

#include "engine/data/columns/column_step.h"
#include "engine/data/loader.h"
#include "engine/data/prepare_step.h"

namespace loom {
namespace {

struct StepWords {
  Q_DECLARE_TR_FUNCTIONS(StepWords)
};

QStringList namesOf(const Json& step, const char* key = "variable") {
  QStringList names;
  const auto found = step.find(key);
  if (found == step.end()) return names;
  if (found->is_string()) names << QString::fromStdString(found->get<std::string>());
  if (found->is_array())
    for (const Json& each : *found)
      if (each.is_string()) names << QString::fromStdString(each.get<std::string>());
  return names;
}

// "flow", "flow and hours", "6 columns".
QString columnsOf(const Json& step) {
  const QStringList names = namesOf(step);
  if (names.size() > 2) return StepWords::tr("%1 columns").arg(names.size());
  return names.join(StepWords::tr(" and "));
}

std::string textOf(const Json& step, const char* key) {
  const auto found = step.find(key);
  return found != step.end() && found->is_string() ? found->get<std::string>() : std::string();
}

QString skipWords(const Json& step) {
  QStringList parts;
  if (const auto lines = step.find("lines"); lines != step.end() && lines->is_array() && !lines->empty())
    parts << (lines->size() == 1 ? StepWords::tr("1 row") : StepWords::tr("%1 rows").arg(lines->size()));
  if (const auto faulty = step.find("faulty"); faulty != step.end() && *faulty == true)
    parts << StepWords::tr("faulty rows");
  if (const QStringList missing = namesOf(step, "missing"); !missing.isEmpty())
    parts << StepWords::tr("rows without %1").arg(missing.join(QStringLiteral(", ")));
  return parts.isEmpty() ? StepWords::tr("Skip rows") : StepWords::tr("Skip %1").arg(parts.join(QStringLiteral(", ")));
}

}  // namespace

const Entry* prepareEntry(const Json& step) {
  if (const ColumnStepDefinition* const column = findColumnStep(step)) return &column->entry;
  const PrepareStep* const sample = sampleStep(step);
  return sample ? &sample->entry : nullptr;
}

QString stepWords(const Json& step) {
  const Entry* const entry = prepareEntry(step);
  if (!entry) return StepWords::tr("Unknown step");
  const QString columns = columnsOf(step), label = QString::fromStdString(entry->label);
  if (entry->id == "SkipRows") return skipWords(step);
  if (entry->id == "LeaveOut") return StepWords::tr("Leave out %1").arg(columns);
  if (entry->id == "Encode")
    return textOf(step, "form") == "one_hot" ? StepWords::tr("One column a class: %1").arg(columns)
                                             : StepWords::tr("Encode %1").arg(columns);
  if (entry->id == "Rename") {
    const QStringList to = namesOf(step, "to");
    return StepWords::tr("Rename %1 to %2")
        .arg(columns, to.isEmpty() ? QStringLiteral("?") : to.join(QStringLiteral(", ")));
  }
  if (entry->id == "Join") {
    const std::string into = textOf(step, "into");
    return StepWords::tr("Join %1 into %2")
        .arg(columns, into.empty() ? QStringLiteral("x") : QString::fromStdString(into));
  }
  if (entry->id == "Fill") {
    std::string with = textOf(step, "with");
    const QString word = with.empty()              ? StepWords::tr("median")
                         : with == "most_frequent" ? StepWords::tr("the most frequent")
                         : with == "previous"      ? StepWords::tr("the row before")
                         : with == "value"         ? StepWords::tr("a value")
                                                   : QString::fromStdString(with);
    return StepWords::tr("Fill %1 with %2").arg(columns, word);
  }
  if (const auto size = step.find("size");
      entry->id == "Resize" && size != step.end() && size->is_array() && size->size() == 2)
    return StepWords::tr("Bring all to %1×%2").arg((*size)[0].dump().c_str(), (*size)[1].dump().c_str());
  if (const auto rate = step.find("rate"); entry->id == "Resample" && rate != step.end() && rate->is_number_integer())
    return StepWords::tr("Bring all to %L1 Hz").arg(rate->get<qint64>());
  return columns.isEmpty() ? label : label + ' ' + columns;
}

QString stepAndTheNew(const Json& step) {
  const Entry* const entry = prepareEntry(step);
  if (!entry) return {};
  const std::string& id = entry->id;
  if (id == "Encode")
    return textOf(step, "unknown") == "own"
               ? StepWords::tr("A class that the training part does not have gets a place of its own.")
               : StepWords::tr(
                     "A row with a class that the training part does not have is refused, with its line. Unknown "
                     "classes "
                     "chooses otherwise.");
  if (id == "Fill")
    return StepWords::tr("An empty cell of another file gets the value that was measured on the training part.");
  if (id == "DateParts")
    return textOf(step, "order").empty() || textOf(step, "order") == "auto"
               ? StepWords::tr(
                     "Dates are read in the order that all of the training part have; one that does not fit is "
                     "refused.")
               : StepWords::tr("A date that does not fit the order is refused, with its line.");
  if (id == "Log") return StepWords::tr("A number that has no logarithm is refused, with its line.");
  if (id == "Clip") return StepWords::tr("What lies beyond the bounds of the training part becomes the bound.");
  if (id == "Standardise" || id == "RobustScale")
    return StepWords::tr("Measured on the training part alone; a number beyond its range only lies further out.");
  if (id == "SkipRows")
    return StepWords::tr("Lines are this file's own: of another file, and of one to predict, none is skipped by them.");
  if (id == "Resample")
    return StepWords::tr("A sound of any other rate is brought to it too, in a file to predict as well.");
  if (id == "LeaveOut") return StepWords::tr("Another file may have the column or not.");
  return {};
}

}  // namespace loom
