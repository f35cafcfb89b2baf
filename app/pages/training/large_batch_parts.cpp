#include "app/pages/training/large_batch_parts.h"

#include <QHeaderView>
#include <QHelpEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "widgets/chart/format.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kPartRow = 24, kWaitBar = 14, kWaitGap = 2;
constexpr int kRatioRole = Qt::UserRole, kOneRole = Qt::UserRole + 1;
constexpr int kLostInHalf = -25;  // 2^-25 and below are 0 in f16

// A dot on a line from the least to the largest ratio of all layers; a stroke where 1 is.
class RatioDelegate : public QStyledItemDelegate {
 public:
  RatioDelegate(const Theme& theme, QObject* parent) : QStyledItemDelegate(parent), m_theme(theme) {}
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyledItemDelegate::paint(painter, option, index);
    const QRectF room = QRectF(option.rect).adjusted(10, 0, -10, 0);
    const auto at = [&](int role) {
      return room.left() + std::clamp(index.data(role).toDouble(), 0.0, 1.0) * room.width();
    };
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(m_theme.hairline(Colour::grid));
    painter->drawLine(QPointF(room.left(), room.center().y()), QPointF(room.right(), room.center().y()));
    if (index.data(kOneRole).toDouble() >= 0) {
      painter->setPen(m_theme.hairline(Colour::axis));
      painter->drawLine(QPointF(at(kOneRole), option.rect.top()), QPointF(at(kOneRole), option.rect.bottom()));
    }
    painter->setPen(Qt::NoPen);
    painter->setBrush(m_theme.curveColour(0));
    painter->drawEllipse(QPointF(at(kRatioRole), room.center().y()), 4, 4);
    painter->restore();
  }

 private:
  const Theme& m_theme;
};

void prepareTable(QTableWidget& table, const QStringList& heads) {
  table.setColumnCount(static_cast<int>(heads.size()));
  table.setHorizontalHeaderLabels(heads);
  table.verticalHeader()->hide();
  table.verticalHeader()->setDefaultSectionSize(kPartRow);
  table.horizontalHeader()->setDefaultAlignment(Qt::AlignRight | Qt::AlignVCenter);
  table.horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  table.horizontalHeaderItem(0)->setTextAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  table.setShowGrid(false);
  table.setFrameShape(QFrame::NoFrame);
  table.setEditTriggers(QAbstractItemView::NoEditTriggers);
  table.setSelectionBehavior(QAbstractItemView::SelectRows);
  table.setSelectionMode(QAbstractItemView::SingleSelection);
  table.setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

QTableWidgetItem& cellOf(QTableWidget& table, int row, int column) {
  QTableWidgetItem* item = table.item(row, column);
  if (!item) table.setItem(row, column, item = new QTableWidgetItem);
  return *item;
}

void setNumberIn(QTableWidget& table, int row, int column, const QString& text, const Theme& theme) {
  QTableWidgetItem& item = cellOf(table, row, column);
  item.setText(text);
  item.setFont(theme.numberFont(FontRole::label));
  item.setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
}

// "⁻²⁵": a power as it is written.
QString superscript(int power) {
  const QString digits = QStringLiteral("⁰¹²³⁴⁵⁶⁷⁸⁹");
  QString text = power < 0 ? QStringLiteral("⁻") : QString();
  for (const QChar each : QString::number(std::abs(power))) text += digits[each.digitValue()];
  return text;
}

QString bucketTime(const std::optional<double>& seconds) {
  if (!seconds) return QStringLiteral("–");
  return *seconds < 1e-3 ? formatSignificant(*seconds * 1e6, 2) + QStringLiteral("\u202Fµs") : formatDuration(*seconds);
}

}  // namespace

WaitBar::WaitBar(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("What a step's time is"));
  connect(&Theme::of(this), &Theme::changed, this, [this] { update(); });
}

void WaitBar::setShares(const WaitingShares& shares) {
  m_shares = shares;
  update();
}

