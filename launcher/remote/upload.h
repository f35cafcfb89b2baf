#pragma once
// One file on its way to a host's data folder: announced by its hash, sent from where an earlier try broke off, a few
// pieces ahead of their acknowledgements. On the line's thread; a line that breaks simply ends it, the next one
// announces it anew.
#include <QFile>
#include <functional>
#include <memory>

#include "launcher/remote/agent_client.h"
#include "launcher/remote/packed_data.h"

namespace loom {

class Upload : public std::enable_shared_from_this<Upload> {
 public:
  struct Listener {
    std::function<void(qint64 sent)> progress;
    std::function<void(const QString& path)> done;        // where it lies on the host
    std::function<void(const QString& sentence)> failed;  // the host will not have it, or the file is gone
  };
  Upload(AgentClient& agent, PackedData data, Listener listener)
      : m_agent(agent), m_data(std::move(data)), m_listener(std::move(listener)), m_file(m_data.file) {}

  void begin();
  void cancel() { m_over = true; }

 private:
  void taken(const Json& header);
  void sendMore();
  void fail(const QString& sentence);

  AgentClient& m_agent;
  PackedData m_data;
  Listener m_listener;
  QFile m_file;
  qint64 m_sent = 0, m_acknowledged = 0;
  bool m_over = false;
};

}  // namespace loom
