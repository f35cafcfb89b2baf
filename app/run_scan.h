#pragma once
// Runs that lie in a project's folder and are not in the list yet (of the command line, of another machine): looked for
// beside the window's thread, as a folder may hold thousands on a slow disk, then taken in a few at a time.
#include <QObject>
#include <QStringList>
#include <QTimer>

#include "widgets/document/newest_task.h"

namespace loom {

class Launcher;

class RunScan : public QObject {
  Q_OBJECT

 public:
  RunScan(Launcher& launcher, const QString& folder, const QString& project);

 private:
  void takeSome();

  Launcher& m_launcher;
  QString m_project;
  QStringList m_found;
  QStringList m_reading;  // runs whose logs are being read
  QTimer m_soon;
  NewestTask m_look;
};

}  // namespace loom
