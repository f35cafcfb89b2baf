// What a person does to runs: colours, names, tags, notes, ticks, delete, compare, open a folder.
#include <QAction>
#include <QDesktopServices>
#include <QFileDialog>
#include <QMenu>

#include "app/attempt.h"
#include "app/group_series.h"
#include "app/pages/runs/compare_card.h"
#include "app/pages/runs/run_rows.h"
#include "app/pages/runs/runs_model.h"
#include "app/pages/runs/runs_page.h"
#include "app/store_series.h"
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
  if (!m_table->currentIndex().isValid() || isGroup(m_table->currentIndex())) return;
  m_edited = column;
  setColumns();
  QTableView* const frozen = m_table->frozenPart();
  const QModelIndex index = m_table->currentIndex().siblingAtColumn(column);
  m_table->scrollTo(index);
  (column == RunsModel::name && frozen && frozen->isVisible() ? frozen : m_table)->edit(index);
}

void RunsPage::openSelected() {
  const QModelIndex row = m_table->currentIndex();
  if (isGroup(row)) {
    const QString group = row.data(RunRows::groupRole).toString();
    return m_rows->setOpen(group, !m_rows->open().contains(group));
  }
  if (selected().isEmpty()) return;
  Place place;
  place.page = "training";
  place.run = selected().first();
  context().go(place);
}

void RunsPage::toggleSelected() {
  const QStringList ids = selected();
  if (!ids.isEmpty()) m_model->setShown(ids, !m_model->isShown(ids.first()));
}

void RunsPage::hideOthers() {
  const QStringList chosen = selected();
  const QSet<QString> keep(chosen.begin(), chosen.end());
  QStringList hidden;
  for (int row = 0; row < m_model->count(); ++row)
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

// Out of the list and of the charts; nothing else becomes of them.
void RunsPage::archiveSelected() {
  QStringList ids;
  bool away = false;  // one of them is in the list: all are put away, else all come back
  for (const QString& id : selected())
    if (const RunRecord* run = context().store->find(id); run && !isLive(run->state) && run->deleted == 0) {
      ids << id;
      away = away || !run->archived;
    }
  if (ids.isEmpty()) {
    if (!selected().isEmpty()) context().notify({tr("A run that goes on stays in the list."), {}, {}});
    return;
  }
  const QString name = context().store->find(ids.first())->name;
  context().store->setArchived(ids, away);
  const QString who = ids.size() == 1 ? name : tr("%1 runs").arg(ids.size());
  context().notify(
      {away ? tr("%1 archived: Views shows what was put away.").arg(who) : tr("%1 back in the list.").arg(who),
       tr("Undo"), [store = context().store, ids, away] { store->setArchived(ids, !away); }});
}

// A group stands in the comparison as the first of its runs, with its mean.
void RunsPage::compare() {
  std::vector<ComparedRun> runs;
  for (const RunRows::Drawn& each : m_rows->drawn()) {
    const int row = m_model->rowOf(each.runs.front());
    if (row < 0) continue;
    ComparedRun run{.record = m_model->run(row), .network = m_model->networkOf(each.runs.front()), .best = {}};
    run.record.name = each.name;
    if (each.isMean()) run.best = m_rows->bestText(each.id);
    runs.push_back(std::move(run));
  }
  if (runs.size() < 2) return;
  delete m_card;
  m_card = new CompareCard(runs, m_model->differing(), *context().runMetrics, comparedCurves(), window());
  m_card->openAt(m_compare);
}

// The lines of the first chart, from sources of their own: the card may be asked for another width.
ComparedCurves RunsPage::comparedCurves() const {
  const XAxisModel& axis = *m_charts->axis();
  ComparedCurves curves{.title = m_metric->title(),
                        .value = m_model->metricKind(),
                        .better = m_model->metricBetter(),
                        .unit = axis.unit(),
                        .range = axis.full(),
                        .lines = {}};
  for (const RunRows::Drawn& each : m_rows->drawn()) {
    for (const PanelLine& drawn : m_metric->lines()) {
      if (drawn.line.id != each.id) continue;
      ChartLine line = drawn.line;
      std::vector<std::shared_ptr<const SeriesSource>> sources;
      for (const QString& id : each.runs)
        if (const RunRecord* const run = context().store->find(id))
          sources.push_back(std::make_shared<StoreSeries>(
              *context().store, id, (run->metricOfValidation ? "validation." : "epoch.") + run->metric.toStdString()));
      if (sources.empty()) continue;
      line.source =
          sources.size() == 1 ? sources.front() : std::make_shared<GroupSeries>(std::move(sources), m_rows->spread());
      curves.lines.push_back(std::move(line));
    }
  }
  return curves;
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
      "runs.archive", tr("Archive, or take out of the archive"), "save",
      [](const RunRecord& run) { return run.deleted == 0; }, [this](const RunRecord&) { archiveSelected(); },
      Keys{Qt::Key_A});
  add(
      "runs.delete", tr("Delete"), "delete", [](const RunRecord& run) { return run.deleted == 0; },
      [this](const RunRecord&) { deleteSelected(); }, Keys{Qt::Key_Delete});
  add(
      "runs.select-all", tr("Select all runs"), "", any, [this](const RunRecord&) { m_table->selectAll(); },
      QKeySequence::keyBindings(QKeySequence::SelectAll));
  m_table->setCommands(*context().commands, QStringLiteral("runs/table"));
}

