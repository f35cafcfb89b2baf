#pragma once
// The window of the IDE: top bar, rail, the page in front, problems, status. It constructs and connects; what is open
// stands in Workspace, what can be done in Actions.
#include <QHash>
#include <QMainWindow>
#include <QPointer>
#include <QSet>
#include <QTimer>
#include <functional>
#include <memory>

#include "app/page.h"
#include "app/shell/message_bar.h"
#include "app/workspace.h"

class QStackedWidget;

namespace loom {

class Actions;
class Commands;
class HostQuestions;
class Popover;
class NoticeArea;
struct ExportWish;
struct PageEntry;
class ProblemsPanel;
class Rail;
class ProjectImport;
class SearchPanel;
class Splitter;
class StatusStrip;
class TopBar;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(Workspace& workspace);
  ~MainWindow() override;

  void showPage(const QString& id);
  QString currentPage() const { return m_current; }
  Page* page(const QString& id) const { return m_pages.value(id); }
  void go(const Place& place);
  void notify(const Notice& notice);

  // Commands (Actions and the bars call them).
  void openProject(const QString& path, Workspace::Copy copy = Workspace::Copy::known);
  void openDialog();
  bool newProject();  // false: what is open cannot be left, which was told
  void closeProject();
  bool save(ProjectDocument::Overwrite foreignChanges = ProjectDocument::Overwrite::refuse);
  void reload();
  void saveAsDialog();
  void renameProject();  // asks for the name
  void train(const TrainOptions& options = {});
  void resumeLast();
  void trainSeeds();
  void stopAfterEpoch();
  void stopNow();
  // Projects, models, weights, run folders and data, however they were named; `first`: the page that may want data for
  // itself.
  void takeFiles(const QList<QUrl>& urls, Page* first = nullptr);
  void importDialog();
  void importProject(const QString& file);  // what an importer takes, or weights for the open project
  void exportDialog();                      // a trained run, or the project as it would begin, for another tool
  void exportModel(const QString& run);     // asks which weights, and where to; an empty run is the best one
  void exportTo(const ExportWish& wish);
  void openDrawing(const QString& run);  // what a run trained, as new work
  void exportDrawingDialog();
  void exportDrawing(const QString& file);  // of the network in front
  void openRunFolder(const QString& folder);
  void openRunFolderDialog();
  void undo();
  void redo();
  void focusSearch();
  void nextArea();
  void toggleProblems();
  void stepProblem(int direction);
  void showPreferences();
  void help();  // F1: of the page's thing that has the keyboard, else the shortcuts
  void showShortcuts();
  void showKeys();        // every command with its keys, to change them
  void recordCommands();  // begins; the second time ends it and asks where the list is to be kept
  void replayCommandsDialog();
  void replayCommands(const QString& file);
  void resetLayout();
  QSize usualSize() const;  // of a window that was never sized by hand: as large as the screen allows
  void offerUnsaved();      // work of a session that ended without a word: asked once, at the start
  void reportError(const QString& key, const QString& sentence);

  Workspace& workspace() const { return m_workspace; }
  TopBar& topBar() const { return *m_topBar; }
  ProblemsPanel& problems() const { return *m_problems; }
  MessageBars& messages() const { return *m_messages; }
  NoticeArea& notice() const { return *m_notice; }
  bool undoesBesideProject() const;  // undo() would take back what is none of the project's steps
  Actions& actions() const { return *m_actions; }
  Commands& commands() const { return *m_commands; }
  bool settled() const;  // nothing is being laid out or computed: a picture may be taken

  // Saves and keeps what is to be remembered. False where a person must decide first.
  bool leave();

 protected:
  void closeEvent(QCloseEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void buildLayout();
  void connectWorkspace();
  void projectOpened();
  void projectClosing();
  void refreshProblems();
  void refreshTitle();
  void keepLayout();
  Page& makePage(const PageEntry& entry);
  QList<SearchHit> find(const QString& query);
  // Why a command did not come to its end. Where that is a project that cannot be saved, with what can be done about
  // it; `then` goes on where overwriting was the answer.
  void report(const QString& key, const Outcome& refused, const std::function<void()>& then = {});
  void tellForeignChange();  // another program has written the project's file
  void tellCopy(const QString& original, bool made);
  void tellKept();
  // Asks what a draft is to be called, or for another name; `then` goes on where one was given.
  void askName(const std::function<void()>& then = {});
  bool asksNameBefore(const std::function<void()>& then);
  bool saveTo(const QString& path);
  void offerRecovery(const QDateTime& time);
  void offerFurtherRecovery();
  void discardRecovery();
  void discardUnsaved(const Orphan& orphan);
  void tellSaveState();  // a save that failed where nobody asked for it
  void connectImport();
  void addRunCommands();
  void showImport(const QString& file, const std::shared_ptr<const Imported>& imported);
  void keepReport(MessageBars::Kind kind, const QString& sentence, const std::function<void()>& show);
  void buildTrainMenu();
  void buildProjectMenu();
  void openHostCard();
  void refreshHost();
  void refreshHostMessage();
  void closeTopmost();

  Workspace& m_workspace;
  QMenu* m_mainMenu;
  TopBar* m_topBar;
  Rail* m_rail;
  QStackedWidget* m_stack;
  Splitter* m_split;
  ProblemsPanel* m_problems;
  StatusStrip* m_status;
  MessageBars* m_messages;
  // What notices offered to undo, with the project's place at that time.
  struct Undoable {
    int number, index;
    QString text;
    std::function<void()> act;
  };
  void undoUndoable(int number);
  NoticeArea* m_notice;
  std::vector<Undoable> m_undoable;
  int m_undoableNumber = 0;
  SearchPanel* m_search;
  QPointer<Popover> m_card;
  ProjectImport* m_import = nullptr;
  QMetaObject::Connection m_importReport;  // ends what is said of an import with its project
  Commands* m_commands;
  std::unique_ptr<Actions> m_actions;
  QHash<QString, Page*> m_pages;
  QString m_current;
  QSet<QString> m_hostsSeen;  // whose bar was closed; they come off as they are well again
  QTimer m_runsSoon;
};

}  // namespace loom
