// MainWindow: what the window itself is told by keys, drops and the window manager.
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QKeyEvent>
#include <QMimeData>

#include "app/main_window.h"
#include "app/project_import.h"
#include "app/shell/problems_panel.h"
#include "app/shell/rail.h"
#include "app/shell/top_bar.h"
#include "widgets/controls/notice.h"
#include "widgets/controls/popover.h"
#include "widgets/controls/split_button.h"

namespace loom {

namespace {

constexpr int kNarrow = 1200;  // below: icons alone on the rail

}  // namespace

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!leave()) return event->ignore();
  m_workspace.store().flush();
  event->accept();
}

// Not every file system tells of changes: a person who comes back from another program may have made one there.
void MainWindow::changeEvent(QEvent* event) {
  QMainWindow::changeEvent(event);
  if (event->type() == QEvent::ActivationChange && isActiveWindow() && m_workspace.document())
    m_workspace.document()->lookOutside();
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  m_rail->setNarrow(width() < kNarrow);
  m_topBar->setNarrow(width() < kNarrow);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  QList<QUrl> others;
  for (const QUrl& url : event->mimeData()->urls()) {
    const QFileInfo file(url.toLocalFile());
    if (file.suffix() == "loom" || ProjectImport::takes(file.filePath()) ||
        ProjectImport::holdsWeights(file.filePath()))
      openProject(file.filePath());
    else if (file.isDir() &&
             (QFileInfo::exists(file.filePath() + "/events.jsonl") || QFileInfo::exists(file.filePath() + "/run.json")))
      openRunFolder(file.filePath());
    else
      others << url;
  }
  event->acceptProposedAction();
  if (others.isEmpty()) return;
  Page* const now = page(m_current);
  if (now && now->filesDropped(others)) return;
  // A CSV that no page wanted is data.
  if (m_workspace.document() && m_current != "data") {
    showPage("data");
    if (page("data") && page("data")->filesDropped(others)) return;
  }
  reportError("drop",
              tr("%1 is no project, no run folder and nothing this page takes.").arg(others.first().fileName()));
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape)
    closeTopmost();
  else if (event->key() == Qt::Key_F10)
    m_topBar->markButton().click();
  else
    QMainWindow::keyPressEvent(event);
}

void MainWindow::closeTopmost() {
  if (m_card && m_card->isVisible())
    m_card->close();
  else if (m_notice->isShowing())
    m_notice->dismiss();
  else if (m_problems->isVisible())
    m_problems->hide();
}

}  // namespace loom
