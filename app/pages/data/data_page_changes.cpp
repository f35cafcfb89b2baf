// What the Data page changes in the project: steps of preparation, what a column is for, a validation set split off.
// Each is one undo step; no file of a person's is touched.
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <algorithm>
#include <cmath>

#include "app/pages/data/data_page.h"
#include "app/pages/data/import_menu.h"
#include "app/pages/data/known_columns.h"
#include "app/pages/data/preparation_panel.h"
#include "app/pages/data/prepare_measure.h"
#include "app/pages/data/samples_view.h"
#include "app/pages/data/split_card.h"
#include "app/pages/data/step_edits.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/columns/preview.h"
#include "engine/network/flatten.h"
#include "widgets/controls/button.h"
#include "widgets/controls/text.h"
#include "widgets/document/project_document.h"

namespace loom {
namespace {

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

enum Role { learns, predicted, leftOut };

// The Inputs of a drawing that its losses compare with, and the one whose variable is `variable`.
std::vector<std::string> targetInputs(const Network& network) {
  std::vector<std::string> inputs;
  for (const Edge& edge : network.edges)
    if (edge.to.port == "target")
      if (const Node* const node = network.find(edge.from.node);
          node && roleOf(node->layer) == LayerRole::input &&
          std::find(inputs.begin(), inputs.end(), node->id) == inputs.end())
        inputs.push_back(node->id);
  return inputs;
}

// Numbers of a vector.
std::int64_t widthOf(const TablePreview& preview, const std::string& variable) {
  return std::count_if(preview.after.begin(), preview.after.end(),
                       [&](const PreviewColumn& each) { return variableOfName(each.name) == variable; });
}

void takeVariable(DrawingEdit& edit, const std::string& input, const std::string& variable) {
  edit.change(input, [&](Node& node) {
    if (variable == node.id)
      node.values.erase("variable");
    else
      node.values["variable"] = variable;
  });
}

}  // namespace

QStringList DataPage::classColumns() const {
  QStringList columns;
  if (const auto& facts = m_session->facts())
    for (const ColumnFacts& column : facts->columns) {
      if (!column.likelyClasses()) continue;
      const QString name = QString::fromStdString(column.name);
      const bool first = column.type == ColumnType::classes || std::find(m_roles.targets.begin(), m_roles.targets.end(),
                                                                         column.name) != m_roles.targets.end();
      first ? columns.prepend(name) : columns.append(name);
    }
  return columns;
}

// What is split anew is the whole of both parts.
std::int64_t DataPage::wholeRows() const {
  const auto& facts = m_session->facts();
  return facts ? facts->rows - facts->strayRows : 0;
}

void DataPage::offerSplit() {
  if (wholeRows() < 2) return;
  auto* card = new SplitCard(wholeRows(), classColumns(), window());
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
  held.extra.erase("target");  // it is the training set's to say
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
                    QStringLiteral("Undo"), stepBack()});
}

void DataPage::changeSteps(const QString& text, std::vector<Json> steps) {
  const DatasetSpec* const owner = prepared();
  if (!owner || steps == owner->prepare) return;
  const std::vector<FeedLine> along = feedsAlong(steps);
  context().document->edit(text, [name = owner->name, &steps, &along](ProjectEdit& edit) {
    for (DatasetSpec& spec : edit.datasets())
      if (spec.name == name) spec.prepare = std::move(steps);
    for (const FeedLine& feed : along)
      edit.drawing(feed.network, [&](DrawingEdit& drawing) {
        drawing.change(feed.node, [&](Node& node) { node.values["shape"] = Json::array({feed.vector}); });
      });
  });
}

// Inputs that take all numbers of a vector, with as many as these steps make of it: where the preview of the rows
// counted rightly before, it does so behind them.
std::vector<FeedLine> DataPage::feedsAlong(const std::vector<Json>& steps) const {
  std::vector<FeedLine> along;
  const auto& facts = m_session->facts();
  if (!facts || !facts->sample || !m_preview) return along;
  std::optional<TablePreview> after;
  for (FeedLine feed : m_roles.feeds) {
    if (feed.target || feed.vector < 1 || feed.vector != widthOf(*m_preview, feed.variable) ||
        !context().document->node(feed.network, feed.node))
      continue;
    if (!after) after = previewTable(*facts->sample, facts->format, columnStepsOf(steps));
    const std::int64_t width = widthOf(*after, feed.variable);
    if (width == 0 || width == feed.vector) continue;
    feed.vector = width;
    along.push_back(std::move(feed));
  }
  return along;
}

