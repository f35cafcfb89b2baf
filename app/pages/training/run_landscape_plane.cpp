// The plane of a landscape, and the table of either.
#include <QLabel>
#include <algorithm>
#include <cmath>
#include <limits>

#include "app/pages/training/run_landscape.h"
#include "widgets/chart/format.h"
#include "widgets/controls/segmented_control.h"

namespace loom {

void RunLandscape::displayPlane(const Found& found, const QString& run, bool here) {
  const bool validation = !found.points.isEmpty() && found.points.front().validated && m_losses->current() == 1;
  HeatMap map{.title = tr("Loss around %1").arg(run),
              .subtitle = validation ? tr("validation") : tr("training"),
              .xName = tr("first direction, in lengths of each filter's weights"),
              .yName = tr("second direction"),
              .valueName = validation ? tr("validation loss") : tr("training loss"),
              .columns = found.along,
              .rows = found.along};
  map.values.assign(static_cast<std::size_t>(found.along * found.along), std::numeric_limits<double>::quiet_NaN());
  map.empty = tr("The first points are being measured");
  const Point* least = nullptr;
  const Point* centre = nullptr;
  for (qsizetype i = 0; i < std::min<qsizetype>(found.points.size(), found.along * found.along); ++i) {
    const Point& each = found.points[i];
    const double loss = validation ? each.validation : each.training;
    if (std::isfinite(loss)) map.values[static_cast<std::size_t>(i)] = loss;
    if (std::abs(each.a) < 1e-9 && std::abs(each.b) < 1e-9) centre = &each;
    if (std::isfinite(each.training) && (!least || each.training < least->training)) least = &each;
  }
  m_plane->setMap(std::move(map));
  QString text;
  if (centre) text = tr("Training loss %1 at the run itself (the ring). ").arg(formatLoss(centre->training));
  if (least && found.whole && least != centre)
    text += tr("The least of these points is %1 at %2, %3. ")
                .arg(formatLoss(least->training), formatFixed(least->a, 2), formatFixed(least->b, 2));
  if (!found.points.isEmpty())
    text += tr("%1 by %1 points on %2; each filter's directions are as long as its weights, biases and normalisations "
               "stay; running statistics as trained.")
                .arg(found.along)
                .arg(found.samples);
  if (!found.points.isEmpty() && !found.whole && !here) text += tr(" It was stopped before its end.");
  m_words->setText(text);
  m_words->setVisible(!text.isEmpty());
}

QByteArray RunLandscape::tableOf(const Found& found) const {
  const bool plane = found.along > 0;
  QByteArray text = plane ? "first,second,training_loss,validation_loss\n" : "place,training_loss,validation_loss\n";
  const auto number = [](double value) { return QByteArray::number(value, 'g', 12); };
  for (const Point& each : found.points)
    text += number(each.a) + ',' + (plane ? number(each.b) + ',' : QByteArray()) + number(each.training) + ',' +
            (each.validated ? number(each.validation) : QByteArray()) + '\n';
  return text;
}

}  // namespace loom
