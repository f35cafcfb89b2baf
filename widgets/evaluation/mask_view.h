#pragma once
// One sample with a class for each of its places, large; what is said and what is true under the pointer is told in
// words.
#include <QStringList>
#include <QWidget>

#include "widgets/evaluation/class_mask.h"

namespace loom {

class MaskView : public QWidget {
  Q_OBJECT

 public:
  explicit MaskView(QWidget* parent = nullptr);
  void setPicture(const QImage& picture);
  void setClasses(const ClassMap& classes, const QStringList& words);  // words of the classes by number
  void setLook(const MaskLook& look);

  const ClassMap& classes() const { return m_classes; }
  const MaskLook& look() const { return m_look; }
  QRectF pictureRect() const;                   // in the widget
  QString wordsAt(const QPointF& point) const;  // empty beside the sample
  QImage toImage(double ratio) const;           // on paper, with what the colours mean

  QSize sizeHint() const override { return {300, 280}; }
  QSize minimumSizeHint() const override { return {160, 160}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  QString word(int of) const;
  QImage m_picture;
  ClassMap m_classes;
  QStringList m_words;
  MaskLook m_look;
};

}  // namespace loom
