// What the Data page changes: a validation set split off, columns of words and broken rows mended in a copy, what
// Normalise takes from the training set.
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QPointer>
#include <algorithm>
#include <cmath>

#include "app/pages/data/data_page.h"
#include "app/pages/data/findings_list.h"
#include "app/pages/data/import_menu.h"
#include "app/pages/data/known_columns.h"
#include "app/pages/data/preparation_panel.h"
#include "app/pages/data/prepare_measure.h"
#include "app/pages/data/split_card.h"
#include "engine/base/error.h"
#include "engine/data/raw_rows.h"
#include "widgets/controls/button.h"
#include "widgets/controls/text.h"
#include "widgets/document/project_document.h"

namespace loom {
namespace {

// A step back that a notice offers; the project may be closed while the notice stays.
std::function<void()> undoOf(ProjectDocument& document) {
  return [document = QPointer<ProjectDocument>(&document)] {
    if (document) document->undoStack().undo();
  };
}

void put(Json& extra, const char* key, const Json& value, const Json& standard) {
  if (value == standard)
    extra.erase(key);
  else
    extra[key] = value;
}

void hold(Json& extra, const HoldOut& how, const char* part) {
  extra["hold_out"] = how.share;
  put(extra, "part", part, "rest");
  put(extra, "hold_shuffled", how.shuffled, true);
  put(extra, "hold_by", how.by, "");
  put(extra, "hold_seed", how.seed, 1);
}

// "Bring all to 28×28", or "Add Colours".
QString remedyOf(const Json& step) {
  const auto size = step.find("size");
  if (size != step.end() && size->is_array() && size->size() == 2)
    return QStringLiteral("Bring all to %1×%2").arg((*size)[0].get<int>()).arg((*size)[1].get<int>());
  return QStringLiteral("Add %1").arg(QString::fromStdString(step.value("step", "")));
}

}  // namespace

QStringList DataPage::classColumns() const {
  QStringList columns;
  for (const Variable& variable : m_session->schema().variables) {
    const auto stats = std::find_if(m_session->stats().begin(), m_session->stats().end(),
                                    [&](const VariableStats& each) { return each.variable == variable.name; });
    const bool measured = stats != m_session->stats().end();
    if (isLabel(variable))
      columns.prepend(QString::fromStdString(variable.name));
    else if (measured && !stats->classes.empty())
      columns.append(QString::fromStdString(variable.name));
  }
  return columns;
}

void DataPage::offerSplit() {
  const auto dataset = m_session->dataset();
  if (!dataset || dataset->size() < 2) return;
  // What is split anew is the whole of both parts.
  const DatasetSpec* spec = context().document->project().dataset(currentName());
  std::int64_t rows = dataset->size();
  if (spec && spec->extra.contains("hold_out") && spec->extra["hold_out"].is_number())
    rows = std::llround(static_cast<double>(rows) / (spec->extra.value("part", "rest") == "held"
                                                         ? spec->extra["hold_out"].get<double>()
                                                         : 1 - spec->extra["hold_out"].get<double>()));
  auto* card = new SplitCard(rows, classColumns(), window());
  connect(card, &Popover::closed, card, &QObject::deleteLater);
  connect(card, &SplitCard::wanted, this, [this, card] { splitOff(card->holdOut()); });
  connect(card, &SplitCard::fileWanted, this, [this] {
    const QString path =
        QFileDialog::getOpenFileName(this, QStringLiteral("The validation set"), context().document->folder(),
                                     QStringLiteral("CSV (*.csv);;All files (*)"));
    if (!path.isEmpty()) addCsv(path);
  });
  card->openAt(m_splitButton->isVisible() ? static_cast<QWidget*>(m_splitButton) : m_checkButton);
}

void DataPage::splitOff(const HoldOut& how) {
  ProjectDocument& document = *context().document;
  const Project& project = document.project();
  const DatasetSpec* current = project.dataset(currentName());
  if (!current) return;
  // From a part the split begins anew at the training set, and the other part follows.
  const std::string trained =
      project.training.updates.empty() ? current->name : project.training.updates.front().dataset;
  const DatasetSpec* training = project.dataset(project.training.validation == current->name ? trained : current->name);
  if (!training) return;
  DatasetSpec kept = *training, held;
  held.name = project.training.validation.empty() ? "validation" : project.training.validation;
  for (int number = 2; project.training.validation.empty() && project.dataset(held.name); ++number)
    held.name = "validation" + std::to_string(number);
  if (const DatasetSpec* before = project.dataset(held.name)) held = *before;
  held.csv = kept.csv;
  held.extra = kept.extra.is_object() ? kept.extra : Json::object();
  kept.extra = held.extra;
  hold(kept.extra, how, "rest");
  hold(held.extra, how, "held");
  document.edit(QStringLiteral("split off validation"), [kept, held](ProjectEdit& edit) {
    std::vector<DatasetSpec>& datasets = edit.datasets();
    for (DatasetSpec& spec : datasets)
      if (spec.name == kept.name) spec = kept;
    const auto known =
        std::find_if(datasets.begin(), datasets.end(), [&](const DatasetSpec& spec) { return spec.name == held.name; });
    if (known == datasets.end())
      datasets.push_back(held);
    else
      *known = held;
    edit.training().validation = held.name;
  });
  context().notify({QStringLiteral("%1 % of the rows are the validation set").arg(100 * how.share, 0, 'g', 4),
                    QStringLiteral("Undo"), undoOf(document)});
}

std::vector<FindingAction> DataPage::actionsFor(const Fault& fault) {
  const std::string column = fault.column;
  switch (fault.kind) {
    case FaultKind::textColumn:
      return {{QStringLiteral("Encode as classes"),
               [this, column] {
                 Repair repair;
                 repair.encode[column] = knownWords(column);
                 mend(repair);
               }},
              {QStringLiteral("Leave out"), [this, column] { mend({.leaveOut = {column}}); }}};
    case FaultKind::constantColumn:
      return {{QStringLiteral("Leave out"), [this, column] { mend({.leaveOut = {column}}); }}};
    case FaultKind::raggedRow:
    case FaultKind::emptyCell:
    case FaultKind::notANumber:
    case FaultKind::notFinite:
    case FaultKind::missingFile:
    case FaultKind::brokenFile:
    case FaultKind::mixedShapes:
    case FaultKind::mixedKinds:
      if (fault.step.is_object())
        return {{remedyOf(fault.step), [this, step = fault.step] { m_preparation->addStep(step); }}};
      if (fault.severity != FaultSeverity::error || fault.line <= 1) return {};
      return {{QStringLiteral("Skip row"), [this, line = fault.line] { mend({.skip = {line}}); }},
              {QStringLiteral("Skip all broken rows"), [this] { mend({.skipFaulty = true}); }}};
    case FaultKind::loneClass:
      if (!m_session->request().otherPart) return {};  // two files: only their maker knows
      return {{QStringLiteral("Split anew…"), [this] { offerSplit(); }}};
    case FaultKind::unlikeScales:
      if (fault.variables.empty())
        return {{QStringLiteral("Add Normalise"), [this] { m_preparation->addStep({{"step", "Normalise"}}); }}};
      return {{QStringLiteral("Normalise %1 columns").arg(fault.variables.size()), [this, variables = fault.variables] {
                 m_preparation->addStep({{"step", "Normalise"}, {"variable", variables}});
               }}};
    default:
      return {};
  }
}

// The numbers that the words of a column have in another dataset of the project: "setosa" is one class in both.
std::vector<std::string> DataPage::knownWords(const std::string& column) const {
  const std::string variable = column.substr(0, column.find(':'));
  for (const DatasetSpec& other : context().document->project().datasets) {
    if (other.name == currentName()) continue;
    const std::filesystem::path csv = datasetPath(*context().document, other).toStdString();
    std::error_code ignored;
    if (std::filesystem::is_regular_file(classWordsPath(csv, variable), ignored)) return classWords(csv, variable);
  }
  return {};
}

void DataPage::mend(const Repair& repair) {
  ProjectDocument& document = *context().document;
  const DatasetSpec* current = document.project().dataset(currentName());
  if (!current) return;
  const std::string before = current->csv;
  try {
    const RepairedCsv repaired = repairCsv(datasetPath(document, *current).toStdString(), repair);
    const QString path = QString::fromStdString(repaired.csv.string());
    const std::string csv = path.toStdString();
    m_error->hide();
    // Both parts of a split file go over to the copy.
    document.edit(QStringLiteral("use the mended copy"), [before, csv](ProjectEdit& edit) {
      for (DatasetSpec& spec : edit.datasets())
        if (spec.csv == before) spec.csv = csv;
    });
    context().notify({repaired.skipped > 0
                          ? QStringLiteral("%1 left out in %2; the file itself stays")
                                .arg(counted(repaired.skipped, QStringLiteral("rows")), QFileInfo(path).fileName())
                          : QStringLiteral("%1 is used; the file itself stays").arg(QFileInfo(path).fileName()),
                      QStringLiteral("Undo"), undoOf(document)});
  } catch (const Error& error) {
    m_error->setText(QString::fromUtf8(error.what()));
    m_error->show();
  }
}

void DataPage::measure(const std::vector<Json>& steps) {
  const Project& project = context().document->project();
  const DatasetSpec* dataset = project.dataset(currentName());
  if (!dataset) return;
  const DatasetSpec* trained = dataset->ownPrepare || project.training.updates.empty()
                                   ? nullptr
                                   : project.dataset(project.training.updates.front().dataset);
  const DatasetSpec& source = trained ? *trained : *dataset;
  m_measure->ask(datasetPath(*context().document, source), source, steps);
}

}  // namespace loom
