#pragma once
// Paints a host in the list: icon, name and kind; what it offers; its sign in words.
#include <QStyledItemDelegate>

namespace loom {

enum HostRole { hostId = Qt::UserRole, hostKind, hostOffer, hostStatus, hostWords };

class HostDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  static int height(const QWidget* view);  // of a host, by the text size
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override {
    return {200, height(option.widget)};
  }
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

}  // namespace loom
