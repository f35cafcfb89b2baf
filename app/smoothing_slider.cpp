#include "app/smoothing_slider.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QSlider>
#include <algorithm>
#include <cmath>

namespace loom {
namespace {

constexpr double kSmoothest = 0.99;
constexpr int kEven = 90;  // places up to 0.9, a hundredth each; behind them the last tenth, finer towards the end
constexpr int kSliderWidth = 90;

double weightOf(int place) {
  return place <= kEven ? place / 100.0 : std::min(kSmoothest, 1 - std::pow(10, -1 - (place - kEven) / 10.0));
}
int placeOf(double weight) {
  return weight <= kEven / 100.0 ? static_cast<int>(std::lround(std::max(weight, 0.0) * 100))
                                 : static_cast<int>(std::lround(kEven + 10 * (-1 - std::log10(1 - weight))));
}

}  // namespace

SmoothingSlider::SmoothingSlider(double weight, QWidget* parent)
    : QWidget(parent), m_words(new QLabel), m_slider(new QSlider(Qt::Horizontal)) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(10);
  setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
  m_words->setProperty("kind", "label");
  m_slider->setRange(0, 100);
  m_slider->setFixedWidth(kSliderWidth);
  m_slider->setAccessibleName(tr("Smoothing"));
  m_slider->setObjectName("smoothing");
  row->addWidget(m_words);
  row->addWidget(m_slider);
  const auto say = [this] { m_words->setText(tr("Smoothing %1").arg(this->weight(), 0, 'f', 2)); };
  connect(m_slider, &QSlider::valueChanged, this, [this, say] {
    say();
    Q_EMIT changed(this->weight());
  });
  setWeight(weight);
  say();
}

double SmoothingSlider::weight() const {
  return weightOf(m_slider->value());
}
void SmoothingSlider::setWeight(double weight) {
  m_slider->setValue(placeOf(weight));
}

}  // namespace loom
