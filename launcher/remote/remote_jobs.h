#pragma once
// The jobs of one host as its line sees them. Every step towards a running job can be taken again, so a line that
// breaks anywhere costs nothing but time: on the next one each job asks where it stands and goes on. A start that the
// host once said it has is never sent again: a job that is gone there is lost, and a person is asked. On the line's
// thread.
#include <QObject>
#include <functional>
#include <map>
#include <memory>

#include "launcher/executor.h"
#include "launcher/hosts/host.h"
#include "launcher/remote/agent_client.h"
#include "launcher/remote/data_delivery.h"
#include "launcher/remote/mirror.h"

namespace loom {

class RemoteJobs : public QObject {
 public:
  struct Listener {
    std::function<void(const QString& id, const QString& sentence, double share)> stage;
    std::function<void(const QString& id)> waits;
    std::function<void(const QString& id, const JobFile& file)> started;
    std::function<void(const QString& id, const QString& sentence)> doubted;  // empty: it is known again
    std::function<void(const QString& id, const QString& sentence)> warned;
    std::function<void(const QString& id, const JobEnd& end)> ended;
    std::function<void(const QString& id, const QString& sentence)> refused;
  };
  RemoteJobs(Host host, Listener listener);
  ~RemoteJobs() override;

  void setHost(const Host& host) { m_host = host; }
  // `program`, `base`: of the engine there.
  void online(AgentClient& agent, const QString& program, const QString& base);
  void offline();
  bool isEmpty() const { return m_jobs.empty(); }

  // New: nobody told the host of this start yet. Otherwise its number tells whether it is to be started or followed.
  enum class Age { fresh, older };
  void add(const JobOrder& order, Age age);
  void forget(const QString& id);
  void settle(const QString& id);  // a person's word that it has ended; nothing more is told
  void command(const QString& id, const Json& command);
  void cancel(const QString& id, const char* how);  // "stop", "kill"
  void told(const Json& header, const QByteArray& bytes);

 private:
  struct Remote {
    JobOrder order;
    Mirror mirror;
    bool asked = false;  // the host may have this start
    bool known = false;  // it has
    bool lost = false;   // it had it, and has it no more
    bool deaf = false;   // what it tells is passed over until it is asked for again
    bool looksAgain = false;
    std::vector<Json> wishes;  // not yet said to the host
    QString phase, doubt;
    std::string killed;  // "stop" or "kill" before the host had it
  };
  Remote* find(const QString& id);
  static int had(const Remote& job);
  void advance(const QString& id);
  void calledOff(const QString& id);
  void place(const QString& id, const Delivered& delivered);
  void start(const QString& id, const QHash<QString, QString>& places);
  void doubt(const QString& id, const QString& sentence);
  void lose(const QString& id);
  void trouble(const QString& id, const Json& header);
  void lookAgain(const QString& id);
  void follow(const QString& id);
  void sayWishes(const QString& id);
  void state(const QString& id, const Json& state);
  void refuse(const QString& id, const QString& sentence);
  void end(const QString& id, const JobEnd& end);

  Host m_host;
  Listener m_listener;
  AgentClient* m_agent = nullptr;
  QString m_program, m_base;
  DataDelivery m_data;
  std::map<QString, std::unique_ptr<Remote>> m_jobs;
};

}  // namespace loom
