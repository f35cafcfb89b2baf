#pragma once
// Words on the canvas, laid out once and drawn at any zoom: Qt's own static text is laid out anew at every scale, which
// a turn of the wheel pays for each card. GUI thread.
#include <QFont>
#include <QGlyphRun>
#include <QList>
#include <QString>

class QPainter;

namespace loom {

class PreparedText {
 public:
  PreparedText() = default;
  PreparedText(const QString& text, const QFont& font);

  bool isEmpty() const { return m_runs.isEmpty(); }
  double width() const { return m_width; }
  // In the painter's pen. Where no pixels are painted (SVG, PDF) it stays text.
  void draw(QPainter& painter, double x, double baseline) const;

 private:
  QString m_text;
  QFont m_font;
  QList<QGlyphRun> m_runs;
  double m_width = 0, m_ascent = 0;
};

}  // namespace loom
