#include "launcher/remote/data_delivery.h"

#include <QFile>

#include "engine/base/error.h"

namespace loom {
namespace {

double mebibytes(qint64 bytes) {
  return static_cast<double>(bytes) / 1048576.0;
}

}  // namespace

QByteArray readProject(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly))
    throwError(ErrorCode::missingFile, "the run's project {} cannot be read: {}", path.toStdString(),
               file.errorString().toStdString());
  return file.readAll();
}

DataDelivery::~DataDelivery() {
  if (m_calledOff) *m_calledOff = true;
  if (m_thread.joinable()) m_thread.join();
  offline();
}

void DataDelivery::offline() {
  m_agent = nullptr;
  for (const auto& [sha256, upload] : std::exchange(m_uploads, {})) upload->cancel();
  m_places.clear();
}

void DataDelivery::want(const QString& id, const Freight& freight) {
  if (m_orders.count(id)) return send(id);
  m_orders[id].freight = freight;
  m_toPack << id;
  if (!m_packing.isEmpty())
    m_listener.stage(id, QStringLiteral("Its data is packed after that of the runs before it"), -1);
  packNext();
}

void DataDelivery::taken(const QHash<QString, QString>& parts) {
  for (const QString& sha256 : parts) m_places.remove(sha256);
}

void DataDelivery::forget(const QString& id) {
  if (m_packing == id) *m_calledOff = true;
  m_toPack.removeAll(id);
  m_orders.erase(id);
  for (auto each = m_uploads.begin(); each != m_uploads.end();) {
    if (!waitingFor(each->first).isEmpty()) {
      ++each;
      continue;
    }
    each->second->cancel();
    each = m_uploads.erase(each);
  }
}

void DataDelivery::packNext() {
  if (!m_packing.isEmpty() || m_toPack.isEmpty()) return;
  const QString id = m_packing = m_toPack.takeFirst();
  if (m_thread.joinable()) m_thread.join();  // it has said its last word
  m_calledOff = std::make_shared<std::atomic<bool>>(false);
  m_thread = std::thread([this, id, freight = m_orders[id].freight, calledOff = m_calledOff] {
    const auto say = [this, calledOff](auto work) {
      QMetaObject::invokeMethod(
          this,
          [calledOff, work] {
            if (!*calledOff) work();
          },
          Qt::QueuedConnection);
    };
    QList<PackedData> data;
    QString fault;
    try {
      const auto progress = [&](const QString& sentence) {
        say([this, id, sentence] { m_listener.stage(id, sentence, -1); });
        return !*calledOff;
      };
      if (!freight.project.isEmpty()) data = packData(readProject(freight.project), progress);
      if (!freight.run.isEmpty()) data += packRun(freight.run, progress);
    } catch (const std::exception& error) {
      fault = QString::fromUtf8(error.what());
    }
    say([this, id, data, fault] { packed(id, data, fault); });
    QMetaObject::invokeMethod(
        this,
        [this] {
          m_packing.clear();
          packNext();
        },
        Qt::QueuedConnection);
  });
}

void DataDelivery::packed(const QString& id, const QList<PackedData>& data, const QString& fault) {
  const auto order = m_orders.find(id);
  if (order == m_orders.end()) return;
  if (!fault.isEmpty()) return m_listener.failed(id, fault);
  order->second.data = data;
  send(id);
}

void DataDelivery::send(const QString& id) {
  const auto order = m_orders.find(id);
  if (order == m_orders.end() || !order->second.data || !m_agent) return;
  Delivered delivered;
  for (const PackedData& each : *order->second.data) {
    const auto place = m_places.constFind(each.sha256);
    if (place == m_places.constEnd()) return upload(each);
    if (each.part.isEmpty())
      delivered.data[each.dataset] = *place;
    else
      delivered.parts[each.part] = each.sha256;
  }
  m_listener.done(id, delivered);
}

QStringList DataDelivery::waitingFor(const QString& sha256) const {
  QStringList ids;
  for (const auto& [id, order] : m_orders)
    if (order.data && std::any_of(order.data->begin(), order.data->end(),
                                  [&](const PackedData& each) { return each.sha256 == sha256; }))
      ids << id;
  return ids;
}

void DataDelivery::tellProgress(const QString& sha256, qint64 sent) {
  for (const QString& id : waitingFor(sha256)) {
    qint64 total = 0, there = sent;
    QString name;
    QStringList counted;  // two datasets of the same rows travel once
    for (const PackedData& each : *m_orders[id].data) {
      if (each.sha256 == sha256 && name.isEmpty()) name = each.dataset;
      if (counted.contains(each.sha256)) continue;
      counted << each.sha256;
      total += each.size;
      if (m_places.contains(each.sha256)) there += each.size;
    }
    m_listener.stage(id,
                     QStringLiteral("Uploading %1: %2 of %3 MiB")
                         .arg(name)
                         .arg(mebibytes(there), 0, 'f', 1)
                         .arg(mebibytes(total), 0, 'f', 1),
                     total > 0 ? static_cast<double>(there) / static_cast<double>(total) : -1);
  }
}

void DataDelivery::upload(const PackedData& data) {
  if (m_uploads.count(data.sha256)) return;  // under way for another job: it tells this one too
  const QString sha256 = data.sha256;
  const auto fresh = std::make_shared<Upload>(
      *m_agent, data,
      Upload::Listener{
          .progress = [this, sha256](qint64 sent) { tellProgress(sha256, sent); },
          .done =
              [this, sha256](const QString& path) {
                m_uploads.erase(sha256);
                m_places[sha256] = path;
                for (const QString& id : waitingFor(sha256)) send(id);
              },
          .failed =
              [this, sha256, name = data.part.isEmpty() ? "dataset " + data.dataset : data.part + " of the run"](
                  const QString& sentence) {
                m_uploads.erase(sha256);
                for (const QString& id : waitingFor(sha256))
                  m_listener.failed(id, QStringLiteral("%1 cannot be sent: %2").arg(name, sentence));
              }});
  m_uploads[sha256] = fresh;
  fresh->begin();
}

}  // namespace loom
