#pragma once
// Which is best, and why? Every run of the project in a table, the chosen ones overlaid in charts.
#include <QPointer>
#include <QTimer>

#include "app/page.h"
#include "widgets/chart/series_source.h"

class QLabel;
class QSlider;
class QStackedWidget;

namespace loom {

class Button;
class ChartStack;
class DataTable;
class Popover;
class LineChart;
class RunsFilter;
class RunsModel;
class SearchField;
class SegmentedControl;
class Splitter;
class Switch;

class RunsPage : public Page {
  Q_OBJECT

 public:
  explicit RunsPage(AppContext& context, QWidget* parent = nullptr);
  ~RunsPage() override;

  void activated() override;
  bool show(const Place& place) override;
  QList<QAction*> pageActions() const override { return m_actions; }
  QList<QWidget*> areas() const override;
  QWidget* keyboardHome() override;
  QJsonObject saveLayout() const override;
  void restoreLayout(const QJsonObject& layout) override;
  bool settled() const override { return !m_soon.isActive(); }

  RunsModel& model() const { return *m_model; }
  DataTable& table() const { return *m_table; }
  LineChart& metricChart() const { return *m_metric; }
  LineChart& lossChart() const { return *m_loss; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* makeBar();
  QWidget* makeCharts();
  void makeActions();
  void setLines();        // which runs are drawn, in which colours
  void setRange();
  void refreshWords();
  void openSelected();
  void toggleSelected();
  void setColumns();
  void rename();
  void chooseColour(const QModelIndex& index);
  void hideOthers();
  void deleteSelected();
  void editText(bool tags);
  void compare();
  void openFolder();
  void contextMenu(const QPoint& place);
  QStringList selected() const;
  QStringList shown() const;

  RunsModel* m_model;
  RunsFilter* m_filter;
  DataTable* m_table;
  QLabel *m_count, *m_badge;
  SearchField* m_search;
  Button* m_compare;
  SegmentedControl* m_unit;
  QSlider* m_smoothing;
  QLabel* m_smoothingText;
  Switch *m_logX, *m_logLoss;
  ChartStack* m_charts;
  LineChart *m_metric, *m_loss;
  Splitter* m_split;
  QStackedWidget* m_views;
  QPointer<Popover> m_card;
  QList<QAction*> m_actions;
  QTimer m_soon;
  QStringList m_drawn;    // runs that the lines were made for
};

}  // namespace loom
