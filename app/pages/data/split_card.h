#pragma once
// Where the validation set comes from: a share of these rows, drawn or the last, with the same share of each class; or
// a file of one's own. Says what comes of it while it is set; nothing changes before Split.
#include <QStringList>

#include "engine/data/parts.h"
#include "widgets/controls/popover.h"

class QLabel;

namespace loom {

class Button;
class ChoiceField;
class NumberField;
class SegmentedControl;

class SplitCard : public Popover {
  Q_OBJECT

 public:
  // `rows` of the dataset that is split; `classes`: its columns of classes, the likeliest first.
  SplitCard(std::int64_t rows, const QStringList& classes, QWidget* window);
  HoldOut holdOut() const;

 Q_SIGNALS:
  void wanted();
  void fileWanted();

 private:
  void showResult();
  std::int64_t m_rows;
  NumberField *m_share, *m_seed;
  SegmentedControl* m_order;
  ChoiceField* m_by;
  QLabel *m_seedLabel, *m_result;
  Button* m_split;
};

}  // namespace loom
