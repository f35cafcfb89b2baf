#include "app/shell/search_panel.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "widgets/theme/elevation.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kRows = 10, kRowHeight = 32, kHeadHeight = 24, kPadding = 6, kLeast = 320;

// Beginnings of words in their order: "trsec" finds "Train on second", and "dark" does not find "residual_network".
bool beginsWords(const QString& where, qsizetype from, const QString& what, qsizetype done) {
  if (done == what.size()) return true;
  for (qsizetype i = from; i < where.size(); ++i) {
    const bool follows = i == from && done > 0;
    const bool begins = i == 0 || !where[i - 1].isLetterOrNumber();
    if ((follows || begins) && where[i] == what[done] && beginsWords(where, i + 1, what, done + 1)) return true;
  }
  return false;
}

// Words in any order, each the beginning of one.
bool eachBeginsWord(const QString& where, const QString& what) {
  const QStringList words = what.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  return std::all_of(words.begin(), words.end(), [&](const QString& word) {
    for (qsizetype at = where.indexOf(word); at >= 0; at = where.indexOf(word, at + 1))
      if (at == 0 || !where[at - 1].isLetterOrNumber()) return true;
    return false;
  });
}

}  // namespace

int matchScore(const QString& text, const QString& query) {
  if (query.isEmpty()) return 1;
  const QString where = text.toLower(), what = query.toLower();
  const qsizetype at = where.indexOf(what);
  if (at == 0) return 100 - static_cast<int>(std::min<qsizetype>(text.size() - query.size(), 20));
  if (at > 0) return where[at - 1].isLetterOrNumber() ? 40 : 70;
  return what.size() > 1 && (beginsWords(where, 0, what, 0) || eachBeginsWord(where, what)) ? 10 : 0;
}

SearchPanel::SearchPanel(QLineEdit& field, std::function<QList<SearchHit>(const QString&)> find, QWidget* window)
    : QWidget(window), m_field(field), m_find(std::move(find)) {
  setMouseTracking(true);
  setAccessibleName(tr("Search results"));
  hide();
  field.installEventFilter(this);
  window->installEventFilter(this);
  connect(&field, &QLineEdit::textChanged, this, &SearchPanel::refresh);
}

void SearchPanel::close() {
  hide();
  if (m_field.hasFocus()) m_field.clearFocus();
  m_field.clear();
}

void SearchPanel::refresh() {
  if (!m_field.hasFocus() && m_field.text().isEmpty()) return hide();
  m_hits = m_find(m_field.text().trimmed());
  if (m_hits.size() > kRows) m_hits.resize(kRows);
  m_current = 0;
  int height = 2 * kPadding;
  QString group;
  for (const SearchHit& each : std::as_const(m_hits)) {
    if (each.group != group) height += kHeadHeight;
    group = each.group;
    height += kRowHeight;
  }
  if (m_hits.isEmpty()) height += kRowHeight;
  const int margin = shadowMargin(Elevation::menu);
  const QPoint under = m_field.mapTo(parentWidget(), QPoint(m_field.width() / 2, m_field.height() + 4));
  const int width = std::max(m_field.width(), kLeast);
  const int left = std::clamp(under.x() - width / 2, 12, parentWidget()->width() - width - 12);
  setGeometry(left - margin, under.y() - margin, width + 2 * margin, height + 2 * margin);
  show();
  raise();
  update();
}

QRect SearchPanel::cardRect() const {
  const int margin = shadowMargin(Elevation::menu);
  return rect().adjusted(margin, margin, -margin, -margin);
}

QRect SearchPanel::rowRect(int row) const {
  const int margin = shadowMargin(Elevation::menu);
  int y = margin + kPadding;
  QString group;
  for (int i = 0; i <= row && i < m_hits.size(); ++i) {
    if (m_hits[i].group != group) y += kHeadHeight;
    group = m_hits[i].group;
    if (i < row) y += kRowHeight;
  }
  return {margin + 4, y, width() - 2 * margin - 8, kRowHeight};
}

