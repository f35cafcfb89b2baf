#pragma once
// One of a few: a sunken strip with the chosen segment raised. Left and right move, as in a radio group.
#include <QStringList>
#include <QWidget>

namespace loom {

class SegmentedControl : public QWidget {
  Q_OBJECT

 public:
  explicit SegmentedControl(const QStringList& labels = {}, QWidget* parent = nullptr);

  void setLabels(const QStringList& labels);
  int current() const { return m_current; }
  void setCurrent(int index);  // emits currentChanged when it differs
  QRect segment(int index) const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 Q_SIGNALS:
  void currentChanged(int index);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QList<int> widths() const;
  QList<int> shownWidths() const;
  int at(const QPoint& position) const;
  QStringList m_labels;
  int m_current = 0;
  int m_hovered = -1;
};

}  // namespace loom
