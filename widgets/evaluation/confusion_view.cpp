#include "widgets/evaluation/confusion_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <numeric>

#include "widgets/chart/format.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kGap = 1, kNarrowest = 12, kWidest = 56;

QColor mixed(QColor colour, double opacity) {
  colour.setAlphaF(static_cast<float>(opacity));
  return colour;
}

}  // namespace

struct ConfusionView::Places {
  int names = 0, sums = 0, head = 0, cellWidth = 0, cellHeight = 0;
  QRect cell(int row, int column) const {
    return QRect(names + column * cellWidth, head + row * cellHeight, cellWidth, cellHeight)
        .adjusted(kGap, kGap, -kGap, -kGap);
  }
};

ConfusionView::ConfusionView(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("Confusion matrix"));
  connect(&Theme::of(this), &Theme::changed, this, [this] {
    updateGeometry();
    update();
  });
}

void ConfusionView::setMatrix(const QStringList& words, const std::vector<ConfusionMatrix::Cell>& cells) {
  m_words = words;
  m_cells = cells;
  const auto classes = static_cast<std::size_t>(words.size());
  m_ofTruth.assign(classes, 0);
  m_ofPredicted.assign(classes, 0);
  m_right.assign(classes, 0);
  m_total = 0;
  for (const ConfusionMatrix::Cell& each : cells) {
    m_ofTruth[static_cast<std::size_t>(each.truth)] += each.count;
    m_ofPredicted[static_cast<std::size_t>(each.predicted)] += each.count;
    if (each.truth == each.predicted) m_right[static_cast<std::size_t>(each.truth)] += each.count;
    m_total += each.count;
  }
  m_chosen.reset();
  arrange();
}

void ConfusionView::setOrder(Order order) {
  m_order = order;
  arrange();
}

void ConfusionView::setPercent(bool percent) {
  m_percent = percent;
  update();
}

void ConfusionView::setWrongOnly(bool wrongOnly) {
  m_wrongOnly = wrongOnly;
  update();
}

void ConfusionView::setChosen(std::optional<Cell> cell) {
  if (m_chosen == cell) return;
  m_chosen = cell;
  setAccessibleDescription(cell ? words(*cell) : QString());
  update();
  Q_EMIT chosenChanged();
}

// Which classes stand where, and what their cells hold.
void ConfusionView::arrange() {
  const auto classes = static_cast<int>(m_words.size());
  m_shown.resize(static_cast<std::size_t>(classes));
  std::iota(m_shown.begin(), m_shown.end(), 0);
  const auto at = [](int each) { return static_cast<std::size_t>(each); };
  // Mix-ups: samples of the class that are taken for others, and others that are taken for it.
  const auto mixUps = [&](int c) { return m_ofTruth[at(c)] + m_ofPredicted[at(c)] - 2 * m_right[at(c)]; };
  const auto recall = [&](int c) {
    return m_ofTruth[at(c)] == 0 ? 1.0 : static_cast<double>(m_right[at(c)]) / static_cast<double>(m_ofTruth[at(c)]);
  };
  m_folded = classes > kMost;
  if (m_folded || m_order == Order::byMixUps)
    std::stable_sort(m_shown.begin(), m_shown.end(), [&](int a, int b) { return mixUps(a) > mixUps(b); });
  if (m_folded) m_shown.resize(kMost);
  if (m_order == Order::byRecall)
    std::stable_sort(m_shown.begin(), m_shown.end(), [&](int a, int b) { return recall(a) < recall(b); });
  else if (m_order == Order::byClass)
    std::sort(m_shown.begin(), m_shown.end());
  std::vector<int> place(static_cast<std::size_t>(classes), static_cast<int>(m_shown.size()));
  for (std::size_t i = 0; i < m_shown.size(); ++i) place[at(m_shown[i])] = static_cast<int>(i);
  const int n = side();
  m_counts.assign(at(n * n), 0);
  m_rowSums.assign(at(n), 0);
  m_columnSums.assign(at(n), 0);
  for (const ConfusionMatrix::Cell& each : m_cells) {
    const int row = place[static_cast<std::size_t>(each.truth)],
              column = place[static_cast<std::size_t>(each.predicted)];
    m_counts[at(row * n + column)] += each.count;
    m_rowSums[at(row)] += each.count;
    m_columnSums[at(column)] += each.count;
  }
  m_mostWrong = 0;
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column)
      if (row != column) m_mostWrong = std::max(m_mostWrong, shown(row, column));
  updateGeometry();
  update();
}

