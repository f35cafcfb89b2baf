#pragma once
// One line of words that ends in "…" where it has no room; what they are stays its text() and should be its tooltip.
#include <QLabel>

namespace loom {

class ElidedLabel : public QLabel {
  Q_OBJECT

 public:
  // A kind of makeLabel().
  explicit ElidedLabel(const char* kind, QWidget* parent = nullptr);
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace loom
