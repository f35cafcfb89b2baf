#pragma once
// One of a list, in a field with a chevron. The wheel never changes it while the page scrolls; typing jumps to an item.
#include <QComboBox>

namespace loom {

class ChoiceField : public QComboBox {
  Q_OBJECT

 public:
  explicit ChoiceField(QWidget* parent = nullptr);
  // A quiet word before the chosen one: "Preset  LARS 4K".
  void setPrefix(const QString& prefix);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {60, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;

 private:
  QString m_prefix;
};

}  // namespace loom
