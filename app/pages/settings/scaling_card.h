#pragma once
// Predicted: how the run scales with ranks of the chosen host's kind, from 1 to 4,096, and by which way gradients are
// added up there. It follows the settings by itself.
#include "app/headed_card.h"

class QLabel;

namespace loom {

class RunForecast;
class SmallPlot;

// The forecast's curve with its ways of adding up and a mark at the run's ranks.
void drawForecast(SmallPlot& plot, const RunForecast& forecast);

class ScalingCard : public HeadedCard {
  Q_OBJECT

 public:
  explicit ScalingCard(RunForecast& forecast, QWidget* parent = nullptr);

 private:
  void show(int at);  // of the curve; -1 = the run's ranks
  RunForecast& m_forecast;
  QLabel* m_words;
  SmallPlot* m_plot;
};

}  // namespace loom
