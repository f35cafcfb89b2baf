#include "app/shell/host_button.h"

#include <QPainter>

#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kSide = 11, kSign = 16, kGap = 8, kWidestName = 150;

}  // namespace

HostButton::HostButton(QWidget* parent) : Button({}, ButtonKind::outlined, parent) {
  connect(&Theme::of(this), &Theme::changed, this, [this] {
    updateGeometry();
    update();
  });
}

void HostButton::setHost(const QString& name, const QString& ranks, const QString& fault) {
  if (name == m_name && ranks == m_ranks && fault == m_fault) return;
  m_name = name;
  m_ranks = ranks;
  m_fault = fault;
  setAccessibleName(tr("Host: %1 %2 %3").arg(name, ranks, fault).trimmed());
  setToolTip(fault.isEmpty() ? tr("Where Train starts a run") : tr("%1: %2").arg(name, fault));
  updateGeometry();
  update();
}

void HostButton::setNarrow(bool narrow) {
  m_narrow = narrow;
  updateGeometry();
  update();
}

QSize HostButton::sizeHint() const {
  const Theme& theme = Theme::of(this);
  int width = 2 * kSide + kSign;
  if (!m_narrow) {
    width +=
        kGap + std::min(kWidestName,
                        QFontMetrics(Theme::withWeight(theme.font(FontRole::body), 500)).horizontalAdvance(m_name) + 1);
    if (!m_ranks.isEmpty()) width += kGap + QFontMetrics(theme.font(FontRole::label)).horizontalAdvance(m_ranks) + 1;
    width += 6 + kSign;
  }
  return {width, theme.size(Size::buttonTop)};
}

void HostButton::paintEvent(QPaintEvent* event) {
  Button::paintEvent(event);
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const double middle = height() / 2.0;
  if (m_fault.isEmpty())
    paintIcon(painter, "host", QRectF(kSide, middle - 8, 16, 16), theme.colour(Colour::text2));
  else
    paintStatus(painter, Status::warning, QRectF(kSide + 1, middle - 7, 14, 14), theme.colour(Colour::warning));
  if (m_narrow) return;
  int x = kSide + kSign + kGap;
  const int end = width() - kSide - kSign - 6;
  const QFont label = theme.font(FontRole::label);
  const int ranks = m_ranks.isEmpty() ? 0 : QFontMetrics(label).horizontalAdvance(m_ranks) + 1;
  painter.setFont(Theme::withWeight(theme.font(FontRole::body), 500));
  painter.setPen(theme.colour(Colour::text));
  const int name = end - x - (ranks ? ranks + kGap : 0);
  painter.drawText(QRect(x, 0, name, height()), Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(m_name, Qt::ElideMiddle, name));
  painter.setFont(label);
  painter.setPen(theme.colour(Colour::text3));
  painter.drawText(QRect(end - ranks, 0, ranks, height()), Qt::AlignVCenter | Qt::AlignRight, m_ranks);
  paintIcon(painter, "chevron-down", QRectF(width() - kSide - kSign, middle - 8, 16, 16), theme.colour(Colour::text2));
}

}  // namespace loom
