#pragma once
// What will this run do: batch, optimizer, schedule and every other setting of `training`, from the catalogue alone,
// beside the learning rate over the whole run. What is typed holds at once; undo covers all.
#include "app/page.h"
#include "widgets/document/newest_task.h"

class QLabel;
class QListWidget;
class QScrollArea;
class QSplitter;
class QVBoxLayout;

namespace loom {

class BatchEquation;
class Button;
class ChoiceField;
class ForecastLine;
class ForecastStrip;
class PropertyForm;
class RecipeDesk;
class RunCockpit;
class SearchField;
class UpdateForm;

inline constexpr int kCountRole = Qt::UserRole + 1;  // of a section in the list: how many of its settings differ

class SettingsPage : public Page {
  Q_OBJECT

 public:
  explicit SettingsPage(AppContext& context, QWidget* parent = nullptr);
  ~SettingsPage() override;

  void activated() override;
  bool show(const Place& place) override;
  QList<SearchHit> search(const QString& query) override;
  QList<QWidget*> areas() const override;
  QJsonObject saveLayout() const override;
  void restoreLayout(const QJsonObject& layout) override;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void makeRoom();
  void placeForecast();
  QWidget* makeBar();
  QWidget* makeForms();
  QWidget* makeBand();
  QWidget* makeRight();
  void makeActions();
  void refresh();  // from the document
  void refreshProblems();
  void tellUnread();   // texts that are no value: training would take others than one reads
  void refreshPlan();  // steps, curve, facts
  void countRows();    // in the background: only where the cache is fresh, so that nothing heavy begins by itself
  void applyFilter();
  void scrollTo(int section);
  std::int64_t batch() const;
  std::int64_t hostRanks() const;  // of the chosen host
  std::int64_t ranks() const;      // virtual ones included
  void chooseRanks(qint64 ranks, qint64 globalBatch);
  void makeLayout();

  struct Section {
    QString title;
    QWidget* widget;
    PropertyForm* form;  // null: the update's own
  };
  std::vector<Section> m_sections;
  BatchEquation* m_equation;
  ForecastStrip* m_forecast;
  ForecastLine* m_forecastLine;
  QLabel *m_title, *m_facts;
  UpdateForm* m_update;
  ChoiceField* m_updateChoice;
  RunCockpit* m_cockpit;
  RecipeDesk* m_recipes;
  SearchField* m_search;
  QWidget* m_none;  // in place of the forms where the filter leaves nothing
  QLabel* m_noneWords;
  Button* m_differs;
  QListWidget* m_list;
  QWidget* m_listPanel;
  QScrollArea* m_scroll;
  QSplitter* m_splitter;
  QList<int> m_beside{516, 640};  // widths of the forms and of what the run will do, where they stand side by side
  std::size_t m_index = 0;
  std::int64_t m_rows = -1;          // of the training set; -1 = not known yet
  std::int64_t m_stepsPerEpoch = 0;  // 0 = not known
  QString m_rowsKey;
  NewestTask m_counter;
  bool m_toldUnread = false;
  bool m_stale = false;  // the project changed while it was hidden
};

}  // namespace loom
