#include "app/pages/data/element_table.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollArea>
#include <QToolTip>
#include <algorithm>

#include "widgets/chart/format.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kMostRows = 256;
constexpr int kPitch = 24, kTwoLines = 34, kHead = 20, kMore = 19;
constexpr int kBars = 67, kBarsHeight = 15, kNumber = 50, kGap = 6;  // 17 bars of 3 px, 1 px apart
constexpr int kNone = -1;

}  // namespace

void paintHistogram(QPainter& painter, const QRectF& place, const std::vector<std::int64_t>& counts,
                    const QColor& colour) {
  if (counts.empty()) return;
  const auto most = static_cast<double>(std::max<std::int64_t>(1, *std::max_element(counts.begin(), counts.end())));
  const double pitch = (place.width() + 1) / static_cast<double>(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const double height = std::max(1.0, place.height() * static_cast<double>(counts[i]) / most);
    painter.fillRect(QRectF(place.left() + pitch * static_cast<double>(i), place.bottom() - height,
                            std::max(1.0, pitch - 1), height),
                     colour);
  }
}

ElementTable::ElementTable(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAccessibleName(QStringLiteral("Numbers of the vector"));
  connect(&Theme::of(this), &Theme::changed, this, [this] { update(); });
}

void ElementTable::setContent(const QStringList& names, const VariableStats& stats) {
  m_names = names;
  m_stats = stats;
  m_shown = std::min({kMostRows, static_cast<int>(stats.channels.size()), static_cast<int>(names.size())});
  m_chosen = m_hovered = kNone;
  updateGeometry();
  update();
}

int ElementTable::pitch() const {
  return wide() ? kPitch : kTwoLines;
}
int ElementTable::headHeight() const {
  return wide() ? kHead : 0;
}

int ElementTable::heightIn(int width) const {
  const bool roomy = width >= kWide;
  return (roomy ? kHead : 0) + m_shown * (roomy ? kPitch : kTwoLines) +
         (m_shown < static_cast<int>(m_stats.channels.size()) ? kMore : 0);
}

QRect ElementTable::place(int element) const {
  return {0, headHeight() + element * pitch(), width(), pitch()};
}

int ElementTable::elementAt(const QPoint& at) const {
  const int element = at.y() < headHeight() ? kNone : (at.y() - headHeight()) / pitch();
  return element < m_shown ? element : kNone;
}

void ElementTable::setChosen(int element) {
  m_chosen = element < m_shown ? element : kNone;
  setAccessibleDescription(m_chosen == kNone ? QString() : facts(m_chosen));
  update();
}

void ElementTable::choose(int element) {
  if (element == kNone || element == m_chosen) return;
  setChosen(element);
  for (QWidget* each = parentWidget(); each; each = each->parentWidget())
    if (auto* area = qobject_cast<QScrollArea*>(each)) {
      const QPoint at = mapTo(area->widget(), place(element).center());
      area->ensureVisible(at.x(), at.y(), 0, pitch());
      break;
    }
  Q_EMIT elementChosen(element);
}

QString ElementTable::facts(int element) const {
  const Moments& moments = m_stats.channels[static_cast<std::size_t>(element)];
  if (moments.low == moments.high)
    return QStringLiteral("%1: always %2").arg(m_names[element], formatShort(moments.low));
  return QStringLiteral("%1: %2 to %3, mean %4, deviation %5")
      .arg(m_names[element], formatShort(moments.low), formatShort(moments.high), formatShort(moments.mean),
           formatShort(moments.deviation));
}

void ElementTable::paintEvent(QPaintEvent* event) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  if (wide()) {
    painter.setFont(theme.font(FontRole::axis));
    painter.setPen(theme.colour(Colour::text3));
    const int last = width() - kInset;
    const QString heads[] = {QStringLiteral("min"), QStringLiteral("mean"), QStringLiteral("max")};
    for (int i = 0; i < 3; ++i)
      painter.drawText(QRect(last - (3 - i) * (kNumber + kGap) + kGap, 0, kNumber, kHead),
                       Qt::AlignRight | Qt::AlignVCenter, heads[i]);
    painter.drawText(QRect(last - 3 * (kNumber + kGap) - kBars, 0, kBars, kHead), Qt::AlignLeft | Qt::AlignVCenter,
                     QStringLiteral("values"));
  }
  const int first = std::max(0, (event->rect().top() - headHeight()) / pitch());
  for (int element = first; element < m_shown && place(element).top() <= event->rect().bottom(); ++element) {
    const QRect row = place(element);
    if (element == m_chosen)
      painter.fillRect(row, theme.colour(Colour::selected));
    else if (element == m_hovered)
      painter.fillRect(row, theme.colour(Colour::hover));
    if (wide())
      paintWide(painter, element);
    else
      paintNarrow(painter, element);
  }
  if (const int all = static_cast<int>(m_stats.channels.size()); m_shown < all) {
    painter.setFont(theme.font(FontRole::caption));
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(QRect(kInset, headHeight() + m_shown * pitch(), width() - 2 * kInset, kMore), Qt::AlignVCenter,
                     QStringLiteral("and %L1 more").arg(all - m_shown));
  }
}

