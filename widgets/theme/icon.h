#pragma once
// Icons by name, from resources/icons/NAME.svg (16 x 16, black strokes), tinted with a colour of the theme and drawn at
// the device's own ratio; cached until the theme changes. Names that start with "status-" are the status shapes
// (status.h).
#include <QIcon>
#include <QPixmap>
#include <QString>

#include "widgets/theme/tokens.h"

class QPainter;
class QRectF;

namespace loom {

// Follows the theme by itself: keep it as long as you like. Disabled looks disabled; Selected and checked use
// accentText.
QIcon icon(const QString& name, Colour colour = Colour::text2);

// For delegates and items; an unknown name draws nothing.
void paintIcon(QPainter& painter, const QString& name, const QRectF& rect, const QColor& colour);
QPixmap iconPixmap(const QString& name, const QColor& colour, double size, double deviceRatio);

// The icon of a layer's entry: its own where there is one, else its category's, else that of "shape".
QString layerIcon(const QString& entryIcon, const QString& category);

bool hasIcon(const QString& name);
QStringList iconNames();
void clearIconCache();  // Theme calls this

// The program's mark: warp in the accent, weft in ink, as woven. `size` logical pixels square.
void paintMark(QPainter& painter, const QRectF& rect);
QIcon applicationIcon();

}  // namespace loom
