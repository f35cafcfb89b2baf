#include "app/pages/data/moved_files.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>

#include "app/pages/data/known_columns.h"
#include "engine/base/error.h"
#include "engine/data/raw_rows.h"
#include "widgets/document/project_document.h"

namespace loom {
namespace {

struct MovedFilesWords {
  Q_DECLARE_TR_FUNCTIONS(MovedFilesWords)
};

// The nearest folder above that is there.
QString standingFolder(const QString& path) {
  QDir folder = QFileInfo(path).absoluteDir();
  QString known = folder.absolutePath();
  while (!QFileInfo(known).isDir() && known != QFileInfo(known).absolutePath()) known = QFileInfo(known).absolutePath();
  return known;
}

// In the folder under as much of its old path as is there, the longest first; empty where it is not.
QString foundIn(const QString& folder, const QString& cell) {
  const QStringList parts = cell.split('/', Qt::SkipEmptyParts);
  for (qsizetype from = 0; from < parts.size(); ++from) {
    if (parts[from] == QLatin1String("..") || parts[from] == QLatin1String(".")) continue;
    const QString path = folder + '/' + parts.sliced(from).join('/');
    if (QFileInfo(path).isFile()) return path;
  }
  return {};
}

// Words of classes that stand beside a CSV go along with it.
void takeWordsAlong(const QString& csv, const QString& out) {
  const QFileInfo from(csv), to(out);
  const QString stem = from.completeBaseName() + '.';
  for (const QString& name : from.dir().entryList({stem + "*.classes.txt"}, QDir::Files))
    QFile::copy(from.dir().filePath(name), to.dir().filePath(to.completeBaseName() + '.' + name.mid(stem.size())));
  QFile::copy(from.dir().filePath("classes.txt"), to.dir().filePath("classes.txt"));
}

}  // namespace

std::map<std::string, QString> movedTogether(const ProjectDocument& document, const QString& from, const QString& to) {
  std::map<std::string, QString> places;
  const QString before = QFileInfo(from).absolutePath() + '/', now = QFileInfo(to).absolutePath() + '/';
  for (const DatasetSpec& spec : document.project().datasets) {
    const QString path = datasetPath(document, spec);
    if (path == from)
      places[spec.name] = to;
    else if (path.startsWith(before) && !QFileInfo::exists(path) && QFileInfo(now + path.mid(before.size())).isFile())
      places[spec.name] = now + path.mid(before.size());
  }
  return places;
}

bool findTable(QWidget* parent, ProjectDocument& document, const std::string& dataset) {
  const DatasetSpec* const spec = document.project().dataset(dataset);
  if (!spec) return false;
  const QString from = datasetPath(document, *spec);
  const QString to =
      QFileDialog::getOpenFileName(parent, MovedFilesWords::tr("Where %1 lies now").arg(QFileInfo(from).fileName()),
                                   standingFolder(from), MovedFilesWords::tr("CSV (*.csv *.tsv *.txt);;All files (*)"));
  if (to.isEmpty()) return false;
  document.edit(MovedFilesWords::tr("find %1").arg(QFileInfo(from).fileName()),
                [places = movedTogether(document, from, QDir::cleanPath(to))](ProjectEdit& edit) {
                  for (DatasetSpec& each : edit.datasets())
                    if (const auto place = places.find(each.name); place != places.end())
                      each.csv = place->second.toStdString();
                });
  return true;
}

FoundFiles nameMovedFiles(const MovedFiles& moved, const std::atomic<bool>& outdated) {
  FoundFiles answer;
  const QDir old = QFileInfo(moved.csv).absoluteDir(), home = QFileInfo(moved.out).absoluteDir();
  const auto named = [&](const QString& path) {
    const bool own = !moved.inside.isEmpty() && path.startsWith(moved.inside + '/');
    return (own ? home.relativeFilePath(path) : path).toStdString();
  };
  try {
    QDir().mkpath(home.absolutePath());
    rewriteCells(
        moved.csv.toStdString(), moved.format, moved.columns,
        [&](const std::string& cell) {
          if (outdated) throwError(ErrorCode::stopped, "stopped");
          const QString text = QString::fromStdString(cell).replace('\\', '/');
          if (text.isEmpty()) return cell;
          const QString path = QDir::cleanPath(old.absoluteFilePath(text));
          if (QFileInfo(path).isFile()) return named(path);
          const QString now = foundIn(moved.folder, text);
          ++(now.isEmpty() ? answer.missing : answer.found);
          return named(now.isEmpty() ? path : QDir::cleanPath(now));
        },
        moved.out.toStdString());
  } catch (const Error& error) {
    answer.fault = QString::fromUtf8(error.what());
    return answer;
  }
  if (answer.found == 0) {
    QFile::remove(moved.out);
    answer.fault = MovedFilesWords::tr("%1 holds none of the files that %2 names")
                       .arg(moved.folder, QFileInfo(moved.csv).fileName());
  } else {
    takeWordsAlong(moved.csv, moved.out);
  }
  return answer;
}

}  // namespace loom
