#pragma once
// What stands on a canvas: says to its scene that it looks otherwise, so that a view knows at once whether the picture
// that it keeps still holds.
#include <QGraphicsItem>

namespace loom {

class CanvasItem : public QGraphicsItem {
 public:
  ~CanvasItem() override;
  void update();  // instead of QGraphicsItem's

 protected:
  QVariant itemChange(GraphicsItemChange change, const QVariant& value) override;

 private:
  void tell() const;
};

}  // namespace loom
