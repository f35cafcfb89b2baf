#pragma once
// Panels under each other (or side by side) on one x axis: the x numbers stand under the last one, one tooltip serves
// all, the cursor goes through all, and Follow appears while a person has zoomed.
#include <QWidget>
#include <functional>
#include <map>
#include <vector>

#include "widgets/chart/line_chart.h"

class QGridLayout;

namespace loom {

class Button;
class ChartTooltip;

class ChartStack : public QWidget {
  Q_OBJECT

 public:
  explicit ChartStack(Qt::Orientation direction = Qt::Vertical, QWidget* parent = nullptr);

  XAxisModel* axis() { return &m_axis; }
  LineChart* addPanel(const QString& title, const QString& subtitle = {}, int stretch = 1);
  void removePanel(LineChart* panel);  // deletes it; never the last one
  // Panels side by side: these, in this order and in rows of so many. In one row each has the width that its stretch
  // gives it, in several all are equally wide.
  void arrange(const std::vector<LineChart*>& shown, int perRow);
  const std::vector<LineChart*>& panels() const { return m_panels; }
  void setMargins(int left, int right);

  // What the tooltip says besides the values: for x its heading ("Step 462") and the quiet word at the right
  // ("epoch 42.0, 14:03:54").
  struct Caption {
    QString heading, remark;
  };
  void setCaption(std::function<Caption(double x)> caption);
  void placeTooltip();  // also: the caption has more to say than it had
  void setSmoothing(double weight);
  void setHighlighted(const QString& id);
  void refresh();
  void drawNow();

 Q_SIGNALS:
  void lineClicked(const QString& id);
  void lineHovered(const QString& id);
  void smoothingRequested(double weight);
  void exported(const QString& file, bool written);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fitLabels();
  XAxisModel m_axis;
  QGridLayout* m_layout;
  std::map<const LineChart*, int> m_stretch;
  std::pair<int, std::vector<LineChart*>> m_arranged;  // in rows of how many, which
  std::vector<LineChart*> m_panels;
  std::function<Caption(double)> m_caption;
  ChartTooltip* m_tooltip;
  Button* m_follow;
  Qt::Orientation m_direction;
  int m_left = 46, m_right = 118;
};

}  // namespace loom
