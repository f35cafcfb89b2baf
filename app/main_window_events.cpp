// MainWindow: what the window itself is told by keys, drops and the window manager.
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QKeyEvent>
#include <QMimeData>

#include "app/main_window.h"
#include "app/pages/data/import_menu.h"
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
  event->acceptProposedAction();
  takeFiles(event->mimeData()->urls(), page(m_current));
}

void MainWindow::takeFiles(const QList<QUrl>& urls, Page* first) {
  QList<QUrl> others;
  QStringList paths;
  for (const QUrl& url : urls) {
    const QFileInfo file(url.toLocalFile());
    if (file.suffix() == "loom" || ProjectImport::takes(file.filePath()) ||
        ProjectImport::holdsWeights(file.filePath()))
      openProject(file.filePath());
    else if (file.isDir() &&
             (QFileInfo::exists(file.filePath() + "/events.jsonl") || QFileInfo::exists(file.filePath() + "/run.json")))
      openRunFolder(file.filePath());
    else
      others << url, paths << file.filePath();
  }
  if (others.isEmpty()) return;
  if (first && first->filesDropped(others)) return;
  // Data that the page in front does not want are the project's, a new one's where none is open.
  if (ImportMenu::takes(paths) && (m_workspace.document() || newProject())) {
    showPage("data");
    if (page("data") != first && page("data")->filesDropped(others)) return;
  }
  reportError("drop",
              tr("%1 is no project, no run folder, no model of another tool and no data: a CSV, a folder of class "
                 "folders, IDX or CIFAR files.")
                  .arg(others.first().fileName()));
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
