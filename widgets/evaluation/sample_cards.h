#pragma once
// Samples as cards, in an order that is given: what was said, what is true, what came next, and the loss, with the
// sample's picture or, where it is none, its first columns. Any number of samples: only the cards that are seen are
// painted, and asked for.
#include <QAbstractScrollArea>
#include <QCache>
#include <QImage>
#include <QSet>
#include <QStringList>
#include <memory>
#include <vector>

#include "engine/evaluation/output_evaluator.h"
#include "widgets/evaluation/class_mask.h"

namespace loom {

// What a card shows of the sample itself.
struct SampleFace {
  QImage picture;
  QStringList lines;  // "age 31": a name and a value without spaces; where there is no picture
  ClassMap classes;   // of an output that is a class for each place; known later than the picture
};

class SampleCards : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit SampleCards(QWidget* parent = nullptr);
  void setOutput(std::shared_ptr<const EvaluatedOutput> output);  // none are shown until they are chosen
  void setPlaces(std::vector<std::size_t> places);                // in output->worst
  void setColumns(int columns);                                   // 0 = as many as fit
  void setFace(qint64 sample, SampleFace face);                   // what it lacks and was known before stays
  void setMaskLook(const MaskLook& look);
  void forgetFaces();

  int count() const { return static_cast<int>(m_places.size()); }
  int current() const { return m_current; }
  void choose(int card) { setCurrent(card); }
  const EvaluatedSample* sample(int card) const;
  int cardOf(qint64 sample) const;         // among those that are shown; -1: none
  const SampleFace* face(int card) const;  // null while it is not known
  QRect cardRect(int card) const;          // in the viewport
  QString words(int card) const;           // as a line of text: row, truth, prediction, loss

 Q_SIGNALS:
  void facesWanted(const QList<qint64>& samples);  // that are seen and not known yet
  void currentChanged(int card);
  void activated(int card);  // Enter, double click

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;

 private:
  int columns() const;
  bool ofMaps() const { return m_output && m_output->isMap(); }
  int pictureSide() const;
  int narrowest() const;
  int rowWidth(int inner) const;
  QSize cardSize() const;
  int cardAt(const QPoint& position) const;
  void layOut();
  void askForFaces();
  void setCurrent(int card);
  void paintCard(QPainter& painter, int card, const QRect& rect) const;
  void paintLines(QPainter& painter, const QStringList& lines, const QRect& rect) const;
  void paintMap(QPainter& painter, const EvaluatedSample& sample, const QRectF& rect) const;
  void paintShares(QPainter& painter, const EvaluatedSample& sample, const QRectF& rect) const;
  void paintNumbers(QPainter& painter, const EvaluatedSample& sample, const QRectF& rect) const;
  QString word(int index) const;

  std::shared_ptr<const EvaluatedOutput> m_output;
  std::vector<std::size_t> m_places;
  QCache<qint64, SampleFace> m_faces;
  QSet<qint64> m_asked;
  int m_columns = 0, m_current = -1;
  bool m_ofRows = false;  // no pictures
  MaskLook m_look;
};

}  // namespace loom
