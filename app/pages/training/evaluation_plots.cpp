#include "app/pages/training/evaluation_plots.h"

#include <QCoreApplication>
#include <QSet>
#include <algorithm>
#include <cmath>

#include "widgets/chart/format.h"

namespace loom {
namespace {

constexpr std::size_t kCurves = 10, kPoints = 4000, kResidualBins = 31;
constexpr int kColours = 10;  // of curves without dashes

QString translated(const char* text) {
  return QCoreApplication::translate("loom::EvaluationPlots", text);
}

// The curves that are drawn: with points, the least area first, the chosen one whatever its area.
std::vector<const EvaluatedOutput::NamedCurve*> drawnCurves(const EvaluatedOutput& output, int strong) {
  std::vector<const EvaluatedOutput::NamedCurve*> drawn;
  for (const auto& each : output.curves)
    if (each.curve.points.size() > 1 && std::isfinite(each.curve.auc)) drawn.push_back(&each);
  std::stable_sort(drawn.begin(), drawn.end(), [strong](const auto* a, const auto* b) {
    if ((a->of == strong) != (b->of == strong)) return a->of == strong;
    return a->curve.auc < b->curve.auc;
  });
  if (drawn.size() > kCurves) drawn.resize(kCurves);
  return drawn;
}

Plot curvePlot(const EvaluatedOutput& output, int strong, bool roc) {
  Plot plot;
  plot.x = plot.y = {0, 1};
  plot.empty = output.noCurves.empty() ? translated("No class is both there and not there")
                                       : QString::fromStdString(output.noCurves);
  const auto drawn = drawnCurves(output, strong);
  QSet<int> taken;  // a class keeps its colour unless another that is drawn has it
  for (auto each = drawn.rbegin(); each != drawn.rend(); ++each) {
    Plot::Line line;
    const double figure = roc ? (*each)->curve.auc : (*each)->curve.averagePrecision;
    const auto of = static_cast<std::size_t>((*each)->of);
    line.name = QStringLiteral("%1  %2 %3")
                    .arg(QString::fromStdString(of < output.words.size() ? output.words[of] : std::string()),
                         translated(roc ? "AUC" : "AP"), formatFixed(figure, 4));
    line.colour = static_cast<int>((*each)->of % kColours);
    while (taken.contains(line.colour) && taken.size() < kColours) line.colour = (line.colour + 1) % kColours;
    taken.insert(line.colour);
    line.strong = (*each)->of == strong || drawn.size() == 1;
    for (const CurvePoint& point : (*each)->curve.points) {
      if (!roc && point.truePositives == 0 && point.falsePositives == 0) continue;
      line.points << (roc ? QPointF(point.falsePositives, point.truePositives)
                          : QPointF(point.truePositives, point.precision));
    }
    plot.lines << line;
  }
  return plot;
}

QString meanWords(const EvaluatedOutput& output, double mean, const char* name) {
  if (!std::isfinite(mean)) return {};
  const QString bins = output.exactCurves ? QString() : translated(", from bins");
  const QString figure = QStringLiteral("%1 %2").arg(translated(name), formatFixed(mean, 4));
  return (output.curves.size() > 1 ? translated("%1, mean over classes").arg(figure) : figure) + bins;
}

}  // namespace

Plot rocPlot(const EvaluatedOutput& output, int strong) {
  Plot plot = curvePlot(output, strong, true);
  plot.title = translated("ROC");
  plot.subtitle = meanWords(output, output.macroAuc, "AUC");
  plot.xName = translated("false positive rate");
  plot.yName = translated("true positive rate");
  plot.diagonal = true;
  return plot;
}

Plot precisionRecallPlot(const EvaluatedOutput& output, int strong) {
  Plot plot = curvePlot(output, strong, false);
  plot.title = translated("Precision-recall");
  plot.subtitle = meanWords(output, output.macroPrecision, "AP");
  plot.xName = translated("recall");
  plot.yName = translated("precision");
  return plot;
}

Plot reliabilityPlot(const EvaluatedOutput& output) {
  Plot plot;
  plot.title = translated("Reliability");
  plot.subtitle = translated("right against confidence, %");
  plot.x = plot.y = {0, 100};
  plot.diagonal = true;
  plot.empty = translated("No share was said");
  for (const ReliabilityBin& bin : output.calibration.bins) {
    if (bin.count == 0) continue;
    plot.bars << Plot::Bar{.from = 100 * bin.low,
                           .to = 100 * bin.high,
                           .value = 100 * bin.right,
                           .claimed = 100 * bin.confidence,
                           .words = translated("%1 samples: %2 said, %3 right")
                                        .arg(formatCount(static_cast<double>(bin.count)),
                                             formatPercent(bin.confidence, 1), formatPercent(bin.right, 1))};
  }
  return plot;
}

Plot truePredictedPlot(const EvaluatedOutput& output, std::vector<std::size_t>* samples) {
  Plot plot;
  plot.title = translated("True against predicted");
  plot.xName = translated("true");
  plot.yName = translated("predicted");
  plot.diagonal = true;
  plot.empty = translated("No number was said");
  // Every nth, so that far and near ones stand there as they are.
  const std::size_t step = std::max<std::size_t>(1, output.worst.size() / kPoints);
  double low = 0, high = 0;
  if (samples) samples->clear();
  for (std::size_t i = 0; i < output.worst.size(); i += step) {
    const EvaluatedSample& each = output.worst[i];
    if (!each.finite) continue;
    if (plot.points.isEmpty()) low = high = each.trueValue;
    for (const float value : {each.trueValue, each.predictedValue})
      low = std::min<double>(low, value), high = std::max<double>(high, value);
    plot.points << QPointF(each.trueValue, each.predictedValue);
    if (samples) samples->push_back(i);
  }
  plot.x = plot.y = niceRange({low, high}, 5);
  plot.subtitle = plot.points.size() < static_cast<qsizetype>(output.samples)
                      ? translated("%1 of %2 samples")
                            .arg(formatCount(static_cast<double>(plot.points.size())),
                                 formatCount(static_cast<double>(output.samples)))
                      : QString();
  return plot;
}

Plot residualPlot(const EvaluatedOutput& output) {
  Plot plot;
  plot.title = translated("Residuals");
  plot.subtitle = translated("true − predicted");
  plot.yName = translated("samples");
  plot.empty = translated("No number was said");
  std::vector<double> residuals;
  for (const EvaluatedSample& each : output.worst)
    if (each.finite) residuals.push_back(static_cast<double>(each.trueValue) - each.predictedValue);
  if (residuals.empty()) return plot;
  double far = 0;
  for (const double each : residuals) far = std::max(far, std::abs(each));
  if (far == 0) far = 1;
  std::vector<int> counts(kResidualBins);
  const double width = 2 * far / kResidualBins;
  for (const double each : residuals)
    ++counts[std::min(kResidualBins - 1, static_cast<std::size_t>((each + far) / width))];
  for (std::size_t i = 0; i < kResidualBins; ++i) {
    const double from = -far + width * static_cast<double>(i);
    plot.bars << Plot::Bar{.from = from,
                           .to = from + width,
                           .value = static_cast<double>(counts[i]),
                           .claimed = 0,
                           .words = translated("%1 to %2: %3 samples")
                                        .arg(formatShort(from), formatShort(from + width), formatCount(counts[i]))};
  }
  plot.x = {-far, far};
  plot.y = niceRange({0, static_cast<double>(*std::max_element(counts.begin(), counts.end()))}, 5);
  return plot;
}

}  // namespace loom
