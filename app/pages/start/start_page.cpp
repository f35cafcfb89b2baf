#include "app/pages/start/start_page.h"

#include <QApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>

#include "app/drafts.h"
#include "app/pages/start/project_row.h"
#include "app/preferences.h"
#include "app/project_import.h"
#include "app/run_display.h"
#include "app/run_metrics.h"
#include "app/samples.h"
#include "app/workspace.h"
#include "widgets/controls/button.h"
#include "widgets/controls/text.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

void clear(QVBoxLayout* rows) {
  while (QLayoutItem* item = rows->takeAt(0)) {
    if (QWidget* const widget = item->widget()) {
      widget->hide();
      widget->deleteLater();
    }
    delete item;
  }
}

}  // namespace

StartPage::StartPage(AppContext& context, QWidget* parent) : Page(context, parent) {
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  m_scroll = new QScrollArea;
  m_scroll->setWidgetResizable(true);
  m_scroll->setFrameShape(QFrame::NoFrame);
  m_content = new QWidget;
  m_content->setProperty("kind", "scrolled");
  m_scroll->setWidget(m_content);
  outer->addWidget(m_scroll);
  auto* column = new QVBoxLayout(m_content);
  column->setContentsMargins(56, 44, 56, 24);
  column->setSpacing(28);

  auto* head = new QHBoxLayout;
  auto* name = new QLabel("Gradloom");
  keepFont(name, FontRole::display);
  head->addWidget(name);
  head->addStretch();
  auto* fresh = new Button("plus", tr("New network"), ButtonKind::tinted);
  fresh->setObjectName("new-network");
  connect(fresh, &Button::clicked, this, [this] { this->context().workspace->newProject(); });
  auto* open = new Button("folder", tr("Open..."), ButtonKind::outlined);
  connect(open, &Button::clicked, this, [this] {
    const QString path = QFileDialog::getOpenFileName(
        this, tr("Open a project"), {},
        tr("Projects (*.loom)") + ";;" + ProjectImport::filter() + ";;" + tr("All files (*)"));
    if (!path.isEmpty()) this->context().openProject(path);
  });
  head->addWidget(fresh);
  head->addWidget(open);
  column->addLayout(head);

  auto* sides = new QHBoxLayout;
  sides->setSpacing(48);
  const auto list = [](const QString& title, const QString& quiet, QVBoxLayout*& rows) {
    auto* widget = new QWidget;
    auto* parts = new QVBoxLayout(widget);
    parts->setContentsMargins(0, 0, 0, 0);
    parts->setSpacing(6);
    auto* line = new QHBoxLayout;
    line->addWidget(makeLabel("heading", title));
    line->addWidget(makeLabel("hint", quiet));
    line->addStretch();
    line->setContentsMargins(8, 0, 8, 0);
    parts->addLayout(line);
    rows = new QVBoxLayout;
    rows->setSpacing(2);
    parts->addLayout(rows);
    return widget;
  };
  m_recents = list(tr("Recent"), {}, m_recentRows);
  m_drafts = list(tr("Drafts"), tr("without a name yet"), m_draftRows);
  m_samples = list(tr("Samples"), tr("nothing to download"), m_sampleRows);
  m_own = new QWidget;
  const auto side = [sides](QWidget* widget, const QList<QWidget*>& parts) {
    auto* all = new QVBoxLayout(widget);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(28);
    for (QWidget* each : parts) all->addWidget(each);
    all->addStretch();
    sides->addWidget(widget, 1);
  };
  side(m_own, {m_recents, m_drafts});
  side(new QWidget, {m_samples});
  column->addLayout(sides, 1);
  auto* drop = makeLabel("hint", tr("Drop a .loom file, a CSV or a run folder anywhere here"));
  drop->setAlignment(Qt::AlignCenter);
  column->addWidget(drop);
  connect(context.preferences, &Preferences::recentsChanged, this, [this] {
    if (isVisible()) rebuild();
  });
  const auto soon = [this] {
    if (isVisible()) QMetaObject::invokeMethod(this, &StartPage::rebuild, Qt::QueuedConnection);
  };
  connect(&context.workspace->launcher(), &Launcher::countsChanged, this, soon);
  connect(&m_facts, &ProjectFactsKeeper::known, this, [this](const QString& path) {
    const ProjectFacts* const facts = m_facts.find(path);
    if (const QPointer<ProjectRow> row = m_rows.value(path); row && facts) row->setFacts(*facts);
  });
}

