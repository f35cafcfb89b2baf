#pragma once
// Import...: a CSV as it is, or IDX, CIFAR binary and class folders made into one. Works for chosen and for dropped
// files.
#include <QMenu>
#include <QUrl>
#include <functional>

#include "app/pages/data/import_task.h"

namespace loom {

class ImportMenu : public QMenu {
  Q_OBJECT

 public:
  ImportMenu(ImportTask& task, QWidget* parent);
  // `start`: where the dialogues begin. `home`: the project's folder, in which what is made of files called `name` is
  // written under "data"; empty where there can be none, which was told then.
  void setPlaces(std::function<QString()> start, std::function<QString(const QString& name)> home) {
    m_start = std::move(start);
    m_home = std::move(home);
  }
  // Whether these files are something that can be imported.
  static bool takes(const QStringList& paths);
  static QString tableFilter();  // of a file dialogue: "Tables (*.csv ...)"
  // The same; then it began, or `csvChosen` was emitted.
  bool take(const QStringList& paths);

 Q_SIGNALS:
  void csvChosen(const QString& path);
  void refused(const QString& why);

 private:
  void importIdxFiles(const QStringList& files);
  void importPair(const IdxPair& pair);
  void importCifarFiles(const QStringList& files);
  void importClassFolder(const QString& folder);
  void importInto(const QString& name, const QString& what,
                  std::function<ImportResult(const std::filesystem::path& out, const ImportOptions&)> work);

  ImportTask& m_task;
  std::function<QString()> m_start;
  std::function<QString(const QString& name)> m_home;
};

}  // namespace loom
