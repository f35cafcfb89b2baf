#pragma once
// A button whose words take several lines where there is no room for one: names of layers and nodes may be long.
#include "widgets/controls/button.h"

namespace loom {

class WrappingButton : public Button {
  Q_OBJECT

 public:
  explicit WrappingButton(const QString& text, ButtonKind kind, QWidget* parent = nullptr);
  QSize minimumSizeHint() const override;
  int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString broken(int width) const;
};

}  // namespace loom
