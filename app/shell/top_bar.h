#pragma once
// Mark with the menu, the project and whether it is saved, the search, the live run, the host, Train.
#include <QAbstractButton>
#include <QFrame>

class QLabel;
class QMenu;

namespace loom {

class Button;
class HostButton;
class SearchField;
class SplitButton;
class Workspace;

// The newest live run of the project with its percentage; several: "3 running". A click leads to it.
class LivePill : public QAbstractButton {
  Q_OBJECT

 public:
  explicit LivePill(QWidget* parent = nullptr);
  void setRun(const QString& name, int percent, bool waiting);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString m_name, m_value;
  bool m_waiting = false;
};

class TopBar : public QFrame {
  Q_OBJECT

 public:
  TopBar(Workspace& workspace, QMenu& mainMenu, QWidget* parent = nullptr);

  void refreshProject();
  void refreshRuns();
  // What Train shows: filled, outlined while a run is live, red with faults.
  void setErrors(int errors);
  void setNarrow(bool narrow);
  void refreshHost();
  SearchField& search() const { return *m_search; }
  QMenu& projectMenu() const { return *m_projectMenu; }
  SplitButton& trainButton() const { return *m_train; }
  LivePill& pill() const { return *m_pill; }
  HostButton& hostButton() const { return *m_host; }
  Button& markButton() const { return *m_mark; }
  Button& projectButton() const { return *m_project; }

 Q_SIGNALS:
  void trainWanted();
  void problemsWanted();
  void liveRunWanted();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void refreshTrain();
  Workspace& m_workspace;
  QMenu* m_projectMenu;
  Button *m_mark, *m_project;
  HostButton* m_host;
  QLabel* m_state;
  SearchField* m_search;
  LivePill* m_pill;
  SplitButton* m_train;
  int m_errors = 0;
  bool m_live = false;
};

}  // namespace loom
