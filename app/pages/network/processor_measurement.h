#pragma once
// This machine's processor measured by `loom plan --calibrate`, in a process of its own: some seconds, after which the
// times of every plan are from it. Window's thread; nothing here waits.
#include <QObject>
#include <QString>

class QProcess;

namespace loom {

class ProcessorMeasurement : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  ~ProcessorMeasurement() override;

  void start(int threads);  // 0 = all; nothing where one runs
  void cancel();            // what was kept before stays
  bool runs() const { return m_process != nullptr; }
  int done() const { return m_done; }  // of total(), which is 0 until the first is told
  int total() const { return m_total; }

 Q_SIGNALS:
  void progressed();
  // Kept, or else why not; cancelled: neither.
  void ended(bool kept, const QString& sentence);

 private:
  void listen();
  void finish(bool kept, const QString& sentence);

  QProcess* m_process = nullptr;
  QString m_said;  // by the process, beside what is counted
  int m_done = 0, m_total = 0;
};

}  // namespace loom