int SearchPanel::rowAt(const QPoint& place) const {
  for (int i = 0; i < m_hits.size(); ++i)
    if (rowRect(i).contains(place)) return i;
  return -1;
}

void SearchPanel::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const int margin = shadowMargin(Elevation::menu);
  const QRectF card = QRectF(rect()).adjusted(margin, margin, -margin, -margin);
  paintCard(painter, card, theme.radius(Radius::card), Elevation::menu);
  if (m_hits.isEmpty()) {
    painter.setPen(theme.colour(Colour::text3));
    painter.setFont(theme.font(FontRole::body));
    painter.drawText(card, Qt::AlignCenter, tr("Nothing is called that"));
    return;
  }
  QString group;
  for (int i = 0; i < m_hits.size(); ++i) {
    const SearchHit& hit = m_hits[i];
    const QRect row = rowRect(i);
    if (hit.group != group) {
      painter.setFont(theme.font(FontRole::caption));
      painter.setPen(theme.colour(Colour::text3));
      painter.drawText(QRect(row.left() + 10, row.top() - kHeadHeight, row.width(), kHeadHeight), Qt::AlignVCenter,
                       hit.group);
    }
    group = hit.group;
    if (i == m_current) {
      painter.setPen(Qt::NoPen);
      painter.setBrush(theme.colour(Colour::selected));
      painter.drawRoundedRect(row, theme.radius(Radius::chip), theme.radius(Radius::chip));
    }
    hit.icon.paint(&painter, QRect(row.left() + 10, row.center().y() - 7, 16, 16));
    painter.setFont(theme.font(FontRole::body));
    painter.setPen(theme.colour(Colour::text));
    // The words first; what is quiet beside them takes the rest.
    const QRect room = row.adjusted(36, 0, -12, 0);
    const int words = std::min(painter.fontMetrics().horizontalAdvance(hit.text) + 1, room.width());
    painter.drawText(room, Qt::AlignVCenter, painter.fontMetrics().elidedText(hit.text, Qt::ElideRight, words));
    painter.setFont(theme.font(FontRole::label));
    painter.setPen(theme.colour(Colour::text3));
    const int rest = room.width() - words - 16;
    if (rest > 40)
      painter.drawText(room, Qt::AlignVCenter | Qt::AlignRight,
                       painter.fontMetrics().elidedText(hit.detail, Qt::ElideRight, rest));
  }
}

void SearchPanel::act(int row) {
  if (row < 0 || row >= m_hits.size()) return;
  const auto action = m_hits[row].act;
  close();
  if (action) action();
}

void SearchPanel::mouseMoveEvent(QMouseEvent* event) {
  const int row = rowAt(event->pos());
  if (row >= 0 && row != m_current) {
    m_current = row;
    update();
  }
}

void SearchPanel::mousePressEvent(QMouseEvent* event) {
  act(rowAt(event->pos()));
}

bool SearchPanel::eventFilter(QObject* watched, QEvent* event) {
  if (watched == parentWidget()) {
    if (event->type() == QEvent::Resize && isVisible()) refresh();
    return false;
  }
  if (event->type() == QEvent::FocusIn) {
    QMetaObject::invokeMethod(this, &SearchPanel::refresh, Qt::QueuedConnection);
  } else if (event->type() == QEvent::FocusOut) {
    if (static_cast<QFocusEvent*>(event)->reason() != Qt::PopupFocusReason) hide();
  } else if (event->type() == QEvent::KeyPress && isVisible()) {
    const int count = std::max(1, static_cast<int>(m_hits.size()));
    switch (static_cast<QKeyEvent*>(event)->key()) {
      case Qt::Key_Down:
        m_current = (m_current + 1) % count;
        update();
        return true;
      case Qt::Key_Up:
        m_current = (m_current + count - 1) % count;
        update();
        return true;
      case Qt::Key_Return:
      case Qt::Key_Enter:
        act(m_current);
        return true;
      case Qt::Key_Escape:
        close();
        return true;
      default:
        break;
    }
  }
  return false;
}

}  // namespace loom