void ElementTable::paintWide(QPainter& painter, int element) {
  const Theme& theme = Theme::of(this);
  const auto at = static_cast<std::size_t>(element);
  const Moments& moments = m_stats.channels[at];
  const QRect row = place(element).adjusted(kInset, 0, -kInset, 0);
  const bool constant = moments.low == moments.high;
  const int end = row.left() + row.width(), numbers = end - 3 * (kNumber + kGap),
            name = numbers - kBars - kGap - row.left();
  painter.setFont(theme.font(FontRole::label));
  painter.setPen(theme.colour(Colour::text));
  painter.drawText(QRect(row.left(), row.top(), name, row.height()), Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(m_names[element], Qt::ElideRight, name));
  painter.setFont(theme.numberFont(FontRole::axis));
  painter.setPen(theme.colour(constant ? Colour::warning : Colour::text2));
  if (constant) {
    painter.drawText(QRect(numbers + kGap, row.top(), end - numbers - kGap, row.height()),
                     Qt::AlignRight | Qt::AlignVCenter, QStringLiteral("always ") + formatShort(moments.low));
    return;
  }
  const double values[] = {moments.low, moments.mean, moments.high};
  for (int i = 0; i < 3; ++i)
    painter.drawText(QRect(numbers + i * (kNumber + kGap) + kGap, row.top(), kNumber, row.height()),
                     Qt::AlignRight | Qt::AlignVCenter, formatShort(values[i]));
  if (at < m_stats.elements.size())
    paintHistogram(painter, QRectF(numbers - kBars, row.top() + (row.height() - kBarsHeight) / 2, kBars, kBarsHeight),
                   m_stats.elements[at], theme.colour(element == m_chosen ? Colour::accent : Colour::control));
}

void ElementTable::paintNarrow(QPainter& painter, int element) {
  const Theme& theme = Theme::of(this);
  const auto at = static_cast<std::size_t>(element);
  const Moments& moments = m_stats.channels[at];
  const QRect row = place(element).adjusted(kInset, 0, -kInset, 0);
  const bool constant = moments.low == moments.high;
  const int half = row.height() / 2, name = constant ? row.width() : row.width() - kBars - kGap;
  painter.setFont(theme.font(FontRole::label));
  painter.setPen(theme.colour(Colour::text));
  painter.drawText(QRect(row.left(), row.top(), name, half), Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(m_names[element], Qt::ElideRight, name));
  painter.setFont(theme.numberFont(FontRole::axis));
  painter.setPen(theme.colour(constant ? Colour::warning : Colour::text3));
  const QString facts = constant
                            ? QStringLiteral("always ") + formatShort(moments.low)
                            : QStringLiteral("%1 to %2, mean %3")
                                  .arg(formatShort(moments.low), formatShort(moments.high), formatShort(moments.mean));
  painter.drawText(QRect(row.left(), row.top() + half - 1, row.width(), half), Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(facts, Qt::ElideRight, row.width()));
  if (!constant && at < m_stats.elements.size())
    paintHistogram(painter, QRectF(row.left() + row.width() - kBars, row.top() + 2, kBars, half - 3),
                   m_stats.elements[at], theme.colour(element == m_chosen ? Colour::accent : Colour::control));
}

void ElementTable::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) choose(elementAt(event->pos()));
}

void ElementTable::mouseMoveEvent(QMouseEvent* event) {
  if (const int element = elementAt(event->pos()); element != m_hovered) m_hovered = element, update();
}

void ElementTable::leaveEvent(QEvent*) {
  m_hovered = kNone;
  update();
}

void ElementTable::keyPressEvent(QKeyEvent* event) {
  const int last = m_shown - 1;
  switch (event->key()) {
    case Qt::Key_Up:
      return choose(std::max(0, m_chosen - 1));
    case Qt::Key_Down:
      return choose(std::min(last, m_chosen + 1));
    case Qt::Key_Home:
      return choose(0);
    case Qt::Key_End:
      return choose(last);
    default:
      QWidget::keyPressEvent(event);
  }
}

bool ElementTable::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  auto* help = static_cast<QHelpEvent*>(event);
  const int element = elementAt(help->pos());
  if (element == kNone)
    QToolTip::hideText();
  else
    QToolTip::showText(help->globalPos(), facts(element), this, place(element));
  return true;
}

}  // namespace loom
