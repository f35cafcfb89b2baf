#pragma once
// Runs side by side: what came of them, the settings, layers and arguments in which they differ, their curves, and the
// drawings of two of them laid over each other.
#include <array>
#include <memory>
#include <vector>

#include "app/run_networks.h"
#include "engine/run/layer_record.h"
#include "launcher/store/run_record.h"
#include "widgets/chart/chart_line.h"
#include "widgets/chart/x_axis_model.h"
#include "widgets/controls/popover.h"
#include "widgets/document/newest_task.h"

namespace loom {

class ChoiceField;
class OverlayView;
class RecordedTools;
class RunMetrics;
struct Project;
struct RecordedFigures;

struct ComparedRun {
  RunRecord record;                           // with its settings resolved (withDefaults)
  std::shared_ptr<const RunNetwork> network;  // null or unknown: nothing is said of it
  QString best;                               // of a group: its mean; empty = the record's
};

// The curves beside: those of the chart by whose metric runs are compared.
struct ComparedCurves {
  QString title;
  ValueKind value = ValueKind::loss;
  Better better = Better::lower;
  XUnit unit = XUnit::step;
  Interval range;
  std::vector<ChartLine> lines;
};

class CompareCard : public Popover {
  Q_OBJECT

 public:
  CompareCard(const std::vector<ComparedRun>& runs, const QStringList& keys, const RunMetrics& metrics,
              ComparedCurves curves, QWidget* window);
  ~CompareCard() override;

 private:
  QWidget* makeTable(const QStringList& keys, const RunMetrics& metrics, QWidget* window);
  QWidget* makeBeside(ComparedCurves curves);
  void layOver(int second);  // its drawing over the first one's
  void readRecords();
  void colour();

  // One of both whose drawings are laid over each other.
  struct Side {
    std::size_t run = 0;  // in m_runs
    std::shared_ptr<const Project> project;
    std::vector<RecordedStep> steps;  // what it recorded of its layers
  };
  RecordedFigures figuresOf(const Side& side) const;

  std::vector<ComparedRun> m_runs;
  std::array<Side, 2> m_sides;
  std::int64_t m_step = 0;
  XAxisModel m_axis;
  OverlayView* m_overlay = nullptr;
  RecordedTools* m_tools = nullptr;
  NewestTask m_reading, m_readingRecords;
};

}  // namespace loom
