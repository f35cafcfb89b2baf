#include "widgets/table/cell_pictures.h"

#include <QPainter>

namespace loom {

void CellPictures::paint(QPainter& painter, const QRect& place, Kind kind, int variant,
                         const std::function<void(QPainter& painter, const QRectF& place)>& draw) {
  const double ratio = painter.device()->devicePixelRatioF();
  const Key key{kind, variant, place.size(), ratio};
  const QPixmap* kept = m_pictures.object(key);
  if (!kept) {
    auto* const fresh = new QPixmap(place.size() * ratio);
    fresh->setDevicePixelRatio(ratio);
    fresh->fill(Qt::transparent);
    QPainter own(fresh);
    draw(own, QRectF(QPointF(), QSizeF(place.size())));
    own.end();
    m_pictures.insert(key, fresh);
    kept = fresh;
  }
  painter.drawPixmap(place.topLeft(), *kept);
}

}  // namespace loom
