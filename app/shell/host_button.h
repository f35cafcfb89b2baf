#pragma once
// Where Train starts a run: the host's name, its ranks, a triangle where it cannot be used now. Opens the chooser.
#include "widgets/controls/button.h"
#include "widgets/theme/status.h"

namespace loom {

class HostButton : public Button {
  Q_OBJECT

 public:
  explicit HostButton(QWidget* parent = nullptr);
  // `ranks` may be empty; `fault` is a word beside a triangle.
  void setHost(const QString& name, const QString& ranks, const QString& fault);
  void setNarrow(bool narrow);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString m_name, m_ranks, m_fault;
  bool m_narrow = false;
};

}  // namespace loom
