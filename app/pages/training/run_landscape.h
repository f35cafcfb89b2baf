#pragma once
// The loss around a run's weights: along a random direction, over the plane of two, or along the line to another run of
// the project. Computed on demand by `loom landscape` beside the window; what was found of a run stays until the page
// goes.
#include <QHash>
#include <QStackedWidget>

#include "app/page.h"
#include "launcher/loom_call.h"
#include "widgets/evaluation/heat_view.h"
#include "widgets/evaluation/plot_view.h"

class QFileDialog;
class QLabel;
class QProgressBar;

namespace loom {

class Button;
class ChoiceField;
class EmptyState;
class SegmentedControl;

class RunLandscape : public QStackedWidget {
  Q_OBJECT

 public:
  explicit RunLandscape(AppContext& context, QWidget* parent = nullptr);
  void setRun(const QString& id);
  void refresh();                      // its weights may have come
  void saveTo(const QString& folder);  // landscape.csv and landscape.png
  const PlotView& plot() const { return *m_plot; }
  HeatView& plane() const { return *m_plane; }
  bool runs() const { return m_call.runs(); }

 private:
  struct Point {
    double a = 0, b = 0, training = 0, validation = 0;
    bool validated = false;
  };
  struct Found {
    QString to;       // name of the other run; empty: random directions
    int along = 0;    // of a plane the points along each of both directions; 0: there is one
    QString samples;  // as it was asked for: "1,000 samples"
    QList<Point> points;
    bool whole = false;  // not stopped before its end
  };
  void startOrStop();
  void take(const QByteArray& line);
  void display();
  void displayPlane(const Found& found, const QString& run, bool here);
  QByteArray tableOf(const Found& found) const;
  void listRuns();

  AppContext& m_context;
  QString m_run, m_measured;  // that is shown; that is being measured
  LoomCall m_call;
  QHash<QString, Found> m_found;
  QString m_fault;
  ChoiceField *m_along, *m_samples;
  Button *m_measure, *m_save;
  QProgressBar* m_progress;
  QLabel *m_words, *m_faultText;
  QStackedWidget* m_shown;     // one direction or a plane
  SegmentedControl* m_losses;  // of a plane: training or validation
  PlotView* m_plot;
  HeatView* m_plane;
  EmptyState* m_empty;
};

}  // namespace loom
