#include "app/pages/hosts/host_delegate.h"

#include <QPainter>

#include "widgets/theme/icon.h"
#include "widgets/theme/status.h"
#include "widgets/theme/theme.h"

namespace loom {

constexpr int kLine = 20, kAround = 20;  // px at 100 % text

int HostDelegate::height(const QWidget* view) {
  return 3 * kLine * Theme::of(view).textSize() / 100 + kAround;
}

void HostDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const Theme& theme = Theme::of(option.widget);
  const bool selected = option.state & QStyle::State_Selected;
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  const QRect card = option.rect.adjusted(8, 2, -8, -2);
  if (selected || option.state & QStyle::State_MouseOver) {
    painter->setPen(Qt::NoPen);
    painter->setBrush(theme.colour(selected ? Colour::selected : Colour::hover));
    painter->drawRoundedRect(card, theme.radius(Radius::node), theme.radius(Radius::node));
  }
  if (selected && option.state & QStyle::State_HasFocus && option.widget->property("keyboard").toBool()) {
    painter->setPen(QPen(theme.colour(Colour::focus), 2));
    painter->setBrush(Qt::NoBrush);
    painter->drawRoundedRect(QRectF(card).adjusted(1, 1, -1, -1), theme.radius(Radius::node),
                             theme.radius(Radius::node));
  }
  const QRect inside = card.adjusted(12, 9, -13, -9);
  paintIcon(*painter, index.data(Qt::DecorationRole).toString(), QRectF(inside.left(), inside.top() + 2, 16, 16),
            theme.colour(selected ? Colour::accentText : Colour::text2));
  const int left = inside.left() + 30, width = inside.right() - left + 1;
  const int step = kLine * theme.textSize() / 100;
  const auto line = [&](int number) { return QRect(left, inside.top() + number * step, width, step); };
  const QFont label = theme.font(FontRole::label);
  const QString kind = index.data(hostKind).toString();
  const int kindWidth = QFontMetrics(label).horizontalAdvance(kind);
  const QFont heading = theme.font(FontRole::heading);
  const QString name = QFontMetrics(heading).elidedText(index.data(Qt::DisplayRole).toString(), Qt::ElideMiddle,
                                                        std::max(width * 2 / 3, width - kindWidth - 12));
  const int nameWidth = QFontMetrics(heading).horizontalAdvance(name);
  painter->setFont(heading);
  painter->setPen(theme.colour(Colour::text));
  painter->drawText(line(0), Qt::AlignVCenter, name);
  painter->setFont(label);
  painter->setPen(theme.colour(Colour::text3));
  const int room = width - nameWidth - 12;
  painter->drawText(line(0), Qt::AlignVCenter | Qt::AlignRight,
                    painter->fontMetrics().elidedText(kind, Qt::ElideRight, room));
  painter->setPen(theme.colour(Colour::text2));
  painter->drawText(line(1), Qt::AlignVCenter,
                    painter->fontMetrics().elidedText(index.data(hostOffer).toString(), Qt::ElideRight, width));
  const auto status = static_cast<Status>(index.data(hostStatus).toInt());
  const QColor colour = theme.colour(statusColour(status));
  paintStatus(*painter, status, QRectF(left, line(2).center().y() - 6.5, 14, 14), colour, 0.12);
  painter->setFont(Theme::withWeight(label, 500));
  painter->setPen(colour);
  painter->drawText(line(2).adjusted(20, 0, 0, 0), Qt::AlignVCenter,
                    painter->fontMetrics().elidedText(index.data(hostWords).toString(), Qt::ElideRight, width - 20));
  painter->restore();
}

}  // namespace loom
