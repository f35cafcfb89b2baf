// What the window does when it is told to: commands of the menu, of keys, of the search.
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QJsonDocument>
#include <QLabel>
#include <QMenu>
#include <QRegularExpression>
#include <QSaveFile>
#include <QVBoxLayout>
#include <algorithm>

#include "app/host_checks.h"
#include "app/main_window.h"
#include "app/pages/page_table.h"
#include "app/preferences.h"
#include "app/shell/actions.h"
#include "app/shell/host_button.h"
#include "app/shell/host_card.h"
#include "app/shell/keys_card.h"
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
namespace {

// As a word of its own: "mara@vega" names vega, "vega2" does not.
bool namesHost(const QString& sentence, const QString& host) {
  const QRegularExpression name(QStringLiteral("(?<![\\w.-])%1(?![\\w-])").arg(QRegularExpression::escape(host)));
  return name.match(sentence).hasMatch();
}

// Beginning as sentences do, where it begins with a plain word.
QString asSentence(QString text) {
  static const QRegularExpression word(QStringLiteral("^[a-z]+[ ,]"));
  if (word.match(text).hasMatch()) text[0] = text[0].toUpper();
  return text;
}

}  // namespace

void MainWindow::train(const TrainOptions& options) {
  if (!m_workspace.document()) return;
  if (asksNameBefore([this, options] { train(options); })) return;
  const Outcome started = m_workspace.train(options);
  m_problems->refresh();
  if (started)
    m_messages->hide("train");
  else if (m_workspace.document()->isBlank()) {
    showPage("network");  // its empty canvas offers what to do first
    QList<MessageBars::Remedy> remedies;
    for (const Problem& each : m_workspace.document()->problems())
      if (each.remedy.kind != Remedy::Kind::none)
        remedies << MessageBars::Remedy{QString::fromStdString(each.remedy.label), [this, each] {
                                          if (m_workspace.document()) m_workspace.document()->applyRemedy(each);
                                        }};
    m_messages->show("blank", MessageBars::Kind::information, started.reason, remedies);
  } else if (m_workspace.errors())
    m_problems->step(1);
  else
    report("train", started, [this, options] { train(options); });
}

// What a draft trains would be looked for in vain: it gets its name first, where it can be trained at all.
bool MainWindow::asksNameBefore(const std::function<void()>& then) {
  if (!m_workspace.isDraft() || m_workspace.document()->isBlank() || m_workspace.errors()) return false;
  askName(then);
  return true;
}

void MainWindow::resumeLast() {
  try {
    const Outcome resumed = m_workspace.resumeLast();
    if (resumed)
      showPage("training");
    else
      report("train", resumed);
  } catch (const Error& error) {
    reportError("train", QString::fromStdString(error.what()));
  }
}

void MainWindow::trainSeeds() {
  if (asksNameBefore([this] { trainSeeds(); })) return;
  const Page* const now = page(m_current);
  if (const Outcome started = m_workspace.trainSeeds(4, now ? now->chosenRun() : QString()); !started)
    report("train", started, [this] { trainSeeds(); });
  else
    showPage("runs");
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
    if (focusWidget() && (areas[i] == focusWidget() || areas[i]->isAncestorOf(focusWidget())))
      next = (i + 1) % areas.size();
  areas[next]->setFocus(Qt::ShortcutFocusReason);
}

void MainWindow::toggleProblems() {
  if (m_problems->isVisible())
    m_problems->hide();
  else if (m_problems->errors() + m_problems->warnings() > 0)
    m_problems->show();
}

void MainWindow::stepProblem(int direction) {
  m_problems->step(direction);
}

void MainWindow::showPreferences() {
  delete m_card;
  m_card = new PreferencesCard(m_workspace.preferences(), this);
  m_card->openAt(m_rail->preferencesButton());
}

void MainWindow::showShortcuts() {
  delete m_card;
  Page* const now = page(m_current);
  m_card = new ShortcutsCard(*m_commands, now, m_current, this);
  m_card->openAt(m_rail->helpButton());
}

