#include "widgets/preview/share_bars.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>

#include "widgets/chart/format.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kShareRow = 22, kShareBar = 8, kShareGap = 10;

}  // namespace

ShareBars::ShareBars(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  connect(&Theme::of(this), &Theme::changed, this, [this] {
    updateGeometry();
    update();
  });
}

void ShareBars::setShares(const QList<Share>& shares, const QString& mark) {
  m_shares = shares;
  m_mark = mark;
  QStringList words;
  for (const Share& each : shares)
    words << each.name + ' ' + formatPercent(each.share) +
                 (each.marked ? QStringLiteral(" (%1)").arg(mark) : QString());
  setAccessibleName(words.join(QStringLiteral(", ")));
  updateGeometry();
  update();
}

QSize ShareBars::sizeHint() const {
  const int row = std::max(kShareRow, QFontMetrics(Theme::of(this).font(FontRole::body)).height() + 4);
  return {260, static_cast<int>(m_shares.size()) * row};
}

void ShareBars::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QFont words = theme.font(FontRole::body), numbers = theme.numberFont(FontRole::label);
  const QFontMetricsF metrics(words);
  const double row = m_shares.isEmpty() ? 0 : static_cast<double>(height()) / static_cast<double>(m_shares.size());
  double widest = 0;
  for (const Share& each : m_shares) widest = std::max(widest, metrics.horizontalAdvance(each.name));
  const bool anyMarked = std::any_of(m_shares.begin(), m_shares.end(), [](const Share& each) { return each.marked; });
  const double mark = anyMarked ? metrics.horizontalAdvance(m_mark) + kShareGap : 0;
  const double percent = QFontMetricsF(numbers).horizontalAdvance(formatPercent(1)) + 2;
  const double names = std::min(widest, width() * 0.45);
  const double left = names + mark + kShareGap, right = width() - percent - kShareGap;
  for (int i = 0; i < m_shares.size(); ++i) {
    const Share& each = m_shares[i];
    const double top = i * row;
    painter.setFont(i == 0 ? Theme::withWeight(words, 600) : words);
    painter.setPen(theme.colour(i == 0 ? Colour::text : Colour::text2));
    painter.drawText(QRectF(0, top, names + 2, row), Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(each.name, Qt::ElideMiddle, names + 2));
    if (each.marked) {
      painter.setFont(words);
      painter.setPen(theme.colour(Colour::ok));
      painter.drawText(QRectF(names + kShareGap, top, mark, row), Qt::AlignLeft | Qt::AlignVCenter, m_mark);
    }
    painter.setFont(numbers);
    painter.setPen(theme.colour(i == 0 ? Colour::text : Colour::text2));
    painter.drawText(QRectF(width() - percent, top, percent, row), Qt::AlignRight | Qt::AlignVCenter,
                     formatPercent(each.share));
    if (right - left < 16) continue;
    const QRectF bar(left, top + (row - kShareBar) / 2, right - left, kShareBar);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.colour(Colour::sunken));
    painter.drawRoundedRect(bar, kShareBar / 2.0, kShareBar / 2.0);
    const double filled = std::clamp(each.share, 0.0, 1.0) * bar.width();
    if (filled < 0.5) continue;
    painter.setBrush(theme.colour(i == 0 ? Colour::accent : Colour::control));
    painter.drawRoundedRect(QRectF(bar.left(), bar.top(), std::max<double>(filled, 2), bar.height()), kShareBar / 2.0,
                            kShareBar / 2.0);
  }
}

}  // namespace loom
