// MainWindow: undo and redo, of the project and of what is done beside it.
#include <algorithm>

#include "app/main_window.h"
#include "app/shell/actions.h"
#include "widgets/controls/button.h"
#include "widgets/controls/notice.h"
#include "widgets/document/project_document.h"

namespace loom {

// Whether the last thing that was done is none of the project's steps: a run that was deleted, a view that was written
// over.
bool MainWindow::undoesBesideProject() const {
  ProjectDocument* const document = m_workspace.document();
  if (m_notice->offers(tr("Undo"))) return true;  // it ends with a later step of the project
  return !m_undoable.empty() && (!document || document->undoStack().index() <= m_undoable.back().index);
}

void MainWindow::undoUndoable(int number) {
  const auto found = std::find_if(m_undoable.begin(), m_undoable.end(),
                                  [number](const Undoable& each) { return each.number == number; });
  if (found == m_undoable.end()) return;
  const Undoable undone = *found;
  m_undoable.erase(found);
  undone.act();
  m_actions->refresh();
}

// A step that is undone where it is not seen is told.
void MainWindow::undo() {
  if (m_notice->offers(tr("Undo"))) return m_notice->actionButton()->click();
  if (undoesBesideProject()) {
    const Undoable last = m_undoable.back();
    undoUndoable(last.number);
    return notify({tr("Undone: %1").arg(last.text), {}, {}});
  }
  ProjectDocument* const document = m_workspace.document();
  if (!document || !document->undoStack().canUndo()) return;
  const QString step = document->undoStack().undoText();
  document->undoStack().undo();
  if (m_current != "network" && m_current != "data" && m_current != "settings")
    notify({tr("Undone in the project: %1").arg(step), {}, {}});
}

void MainWindow::redo() {
  if (m_workspace.document()) m_workspace.document()->undoStack().redo();
}

}  // namespace loom
