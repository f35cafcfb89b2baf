// What a person does to runs: colours, names, tags, notes, ticks, delete, compare, open a folder.
#include <QAction>
#include <QDesktopServices>
#include <QFileDialog>
#include <QMenu>

#include "app/attempt.h"
#include "app/pages/runs/compare_card.h"
#include "app/pages/runs/runs_model.h"
#include "app/pages/runs/runs_page.h"
#include "app/trained_runs.h"
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

// The name stands in the part of the table that stays; tags and note in columns that show themselves where there are
// any.
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
  context().notify({ids.size() == 1 ? tr("%1 is out of the list. Its folder stays.").arg(name)
                                    : tr("%1 runs are out of the list. Their folders stay.").arg(ids.size()),
                    tr("Undo"), [store = context().store, ids] {
                      for (const QString& id : ids) store->restore(id);
                    }});
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

// The run that a command names, else the first that is selected; null where there is none.
const RunRecord* RunsPage::runMeant(const QJsonObject& arguments) const {
  const QStringList ids = arguments.contains("run") ? QStringList{arguments.value("run").toString()} : selected();
  return ids.isEmpty() ? nullptr : context().store->find(ids.first());
}

// What the table's menu has beyond the page's keys; those with keys hold while the table has the keyboard.
void RunsPage::makeTableCommands() {
  const auto any = [](const RunRecord&) { return true; };
  const auto may = [](RunAction action) {
    return [action](const RunRecord& run) { return Launcher::may(run.state, action); };
  };
  using Keys = QList<QKeySequence>;
  const auto add = [this](const char* id, const QString& text, const char* icon, auto possible, auto act,
                          const Keys& keys = {}) {
    context().commands->add({.id = QString::fromLatin1(id),
                             .group = tr("This page"),
                             .text = text,
                             .keys = keys,
                             .scope = keys.isEmpty() ? "runs" : "runs/table",
                             .icon = QString::fromLatin1(icon),
                             .family = {},
                             .possible =
                                 [this, possible] {
                                   const RunRecord* const run = runMeant({});
                                   return run && possible(*run);
                                 }},
                            this, Commands::Run([this, act](const QJsonObject& arguments) {
                              // A copy: what is done may change the list.
                              if (const RunRecord* const run = runMeant(arguments)) act(RunRecord(*run));
                            }));
  };
  const auto launch = [this](auto what) {
    return [this, what](const RunRecord& run) { report(attempt([&] { (context().launcher->*what)(run.id); })); };
  };
  add(
      "runs.open", tr("Show its curves"), "training", any, [this](const RunRecord&) { openSelected(); },
      Keys{Qt::Key_Return, Qt::Key_Enter});
  add(
      "runs.draw", tr("Show or hide in the charts"), "eye", any, [this](const RunRecord&) { toggleSelected(); },
      Keys{Qt::Key_Space});
  const auto resumes = [this](const RunRecord& run) { return mayResume(run, *context().models); };
  add("runs.resume", tr("Resume"), "resume", resumes,
      [this](const RunRecord& run) { report(attempt([&] { context().launcher->resume(run.id); })); });
  add("runs.stop", tr("Stop now"), "stop", may(RunAction::stop), launch(&Launcher::stop));
  add("runs.kill", tr("Kill, without a checkpoint"), "", may(RunAction::kill), launch(&Launcher::kill));
  add("runs.seeds", tr("Four more seeds"), "shuffle", any, [this](const RunRecord& run) { moreSeeds(run.id); });
  add("runs.export", tr("Export model..."), "export", hasWeightsHere, [this](const RunRecord& run) {
    context().commands->run("export-model", {{"run", run.id}});
  });
  add("runs.drawing", tr("Open its drawing"), "network", any, [this](const RunRecord& run) {
    context().commands->run("open-drawing", {{"run", run.id}});
  });
  add("runs.folder", tr("Show its folder"), "folder", any,
      [](const RunRecord& run) { QDesktopServices::openUrl(QUrl::fromLocalFile(run.folder)); });
  add(
      "runs.restore", tr("Back into the list"), "", [](const RunRecord& run) { return run.deleted > 0; },
      [this](const RunRecord& run) { context().store->restore(run.id); });
  add(
      "runs.delete", tr("Delete"), "delete", [](const RunRecord& run) { return run.deleted == 0; },
      [this](const RunRecord&) { deleteSelected(); }, Keys{Qt::Key_Delete});
  add(
      "runs.select-all", tr("Select all runs"), "", any, [this](const RunRecord&) { m_table->selectAll(); },
      QKeySequence::keyBindings(QKeySequence::SelectAll));
  m_table->setCommands(*context().commands, QStringLiteral("runs/table"));
}

void RunsPage::contextMenu(const QPoint& place) {
  const QModelIndex index = m_table->indexAt(place);
  const RunRecord* const run = context().store->find(index.data(RunsModel::idRole).toString());
  if (!run) return;
  QMenu menu;
  const auto add = [&](const char* id, const QString& text = {}) {
    context()
        .commands
        ->addTo(menu, QString::fromLatin1(id), this, {.text = text, .picture = {}, .arguments = {{"run", run->id}}})
        ->setEnabled(true);
  };
  add("runs.open");
  add("runs.draw", m_model->isShown(run->id) ? tr("Hide in the charts") : tr("Show in the charts"));
  add("runs.hide-others", tr("Hide others"));
  menu.addSeparator();
  if (mayResume(*run, *context().models)) add("runs.resume");
  if (Launcher::may(run->state, RunAction::stop)) add("runs.stop");
  if (Launcher::may(run->state, RunAction::kill)) add("runs.kill");
  add("runs.seeds");
  menu.addSeparator();
  if (hasWeightsHere(*run)) add("runs.export");
  add("runs.drawing");
  menu.addSeparator();
  add("runs.rename", tr("Rename"));
  add("runs.tags", tr("Tags"));
  add("runs.note", tr("Note"));
  add("runs.folder");
  menu.addSeparator();
  add(run->deleted > 0 ? "runs.restore" : "runs.delete");
  menu.exec(m_table->viewport()->mapToGlobal(place));
}

}  // namespace loom
