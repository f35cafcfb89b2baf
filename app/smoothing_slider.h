#pragma once
// How much curves are smoothed: a slider with its weight in words. It goes by the weight's distance from 1, so that
// 0.93 stands at a little over the half.
#include <QWidget>

class QLabel;
class QSlider;

namespace loom {

class SmoothingSlider : public QWidget {
  Q_OBJECT

 public:
  explicit SmoothingSlider(double weight, QWidget* parent = nullptr);
  double weight() const;
  void setWeight(double weight);
  // The place of the slider, 0 to 100: what a layout remembers.
  int place() const;
  void setPlace(int place);

 Q_SIGNALS:
  void changed(double weight);

 private:
  QLabel* m_words;
  QSlider* m_slider;
};

}  // namespace loom