void DataPage::addSteps(const QString& text, const std::vector<Json>& added) {
  changeSteps(text, withSteps(steps(), added));
  context().notify({tr("%1: a step of the preparation; the file stays as it is").arg(text), tr("Undo"), stepBack()});
}

// A column stands for the variable that it is behind the steps.
void DataPage::changeSettings(const QString& text, const Json& settings) {
  context().document->edit(text, [&](ProjectEdit& edit) {
    for (const auto& [key, value] : settings.items()) {
      const auto column = m_roles.variables.find(key == "oversample" ? value.get<std::string>() : std::string());
      put(edit.training().settings, key.c_str(), column == m_roles.variables.end() ? value : Json(column->second),
          settingsEntry().field(key)->defaultValue);
    }
  });
  context().notify({tr("%1: a setting of the training; the file stays as it is").arg(text), tr("Undo"), stepBack()});
}

void DataPage::setRole(const std::string& column, int role) {
  if (column.empty()) return;
  const QString name = QString::fromStdString(column);
  if (role == leftOut) {
    if (!isLeftOut(steps(), column)) changeSteps(tr("leave out %1").arg(name), withoutColumn(steps(), column));
  } else if (role == predicted) {
    predict(column);
  } else {
    const bool target = std::find(m_roles.targets.begin(), m_roles.targets.end(), column) != m_roles.targets.end();
    std::vector<Json> changed = withColumn(steps(), column);
    const DatasetSpec* const owner = prepared();
    if (!owner) return;
    context().document->edit(tr("learn from %1").arg(name), [&, owner = owner->name](ProjectEdit& edit) {
      for (DatasetSpec& spec : edit.datasets()) {
        if (spec.name != owner) continue;
        spec.prepare = changed;
        if (spec.extra.is_object() && spec.extra.value("target", "") == column) spec.extra.erase("target");
      }
      // An Input that compared with it takes its own name again, until another column is chosen.
      if (target)
        for (const Network& each : std::vector<Network>(edit.project().networks))
          edit.drawing(each.name, [&](DrawingEdit& drawing) {
            for (const std::string& input : targetInputs(each)) takeVariable(drawing, input, input);
          });
    });
  }
  refreshRoles();
}

// The Input that the loss compares with takes the column; what was predicted before is learned from in its place.
void DataPage::predict(const std::string& column) {
  const DatasetSpec* const owner = prepared();
  if (!owner) return;
  std::vector<Json> changed = withColumn(steps(), column);
  const std::string joined = joinOf(changed, column);
  if (!joined.empty()) {
    std::vector<std::string> rest;
    for (const auto& [name, variable] : m_roles.variables)
      if (joinOf(changed, name) == joined && name != column) rest.push_back(name);
    for (const std::string& before : m_roles.targets)
      if (before != column && joinOf(changed, before).empty()) rest.push_back(before);
    // In the order of the file.
    std::vector<std::string> ordered;
    for (const ColumnFacts& each : m_session->facts()->columns)
      if (std::find(rest.begin(), rest.end(), each.name) != rest.end()) ordered.push_back(each.name);
    changed = joinedInto(joinedInto(changed, joined, {}), joined, ordered);
  }
  const std::string variable = nameAfter(changed, column);
  context().document->edit(
      tr("predict %1").arg(QString::fromStdString(column)), [&, owner = owner->name](ProjectEdit& edit) {
        for (DatasetSpec& spec : edit.datasets()) {
          if (spec.name != owner) continue;
          spec.prepare = changed;
          spec.extra["target"] = column;
        }
        for (const Network& each : std::vector<Network>(edit.project().networks)) {
          // Of several losses only their maker knows which is meant: the menu of the column feeds each.
          const std::vector<std::string> inputs = targetInputs(each);
          if (inputs.size() != 1) continue;
          edit.drawing(each.name, [&](DrawingEdit& drawing) { takeVariable(drawing, inputs.front(), variable); });
        }
      });
}

