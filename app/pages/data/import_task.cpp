#include "app/pages/data/import_task.h"

#include <QMetaObject>

#include "engine/base/error.h"

namespace loom {

void ImportTask::start(QString what, Work work) {
  m_waiting.emplace_back(std::move(what), std::move(work));
  if (!running()) next();
}

void ImportTask::next() {
  if (m_thread.joinable()) m_thread.join();
  m_done = m_waiting.empty();
  if (m_done) return;
  Work work = std::move(m_waiting.front().second);
  m_what = std::move(m_waiting.front().first);
  m_waiting.pop_front();
  m_cancelled = std::make_shared<std::atomic<bool>>(false);
  m_thread = std::jthread([this, work = std::move(work), cancelled = m_cancelled] {
    const auto post = [this, &cancelled](std::function<void()> done) {
      QMetaObject::invokeMethod(
          this, [cancelled, done = std::move(done)] { if (!*cancelled) done(); }, Qt::QueuedConnection);
    };
    ImportOptions options;
    options.progress = [this, &cancelled, &post](std::int64_t done, std::int64_t total) {
      post([this, done, total] { Q_EMIT progressed(done, total); });
      return !*cancelled;
    };
    try {
      const ImportResult result = work(options);
      post([this, csv = QString::fromStdString(result.csv.string()), rows = result.rows] {
        next();
        Q_EMIT finished(csv, rows);
      });
    } catch (const std::exception& error) {
      post([this, message = QString::fromUtf8(error.what())] {
        next();
        Q_EMIT failed(message);
      });
    }
  });
}

void ImportTask::cancel() {
  m_waiting.clear();
  if (m_cancelled) *m_cancelled = true;
  if (m_thread.joinable()) m_thread.join();
  m_done = true;
}

}  // namespace loom
