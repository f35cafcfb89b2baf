#include "app/run_display.h"

#include <QDateTime>
#include <cmath>

namespace loom {

Status statusOf(RunState state) {
  switch (state) {
    case RunState::queued:
      return Status::queued;
    case RunState::starting:
    case RunState::running:
    case RunState::stopping:
      return Status::running;
    case RunState::finished:
      return Status::ok;
    case RunState::stopped:
      return Status::stopped;
    case RunState::failed:
      return Status::failed;
  }
  return Status::queued;
}

QString titleOfMetric(const QString& metric) {
  QString title = metric.section('/', -1);
  title.replace('_', ' ');
  return title.left(1).toUpper() + title.mid(1);
}

QString formatMoment(double seconds) {
  const QDateTime moment = QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(seconds * 1000));
  const QDate today = QDate::currentDate();
  const QLocale locale = QLocale::c();
  if (moment.date() == today) return QObject::tr("today %1").arg(moment.toString("HH:mm"));
  if (moment.date() > today.addDays(-6)) return locale.toString(moment, "ddd HH:mm");
  return locale.toString(moment, "d MMM yyyy");
}

QString formatClock(double seconds) {
  return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(seconds * 1000)).toString("HH:mm:ss");
}

QString stateWords(const RunRecord& run) {
  if (run.state == RunState::running && run.stepsTotal > 0)
    return QObject::tr("Running %1%2%").arg(static_cast<int>(run.progress() * 100)).arg(kNarrowSpace);
  return toText(run.state);
}

double secondsSoFar(const RunRecord& run) {
  if (run.state != RunState::running || run.lastTime == 0) return run.duration;
  return run.duration + std::max(0.0, static_cast<double>(QDateTime::currentMSecsSinceEpoch()) / 1000 - run.lastTime);
}

double secondsLeft(const RunRecord& run) {
  if (run.step <= 0 || run.stepsTotal <= 0 || run.duration <= 0) return std::nan("");
  return run.duration / static_cast<double>(run.step) *
         static_cast<double>(std::max<std::int64_t>(0, run.stepsTotal - run.step));
}

}  // namespace loom
