#include "app/shell/actions.h"

#include <QApplication>
#include <QMenu>

#include "app/main_window.h"
#include "app/pages/page_table.h"
#include "app/preferences.h"
#include "app/workspace.h"
#include "widgets/chart/chart_commands.h"
#include "widgets/controls/commands.h"

namespace loom {
namespace {

// What other programs and people call these commands.
QString otherWordsOf(const QString& id) {
  static const QHash<QString, QString> words = {
      {"new", Actions::tr("create project drawing")},
      {"open", Actions::tr("load project file")},
      {"import", Actions::tr("onnx sdcproj nntxt safetensors pytorch model weights csv data")},
      {"export", Actions::tr("onnx model code share")},
      {"export-drawing", Actions::tr("picture image svg png pdf network")},
      {"rename", Actions::tr("name move")},
      {"train", Actions::tr("run start fit")},
      {"resume", Actions::tr("continue go on")},
      {"stop", Actions::tr("cancel abort kill")},
      {"stop-after-epoch", Actions::tr("finish pause")},
      {"preferences", Actions::tr("options settings theme font zoom")},
      {"inspector", Actions::tr("right panel sidebar")},
      {"left-panel", Actions::tr("sidebar layers")},
      {"problems", Actions::tr("errors warnings faults")},
      {"help", Actions::tr("manual documentation")},
      {"shortcuts", Actions::tr("keys keyboard")},
      {"keys", Actions::tr("shortcuts keyboard bindings")},
      {"quit", Actions::tr("exit")}};
  return id.startsWith("colours-")     ? Actions::tr("theme mode")
         : id.startsWith("text-size-") ? Actions::tr("font zoom scale")
                                       : words.value(id);
}

}  // namespace

Actions::Actions(MainWindow& window, Commands& commands) : QObject(&window), m_window(window), m_commands(commands) {
  using Keys = QList<QKeySequence>;
  const auto key = [](const char* text) { return Keys{QKeySequence(QString::fromLatin1(text))}; };
  add(
      tr("Project"), "new", tr("New network"), key("Ctrl+N"), [&window] { window.newProject(); }, "plus");
  add(
      tr("Project"), "open", tr("Open..."), key("Ctrl+O"), [&window] { window.openDialog(); }, "folder");
  add(
      tr("Project"), "save", tr("Save"), key("Ctrl+S"), [&window] { window.save(); }, "save");
  add(tr("Project"), "save-as", tr("Save as..."), key("Ctrl+Shift+S"), [&window] { window.saveAsDialog(); });
  add(
      tr("Project"), "rename", tr("Rename project..."), {}, [&window] { window.renameProject(); }, "rename");
  add(
      tr("Project"), "import", tr("Import..."), {}, [&window] { window.importDialog(); }, "import");
  add(
      tr("Project"), "export", tr("Export for another tool..."), {}, [&window] { window.exportDialog(); }, "export");
  add(
      tr("Project"), "export-drawing", tr("Export the drawing..."), {}, [&window] { window.exportDrawingDialog(); },
      "image");
  add(tr("Project"), "close-project", tr("Close project"), {}, [&window] { window.closeProject(); });
  add(
      tr("Project"), "open-run", tr("Open run folder..."), {}, [&window] { window.openRunFolderDialog(); }, "import");
  add(
      tr("Edit"), "undo", tr("Undo"), key("Ctrl+Z"), [&window] { window.undo(); }, "undo");
  add(
      tr("Edit"), "redo", tr("Redo"), Keys{QKeySequence("Ctrl+Shift+Z"), QKeySequence("Ctrl+Y")},
      [&window] { window.redo(); }, "redo");
  add(tr("Edit"), "record", tr("Record commands"), {}, [&window] { window.recordCommands(); });
  add(tr("Edit"), "replay", tr("Replay commands..."), {}, [&window] { window.replayCommandsDialog(); });
  add(
      tr("Train"), "train", tr("Train"), Keys{QKeySequence("Ctrl+Return"), QKeySequence("Ctrl+Enter")},
      [&window] { window.train(); }, "play");
  add(
      tr("Train"), "resume", tr("Resume last"), {}, [&window] { window.resumeLast(); }, "resume");
  add(
      tr("Train"), "seeds", tr("Four more seeds"), {}, [&window] { window.trainSeeds(); }, "shuffle");
  add(
      tr("Train"), "stop-after-epoch", tr("Stop after epoch"), key("Ctrl+."), [&window] { window.stopAfterEpoch(); },
      "stop-after");
  add(
      tr("Train"), "stop", tr("Stop now"), {}, [&window] { window.stopNow(); }, "stop");
  for (const PageEntry& page : pageTable()) {
    const QString id = QString::fromLatin1(page.id);
    QAction* const action = add(
        tr("Go"), "page-" + id, tr(page.name), key(page.shortcut), [&window, id] { window.showPage(id); }, page.icon);
    action->setProperty("needsProject", page.needsProject);
  }
  add(
      tr("Go"), "search", tr("Search"), key("Ctrl+K"), [&window] { window.focusSearch(); }, "search");
  add(
      tr("Go"), "next-problem", tr("Next problem"), key("F8"), [&window] { window.stepProblem(1); }, "problems");
  add(tr("Go"), "previous-problem", tr("Previous problem"), key("Shift+F8"), [&window] { window.stepProblem(-1); });
  add(tr("Go"), "next-area", tr("Next area"), key("F6"), [&window] { window.nextArea(); });
  add(tr("View"), "left-panel", tr("Left panel"), key("Ctrl+B"), [&window] {
    if (Page* page = window.page(window.currentPage())) page->toggleLeftPanel();
  });
  add(tr("View"), "inspector", tr("Inspector"), key("Ctrl+I"), [&window] {
    if (Page* page = window.page(window.currentPage())) page->toggleInspector();
  });
  add(tr("View"), "problems", tr("Problems"), key("Ctrl+J"), [&window] { window.toggleProblems(); });
  add(
      tr("View"), "preferences", tr("Preferences"), key("Ctrl+,"), [&window] { window.showPreferences(); },
      "preferences");
  const std::pair<ThemeMode, QString> modes[] = {{ThemeMode::light, tr("Light colours")},
                                                 {ThemeMode::dark, tr("Dark colours")},
                                                 {ThemeMode::system, tr("Colours of the system")}};
  for (const auto& [mode, name] : modes)
    add(tr("View"), QStringLiteral("colours-%1").arg(static_cast<int>(mode)), name, {},
        [&window, mode = mode] { window.workspace().preferences().setThemeMode(mode); });
  for (const int percent : Preferences::kTextSizes)
    add(tr("View"), QStringLiteral("text-size-%1").arg(percent), tr("Text size %1 %").arg(percent), {},
        [&window, percent] { window.workspace().preferences().setTextSize(percent); });
  add(
      tr("View"), "reset-layout", tr("Reset layout"), {}, [&window] { window.resetLayout(); }, "reset");
  add(tr("Help"), "help", tr("Help"), key("F1"), [&window] { window.help(); });
  add(
      tr("Help"), "shortcuts", tr("All shortcuts"), key("?"), [&window] { window.showShortcuts(); }, "help");
  add(tr("Help"), "keys", tr("Change keys..."), {}, [&window] { window.showKeys(); });
  add(tr("Help"), "quit", tr("Quit"), key("Ctrl+Q"), [&window] { window.close(); });
  addChartCommands(commands);
  refresh();
}

QAction* Actions::add(const QString& group, const QString& id, const QString& text, const QList<QKeySequence>& keys,
                      const std::function<void()>& act, const QString& iconName) {
  QAction* const action = m_commands.add({.id = id,
                                          .group = group,
                                          .text = text,
                                          .keys = keys,
                                          .scope = {},
                                          .icon = iconName,
                                          .alsoFoundBy = otherWordsOf(id)},
                                         this, act);
  m_window.addAction(action);
  return action;
}

QAction* Actions::find(const QString& id) const {
  return m_commands.find(id);
}

void Actions::fillMenu(QMenu& menu) const {
  menu.clear();
  QHash<QString, QMenu*> groups;
  for (QAction* action : m_commands.ofScope({})) {
    const QString group = m_commands.spec(Commands::idOf(*action)).group;
    if (!groups.contains(group)) groups.insert(group, menu.addMenu(group));
    groups[group]->addAction(action);
  }
  if (Page* const page = m_window.page(m_window.currentPage()); page && !page->pageActions().isEmpty()) {
    QMenu* const own = menu.addMenu(tr("This page"));
    own->addActions(page->pageActions());
  }
}

void Actions::refresh() {
  ProjectDocument* const document = m_window.workspace().document();
  for (const char* id : {"save", "save-as", "rename", "export", "export-drawing", "train", "resume", "seeds",
                         "reset-layout", "close-project"})
    find(id)->setEnabled(document);
  QUndoStack* const stack = document ? &document->undoStack() : nullptr;
  find("undo")->setEnabled(m_window.undoesBesideProject() || (stack && stack->canUndo()));
  find("redo")->setEnabled(stack && stack->canRedo());
  find("undo")->setText(
      stack && stack->canUndo() && !m_window.undoesBesideProject() ? tr("Undo %1").arg(stack->undoText()) : tr("Undo"));
  find("redo")->setText(stack && stack->canRedo() ? tr("Redo %1").arg(stack->redoText()) : tr("Redo"));
  const RunRecord* const live = m_window.workspace().liveRun();
  find("stop-after-epoch")->setEnabled(live && Launcher::may(live->state, RunAction::stopAfterEpoch));
  find("stop")->setEnabled(live && Launcher::may(live->state, RunAction::stop));
  const Page* const page = m_window.page(m_window.currentPage());
  const RunRecord* const chosen = page ? m_window.workspace().store().find(page->chosenRun()) : nullptr;
  find("seeds")->setText(chosen ? tr("Four more seeds of %1").arg(chosen->name) : tr("Four more seeds"));
  for (QAction* action : m_commands.ofScope({}))
    if (action->property("needsProject").toBool()) action->setEnabled(document);
  find("record")->setText(m_commands.isRecording() ? tr("Stop recording...") : tr("Record commands"));
}

}  // namespace loom
