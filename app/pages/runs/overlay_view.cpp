#include "app/pages/runs/overlay_view.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "widgets/canvas/cost_scale.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr double kEdge = 16, kLargestScale = 1.5, kSmallestScale = 0.02, kSummary = 26;
constexpr double kReadable = 0.45;  // the scale from which cards have a second line
constexpr double kSignRoom = 16, kLeastLetters = 9, kBesideGap = 5;
constexpr double kZoomStep = 1.2;

Colour inkOf(DrawnChange change) {
  switch (change) {
    case DrawnChange::added:
      return Colour::ok;
    case DrawnChange::removed:
      return Colour::error;
    case DrawnChange::changed:
      return Colour::warning;
    default:
      return Colour::lineStrong;
  }
}

QString signOf(DrawnChange change) {
  return change == DrawnChange::added     ? QStringLiteral("+")
         : change == DrawnChange::removed ? QStringLiteral("−")
         : change == DrawnChange::changed ? QStringLiteral("Δ")
                                          : QString();
}

}  // namespace

OverlayView::OverlayView(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setMinimumSize(280, 160);
}

void OverlayView::setOverlay(DrawingOverlay overlay) {
  m_overlay = std::move(overlay);
  m_message.clear();
  setAccessibleName(tr("Drawings laid over each other: %1").arg(summary()));
  fit();
}

void OverlayView::setFigures(QHash<QString, NodeFigure> figures, const QString& title) {
  m_figures = std::move(figures);
  m_title = title;
  setAccessibleName(title.isEmpty() ? tr("Drawings laid over each other: %1").arg(summary()) : title);
  update();
}

void OverlayView::setMessage(const QString& message) {
  m_overlay = {};
  m_message = message;
  setAccessibleName(message);
  update();
}

QString OverlayView::summary() const {
  if (m_overlay.isSame()) return tr("The drawings are the same");
  QStringList words;
  const auto add = [&](DrawnChange change, const QString& text) {
    if (const int count = m_overlay.count(change); count > 0) words << text.arg(count);
  };
  add(DrawnChange::added, tr("%1 added"));
  add(DrawnChange::removed, tr("%1 removed"));
  add(DrawnChange::changed, tr("%1 changed"));
  return words.isEmpty() ? tr("Other wires between the same nodes") : words.join(", ");
}

void OverlayView::fit() {
  m_fitted = true;
  const QRectF room = QRectF(rect()).adjusted(kEdge, kSummary + 4, -kEdge, -kEdge);
  const QRectF all = m_overlay.bounds;
  if (all.isEmpty() || room.isEmpty()) return update();
  m_scale = std::clamp(std::min(room.width() / all.width(), room.height() / all.height()), kSmallestScale, 1.0);
  m_offset = room.center() - all.center() * m_scale;
  update();
}

QRectF OverlayView::shown(const QRectF& card) const {
  return {shown(card.topLeft()), card.size() * m_scale};
}

QRectF OverlayView::cardOf(const QString& id) const {
  for (const OverlayNode& each : m_overlay.nodes)
    if (each.id == id) return shown(each.card);
  return {};
}

// A card of a whole drawing may be lower than a line of words, or too narrow for them.
bool OverlayView::hasWordsInside(const QRectF& card) const {
  const QFontMetricsF names(Theme::withWeight(Theme::of(this).font(FontRole::label), 600));
  return card.height() >= names.height() && card.width() >= kLeastLetters * names.averageCharWidth();
}

void OverlayView::paintNode(QPainter& painter, const OverlayNode& node) const {
  const Theme& theme = Theme::of(this);
  const QRectF card = shown(node.card);
  if (!card.intersects(QRectF(rect()))) return;
  const bool same = node.change == DrawnChange::same;
  const QColor edge = theme.colour(inkOf(node.change));
  const double radius = std::min(6.0, card.height() / 4);
  const NodeFigure figure = m_figures.value(node.id);
  const bool coloured = figure.step >= 0 || figure.before.value_or(-1) >= 0;
  QPainterPath outline;
  outline.addRoundedRect(card, radius, radius);
  if (coloured) {
    QRectF right = card;
    right.setLeft(figure.before ? card.center().x() : card.left());
    painter.setPen(Qt::NoPen);
    painter.save();
    painter.setClipPath(outline, Qt::IntersectClip);
    painter.fillRect(card, stepColour(theme, figure.before.value_or(figure.step)));
    painter.fillRect(right, stepColour(theme, figure.step));
    painter.restore();
  } else {
    painter.fillPath(outline, theme.colour(Colour::surface));
    if (!same) painter.fillPath(outline, theme.colour(inkOf(node.change), 0.14));
  }
  QPen pen(edge, same ? 1 : 1.75);
  if (node.change == DrawnChange::removed) pen.setStyle(Qt::DashLine);
  painter.strokePath(outline, pen);
  if (!coloured) return paintWords(painter, node, figure, theme.colour(same ? Colour::text2 : Colour::text));
  if (!figure.before) return paintWords(painter, node, figure, inkOnStep(theme, figure.step));
  // Words run over both halves, on each in its ink.
  for (const bool left : {true, false}) {
    QRectF half = card;
    left ? half.setRight(card.center().x()) : half.setLeft(card.center().x());
    painter.save();
    painter.setClipRect(half, Qt::IntersectClip);
    paintWords(painter, node, figure, inkOnStep(theme, left ? *figure.before : figure.step));
    painter.restore();
  }
}

