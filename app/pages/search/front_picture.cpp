#include "app/pages/search/front_picture.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr double kLeft = 64, kTop = 26, kRight = 20, kBottom = 44, kInset = 10;
constexpr double kDot = 3.5, kFrontDot = 5, kHit = 9, kLogFrom = 20;

QString qt(const std::string& text) {
  return QString::fromStdString(text);
}

}  // namespace

FrontPicture::FrontPicture(QWidget* parent) : QWidget(parent) {
  setObjectName("search-front");
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setProperty("focusRadius", 4);
  connect(&Theme::of(this), &Theme::changed, this, [this] { update(); });
}

void FrontPicture::setContent(const ShownSearch& search, const TrialCostKind& kind) {
  m_plan = search.plan;
  m_kind = &kind;
  m_xTitle = tr(kind.label);
  m_yTitle = qt(search.plan.metric);
  m_dots.clear();
  const std::vector<TrialRow> rows = search.rows();
  std::vector<char> isOnFront(rows.size(), 0);
  const std::vector<std::size_t> front = frontOf(search.plan, rows, kind);
  for (const std::size_t each : front) isOnFront[each] = 1;
  const auto add = [&](std::size_t i) {
    const ShownTrial& trial = search.trials[i];
    Dot dot{.number = trial.number,
            .cost = trial.cost.*kind.value,
            .value = trial.result,
            .isOnFront = isOnFront[i] != 0,
            .isDone = trial.state == TrialState::done,
            .words = {tr("Trial %1").arg(trial.number)}};
    dot.words << tr("%1 %2 at %3").arg(m_yTitle, qt(resultText(m_plan, dot.value)), qt(costText(kind, dot.cost)));
    for (int k = 0; k < trial.values.size(); ++k)
      dot.words << qt(shortKey(m_plan.space[static_cast<std::size_t>(k)].key)) + "  " + trial.values[k];
    m_dots.push_back(std::move(dot));
  };
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!isOnFront[i] && std::isfinite(rows[i].result) && std::isfinite(rows[i].cost.*kind.value)) add(i);
  m_firstOfFront = m_dots.size();
  for (const std::size_t each : front) add(each);
  m_empty = m_dots.empty() ? tr("A dot comes with the first trial that has a result.") : QString();

  Interval x{INFINITY, -INFINITY}, y = x;
  for (const Dot& dot : m_dots) {
    x = {std::min(x.low, dot.cost), std::max(x.high, dot.cost)};
    y = {std::min(y.low, dot.value), std::max(y.high, dot.value)};
  }
  m_log = !m_dots.empty() && x.low > 0 && x.high / x.low > kLogFrom;
  m_x = m_dots.empty() ? Interval() : m_log ? niceLogRange(x) : niceRange(x, 6);
  m_y = m_dots.empty() ? Interval() : niceRange(y, 5);
  if (m_plan.share) m_y = {std::max(0.0, m_y.low), std::min(1.0, m_y.high)};
  if (!chosen()) m_chosen = 0;
  setAccessibleName(tr("%1 against %2").arg(m_yTitle, m_xTitle));
  setAccessibleDescription(tr("%1 trials, %2 on the front").arg(m_dots.size()).arg(front.size()));
  update();
}

std::vector<int> FrontPicture::front() const {
  std::vector<int> numbers;
  for (std::size_t i = m_firstOfFront; i < m_dots.size(); ++i) numbers.push_back(m_dots[i].number);
  return numbers;
}

QRectF FrontPicture::plot() const {
  return QRectF(rect()).adjusted(kLeft, kTop, -kRight, -kBottom);
}

double FrontPicture::shareOf(double cost) const {
  if (m_log) return std::log(cost / m_x.low) / std::log(m_x.high / m_x.low);
  return (cost - m_x.low) / std::max(m_x.span(), 1e-300);
}

QPointF FrontPicture::placeOf(const Dot& dot) const {
  const QRectF inner = plot().adjusted(kInset, kInset, -kInset, -kInset);
  const double up = (dot.value - m_y.low) / std::max(m_y.span(), 1e-300);
  return {inner.left() + shareOf(dot.cost) * inner.width(), inner.bottom() - up * inner.height()};
}

QPointF FrontPicture::place(int number) const {
  for (const Dot& dot : m_dots)
    if (dot.number == number) return placeOf(dot);
  return {};
}

