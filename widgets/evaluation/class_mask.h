#pragma once
// A class for each place of a picture, laid over it: what is said and what is true in translucent colours, and a line
// around the places where both differ.
#include <QColor>
#include <QImage>
#include <QSet>

#include "engine/run/sample_look.h"

class QPainter;

namespace loom {

class Theme;

// Which layers are seen. With prediction and truth both, places where they differ are striped in the colours of both.
struct MaskLook {
  bool picture = true, truth = false, said = true, outline = true;
  double opacity = 0.5;  // 0 ... 1, of the classes' colours
  QSet<int> hidden;      // classes that have no colour
  bool operator==(const MaskLook&) const = default;
};

QColor maskColour(const Theme& theme, int of);

// Classes and outline alone, `size` device pixels large; the rest is transparent.
QImage maskImage(const Theme& theme, const ClassMap& classes, const MaskLook& look, QSize size);

// The picture, where it is wanted, with its classes over it, as large as fits into `room`. Answers where it stands.
QRectF paintMasked(QPainter& painter, const Theme& theme, const QImage& picture, const ClassMap& classes,
                   const MaskLook& look, const QRectF& room);

}  // namespace loom
