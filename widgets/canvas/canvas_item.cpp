#include "widgets/canvas/canvas_item.h"

#include "widgets/canvas/network_scene.h"

namespace loom {

CanvasItem::~CanvasItem() {
  tell();
}

// A scene that is going is none of ours any more.
void CanvasItem::tell() const {
  if (auto* scene = qobject_cast<NetworkScene*>(this->scene())) scene->looksOtherwise();
}

void CanvasItem::update() {
  tell();
  QGraphicsItem::update();
}

// Told by Qt of what does not go through update(): shown, hidden, fainter, above another.
QVariant CanvasItem::itemChange(GraphicsItemChange change, const QVariant& value) {
  if (change == ItemVisibleHasChanged || change == ItemOpacityHasChanged || change == ItemZValueHasChanged ||
      change == ItemSceneHasChanged)
    tell();
  return QGraphicsItem::itemChange(change, value);
}

}  // namespace loom