QString ConfusionView::nameOf(int place) const {
  return place < static_cast<int>(m_shown.size()) ? m_words[m_shown[static_cast<std::size_t>(place)]] : tr("others");
}

std::int64_t ConfusionView::count(Cell cell) const {
  if (cell.truth == kAll && cell.predicted == kAll) return m_total;
  if (cell.predicted == kAll) return m_ofTruth[static_cast<std::size_t>(cell.truth)];
  if (cell.truth == kAll) return m_ofPredicted[static_cast<std::size_t>(cell.predicted)];
  for (const ConfusionMatrix::Cell& each : m_cells)
    if (each.truth == cell.truth && each.predicted == cell.predicted) return each.count;
  return 0;
}

QString ConfusionView::words(Cell cell) const {
  if (cell.predicted == kAll) return tr("True %1").arg(m_words.value(cell.truth));
  if (cell.truth == kAll) return tr("Predicted %1").arg(m_words.value(cell.predicted));
  return tr("True %1, predicted %2").arg(m_words.value(cell.truth), m_words.value(cell.predicted));
}

ConfusionView::Places ConfusionView::places(int width) const {
  const Theme& theme = Theme::of(this);
  const QFontMetrics names(theme.font(FontRole::axis)), numbers(theme.numberFont(FontRole::axis));
  Places places;
  int widest = names.horizontalAdvance(tr("all"));
  for (int i = 0; i < side(); ++i) widest = std::max(widest, names.horizontalAdvance(nameOf(i)));
  places.names = std::min(widest, std::max(60, width / 4)) + 10;
  places.sums = numbers.horizontalAdvance(formatCount(static_cast<double>(m_total))) + 14;
  places.head = names.height() + 8;
  places.cellHeight = numbers.height() + 12;
  places.cellWidth =
      std::clamp((width - places.names - places.sums) / std::max(1, side()), kNarrowest, std::max(kWidest, kNarrowest));
  return places;
}

QSize ConfusionView::sizeHint() const {
  const Places place = places(std::max(width(), 200));
  return {place.names + place.sums + side() * 34, place.head + (side() + 1) * place.cellHeight};
}

QSize ConfusionView::minimumSizeHint() const {
  const Places place = places(200);
  return {place.names + place.sums + side() * kNarrowest, place.head + (side() + 1) * place.cellHeight};
}

QRect ConfusionView::cellRect(int truth, int predicted) const {
  const auto placeOf = [this](int of) {
    const auto found = std::find(m_shown.begin(), m_shown.end(), of);
    return found == m_shown.end() ? -1 : static_cast<int>(found - m_shown.begin());
  };
  const int row = placeOf(truth), column = placeOf(predicted);
  return row < 0 || column < 0 ? QRect() : places(width()).cell(row, column);
}

std::optional<ConfusionView::Cell> ConfusionView::cellAt(const QPoint& position) const {
  const Places place = places(width());
  const auto floored = [](int value, int by) { return value < 0 ? -1 : value / by; };
  const int row = floored(position.y() - place.head, place.cellHeight);
  const int column = floored(position.x() - place.names, place.cellWidth);
  const auto classes = static_cast<int>(m_shown.size());
  const auto classOf = [this](int each) { return m_shown[static_cast<std::size_t>(each)]; };
  if (row >= 0 && row < classes && column >= 0 && column < classes) return Cell{classOf(row), classOf(column)};
  if (row >= 0 && row < classes && column == -1) return Cell{classOf(row), kAll};
  if (row == -1 && column >= 0 && column < classes) return Cell{kAll, classOf(column)};
  return {};
}

