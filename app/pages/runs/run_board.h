#pragma once
// Which charts the Runs page shows: the metric by which runs are compared, their loss, and any other curve of their
// logs, each with its scale. Taken away is undone; saved views keep all of it.
#include <QJsonArray>
#include <QObject>
#include <functional>
#include <vector>

class QMenu;

namespace loom {

class ChartStack;
class LineChart;

class RunBoard : public QObject {
  Q_OBJECT

 public:
  static constexpr const char *kMetric = "metric", *kLoss = "loss";  // charts that are always there, shown or not
  static constexpr int kMostCharts = 8;

  struct Chart {
    QString series;  // kMetric, kLoss, or of the log: "step.gradient_norm"
    LineChart* panel = nullptr;
  };

  // Both panels are of `stack`.
  RunBoard(ChartStack& stack, LineChart& metric, LineChart& loss, QObject* parent);

  const std::vector<Chart>& charts() const { return m_charts; }  // that are shown, in their order; never empty
  bool shows(const QString& series) const { return chart(series) != nullptr; }
  const Chart* chart(const QString& series) const;
  QString titleOf(const Chart& chart) const;
  bool isFull() const { return m_charts.size() >= kMostCharts; }
  void add(const QString& series);
  void remove(const QString& series);  // not the last one
  void replace(const QString& series, const QString& by);

  QJsonArray save() const;  // [{"series": "step.gradient_norm", "log": true}]
  void restore(const QJsonArray& charts);
  static QJsonArray usual();  // metric and loss, as far as nobody chose otherwise

 Q_SIGNALS:
  void changed();
  void choosing(const QString& series, LineChart* panel);  // a person wants another curve in its place
  void removed(const QString& title, const QJsonArray& before);

 private:
  LineChart* panelFor(const QString& series);
  void discard(const Chart& chart);
  void fillMenu(LineChart* panel, QMenu& menu);

  ChartStack& m_stack;
  LineChart &m_metric, &m_loss;
  std::vector<Chart> m_charts;
};

}  // namespace loom