void OverlayView::paintWords(QPainter& painter, const OverlayNode& node, const NodeFigure& figure,
                             const QColor& ink) const {
  const Theme& theme = Theme::of(this);
  const QRectF card = shown(node.card);
  const bool same = node.change == DrawnChange::same, coloured = figure.step >= 0 || figure.before.value_or(-1) >= 0;
  const double sign = same ? 0 : kSignRoom;
  if (!same) {
    painter.setFont(Theme::withWeight(theme.font(FontRole::heading), 600));
    painter.setPen(coloured ? ink : theme.colour(inkOf(node.change)));
    painter.drawText(card.adjusted(6, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, signOf(node.change));
  }
  if (!hasWordsInside(card)) return;
  const bool two = m_scale >= kReadable;
  const QRectF inner = card.adjusted(8 + sign, two ? 2 : 0, -8, two ? -2 : 0);
  painter.setFont(Theme::withWeight(theme.font(FontRole::label), 600));
  painter.setPen(ink);
  const QFontMetricsF names(painter.font());
  const bool twoLines = two && card.height() >= 2 * names.height();
  painter.drawText(inner, (twoLines ? Qt::AlignTop : Qt::AlignVCenter) | Qt::AlignLeft,
                   names.elidedText(node.id, Qt::ElideMiddle, inner.width()));
  if (!twoLines) return;
  const QString second = coloured ? figure.card : node.note.isEmpty() ? node.layer : node.note;
  painter.setFont(coloured ? theme.numberFont(FontRole::axis) : theme.font(FontRole::axis));
  painter.setPen(coloured ? ink : theme.colour(Colour::text3));
  painter.drawText(inner, Qt::AlignBottom | Qt::AlignLeft,
                   QFontMetricsF(painter.font()).elidedText(second, Qt::ElideRight, inner.width()));
}

QString OverlayView::wordsBeside(const OverlayNode& node) const {
  const QString figure = m_figures.value(node.id).card;
  return figure.isEmpty() ? node.id : node.id + QStringLiteral("  ") + figure;
}

// Where nothing else is; what differs has the first choice.
std::vector<QRectF> OverlayView::namesBeside() const {
  const QFontMetricsF metrics(Theme::of(this).font(FontRole::axis));
  const QRectF room = QRectF(rect()).adjusted(2, kSummary, -2, -2);
  std::vector<QRectF> taken, places(m_overlay.nodes.size());
  for (const OverlayNode& each : m_overlay.nodes) taken.push_back(shown(each.card));
  for (const bool same : {false, true})
    for (std::size_t i = 0; i < m_overlay.nodes.size(); ++i) {
      const OverlayNode& node = m_overlay.nodes[i];
      const QRectF card = shown(node.card);
      if ((node.change == DrawnChange::same) != same || hasWordsInside(card) || !card.intersects(room)) continue;
      const QSizeF size(metrics.horizontalAdvance(wordsBeside(node)), metrics.ascent());
      const double top = card.center().y() - size.height() / 2;
      for (const double left : {card.right() + kBesideGap, card.left() - kBesideGap - size.width()}) {
        const QRectF place({left, top}, size);
        if (!room.contains(place) ||
            std::any_of(taken.begin(), taken.end(), [&](const QRectF& other) { return other.intersects(place); }))
          continue;
        taken.push_back(place);
        places[i] = place;
        break;
      }
    }
  return places;
}

bool OverlayView::isNamed(const QString& id) const {
  const std::vector<QRectF> beside = namesBeside();
  for (std::size_t i = 0; i < beside.size(); ++i)
    if (m_overlay.nodes[i].id == id) return !beside[i].isEmpty() || hasWordsInside(shown(m_overlay.nodes[i].card));
  return false;
}

int OverlayView::namedNodes() const {
  return static_cast<int>(std::count_if(m_overlay.nodes.begin(), m_overlay.nodes.end(),
                                        [this](const OverlayNode& each) { return isNamed(each.id); }));
}

void OverlayView::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(theme.hairline(Colour::line));
  painter.setBrush(theme.colour(Colour::canvas));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
  painter.setFont(theme.font(FontRole::body));
  painter.setPen(theme.colour(Colour::text3));
  if (!m_message.isEmpty()) {
    painter.drawText(QRectF(rect()).adjusted(kEdge, kEdge, -kEdge, -kEdge), Qt::AlignCenter | Qt::TextWordWrap,
                     m_message);
    return;
  }
  for (const OverlayWire& each : m_overlay.wires) {
    const QPointF from = shown(each.from), to = shown(each.to);
    const double bend = std::max(8.0, std::abs(to.y() - from.y()) / 2);
    QPainterPath path(from);
    path.cubicTo(from + QPointF(0, bend), to - QPointF(0, bend), to);
    QPen pen(theme.colour(each.change == DrawnChange::same ? Colour::axis : inkOf(each.change)),
             each.change == DrawnChange::same ? 1 : 1.75);
    if (each.change == DrawnChange::removed) pen.setStyle(Qt::DashLine);
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(path);
  }
  // What differs lies on top.
  for (const bool same : {true, false})
    for (const OverlayNode& each : m_overlay.nodes)
      if ((each.change == DrawnChange::same) == same) paintNode(painter, each);
  painter.setFont(theme.font(FontRole::axis));
  const std::vector<QRectF> beside = namesBeside();
  for (std::size_t i = 0; i < beside.size(); ++i) {
    if (beside[i].isEmpty()) continue;
    painter.setPen(theme.colour(m_overlay.nodes[i].change == DrawnChange::same ? Colour::text2 : Colour::text));
    painter.drawText(beside[i].adjusted(0, -4, 2, 4), Qt::AlignVCenter | Qt::AlignLeft,
                     wordsBeside(m_overlay.nodes[i]));
  }
  const QRectF head(1, 1, width() - 2, kSummary);
  painter.fillRect(head, theme.colour(Colour::canvas, 0.85));
  painter.setFont(Theme::withWeight(theme.font(FontRole::label), 500));
  painter.setPen(theme.colour(Colour::text2));
  const QRectF words = head.adjusted(10, 0, -10, 0);
  painter.drawText(
      words, Qt::AlignLeft | Qt::AlignVCenter,
      QFontMetricsF(painter.font()).elidedText(m_title.isEmpty() ? summary() : m_title, Qt::ElideRight, words.width()));
}

