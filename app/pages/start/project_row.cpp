#include "app/pages/start/project_row.h"

#include <QKeyEvent>
#include <QPainter>
#include <algorithm>

#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kHeight = 60, kTop = 10, kWordsLeft = 80, kGap = 16, kRight = 12;

// Of a line of words in its usual size; a larger one takes what it needs.
int lineOf(FontRole role, const QWidget* widget) {
  return std::max(role == FontRole::heading ? 20 : 18, QFontMetrics(Theme::of(widget).font(role)).height());
}
int titleBottom(const QWidget* widget) {
  return kTop + 1 + lineOf(FontRole::heading, widget);
}

}  // namespace

ProjectRow::ProjectRow(Content content, QWidget* parent) : QAbstractButton(parent), m_content(std::move(content)) {
  setText(m_content.title);
  setAccessibleName(m_content.title);
  setAccessibleDescription(m_content.detail + ' ' + m_content.value);
  setFocusPolicy(Qt::StrongFocus);
  setCursor(Qt::PointingHandCursor);
  setToolTip(m_content.detail);
  // A fixed height would be the hint's: a sentence grows beyond it.
  QSizePolicy policy(QSizePolicy::Preferred, m_content.sentence ? QSizePolicy::Minimum : QSizePolicy::Fixed);
  policy.setHeightForWidth(m_content.sentence);
  setSizePolicy(policy);
}

void ProjectRow::setFacts(const ProjectFacts& facts) {
  m_facts = facts;
  setAccessibleDescription(m_content.detail + ' ' + lines().join(". ") + ' ' + m_content.value);
  update();
}

QStringList ProjectRow::lines() const {
  if (!m_content.told) return {};
  QStringList second;
  for (const QString& each : {m_facts.data, m_facts.network})
    if (!each.isEmpty()) second << each;
  return {m_facts.flow, second.join(QStringLiteral("  ·  "))};
}

int ProjectRow::leastHeight() const {
  const int line = lineOf(FontRole::label, this);
  return std::max(kHeight, titleBottom(this) + line + kTop) + (m_content.told ? 2 * line : 0);
}

QSize ProjectRow::sizeHint() const {
  return {420, leastHeight()};
}

int ProjectRow::wordsWidth(int width) const {
  const QFontMetrics label(Theme::of(this).font(FontRole::label));
  const int value = label.horizontalAdvance(m_content.value), moment = label.horizontalAdvance(m_content.moment);
  return width - kRight - std::max(value + (m_content.status ? 26 : 0), moment) - kWordsLeft - kGap;
}

// A sentence takes the lines that it needs; a path stands on one.
int ProjectRow::heightForWidth(int width) const {
  if (!m_content.sentence) return leastHeight();
  const QFontMetrics label(Theme::of(this).font(FontRole::label));
  const int words =
      label.boundingRect(QRect(0, 0, std::max(60, wordsWidth(width)), 1000), Qt::TextWordWrap, m_content.detail)
          .height();
  return std::max(kHeight, titleBottom(this) + words + kTop);
}

void ProjectRow::changeEvent(QEvent* event) {
  QAbstractButton::changeEvent(event);
  if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) updateGeometry();
}

void ProjectRow::enterEvent(QEnterEvent*) {
  update();
}
void ProjectRow::leaveEvent(QEvent*) {
  update();
}

void ProjectRow::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
      click();
      break;
    case Qt::Key_Delete:
      Q_EMIT removeWanted();
      break;
    case Qt::Key_Down:
      focusNextChild();
      break;
    case Qt::Key_Up:
      focusPreviousChild();
      break;
    default:
      QAbstractButton::keyPressEvent(event);
  }
}

void ProjectRow::paintThumbnail(QPainter& painter, const QRectF& frame) const {
  const Theme& theme = Theme::of(this);
  painter.setPen(theme.hairline(Colour::line));
  painter.setBrush(theme.colour(Colour::canvas));
  painter.drawRoundedRect(frame, 4, 4);
  if (m_facts.blocks.empty()) return;
  QRectF bounds(m_facts.blocks.front().at, QSizeF(1, 1));
  for (const ProjectFacts::Block& each : m_facts.blocks)
    bounds = bounds.united(QRectF(each.at - QPointF(108, 22), QSizeF(216, 44)));
  const QRectF inside = frame.adjusted(4, 4, -4, -4);
  const double scale = std::min({inside.width() / bounds.width(), inside.height() / bounds.height(), 0.12});
  const auto at = [&](QPointF place) { return inside.center() + (place - bounds.center()) * scale; };
  painter.setPen(QPen(theme.colour(Colour::axis), 1));
  for (const auto& [from, to] : m_facts.wires)
    painter.drawLine(at(m_facts.blocks[static_cast<std::size_t>(from)].at),
                     at(m_facts.blocks[static_cast<std::size_t>(to)].at));
  painter.setPen(Qt::NoPen);
  for (const ProjectFacts::Block& each : m_facts.blocks) {
    const QSizeF size(std::max(5.0, 216 * scale), std::max(2.0, 40 * scale));
    painter.setBrush(theme.layerColour(each.category));
    painter.drawRoundedRect(QRectF(at(each.at) - QPointF(size.width() / 2, size.height() / 2), size), 1, 1);
  }
}

void ProjectRow::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  if (underMouse()) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.colour(Colour::hover));
    painter.drawRoundedRect(rect(), theme.radius(Radius::node), theme.radius(Radius::node));
  }
  paintThumbnail(painter, QRectF(8, 8, 60, kHeight - 16));
  const QColor ink = theme.colour(m_content.missing ? Colour::disabled : Colour::text);
  const QFont title = theme.font(FontRole::heading), label = theme.font(FontRole::label);
  const int first = lineOf(FontRole::heading, this), line = lineOf(FontRole::label, this), below = titleBottom(this);
  const int right = width() - kRight;
  painter.setFont(label);
  painter.setPen(theme.colour(Colour::text3));
  const int value = painter.fontMetrics().horizontalAdvance(m_content.value),
            moment = painter.fontMetrics().horizontalAdvance(m_content.moment);
  painter.drawText(QRect(right - value, kTop, value, first), Qt::AlignVCenter | Qt::AlignRight, m_content.value);
  painter.drawText(QRect(right - moment, below, moment, line), Qt::AlignVCenter | Qt::AlignRight, m_content.moment);
  if (m_content.status)
    paintStatus(painter, *m_content.status, QRectF(right - value - 22, kTop + (first - 14) / 2.0, 14, 14),
                theme.colour(statusColour(*m_content.status)), 0.12);
  const int words = wordsWidth(width());
  painter.setFont(title);
  painter.setPen(ink);
  painter.drawText(QRect(kWordsLeft, kTop, words, first), Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(m_content.title, Qt::ElideRight, words));
  painter.setFont(label);
  painter.setPen(theme.colour(Colour::text3));
  if (m_content.sentence)
    painter.drawText(QRect(kWordsLeft, below, words, height() - below), Qt::TextWordWrap, m_content.detail);
  else
    painter.drawText(QRect(kWordsLeft, below, words, line), Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(m_content.detail, Qt::ElideMiddle, words));
  painter.setPen(theme.colour(Colour::text2));
  int top = below + line;
  for (const QString& text : lines()) {
    const int room = right - kWordsLeft;
    painter.drawText(QRect(kWordsLeft, top, room, line), Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(text, Qt::ElideRight, room));
    top += line;
  }
}

}  // namespace loom
