#include "launcher/event_pump.h"

#include <QHash>
#include <QTimer>

#include "engine/base/error.h"

namespace loom {
namespace {

constexpr int kLookMs = 40;
constexpr std::size_t kBatch = 4000;  // events: about 20 ms of the window's thread to store

}  // namespace

// Lives on the pump's thread; only reached by queued calls.
class EventPumpWorker : public QObject {
 public:
  explicit EventPumpWorker(EventPump& pump) : m_pump(pump) {}

  void follow(const QString& id, const QString& folder, std::int64_t offset, const std::string& mark) {
    if (m_followed.contains(id)) return;
    m_followed.insert(id, Followed{RunFolder{folder.toStdString()}.eventsFile(), mark, offset});
    if (!m_timer) {
      m_timer = new QTimer(this);
      m_timer->setTimerType(Qt::PreciseTimer);
      connect(m_timer, &QTimer::timeout, this, &EventPumpWorker::look);
    }
    m_timer->start(kLookMs);
    read(id);
  }

  void unfollow(const QString& id) {
    m_followed.remove(id);
    if (m_followed.isEmpty() && m_timer) m_timer->stop();
  }

  void drain(const QString& id) {
    const auto at = m_followed.find(id);
    if (at == m_followed.end()) return;
    at->draining = true;
    read(id);
  }

  void taken(const QString& id) {
    const auto at = m_followed.find(id);
    if (at == m_followed.end()) return;
    at->underway = false;
    if (at->more || at->draining) read(id);
  }

 private:
  struct Followed {
    std::filesystem::path file;
    std::string mark;
    std::int64_t offset = 0;
    std::int64_t size = -1;
    bool underway = false, more = false, draining = false, told = false;
  };

  void look() {
    for (const QString& id : m_followed.keys()) read(id);
  }

  void read(const QString& id) {
    const auto at = m_followed.find(id);
    if (at == m_followed.end() || at->underway) return;
    std::error_code none;
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(at->file, none));
    if (!none && (size != at->size || at->more || at->draining)) {
      at->size = size;
      try {
        auto batch = std::make_shared<EventBatch>(readBatch(at->file, at->offset, kBatch, at->mark));
        if (batch->isAnother) {
          unfollow(id);
          Q_EMIT m_pump.replaced(id);
          return;
        }
        at->offset = batch->to;
        at->mark = batch->mark;
        at->more = !batch->atEnd;
        at->told = false;
        if (!batch->rows.empty() || !batch->others.empty() || batch->skipped > 0) {
          at->underway = true;
          Q_EMIT m_pump.batch(id, batch);
          return;
        }
      } catch (const Error& error) {
        if (!at->told) Q_EMIT m_pump.failed(id, QString::fromStdString(error.what()));
        at->told = true;
        at->more = false;
      }
    }
    if (at->draining && !at->more) {
      at->draining = false;
      Q_EMIT m_pump.drained(id);
    }
  }

  EventPump& m_pump;
  QHash<QString, Followed> m_followed;
  QTimer* m_timer = nullptr;
};

EventPump::EventPump(QObject* parent) : QObject(parent), m_worker(new EventPumpWorker(*this)) {
  qRegisterMetaType<std::shared_ptr<EventBatch>>();
  m_worker->moveToThread(&m_thread);
  connect(&m_thread, &QThread::finished, m_worker, &QObject::deleteLater);
  m_thread.setObjectName("event pump");
  m_thread.start();
}

EventPump::~EventPump() {
  m_thread.quit();
  m_thread.wait();
}

void EventPump::follow(const QString& id, const QString& folder, std::int64_t offset, const std::string& mark) {
  QMetaObject::invokeMethod(
      m_worker, [worker = m_worker, id, folder, offset, mark] { worker->follow(id, folder, offset, mark); });
}
void EventPump::unfollow(const QString& id) {
  QMetaObject::invokeMethod(m_worker, [worker = m_worker, id] { worker->unfollow(id); });
}
void EventPump::drain(const QString& id) {
  QMetaObject::invokeMethod(m_worker, [worker = m_worker, id] { worker->drain(id); });
}
void EventPump::taken(const QString& id) {
  QMetaObject::invokeMethod(m_worker, [worker = m_worker, id] { worker->taken(id); });
}

}  // namespace loom