void MainWindow::showKeys() {
  delete m_card;
  // Commands of pages that nobody has looked at yet are there once the page is.
  for (const PageEntry& entry : pageTable())
    if (!page(QString::fromLatin1(entry.id)) && (!entry.needsProject || m_workspace.document())) makePage(entry);
  m_card = new KeysCard(*m_commands, this);
  m_card->openAt(m_rail->helpButton());
}

void MainWindow::recordCommands() {
  if (!m_commands->isRecording()) {
    m_commands->startRecording();
    notify({tr("Commands are recorded from now on."), tr("Stop"), [this] { recordCommands(); }});
    return;
  }
  QJsonArray list = m_commands->stopRecording();
  // The last one is the command that ended it.
  if (!list.isEmpty() && list.last().toObject()["run"] == "record") list.removeLast();
  if (list.isEmpty()) return notify({tr("Nothing was recorded."), {}, {}});
  const QString file = QFileDialog::getSaveFileName(this, tr("Keep the recorded commands"), tr("commands.json"),
                                                    tr("Recorded commands (*.json)"));
  if (file.isEmpty()) return;
  QSaveFile out(file);
  if (!out.open(QIODevice::WriteOnly) || out.write(QJsonDocument(list).toJson()) < 0 || !out.commit())
    return reportError("replay", tr("“%1” cannot be written: %2").arg(QFileInfo(file).fileName(), out.errorString()));
  notify({tr("%n command(s) recorded", nullptr, static_cast<int>(list.size())), tr("Replay"),
          [this, file] { replayCommands(file); }});
}

void MainWindow::replayCommandsDialog() {
  const QString file = QFileDialog::getOpenFileName(this, tr("Replay commands"), {}, tr("Recorded commands (*.json)"));
  if (!file.isEmpty()) replayCommands(file);
}

void MainWindow::replayCommands(const QString& file) {
  const QString name = QFileInfo(file).fileName();
  QFile in(file);
  if (!in.open(QIODevice::ReadOnly))
    return reportError("replay", tr("“%1” cannot be read: %2").arg(name, in.errorString()));
  QJsonParseError fault;
  const QJsonDocument list = QJsonDocument::fromJson(in.readAll(), &fault);
  if (!list.isArray())
    return reportError("replay", tr("“%1” is no list of commands: %2")
                                     .arg(name, fault.error == QJsonParseError::NoError ? tr("it begins with no “[”")
                                                                                        : fault.errorString()));
  m_messages->hide("replay");
  if (const QString reason = m_commands->replay(list.array()); !reason.isEmpty())
    reportError("replay", QStringLiteral("“%1”: %2").arg(name, reason));
  else
    notify({tr("%n command(s) replayed", nullptr, static_cast<int>(list.array().size())), {}, {}});
}

void MainWindow::help() {
  Page* const now = page(m_current);
  if (!now || !now->help()) showShortcuts();
}

void MainWindow::resetLayout() {
  if (!m_workspace.document()) return;
  m_workspace.preferences().resetLayout(m_workspace.document()->path());
  for (Page* page : m_pages) page->restoreLayout({});
  resize(usualSize());
  m_split->setSizes({700, 140});
}

