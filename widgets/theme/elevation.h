#pragma once
// The shadow under what floats: four stacked translucent rounded rectangles, drawn once into a nine-patch pixmap.
#include <QRectF>

class QPainter;

namespace loom {

enum class Elevation { node = 1, menu = 2 };

// How far a shadow reaches beyond its card; a window of its own leaves this margin round itself.
int shadowMargin(Elevation elevation);

// Whether what is painted becomes lines and areas of a file (SVG, PDF) and no pixels: shadows, which are pixels, are
// left out there.
bool paintsVectors(const QPainter& painter);

// Paints only the shadow; the card is painted over it by the caller.
void paintShadow(QPainter& painter, const QRectF& card, double radius, Elevation elevation);

// A card on `raised` with hairline and shadow, as popovers, tooltips and opened units have it.
void paintCard(QPainter& painter, const QRectF& card, double radius, Elevation elevation);

}  // namespace loom
