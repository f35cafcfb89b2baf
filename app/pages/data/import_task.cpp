#include "app/pages/data/import_task.h"

namespace loom {

void ImportTask::start(QString what, Work work) {
  m_waiting.emplace_back(std::move(what), std::move(work));
  if (!running()) next();
}

void ImportTask::next() {
  m_running.reset();
  if (m_waiting.empty()) return;
  Work work = std::move(m_waiting.front().second);
  m_what = std::move(m_waiting.front().first);
  m_waiting.pop_front();
  m_running.emplace(this);
  m_running->start([work = std::move(work)](const Background<ImportTask>& here) {
    ImportOptions options;
    options.progress = [&here](std::int64_t done, std::int64_t total) {
      here.post([done, total](ImportTask& task) { Q_EMIT task.progressed(done, total); });
      return !here.cancelled();
    };
    try {
      const ImportResult result = work(options);
      here.post([csv = QString::fromStdString(result.csv.string()), rows = result.rows,
                 left = QString::fromStdString(leftOutText(result))](ImportTask& task) {
        task.next();
        Q_EMIT task.finished(csv, rows, left);
      });
    } catch (const std::exception& error) {
      here.post([message = QString::fromUtf8(error.what())](ImportTask& task) {
        task.next();
        Q_EMIT task.failed(message);
      });
    }
  });
}

void ImportTask::cancel() {
  m_waiting.clear();
  if (m_running) m_running->cancel();
  m_running.reset();
}

}  // namespace loom
