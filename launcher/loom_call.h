#pragma once
// One call of `loom` beside the window: what it printed, or the sentence with which it refused. A newer call ends the
// one before. Window's thread; nothing here waits.
#include <QByteArray>
#include <QObject>
#include <QStringList>

class QProcess;

namespace loom {

class LoomCall : public QObject {
  Q_OBJECT

 public:
  // `program`: `loom`; empty = looked for when it is first needed.
  explicit LoomCall(const QString& program = {}, QObject* parent = nullptr);
  ~LoomCall() override;

  void start(const QStringList& arguments);
  void cancel();
  bool runs() const { return m_process != nullptr; }

 Q_SIGNALS:
  void answered(const QByteArray& output);
  void refused(const QString& sentence);
  // What it prints line by line as it comes, before answered() tells all of it.
  void told(const QByteArray& line);

 private:
  void read(QProcess& process);
  QString m_program;
  QProcess* m_process = nullptr;
  QByteArray m_output;
  qsizetype m_told = 0;  // of it, in whole lines
};

}  // namespace loom
