#pragma once
// The one tooltip of a page of charts: heading, then a row a line with its sign, name and value. Lets the mouse
// through.
#include <QColor>
#include <QWidget>
#include <vector>

#include "widgets/chart/chart_line.h"

namespace loom {

struct TooltipRow {
  ChartLine line;
  QColor colour;
  double value = 0;
  bool nearest = false;
};

class ChartTooltip : public QWidget {
  Q_OBJECT

 public:
  explicit ChartTooltip(QWidget* parent);
  // Ten rows are shown, the others are counted.
  void setContent(const QString& heading, const QString& remark, const std::vector<TooltipRow>& rows);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString m_heading, m_remark;
  std::vector<TooltipRow> m_rows;
  std::size_t m_more = 0;
};

}  // namespace loom
