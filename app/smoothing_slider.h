#pragma once
// How much curves are smoothed: a slider with its weight in words, which stands where its number is; above 0.9 it is
// finer.
#include <QWidget>

class QLabel;
class QSlider;

namespace loom {

inline constexpr double kUsualSmoothing = 0.6;

class SmoothingSlider : public QWidget {
  Q_OBJECT

 public:
  explicit SmoothingSlider(double weight, QWidget* parent = nullptr);
  double weight() const;
  void setWeight(double weight);

 Q_SIGNALS:
  void changed(double weight);

 private:
  QLabel* m_words;
  QSlider* m_slider;
};

}  // namespace loom
