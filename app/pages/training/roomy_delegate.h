#pragma once
// Cells whose words begin and end where those of the heading do, with room between two columns.
#include <QApplication>
#include <QPainter>
#include <QStyledItemDelegate>

namespace loom {

class RoomyDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyleOptionViewItem ground(option);
    initStyleOption(&ground, index);
    ground.text.clear();
    ground.icon = {};
    ground.features &= ~QStyleOptionViewItem::HasDecoration;
    QApplication::style()->drawControl(QStyle::CE_ItemViewItem, &ground, painter, option.widget);
    QStyleOptionViewItem words(option);
    words.rect.adjust(kRoom, 0, -kRoom, 0);
    words.state &= ~(QStyle::State_Selected | QStyle::State_MouseOver | QStyle::State_HasFocus);
    QStyledItemDelegate::paint(painter, words, index);
  }
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    return QStyledItemDelegate::sizeHint(option, index) + QSize(4 * kRoom, 0);
  }

 private:
  static constexpr int kRoom = 5;  // beside the style's own three
};

}  // namespace loom
