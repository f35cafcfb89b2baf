#pragma once
// The tab Large batch of a run: its noise scale against the batch in use and what twice the ranks would bring, trust
// ratios over steps and by layer, the loss scale with skipped steps, how large gradients are, what of the time is
// waiting, and on request each bucket's exchange. Where something was not measured it says what to switch on.
#include <QScrollArea>
#include <QTimer>

#include "app/large_batch_figures.h"
#include "app/page.h"
#include "app/run_outline.h"

class QBoxLayout;
class QLabel;

namespace loom {

class BucketTable;
class Button;
class ChartStack;
class LineChart;
class MagnitudeBars;
class RankCard;
class RatioTable;
class VectorSource;
class WaitBar;

class RunLargeBatch : public QScrollArea {
  Q_OBJECT

 public:
  explicit RunLargeBatch(AppContext& context, QWidget* parent = nullptr);
  void setRun(const QString& id);
  void pointsAdded();  // cheap: shown a few times a second
  void eventsAdded();
  // Ranks beside each other, where they have no other place on the page.
  void setShowsRanks(bool shown);
  ChartStack& stack() { return *m_stack; }

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void makeCharts();
  QWidget* makeSide();
  QWidget* makeBuckets();
  void showPoints();  // of the curves alone: a few times a second
  void show();
  void setLines();
  void setEmptyTexts(const RunRecord& run);
  void setRange();
  void showNoise(const RunRecord* run);
  void showWaiting(const RunRecord* run);
  void showRanks(const RunRecord* run);
  void showRatios(const RunRecord* run);
  void showMagnitudes(const RunRecord* run);
  void showBuckets(const RunRecord* run);
  void openSetting(const char* field);

  AppContext& m_context;
  QString m_run;
  LargeBatchFigures m_figures;
  std::unique_ptr<OutlineQuestion> m_outline;
  std::unique_ptr<WaitingQuestion> m_waiting;
  std::vector<std::string> m_names;  // of series that the lines were made for
  std::shared_ptr<VectorSource> m_batch;
  double m_batchDrawn = 0, m_rangeDrawn = 0;
  bool m_bucketsWanted = false, m_showsRanks = false;
  QTimer m_soon;
  QBoxLayout* m_across;
  ChartStack* m_stack;
  LineChart *m_noise, *m_ratio, *m_scale;
  QLabel *m_noiseFigure, *m_noiseUnit, *m_noiseWords, *m_waitHint, *m_ratioHint, *m_magnitudeWords, *m_bucketWords;
  Button *m_watch, *m_rule, *m_showBuckets;
  WaitBar* m_waitBar;
  RankCard* m_ranks;
  RatioTable* m_ratios;
  MagnitudeBars* m_magnitudes;
  BucketTable* m_buckets;
};

}  // namespace loom
