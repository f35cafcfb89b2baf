#pragma once
// Import...: a CSV as it is, or IDX, CIFAR binary and class folders made into one. Works for chosen and for dropped
// files.
#include <QMenu>
#include <QUrl>

#include "app/pages/data/import_task.h"

namespace loom {

class ImportMenu : public QMenu {
  Q_OBJECT

 public:
  ImportMenu(ImportTask& task, QWidget* parent);
  // Where imported datasets are written: "data" beside the project file.
  void setTarget(const QString& folder) { m_target = folder; }
  // True when these files are something that can be imported (then it began, or `csvChosen` was emitted).
  bool take(const QStringList& paths);

 Q_SIGNALS:
  void csvChosen(const QString& path);
  void refused(const QString& why);

 private:
  void importIdxFiles(const QStringList& files);
  void importPair(const IdxPair& pair);
  void importCifarFiles(const QStringList& files);
  void importClassFolder(const QString& folder);
  QString freshFolder(const QString& name) const;

  ImportTask& m_task;
  QString m_target;
};

}  // namespace loom
