#include "app/pages/settings/forecast_strip.h"

#include <QHBoxLayout>
#include <QLabel>
#include <algorithm>

#include "app/pages/settings/run_forecast.h"
#include "app/pages/settings/scaling_card.h"
#include "app/pages/settings/small_plot.h"
#include "widgets/chart/format.h"
#include "widgets/controls/text.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kPlotWidth = 190, kPlotHeight = 88, kGap = 14;

}  // namespace

QString factTable(const Theme& theme, const QList<std::pair<QString, QString>>& rows, bool quiet) {
  const QString face = theme.numberFont(FontRole::caption).family();
  const QString ink = quiet ? QStringLiteral("; color:%1").arg(theme.colour(Colour::text3).name()) : QString();
  QString text;
  for (const auto& [word, value] : rows)
    text += QStringLiteral(
                "<tr><td>%1</td><td align=right style=\"font-family:'%2'; font-weight:600%3\">&nbsp;&nbsp;%4</td></tr>")
                .arg(word.toHtmlEscaped(), face, ink, value.toHtmlEscaped());
  return QStringLiteral("<table cellspacing=3>%1</table>").arg(text);
}

ForecastStrip::ForecastStrip(RunForecast& forecast, QWidget* parent) : QWidget(parent), m_forecast(forecast) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(kGap);
  m_line = hairline(Qt::Vertical);
  m_figures = new QLabel;
  m_figures->setObjectName("forecast");
  m_figures->setTextFormat(Qt::RichText);
  m_figures->setAccessibleName(tr("What the run is predicted to take"));
  m_plot = new SmallPlot(tr("Predicted efficiency against ranks"));
  m_plot->setObjectName("forecast-plot");
  m_plot->setWords(tr("efficiency"));
  m_plot->setHeight(0, 1);
  m_plot->setMinimumSize(kPlotWidth, kPlotHeight);
  m_plot->setMaximumWidth(kPlotWidth);
  row->addWidget(m_line);
  row->addWidget(m_figures);
  row->addWidget(m_plot);
  keepFont(m_figures, FontRole::caption);
  connect(&forecast, &RunForecast::changed, this, &ForecastStrip::show);
  connect(&Theme::of(this), &Theme::changed, this, &ForecastStrip::show);
  connect(m_plot, &SmallPlot::pointed, this, &ForecastStrip::showPoint);
  show();
}

int ForecastStrip::placeIn(int width) {
  const int figures = m_figures->sizeHint().width() + kGap + 1, whole = figures + kPlotWidth + kGap;
  setVisible(width >= figures);
  m_plot->setVisible(width >= whole);
  return width >= whole ? whole : width >= figures ? figures : 0;
}

void ForecastStrip::show() {
  const QString unknown(QChar(0x2013));
  const auto& run = m_forecast.run();
  const ForecastPoint* scaled = m_forecast.atRanks();
  const double whole = m_forecast.runSeconds();
  m_figures->setText(factTable(
      Theme::of(this),
      {{tr("Predicted step"), run ? formatDuration(run->step) : unknown},
       {tr("Rate"), run ? formatThroughput(run->samplesPerSecond) + kNarrowSpace + QStringLiteral("/s") : unknown},
       {tr("Whole run"), whole > 0 ? formatDuration(whole) : unknown},
       // Of virtual ranks: what as many real ones would reach.
       {scaled && m_forecast.isVirtual() ? tr("Efficiency at %1").arg(scaled->ranks) : tr("Efficiency"),
        scaled ? formatFixed(scaled->efficiency, 2) : unknown}},
      run && !m_forecast.isCurrent()));
  drawForecast(*m_plot, m_forecast);
  showPoint(-1);
}

// The point under the mouse in words.
void ForecastStrip::showPoint(int at) {
  const auto& curve = m_forecast.curve();
  m_plot->setToolTip(at >= 0 && at < static_cast<int>(curve.size())
                         ? m_forecast.sentenceOf(curve[static_cast<std::size_t>(at)])
                         : QString());
  m_figures->setToolTip(m_forecast.refusal());
}

ForecastLine::ForecastLine(RunForecast& forecast, QWidget* parent) : QWidget(parent), m_forecast(forecast) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(20, 0, 20, 10);
  m_words = makeLabel("hint", {}, nullptr, Wrap::yes);
  m_words->setObjectName("forecast-line");
  row->addWidget(m_words, 1);
  connect(&forecast, &RunForecast::changed, this, &ForecastLine::show);
  show();
}

void ForecastLine::show() {
  const auto& run = m_forecast.run();
  if (!run)
    return m_words->setText(m_forecast.asks()                ? tr("Predicting…")
                            : m_forecast.refusal().isEmpty() ? QString()
                                                             : tr("Not predicted: see Efficiency against ranks"));
  QStringList parts{tr("step %1").arg(formatDuration(run->step)),
                    formatThroughput(run->samplesPerSecond, tr("samples"))};
  if (const double whole = m_forecast.runSeconds(); whole > 0) parts << tr("whole run %1").arg(formatDuration(whole));
  if (const ForecastPoint* scaled = m_forecast.atRanks())
    parts << tr("efficiency %1 at %2").arg(formatFixed(scaled->efficiency, 2), counted(scaled->ranks, tr("ranks")));
  m_words->setText(tr("Predicted: %1").arg(parts.join(QStringLiteral(" · "))));
}

}  // namespace loom
