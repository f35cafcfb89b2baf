// What a person does to runs: colours, names, tags, notes, ticks, delete, compare, open a folder.
#include "app/pages/runs/runs_page.h"

#include <QAction>
#include <QDesktopServices>
#include <QFileDialog>
#include <QMenu>

#include "app/attempt.h"
#include "app/pages/runs/compare_card.h"
#include "app/pages/runs/runs_model.h"
#include "app/workspace.h"
#include "widgets/chart/chart_stack.h"
#include "widgets/controls/button.h"
#include "widgets/controls/popover.h"
#include "widgets/controls/search_field.h"
#include "widgets/table/data_table.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kMoreSeeds = 4;

}  // namespace

void RunsPage::chooseColour(const QModelIndex& index) {
  const QString id = index.data(RunsModel::idRole).toString();
  QMenu menu;
  for (int i = 0; i < 10; ++i) {
    QPixmap swatch(16, 12);
    swatch.fill(context().theme->curveColour(i));
    menu.addAction(QIcon(swatch), tr("Colour %1").arg(i + 1))->setData(i);
  }
  if (const QAction* chosen = menu.exec(QCursor::pos())) {
    context().store->change(id, [&](RunRecord& run) { run.colour = chosen->data().toInt(); });
    setLines();
    m_charts->refresh();
  }
}

// The name stands in the part of the table that stays; tags and note in columns that show themselves where there are any.
void RunsPage::edit(int column) {
  if (!m_table->currentIndex().isValid()) return;
  m_edited = column;
  setColumns();
  QTableView* const frozen = m_table->frozenPart();
  const QModelIndex index = m_table->currentIndex().siblingAtColumn(column);
  m_table->scrollTo(index);
  (column == RunsModel::name && frozen && frozen->isVisible() ? frozen : m_table)->edit(index);
}

void RunsPage::openSelected() {
  if (selected().isEmpty()) return;
  Place place;
  place.page = "training";
  place.run = selected().first();
  context().go(place);
}

void RunsPage::toggleSelected() {
  const QStringList ids = selected();
  if (ids.isEmpty()) return;
  const bool show = !m_model->isShown(ids.first());
  for (const QString& id : ids) m_model->setShown(id, show);
}

void RunsPage::hideOthers() {
  const QStringList keep = selected();
  QStringList hidden;
  for (int row = 0; row < m_model->rowCount(); ++row)
    if (!keep.contains(m_model->run(row).id)) hidden << m_model->run(row).id;
  m_model->setHidden(hidden);
}

// The row goes at once; the folder stays, and so does the way back.
void RunsPage::deleteSelected() {
  QStringList ids;
  for (const QString& id : selected())
    if (const RunRecord* run = context().store->find(id); run && !isLive(run->state) && run->deleted == 0) ids << id;
  if (ids.isEmpty()) {
    if (!selected().isEmpty()) context().notify({tr("A run that goes on stays in the list. Stop it first."), {}, {}});
    return;
  }
  const QString name = context().store->find(ids.first())->name;
  for (const QString& id : ids) context().store->remove(id);
  context().notify({ids.size() == 1 ? tr("%1 is out of the list. Its folder stays.").arg(name) : tr("%1 runs are out of the list. Their folders stay.").arg(ids.size()),
                    tr("Undo"), [store = context().store, ids] { for (const QString& id : ids) store->restore(id); }});
}

void RunsPage::compare() {
  QList<RunRecord> runs;
  for (const QString& id : shown())
    if (const int row = m_model->rowOf(id); row >= 0) runs << m_model->run(row);
  if (runs.size() < 2) return;
  delete m_card;
  m_card = new CompareCard(runs, m_model->differing(), *context().runMetrics, window());
  m_card->openAt(m_compare);
}

void RunsPage::openFolder() {
  const QString folder = QFileDialog::getExistingDirectory(this, tr("Open a run folder"));
  if (folder.isEmpty()) return;
  report(attempt([&] { context().launcher->openFolder(folder, context().document->path()); }));
}

// An error stands in the list of problems until the next thing succeeds.
void RunsPage::report(const QString& fault) {
  if (fault.isEmpty()) return Q_EMIT problemsChanged({});
  PageProblem problem;
  problem.placeText = tr("runs");
  problem.message = fault;
  problem.place.page = "runs";
  Q_EMIT problemsChanged({problem});
}

void RunsPage::moreSeeds(const QString& run) {
  const Outcome started = context().workspace->trainSeeds(kMoreSeeds, run);
  report(started.reason);
}

void RunsPage::contextMenu(const QPoint& place) {
  const QModelIndex index = m_table->indexAt(place);
  const RunRecord* const run = context().store->find(index.data(RunsModel::idRole).toString());
  if (!run) return;
  const QString id = run->id;
  QMenu menu;
  menu.addAction(icon("training"), tr("Show its curves"), this, &RunsPage::openSelected);
  menu.addAction(icon("eye"), m_model->isShown(id) ? tr("Hide in the charts") : tr("Show in the charts"), this, &RunsPage::toggleSelected);
  menu.addAction(tr("Hide others"), this, &RunsPage::hideOthers);
  menu.addSeparator();
  if (Launcher::may(run->state, RunAction::resume))
    menu.addAction(icon("resume"), tr("Resume"), this, [this, id] { report(attempt([&] { context().launcher->resume(id); })); });
  if (Launcher::may(run->state, RunAction::stop)) menu.addAction(icon("stop"), tr("Stop now"), this, [this, id] { report(attempt([&] { context().launcher->stop(id); })); });
  if (Launcher::may(run->state, RunAction::kill)) menu.addAction(tr("Kill, without a checkpoint"), this, [this, id] { report(attempt([&] { context().launcher->kill(id); })); });
  menu.addAction(icon("shuffle"), tr("Four more seeds"), this, [this, id] { moreSeeds(id); });
  menu.addSeparator();
  menu.addAction(icon("rename"), tr("Rename"), this, [this] { edit(RunsModel::name); });
  menu.addAction(tr("Tags"), this, [this] { edit(RunsModel::tags); });
  menu.addAction(tr("Note"), this, [this] { edit(RunsModel::note); });
  menu.addAction(icon("folder"), tr("Show its folder"), this, [folder = run->folder] { QDesktopServices::openUrl(QUrl::fromLocalFile(folder)); });
  menu.addSeparator();
  if (run->deleted > 0) menu.addAction(tr("Back into the list"), this, [this, id] { context().store->restore(id); });
  else menu.addAction(icon("delete"), tr("Delete"), this, &RunsPage::deleteSelected);
  menu.exec(m_table->viewport()->mapToGlobal(place));
}

}  // namespace loom