const FrontPicture::Dot* FrontPicture::chosen() const {
  for (const Dot& dot : m_dots)
    if (dot.number == m_chosen) return &dot;
  return nullptr;
}

QStringList FrontPicture::words() const {
  const Dot* const dot = chosen();
  return dot ? dot->words : QStringList();
}

void FrontPicture::choose(int number) {
  if (number == m_chosen) return;
  m_chosen = number;
  Q_EMIT trialHovered(number);
  update();
}

// Of those of the front first: they lie on top.
int FrontPicture::dotAt(const QPointF& at) const {
  int found = 0;
  double nearest = kHit;
  for (auto dot = m_dots.rbegin(); dot != m_dots.rend(); ++dot) {
    const QPointF away = placeOf(*dot) - at;
    if (const double distance = std::hypot(away.x(), away.y()); distance < nearest) {
      nearest = distance;
      found = dot->number;
    }
  }
  return found;
}

void FrontPicture::paintAxes(QPainter& painter) const {
  const Theme& theme = Theme::of(this);
  const QRectF frame = plot(), inner = frame.adjusted(kInset, kInset, -kInset, -kInset);
  painter.setPen(theme.hairline(Colour::axis));
  painter.drawLine(QPointF(frame.left(), std::floor(frame.bottom()) + 0.5),
                   QPointF(frame.right(), std::floor(frame.bottom()) + 0.5));
  painter.setFont(theme.numberFont(FontRole::axis));
  const double lineHeight = QFontMetricsF(painter.font()).height();
  const Ticks up = linearTicks(m_y, std::max(2, static_cast<int>(inner.height() / (1.8 * lineHeight))));
  Ticks percent = up;
  if (m_plan.share) {
    percent.decimals = std::max(0, up.decimals - 2);
    for (double& value : percent.values) value *= 100;
  }
  for (std::size_t i = 0; i < up.values.size(); ++i) {
    const double y = inner.bottom() - (up.values[i] - m_y.low) / std::max(m_y.span(), 1e-300) * inner.height();
    painter.setPen(theme.hairline(Colour::grid));
    painter.drawLine(QPointF(frame.left(), std::floor(y) + 0.5), QPointF(frame.right(), std::floor(y) + 0.5));
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(QRectF(0, y - lineHeight, frame.left() - 8, 2 * lineHeight), Qt::AlignRight | Qt::AlignVCenter,
                     tickLabel(percent.values[i], percent));
  }
  const Ticks along = m_log ? logTicks(m_x, 8) : linearTicks(m_x, 6);
  double end = -1e9;
  for (const double value : along.values) {
    const QString text = value == 0 ? QStringLiteral("0") : qt(costText(*m_kind, value));
    const double x = inner.left() + shareOf(value) * inner.width(),
                 half = QFontMetricsF(painter.font()).horizontalAdvance(text) / 2;
    if (x - half < end + 12 || x + half > width()) continue;
    end = x + half;
    painter.drawText(QRectF(x - half - 1, frame.bottom() + 4, 2 * half + 2, lineHeight), Qt::AlignCenter, text);
  }
  painter.setFont(theme.font(FontRole::axis));
  painter.drawText(QRectF(frame.left(), frame.bottom() + 6 + lineHeight, frame.width(), lineHeight + 2),
                   Qt::AlignCenter, m_xTitle);
  painter.drawText(QRectF(12, 2, frame.width(), lineHeight + 4), Qt::AlignLeft | Qt::AlignVCenter,
                   m_plan.share ? m_yTitle + ", %" : m_yTitle);
}

// What can be had for a cost: level until the next trial of the front, and on to the right.
void FrontPicture::paintFront(QPainter& painter) const {
  if (m_firstOfFront == m_dots.size()) return;
  QPolygonF line;
  for (std::size_t i = m_firstOfFront; i < m_dots.size(); ++i) {
    const QPointF at = placeOf(m_dots[i]);
    if (!line.isEmpty()) line << QPointF(at.x(), line.back().y());
    line << at;
  }
  line << QPointF(plot().right(), line.back().y());
  painter.setPen(QPen(Theme::of(this).colour(Colour::accent), 1.5, Qt::SolidLine, Qt::FlatCap, Qt::MiterJoin));
  painter.setBrush(Qt::NoBrush);
  painter.drawPolyline(line);
}