void DataPage::rename(const std::string& column, const QString& to) {
  const std::string name = to.toStdString();
  const auto& facts = m_session->facts();
  if (name.find(':') != std::string::npos || name.find("__") != std::string::npos || name[0] == '#') {
    m_error->setText(
        tr("'%1' is no name for a column: ':', '__' and '#' at the beginning mean something in a CSV's header")
            .arg(to));
    return m_error->show();
  }
  for (const auto& [other, variable] : m_roles.variables)
    if (other != column && (variable == name || nameAfter(steps(), other) == name)) {
      m_error->setText(tr("There is a column %1 already").arg(to));
      return m_error->show();
    }
  m_error->hide();
  const std::string before = nameAfter(steps(), column);
  std::vector<Json> changed = renamedColumn(steps(), column, name);
  const DatasetSpec* const owner = prepared();
  if (!owner || !facts) return;
  // Inputs that take the column go along.
  context().document->edit(
      tr("rename %1").arg(QString::fromStdString(column)), [&, owner = owner->name](ProjectEdit& edit) {
        for (DatasetSpec& spec : edit.datasets())
          if (spec.name == owner) spec.prepare = changed;
        for (const Network& each : std::vector<Network>(edit.project().networks))
          edit.drawing(each.name, [&](DrawingEdit& drawing) {
            for (const Node& node : each.nodes) {
              const bool takes =
                  roleOf(node.layer) == LayerRole::input && node.values.value("variable", node.id) == before;
              if (takes && joinOf(changed, column).empty()) takeVariable(drawing, node.id, name);
            }
          });
      });
}

// Numbers are joined into the Input's vector; a picture, or a number for a single one, is what the Input takes.
void DataPage::feed(const FeedLine& feed, const std::vector<std::string>& columns) {
  const auto& facts = m_session->facts();
  const DatasetSpec* const owner = prepared();
  if (columns.empty() || !facts || !owner) return;
  const QString text = tr("feed %1").arg(QString::fromStdString(feed.node));
  if (feed.vector > 1) return changeSteps(text, joinedInto(steps(), feed.variable, columns));
  const std::string column = columns.back();
  const std::string variable = nameAfter(steps(), column);
  context().document->edit(text, [&, owner = owner->name](ProjectEdit& edit) {
    for (DatasetSpec& spec : edit.datasets()) {
      if (spec.name != owner) continue;
      const std::string joined = joinOf(spec.prepare, column);
      std::vector<std::string> rest;
      for (const ColumnFacts& each : facts->columns)
        if (each.name != column && joinOf(spec.prepare, each.name) == joined) rest.push_back(each.name);
      if (!joined.empty()) spec.prepare = joinedInto(joinedInto(spec.prepare, joined, {}), joined, rest);
    }
    edit.drawing(feed.network, [&](DrawingEdit& drawing) { takeVariable(drawing, feed.node, variable); });
  });
}

void DataPage::mendFeed(const FeedLine& wanted) {
  if (!wanted.offered.empty()) return feed(wanted, wanted.offered);
  if (!wanted.steps.empty()) {
    // A size that was chosen before is not computed first.
    std::vector<Json> kept = steps();
    std::erase_if(kept, [&](const Json& step) {
      return step.value("step", "") == "Resize" && (step.value("variable", Json()) == wanted.variable ||
                                                    step.value("variable", Json()) == Json::array({wanted.variable}));
    });
    return changeSteps(wanted.remedy, withSteps(std::move(kept), wanted.steps));
  }
  for (const KnownColumns& each : context().document->knownColumns()) {
    const auto shape = each.shapes.find(wanted.variable);
    if (each.dataset != prepared()->name || shape == each.shapes.end()) continue;
    const Outcome done = context().document->setField(wanted.network, wanted.node, "shape", shape->second.extents());
    m_error->setText(done.reason);
    m_error->setVisible(!done);
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
