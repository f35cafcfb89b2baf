#pragma once
// Two drawings laid over each other, whole at first; the wheel zooms, dragging moves, a double click shows all again.
// Signs say what colours say: plus what came, minus what went, a triangle what changed. Nodes of a drawing may stand in
// the colours of a figure of theirs instead.
#include <QHash>
#include <QWidget>
#include <optional>
#include <vector>

#include "app/pages/runs/drawing_overlay.h"

namespace loom {

struct NodeFigure {
  int step = -1;        // of the colours of a cost, CostScale
  QString card, words;  // as it stands on the card; all there is to say
  // Of the first drawing, for the left half of the card; nothing: the whole card is of one.
  std::optional<int> before = {};
};

class OverlayView : public QWidget {
  Q_OBJECT

 public:
  explicit OverlayView(QWidget* parent = nullptr);
  void setOverlay(DrawingOverlay overlay);
  void setMessage(const QString& message);  // in its place
  const DrawingOverlay& overlay() const { return m_overlay; }
  // Of nodes by id, and what they are of. Without a title what differs is shown again.
  void setFigures(QHash<QString, NodeFigure> figures, const QString& title);
  const QHash<QString, NodeFigure>& figures() const { return m_figures; }
  QString title() const { return m_title; }
  QString summary() const;                 // "1 added, 2 removed, 1 changed"
  QRectF cardOf(const QString& id) const;  // in the widget; empty for none
  bool isNamed(const QString& id) const;   // its name is seen, on the card or beside it
  int namedNodes() const;

  QSize sizeHint() const override { return {440, 300}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void fit();
  QRectF shown(const QRectF& card) const;
  QPointF shown(const QPointF& at) const { return at * m_scale + m_offset; }
  void paintNode(QPainter& painter, const OverlayNode& node) const;
  void paintWords(QPainter& painter, const OverlayNode& node, const NodeFigure& figure, const QColor& ink) const;
  bool hasWordsInside(const QRectF& card) const;
  // Where the names stand that have no room on their cards, by node; empty: on its card, or nowhere.
  std::vector<QRectF> namesBeside() const;
  QString wordsBeside(const OverlayNode& node) const;

  DrawingOverlay m_overlay;
  QHash<QString, NodeFigure> m_figures;
  QString m_message, m_title;
  double m_scale = 1;
  QPointF m_offset;
  bool m_fitted = true;
  std::optional<QPointF> m_grip;
};

}  // namespace loom
