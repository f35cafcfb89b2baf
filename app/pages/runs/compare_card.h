#pragma once
// Runs side by side: what came of them, and the settings, layers and arguments in which they differ.
#include <memory>
#include <vector>

#include "app/run_networks.h"
#include "launcher/store/run_record.h"
#include "widgets/controls/popover.h"

namespace loom {

class RunMetrics;

struct ComparedRun {
  RunRecord record;                           // with its settings resolved (withDefaults)
  std::shared_ptr<const RunNetwork> network;  // null or unknown: nothing is said of it
  QString best;                               // of a group: its mean; empty = the record's
};

class CompareCard : public Popover {
  Q_OBJECT

 public:
  CompareCard(const std::vector<ComparedRun>& runs, const QStringList& keys, const RunMetrics& metrics,
              QWidget* window);
};

}  // namespace loom