void WaitBar::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const double data = m_shares.data.value_or(0), exchange = m_shares.exchange.value_or(0);
  struct Part {
    QString name;
    double share;
    QColor colour;
    bool known;
  };
  const Part parts[] = {
      {tr("compute"), std::max(0.0, 1 - data - exchange), theme.palette().compute, m_shares.steps > 0},
      {tr("all-reduce"), exchange, theme.palette().allReduce, m_shares.exchange.has_value()},
      {tr("data"), data, theme.palette().dataWait, m_shares.data.has_value()}};
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.colour(Colour::sunken));
  const QRectF bar(0, 2, width(), kWaitBar);
  painter.drawRoundedRect(bar, 3, 3);
  double left = 0;
  for (const Part& part : parts) {
    if (!part.known || !(part.share > 0)) continue;
    const double wide = std::max(1.0, part.share * width());
    painter.setBrush(part.colour);
    painter.drawRoundedRect(QRectF(left, bar.top(), std::max(1.0, std::min(wide, width() - left) - kWaitGap), kWaitBar),
                            2, 2);
    left += wide;
  }
  const double column = width() / 3.0;
  for (int i = 0; i < 3; ++i) {
    const double x = i * column;
    painter.setPen(Qt::NoPen);
    painter.setBrush(parts[i].colour);
    painter.drawRoundedRect(QRectF(x, 25, 8, 12), 2, 2);
    painter.setFont(theme.font(FontRole::label));
    painter.setPen(theme.colour(Colour::text2));
    painter.drawText(QRectF(x + 14, 22, column - 16, 18), Qt::AlignLeft | Qt::AlignVCenter, parts[i].name);
    painter.setFont(theme.numberFont(FontRole::label));
    painter.setPen(theme.colour(Colour::text));
    painter.drawText(QRectF(x + 14, 39, column - 16, 18), Qt::AlignLeft | Qt::AlignVCenter,
                     parts[i].known ? formatPercent(parts[i].share, 1) : QStringLiteral("–"));
  }
}

MagnitudeBars::MagnitudeBars(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setAccessibleName(tr("How many gradients lie in each power of 2"));
  connect(&Theme::of(this), &Theme::changed, this, [this] { update(); });
}

void MagnitudeBars::setMagnitudes(const std::optional<GradientMagnitudes>& magnitudes) {
  m_magnitudes = magnitudes;
  update();
}

QRectF MagnitudeBars::frame() const {
  return QRectF(0, 4, width(), height() - 24);
}

std::pair<int, int> MagnitudeBars::shown() const {
  const std::vector<double>& counts = m_magnitudes->counts;
  const auto some = [](double count) { return count > 0; };
  const auto first = std::find_if(counts.begin(), counts.end(), some);
  const auto last = std::find_if(counts.rbegin(), counts.rend(), some);
  if (first == counts.end()) return {0, static_cast<int>(counts.size())};
  return {static_cast<int>(first - counts.begin()), static_cast<int>(counts.rend() - last)};
}

void MagnitudeBars::paintEvent(QPaintEvent*) {
  if (!m_magnitudes) return;
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  const QRectF area = frame();
  const auto [first, behind] = shown();
  const double wide = area.width() / std::max(1, behind - first);
  const double most = *std::max_element(m_magnitudes->counts.begin(), m_magnitudes->counts.end());
  painter.setFont(theme.numberFont(FontRole::axis));
  double free = -1e9;
  for (int i = first; i < behind; ++i) {
    const int power = m_magnitudes->from + i;
    const bool lost = power < kLostInHalf, saved = lost && power + std::log2(m_magnitudes->scale) >= kLostInHalf;
    const double high = most > 0 ? area.height() * m_magnitudes->counts[static_cast<std::size_t>(i)] / most : 0;
    const QRectF bar(area.left() + (i - first) * wide, area.bottom() - high, std::max(1.0, wide - 1), high);
    painter.fillRect(bar, lost ? theme.colour(Colour::error, saved ? 0.45 : 1) : theme.curveColour(0));
    if (power % 5 != 0) continue;
    const QString text = QStringLiteral("2") + superscript(power);
    const double at = bar.center().x(), half = painter.fontMetrics().horizontalAdvance(text) / 2.0 + 4;
    if (at - half < std::max(free, 0.0) || at + half > width()) continue;
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(QRectF(at - half, area.bottom() + 3, 2 * half, 16), Qt::AlignCenter, text);
    free = at + half;
  }
  painter.setPen(theme.hairline(Colour::axis));
  painter.drawLine(QPointF(area.left(), std::round(area.bottom()) + 0.5),
                   QPointF(area.right(), std::round(area.bottom()) + 0.5));
}

