#include "app/pages/data/prepare_measure.h"

#include <QDateTime>
#include <QFileInfo>

#include "engine/base/error.h"
#include "engine/data/stats.h"
#include "engine/network/dataset_rows.h"

namespace loom {

void PrepareMeasure::ask(const QString& csv, const DatasetSpec& spec, const std::vector<Json>& steps) {
  const std::string key =
      QStringLiteral("%1|%2|").arg(csv).arg(QFileInfo(csv).lastModified().toMSecsSinceEpoch()).toStdString() +
      spec.extra.dump() + Json(steps).dump();
  if (const auto answered = m_answers.find(key); answered != m_answers.end()) {
    m_task.forget();
    Q_EMIT known(steps, answered->second);
    return;
  }
  m_task.ask([this, key, spec, steps,
              path = std::filesystem::path(csv.toStdString())](const std::atomic<bool>&) -> NewestTask::Answer {
    try {
      return [this, key, steps, found = measurePrepare(*openRows(spec, path, steps), steps)] {
        m_answers[key] = found;
        Q_EMIT known(steps, found);
      };
    } catch (const Error& error) {
      return [this, steps, why = QString::fromUtf8(error.what())] { Q_EMIT failed(steps, why); };
    }
  });
}

}  // namespace loom
