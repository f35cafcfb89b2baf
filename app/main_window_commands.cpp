// What the window does when it is told to: commands of the menu, of keys, of the search.
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMenu>
#include <QVBoxLayout>
#include <algorithm>

#include "app/host_checks.h"
#include "app/main_window.h"
#include "app/pages/page_table.h"
#include "app/preferences.h"
#include "app/shell/actions.h"
#include "app/shell/host_button.h"
#include "app/shell/host_card.h"
#include "app/shell/preferences_card.h"
#include "app/shell/problems_panel.h"
#include "app/shell/rail.h"
#include "app/shell/search_panel.h"
#include "app/shell/shortcuts_card.h"
#include "app/shell/status_strip.h"
#include "app/shell/top_bar.h"
#include "app/shell/train_card.h"
#include "engine/base/error.h"
#include "widgets/controls/button.h"
#include "widgets/controls/notice.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/split_button.h"
#include "widgets/controls/splitter.h"
#include "widgets/theme/icon.h"

namespace loom {

void MainWindow::openProject(const QString& path) {
  if (const Outcome opened = m_workspace.openProject(path); !opened) reportError("open", opened.reason);
  else m_messages->hide("open");
}

void MainWindow::openDialog() {
  const QString start = m_workspace.document() ? m_workspace.document()->folder() : QString();
  const QString path = QFileDialog::getOpenFileName(this, tr("Open a project"), start, tr("Projects (*.loom);;All files (*)"));
  if (!path.isEmpty()) openProject(path);
}

void MainWindow::newProject() {
  if (const Outcome made = m_workspace.newProject(); !made) reportError("open", made.reason);
}

void MainWindow::save() {
  if (const Outcome saved = m_workspace.save(); !saved)
    m_messages->show("save", MessageBars::Kind::error, saved.reason, {{tr("Save elsewhere..."), [this] { saveAsDialog(); }}});
  else m_messages->hide("save");
}

void MainWindow::saveAsDialog() {
  ProjectDocument* const document = m_workspace.document();
  if (!document) return;
  const QString start = document->path().isEmpty() ? document->name() + ".loom" : document->path();
  QString path = QFileDialog::getSaveFileName(this, tr("Save the project as"), start, tr("Projects (*.loom)"));
  if (path.isEmpty()) return;
  if (!path.endsWith(".loom")) path += ".loom";
  if (const Outcome saved = m_workspace.saveAs(path); !saved) reportError("save", saved.reason);
  else m_messages->hide("save");
}

void MainWindow::train(const TrainOptions& options) {
  if (!m_workspace.document()) return;
  const Outcome started = m_workspace.train(options);
  m_problems->refresh();
  if (started) m_messages->hide("train");
  else if (m_workspace.errors()) m_problems->step(1);
  else reportError("train", started.reason);
}

void MainWindow::resumeLast() {
  try {
    const Outcome resumed = m_workspace.resumeLast();
    if (resumed) showPage("training");
    else reportError("train", resumed.reason);
  } catch (const Error& error) {
    reportError("train", QString::fromStdString(error.what()));
  }
}

void MainWindow::trainSeeds() {
  const Page* const now = page(m_current);
  if (const Outcome started = m_workspace.trainSeeds(4, now ? now->chosenRun() : QString()); !started) reportError("train", started.reason);
  else showPage("runs");
}

void MainWindow::stopAfterEpoch() {
  const RunRecord* const live = m_workspace.liveRun();
  if (!live) return;
  try {
    m_workspace.launcher().stopAfterEpoch(live->id);
    notify({tr("%1 stops after this epoch.").arg(live->name), {}, {}});
  } catch (const Error& error) {
    reportError("train", QString::fromStdString(error.what()));
  }
}

void MainWindow::stopNow() {
  const RunRecord* const live = m_workspace.liveRun();
  if (!live) return;
  try {
    m_workspace.launcher().stop(live->id);
  } catch (const Error& error) {
    reportError("train", QString::fromStdString(error.what()));
  }
}

void MainWindow::openRunFolder(const QString& folder) {
  try {
    const QString project = m_workspace.document() ? m_workspace.document()->path() : QString();
    const QString id = m_workspace.launcher().openFolder(folder, project);
    m_workspace.setCurrentRun(id);
    showPage(m_workspace.document() ? "runs" : "start");
    if (!m_workspace.document())
      if (const RunRecord* run = m_workspace.store().find(id); run && QFileInfo::exists(run->project)) openProject(run->project);
  } catch (const Error& error) {
    reportError("run-folder", QString::fromStdString(error.what()));
  }
}

void MainWindow::openRunFolderDialog() {
  const QString folder = QFileDialog::getExistingDirectory(this, tr("Open a run folder"));
  if (!folder.isEmpty()) openRunFolder(folder);
}

void MainWindow::undo() {
  // While a notice offers to undo, that is what was done last.
  if (m_notice->isShowing() && m_notice->actionButton()->text() == tr("Undo")) m_notice->actionButton()->click();
  else if (m_workspace.document()) m_workspace.document()->undoStack().undo();
}

void MainWindow::redo() {
  if (m_workspace.document()) m_workspace.document()->undoStack().redo();
}

void MainWindow::focusSearch() {
  SearchField& field = m_topBar->search();
  field.show();
  field.setFocus(Qt::ShortcutFocusReason);
  field.selectAll();
}

void MainWindow::nextArea() {
  Page* const now = page(m_current);
  const QList<QWidget*> areas = now ? now->areas() : QList<QWidget*>();
  if (areas.isEmpty()) {
    focusNextChild();
    return;
  }
  qsizetype next = 0;
  for (qsizetype i = 0; i < areas.size(); ++i)
    if (focusWidget() && (areas[i] == focusWidget() || areas[i]->isAncestorOf(focusWidget()))) next = (i + 1) % areas.size();
  areas[next]->setFocus(Qt::ShortcutFocusReason);
}

void MainWindow::toggleProblems() {
  if (m_problems->isVisible()) m_problems->hide();
  else if (m_problems->errors() + m_problems->warnings() > 0) m_problems->show();
}

void MainWindow::stepProblem(int direction) { m_problems->step(direction); }

void MainWindow::showPreferences() {
  delete m_card;
  m_card = new PreferencesCard(m_workspace.preferences(), this);
  m_card->openAt(m_rail->preferencesButton());
}

void MainWindow::showShortcuts() {
  delete m_card;
  Page* const now = page(m_current);
  m_card = new ShortcutsCard(m_actions->entries(), now ? now->pageActions() : QList<QAction*>(), this);
  m_card->openAt(&m_topBar->markButton());
}

void MainWindow::resetLayout() {
  if (!m_workspace.document()) return;
  m_workspace.preferences().resetLayout(m_workspace.document()->path());
  for (Page* page : m_pages) page->restoreLayout({});
  resize(1440, 900);
  m_split->setSizes({700, 140});
}

QList<SearchHit> MainWindow::find(const QString& query) const {
  QList<std::pair<int, SearchHit>> found;
  const auto consider = [&](const SearchHit& hit) {
    if (const int score = matchScore(hit.text, query)) found.append({score, hit});
  };
  m_actions->refresh();
  for (const Actions::Entry& each : m_actions->entries())
    if (each.action->isEnabled())
      consider({tr("Commands"), each.action->text(), each.action->shortcut().toString(QKeySequence::NativeText), each.action->icon(),
                [action = each.action] { action->trigger(); }});
  if (Page* const now = page(m_current))
    for (QAction* action : now->pageActions())
      if (action->isEnabled())
        consider({tr("This page"), action->text(), action->shortcut().toString(QKeySequence::NativeText), action->icon(), [action] { action->trigger(); }});
  for (const RunRecord& run : m_workspace.runs())
    consider({tr("Runs"), run.name, toText(run.state), icon("runs"), [this, id = run.id] {
                Place place;
                place.page = "training";
                place.run = id;
                const_cast<MainWindow*>(this)->go(place);
              }});
  for (const RecentProject& recent : m_workspace.preferences().recentProjects())
    consider({tr("Projects"), QFileInfo(recent.path).completeBaseName(), QFileInfo(recent.path).absolutePath(), icon("file"),
              [this, path = recent.path] { const_cast<MainWindow*>(this)->openProject(path); }});
  for (const Host& host : m_workspace.hosts().hosts())
    consider({tr("Hosts"), host.name, m_workspace.checks().sign(host.id).words, icon("host"), [this, id = host.id] {
                Place place;
                place.page = "hosts";
                place.host = id;
                const_cast<MainWindow*>(this)->go(place);
              }});
  // Pages know their own things; one that was never shown is made when something is searched in earnest.
  if (query.size() >= 2 && m_workspace.document())
    for (Page* each : m_pages)
      for (const SearchHit& hit : each->search(query)) found.append({std::max(matchScore(hit.text, query), 5), hit});
  // Best first inside a group; groups in the order of their best hit.
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  QStringList groups;
  for (const auto& [score, hit] : found)
    if (!groups.contains(hit.group)) groups << hit.group;
  QList<SearchHit> hits;
  for (const QString& group : groups) {
    int shown = 0;
    for (const auto& [score, hit] : found)
      if (hit.group == group && ++shown <= (groups.size() > 1 ? 5 : 10)) hits << hit;
  }
  return hits;
}

void MainWindow::buildTrainMenu() {
  QMenu& menu = *m_topBar->trainButton().menu();
  menu.addAction(m_actions->find("train"));
  QAction* const changes = menu.addAction(icon("edit"), tr("Train with changes..."));
  connect(changes, &QAction::triggered, this, [this] {
    delete m_card;
    auto* card = new TrainCard([this](const QStringList& changes) { return m_workspace.faultOfChanges(changes); }, this);
    connect(card, &TrainCard::wanted, this, [this](const QString& name, const QStringList& overrides) { train({name, overrides}); });
    m_card = card;
    card->openAt(&m_topBar->trainButton());
  });
  QAction* const idle = menu.addAction(icon("clock"), tr("Train when the host is idle"));
  idle->setToolTip(tr("Waits for exclusive runs, gives way to them and goes on from its checkpoint."));
  connect(idle, &QAction::triggered, this, [this] { train({.priority = Priority::shared}); });
  menu.addAction(m_actions->find("resume"));
  menu.addAction(m_actions->find("seeds"));
  menu.addSeparator();
  QAction* const check = menu.addAction(icon("check"), tr("Check only"));
  connect(check, &QAction::triggered, this, [this] {
    m_problems->refresh();
    if (m_problems->errors() + m_problems->warnings()) m_problems->step(1);
    else notify({tr("No problem found."), {}, {}});
  });
  connect(&menu, &QMenu::aboutToShow, this, [this] { m_actions->refresh(); });
}

void MainWindow::buildProjectMenu() {
  QMenu& menu = m_topBar->projectMenu();
  connect(&menu, &QMenu::aboutToShow, this, [this, &menu] {
    menu.clear();
    m_actions->refresh();
    for (const char* id : {"new", "open", "save", "save-as"}) menu.addAction(m_actions->find(id));
    menu.addSeparator();
    menu.addAction(m_actions->find("open-run"));
    menu.addAction(m_actions->find("page-start"));
    QMenu* const recent = menu.addMenu(tr("Recent"));
    for (const RecentProject& each : m_workspace.preferences().recentProjects()) {
      QAction* const action = recent->addAction(QFileInfo(each.path).completeBaseName());
      action->setEnabled(QFileInfo::exists(each.path));
      connect(action, &QAction::triggered, this, [this, path = each.path] { openProject(path); });
    }
    if (m_workspace.document())
      connect(menu.addAction(tr("Close project")), &QAction::triggered, this, [this] {
        if (const Outcome closed = m_workspace.closeProject(); !closed) reportError("save", closed.reason);
      });
  });
}

void MainWindow::openHostCard() {
  delete m_card;
  auto* card = new HostCard(m_workspace, this);
  const auto show = [this](const QString& host, const QString& field) {
    Place place;
    place.page = "hosts";
    place.host = host;
    place.field = field;
    go(place);
  };
  connect(card, &HostCard::addWanted, this, [show] { show({}, "add"); });
  connect(card, &HostCard::hostWanted, this, [show](const QString& host) { show(host, {}); });
  m_card = card;
  card->openAt(&m_topBar->hostButton());
}

// "lab-cluster, ready": what the chooser shows in full.
void MainWindow::refreshHost() {
  m_topBar->refreshHost();
  const QString host = m_workspace.host();
  const HostSign sign = m_workspace.checks().sign(host);
  QString text = m_workspace.hostName(host);
  if (!host.isEmpty()) text += ", " + sign.words.left(1).toLower() + sign.words.mid(1);
  const QString sentence = m_workspace.checks().sentence(host);
  m_status->setHost(text, sentence.isEmpty() ? tr("Runs start on %1").arg(m_workspace.hostName(host)) : sentence);
}

// A line that only a person can take up again is said on every page but its own, where it stands beside the host.
void MainWindow::refreshHostMessage(const QString& host) {
  const QString key = "host-" + host;
  const bool needed = m_workspace.checks().sign(host).status == Status::failed && !m_workspace.checks().sentence(host).isEmpty();
  if (!needed || m_current == "hosts") return m_messages->hide(key);
  const QString sentence = tr("%1: %2").arg(m_workspace.hostName(host), m_workspace.checks().sentence(host));
  if (m_messages->text(key) == sentence) return;
  m_messages->show(key, MessageBars::Kind::error, sentence,
                   {{tr("Connect now"), [this, host] {
                       if (HostLine* const line = m_workspace.lines().line(host)) line->connectNow();
                     }},
                    {tr("Show host"), [this, host] {
                       Place place;
                       place.page = "hosts";
                       place.host = host;
                       go(place);
                     }}});
}

}  // namespace loom
