#pragma once
// What the run will take, beside the batch equation: predicted step, rate, run time and efficiency with a small curve
// over the ranks; where there is no room for a column, a line below it.
#include <QWidget>

class QLabel;

namespace loom {

class RunForecast;
class SmallPlot;
class Theme;

// Words at the left, values in the face of numbers at the right; quiet: of what is no longer so.
QString factTable(const Theme& theme, const QList<std::pair<QString, QString>>& rows, bool quiet = false);

class ForecastStrip : public QWidget {
  Q_OBJECT

 public:
  explicit ForecastStrip(RunForecast& forecast, QWidget* parent = nullptr);
  // The widest form that fits: figures and curve, figures, nothing (the line says it then).
  int placeIn(int width);  // px that it takes

 private:
  void show();
  void showPoint(int at);
  RunForecast& m_forecast;
  QWidget* m_line;
  QLabel* m_figures;
  SmallPlot* m_plot;
};

class ForecastLine : public QWidget {
  Q_OBJECT

 public:
  explicit ForecastLine(RunForecast& forecast, QWidget* parent = nullptr);

 private:
  void show();
  RunForecast& m_forecast;
  QLabel* m_words;
};

}  // namespace loom
