#pragma once
// Lays its items out in lines, as words in a paragraph; every line as high as its highest item, items centred in it.
// Hidden ones take no room.
#include <QLayout>
#include <memory>
#include <vector>

namespace loom {

class FlowLayout : public QLayout {
 public:
  explicit FlowLayout(QWidget* parent, int spacing = 6);
  ~FlowLayout() override;

  void addItem(QLayoutItem* item) override;
  void insertWidget(int index, QWidget* widget);
  int count() const override { return static_cast<int>(m_items.size()); }
  QLayoutItem* itemAt(int index) const override;
  QLayoutItem* takeAt(int index) override;
  Qt::Orientations expandingDirections() const override { return {}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  void setGeometry(const QRect& rect) override;
  QSize sizeHint() const override { return minimumSize(); }
  QSize minimumSize() const override;

 private:
  int arrange(const QRect& rect, bool place) const;
  std::vector<QLayoutItem*> m_items;
};

}  // namespace loom
