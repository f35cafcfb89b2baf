#pragma once
// The line to one host: signed in once, kept up, and taken up again by itself when it breaks. Jobs on the host outlive
// it. Everything here is asked on the window's thread and answered by signals; the work is done on a thread of the
// line.
//
//   offline -> connecting -> [asking] -> [installing] -> online -> waiting (until the next try) -> connecting ...
//                   \-> needsPerson: a host key that changed, an answer that nobody was asked for; connectNow() goes on
#include <QHash>
#include <QThread>
#include <memory>
#include <optional>

#include "launcher/executor.h"
#include "launcher/hosts/host.h"
#include "launcher/remote/agent_client.h"
#include "launcher/remote/host_check.h"
#include "launcher/remote/host_tidy.h"
#include "launcher/ssh/ssh_connection.h"

namespace loom {

enum class LineState { offline, connecting, asking, installing, online, waiting, needsPerson };

struct LineOptions {
  QString bundle;     // of the engine, sent to hosts that lack it; empty = none
  QString program;    // instead of a bundle: `loom` that is on the host already, a plain path
  QString sshConfig;  // empty = ~/.ssh/config
  // Instead of SSH, for this machine and for tests; gets what the person is asked by.
  std::function<std::unique_ptr<HostTransport>(const SshAsk&)> transport;
  AgentTimes times;
  int firstWaitMs = 1000, longestWaitMs = 60000;  // until the next try; doubled each time
};

struct LineFacts {
  QString fingerprint, method, jumps, engine;  // engine: "loom 0.1.0"
  QString base, user, warning;
  double connectMs = 0, answerMs = 0;  // answerMs: how long a person took to answer meanwhile, not in connectMs
  double clockAhead = 0;               // seconds
};

class LineWorker;

class HostLine : public Executor {
  Q_OBJECT

 public:
  HostLine(const Host& host, LineOptions options, QObject* parent = nullptr);
  ~HostLine() override;

  void setHost(const Host& host);  // holds from the next connection on
  LineState state() const { return m_state; }
  QString sentence() const { return m_sentence; }  // why it waits or needs a person
  qint64 nextTry() const { return m_nextTry; }     // ms since 1970; 0 = none is planned
  const LineFacts& facts() const { return m_facts; }

  void connectNow();     // a person wants it: questions may be asked
  void disconnectNow();  // no more tries; jobs there go on
  void end();            // before it is destroyed: whatever it waits for is called off
  // To a question(); nothing = declined.
  void answer(int question, const std::optional<QString>& text);
  // Connects where it must and tells checkLine() after checkLine(), then checkDone().
  void check(qint64 bytesNeeded);
  // Tidies up there and tells remains(); `remove`: what goes of what was told before. Only while it is online.
  void tidy(const QStringList& remove = {});
  // A file of a run, "checkpoints/step-00000128.safetensors", to a file here: fetched() or fetchFailed(). It comes
  // under a name of its own, is verified by its hash and takes its place then; a fetch that broke off goes on where it
  // stood.
  void fetch(const QString& run, const QString& file, const QString& to);
  // What `loom` there would print for these words: said(), then askAnswered() or askRefused(); also where there is no
  // connection now, or it breaks meanwhile. "<run>" in them is the folder of the run there.
  void ask(int question, const QString& run, const QStringList& words);
  void unask(int question);
  // How fast so many of its ranks add up, by every way and size (`loom bench allreduce`), at least `seconds` a size:
  // linkLine() after linkLine(), then linksDone(). Connects where it must. One at a time.
  void measureLinks(int ranks, double seconds);
  void stopMeasuring();

  void start(const JobOrder& order) override;
  bool follow(const JobOrder& order) override;
  void forget(const QString& id) override;
  void giveUp(const QString& id) override;
  void command(const JobOrder& order, const Json& command) override;
  void interrupt(const QString& id) override;
  void kill(const QString& id) override;
  bool mayStartAgain() const override;
  int atOnce() const override;

 Q_SIGNALS:
  void stateChanged();
  void question(int id, const loom::SshQuestion& question);
  void questionGone(int id);  // the line broke while it was asked
  void checkLine(const loom::CheckLine& line);
  void checkDone();
  void remains(const QVector<loom::HostRemain>& remains, const QString& fault);
  void fetched(const QString& run, const QString& file, const QString& to);
  void fetchProgress(const QString& run, const QString& file, double share);
  void fetchFailed(const QString& run, const QString& file, const QString& sentence);
  void said(int question, const QByteArray& bytes);
  void askAnswered(int question);
  void askRefused(int question, const QString& sentence);
  void linkLine(const QByteArray& json);  // of AllReduceArguments::json
  void linksDone(const QString& fault);   // empty: all of it was measured; not told of one that was stopped

 private:
  friend class LineWorker;
  void setState(LineState state, const QString& sentence, qint64 nextTry);

  Host m_host;
  QThread m_thread;
  LineWorker* m_worker;
  LineState m_state = LineState::offline;
  QString m_sentence;
  qint64 m_nextTry = 0;
  LineFacts m_facts;
};

}  // namespace loom