void ConfusionView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const auto cell = cellAt(event->position().toPoint());
  setChosen(cell == m_chosen ? std::nullopt : cell);
}

void ConfusionView::keyPressEvent(QKeyEvent* event) {
  if (m_shown.empty()) return QWidget::keyPressEvent(event);
  const auto last = static_cast<int>(m_shown.size()) - 1;
  const auto placeOf = [this](int of) {
    const auto found = std::find(m_shown.begin(), m_shown.end(), of);
    return found == m_shown.end() ? 0 : static_cast<int>(found - m_shown.begin());
  };
  int row = m_chosen ? placeOf(m_chosen->truth) : 0, column = m_chosen ? placeOf(m_chosen->predicted) : 0;
  switch (event->key()) {
    case Qt::Key_Escape:
      return setChosen(std::nullopt);
    case Qt::Key_Left:
      column -= m_chosen ? 1 : 0;
      break;
    case Qt::Key_Right:
      column += m_chosen ? 1 : 0;
      break;
    case Qt::Key_Up:
      row -= m_chosen ? 1 : 0;
      break;
    case Qt::Key_Down:
      row += m_chosen ? 1 : 0;
      break;
    case Qt::Key_Home:
      column = 0;
      break;
    case Qt::Key_End:
      column = last;
      break;
    default:
      return QWidget::keyPressEvent(event);
  }
  setChosen(Cell{m_shown[static_cast<std::size_t>(std::clamp(row, 0, last))],
                 m_shown[static_cast<std::size_t>(std::clamp(column, 0, last))]});
}

bool ConfusionView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    auto* const help = static_cast<QHelpEvent*>(event);
    if (const auto cell = cellAt(help->pos()))
      QToolTip::showText(help->globalPos(),
                         tr("%1: %2").arg(words(*cell), formatCount(static_cast<double>(count(*cell)))), this);
    else
      QToolTip::hideText();
    return true;
  }
  return QWidget::event(event);
}

void ConfusionView::paintCell(QPainter& painter, const QRectF& rect, int row, int column) const {
  const Theme& theme = Theme::of(this);
  const std::int64_t count = shown(row, column), ofRow = m_rowSums[static_cast<std::size_t>(row)];
  const double share = ofRow == 0 ? 0 : static_cast<double>(count) / static_cast<double>(ofRow);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.colour(Colour::sunken));
  painter.drawRoundedRect(rect, 2, 2);
  const bool right = row == column;
  if (count > 0 && right && !m_wrongOnly)
    painter.setBrush(mixed(theme.colour(Colour::accent), 0.05 + 0.2 * share));
  else if (count > 0 && !right)
    painter.setBrush(
        mixed(theme.colour(Colour::error),
              0.08 + 0.3 * static_cast<double>(count) / static_cast<double>(std::max<std::int64_t>(m_mostWrong, 1))));
  if (count > 0) painter.drawRoundedRect(rect, 2, 2);
  const QString text = count == 0  ? QStringLiteral("·")
                       : m_percent ? formatFixed(100 * share, share >= 0.9995 ? 0 : 1)
                                   : formatCount(static_cast<double>(count));
  const QFont font = theme.numberFont(FontRole::axis);
  if (QFontMetrics(font).horizontalAdvance(text) > rect.width()) return;  // its tooltip says it
  painter.setFont(font);
  painter.setPen(theme.colour(count == 0 || (right && m_wrongOnly) ? Colour::text3 : Colour::text));
  painter.drawText(rect, Qt::AlignCenter, text);
}

