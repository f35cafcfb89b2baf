#pragma once
// What a host's jobs need on its way there, data and the parts of a run that goes on: packed one project after the
// other on one thread, and each file sent once, however many jobs wait for it. A line that breaks ends the sending;
// what is packed stays so. On the line's thread.
#include <QHash>
#include <QObject>
#include <QStringList>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "launcher/remote/agent_client.h"
#include "launcher/remote/packed_data.h"
#include "launcher/remote/upload.h"

namespace loom {

// The project of a run's folder. Throws Error(missingFile).
QByteArray readProject(const QString& file);

// What a job needs; both are paths on this machine.
struct Freight {
  QString project;  // its datasets; empty = none
  QString run;      // the parts of the run in this folder; empty = none
};

struct Delivered {
  QHash<QString, QString> data;   // dataset -> where it lies there
  QHash<QString, QString> parts;  // file of the run -> its hash, by which the host has it
};

class DataDelivery : public QObject {
 public:
  struct Listener {
    std::function<void(const QString& id, const QString& sentence, double share)> stage;
    std::function<void(const QString& id, const Delivered& delivered)> done;
    std::function<void(const QString& id, const QString& sentence)> failed;
  };
  explicit DataDelivery(Listener listener) : m_listener(std::move(listener)) {}
  ~DataDelivery() override;

  void online(AgentClient& agent) { m_agent = &agent; }
  void offline();
  // It is to be there. Asked for again: goes on where it stands.
  void want(const QString& id, const Freight& freight);
  // The host may have moved these parts to where they belong: they would be sent anew.
  void taken(const QHash<QString, QString>& parts);
  void forget(const QString& id);

 private:
  struct Order {
    Freight freight;
    std::optional<QList<PackedData>> data;
  };
  void packNext();
  void packed(const QString& id, const QList<PackedData>& data, const QString& fault);
  void send(const QString& id);
  void upload(const PackedData& data);
  void tellProgress(const QString& sha256, qint64 sent);
  QStringList waitingFor(const QString& sha256) const;

  Listener m_listener;
  AgentClient* m_agent = nullptr;
  std::map<QString, Order> m_orders;
  QStringList m_toPack;
  QString m_packing;  // whose data is being packed now
  std::thread m_thread;
  std::shared_ptr<std::atomic<bool>> m_calledOff;        // the packing
  QHash<QString, QString> m_places;                      // hash -> on the host, as this connection knows
  std::map<QString, std::shared_ptr<Upload>> m_uploads;  // by hash
};

}  // namespace loom
