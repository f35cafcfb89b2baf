#pragma once
// The list of problems above the status bar: of the document, and what pages report. A click leads to the thing; a
// remedy is a button. Errors first, then by place. Closes itself when nothing is left.
#include <QFrame>
#include <vector>

#include "app/page.h"

class QListWidget;
class QVBoxLayout;

namespace loom {

class Workspace;

class ProblemsPanel : public QFrame {
  Q_OBJECT

 public:
  ProblemsPanel(Workspace& workspace, QWidget* parent = nullptr);

  void setPageProblems(const QString& page, std::vector<PageProblem> problems);
  void refresh();  // the document's changed
  int errors() const { return m_errors; }
  int warnings() const { return m_warnings; }
  // F8 and Shift+F8: opens the list and goes to the next or previous one.
  void step(int direction);
  // The rail's marks: pages that have an error.
  QStringList pagesWithErrors() const;

 Q_SIGNALS:
  void countsChanged();
  void wanted(const loom::Place& place);
  void leftWithKeyboard();  // it went away with what had the focus

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void rebuild();
  void fitRows();
  bool holdsKeyboard() const;
  void leave(bool held);  // `held`: it had the keyboard, which goes back to the page
  void lead(int row);     // to the place of a problem

  Workspace& m_workspace;
  QListWidget* m_list;
  std::vector<PageProblem> m_problems;
  int m_errors = 0, m_warnings = 0;
};

}  // namespace loom