bool MagnitudeBars::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || !m_magnitudes) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto [first, behind] = shown();
  const int at = first + static_cast<int>(help->pos().x() * std::max(1, behind - first) / std::max(1, width()));
  double all = 0;
  for (const double count : m_magnitudes->counts) all += count;
  if (at >= first && at < behind && all > 0)
    QToolTip::showText(help->globalPos(),
                       tr("%1 of the gradients from 2%2 to 2%3")
                           .arg(formatPercent(m_magnitudes->counts[static_cast<std::size_t>(at)] / all, 2),
                                superscript(m_magnitudes->from + at), superscript(m_magnitudes->from + at + 1)),
                       this);
  return true;
}

RatioTable::RatioTable(const Theme& theme, QWidget* parent) : QTableWidget(parent), m_theme(theme) {
  prepareTable(*this, {tr("Layer"), {}, tr("Ratio")});
  horizontalHeader()->setSectionResizeMode(1, QHeaderView::Stretch);
  setItemDelegateForColumn(1, new RatioDelegate(theme, this));
  setAccessibleName(tr("Trust ratio by layer"));
  connect(&theme, &Theme::changed, viewport(), qOverload<>(&QWidget::update));
}

void RatioTable::setRatios(const std::vector<LayerRatio>& ratios) {
  double low = 1e300, high = 0;
  for (const LayerRatio& each : ratios) low = std::min(low, each.ratio), high = std::max(high, each.ratio);
  low = std::min(low, 1.0) / 1.2, high = std::max(high, 1.0) * 1.2;
  const auto place = [&](double ratio) { return std::log(ratio / low) / std::log(high / low); };
  if (rowCount() != static_cast<int>(ratios.size())) setRowCount(static_cast<int>(ratios.size()));
  for (int i = 0; i < rowCount(); ++i) {
    const LayerRatio& each = ratios[static_cast<std::size_t>(i)];
    cellOf(*this, i, 0).setText(each.name);
    cellOf(*this, i, 1).setData(kRatioRole, place(each.ratio));
    cellOf(*this, i, 1).setData(kOneRole, place(1));
    setNumberIn(*this, i, 2, formatSignificant(each.ratio, 3), m_theme);
  }
}

BucketTable::BucketTable(const Theme& theme, QWidget* parent) : QTableWidget(parent), m_theme(theme) {
  prepareTable(*this, {tr("Bucket"), tr("Numbers"), tr("Way"), tr("Sends"), tr("Predicted"), tr("Measured")});
  horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
  setAccessibleName(tr("Exchange by bucket"));
}

void BucketTable::setBuckets(const std::vector<ExchangedBucket>& buckets) {
  setRowCount(static_cast<int>(buckets.size()));
  for (int i = 0; i < rowCount(); ++i) {
    const ExchangedBucket& each = buckets[static_cast<std::size_t>(i)];
    cellOf(*this, i, 0).setText(each.label);
    cellOf(*this, i, 0).setToolTip(each.label);
    setNumberIn(*this, i, 1, formatCount(each.numbers), m_theme);
    cellOf(*this, i, 2).setText(each.reduction);
    cellOf(*this, i, 2).setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    setNumberIn(*this, i, 3, formatBytes(each.bytes), m_theme);
    setNumberIn(*this, i, 4, bucketTime(each.predicted), m_theme);
    setNumberIn(*this, i, 5, bucketTime(each.least), m_theme);
  }
}

}  // namespace loom
