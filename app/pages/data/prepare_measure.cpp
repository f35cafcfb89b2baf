#include "app/pages/data/prepare_measure.h"

#include <QFileInfo>
#include <QDateTime>

#include "engine/base/error.h"
#include "engine/data/stats.h"
#include "engine/network/dataset_rows.h"

namespace loom {

void PrepareMeasure::ask(const QString& csv, const DatasetSpec& spec, const std::vector<Json>& steps) {
  Question question{QStringLiteral("%1|%2|").arg(csv).arg(QFileInfo(csv).lastModified().toMSecsSinceEpoch()).toStdString() + spec.extra.dump() + Json(steps).dump(),
                    csv.toStdString(), spec, steps};
  if (const auto answered = m_answers.find(question.key); answered != m_answers.end()) {
    m_next.reset();
    Q_EMIT known(steps, answered->second);
  } else if (m_busy) {
    m_next = std::make_unique<Question>(std::move(question));
  } else {
    start(std::move(question));
  }
}

void PrepareMeasure::start(Question question) {
  if (m_thread.joinable()) m_thread.join();  // it has posted its answer: this takes no time
  m_busy = true;
  m_thread = std::jthread([this, question = std::move(question)] {
    std::vector<Json> steps;
    QString why;
    try {
      steps = measurePrepare(*rowsOf(question.spec, openDataset(question.csv)), question.steps);
    } catch (const Error& error) {
      why = QString::fromUtf8(error.what());
    }
    QMetaObject::invokeMethod(this, [this, key = question.key, asked = question.steps, steps, why] {
      m_busy = false;
      if (why.isEmpty()) m_answers[key] = steps;
      if (m_next) {
        const std::unique_ptr<Question> next = std::move(m_next);
        start(std::move(*next));
        return;
      }
      if (why.isEmpty()) Q_EMIT known(asked, steps);
      else Q_EMIT failed(asked, why);
    }, Qt::QueuedConnection);
  });
}

}  // namespace loom
