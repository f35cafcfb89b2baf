#pragma once
// The jobs of one host as its line sees them. Every step towards a running job can be taken again, so a line that
// breaks anywhere costs nothing but time: on the next one each job asks where it stands and goes on. On the line's
// thread.
#include <QObject>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "launcher/executor.h"
#include "launcher/hosts/host.h"
#include "launcher/remote/agent_client.h"
#include "launcher/remote/mirror.h"
#include "launcher/remote/packed_data.h"
#include "launcher/remote/upload.h"

namespace loom {

class RemoteJobs : public QObject {
 public:
  struct Listener {
    std::function<void(const QString& id, const QString& sentence, double share)> stage;
    std::function<void(const QString& id, const JobFile& file)> started;
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
  void command(const QString& id, const Json& command);
  void cancel(const QString& id, const char* how);  // "stop", "kill"
  void told(const Json& header, const QByteArray& bytes);

 private:
  struct Remote {
    JobOrder order;
    Mirror mirror;
    bool perhapsThere = false;  // the host may have this start
    bool known = false;         // it has
    std::vector<Json> wishes;   // not yet said to the host
    std::thread packing;
    std::shared_ptr<std::atomic<bool>> calledOff = std::make_shared<std::atomic<bool>>(false);
    std::optional<QList<PackedData>> data;
    QHash<QString, QString> places;  // dataset -> on the host
    std::shared_ptr<Upload> upload;
    qint64 sentBefore = 0;
    QString phase;
    std::string killed;  // "stop" or "kill" before the host had it
  };
  Remote* find(const QString& id);
  void advance(const QString& id);
  void pack(const QString& id);
  void send(const QString& id);
  void start(const QString& id);
  void follow(const QString& id);
  void sayWishes(const QString& id);
  void state(const QString& id, const Json& state);
  void refuse(const QString& id, const QString& sentence);
  void end(const QString& id, const JobEnd& end);

  Host m_host;
  Listener m_listener;
  AgentClient* m_agent = nullptr;
  QString m_program, m_base;
  std::map<QString, std::unique_ptr<Remote>> m_jobs;
};

}  // namespace loom
