#pragma once
// The chooser under the host in the top bar: where Train starts a run, on how many ranks.
#include "widgets/controls/popover.h"

class QLabel;

namespace loom {

class NumberField;
class Workspace;

class HostCard : public Popover {
  Q_OBJECT

 public:
  HostCard(Workspace& workspace, QWidget* window);

 Q_SIGNALS:
  void addWanted();
  void hostWanted(const QString& host);  // on its page

 private:
  void refreshRanks();
  Workspace& m_workspace;
  QWidget* m_ranksRow;
  NumberField* m_ranks;
  QLabel *m_most, *m_fault;
};

}  // namespace loom
