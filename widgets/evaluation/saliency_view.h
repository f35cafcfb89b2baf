#pragma once
// A sample with the places over it that one value of a network hangs on: a picture in grey under a map in colour, or a
// bar a column of a table. What speaks for the value is in one colour, what speaks against it in another; what is under
// the pointer is told in words.
#include <QImage>
#include <QStringList>
#include <QWidget>

#include "engine/run/sample_look.h"

namespace loom {

class SaliencyView : public QWidget {
  Q_OBJECT

 public:
  explicit SaliencyView(QWidget* parent = nullptr);
  void setPicture(const QImage& picture, const QStringList& lines);  // or, where it is none, its first columns
  void setMap(const SampleMap& map, const QStringList& names);       // of columns where it is one row
  void clearMap();
  void setStrength(double strength);  // 0 ... 1, of the colour over the picture

  const SampleMap& map() const { return m_map; }
  bool isTable() const { return m_map.height == 1 && m_picture.isNull(); }
  // The value and its place under a point of the widget; empty beside the sample.
  QString wordsAt(const QPointF& point) const;
  QRectF pictureRect() const;
  QImage toImage(double ratio) const;  // on paper

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {160, 120}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  void paintOn(QPainter& painter, const QSizeF& size) const;
  void paintPicture(QPainter& painter, const QRectF& rect) const;
  void paintBars(QPainter& painter, const QSizeF& size) const;
  void paintScale(QPainter& painter, const QRectF& rect) const;
  QImage overlay() const;
  QRectF pictureIn(const QSizeF& size) const;

  QImage m_picture;
  QStringList m_lines, m_names;
  SampleMap m_map;
  double m_least = 0, m_greatest = 0, m_most = 0;
  double m_strength = 0.8;
};

}  // namespace loom
