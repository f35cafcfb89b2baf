#pragma once
// A run that ended today, in one line: sign, name, what it reached or why it ended, when. A click leads to its curves.
#include <QAbstractButton>

#include "launcher/store/run_record.h"

namespace loom {

class DoneRow : public QAbstractButton {
  Q_OBJECT

 public:
  // `reached`: its best metric as text; empty = nothing was measured.
  DoneRow(RunRecord run, QString reached, QWidget* parent = nullptr);
  QSize sizeHint() const override { return {300, 29}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void enterEvent(QEnterEvent*) override { update(); }
  void leaveEvent(QEvent*) override { update(); }

 private:
  QString words() const;
  RunRecord m_run;
  QString m_reached;
};

}  // namespace loom
