#pragma once
// What is in the project's data, and is it clean: columns, rows, the doctor's findings, preparation. What a person
// does here changes the project (steps, the target, which columns feed which Input) and never a file.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "app/page.h"
#include "app/pages/data/column_roles.h"
#include "app/pages/data/data_findings.h"
#include "app/pages/data/dataset_session.h"
#include "app/pages/data/import_task.h"
#include "widgets/document/newest_task.h"

class QAction;
class QLabel;
class QProgressBar;
class QSplitter;
class QStackedWidget;
class QTabBar;

namespace loom {

class Button;
class FindingsList;
struct HoldOut;
class ImportMenu;
class NumberField;
class PreparationPanel;
class PrepareMeasure;
class ProjectEdit;
class SamplesModel;
class SamplesView;
class SearchField;
class SegmentedControl;

class DataPage : public Page {
  Q_OBJECT

 public:
  explicit DataPage(AppContext& context, QWidget* parent = nullptr);
  ~DataPage() override;

  void activated() override;
  bool show(const Place& place) override;
  bool filesDropped(const QList<QUrl>& urls) override;
  QList<QWidget*> areas() const override;
  QJsonObject saveLayout() const override;
  void restoreLayout(const QJsonObject& layout) override;
  bool settled() const override;
  void toggleLeftPanel() override;
  void toggleInspector() override;

 private:
  // data_page.cpp
  void makeActions();
  void connectParts();
  void followDocument();
  void openCurrent();  // the dataset of the current tab
  std::string currentName() const;
  void select(const std::string& name);
  void addCsv(const QString& path);
  // The dataset whose steps hold for the current one; null without any.
  const DatasetSpec* prepared() const;
  const std::vector<Json>& steps() const;

  // data_page_view.cpp: the widgets
  void makeLayout();
  QWidget* makeBar();
  QWidget* makeColumns();
  QWidget* makeRows();
  QWidget* makeDoctor();
  void showState();
  void showColumns();
  void showDoctor();
  void showRange();          // of the rows in sight
  void showSample(int row);  // of the list, before and after preparation
  void chooseColumn(const std::string& column);
  void openColumnMenu(const QString& column, const QPoint& global);
  void openFormat();
  void changeWriting(const Json& fields);  // of the dataset's file; a null takes a field away

  // data_page_findings.cpp: what the doctor says, what a column becomes
  void refreshFindings();
  void takeFindings(std::vector<DataFinding> findings);
  std::vector<FindingAction> actionsFor(const DataFinding& finding);
  bool takesPart() const;
  void reportProblems();
  void refreshRoles();
  void refreshPreview();
  void refreshChange();
  void refreshAll();

  // data_page_changes.cpp
  void offerSplit();  // the card that asks how
  void splitOff(const HoldOut& how);
  QStringList classColumns() const;
  std::int64_t wholeRows() const;
  void measure(const std::vector<Json>& steps);
  void changeSteps(const QString& text, std::vector<Json> steps);
  std::vector<FeedLine> feedsAlong(const std::vector<Json>& steps) const;
  void changeSettings(const QString& text, const Json& settings);  // of the training
  void addSteps(const QString& text, const std::vector<Json>& added);
  void setRole(const std::string& column, int role);
  void predict(const std::string& column);
  void rename(const std::string& column, const QString& to);
  void feed(const FeedLine& feed, const std::vector<std::string>& columns);
  void mendFeed(const FeedLine& feed);
  // data_page_files.cpp
  void findAgain(FindAgain what);
  void offerCopy(const QString& csv);
  void copyIntoProject();
  std::function<void()> stepBack() const;      // what a notice offers
  QString projectFolder(const QString& name);  // saves a project that has none yet; empty: it was told why not

  QString m_openedKey;  // what the session was opened with
  DatasetSession* m_session;
  ImportTask* m_import;
  PrepareMeasure* m_measure;
  ImportMenu* m_importMenu;
  QTabBar* m_tabs;
  QLabel *m_path, *m_status, *m_doctorTitle, *m_error, *m_copyText, *m_columnCount, *m_rowCount;
  QProgressBar* m_progress;
  Button *m_importButton, *m_splitButton, *m_checkButton, *m_removeButton, *m_format, *m_stop, *m_rename;
  QWidget* m_copyBar;
  SegmentedControl *m_form, *m_role;
  SearchField* m_search;
  NumberField* m_line;
  QStackedWidget *m_stack, *m_centre;
  QSplitter *m_splitter, *m_vertical;
  QWidget *m_columnsPanel, *m_doctorPanel, *m_roleBar;
  ColumnList* m_columns;
  bool m_shown = false;        // to a person; before that it only says what is wrong
  QJsonObject m_restored;      // the layout that it came with
  bool m_sizesChosen = false;  // by a person: now or in an earlier session
  bool m_showingRole = false;
  QString m_copyFrom;
  void goToAwaited();
  std::optional<Place> m_awaited;  // until the table stands
  SamplesModel* m_model;
  SamplesView* m_samples;
  FindingsList* m_list;
  PreparationPanel* m_preparation;

  ColumnRoles m_roles;
  std::vector<DataFinding> m_findings;
  QString m_listed;                               // what the list shows of them
  std::set<QString> m_accepted;                   // findings that a person keeps as they are
  std::shared_ptr<const TablePreview> m_preview;  // of all steps, on the sample
  NewestTask m_diagnosis, m_previewing, m_changing;
  std::unique_ptr<NewestTask> m_copying;
};

}  // namespace loom
