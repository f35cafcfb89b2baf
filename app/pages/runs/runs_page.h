#pragma once
// Which is best, and why? Every run of the project in a table, the chosen ones overlaid in charts.
#include <QJsonArray>
#include <QPointer>
#include <QTimer>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "app/page.h"
#include "app/pages/runs/run_rows.h"
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
  bool settled() const override;

  RunsModel& model() const { return *m_model; }
  RunRows& rows() const { return *m_rows; }
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
  void connectCharts();
  void setLines();                                              // which runs are drawn, in which colours
  void setDiffering(const std::vector<RunRows::Drawn>& drawn);  // the panel of settings
  void setRange();
  void soon();  // all of it anew, with the next frame
  void refreshSoon();
  void showPanels();
  void highlight(const QString& line);
  QString chosenLine() const;  // of the one row that is selected
  void choose(const QString& id);
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
  void groupMenu(const QModelIndex& index);
  void chooseGrouping();
  void setGrouped(bool grouped);
  void refreshGrouping();
  bool isGroup(const QModelIndex& index) const;
  QJsonObject currentView() const;
  void openView(const QJsonObject& view);
  void openSavedView(int number);
  int savedView(const QString& name) const;  // -1 for none
  void saveView(const QString& name);
  void removeView(const QString& name);
  void tellViews(const QString& sentence, const QJsonArray& before);
  void refreshViews();
  void chooseView();
  void nameView();
  void makeTableCommands();
  const RunRecord* runMeant(const QJsonObject& arguments) const;
  void moreSeeds(const QString& run);
  QStringList selected() const;

  RunsModel* m_model;
  RunRows* m_rows;
  DataTable* m_table;
  QLabel *m_count, *m_badge;
  SearchField* m_search;
  Button *m_compare, *m_group, *m_viewButton;
  SegmentedControl *m_unit, *m_which;  // the x axis; which chart in a narrow window
  SmoothingSlider* m_smoothing;
  Switch *m_logX, *m_logLoss;
  ChartStack* m_charts;
  LineChart *m_metric, *m_loss;
  ParallelAxes* m_differing;
  Splitter* m_split;
  QStackedWidget* m_views;
  QPointer<Popover> m_card;
  QJsonArray m_saved;  // views: name and what currentView() was
  QString m_view;      // name of the one that was opened last
  QTimer m_soon, m_columnsSoon;
  qint64 m_soonCost = 0;             // milliseconds of the last refresh: where that is much, they are rarer
  std::int64_t m_points = 0;         // as they were drawn last
  QStringList m_drawn;               // lines: runs and groups
  QHash<QString, QString> m_lineOf;  // of each run that is drawn, by itself or in a mean
  std::map<QString, std::unique_ptr<OutlineQuestion>> m_outlines;  // of those runs
  std::map<std::pair<QString, std::string>, std::shared_ptr<StoreSeries>>
      m_sources;      // of those lines, by run and series
  int m_edited = -1;  // a column that is shown while it is written into
};

}  // namespace loom