void StartPage::activated() {
  rebuild();
  m_scroll->verticalScrollBar()->setValue(0);
}

void StartPage::rebuild() {
  // Whoever is in a row stays in it, if it is still there. A row that goes with the keyboard would hand it from row to
  // row, and each would be scrolled to.
  QWidget* const focused = QApplication::focusWidget();
  QString kept;
  for (auto row = m_rows.cbegin(); row != m_rows.cend(); ++row)
    if (row.value() == focused) kept = row.key();
  const bool here = focused && m_content->isAncestorOf(focused);
  if (here) setFocus(Qt::OtherFocusReason);
  for (QVBoxLayout* rows : {m_recentRows, m_draftRows, m_sampleRows}) clear(rows);
  m_rows.clear();
  addRecents();
  addDrafts();
  addSamples();
  m_own->setVisible(!m_recents->isHidden() || !m_drafts->isHidden());
  m_facts.ask(m_rows.keys());
  if (QWidget* const row = m_rows.value(kept); row && here) row->setFocus(Qt::OtherFocusReason);
}

ProjectRow* StartPage::addRow(QVBoxLayout* rows, ProjectRow* row, const QString& path, const QList<QWidget*>& beside) {
  m_rows.insert(path, row);
  if (const ProjectFacts* const facts = m_facts.find(path)) row->setFacts(*facts);
  if (beside.isEmpty()) {
    rows->addWidget(row);
    return row;
  }
  auto* line = new QWidget;
  auto* parts = new QHBoxLayout(line);
  parts->setContentsMargins(0, 0, 0, 0);
  parts->addWidget(row, 1);
  for (QWidget* each : beside) parts->addWidget(each);
  rows->addWidget(line);
  return row;
}

// Of thousands of runs: which way the first one's metric is better holds for all that have it, and is read once.
StartPage::RunsOf StartPage::runsOf(const QString& project) const {
  RunsOf runs;
  bool higher = false;
  context().store->forEachRun(project, [&](const RunRecord& run) {
    ++runs.all;
    runs.live += isLive(run.state);
    if (!std::isfinite(run.best)) return;
    if (!runs.best) higher = context().runMetrics->better(run, run.metric) == Better::higher;
    if (!runs.best ||
        (run.metric == runs.best->metric && (higher ? run.best > runs.best->best : run.best < runs.best->best)))
      runs.best = &run;
  });
  return runs;
}

void StartPage::addRecents() {
  struct Recent {
    ProjectRow::Content content;
    QString path;
    bool live;
  };
  QList<Recent> recents;
  for (const RecentProject& each : context().preferences->recentProjects()) {
    const QFileInfo file(each.path);
    const RunsOf runs = runsOf(each.path);
    const int live = runs.live;
    ProjectRow::Content content{.title = file.completeBaseName(),
                                .detail = file.absolutePath(),
                                .moment = formatMoment(static_cast<double>(each.opened.toSecsSinceEpoch())),
                                .told = file.exists(),
                                .missing = !file.exists()};
    if (content.missing)
      content.detail = tr("%1 is not there any more").arg(each.path);
    else if (live)
      content.value = tr("%1 running").arg(live), content.status = Status::running;
    else if (runs.all > 0) {
      content.value = counted(runs.all, tr("runs"));
      if (runs.best) content.value += tr(", best %1").arg(context().runMetrics->text(*runs.best, runs.best->best));
    }
    recents << Recent{content, each.path, live > 0};
  }
  std::stable_sort(recents.begin(), recents.end(), [](const Recent& a, const Recent& b) { return a.live > b.live; });
  for (const Recent& each : std::as_const(recents)) {
    auto* row = new ProjectRow(each.content);
    row->setObjectName("recent");
    connect(row, &ProjectRow::removeWanted, this, [this, path = each.path] { removeRecent(path); });
    if (!each.content.missing) {
      connect(row, &ProjectRow::clicked, this, [this, path = each.path] { context().openProject(path); });
      addRow(m_recentRows, row, each.path);
      continue;
    }
    // A missing file keeps its row, with what can be done about it.
    auto* find = new Button(tr("Find..."), ButtonKind::link);
    connect(find, &Button::clicked, this, [this, path = each.path] {
      const QString found = QFileDialog::getOpenFileName(this, tr("Where is %1?").arg(QFileInfo(path).fileName()), {},
                                                         tr("Projects (*.loom)"));
      if (found.isEmpty()) return;
      context().preferences->removeRecentProject(path);
      context().openProject(found);
    });
    auto* remove = new Button(tr("Remove"), ButtonKind::link);
    connect(remove, &Button::clicked, this, [this, path = each.path] { removeRecent(path); });
    addRow(m_recentRows, row, each.path, {find, remove});
  }
  m_recents->setVisible(!recents.isEmpty());
}

