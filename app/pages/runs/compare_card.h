#pragma once
// Runs side by side: what came of them and the settings in which they differ.
#include "launcher/store/run_record.h"
#include "widgets/controls/popover.h"

namespace loom {

class RunMetrics;

class CompareCard : public Popover {
  Q_OBJECT

 public:
  // `runs` with their settings resolved (withDefaults).
  CompareCard(const QList<RunRecord>& runs, const QStringList& keys, const RunMetrics& metrics, QWidget* window);
};

}  // namespace loom
