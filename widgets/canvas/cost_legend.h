#pragma once
// What the colours of the cards mean, in the lower left corner of the canvas: a step each with its bounds. A step is a
// button: it selects the cards of its colour.
#include <QAbstractButton>
#include <QLabel>
#include <vector>

class QSlider;

#include "widgets/canvas/cost_scale.h"

namespace loom {

class Button;
class NetworkView;

class LegendStep : public QAbstractButton {
  Q_OBJECT
 public:
  LegendStep(int step, QWidget* parent);
  void setScale(const CostScale& scale, int cards);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  int m_step;
};

class CostLegend : public QWidget {
  Q_OBJECT
 public:
  explicit CostLegend(NetworkView& view);
  void place();        // shown where the cards are coloured, unless something else needs its place
  void refresh();      // what it says
  QRect card() const;  // what is seen of it, without its shadow, in its parent
  bool coversCards() const;
  const std::vector<LegendStep*>& steps() const { return m_steps; }
  QString title() const { return m_title->text(); }
  QSlider& stepSlider() const { return *m_slider; }  // among the steps that a run recorded
  Button& remedy() const { return *m_remedy; }       // where none was

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void choose(int step);
  void refreshRecorded();
  NetworkView& m_view;
  QLabel *m_title, *m_at;
  QSlider* m_slider;
  Button* m_remedy;
  std::vector<LegendStep*> m_steps;
};

}  // namespace loom
