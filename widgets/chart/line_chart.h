#pragma once
// One panel of curves: title, y axis, lines with their raw band, labels at the line ends, marks, events, live edge,
// cursor. Panels that share an XAxisModel move together; put them into a ChartStack to share the tooltip and the x
// numbers too.
//
//   auto* loss = new LineChart(axis);
//   loss->setTitle("Loss", "lower is better");
//   loss->setLines({{.id = "loss", .name = "training", .source = source}, ...});
//   ... when points arrived: loss->refresh();
#include <QPixmap>
#include <QWidget>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "widgets/chart/chart_data.h"
#include "widgets/chart/chart_line.h"
#include "widgets/chart/curve_layer.h"
#include "widgets/chart/x_axis_model.h"

class QIODevice;
class QMenu;

namespace loom {

// What stands at the right of the lines.
enum class LineEnds {
  none,
  twoLines,  // name over value: few lines of one run
  oneLine,   // name and value in a row: many runs
};

struct PanelMargins {
  int left = 46;
  int right = 118;
  int top = 30;     // title
  int bottom = 12;  // more where the x numbers and what they count stand
};

struct PanelLine {
  ChartLine line;
  LineData data;
  DrawnLine drawn;
};

class LineChart : public QWidget {
  Q_OBJECT

 public:
  explicit LineChart(XAxisModel* axis, QWidget* parent = nullptr);
  ~LineChart() override;

  void setTitle(const QString& title, const QString& subtitle = {});
  QString title() const { return m_title; }
  void setLines(std::vector<ChartLine> lines);
  const std::vector<PanelLine>& lines() const { return m_lines; }
  void setBetter(Better better);
  void setValueKind(ValueKind kind);  // how the y axis writes; accuracy is drawn in percent
  void setLogarithmic(bool on);
  bool isLogarithmic() const { return m_log; }
  void setSmoothing(double weight);               // 0 = raw, below 1
  void setYRange(std::optional<Interval> range);  // fixed; nothing = from the values
  void setBest(std::optional<BestMark> best);
  void setEvents(std::vector<ChartEvent> events, bool flags);  // without flags only the dashed lines
  void setLineEnds(LineEnds ends);
  void setMargins(PanelMargins margins);
  PanelMargins margins() const { return m_margins; }
  void setXNumbers(bool shown);       // the numbers of the x axis under this panel
  void setContinued(bool continued);  // another panel stands above: the cursor's line comes down from it
  QString emptyText() const { return m_empty; }
  void setEmptyText(const QString& text);  // "No run yet. Train starts one here"
  void setHighlighted(const QString& id);  // drawn thicker, the others at 35 %
  // A button at the right of the title opens the panel's menu, which begins with what `fill` puts into it.
  void setMenu(std::function<void(QMenu&)> fill);
  QString highlighted() const { return m_highlighted; }

  void refresh();  // the sources have more: drawn with the next frame
  void drawNow();  // at once: tests, grabbing

  XAxisModel* axis() const { return m_axis; }
  QRectF plot() const;
  double yPixel(double value) const;  // of a value, in the panel
  int roomForLabels() const;          // left of the plot, for the widest number of the y axis
  Interval yRange() const { return m_scale.range; }
  // Points that are seen, and in how many columns: "1.2 M points folded into 2,848 columns".
  std::int64_t shownPoints() const;
  std::size_t shownColumns() const;
  bool everyPointShown() const;

  // The picture as exported: always light. `size` in logical pixels.
  QImage toImage(QSize size, double ratio = 2) const;
  bool toSvg(const QString& file, QSize size) const;
  QString toCsv() const;               // every point of every line, never folded
  void writeCsv(const QString& file);  // the same beside the window's thread; exported() tells
  // Writes the rows of toCsv() without their head, on any thread; false where `out` takes no more. Outlives the panel.
  // `chart`: what a first column says of each row; empty = there is none.
  std::function<bool(QIODevice& out)> csvWriter(const QString& chart = {}) const;
  static QByteArray csvHead(XUnit unit);  // "line,step,value" and a line feed
  QString cursorValues() const;           // of the cursor, as text for the clipboard
  // What the legend says of a line: its value at the cursor, else its last one. And of a panel without one, at the
  // right of its title while there is a cursor: the value of the highlighted line, or from where to where they go.
  QString legendValue(const PanelLine& line) const;
  QString cursorWords() const;
  // What commands do (chart_commands.h).
  void moveCursor(int steps);  // to the next or an earlier point of the line that has most of them
  void goToBest();
  void toggleSmoothing();
  bool showsAll() const { return m_showAll; }
  void setShowsAll(bool all);  // outliers too
  void showEverything();
  void exportTo(const QString& kind);  // asks where to: "png", "svg", "csv"

  QSize sizeHint() const override { return {640, 220}; }
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void lineClicked(const QString& id);
  void lineHovered(const QString& id);     // empty: none
  void smoothingRequested(double weight);  // S
  void drawn();
  void logarithmicChanged(bool on);
  void exported(const QString& file, bool written);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void restyle();  // what follows the text size
  friend class ChartPainter;
  void read();             // sources -> m_lines, y range
  void draw(QSizeF plot);  // m_lines -> pixels
  void openRange();
  Ticks yTicks() const;  // in what the axis writes: percent for shares
  QString lineAt(const QPointF& position) const;
  std::unique_ptr<LineChart> copyFor(QSize size) const;
  void openMenu(const QPoint& at);
  // A value at a line's end, as it was drawn: the cursor writes another over it.
  struct EndValue {
    QRectF place;
    QString line;
    bool bold = false;
  };
  void takeFrom(const LineChart& other);  // everything but the place on the screen

  XAxisModel* m_axis;
  QString m_title, m_subtitle, m_empty;
  std::vector<PanelLine> m_lines;
  std::vector<ChartEvent> m_events;
  std::optional<BestMark> m_best;
  std::optional<Interval> m_fixed;    // from the owner
  std::optional<Interval> m_zoomedY;  // from Shift and wheel
  YScale m_scale;
  Better m_better = Better::lower;
  ValueKind m_kind = ValueKind::loss;
  LineEnds m_ends = LineEnds::twoLines;
  PanelMargins m_margins;
  QString m_highlighted;
  double m_smoothing = 0;
  bool m_log = false;
  bool m_flags = false;
  bool m_xNumbers = true;
  bool m_continued = false;
  bool m_showAll = false;
  bool m_stale = true;
  mutable std::vector<EndValue> m_endValues;
  std::function<void(QMenu&)> m_fillMenu;
  QWidget* m_menuButton = nullptr;
  QPixmap m_picture;
  std::unique_ptr<CurveLayer> m_layer;
  std::optional<QPointF> m_pressed;
  std::optional<QPointF> m_dragged;
};

}  // namespace loom