void ConfusionView::paintOn(QPainter& painter, int width, bool focused) const {
  const Theme& theme = Theme::of(this);
  const Places place = places(width);
  painter.setRenderHint(QPainter::Antialiasing);
  const QFont names = theme.font(FontRole::axis), numbers = theme.numberFont(FontRole::axis);
  const QFontMetrics metrics(names), digits(numbers);
  const int n = side(), bottom = place.head + n * place.cellHeight, end = place.names + n * place.cellWidth;
  const auto isChosen = [&](int index, bool truth) {
    return m_chosen && index < static_cast<int>(m_shown.size()) &&
           m_shown[static_cast<std::size_t>(index)] == (truth ? m_chosen->truth : m_chosen->predicted);
  };
  for (int i = 0; i < n; ++i) {
    painter.setFont(isChosen(i, true) ? Theme::withWeight(names, 600) : names);
    painter.setPen(theme.colour(isChosen(i, true) ? Colour::text : Colour::text2));
    painter.drawText(QRect(0, place.head + i * place.cellHeight, place.names - 8, place.cellHeight),
                     Qt::AlignRight | Qt::AlignVCenter,
                     metrics.elidedText(nameOf(i), Qt::ElideMiddle, place.names - 8));
    painter.setFont(isChosen(i, false) ? Theme::withWeight(names, 600) : names);
    painter.setPen(theme.colour(isChosen(i, false) ? Colour::text : Colour::text2));
    painter.drawText(QRect(place.names + i * place.cellWidth, 0, place.cellWidth, place.head), Qt::AlignCenter,
                     metrics.elidedText(nameOf(i), Qt::ElideRight, place.cellWidth - 2));
    painter.setFont(numbers);
    painter.setPen(theme.colour(Colour::text2));
    painter.drawText(QRect(end, place.head + i * place.cellHeight, place.sums - 4, place.cellHeight),
                     Qt::AlignRight | Qt::AlignVCenter,
                     formatCount(static_cast<double>(m_rowSums[static_cast<std::size_t>(i)])));
    const QString sum = formatCount(static_cast<double>(m_columnSums[static_cast<std::size_t>(i)]));
    if (digits.horizontalAdvance(sum) <= place.cellWidth)
      painter.drawText(QRect(place.names + i * place.cellWidth, bottom, place.cellWidth, place.cellHeight),
                       Qt::AlignCenter, sum);
    for (int column = 0; column < n; ++column) paintCell(painter, place.cell(i, column), i, column);
  }
  painter.setFont(names);
  painter.setPen(theme.colour(Colour::text3));
  painter.drawText(QRect(end, 0, place.sums - 4, place.head), Qt::AlignRight | Qt::AlignVCenter, tr("all"));
  painter.drawText(QRect(0, bottom, place.names - 8, place.cellHeight), Qt::AlignRight | Qt::AlignVCenter, tr("all"));
  painter.setFont(numbers);
  painter.setPen(theme.colour(Colour::text));
  painter.drawText(QRect(end, bottom, place.sums - 4, place.cellHeight), Qt::AlignRight | Qt::AlignVCenter,
                   formatCount(static_cast<double>(m_total)));
  painter.setPen(theme.hairline(Colour::line));
  painter.drawLine(place.names, bottom, end + place.sums - 4, bottom);
  if (!m_chosen) return;
  QRectF frame;
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < n; ++column)
      if ((m_chosen->truth == kAll || isChosen(row, true)) && (m_chosen->predicted == kAll || isChosen(column, false)))
        frame = frame.united(QRectF(place.cell(row, column)));
  painter.setPen(QPen(theme.colour(focused ? Colour::focus : Colour::accentText), 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(frame, 3, 3);
}

void ConfusionView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintOn(painter, width(), hasFocus());
}

QImage ConfusionView::toImage(double ratio) const {
  constexpr int kEdge = 12;
  const Theme::LightColours light(Theme::of(this));
  const QSize size(std::max(width(), sizeHint().width()), sizeHint().height());
  QImage image((size + QSize(2 * kEdge, 2 * kEdge)) * ratio, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(ratio);
  image.fill(Theme::of(this).colour(Colour::surface));
  QPainter painter(&image);
  painter.translate(kEdge, kEdge);
  paintOn(painter, size.width(), false);
  return image;
}

}  // namespace loom
