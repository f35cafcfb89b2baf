#pragma once
// Questions about trained runs: evaluate, predict, look, in the words of `loom`. They are answered by a resident engine
// (the agent's verb `ask`), which keeps the network, so the second question is answered at once: RunLine has one on
// this machine, HostAnswers (remote/host_answers.h) asks that of a host. Nothing here waits. Window's thread.
#include <QByteArray>
#include <QMap>
#include <QObject>
#include <QPointer>
#include <QStringList>
#include <QTimer>
#include <functional>
#include <memory>
#include <set>

#include "launcher/ssh/byte_channel.h"

namespace loom {

class AgentClient;

// Whoever answers such questions.
class RunAnswers : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;
  virtual int ask(const QStringList& words) = 0;  // answers the question's number
  virtual void unask(int question) = 0;           // nothing of it comes any more

 Q_SIGNALS:
  void told(int question, const QByteArray& bytes);  // what `loom` would print, in pieces
  void answered(int question);
  void refused(int question, const QString& sentence);
};

// The engine is started by the first question, kept for the next ones, and let go when nobody asked for a while.
class RunLine : public RunAnswers {
  Q_OBJECT

 public:
  using Start = std::function<std::unique_ptr<ByteChannel>()>;  // throws Error

  // `program`: `loom`; empty = looked for when it is first needed.
  explicit RunLine(const QString& program = {}, QObject* parent = nullptr);
  explicit RunLine(Start start, QObject* parent = nullptr);
  ~RunLine() override;

  int ask(const QStringList& words) override;
  void unask(int question) override;
  bool runs() const { return m_client != nullptr; }
  int starts() const { return m_starts; }  // of the engine so far
  void setIdle(int milliseconds) { m_idle.setInterval(milliseconds); }
  void setPatience(int milliseconds) {
    m_patience.setInterval(milliseconds);
  }  // until a question that was called off
     // must have ended

 private:
  bool start();
  void send(int question);
  void take(int question, bool good, const QString& sentence);
  void fail(const QString& sentence);  // of all that waits
  void retire();

  Start m_start;
  std::unique_ptr<AgentClient> m_client;
  QMap<int, QStringList> m_waiting;
  QTimer m_idle, m_patience;
  int m_last = 0, m_starts = 0;
  std::set<int> m_sent;  // and not answered, also those that were called off; the first one is worked on
};

// One caller's questions, as LoomCall is one caller's programs: a newer one calls the one before off.
class RunCall : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;
  ~RunCall() override { cancel(); }

  void start(RunAnswers& answers, const QStringList& words);
  void cancel();
  bool runs() const { return m_question != 0; }

 Q_SIGNALS:
  void answered(const QByteArray& output);
  void refused(const QString& sentence);
  void told(const QByteArray& line);  // as it comes, before answered() tells all of it

 private:
  QPointer<RunAnswers> m_answers;
  int m_question = 0;
  QByteArray m_output;
  qsizetype m_told = 0;  // of it, in whole lines
};

}  // namespace loom
