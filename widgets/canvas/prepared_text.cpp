#include "widgets/canvas/prepared_text.h"

#include <QPaintEngine>
#include <QPainter>
#include <QTextLayout>

namespace loom {

PreparedText::PreparedText(const QString& text, const QFont& font) : m_text(text), m_font(font) {
  if (text.isEmpty()) return;
  constexpr double kNoEnd = 1e6;
  QTextOption option;
  option.setWrapMode(QTextOption::NoWrap);
  QTextLayout layout(text, font);
  layout.setTextOption(option);
  layout.beginLayout();
  QTextLine line = layout.createLine();
  line.setLineWidth(kNoEnd);
  layout.endLayout();
  m_width = line.naturalTextWidth();
  m_ascent = line.ascent();
  m_runs = layout.glyphRuns();
}

void PreparedText::draw(QPainter& painter, double x, double baseline) const {
  if (m_runs.isEmpty()) return;
  if (painter.paintEngine()->type() != QPaintEngine::Raster) {
    painter.setFont(m_font);
    painter.drawText(QPointF(x, baseline), m_text);
    return;
  }
  for (const QGlyphRun& run : m_runs) painter.drawGlyphRun(QPointF(x, baseline - m_ascent), run);
}

}  // namespace loom
