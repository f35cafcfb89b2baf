#pragma once
// What is in the project's data, and is it clean: columns, samples, the doctor's findings, preparation.
#include <map>
#include <memory>
#include <string>

#include "app/page.h"
#include "app/pages/data/dataset_session.h"
#include "app/pages/data/import_task.h"

class QAction;
class QLabel;
class QProgressBar;
class QSplitter;
class QStackedWidget;
class QTabBar;
class QVBoxLayout;

namespace loom {

class Button;
class ColumnCard;
class FindingsList;
struct FindingAction;
struct HoldOut;
struct Repair;
class ImportMenu;
class PreparationPanel;
class PrepareMeasure;
class SamplesModel;
class SamplesView;
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
  void makeLayout();
  QWidget* makeBar();
  QWidget* makeBody();
  void makeActions();
  void followDocument();
  void openCurrent();  // the dataset of the current tab
  std::string currentName() const;
  void select(const std::string& name);
  void addCsv(const QString& path);
  void offerSplit();  // the card that asks how
  void splitOff(const HoldOut& how);
  QStringList classColumns() const;
  std::vector<FindingAction> actionsFor(const Fault& fault);
  std::vector<std::string> knownWords(const std::string& column) const;
  void mend(const Repair& repair);  // in a copy beside the file, which the dataset uses from then on
  void measure(const std::vector<Json>& steps);
  void showState();
  void showColumns();
  void showFeeds();
  void showChosen(int column);  // of the rows, in the cards
  void makeRoomForTable();
  void showDoctor();
  void showFindings();
  std::vector<Fault> findings() const;  // those of the report that the preparation does not mend
  bool takesPart() const;
  void reportProblems();

  QString m_openedKey;       // what the session was opened with: path and rows
  std::size_t m_listed = 0;  // findings in the list
  DatasetSession* m_session;
  ImportTask* m_import;
  PrepareMeasure* m_measure;
  ImportMenu* m_importMenu;
  QTabBar* m_tabs;
  QLabel *m_path, *m_status, *m_doctorTitle, *m_error;
  QProgressBar* m_progress;
  Button *m_importButton, *m_splitButton, *m_checkButton, *m_removeButton;
  SegmentedControl* m_form;
  QStackedWidget *m_stack, *m_centre;
  QSplitter *m_splitter, *m_vertical;
  QWidget *m_columnsPanel, *m_doctorPanel;
  QVBoxLayout* m_columns;
  std::vector<ColumnCard*> m_cards;
  bool m_sizesChosen = false;  // by a person: now or in an earlier session
  SamplesModel* m_model;
  SamplesView* m_samples;
  FindingsList* m_findings;
  PreparationPanel* m_preparation;
};

}  // namespace loom