void StartPage::addDrafts() {
  const ProjectDocument* const open = context().workspace->document();
  int shown = 0;
  for (const Draft& draft : context().workspace->drafts().all()) {
    auto* row = new ProjectRow({.title = QFileInfo(draft.path).completeBaseName(),
                                .detail = tr("Kept by itself; it gets a name when it is saved"),
                                .moment = formatMoment(static_cast<double>(draft.changed.toSecsSinceEpoch())),
                                .told = true});
    row->setObjectName("draft");
    connect(row, &ProjectRow::clicked, this, [this, path = draft.path] { context().openProject(path); });
    ++shown;
    const QList<RunRecord> runs = context().store->runs(draft.path);
    const bool live = std::any_of(runs.begin(), runs.end(), [](const RunRecord& run) { return isLive(run.state); });
    // What is being worked on is not thrown away.
    if (live || (open && open->path() == draft.path)) {
      addRow(m_draftRows, row, draft.path);
      continue;
    }
    connect(row, &ProjectRow::removeWanted, this, [this, draft] { discardDraft(draft); });
    auto* discard = new Button(tr("Discard"), ButtonKind::link);
    discard->setObjectName("discard-draft");
    connect(discard, &Button::clicked, this, [this, draft] { discardDraft(draft); });
    addRow(m_draftRows, row, draft.path, {discard});
  }
  m_drafts->setVisible(shown > 0);
}

void StartPage::addSamples() {
  bool first = true;
  for (const SampleProject& sample : samples()) {
    const QString hint =
        m_recents->isHidden() && first ? tr("Open it and press Train: curves in two seconds") : sample.summary;
    auto* row = new ProjectRow({.title = sample.title, .detail = hint, .sentence = true});
    row->setObjectName("sample");
    connect(row, &ProjectRow::clicked, this, [this, path = sample.path] { context().openProject(path); });
    addRow(m_sampleRows, row, sample.path);
    first = false;
  }
  if (first) {
    auto* none = makeLabel("hint",
                           tr("There are none beside this program. They come with Gradloom's package, and a build of "
                              "your own makes them with the target samples."),
                           nullptr, Wrap::yes);
    none->setObjectName("no-samples");
    none->setContentsMargins(8, 8, 8, 0);
    m_sampleRows->addWidget(none);
  }
}

void StartPage::removeRecent(const QString& path) {
  context().preferences->removeRecentProject(path);
  context().notify({tr("%1 is no longer in the list. The file stays.").arg(QFileInfo(path).fileName()), tr("Undo"),
                    [this, path] { context().preferences->addRecentProject(path); }});
}

void StartPage::discardDraft(const Draft& draft) {
  const Drafts& drafts = context().workspace->drafts();
  if (!drafts.discard(draft.path)) return;
  rebuild();
  context().notify(
      {tr("The draft %1 is discarded").arg(QFileInfo(draft.path).completeBaseName()), tr("Undo"), [this, draft] {
         context().workspace->drafts().restore(draft.path);
         rebuild();
       }});
}

QList<QWidget*> StartPage::areas() const {
  QList<QWidget*> areas;
  for (const char* name : {"recent", "draft", "sample"})
    if (auto* row = findChild<ProjectRow*>(name)) areas << row;
  return areas;
}

void StartPage::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Down && !areas().isEmpty())
    areas().first()->setFocus(Qt::TabFocusReason);
  else
    Page::keyPressEvent(event);
}

void StartPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  const int side = std::max(24, (width() - 1160) / 2);
  m_content->layout()->setContentsMargins(side, 44, side, 24);
}

void StartPage::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), Theme::of(this).colour(Colour::surface));
}

}  // namespace loom
