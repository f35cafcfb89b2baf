#pragma once
// Which is best, and why? Every run of the project in a table, the chosen ones overlaid in charts.
#include <QElapsedTimer>
#include <QJsonArray>
#include <QPointer>
#include <QTimer>
#include <functional>
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
class ChoiceField;
class ChartStack;
struct ComparedCurves;
class DataTable;
class FoldingChoice;
class ParallelAxes;
class SettingsPanel;
class Popover;
class LineChart;
class RunBoard;
class RunsModel;
class SearchField;
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
  ParallelAxes& differing() const;
  SettingsPanel& settings() const { return *m_settings; }
  RunBoard& board() const { return *m_board; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  static constexpr int kChartsShare = 13, kSettingsShare = 5;  // of the width above the table
  QWidget* makeBar();
  QWidget* makeCharts();
  void makeActions();
  void connectCharts();
  void setLines();  // which runs are drawn, in which colours
  void setRange();
  void soon();  // all of it anew, with the next frame
  void whenTypingRests();
  void refreshSoon();
  void refreshSettings();
  void showPanels();
  void connectBoard();
  void addChart();
  void chooseSeries(const QString& instead, QWidget* anchor);      // instead of which; empty = one more
  std::vector<std::pair<QString, QString>> seriesOffered() const;  // key and title, as far as no chart has them
  void refreshBadge();
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
  void archiveSelected();
  void compare();
  ComparedCurves comparedCurves() const;
  void makeExportCommands();
  void exportMenu();
  QStringList exportedRuns() const;
  void askFile(const QString& title, const QString& name, std::function<void(const QString&)> write);
  void exportTable();
  void writeTable(const QString& file);
  void exportSeries();
  void writeSeries(const QString& file);
  void exportTensorBoardDialog();
  void writeTensorBoard(const QString& folder);
  void openFolder();
  void contextMenu(const QPoint& place);
  void groupMenu(const QModelIndex& index);
  void chooseGrouping();
  void setGrouped(bool grouped);
  void refreshGrouping();
  bool isGroup(const QModelIndex& index) const;
  QJsonObject currentView() const;
  bool isAsSaved(const QJsonObject& view) const;
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
  Button *m_compare, *m_group, *m_viewButton, *m_export, *m_folder;
  FoldingChoice* m_unit;  // the x axis
  ChoiceField* m_which;   // of the charts, in a narrow window
  Button* m_addChart;
  SmoothingSlider* m_smoothing;
  Switch *m_logX, *m_logLoss;
  ChartStack* m_charts;
  RunBoard* m_board = nullptr;
  int m_endsRoom = 0;  // right of the plot, for names and values at the ends of lines
  LineChart *m_metric, *m_loss;
  SettingsPanel* m_settings;
  Splitter* m_split;
  QStackedWidget* m_views;
  QPointer<Popover> m_card;
  QJsonArray m_saved;  // views: name and what currentView() was
  QString m_view;      // name of the one that was opened last
  QTimer m_soon, m_settingsSoon, m_columnsSoon;
  QElapsedTimer m_asked;             // since soon() waits
  QHash<QString, int> m_ofRuns;      // colours of the runs that are drawn
  qint64 m_soonCost = 0;             // milliseconds of the last refresh: where that is much, they are rarer
  std::int64_t m_points = 0;         // as they were drawn last
  QStringList m_drawn;               // lines: runs and groups
  QHash<QString, QString> m_lineOf;  // of each run that is drawn, by itself or in a mean
  std::map<QString, std::unique_ptr<OutlineQuestion>> m_outlines;  // of those runs
  std::map<std::pair<QString, std::string>, std::shared_ptr<StoreSeries>>
      m_sources;      // of those lines, by run, chart and series
  int m_edited = -1;  // a column that is shown while it is written into
};

}  // namespace loom
