#include "app/pages/settings/scaling_card.h"

#include <QLabel>
#include <QVBoxLayout>
#include <cmath>

#include "app/pages/settings/run_forecast.h"
#include "app/pages/settings/small_plot.h"
#include "widgets/controls/text.h"

namespace loom {

void drawForecast(SmallPlot& plot, const RunForecast& forecast) {
  std::vector<QPointF> curve;
  std::vector<SmallPlot::Band> bands;
  for (const ForecastPoint& point : forecast.curve()) {
    const double from = curve.empty() ? point.ranks : std::sqrt(curve.back().x() * point.ranks);
    if (!point.reduction.isEmpty() && (bands.empty() || bands.back().name != point.reduction))
      bands.push_back({from, point.reduction});
    curve.emplace_back(point.ranks, point.efficiency);
  }
  plot.setCurve(std::move(curve));
  plot.setBands(std::move(bands));
  std::vector<SmallPlot::Mark> marks;
  if (const ForecastPoint* at = forecast.atRanks()) marks.push_back({static_cast<double>(at->ranks), true});
  plot.setMarks(std::move(marks));
}

ScalingCard::ScalingCard(RunForecast& forecast, QWidget* parent)
    : HeadedCard(tr("Efficiency against ranks"), parent), m_forecast(forecast) {
  m_plot = new SmallPlot(tr("Efficiency against ranks"));
  m_plot->setObjectName("scaling-plot");
  m_plot->setWords(tr("Step, run time and efficiency up to 4,096 ranks"));
  m_plot->setHeight(0, 1);
  column().addWidget(m_plot, 1);
  m_words = makeLabel("hint", {}, nullptr, Wrap::yes);
  m_words->setObjectName("scaling-words");
  column().addWidget(m_words);
  connect(m_plot, &SmallPlot::pointed, this, &ScalingCard::show);
  connect(&forecast, &RunForecast::changed, this, [this] {
    drawForecast(*m_plot, m_forecast);
    show(-1);
  });
  show(-1);
}

void ScalingCard::show(int at) {
  const auto& curve = m_forecast.curve();
  setHint(curve.empty() ? QString()
                        : (m_forecast.linksMeasured() ? tr("predicted for %1, links as measured there")
                                                      : tr("predicted for %1, links assumed"))
                              .arg(m_forecast.host()));
  if (!m_forecast.refusal().isEmpty()) return m_words->setText(m_forecast.refusal());
  if (curve.empty()) return m_words->setText({});
  const ForecastPoint* point = m_forecast.atRanks();
  if (at >= 0 && at < static_cast<int>(curve.size())) point = &curve[static_cast<std::size_t>(at)];
  m_words->setText(point ? m_forecast.sentenceOf(*point) : QString());
}

}  // namespace loom