void FrontPicture::paintDots(QPainter& painter) const {
  const Theme& theme = Theme::of(this);
  for (const Dot& dot : m_dots) {
    const QColor colour = theme.colour(dot.isOnFront ? Colour::accent : Colour::text3);
    const double radius = (dot.isOnFront ? kFrontDot : kDot) + (dot.number == m_chosen ? 2 : 0);
    // A trial that has not come to its end is a ring.
    painter.setPen(dot.isDone ? QPen(theme.colour(Colour::surface), 1) : QPen(colour, 1.5));
    painter.setBrush(dot.isDone ? QBrush(colour) : QBrush(theme.colour(Colour::surface)));
    painter.drawEllipse(placeOf(dot), radius, radius);
  }
}

void FrontPicture::paintCard(QPainter& painter) const {
  const Dot* const dot = chosen();
  if (!dot) return;
  const Theme& theme = Theme::of(this);
  painter.setFont(theme.font(FontRole::caption));
  const QFontMetricsF metrics(painter.font());
  double wide = 0;
  for (const QString& each : dot->words) wide = std::max(wide, metrics.horizontalAdvance(each));
  wide = std::min(wide, width() - 40.0);
  const double line = metrics.height() + 2;
  const auto most = static_cast<qsizetype>(std::max(2.0, (height() - 24) / line));
  const qsizetype lines = std::min<qsizetype>(dot->words.size(), most);
  const QPointF at = placeOf(*dot);
  QRectF card(at.x() + 12, at.y() - 8, wide + 20, static_cast<double>(lines) * line + 12);
  if (card.right() > width() - 4) card.moveRight(std::max(card.width() + 4, at.x() - 12));
  card.moveTop(std::clamp(card.top(), 4.0, std::max(4.0, height() - card.height() - 4)));
  painter.setPen(theme.hairline(Colour::lineStrong));
  painter.setBrush(theme.colour(Colour::raised));
  painter.drawRoundedRect(card, theme.radius(Radius::chip), theme.radius(Radius::chip));
  for (qsizetype i = 0; i < lines; ++i) {
    painter.setPen(theme.colour(i == 0 ? Colour::text : Colour::text2));
    const QString text = i + 1 == lines && lines < dot->words.size() ? QStringLiteral("…") : dot->words[i];
    painter.drawText(QRectF(card.left() + 10, card.top() + 6 + static_cast<double>(i) * line, wide, line),
                     Qt::AlignLeft | Qt::AlignVCenter, metrics.elidedText(text, Qt::ElideMiddle, wide));
  }
}

void FrontPicture::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  if (plot().height() < 40) return;
  if (m_dots.empty()) {
    painter.setPen(theme.colour(Colour::text3));
    painter.setFont(theme.font(FontRole::body));
    painter.drawText(rect(), Qt::AlignCenter, m_empty);
    return;
  }
  paintAxes(painter);
  painter.setRenderHint(QPainter::Antialiasing);
  paintFront(painter);
  paintDots(painter);
  paintCard(painter);
}

void FrontPicture::mouseMoveEvent(QMouseEvent* event) {
  choose(dotAt(event->position()));
  setCursor(m_chosen ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void FrontPicture::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (const int number = dotAt(event->position())) Q_EMIT trialClicked(number);
}

void FrontPicture::leaveEvent(QEvent*) {
  choose(0);
}

void FrontPicture::keyPressEvent(QKeyEvent* event) {
  const std::vector<int> numbers = front();
  const bool back = event->key() == Qt::Key_Left, on = event->key() == Qt::Key_Right;
  if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && m_chosen) {
    Q_EMIT trialClicked(m_chosen);
  } else if ((back || on) && !numbers.empty()) {
    const auto now = std::find(numbers.begin(), numbers.end(), m_chosen);
    auto place = now == numbers.end() ? (on ? 0 : static_cast<std::ptrdiff_t>(numbers.size()) - 1)
                                      : now - numbers.begin() + (on ? 1 : -1);
    place = std::clamp<std::ptrdiff_t>(place, 0, static_cast<std::ptrdiff_t>(numbers.size()) - 1);
    choose(numbers[static_cast<std::size_t>(place)]);
  } else if (event->key() == Qt::Key_Escape && m_chosen) {
    choose(0);
  } else {
    QWidget::keyPressEvent(event);
  }
}

}  // namespace loom
