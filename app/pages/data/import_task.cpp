#include "app/pages/data/import_task.h"

#include <QMetaObject>

#include "engine/base/error.h"

namespace loom {

void ImportTask::start(QString what, Work work) {
  cancel();
  m_what = std::move(what);
  m_done = false;
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
        m_done = true;
        Q_EMIT finished(csv, rows);
      });
    } catch (const std::exception& error) {
      post([this, message = QString::fromUtf8(error.what())] {
        m_done = true;
        Q_EMIT failed(message);
      });
    }
  });
}

void ImportTask::cancel() {
  if (m_cancelled) *m_cancelled = true;
  if (m_thread.joinable()) m_thread.join();
  m_done = true;
}

}  // namespace loom
