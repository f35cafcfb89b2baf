#pragma once
// The person's key agent with only some of its keys shown: IdentitiesOnly, where the library would offer all of them.
#include <QByteArray>
#include <QList>
#include <QString>
#include <thread>

namespace loom {

class AgentFilter {
 public:
  // `socket`: of the agent; one that does not answer is an agent without keys. `keys`: public halves as they travel.
  AgentFilter(const QString& socket, QList<QByteArray> keys);
  ~AgentFilter();
  AgentFilter(const AgentFilter&) = delete;
  AgentFilter& operator=(const AgentFilter&) = delete;

  int takeSocket();  // to be talked to as to the agent; the caller closes it

 private:
  void serve();
  QByteArray shown(const QByteArray& answer) const;

  QList<QByteArray> m_keys;
  int m_agent = -1, m_near = -1, m_far = -1;
  std::thread m_thread;
};

}  // namespace loom
