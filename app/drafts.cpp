#include "app/drafts.h"

#include <QDir>
#include <QFileInfo>
#include <algorithm>

namespace loom {

namespace {

const QString kDiscarded = QStringLiteral(".discarded");

}  // namespace

bool Drafts::holds(const QString& path) const {
  // A file that was opened is named by its own path, whatever links lead to it.
  const QString own = QFileInfo(m_folder).canonicalFilePath();
  return QDir::cleanPath(path).startsWith(QDir::cleanPath(m_folder) + '/') ||
         (!own.isEmpty() && path.startsWith(own + '/'));
}

QList<Draft> Drafts::all() const {
  QList<Draft> found;
  for (const QFileInfo& each : QDir(m_folder).entryInfoList(QDir::Dirs | QDir::NoDotAndDotDot)) {
    const QFileInfo file(each.filePath() + '/' + each.fileName() + ".loom");
    if (file.isFile()) found << Draft{file.filePath(), file.lastModified()};
  }
  std::stable_sort(found.begin(), found.end(), [](const Draft& a, const Draft& b) { return a.changed > b.changed; });
  return found;
}

QString Drafts::freeFile(const QString& name) const {
  QString own = name;
  for (int number = 2; QFileInfo::exists(m_folder + '/' + own); ++number) own = name + '-' + QString::number(number);
  QDir().mkpath(m_folder + '/' + own);
  return m_folder + '/' + own + '/' + own + ".loom";
}

QString Drafts::kept(const QString& path) const {
  return m_folder + '/' + kDiscarded + '/' + QFileInfo(path).absoluteDir().dirName();
}

bool Drafts::discard(const QString& path) const {
  QDir().mkpath(m_folder + '/' + kDiscarded);
  QDir(kept(path)).removeRecursively();  // an earlier one of this name
  return QDir().rename(QFileInfo(path).absolutePath(), kept(path));
}

bool Drafts::restore(const QString& path) const {
  return QDir().rename(kept(path), QFileInfo(path).absolutePath());
}

void Drafts::forgetDiscarded() const {
  QDir(m_folder + '/' + kDiscarded).removeRecursively();
}

}  // namespace loom
