#pragma once
// Which settings, which drawing is best? A search over settings, widths, depths and layers: what is searched, within
// which limits and how at the left; at the right its trials, and what their results cost. Each trial is a run like any
// other; the search goes on as long as its project is open.
#include <QTimer>

#include "app/page.h"
#include "engine/search/front.h"
#include "launcher/search_runner.h"
#include "widgets/document/newest_task.h"

class QLabel;
class QLineEdit;
class QProgressBar;
class QScrollArea;

namespace loom {

class Button;
class ChoiceField;
class DataTable;
class FrontPicture;
class NumberField;
class SpaceForm;
class Splitter;
class StructureChooser;
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
  QWidget* makeStructure();
  QWidget* makeLimits();
  QWidget* makeTrials();
  QWidget* makeFront();
  void makeActions();
  void start();
  void goOn();
  void beginStudy(Study study);
  void stop();
  void openTrial(int row);
  void openFolder(const QString& folder);
  std::vector<CostLimit> limits() const;  // throws Error(badArgument) with the first that is none
  const TrialCostKind& against() const;
  void exportFront();
  void trainBest();
  void tell(const QString& fault);
  void readSearches();
  void showSearch(const QString& name);
  void refreshForm();
  void refreshTrials();
  void refreshButtons();
  void refreshFront();
  void refreshColumns();
  QString runsFolder() const;

  SearchRunner m_runner;
  NewestTask m_reading;
  TrialModel* m_model;
  TableSortModel* m_sorted;
  SpaceForm* m_space;
  StructureChooser* m_structure;
  std::vector<std::pair<const TrialCostKind*, QLineEdit*>> m_limits;
  ChoiceField *m_strategy, *m_stopWeak, *m_searches, *m_planFor, *m_against;
  NumberField *m_trials, *m_atOnce;
  QLabel *m_strategyHelp, *m_stopHelp, *m_place, *m_fault, *m_words;
  Button *m_start, *m_goOn, *m_stop, *m_train, *m_addStructure;
  QWidget* m_frontPart;
  FrontPicture* m_front;
  Splitter* m_splitter;
  QScrollArea* m_scroll;
  QProgressBar* m_progress;
  DataTable* m_table;
  QString m_shown;  // name of the search in the table
};

}  // namespace loom
