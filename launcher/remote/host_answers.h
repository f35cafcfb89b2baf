#pragma once
// Questions about the runs of one host, answered there, where their weights and their data are (preview/run_line.h).
// Connects where it must. Window's thread.
#include <QPointer>

#include "launcher/preview/run_line.h"
#include "launcher/remote/host_line.h"

namespace loom {

class HostAnswers : public RunAnswers {
  Q_OBJECT

 public:
  // "<run>" in the words of a question is the folder of this run on the host.
  HostAnswers(HostLine& line, const QString& name, const QString& run, QObject* parent = nullptr);

  int ask(const QStringList& words) override;
  void unask(int question) override;
  // Files of the run there to this machine, behind one another; then brought() or refused(). Their folder here is made.
  struct File {
    QString there, here;  // "evaluations/validation-best/report.json"; a path
  };
  int bring(const QList<File>& files);

 Q_SIGNALS:
  void brought(int question);

 private:
  struct Question {
    QStringList words;
    bool sent = false;
    QList<File> files;  // that are to come, the first one is on its way
  };
  void lineChanged();
  void send(int question);
  void end(int question, const QString& sentence);
  QPointer<HostLine> m_line;
  QString m_name, m_run;
  bool m_tried = false;  // to connect, since it was online
  QMap<int, Question> m_waiting;
};

}  // namespace loom
