#pragma once
// What of a sample with classes is seen: picture, truth, prediction, the outline of what differs, how strong the
// colours are; and what the colours mean. A click on a class takes its colour away.
#include <QAbstractButton>
#include <QStringList>
#include <QWidget>
#include <vector>

#include "widgets/evaluation/class_mask.h"

class QLabel;
class QSlider;

namespace loom {

class FlowLayout;
class Switch;

class MaskClass : public QAbstractButton {
  Q_OBJECT

 public:
  MaskClass(int of, const QString& word, QWidget* parent = nullptr);
  int of() const { return m_of; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  int m_of;
};

class MaskTools : public QWidget {
  Q_OBJECT

 public:
  static constexpr int kMostClasses = 24;  // that have a word of their own here
  explicit MaskTools(QWidget* parent = nullptr);
  void setClasses(const QStringList& words);  // all of them are shown
  const MaskLook& look() const { return m_look; }

 Q_SIGNALS:
  void changed(const loom::MaskLook& look);

 private:
  void take();
  MaskLook m_look;
  Switch *m_picture, *m_truth, *m_said, *m_outline;
  QSlider* m_opacity;
  QLabel *m_words, *m_more;
  FlowLayout* m_legend;
  std::vector<MaskClass*> m_classes;
};

}  // namespace loom
