#pragma once
// A host in the chooser: ticked where it is the chosen one, its name, its sign, its ranks.
#include <QAbstractButton>

#include "app/host_checks.h"

namespace loom {

class HostRow : public QAbstractButton {
  Q_OBJECT

 public:
  HostRow(const QString& name, const QString& ranks, HostSign sign, QWidget* parent = nullptr);
  QSize sizeHint() const override { return {320, 44}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void enterEvent(QEnterEvent*) override { update(); }
  void leaveEvent(QEvent*) override { update(); }
  void focusInEvent(QFocusEvent* event) override { QAbstractButton::focusInEvent(event), update(); }
  void focusOutEvent(QFocusEvent* event) override { QAbstractButton::focusOutEvent(event), update(); }

 private:
  QString m_ranks;
  HostSign m_sign;
};

}  // namespace loom
