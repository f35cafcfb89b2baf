#pragma once
// Another learning rate for the run that goes on: from its next step. Recorded as a flag on the curves.
#include "widgets/controls/popover.h"

class QLabel;

namespace loom {

class Button;
class NumberField;

class RateCard : public Popover {
  Q_OBJECT

 public:
  RateCard(double now, QWidget* window);

 Q_SIGNALS:
  void wanted(double rate);

 private:
  void check();
  void accept();
  NumberField* m_value;
  Button* m_change;
  QLabel* m_hint;
  double m_now;
};

}  // namespace loom