void OverlayView::resizeEvent(QResizeEvent*) {
  if (m_fitted) fit();
}

void OverlayView::wheelEvent(QWheelEvent* event) {
  const double notches = event->angleDelta().y() / 120.0;
  if (notches == 0 || m_overlay.nodes.empty()) return event->ignore();
  const double scale = std::clamp(m_scale * std::pow(kZoomStep, notches), kSmallestScale, kLargestScale);
  m_offset = event->position() - (event->position() - m_offset) * (scale / m_scale);
  m_scale = scale;
  m_fitted = false;
  update();
  event->accept();
}

void OverlayView::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) m_grip = event->position();
}

void OverlayView::mouseMoveEvent(QMouseEvent* event) {
  if (!m_grip || !(event->buttons() & Qt::LeftButton)) return;
  m_offset += event->position() - *m_grip;
  m_grip = event->position();
  m_fitted = false;
  update();
}

void OverlayView::mouseReleaseEvent(QMouseEvent*) {
  m_grip.reset();
}

void OverlayView::mouseDoubleClickEvent(QMouseEvent*) {
  fit();
}

bool OverlayView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  auto* help = static_cast<QHelpEvent*>(event);
  for (const OverlayNode& each : m_overlay.nodes)
    if (shown(each.card).contains(help->pos())) {
      QString text = each.note.isEmpty() ? each.id + ", " + each.layer : each.id + ": " + each.note;
      if (const QString words = m_figures.value(each.id).words; !words.isEmpty()) text += '\n' + words;
      QToolTip::showText(help->globalPos(), text.toHtmlEscaped().replace('\n', "<br>"), this);
      return true;
    }
  QToolTip::hideText();
  event->ignore();
  return true;
}

}  // namespace loom
