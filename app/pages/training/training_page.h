#pragma once
// Does it learn, how long still? One run: its curves on one x axis, what it is at, what happened; stop, resume, change
// the rate.
#include <QElapsedTimer>
#include <QPointer>
#include <QTimer>

#include "app/page.h"
#include "launcher/preview/run_line.h"
#include "launcher/store/run_record.h"

class QLabel;
class QLineEdit;
class QStackedWidget;
class QTabBar;
class QVBoxLayout;

namespace loom {

class Button;
class Popover;
class RunCurves;
class RunDoubt;
class RunEvaluation;
class RunFacts;
class RunLargeBatch;
class RunLandscape;
class RunLayers;
class RunLog;
class RunPrediction;
class RunSettings;
class RunTime;
class SegmentedControl;
class SmoothingSlider;
class StatusLabel;
class Switch;

class TrainingPage : public Page {
  Q_OBJECT

 public:
  explicit TrainingPage(AppContext& context, QWidget* parent = nullptr);
  ~TrainingPage() override;

  void activated() override;
  void deactivated() override;
  bool show(const Place& place) override;
  bool filesDropped(const QList<QUrl>& urls) override;  // predicted by the run
  QString chosenRun() const override { return m_run; }
  void toggleInspector() override;
  QList<QWidget*> areas() const override;
  QJsonObject saveLayout() const override;
  void restoreLayout(const QJsonObject& layout) override;
  bool settled() const override;

  RunCurves& curves() const { return *m_curves; }
  RunPrediction& prediction() const { return *m_prediction; }
  RunLargeBatch& largeBatch() const { return *m_largeBatch; }
  RunEvaluation& evaluation() const { return *m_evaluation; }
  RunLayers& layers() const { return *m_layers; }
  RunLandscape& landscape() const { return *m_landscape; }
  RunLine& engine() { return m_engine; }
  QString run() const { return m_run; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void makeHeader(QVBoxLayout* column);
  void makeTools(QVBoxLayout* column);
  void makeActions();
  void placeTools();
  void placeFacts();
  void showRun(const QString& id);
  void refresh();  // header, facts, status line
  void refreshFault(const RunRecord& run);
  void openRateCard();
  void carryOut(const std::function<void()>& wish);
  void showTab(int index);
  bool showsFacts() const;  // beside the tab, in a wide window
  void openMore();          // what may be made of the run's model and its drawing

  RunLine m_engine;  // that evaluates and predicts; before the tabs that ask it
  QString m_run;
  QLineEdit* m_name;
  StatusLabel* m_state;
  QLabel* m_place;
  Button *m_rate, *m_stopAfter, *m_stop, *m_resume, *m_changes, *m_more;
  QWidget *m_fault, *m_tools, *m_toolsBelow;
  QLabel* m_faultText;
  RunDoubt* m_doubt;
  QTabBar* m_tabs;
  QStackedWidget* m_views;
  SmoothingSlider* m_smoothing;
  Switch* m_log;
  SegmentedControl *m_unit, *m_extent;  // what the x axis counts; the whole run, or so far
  RunCurves* m_curves;
  RunLog* m_logView;
  RunSettings* m_settings;
  RunTime* m_time;
  RunPrediction* m_prediction;
  RunEvaluation* m_evaluation;
  RunLargeBatch* m_largeBatch;
  RunLayers* m_layers;
  RunLandscape* m_landscape;
  RunFacts* m_facts;
  QPointer<Popover> m_card;
  QTimer m_soon, m_second;
  QElapsedTimer m_sinceEvents;
  bool m_pointsCame = false, m_eventsCame = true;
};

}  // namespace loom