// How runs of equal settings stand in the table, and what their band says.
void RunsPage::chooseGrouping() {
  QMenu menu;
  const auto add = [&](const QString& text, bool on, const std::function<void()>& act) {
    QAction* const action = menu.addAction(text);
    action->setCheckable(true);
    action->setChecked(on);
    connect(action, &QAction::triggered, this, act);
  };
  const bool grouped = m_rows->isGrouped();
  add(tr("Every run by itself"), !grouped, [this] { setGrouped(false); });
  add(tr("Equal settings, other seeds"), grouped, [this] { setGrouped(true); });
  menu.addSeparator();
  const std::pair<Spread, QString> spreads[] = {{Spread::deviation, tr("Band: standard deviation")},
                                                {Spread::error, tr("Band: standard error of the mean")},
                                                {Spread::range, tr("Band: least to largest")}};
  for (const auto& [spread, text] : spreads)
    add(text, grouped && m_rows->spread() == spread, [this, spread = spread] {
      m_rows->setSpread(spread);
      setGrouped(true);
    });
  menu.exec(m_group->mapToGlobal(QPoint(0, m_group->height() + 2)));
}

void RunsPage::setGrouped(bool grouped) {
  m_rows->setGrouped(grouped);
}

void RunsPage::refreshGrouping() {
  m_group->setText(m_rows->isGrouped() ? tr("Group: settings") : tr("Group: none"));
}

void RunsPage::groupMenu(const QModelIndex& index) {
  const QStringList runs = m_rows->runsOf(index.row());
  const QString group = index.data(RunRows::groupRole).toString();
  const bool open = m_rows->open().contains(group);
  QMenu menu;
  connect(menu.addAction(open ? tr("Close the group") : tr("Show its runs")), &QAction::triggered, this,
          [this, group, open] { m_rows->setOpen(group, !open); });
  const bool shown = m_model->isShown(runs.first());
  connect(menu.addAction(shown ? tr("Hide in the charts") : tr("Show in the charts")), &QAction::triggered, this,
          [this, runs, shown] { m_model->setShown(runs, !shown); });
  context().commands->addTo(menu, "runs.hide-others", this);
  menu.addSeparator();
  context()
      .commands->addTo(menu, "runs.seeds", this, {.text = {}, .picture = {}, .arguments = {{"run", runs.first()}}})
      ->setEnabled(true);
  menu.exec(QCursor::pos());
}

void RunsPage::contextMenu(const QPoint& place) {
  const QModelIndex index = m_table->indexAt(place);
  if (isGroup(index)) return groupMenu(index);
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
  if (run->deleted == 0) add("runs.archive", run->archived ? tr("Out of the archive") : tr("Archive"));
  add(run->deleted > 0 ? "runs.restore" : "runs.delete");
  menu.exec(m_table->viewport()->mapToGlobal(place));
}

}  // namespace loom