void MainWindow::buildTrainMenu() {
  QMenu& menu = *m_topBar->trainButton().menu();
  menu.addAction(m_actions->find("train"));
  const auto add = [&](const char* id, const QString& text, const char* sign, const std::function<void()>& run) {
    QAction* const action = m_commands->add({.id = QString::fromLatin1(id),
                                             .group = tr("Train"),
                                             .text = text,
                                             .keys = {},
                                             .scope = {},
                                             .icon = QString::fromLatin1(sign)},
                                            this, run);
    action->setProperty("needsProject", true);
    menu.addAction(action);
    return action;
  };
  add("train-changed", tr("Train with changes..."), "edit", [this] {
    delete m_card;
    if (!m_workspace.document()) return;
    auto* card = new TrainCard(
        m_workspace.document()->project(),
        [this](const QStringList& changes) { return m_workspace.faultOfChanges(changes); }, this);
    connect(card, &TrainCard::wanted, this, [this](const QString& name, const QStringList& overrides) {
      train({name, overrides});
    });
    m_card = card;
    card->openAt(&m_topBar->trainButton());
  });
  add("train-idle", tr("Train when the host is idle"), "clock", [this] {
    train({.priority = Priority::shared});
  })->setToolTip(tr("Waits for exclusive runs, gives way to them and goes on from its checkpoint."));
  menu.addAction(m_actions->find("resume"));
  menu.addAction(m_actions->find("seeds"));
  menu.addAction(m_actions->find("page-trials"));
  menu.addSeparator();
  add("check", tr("Check only"), "check", [this] {
    m_problems->refresh();
    if (m_problems->errors() + m_problems->warnings())
      m_problems->step(1);
    else
      notify({tr("No problem found."), {}, {}});
  });
  connect(&menu, &QMenu::aboutToShow, this, [this] { m_actions->refresh(); });
}

void MainWindow::buildProjectMenu() {
  QMenu& menu = m_topBar->projectMenu();
  connect(&menu, &QMenu::aboutToShow, this, [this, &menu] {
    menu.clear();
    m_actions->refresh();
    for (const char* id : {"new", "open", "save", "save-as", "rename"}) menu.addAction(m_actions->find(id));
    menu.addSeparator();
    for (const char* id : {"import", "export", "export-drawing"}) menu.addAction(m_actions->find(id));
    menu.addSeparator();
    menu.addAction(m_actions->find("open-run"));
    menu.addAction(m_actions->find("page-start"));
    QMenu* const recent = menu.addMenu(tr("Recent"));
    for (const RecentProject& each : m_workspace.preferences().recentProjects()) {
      QAction* const action = recent->addAction(QFileInfo(each.path).completeBaseName());
      action->setEnabled(QFileInfo::exists(each.path));
      connect(action, &QAction::triggered, this, [this, path = each.path] { openProject(path); });
    }
    menu.addAction(m_actions->find("close-project"));
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

// Lines that only a person can take up again are said on every page but their own, in one bar for all hosts. Closed, it
// stays away until one more host needs somebody.
void MainWindow::refreshHostMessage() {
  QStringList needed;
  for (const Host& host : m_workspace.hosts().hosts())
    if (m_workspace.checks().sign(host.id).status == Status::failed &&
        !m_workspace.checks().sentence(host.id).isEmpty())
      needed << host.id;
  // One that is tried again is not well yet.
  m_hostsSeen.removeIf([this](const QString& host) {
    const Status status = m_workspace.checks().sign(host).status;
    return !m_workspace.hosts().find(host) || status == Status::ok || status == Status::warning;
  });
  const bool seen =
      std::all_of(needed.begin(), needed.end(), [this](const QString& host) { return m_hostsSeen.contains(host); });
  if (seen || m_current == "hosts") return m_messages->hide("hosts");
  const QString first = needed.front();
  QStringList names;
  for (const QString& host : needed) names << m_workspace.hostName(host);
  // Said once: most sentences name their host.
  const QString own = m_workspace.checks().sentence(first), name = names.front();
  const QString sentence = needed.size() > 1 ? tr("%1 hosts need you: %2").arg(needed.size()).arg(names.join(", "))
                           : !namesHost(own, name) ? tr("%1: %2").arg(name, own)
                           : own.startsWith(name)  ? own
                                                   : asSentence(own);
  if (m_messages->text("hosts") == sentence) return;
  const auto show = [this, first] {
    Place place;
    place.page = "hosts";
    place.host = first;
    go(place);
  };
  m_messages->show("hosts", MessageBars::Kind::error, sentence,
                   {{needed.size() == 1 ? tr("Connect now") : tr("Connect all"),
                     [this, needed] {
                       for (const QString& host : needed)
                         if (HostLine* const line = m_workspace.lines().line(host)) line->connectNow();
                     }},
                    {needed.size() == 1 ? tr("Show host") : tr("Show hosts"), show}});
}

}  // namespace loom
