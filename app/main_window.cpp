#include "app/main_window.h"

#include <QMenu>
#include <QScreen>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "app/host_checks.h"
#include "app/pages/data/known_columns.h"
#include "app/pages/page_table.h"
#include "app/preferences.h"
#include "app/problem_list.h"
#include "app/project_import.h"
#include "app/shell/actions.h"
#include "app/shell/host_button.h"
#include "app/shell/host_questions.h"
#include "app/shell/problems_panel.h"
#include "app/shell/rail.h"
#include "app/shell/search_panel.h"
#include "app/shell/status_strip.h"
#include "app/shell/top_bar.h"
#include "widgets/controls/notice.h"
#include "widgets/controls/popover.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/split_button.h"
#include "widgets/controls/splitter.h"
#include "widgets/controls/text.h"
#include "widgets/theme/icon.h"

namespace loom {
namespace {

constexpr int kRunsMs = 100;                         // how often the bars follow a live run
constexpr qint64 kDataReadAtOnce = qint64{4} << 20;  // bytes of CSVs, which may name as many files as they have lines

}  // namespace

MainWindow::MainWindow(Workspace& workspace)
    : m_workspace(workspace), m_mainMenu(new QMenu(this)), m_commands(new Commands(this)) {
  setWindowTitle("Gradloom");
  setWindowIcon(applicationIcon());
  setMinimumSize(1024, 700);
  setAcceptDrops(true);
  AppContext& context = workspace.context();
  context.go = [this](const Place& place) { go(place); };
  context.notify = [this](const Notice& notice) { this->notify(notice); };
  context.openProject = [this](const QString& path) { openProject(path); };
  context.train = [this] { train(); };
  context.commands = m_commands;

  buildLayout();
  m_commands->setChangedKeys(workspace.preferences().changedKeys());
  connect(m_commands, &Commands::keysChanged, this,
          [this] { m_workspace.preferences().setChangedKeys(m_commands->changedKeys()); });
  // A page's commands are there once the page is; a recorded list may name one that nobody has looked at.
  m_commands->setReach([this](const QString& scope) {
    const QString page = scope.section('/', 0, 0);
    if (!findPage(page)) return true;  // of a part that stands in several pages: whichever has it in hand
    showPage(page);
    return m_current == page;
  });
  m_actions = std::make_unique<Actions>(*this, *m_commands);
  connectImport();
  addRunCommands();
  connect(m_mainMenu, &QMenu::aboutToShow, this, [this] {
    m_actions->refresh();
    m_actions->fillMenu(*m_mainMenu);
  });
  buildTrainMenu();
  buildProjectMenu();
  connectWorkspace();
  if (!workspace.store().notice().isEmpty())
    m_messages->show("store", MessageBars::Kind::information, workspace.store().notice());
  if (!workspace.hosts().notice().isEmpty())
    m_messages->show("hosts", MessageBars::Kind::warning, workspace.hosts().notice());
  const QByteArray geometry = workspace.preferences().windowGeometry();
  if (geometry.isEmpty() || !restoreGeometry(geometry)) resize(usualSize());
  m_rail->setEnabledPages(false);
  if (workspace.document())
    projectOpened();
  else
    showPage("start");
}

QSize MainWindow::usualSize() const {
  // The frame that a window manager draws takes its part of a small screen as well.
  return QSize(1440, 900).boundedTo(screen()->availableSize() - QSize(4, 32));
}

MainWindow::~MainWindow() {
  // A notice that ends with this window is not to reach for its parts, which are gone by then.
  m_notice->disconnect(this);
  AppContext& context = m_workspace.context();
  for (Page* page : m_pages) delete page;
  m_pages.clear();
  context.go = nullptr;
  context.notify = nullptr;
  context.openProject = nullptr;
  context.train = nullptr;
}

void MainWindow::buildLayout() {
  auto* centre = new QWidget(this);
  auto* column = new QVBoxLayout(centre);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  m_topBar = new TopBar(m_workspace, *m_mainMenu, centre);
  m_messages = new MessageBars(centre);
  m_rail = new Rail(centre);
  m_stack = new QStackedWidget;
  m_stack->setObjectName("pages");
  m_problems = new ProblemsPanel(m_workspace);
  m_problems->hide();
  m_split = new Splitter(Qt::Vertical);
  m_split->setChildrenCollapsible(false);
  m_split->addWidget(m_stack);
  m_split->addWidget(m_problems);
  m_split->setStretchFactor(0, 1);
  m_split->setStretchFactor(1, 0);
  m_split->setInitialSizes({700, 140});
  m_split->setSizes({700, 140});
  m_status = new StatusStrip(m_workspace, centre);
  column->addWidget(m_topBar);
  column->addWidget(hairline());
  column->addWidget(m_messages);
  auto* middle = new QHBoxLayout;
  middle->setSpacing(0);
  middle->addWidget(m_rail);
  middle->addWidget(hairline(Qt::Vertical));
  middle->addWidget(m_split, 1);
  column->addLayout(middle, 1);
  column->addWidget(hairline());
  column->addWidget(m_status);
  setCentralWidget(centre);
  m_notice = new NoticeArea(this);
  connect(m_notice, &NoticeArea::changed, this, [this] {
    if (m_actions) m_actions->refresh();
  });
  m_search = new SearchPanel(
      m_topBar->search(), [this](const QString& query) { return find(query); }, this);

  connect(m_rail, &Rail::pageWanted, this, &MainWindow::showPage);
  connect(m_rail, &Rail::helpWanted, this, &MainWindow::showShortcuts);
  connect(m_rail, &Rail::preferencesWanted, this, &MainWindow::showPreferences);
  connect(m_topBar, &TopBar::trainWanted, this, [this] { train(); });
  connect(m_topBar, &TopBar::problemsWanted, this, [this] { m_problems->step(1); });
  connect(m_topBar, &TopBar::liveRunWanted, this, [this] {
    if (const RunRecord* live = m_workspace.liveRun()) m_workspace.setCurrentRun(live->id);
    showPage("training");
  });
  connect(&m_topBar->hostButton(), &HostButton::clicked, this, &MainWindow::openHostCard);
  connect(m_status, &StatusStrip::problemsWanted, this, &MainWindow::toggleProblems);
  connect(m_status, &StatusStrip::jobsWanted, this, [this] { showPage(m_workspace.document() ? "runs" : "start"); });
  connect(m_status, &StatusStrip::hostWanted, this, [this] { m_topBar->hostButton().click(); });
  connect(m_problems, &ProblemsPanel::wanted, this, &MainWindow::go);
  connect(m_problems, &ProblemsPanel::countsChanged, this, &MainWindow::refreshProblems);
  const auto home = [this] {
    if (Page* const now = page(m_current)) now->keyboardHome()->setFocus(Qt::OtherFocusReason);
  };
  connect(m_problems, &ProblemsPanel::leftWithKeyboard, this, home);
  connect(m_messages, &MessageBars::leftWithKeyboard, this, home);
  connect(m_messages, &MessageBars::closed, this, [this](const QString& key) {
    if (key != "hosts") return;
    for (const Host& host : m_workspace.hosts().hosts())
      if (m_workspace.checks().sign(host.id).status == Status::failed) m_hostsSeen.insert(host.id);
  });
}

void MainWindow::connectWorkspace() {
  connect(&m_workspace, &Workspace::projectOpened, this, &MainWindow::projectOpened);
  connect(&m_workspace, &Workspace::projectClosing, this, &MainWindow::projectClosing);
  connect(&m_workspace, &Workspace::copyOpened, this, &MainWindow::tellCopy);
  // The project it speaks of may be closing: when the next one stands.
  connect(&m_workspace, &Workspace::keptAs, this, &MainWindow::tellKept, Qt::QueuedConnection);
  connect(&m_workspace, &Workspace::submitted, this, [this] { showPage("training"); });
  new HostQuestions(m_workspace.lines(), *this);
  connect(&m_workspace, &Workspace::hostChosen, this, &MainWindow::refreshHost);
  connect(&m_workspace.checks(), &HostChecks::changed, this, [this](const QString& host) {
    if (host == m_workspace.host()) refreshHost();
    refreshHostMessage();
  });
  connect(&m_workspace.hosts(), &HostStore::hostRemoved, this, &MainWindow::refreshHostMessage);
  refreshHost();
  RunStore& store = m_workspace.store();
  m_runsSoon.setSingleShot(true);
  m_runsSoon.setInterval(kRunsMs);
  const auto soon = [this] {
    if (!m_runsSoon.isActive()) m_runsSoon.start();
  };
  connect(&store, &RunStore::runChanged, this, soon);
  connect(&store, &RunStore::runAdded, this, soon);
  connect(&store, &RunStore::runRemoved, this, soon);
  connect(&m_workspace.launcher(), &Launcher::countsChanged, this, soon);
  connect(&m_runsSoon, &QTimer::timeout, this, [this] {
    m_topBar->refreshRuns();
    m_rail->setMark("training", m_workspace.liveRun() ? RailButton::Mark::live : RailButton::Mark::none);
    m_status->setJobs(m_workspace.launcher().running(), m_workspace.launcher().waiting());
    m_actions->refresh();
  });
  connect(&store, &RunStore::noticeRaised, this,
          [this](const QString& sentence) { m_messages->show("store", MessageBars::Kind::warning, sentence); });
  connect(&m_workspace.launcher(), &Launcher::failed, this, [this](const QString& id, const QString& sentence) {
    m_messages->show("log-" + id, MessageBars::Kind::error, sentence);
  });
}

void MainWindow::projectOpened() {
  ProjectDocument& document = *m_workspace.document();
  m_messages->hide("open");
  m_rail->setEnabledPages(true);
  const auto bar = [this] {
    m_topBar->refreshProject();
    refreshTitle();
  };
  connect(&document, &ProjectDocument::saveStateChanged, this, bar);
  connect(&document, &ProjectDocument::pathChanged, this, bar);
  connect(&document, &ProjectDocument::analysisChanged, m_problems, &ProblemsPanel::refresh);
  connect(&document, &ProjectDocument::foreignChange, this, &MainWindow::tellForeignChange);
  connect(&document.undoStack(), &QUndoStack::indexChanged, this, [this] {
    if (m_notice->offers(tr("Undo"))) m_notice->dismiss();
    // A step that comes after some were taken back is later than all of these.
    for (Undoable& each : m_undoable) each.index = std::min(each.index, m_workspace.document()->undoStack().index());
    m_actions->refresh();
  });
  connect(&document, &ProjectDocument::recoveryOffered, this, &MainWindow::offerRecovery);
  connect(&document, &ProjectDocument::saveStateChanged, this, &MainWindow::tellSaveState);
  if (const auto time = document.recoverable()) offerRecovery(*time);
  if (document.openElsewhere())
    m_messages->show(
        "elsewhere", MessageBars::Kind::information,
        tr("%1 is open in another window too. What is saved there can be reloaded here.").arg(document.name()));
  bar();
  m_topBar->refreshRuns();
  m_actions->refresh();
  m_problems->refresh();
  const QString last = m_workspace.preferences().lastPageOf(document.path());
  const PageEntry* const known = findPage(last);
  // What is wrong with the data is told before they are looked at, where it costs little to know it.
  if (KnownColumnsKeeper* const columns = m_workspace.context().knownColumns)
    connect(columns, &KnownColumnsKeeper::weighed, this, [this](qint64 bytes) {
      if (bytes > 0 && bytes <= kDataReadAtOnce && m_workspace.document() && !page("data")) makePage(*findPage("data"));
    });
  showPage(known && known->needsProject ? last : findPage("network") ? "network" : "data");
}

// Pages of the project go before its document.
void MainWindow::projectClosing() {
  m_undoable.clear();
  keepLayout();
  m_current.clear();
  for (const PageEntry& entry : pageTable()) {
    if (!entry.needsProject) continue;
    if (Page* const page = m_pages.take(QString::fromLatin1(entry.id))) {
      m_stack->removeWidget(page);
      delete page;
    }
  }
  for (const char* key : {"recovery", "save", "train", "outside", "elsewhere", "copy", "blank"}) m_messages->hide(key);
  m_workspace.problems().forgetPages();
  QMetaObject::invokeMethod(
      this,
      [this] {
        m_problems->refresh();
        m_rail->setEnabledPages(m_workspace.document());
        m_topBar->refreshProject();
        m_topBar->refreshRuns();
        m_actions->refresh();
        refreshTitle();
        if (!m_workspace.document() && m_current.isEmpty()) showPage("start");
      },
      Qt::QueuedConnection);
}

Page& MainWindow::makePage(const PageEntry& entry) {
  const QString id = QString::fromLatin1(entry.id);
  Page* const page = entry.create(m_workspace.context(), m_stack);
  m_pages.insert(id, page);
  m_stack->addWidget(page);
  // A page that is taken away may still speak: hiding it ends what is hovered.
  connect(page, &Page::statusChanged, this, [this, id, page](const QString& text) {
    if (m_current == id) m_status->setPageWords(text);
    page->setProperty("statusWords", text);
  });
  connect(page, &Page::problemsChanged, this,
          [this, id](const std::vector<PageProblem>& problems) { m_workspace.problems().setOfPage(id, problems); });
  if (m_workspace.document())
    page->restoreLayout(m_workspace.preferences().layoutOf(m_workspace.document()->path(), id));
  return *page;
}

void MainWindow::showPage(const QString& id) {
  const PageEntry* const entry = findPage(id);
  if (!entry || (entry->needsProject && !m_workspace.document()) || id == m_current) return;
  if (Page* const before = page(m_current)) {
    for (QAction* action : before->pageActions()) removeAction(action);
    before->deactivated();
  }
  if (!m_pages.contains(id)) makePage(*entry);
  m_current = id;
  Page* const now = m_pages[id];
  m_stack->setCurrentWidget(now);
  // Keys of a part hold in the part alone, which asks for them itself.
  for (QAction* action : now->pageActions())
    if (!m_commands->spec(Commands::idOf(*action)).scope.contains('/')) addAction(action);
  m_rail->setCurrent(id);
  refreshHostMessage();
  m_status->setPageWords(now->property("statusWords").toString());
  // Not into the first field that happens to stand there: keys of the page and of the window would be typed into it.
  now->keyboardHome()->setFocus(Qt::OtherFocusReason);
  now->activated();
  if (m_workspace.document() && entry->needsProject)
    m_workspace.preferences().setLastPageOf(m_workspace.document()->path(), id);
}

void MainWindow::go(const Place& place) {
  showPage(place.page);
  if (!place.run.isEmpty()) m_workspace.setCurrentRun(place.run);
  if (Page* const now = page(place.page)) now->show(place);
}

// What it does is about the project that is open: it ends with it. What a notice would undo stays undoable when it has
// gone, until the project closes.
void MainWindow::notify(const Notice& notice) {
  std::function<void()> action = notice.action;
  if (action && notice.actionText == tr("Undo")) {
    ProjectDocument* const document = m_workspace.document();
    const int number = ++m_undoableNumber;
    m_undoable.push_back({number, document ? document->undoStack().index() : 0, notice.text, action});
    action = [this, number] { undoUndoable(number); };
  }
  m_notice->show(notice.text, notice.actionText, action, m_workspace.document());
}

void MainWindow::reportError(const QString& key, const QString& sentence) {
  m_messages->show(key, MessageBars::Kind::error, sentence);
}

void MainWindow::refreshProblems() {
  m_topBar->setErrors(m_workspace.errors());
  if (m_workspace.document() && !m_workspace.document()->isBlank()) m_messages->hide("blank");
  m_status->setProblems(m_problems->errors(), m_problems->warnings());
  const QStringList faulty = m_problems->pagesWithErrors();
  for (const char* page : {"network", "data", "settings"})
    m_rail->setMark(page, faulty.contains(page) ? RailButton::Mark::error : RailButton::Mark::none);
}

void MainWindow::refreshTitle() {
  ProjectDocument* const document = m_workspace.document();
  setWindowTitle(document ? tr("%1 - Gradloom").arg(document->name()) : QStringLiteral("Gradloom"));
}

void MainWindow::keepLayout() {
  Preferences& preferences = m_workspace.preferences();
  preferences.setWindowGeometry(saveGeometry());
  if (!m_workspace.document()) return;
  for (auto each = m_pages.begin(); each != m_pages.end(); ++each)
    if (const QJsonObject layout = each.value()->saveLayout(); !layout.isEmpty())
      preferences.setLayoutOf(m_workspace.document()->path(), each.key(), layout);
}

bool MainWindow::settled() const {
  const Page* const now = page(m_current);
  return now && now->settled() && !m_runsSoon.isActive();
}

}  // namespace loom
