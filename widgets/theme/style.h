#pragma once
// Fusion with what a stylesheet cannot draw in the theme's colours without bitmaps: check marks, radio dots, tree
// branches, no dotted focus frame (FocusRing does that).
#include <QProxyStyle>

namespace loom {

class Style : public QProxyStyle {
  Q_OBJECT

 public:
  Style();
  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
  int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override;
  int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                QStyleHintReturn* data) const override;
};

// A check box of 16 x 16 at the middle of `rect`, as forms and table cells have it.
void paintCheckBox(QPainter& painter, const QRectF& rect, Qt::CheckState state, bool enabled, bool hovered = false);

}  // namespace loom
