// What leaves the tab Evaluation: all of it into a folder, or one table or picture of it.
#include <QDesktopServices>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QUrl>

#include "app/pages/training/evaluation_board.h"
#include "app/pages/training/run_evaluation.h"
#include "engine/base/files.h"
#include "widgets/controls/button.h"

namespace loom {

void RunEvaluation::exportMenu() {
  QMenu menu;
  connect(menu.addAction(tr("All tables and pictures…")), &QAction::triggered, this, &RunEvaluation::saveDialog);
  menu.addSeparator();
  for (const EvaluationPart& part : m_board->parts()) {
    QMenu* const own = menu.addMenu(part.title);
    for (const char* kind : {"png", "csv"}) {
      const bool isPicture = qstrcmp(kind, "png") == 0;
      if (isPicture ? !part.picture : !part.table) continue;
      connect(own->addAction(tr("As %1…").arg(QString::fromLatin1(kind).toUpper())), &QAction::triggered, this,
              [this, part, kind] { exportDialog(part, QString::fromLatin1(kind)); });
    }
  }
  menu.exec(m_save->mapToGlobal(QPoint(0, m_save->height() + 2)));
}

void RunEvaluation::exportDialog(const EvaluationPart& part, const QString& kind) {
  auto* const dialog = new QFileDialog(window(), tr("Export %1").arg(part.title));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setDefaultSuffix(kind);
  dialog->selectFile(part.name + '.' + kind);
  connect(dialog, &QFileDialog::fileSelected, this,
          [this, part, kind](const QString& file) { exportPart(part, kind, file); });
  dialog->open();
}

void RunEvaluation::exportPart(const EvaluationPart& part, const QString& kind, const QString& file) {
  const QImage picture = kind == "png" ? part.picture() : QImage();
  Background<RunEvaluation>(this).start([part, picture, file](const Background<RunEvaluation>& here) {
    QString fault;
    try {
      if (picture.isNull())
        writeFileAtomically(file.toStdString(), part.table());
      else if (!picture.save(file))
        fault = tr("%1 cannot be written: choose a folder that may be written and has room").arg(file);
    } catch (const std::exception& error) {
      fault = QString::fromUtf8(error.what());
    }
    here.post([file, fault](RunEvaluation& tab) { tab.tellWritten(file, fault); });
  });
}

void RunEvaluation::tellWritten(const QString& place, const QString& fault) {
  if (!fault.isEmpty()) return m_words->setText(fault);
  const QFileInfo info(place);
  const QString folder = info.isDir() ? place : info.absolutePath();
  if (m_context.notify)
    m_context.notify(
        {info.isDir() ? tr("The evaluation is written to %1").arg(place) : tr("%1 is written.").arg(info.fileName()),
         tr("Show"), [folder] { QDesktopServices::openUrl(QUrl::fromLocalFile(folder)); }});
}

void RunEvaluation::saveDialog() {
  auto* const dialog = new QFileDialog(window(), tr("A folder for tables and pictures"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::Directory);
  dialog->setOption(QFileDialog::ShowDirsOnly);
  dialog->setAcceptMode(QFileDialog::AcceptOpen);
  connect(dialog, &QFileDialog::fileSelected, this, &RunEvaluation::saveTo);
  dialog->open();
}

// The pictures are drawn here, everything is written beside the window.
void RunEvaluation::saveTo(const QString& folder) {
  if (!m_report) return;
  const auto pictures = m_board->pictures();
  Background<RunEvaluation>(this).start([folder, report = m_report, pictures](const Background<RunEvaluation>& here) {
    QString fault;
    try {
      writeReport(folder.toStdString(), *report);
      for (const auto& [name, picture] : pictures)
        if (!picture.save(folder + '/' + name + QStringLiteral(".png")))
          fault = tr("%1.png cannot be written to %2").arg(name, folder);
    } catch (const std::exception& error) {
      fault = QString::fromUtf8(error.what());
    }
    here.post([folder, fault](RunEvaluation& tab) { tab.tellWritten(folder, fault); });
  });
}

}  // namespace loom
