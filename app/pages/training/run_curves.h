#pragma once
// The curves of one run on one x axis with one cursor: loss, its metrics, learning rate, time per step.
#include <QWidget>
#include <memory>

#include "app/page.h"
#include "app/run_outline.h"
#include "launcher/store/run_record.h"
#include "widgets/chart/series_source.h"

namespace loom {

class ChartStack;
class LineChart;

class RunCurves : public QWidget {
  Q_OBJECT

 public:
  explicit RunCurves(AppContext& context, QWidget* parent = nullptr);

  void setRun(const QString& id);
  void pointsAdded();  // new ones are drawn with the next frame
  void runChanged();   // its state decides where the axis ends and what an empty chart says
  void eventsAdded();  // flags
  void setUnit(XUnit unit);
  void setSmoothing(double weight);
  void setLogarithmicLoss(bool on);
  void setSoFar(bool soFar);  // the axis ends where the run is, not where it will end
  void follow();
  void goToBest();
  ChartStack& stack() const { return *m_stack; }
  LineChart& loss() const { return *m_loss; }
  LineChart& metric() const { return *m_metric; }
  std::int64_t points() const;
  QString words() const;  // "All 812 steps shown", "1.2 M points folded into 2,848 columns"

 Q_SIGNALS:
  void smoothingRequested(double weight);
  void shown();
  void cursorAt(qint64 step);  // a person points at it

 private:
  struct Flag {
    std::int64_t step = 0;
    QString text;
    const char* icon = nullptr;
  };
  struct CaptionAsked {
    XUnit unit = XUnit::step;
    double x = 0;
    bool operator==(const CaptionAsked&) const = default;
  };
  struct CaptionAnswer {
    std::int64_t step = 0;
    double epoch = 0, time = 0;
  };
  void ask();  // what the store knows of the run; while it is read, what it last knew
  std::optional<double> placeOf(std::int64_t step) const;  // on the axis; nothing while it is read
  void setLines();
  void setRange();
  void setBest();
  void setFlags();
  void setPlanned(double from, double edge);  // the rate that is to come, where the axis is known
  AppContext& m_context;
  QString m_run;
  std::unique_ptr<OutlineQuestion> m_question;
  std::unique_ptr<StoreQuestion<CaptionAsked, CaptionAnswer>> m_caption;  // of the cursor
  RunOutline m_outline;                                                   // for m_known
  std::optional<XUnit> m_known;                                           // nothing: it is being read
  std::vector<Flag> m_flags;
  std::vector<std::string> m_names;  // of series that the lines were made for
  std::string m_metricName;
  std::shared_ptr<VectorSource> m_planned = std::make_shared<VectorSource>();
  bool m_soFar = false;
  ChartStack* m_stack;
  LineChart *m_loss, *m_metric, *m_rate, *m_time;
};

}  // namespace loom
