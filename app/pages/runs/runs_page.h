#pragma once
// Which is best, and why? Every run of the project in a table, the chosen ones overlaid in charts.
#include <QPointer>
#include <QTimer>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "app/page.h"
#include "app/run_outline.h"
#include "widgets/chart/series_source.h"

class QLabel;
class QStackedWidget;

namespace loom {

class Button;
class ChartStack;
class DataTable;
class ParallelAxes;
class Popover;
class LineChart;
class RunsFilter;
class RunsModel;
class SearchField;
class SegmentedControl;
class SmoothingSlider;
class Splitter;
class StoreSeries;
class Switch;

class RunsPage : public Page {
  Q_OBJECT

 public:
  explicit RunsPage(AppContext& context, QWidget* parent = nullptr);
  ~RunsPage() override;

  void activated() override;
  bool show(const Place& place) override;
  QString chosenRun() const override;
  QList<QWidget*> areas() const override;
  QList<KeyHint> keyHints() const override;
  QWidget* keyboardHome() override;
  QJsonObject saveLayout() const override;
  void restoreLayout(const QJsonObject& layout) override;
  bool settled() const override { return !m_soon.isActive(); }

  RunsModel& model() const { return *m_model; }
  DataTable& table() const { return *m_table; }
  LineChart& metricChart() const { return *m_metric; }
  LineChart& lossChart() const { return *m_loss; }
  ParallelAxes& differing() const { return *m_differing; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* makeBar();
  QWidget* makeCharts();
  void makeActions();
  void setLines();      // which runs are drawn, in which colours
  void setDiffering();  // the panel of settings
  void setRange();
  void soon();  // all of it anew, with the next frame
  void showPanels();
  void highlight(const QString& id);
  void hover(const QString& id);
  void refreshWords();
  void openSelected();
  void toggleSelected();
  void setColumns();
  void edit(int column);  // in the row itself
  void report(const QString& fault);
  void chooseColour(const QModelIndex& index);
  void hideOthers();
  void deleteSelected();
  void compare();
  void openFolder();
  void contextMenu(const QPoint& place);
  void makeTableCommands();
  const RunRecord* runMeant(const QJsonObject& arguments) const;
  void moreSeeds(const QString& run);
  QStringList selected() const;
  QStringList shown() const;

  RunsModel* m_model;
  RunsFilter* m_filter;
  DataTable* m_table;
  QLabel *m_count, *m_badge;
  SearchField* m_search;
  Button* m_compare;
  SegmentedControl *m_unit, *m_which;  // the x axis; which chart in a narrow window
  SmoothingSlider* m_smoothing;
  Switch *m_logX, *m_logLoss;
  ChartStack* m_charts;
  LineChart *m_metric, *m_loss;
  ParallelAxes* m_differing;
  Splitter* m_split;
  QStackedWidget* m_views;
  QPointer<Popover> m_card;
  QTimer m_soon;
  std::int64_t m_points = 0;                                       // as they were drawn last
  QStringList m_drawn;                                             // runs that the lines were made for
  std::map<QString, std::unique_ptr<OutlineQuestion>> m_outlines;  // of those runs
  std::map<std::pair<QString, std::string>, std::shared_ptr<StoreSeries>>
      m_sources;      // of those lines, by run and series
  int m_edited = -1;  // a column that is shown while it is written into
};

}  // namespace loom
