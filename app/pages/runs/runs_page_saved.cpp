// Saved views: filter, grouping, order and charts under a name, remembered with the project.
#include <QHeaderView>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QVBoxLayout>
#include <algorithm>

#include "app/pages/runs/run_board.h"
#include "app/pages/runs/run_rows.h"
#include "app/pages/runs/runs_model.h"
#include "app/pages/runs/runs_page.h"
#include "app/pages/runs/settings_panel.h"
#include "app/workspace.h"
#include "widgets/controls/button.h"
#include "widgets/controls/popover.h"
#include "widgets/controls/search_field.h"
#include "widgets/table/data_table.h"

namespace loom {
namespace {

constexpr int kWithKeys = 9;

}  // namespace

QJsonObject RunsPage::currentView() const {
  return {{"filter", m_search->text().trimmed()},
          {"grouped", m_rows->isGrouped()},
          {"spread", static_cast<int>(m_rows->spread())},
          {"charts", m_board->save()},
          {"brushes", m_settings->saveBrushes()},
          {"sort_by", m_model->keyOf(m_table->horizontalHeader()->sortIndicatorSection())},
          {"ascending", m_table->horizontalHeader()->sortIndicatorOrder() == Qt::AscendingOrder}};
}

void RunsPage::openView(const QJsonObject& view) {
  m_search->setText(view["filter"].toString());
  m_rows->setSpread(static_cast<Spread>(std::clamp(view["spread"].toInt(0), 0, 2)));
  setGrouped(view["grouped"].toBool(false));
  m_board->restore(view.contains("charts") ? view["charts"].toArray() : RunBoard::usual());
  m_settings->restoreBrushes(view["brushes"].toArray());
  m_table->sortByColumn(m_model->columnOf(view["sort_by"].toString()),
                        view["ascending"].toBool(false) ? Qt::AscendingOrder : Qt::DescendingOrder);
}

// A view of before charts could be chosen means the usual ones.
bool RunsPage::isAsSaved(const QJsonObject& view) const {
  QJsonObject whole = view;
  if (!whole.contains("charts")) whole["charts"] = RunBoard::usual();
  if (!whole.contains("brushes")) whole["brushes"] = QJsonArray();
  return whole == currentView();
}

void RunsPage::openSavedView(int number) {
  if (number >= m_saved.size()) return;
  m_view = m_saved[number].toObject()["name"].toString();
  openView(m_saved[number].toObject()["view"].toObject());
  refreshViews();
}

int RunsPage::savedView(const QString& name) const {
  for (int i = 0; i < m_saved.size(); ++i)
    if (m_saved[i].toObject()["name"].toString() == name) return i;
  return -1;
}

// The one of this name is written over: its old content comes back by Undo.
void RunsPage::saveView(const QString& name) {
  const QJsonArray before = m_saved;
  const int known = savedView(name);
  const QJsonObject saved{{"name", name}, {"view", currentView()}};
  if (known < 0)
    m_saved.append(saved);
  else
    m_saved.replace(known, saved);
  m_view = name;
  refreshViews();
  if (known >= 0 && before != m_saved) tellViews(tr("The view %1 was changed.").arg(name), before);
}

void RunsPage::removeView(const QString& name) {
  const QJsonArray before = m_saved;
  m_saved.removeAt(savedView(name));
  m_view.clear();
  refreshViews();
  tellViews(tr("The view %1 was removed.").arg(name), before);
}

void RunsPage::tellViews(const QString& sentence, const QJsonArray& before) {
  context().notify({sentence, tr("Undo"), [page = QPointer<RunsPage>(this), before] {
                      if (!page) return;
                      page->m_saved = before;
                      page->refreshViews();
                    }});
}

// "View: LARS and LAMB", with a sign while it is not as it was saved.
void RunsPage::refreshViews() {
  const int known = savedView(m_view);
  const bool edited = known >= 0 && !isAsSaved(m_saved[known].toObject()["view"].toObject());
  m_viewButton->setText(known < 0 ? tr("Views") : edited ? tr("%1, edited").arg(m_view) : m_view);
}

void RunsPage::chooseView() {
  QMenu menu;
  for (int i = 0; i < m_saved.size(); ++i) {
    const QString name = m_saved[i].toObject()["name"].toString();
    QAction* const action =
        menu.addAction(name + (i < kWithKeys ? QStringLiteral("\tCtrl+Shift+%1").arg(i + 1) : QString()));
    action->setCheckable(true);
    action->setChecked(name == m_view);
    connect(action, &QAction::triggered, this, [this, i] { openSavedView(i); });
  }
  if (m_saved.isEmpty()) menu.addAction(tr("No view is saved yet"))->setEnabled(false);
  menu.addSeparator();
  if (const int known = savedView(m_view); known >= 0) {
    const bool edited = !isAsSaved(m_saved[known].toObject()["view"].toObject());
    const auto add = [&](const QString& text, bool possible, auto act) {
      QAction* const action = menu.addAction(text);
      action->setEnabled(possible);
      connect(action, &QAction::triggered, this, act);
    };
    add(tr("Save %1 as it is now").arg(m_view), edited, [this] { saveView(m_view); });
    add(tr("Discard what was edited"), edited, [this, known] { openSavedView(known); });
    add(tr("Remove %1").arg(m_view), true, [this] { removeView(m_view); });
    menu.addSeparator();
  }
  // What was put away has no row until it is asked for.
  const auto putAway = [&](const QString& text, const QString& filter, auto is) {
    int runs = 0;
    context().store->forEachRun(
        context().document->path(), [&](const RunRecord& run) { runs += is(run); }, RunStore::Deleted::include);
    if (runs > 0)
      connect(menu.addAction(text.arg(runs)), &QAction::triggered, this, [this, filter] { m_search->setText(filter); });
  };
  putAway(tr("Archived runs (%1)"), "state == archived",
          [](const RunRecord& run) { return run.archived && run.deleted == 0; });
  putAway(tr("Deleted runs (%1)"), "state == deleted", [](const RunRecord& run) { return run.deleted > 0; });
  menu.addSeparator();
  connect(menu.addAction(tr("Save as a new view…")), &QAction::triggered, this, &RunsPage::nameView);
  menu.exec(m_viewButton->mapToGlobal(QPoint(0, m_viewButton->height() + 2)));
}

void RunsPage::nameView() {
  delete m_card;
  m_card = new Popover(window());
  m_card->setObjectName("view-card");
  m_card->setTitle(tr("Name of the view"));
  auto* name = new QLineEdit;
  name->setObjectName("view-name");
  name->setMinimumWidth(220);
  name->setText(m_search->text().trimmed().left(40));
  name->selectAll();
  auto* hint = new QLabel(tr("It keeps filter, grouping, order and charts."));
  hint->setProperty("kind", "hint");
  m_card->contentLayout()->addWidget(name);
  m_card->contentLayout()->addWidget(hint);
  connect(name, &QLineEdit::returnPressed, this, [this, name] {
    const QString words = name->text().trimmed();
    if (words.isEmpty()) return;
    saveView(words);
    m_card->close();
  });
  m_card->openAt(m_viewButton);
  name->setFocus();
}

}  // namespace loom
