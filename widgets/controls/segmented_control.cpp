#include "widgets/controls/segmented_control.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <numeric>

#include "widgets/theme/theme.h"

namespace loom {
namespace {
constexpr int kInset = 2;
constexpr int kPartPadding = 11;
}  // namespace

SegmentedControl::SegmentedControl(const QStringList& labels, QWidget* parent) : QWidget(parent), m_labels(labels) {
  setFocusPolicy(Qt::TabFocus);
  setMouseTracking(true);
  setProperty("focusRadius", Theme::of(this).radius(Radius::field));
  setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
}

void SegmentedControl::setLabels(const QStringList& labels) {
  m_labels = labels;
  m_current = std::clamp<int>(m_current, 0, std::max<int>(0, static_cast<int>(labels.size()) - 1));
  updateGeometry();
  update();
}

void SegmentedControl::setCurrent(int index) {
  index = std::clamp<int>(index, 0, std::max<int>(0, static_cast<int>(m_labels.size()) - 1));
  if (index == m_current) return;
  m_current = index;
  update();
  Q_EMIT currentChanged(index);
}

QList<int> SegmentedControl::widths() const {
  const QFontMetrics metrics(Theme::withWeight(Theme::of(this).font(FontRole::label), 600));
  QList<int> result;
  for (const QString& label : m_labels) result << metrics.horizontalAdvance(label) + 2 * kPartPadding;
  return result;
}

// Where it may grow, its parts share the room; where there is too little, they give some up alike.
QList<int> SegmentedControl::shownWidths() const {
  QList<int> all = widths();
  const int left = width() - 2 * kInset - std::accumulate(all.begin(), all.end(), 0);
  for (int i = 0, lacking = -left; i < all.size() && lacking > 0; ++i) {
    const int given = lacking / static_cast<int>(all.size() - i);
    all[i] -= given;
    lacking -= given;
  }
  if (left > 0 && !all.isEmpty() && (sizePolicy().horizontalPolicy() & QSizePolicy::ExpandFlag))
    for (int& each : all) each += left / static_cast<int>(all.size());
  return all;
}

QRect SegmentedControl::segment(int index) const {
  const QList<int> all = shownWidths();
  const int x = kInset + std::accumulate(all.begin(), all.begin() + index, 0);
  return {x, kInset, all[index], height() - 2 * kInset};
}

QSize SegmentedControl::sizeHint() const {
  const QList<int> all = widths();
  return {std::accumulate(all.begin(), all.end(), 2 * kInset), Theme::of(this).size(Size::field)};
}

int SegmentedControl::at(const QPoint& position) const {
  for (int i = 0; i < m_labels.size(); ++i) {
    if (segment(i).contains(position)) return i;
  }
  return -1;
}

void SegmentedControl::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const double radius = theme.radius(Radius::field);
  painter.setPen(QPen(theme.colour(Colour::line), 1));
  painter.setBrush(theme.colour(Colour::sunken));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
  for (int i = 0; i < m_labels.size(); ++i) {
    const QRectF area = segment(i);
    const bool chosen = i == m_current;
    if (chosen) {
      painter.setPen(QPen(theme.colour(Colour::lineStrong), 1));
      painter.setBrush(theme.colour(theme.isDark() ? Colour::raised : Colour::surface));
      painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), radius - 2, radius - 2);
    }
    painter.setFont(Theme::withWeight(theme.font(FontRole::label), chosen ? 600 : 500));
    painter.setPen(theme.colour(!isEnabled()               ? Colour::disabled
                                : chosen || i == m_hovered ? Colour::text
                                                           : Colour::text2));
    painter.drawText(area, Qt::AlignCenter,
                     painter.fontMetrics().elidedText(m_labels[i], Qt::ElideRight, static_cast<int>(area.width()) - 4));
  }
}

void SegmentedControl::mousePressEvent(QMouseEvent* event) {
  if (const int index = at(event->pos()); event->button() == Qt::LeftButton && index >= 0) setCurrent(index);
}

void SegmentedControl::mouseMoveEvent(QMouseEvent* event) {
  m_hovered = at(event->pos());
  update();
}

void SegmentedControl::leaveEvent(QEvent*) {
  m_hovered = -1;
  update();
}

void SegmentedControl::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left:
      setCurrent(m_current - 1);
      break;
    case Qt::Key_Right:
      setCurrent(m_current + 1);
      break;
    case Qt::Key_Home:
      setCurrent(0);
      break;
    case Qt::Key_End:
      setCurrent(static_cast<int>(m_labels.size()) - 1);
      break;
    default:
      QWidget::keyPressEvent(event);
  }
}

}  // namespace loom
