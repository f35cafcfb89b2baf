#include "app/pages/data/column_card.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "app/pages/data/element_table.h"
#include "widgets/chart/format.h"
#include "widgets/controls/text.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kPadding = 12, kLine = 19, kBarPitch = 16, kMostBars = 12, kHistogram = 30;

QString kindWord(VariableKind kind) {
  switch (kind) {
    case VariableKind::image:
      return "image";
    case VariableKind::scalar:
      return "number";
    case VariableKind::vector:
      return "vector";
    case VariableKind::matrix:
      return "matrix";
    case VariableKind::wave:
      return "wave";
  }
  return {};
}

}  // namespace

ColumnCard::ColumnCard(Variable variable, QWidget* parent) : QWidget(parent), m_variable(std::move(variable)) {
  setAccessibleName(QStringLiteral("Column ") + QString::fromStdString(m_variable.name));
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  connect(&Theme::of(this), &Theme::changed, this, [this] { updateGeometry(), update(); });
}

void ColumnCard::setStats(const VariableStats& stats) {
  m_stats = stats;
  // Of a vector each number is a column of its own, with its own range.
  if (m_variable.kind == VariableKind::vector && stats.channels.size() > 1) {
    QStringList names;
    for (std::size_t element = 0; element < stats.channels.size(); ++element) names += elementName(element);
    if (!m_elements) {
      m_elements = new ElementTable(this);
      connect(m_elements, &ElementTable::elementChosen, this, &ColumnCard::elementChosen);
    }
    m_elements->setContent(names, stats);
    m_elements->show();
  }
  placeElements();
  update();
}

void ColumnCard::resizeEvent(QResizeEvent*) {
  placeElements();
}

void ColumnCard::placeElements() {
  if (m_elements) {
    const int across = width() - 2 * (kPadding - ElementTable::kInset);
    m_elements->setGeometry(kPadding - ElementTable::kInset, barsTop(), across, m_elements->heightIn(across));
  }
  updateGeometry();
}

bool ColumnCard::showsHistogram() const {
  return m_stats && m_variable.kind == VariableKind::scalar && m_stats->classes.empty() &&
         m_stats->elements.size() == 1 && m_stats->all.low < m_stats->all.high;
}

void ColumnCard::setClassNames(const QStringList& names) {
  m_classNames = names;
  update();
}

void ColumnCard::setFeeds(const QString& input, const QString& fault) {
  m_feeds = input;
  m_fault = fault;
  updateGeometry();
  update();
}

QStringList ColumnCard::factLines() const {
  QStringList lines;
  QString shape = QString::fromStdString(m_variable.shape.toString());
  if (m_variable.kind == VariableKind::scalar)
    lines += m_stats && !m_stats->classes.empty()
                 ? (isLabel(m_variable) ? QStringLiteral("label, ") : QString()) +
                       counted(static_cast<qint64>(m_stats->classes.size()), QStringLiteral("classes"))
                 : kindWord(m_variable.kind);
  else
    lines += kindWord(m_variable.kind) + " " + shape +
             (m_variable.varying() ? QStringLiteral(", of different lengths") : QString());
  if (m_stats && m_stats->all.count > 0) {
    if (m_elements) return lines;  // one range of unlike numbers says nothing
    lines += QStringLiteral("%1 to %2").arg(formatShort(m_stats->all.low), formatShort(m_stats->all.high));
    if (m_stats->classes.empty())
      lines +=
          QStringLiteral("mean %1, sd %2").arg(formatShort(m_stats->all.mean), formatShort(m_stats->all.deviation));
  }
  return lines;
}

QString ColumnCard::elementName(std::size_t element) const {
  if (element < m_variable.elementLabels.size() && !m_variable.elementLabels[element].empty())
    return QString::fromStdString(m_variable.elementLabels[element]);
  return QString::fromStdString(m_variable.name) + "__" + QString::number(element);
}

int ColumnCard::barsShown() const {
  return m_stats && m_variable.kind == VariableKind::scalar
             ? std::min<int>(static_cast<int>(m_stats->classes.size()), kMostBars)
             : 0;
}

int ColumnCard::barsTop() const {
  return kPadding + kLine * (1 + static_cast<int>(factLines().size())) + 6;
}

QSize ColumnCard::sizeHint() const {
  int height = barsTop() + kPadding - 4;
  if (const int bars = barsShown()) {
    height += bars * kBarPitch + 4;
    if (static_cast<int>(m_stats->classes.size()) > bars) height += kLine;
  }
  if (showsHistogram()) height += kHistogram + 4;
  if (m_elements) height += m_elements->height();
  if (!m_feeds.isEmpty() || !m_fault.isEmpty()) height += kLine + 4;
  return {220, height};
}

