#pragma once
// What many cells show alike (a box, a swatch, the shape of a state), drawn once: QPainter takes its time for round
// corners, and divides them among threads for which the window would wait.
#include <QCache>
#include <QPixmap>
#include <functional>

class QPainter;

namespace loom {

class CellPictures {
 public:
  enum class Kind { box, swatch, status };
  // Draws at `place` what `draw` draws into a rectangle of its size that begins at 0, 0; `variant` says which of its
  // kind it is.
  void paint(QPainter& painter, const QRect& place, Kind kind, int variant,
             const std::function<void(QPainter& painter, const QRectF& place)>& draw);
  void clear() { m_pictures.clear(); }  // the theme is another

 private:
  struct Key {
    Kind kind;
    int variant;
    QSize size;
    double ratio;
    bool operator==(const Key&) const = default;
    friend std::size_t qHash(const Key& key, std::size_t seed) {
      return qHashMulti(seed, static_cast<int>(key.kind), key.variant, key.size.width(), key.size.height(), key.ratio);
    }
  };
  QCache<Key, QPixmap> m_pictures{200};
};

}  // namespace loom
