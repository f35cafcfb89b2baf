#pragma once
// The fonts of what is drawn on the canvas, asked of the theme once and not for each card: making a font and finding
// its face costs more than painting its word.
#include <QFont>
#include <QFontMetricsF>
#include <QHash>
#include <cstddef>

#include "widgets/canvas/prepared_text.h"

namespace loom {

struct CanvasFonts {
  QFont title, far, small, chip, figure;
  QFontMetricsF titleMetrics, farMetrics, smallMetrics, chipMetrics, figureMetrics;
  std::size_t number;  // another whenever the theme changed: texts that were laid out by older ones are stale

  static const CanvasFonts& now();

  // Shortened by `mode` where it is wider than `room`.
  static PreparedText fitted(const QString& text, const QFont& font, const QFontMetricsF& metrics, double room,
                             Qt::TextElideMode mode);
  // What many cards say in the same words, laid out once for all of them.
  PreparedText usual(const QString& text, const QFont& font, const QFontMetricsF& metrics, double room = 1e6) const;

 private:
  explicit CanvasFonts(std::size_t number);
  mutable QHash<QString, PreparedText> m_usual;
};

}  // namespace loom
