#pragma once
// Runs side by side: what came of them and the settings in which they differ.
#include "widgets/controls/popover.h"
#include "launcher/store/run_record.h"

namespace loom {

class CompareCard : public Popover {
  Q_OBJECT

 public:
  CompareCard(const QList<RunRecord>& runs, const QStringList& keys, QWidget* window);
};

}  // namespace loom
