#pragma once
// One call of `loom` about the open project as it is now, in a process and a folder of its own: lines of JSON as they
// come, the last of which is the answer. What it needs lies in that folder and goes with it, whatever becomes of the
// process. Window's thread; nothing here waits.
#include <QObject>
#include <QStringList>
#include <memory>

#include "engine/base/json.h"

class QProcess;
class QTemporaryDir;

namespace loom {

struct Project;

class ProjectCall : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;
  ~ProjectCall() override;

  // `loom VERB PROJECT --folder FOLDER --json ARGUMENTS...`; a call before it is given up.
  void start(const QString& verb, const Project& project, const QString& folder, const QStringList& arguments = {});
  void cancel();
  bool runs() const { return m_process != nullptr; }

 Q_SIGNALS:
  void told(const loom::Json& line);  // each line, the last too
  void answered(const loom::Json& last);
  void refused(const QString& sentence);  // why there is no answer

 private:
  void read();
  void refuse(const QString& sentence);
  QProcess* m_process = nullptr;
  std::shared_ptr<QTemporaryDir> m_folder;
  QByteArray m_rest;
  Json m_last;
};

}  // namespace loom
