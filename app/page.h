#pragma once
// A page of the IDE and what it is given. A page lives as long as the project that is open: it is made when first
// shown, deleted before its document. Everything here happens on the window's thread.
#include <QAction>
#include <QIcon>
#include <QJsonObject>
#include <QKeySequence>
#include <QList>
#include <QString>
#include <QUrl>
#include <QWidget>
#include <functional>
#include <vector>

#include "engine/network/analysis.h"
#include "widgets/controls/commands.h"

namespace loom {

class HostChecks;
class HostLines;
class KnownColumnsKeeper;
class Launcher;
class Models;
class OwnLayers;
class Preferences;
class ProjectDocument;
class RunHosts;
class RunMetrics;
class RunStore;
class Theme;
class Workspace;

// Where a thing stands, so that a click on a problem, a search hit or a notice can lead there. Empty fields say
// nothing.
struct Place {
  QString page;     // id in the page table: "network", "data", "settings", "training", "runs", "hosts", "start"
  QString network;  // of a node
  QString node;
  QString field;       // key of a field of the node, or a path such as "training.optimizer.learning_rate"
  QString dataset;     // name in the project; on the network page with nothing drawn: start from data
  qint64 row = -1;     // line of the dataset's file, whose first is 1
  qint64 sample = -1;  // row of the dataset's file, whose first is 0, as an evaluation counts them
  QString column;      // of the dataset
  QString run;         // id in the run store
  QString host;        // id in the list of hosts
};

// Bottom right, one at a time, 8 s, for finished things; never for errors.
struct Notice {
  QString text;        // "3 rows skipped"
  QString actionText;  // "Undo", "Show"; empty = none
  std::function<void()> action;
};

// A line of Ctrl+K.
struct SearchHit {
  QString group;   // "Layers", "Nodes", "Settings", "Runs", "Data"
  QString text;    // what is matched and shown
  QString detail;  // quiet, at the right of the text
  QIcon icon;
  std::function<void()> act;
};

struct KeyHint {
  QString keys;  // "Ctrl+Down"
  QString text;
};

// A problem that only a page can know (a row of a dataset, say); those of the document the window takes from it itself.
struct PageProblem {
  Severity severity = Severity::error;
  Place place;
  QString placeText;  // "train.csv row 812"
  QString message;    // one sentence, with both numbers
  QString remedyText;
  std::function<void()> remedy;
};

struct AppContext {
  ProjectDocument* document = nullptr;  // never null for a page whose entry says needsProject
  RunStore* store = nullptr;
  Launcher* launcher = nullptr;
  HostLines* hosts = nullptr;  // the list of hosts and the lines to them
  HostChecks* checks = nullptr;
  RunHosts* runHosts = nullptr;
  Models* models = nullptr;  // where the weights of a run are
  RunMetrics* runMetrics = nullptr;
  Theme* theme = nullptr;
  Commands* commands = nullptr;  // of the window; never null for a page
  Preferences* preferences = nullptr;
  OwnLayers* ownLayers = nullptr;              // of the person; null where a page stands without any
  KnownColumnsKeeper* knownColumns = nullptr;  // beside the document
  Workspace* workspace = nullptr;              // for pages about runs
  std::function<void(const Place&)> go;        // switches the page and selects the thing
  std::function<void(const Notice&)> notify;
  std::function<void(const QString&)> openProject;  // a path; asks nothing, saves the open one first
  std::function<void()> train;                      // as the button does
};

class Page : public QWidget {
  Q_OBJECT

 public:
  explicit Page(AppContext& context, QWidget* parent = nullptr) : QWidget(parent), m_context(context) {
    setFocusPolicy(Qt::ClickFocus);
  }

  // Called when the page comes to the front or leaves it: timers of hidden pages stand still.
  virtual void activated() {}
  virtual void deactivated() {}
  // Leads to the thing; false where it is not here any more.
  virtual bool show(const Place&) { return false; }
  // For the menu and Ctrl+K. The window adds them to itself while the page is in front, so keys may be used by several
  // pages.
  const QList<QAction*>& pageActions() const { return m_actions; }
  virtual QList<SearchHit> search(const QString& /*query*/) { return {}; }
  // Files dropped anywhere on the window that are no project and no run folder; true = taken.
  virtual bool filesDropped(const QList<QUrl>&) { return false; }
  // The one run that is chosen here, which commands about a run then mean; empty = none.
  virtual QString chosenRun() const { return {}; }
  // Ctrl+B and Ctrl+I.
  virtual void toggleLeftPanel() {}
  virtual void toggleInspector() {}
  // What has the keyboard when the page comes to the front; a page with one thing to work on names it.
  virtual QWidget* keyboardHome() { return this; }
  // F1 where nothing with the keyboard has help of its own; false = nor has the page.
  virtual bool help() { return false; }
  // What is no command ("Space+drag", "Move the view"), for the list of shortcuts.
  virtual QList<KeyHint> keyHints() const { return {}; }
  // F6: the areas in the order of F6.
  virtual QList<QWidget*> areas() const { return {}; }
  // Splitters, tabs, columns: remembered per project, with the page's id as key.
  virtual QJsonObject saveLayout() const { return {}; }
  virtual void restoreLayout(const QJsonObject&) {}
  // False while something is still being computed or laid out (screenshots wait for it).
  virtual bool settled() const { return true; }

  AppContext& context() const { return m_context; }

 protected:
  // A command of this page: "network.arrange" holds while the page "network" is in front. Several keys: "/; Ctrl+F".
  template <class Run>
  QAction* addCommand(const char* id, const QString& text, const QString& keys, Run run, const char* icon = "") {
    const QString name = QString::fromLatin1(id);
    return list(
        m_context.commands->add({.id = name,
                                 .group = tr("This page"),
                                 .text = text,
                                 .keys = keys.isEmpty() ? QList<QKeySequence>() : QKeySequence::listFromString(keys),
                                 .scope = name.section('.', 0, 0),
                                 .icon = QString::fromLatin1(icon)},
                                this, std::move(run)));
  }
  // A command of a part of this page that stands in the page's menu too.
  QAction* list(QAction* action) {
    m_actions << action;
    return action;
  }

 Q_SIGNALS:
  // Words of the page for the status bar ("3 nodes selected").
  void statusChanged(const QString& text);
  // Replaces what this page last reported.
  void problemsChanged(const std::vector<loom::PageProblem>& problems);

 private:
  AppContext& m_context;
  QList<QAction*> m_actions;
};

}  // namespace loom
