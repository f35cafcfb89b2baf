#pragma once
// Train with changes: a run of the project as it is, but for a few settings. The project itself stays as it is.
#include <functional>

#include "widgets/controls/popover.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;

namespace loom {

class TrainCard : public Popover {
  Q_OBJECT

 public:
  // `check`: why the project cannot be trained with these changes; empty = it can.
  using Check = std::function<QString(const QStringList& overrides)>;
  TrainCard(Check check, QWidget* window);

 Q_SIGNALS:
  void wanted(const QString& name, const QStringList& overrides);

 private:
  void start();
  void tell(const QString& fault);
  Check m_check;
  QLineEdit* m_name;
  QPlainTextEdit* m_changes;
  QLabel* m_fault;
};

}  // namespace loom
