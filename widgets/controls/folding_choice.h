#pragma once
// One of a few: segments where there is room for all of their words, a drop-down where there is not.
#include <QWidget>

namespace loom {

class ChoiceField;
class SegmentedControl;

class FoldingChoice : public QWidget {
  Q_OBJECT

 public:
  explicit FoldingChoice(const QStringList& labels, QWidget* parent = nullptr);

  int current() const;
  void setCurrent(int index);  // emits currentChanged when it differs
  bool isFolded() const;
  // The two shapes, for names and keys; one of them is seen.
  SegmentedControl& segments() const { return *m_segments; }
  ChoiceField& field() const { return *m_field; }

  QSize sizeHint() const override;  // of the segments
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void currentChanged(int index);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fit();
  SegmentedControl* m_segments;
  ChoiceField* m_field;
};

}  // namespace loom
