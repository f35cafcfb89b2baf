#pragma once
// Colours without opacity: what opens an exported drawing may know no other, and would paint over what lies below.
#include <QColor>

namespace loom {

// What is seen where `over`, which may be translucent, lies over the opaque `ground`.
inline QColor laidOver(const QColor& over, const QColor& ground) {
  const auto part = [&](int above, int below) {
    return static_cast<int>(below + (above - below) * over.alphaF() + 0.5);
  };
  return {part(over.red(), ground.red()), part(over.green(), ground.green()), part(over.blue(), ground.blue())};
}

}  // namespace loom
