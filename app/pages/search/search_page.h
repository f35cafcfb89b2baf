#pragma once
// Which settings are best? A search over settings and arguments of layers: what is searched and how at the left, its
// trials at the right. Each trial is a run like any other; the search goes on as long as its project is open.
#include <QTimer>

#include "app/page.h"
#include "launcher/search_runner.h"
#include "widgets/document/newest_task.h"

class QLabel;
class QProgressBar;
class QScrollArea;

namespace loom {

class Button;
class ChoiceField;
class DataTable;
class NumberField;
class SpaceForm;
class TableSortModel;
class TrialModel;

class SearchPage : public Page {
  Q_OBJECT

 public:
  explicit SearchPage(AppContext& context, QWidget* parent = nullptr);
  ~SearchPage() override;

  void activated() override;
  QWidget* keyboardHome() override;
  QList<QWidget*> areas() const override;
  QString chosenRun() const override;
  QJsonObject saveLayout() const override;
  void restoreLayout(const QJsonObject& layout) override;
  bool settled() const override { return !m_reading.busy(); }

 private:
  QWidget* makeForm();
  QWidget* makeTrials();
  void makeActions();
  void start();
  void goOn();
  void beginStudy(Study study);
  void stop();
  void openTrial(int row);
  void trainBest();
  void tell(const QString& fault);
  void readSearches();
  void showSearch(const QString& name);
  void refreshForm();
  void refreshTrials();
  void refreshButtons();
  void refreshColumns();
  QString runsFolder() const;

  SearchRunner m_runner;
  NewestTask m_reading;
  TrialModel* m_model;
  TableSortModel* m_sorted;
  SpaceForm* m_space;
  ChoiceField *m_strategy, *m_stopWeak, *m_searches;
  NumberField *m_trials, *m_atOnce;
  QLabel *m_strategyHelp, *m_stopHelp, *m_place, *m_fault, *m_words;
  Button *m_start, *m_goOn, *m_stop, *m_train;
  QScrollArea* m_scroll;
  QProgressBar* m_progress;
  DataTable* m_table;
  QString m_shown;  // name of the search in the table
};

}  // namespace loom
