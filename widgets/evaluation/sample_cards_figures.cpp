// What stands on a card beside its picture.
#include <QPainter>
#include <algorithm>

#include "widgets/chart/format.h"
#include "widgets/evaluation/sample_cards.h"
#include "widgets/theme/theme.h"

namespace loom {

void SampleCards::paintShares(QPainter& painter, const EvaluatedSample& sample, const QRectF& rect) const {
  const Theme& theme = Theme::of(this);
  const QFont words = theme.font(FontRole::label), numbers = theme.numberFont(FontRole::label);
  const QFontMetricsF metrics(words), digits(numbers);
  const double line = rect.height() / 4, percent = digits.horizontalAdvance(QStringLiteral("100.0")) + 2;
  painter.setFont(words);
  painter.setPen(theme.colour(Colour::text3));
  painter.drawText(QRectF(rect.left(), rect.top(), rect.width(), line), Qt::AlignLeft | Qt::AlignVCenter, tr("true"));
  const double used = metrics.horizontalAdvance(tr("true")) + 5;
  const QString loss = formatLoss(sample.loss);
  painter.setPen(theme.colour(Colour::text));
  painter.drawText(
      QRectF(rect.left() + used, rect.top(), rect.width(), line), Qt::AlignLeft | Qt::AlignVCenter,
      metrics.elidedText(word(sample.truth), Qt::ElideRight, rect.width() - used - digits.horizontalAdvance(loss) - 6));
  painter.setFont(numbers);
  painter.drawText(QRectF(rect.left(), rect.top(), rect.width(), line), Qt::AlignRight | Qt::AlignVCenter, loss);
  // Always in this order, so that no colour is needed: what was said, what is true, what came next.
  struct Row {
    int of;
    double share;
    QColor colour;
  };
  std::vector<Row> rows{{sample.predicted, sample.predictedShare,
                         theme.colour(sample.predicted == sample.truth ? Colour::ok : Colour::error)}};
  if (sample.predicted != sample.truth) rows.push_back({sample.truth, sample.truthShare, theme.colour(Colour::ok)});
  if (sample.next >= 0) rows.push_back({sample.next, sample.nextShare, theme.colour(Colour::control)});
  const double names = rect.width() * 0.36;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double top = rect.top() + line * static_cast<double>(i + 1);
    painter.setFont(words);
    painter.setPen(theme.colour(i == 0 ? Colour::text : Colour::text2));
    painter.drawText(QRectF(rect.left(), top, names, line), Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(word(rows[i].of), Qt::ElideRight, names - 4));
    painter.setFont(numbers);
    painter.drawText(QRectF(rect.left(), top, rect.width(), line), Qt::AlignRight | Qt::AlignVCenter,
                     formatFixed(100 * rows[i].share, 1));
    const QRectF bar(rect.left() + names, top + line / 2 - 2.5, rect.width() - names - percent - 6, 5);
    if (bar.width() < 8) continue;
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.colour(Colour::sunken));
    painter.drawRoundedRect(bar, 2.5, 2.5);
    painter.setBrush(rows[i].colour);
    painter.drawRoundedRect(QRectF(bar.topLeft(), QSizeF(std::max(2.0, bar.width() * rows[i].share), bar.height())),
                            2.5, 2.5);
  }
}

// Of a class for each place: how much of it is right, and the place that is worst.
void SampleCards::paintMap(QPainter& painter, const EvaluatedSample& sample, const QRectF& rect) const {
  const Theme& theme = Theme::of(this);
  const std::pair<QString, QString> rows[] = {{tr("IoU"), formatPercent(sample.iou, 1)},
                                              {tr("right"), formatPercent(sample.rightShare, 1)},
                                              {tr("loss"), formatLoss(sample.loss)}};
  const QFont words = theme.font(FontRole::label);
  const QFontMetricsF metrics(words);
  const double line = metrics.height() + 4;
  double top = rect.top();
  for (const auto& [name, value] : rows) {
    const QRectF at(rect.left(), top, rect.width(), line);
    painter.setFont(words);
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(at, Qt::AlignLeft | Qt::AlignVCenter, name);
    painter.setFont(theme.numberFont(FontRole::label));
    painter.setPen(theme.colour(Colour::text));
    painter.drawText(at, Qt::AlignRight | Qt::AlignVCenter, value);
    top += line;
  }
  if (sample.truth == sample.predicted) return;
  painter.setFont(words);
  Colour ink = Colour::text3;
  for (const QString& each :
       {tr("worst place:"), tr("true %1").arg(word(sample.truth)), tr("predicted %1").arg(word(sample.predicted))}) {
    painter.setPen(theme.colour(ink));
    painter.drawText(QRectF(rect.left(), top, rect.width(), line), Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(each, Qt::ElideRight, rect.width()));
    top += line;
    ink = Colour::text2;
  }
}

void SampleCards::paintNumbers(QPainter& painter, const EvaluatedSample& sample, const QRectF& rect) const {
  const Theme& theme = Theme::of(this);
  const double line = rect.height() / 4;
  const QString of = m_output->words.size() > 1 ? word(sample.value) : QString();
  const std::pair<QString, QString> rows[] = {
      {tr("true"), formatShort(sample.trueValue)},
      {tr("predicted"), formatShort(sample.predictedValue)},
      {tr("off by"), formatShort(static_cast<double>(sample.trueValue) - sample.predictedValue)},
      {of.isEmpty() ? QString() : tr("value %1").arg(of), QString()}};
  for (int i = 0; i < 4; ++i) {
    const QRectF at(rect.left(), rect.top() + i * line, rect.width(), line);
    painter.setFont(theme.font(FontRole::label));
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(at, Qt::AlignLeft | Qt::AlignVCenter, rows[i].first);
    painter.setFont(theme.numberFont(FontRole::label));
    painter.setPen(theme.colour(Colour::text));
    painter.drawText(at, Qt::AlignRight | Qt::AlignVCenter, rows[i].second);
  }
}

}  // namespace loom
