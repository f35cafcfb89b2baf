#include "widgets/chart/chart_commands.h"

#include <QApplication>
#include <QClipboard>
#include <QPointer>

#include "widgets/chart/line_chart.h"
#include "widgets/controls/commands.h"

namespace loom {

namespace {

constexpr int kFarPoint = 1 << 30;

// Everywhere, and where the page has no such command of its own (it would come first).
constexpr char kEveryChart[] = "*/chart", kOtherChart[] = "chart";

struct ChartAdder {
  Commands& commands;

  LineChart* chart() const {
    LineChart* const pressed = commands.partInHand<LineChart>();
    return pressed ? pressed : qobject_cast<LineChart*>(QApplication::focusWidget());
  }
  template <class Run>
  void add(const char* id, const QString& text, const QList<QKeySequence>& keys, const char* scope, Run run,
           const char* icon = "", const QString& family = {}) {
    commands.add({.id = QString::fromLatin1(id),
                  .group = LineChart::tr("Chart"),
                  .text = text,
                  .keys = keys,
                  .scope = QString::fromLatin1(scope),
                  .icon = QString::fromLatin1(icon),
                  .family = family,
                  .possible = [self = *this] { return self.chart() != nullptr; }},
                 &commands, Commands::Run([self = *this, run](const QJsonObject&) {
                   if (LineChart* const chart = self.chart()) run(*chart);
                 }));
  }
};

QList<QKeySequence> chartKey(const char* text) {
  return {QKeySequence(QString::fromLatin1(text))};
}

}  // namespace

void addChartCommands(Commands& commands) {
  if (commands.find(QStringLiteral("chart.copy-values"))) return;
  ChartAdder to{commands};
  using Chart = LineChart;
  to.add(
      "chart.copy-values", Chart::tr("Copy values at the cursor"), QKeySequence::keyBindings(QKeySequence::Copy),
      kEveryChart, [](Chart& chart) { QApplication::clipboard()->setText(chart.cursorValues()); }, "copy");
  to.add(
      "chart.export-png", Chart::tr("Export as PNG..."), chartKey("Ctrl+Shift+E"), kEveryChart,
      [](Chart& chart) { chart.exportTo(QStringLiteral("png")); }, "image");
  to.add("chart.export-svg", Chart::tr("Export as SVG..."), {}, kEveryChart,
         [](Chart& chart) { chart.exportTo(QStringLiteral("svg")); });
  to.add("chart.export-csv", Chart::tr("Export all points as CSV..."), {}, kEveryChart,
         [](Chart& chart) { chart.exportTo(QStringLiteral("csv")); });
  to.add("chart.outliers", Chart::tr("Show outliers"), {}, kEveryChart,
         [](Chart& chart) { chart.setShowsAll(!chart.showsAll()); });
  to.add(
      "chart.show-all", Chart::tr("Show everything"), {}, kEveryChart, [](Chart& chart) { chart.showEverything(); },
      "fit");
  const QString family = Chart::tr("Go along the points"), far = Chart::tr("Ten points on");
  to.add(
      "chart.left", Chart::tr("To the point before"), chartKey("Left"), kEveryChart,
      [](Chart& chart) { chart.moveCursor(-1); }, "", family);
  to.add(
      "chart.right", Chart::tr("To the next point"), chartKey("Right"), kEveryChart,
      [](Chart& chart) { chart.moveCursor(1); }, "", family);
  to.add(
      "chart.far-left", Chart::tr("Ten points back"), chartKey("Shift+Left"), kEveryChart,
      [](Chart& chart) { chart.moveCursor(-10); }, "", far);
  to.add(
      "chart.far-right", Chart::tr("Ten points on"), chartKey("Shift+Right"), kEveryChart,
      [](Chart& chart) { chart.moveCursor(10); }, "", far);
  to.add("chart.first", Chart::tr("To the first point"), chartKey("Home"), kEveryChart,
         [](Chart& chart) { chart.moveCursor(-kFarPoint); });
  to.add("chart.last", Chart::tr("To the last point"), chartKey("End"), kEveryChart,
         [](Chart& chart) { chart.moveCursor(kFarPoint); });
  to.add("chart.smooth", Chart::tr("Smooth the curves, or not"), chartKey("S"), kEveryChart,
         [](Chart& chart) { chart.toggleSmoothing(); });
  to.add("chart.log", Chart::tr("Logarithmic"), chartKey("L"), kOtherChart,
         [](Chart& chart) { chart.setLogarithmic(!chart.isLogarithmic()); });
  to.add("chart.follow", Chart::tr("Follow the live edge"), chartKey("F"), kOtherChart,
         [](Chart& chart) { chart.axis()->follow(); });
  to.add("chart.best", Chart::tr("Go to the best"), chartKey("B"), kOtherChart, [](Chart& chart) { chart.goToBest(); });
  const std::pair<const char*, QString> ids[] = {{"chart.x-steps", Chart::tr("Steps on the x axis")},
                                                 {"chart.x-epochs", Chart::tr("Epochs on the x axis")},
                                                 {"chart.x-samples", Chart::tr("Samples on the x axis")},
                                                 {"chart.x-time", Chart::tr("Relative time on the x axis")}};
  const XUnit units[] = {XUnit::step, XUnit::epoch, XUnit::samples, XUnit::relative};
  for (int i = 0; i < 4; ++i)
    to.add(ids[i].first, ids[i].second, chartKey(QByteArray::number(i + 1).constData()), kOtherChart,
           [unit = units[i]](Chart& chart) { chart.axis()->setUnit(unit); });
}

}  // namespace loom
