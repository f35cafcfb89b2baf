// Where the data of the project lie: a CSV copied into its folder, data that were moved found again. Each is one undo
// step; no file of a person's is touched.
#include <QApplication>
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QPointer>

#include "app/pages/data/data_page.h"
#include "app/pages/data/known_columns.h"
#include "app/pages/data/moved_files.h"
#include "app/pages/data/samples_view.h"
#include "engine/network/dataset_rows.h"
#include "widgets/controls/text.h"
#include "widgets/document/project_document.h"

namespace loom {
namespace {

bool namesFiles(const ColumnFacts& column) {
  return column.type == ColumnType::picture || column.type == ColumnType::sound || column.type == ColumnType::matrix;
}

// For a file of this name, in place of no other.
QString freePlace(const QString& folder, const QString& file) {
  const QFileInfo from(file);
  QString place = folder + from.fileName();
  for (int number = 2; QFileInfo::exists(place); ++number)
    place = folder + QStringLiteral("%1-%2.%3").arg(from.completeBaseName()).arg(number).arg(from.suffix());
  return place;
}

}  // namespace

// The project may be closed while the notice that offers it stays.
std::function<void()> DataPage::stepBack() const {
  return [document = QPointer<ProjectDocument>(context().document)] {
    if (document) document->undoStack().undo();
  };
}

// A CSV that says where they lie now is written into the project's folder and takes the other's place.
void DataPage::findAgain(FindAgain what) {
  ProjectDocument& document = *context().document;
  const auto& facts = m_session->facts();
  const QString csv = m_session->request().csv;
  if (what == FindAgain::table) {
    findTable(window(), document, currentName());
    return;
  }
  MovedFiles moved{.csv = csv, .format = openingOf(m_session->request().spec, {}).format};
  for (std::size_t i = 0; facts && i < facts->columns.size(); ++i)
    if (const ColumnFacts& column = facts->columns[i]; namesFiles(column)) moved.columns.push_back(column.name);
  if (moved.columns.empty()) return;
  moved.folder = QFileDialog::getExistingDirectory(
      window(), tr("The folder of the files that %1 names").arg(QFileInfo(csv).fileName()),
      QFileInfo(csv).absolutePath());
  if (moved.folder.isEmpty()) return;
  moved.inside = projectFolder(QFileInfo(csv).completeBaseName());
  if (moved.inside.isEmpty()) return;
  moved.out = freePlace(moved.inside + QStringLiteral("/data/"), csv);
  m_copying = std::make_unique<NewestTask>();
  m_copying->ask([this, moved](const std::atomic<bool>& outdated) -> NewestTask::Answer {
    return [this, moved, answer = nameMovedFiles(moved, outdated)] {
      m_error->setText(answer.fault);
      m_error->setVisible(!answer.fault.isEmpty());
      if (!answer.fault.isEmpty()) return;
      ProjectDocument& project = *context().document;
      project.edit(tr("find the files of %1").arg(QFileInfo(moved.csv).fileName()), [&](ProjectEdit& edit) {
        for (DatasetSpec& spec : edit.datasets()) {
          if (datasetPath(project, spec) != moved.csv) continue;
          spec.csv = moved.out.toStdString();
          if (spec.extra.is_object()) spec.extra.erase("encoding");  // it is UTF-8 now
        }
      });
      const QString found =
          tr("%1 found; a CSV that names them there lies in the project").arg(counted(answer.found, tr("files")));
      context().notify({answer.missing == 0 ? found : tr("%1, %L2 are not there").arg(found).arg(answer.missing),
                        tr("Undo"), stepBack()});
    };
  });
}

// A CSV of anywhere is used where it lies; one that names no files may lie in the project's folder as well.
void DataPage::offerCopy(const QString& csv) {
  const QString folder = QDir::cleanPath(context().document->folder());
  m_copyFrom = csv;
  const bool inside = !context().document->path().isEmpty() && csv.startsWith(folder + '/');
  m_copyText->setText(
      tr("%1 stays in %2 and is read from there.").arg(QFileInfo(csv).fileName(), QFileInfo(csv).absolutePath()));
  m_copyBar->setVisible(!inside && QFileInfo(csv).isFile());
}

void DataPage::copyIntoProject() {
  if (m_copyBar->isAncestorOf(QApplication::focusWidget())) m_samples->currentWidget()->setFocus();
  m_copyBar->hide();
  const QString home = projectFolder(QFileInfo(m_copyFrom).completeBaseName());
  if (home.isEmpty()) return;
  const QFileInfo from(m_copyFrom);
  const QString to = freePlace(home + QStringLiteral("/data/"), m_copyFrom);
  m_copying = std::make_unique<NewestTask>();
  m_copying->ask([this, from = m_copyFrom, to](const std::atomic<bool>&) -> NewestTask::Answer {
    QDir().mkpath(QFileInfo(to).absolutePath());
    QFile file(from);
    const bool copied = file.copy(to);
    return [this, from, to, copied, why = file.errorString()] {
      if (!copied) {
        m_error->setText(tr("%1 could not be copied: %2").arg(QFileInfo(from).fileName(), why));
        return m_error->show();
      }
      ProjectDocument& document = *context().document;
      document.edit(tr("use the copy in the project"), [&](ProjectEdit& edit) {
        for (DatasetSpec& spec : edit.datasets())
          if (spec.csv == from.toStdString()) spec.csv = to.toStdString();
      });
      context().notify({tr("%1 lies in the project now").arg(QFileInfo(to).fileName()), tr("Undo"), stepBack()});
    };
  });
}

}  // namespace loom
