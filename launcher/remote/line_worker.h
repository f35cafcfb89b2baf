#pragma once
// A line's own thread: connects, installs, keeps the agent, hands it to the jobs, and begins again when it broke. Only
// HostLine uses it.
#include <QElapsedTimer>
#include <QMutex>
#include <QObject>
#include <QTimer>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "launcher/remote/engine_installer.h"
#include "launcher/remote/host_line.h"
#include "launcher/remote/questions.h"
#include "launcher/remote/remote_jobs.h"

namespace loom {

class LineWorker : public QObject {
 public:
  LineWorker(HostLine& line, const Host& host, LineOptions options);
  ~LineWorker() override;

  // On the line's thread.
  void open(Questions::Mode mode);
  void close();
  void setHost(const Host& host);
  void check(qint64 bytesNeeded);
  void tidy(const QStringList& remove);
  void fetch(const QString& run, const QString& file, const QString& to);
  void ask(int question, const QString& run, const QStringList& words);
  void unask(int question);
  void measureLinks(int ranks, double seconds);
  void stopMeasuring();
  RemoteJobs& jobs() { return m_jobs; }

  // From the window's thread, while open() may be at work.
  Questions& questions() { return m_questions; }
  enum class Call { thisTry, forGood };
  void callOff(Call call = Call::thisTry);

 private:
  // A job like any other, but for its ranks, which only say who they are.
  struct Probe {
    std::string id;
    QByteArray output;
    QElapsedTimer clock;
  };
  // A job that measures how fast ranks add up, from when it is wanted; without an id until it was started.
  struct Sweep {
    std::string id;
    int ranks = 0;
    double seconds = 0;
    QByteArray rest, words;  // of a line that is not whole; what was no measurement
    qsizetype taken = 0;
    bool stopped = false;
  };
  struct Fetch;
  void tell(LineState state, const QString& sentence = {}, qint64 nextTry = 0);
  void toLine(std::function<void(HostLine&)> say);
  std::unique_ptr<HostTransport> makeTransport();
  QByteArray command() const;
  void greet();
  void greeted(const Json& hello, double asked);
  bool mayInstall() const;
  void mend();
  void install();
  void broken(const AgentClient::Loss& loss);
  QString remedyOf(SshFault fault, const QString& sentence) const;
  void fail(SshFault fault, const QString& sentence, const QString& remedy = {});
  void fail(const SshError& error);
  void checkConnection();
  void checkMachine();
  void await(const QString& what);
  void giveUpCheck();
  void probe();
  bool takeProbe(const Json& header, const QByteArray& bytes);  // true: it was the check's own job
  void finishCheck();
  void startSweep();
  bool takeSweep(const Json& header, const QByteArray& bytes);  // true: it was the measurement's job
  void endSweep(const QString& fault);
  void announceFetch(const std::shared_ptr<Fetch>& fetch);
  void nextPiece(const std::shared_ptr<Fetch>& fetch);
  void finishFetch(const std::shared_ptr<Fetch>& fetch);
  void fetched(const Fetch& fetch);
  void failFetch(const std::shared_ptr<Fetch>& fetch, const QString& sentence);
  void endFetches(const QString& sentence);
  bool takeSaid(const Json& header, const QByteArray& bytes);  // true: it was of a question
  void refuse(int question, const QString& sentence);
  void endQuestions(const QString& sentence);
  void say(const CheckLine& line);
  CheckWish wish() const;

  HostLine& m_line;
  Host m_host;
  LineOptions m_options;
  EngineBundle m_bundle;
  Questions m_questions;
  QMutex m_mutex;  // guards m_transport against callOff()
  std::unique_ptr<HostTransport> m_transport;
  std::unique_ptr<AgentClient> m_agent;
  RemoteJobs m_jobs;
  QTimer m_retry, m_patience;
  QString m_awaited;
  int m_waitMs;
  bool m_wanted = false, m_installed = false, m_checking = false;
  bool m_reached = false;     // it stood since it was last wanted
  bool m_fetchWaits = false;  // a file was on its way when it broke
  std::atomic<bool> m_calledOff{false}, m_ending{false};
  qint64 m_bytesNeeded = 0;
  LineFacts m_facts;
  QString m_program;
  std::unique_ptr<Probe> m_probe;
  std::unique_ptr<Sweep> m_sweep;
  std::optional<std::pair<int, double>> m_sweepAgain;   // wanted while one that was stopped ends
  std::map<QString, std::shared_ptr<Fetch>> m_fetches;  // by where they go
  std::set<int> m_asked;                                // and not answered
};

}  // namespace loom
