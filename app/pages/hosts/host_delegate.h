#pragma once
// Paints a host in the list: icon, name and kind; what it offers; its sign in words.
#include <QStyledItemDelegate>

namespace loom {

enum HostRole { hostId = Qt::UserRole, hostKind, hostOffer, hostStatus, hostWords };

class HostDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  static constexpr int kHeight = 80;
  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override { return {200, kHeight}; }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace loom