void ColumnCard::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(theme.hairline(Colour::line));
  painter.setBrush(theme.colour(Colour::surface));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), theme.radius(Radius::card),
                          theme.radius(Radius::card));

  int y = kPadding;
  const int width = this->width() - 2 * kPadding;
  painter.setFont(theme.font(FontRole::heading));
  painter.setPen(theme.colour(Colour::text));
  QString title = QString::fromStdString(m_variable.name);
  painter.drawText(QRect(kPadding, y, width, kLine), Qt::AlignLeft | Qt::AlignVCenter, title);
  if (!m_variable.label.empty() && m_variable.elementLabels.empty()) {  // those of a vector stand at its numbers
    const int after = painter.fontMetrics().horizontalAdvance(title) + 8;
    painter.setFont(theme.font(FontRole::caption));
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(
        QRect(kPadding + after, y, width - after, kLine), Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(QString::fromStdString(m_variable.label), Qt::ElideRight, width - after));
  }
  y += kLine;
  bool first = true;
  for (const QString& line : factLines()) {
    painter.setFont(first ? theme.font(FontRole::body) : theme.numberFont(FontRole::caption));
    painter.setPen(theme.colour(first ? Colour::text2 : Colour::text3));
    painter.drawText(QRect(kPadding, y, width, kLine), Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(line, Qt::ElideRight, width));
    y += kLine;
    first = false;
  }
  if (const int bars = barsShown()) {
    y = barsTop();
    const std::int64_t most =
        std::max<std::int64_t>(1, *std::max_element(m_stats->classes.begin(), m_stats->classes.end()));
    painter.setFont(theme.numberFont(FontRole::axis));
    const int countWidth = painter.fontMetrics().horizontalAdvance(QString::number(most)) + 8;
    const int nameWidth = m_classNames.isEmpty() ? 22 : 76;
    const int room = width - nameWidth - countWidth;
    for (int i = 0; i < bars; ++i, y += kBarPitch) {
      const std::int64_t count = m_stats->classes[i];
      painter.setPen(theme.colour(Colour::text3));
      const QString name = i < m_classNames.size() ? m_classNames[i] : QString::number(i);
      painter.drawText(QRect(kPadding, y, nameWidth - 8, kBarPitch),
                       Qt::AlignVCenter | (m_classNames.isEmpty() ? Qt::AlignRight : Qt::AlignLeft),
                       painter.fontMetrics().elidedText(name, Qt::ElideRight, nameWidth - 8));
      painter.setPen(Qt::NoPen);
      painter.setBrush(theme.layerColour(QStringLiteral("inputOutput")));
      painter.drawRoundedRect(QRectF(kPadding + nameWidth, y + 4.5, std::max(1.0, double(room) * count / most), 7), 2,
                              2);
      painter.setPen(theme.colour(count == 0 ? Colour::warning : Colour::text2));
      painter.drawText(QRect(kPadding + nameWidth + room, y, countWidth, kBarPitch), Qt::AlignRight | Qt::AlignVCenter,
                       QString::number(count));
    }
    y += 4;
    if (static_cast<int>(m_stats->classes.size()) > bars) {
      painter.setFont(theme.font(FontRole::caption));
      painter.setPen(theme.colour(Colour::text3));
      painter.drawText(QRect(kPadding, y, width, kLine), Qt::AlignVCenter,
                       QStringLiteral("and ") + counted(static_cast<qint64>(m_stats->classes.size()) - bars,
                                                        QStringLiteral("more classes")));
      y += kLine;
    }
  }
  if (showsHistogram())
    paintHistogram(painter, QRectF(kPadding, barsTop(), width, kHistogram), m_stats->elements.front(),
                   theme.colour(Colour::control));
  if (!m_feeds.isEmpty() || !m_fault.isEmpty()) {
    const QRect place(kPadding, height() - kPadding - kLine + 4, width, kLine);
    const bool bad = !m_fault.isEmpty();
    paintIcon(painter, bad ? QStringLiteral("status-failed") : QStringLiteral("inputOutput"),
              QRectF(place.x(), place.y() + 2.5, 14, 14), theme.colour(bad ? Colour::error : Colour::text3));
    painter.setFont(theme.font(FontRole::caption));
    painter.setPen(theme.colour(bad ? Colour::error : Colour::text2));
    painter.drawText(place.adjusted(20, 0, 0, 0), Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(bad ? m_fault : QStringLiteral("feeds ") + m_feeds,
                                                      Qt::ElideRight, width - 20));
  }
}

bool ColumnCard::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip && !m_fault.isEmpty()) {
    QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), m_fault, this);
    return true;
  }
  return QWidget::event(event);
}

}  // namespace loom
