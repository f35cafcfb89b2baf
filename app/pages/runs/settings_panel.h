#pragma once
// The settings and arguments of layers that differ in all runs that the filter leaves, and what came of them: as
// parallel axes, as a scatter of one setting, or as what each of them moves (a random forest). Ranges that are brushed
// hold for the table and the curves, too.
#include <QHash>
#include <QJsonArray>
#include <QTimer>
#include <QWidget>
#include <map>
#include <optional>
#include <vector>

#include "launcher/store/setting_values.h"
#include "widgets/chart/format.h"
#include "widgets/chart/parallel_axes.h"
#include "widgets/document/newest_task.h"

class QStackedWidget;

namespace loom {

class ChoiceField;
class RunMetrics;
struct RunRecord;
class RunRows;
class RunsModel;
class ScatterPlot;
class SegmentedControl;
class WeightBars;

class SettingsPanel : public QWidget {
  Q_OBJECT

 public:
  enum Look { axes, scatter, importance };
  SettingsPanel(RunsModel& model, RunRows& rows, const RunMetrics& metrics, QWidget* parent = nullptr);

  void refresh(const QHash<QString, int>& colours);  // of the runs that are drawn
  bool isEmpty() const { return m_lines->empty(); }
  void setHighlighted(const QString& run);
  ParallelAxes& parallel() const { return *m_parallel; }
  ScatterPlot& scatterPlot() const { return *m_scatter; }
  WeightBars& weights() const { return *m_weights; }
  bool isWeighing() const { return m_weighSoon.isActive() || m_weigh.busy(); }

  int look() const;
  void setLook(int look);
  QJsonArray saveBrushes() const;
  void restoreBrushes(const QJsonArray& brushes);

 Q_SIGNALS:
  void lineHovered(const QString& run);  // empty: none
  void lineClicked(const QString& run);
  void brushesChanged();

 private:
  // Of a row of the model; `name`: SettingValues' number of the key.
  AxisValue valueOf(int row, const QString& key) const { return valueOf(row, key, nameOf(key)); }
  AxisValue valueOf(int row, const QString& key, std::uint32_t name) const;
  AxisValue resultOf(const RunRecord& run) const;
  const AxisValue& valueOf(SettingId id) const;
  AxisValue argumentOf(int row, const std::string& name) const;
  std::vector<ParallelAxes::Axis> differing() const;
  std::uint32_t nameOf(const QString& key) const;
  bool differ(const std::vector<int>& rows, const QString& key) const;
  void takeBrushes(const std::vector<AxisBrush>& brushes);
  void applyBrushes();
  void setShades(std::vector<ParallelLine>& lines) const;
  void shadeAnew();
  void showLook();
  void fillChoices();
  void weighSoon();
  void weigh();

  RunsModel& m_model;
  RunRows& m_rows;
  const RunMetrics& m_metrics;
  SegmentedControl* m_look;
  ChoiceField *m_colourBy, *m_x;
  QStackedWidget* m_stack;
  ParallelAxes* m_parallel;
  ScatterPlot* m_scatter;
  WeightBars* m_weights;
  struct Drawn {  // of what the lines were made
    std::int64_t revision = -1;
    int most = 0;
    bool grouped = false;
    QStringList differing;
    std::vector<std::string> arguments;
    QString metric;
    QHash<QString, int> colours;
    bool operator==(const Drawn&) const = default;
  };
  Drawn m_drawn;
  std::vector<ParallelAxes::Axis> m_axes;  // the last one is the result
  ParallelLines m_lines = std::make_shared<const std::vector<ParallelLine>>();
  std::vector<AxisBrush> m_brushes;
  QTimer m_applySoon, m_weighSoon;
  NewestTask m_weigh;
  std::size_t m_weighed = 0;  // what the weights that are shown were found from
  QString m_highlighted;
  // Of thousands of runs few values are different: their texts are made once.
  mutable std::map<std::pair<ValueKind, double>, QString> m_resultTexts;
  mutable std::vector<std::optional<AxisValue>> m_values;  // by SettingId
};

}  // namespace loom
