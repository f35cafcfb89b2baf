#include "engine/loom/evaluation_texts.h"

#include <algorithm>
#include <cmath>

#include "engine/base/words.h"

namespace loom {
namespace {

constexpr std::size_t kWorstClasses = 5, kMixUps = 5, kWorstSamples = 5, kValues = 10;

std::string line(const std::string& name, const std::string& text) {
  return fmt::format("{:<12} {}\n", name, text);
}

std::string percent(double share) {
  return fmt::format("{:.2f} %", 100 * share);
}

const std::string& wordOf(const EvaluatedOutput& output, std::int64_t index) {
  return output.words[static_cast<std::size_t>(index)];
}

std::string worstClasses(const EvaluatedOutput& output) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < output.table.classes.size(); ++i)
    if (output.table.classes[i].support > 0) order.push_back(i);
  const std::size_t shown = std::min(kWorstClasses, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      const auto &one = output.table.classes[a], &other = output.table.classes[b];
                      return one.recall != other.recall ? one.recall < other.recall : a < b;
                    });
  std::string text =
      fmt::format("\n{:<20} {:>10} {:>10} {:>10} {:>10}\n", "lowest recall", "precision", "recall", "F1", "support");
  for (std::size_t i = 0; i < shown; ++i) {
    const ClassFigures& each = output.table.classes[order[i]];
    text += fmt::format("{:<20.20} {:>10} {:>10} {:>10} {:>10}\n", output.words[order[i]], percent(each.precision),
                        percent(each.recall), percent(each.f1), each.support);
  }
  return text;
}

std::string mixUps(const EvaluatedOutput& output) {
  std::vector<ConfusionMatrix::Cell> cells;
  for (const ConfusionMatrix::Cell& each : output.cells)
    if (each.truth != each.predicted) cells.push_back(each);
  std::stable_sort(cells.begin(), cells.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  if (cells.empty()) return {};
  std::string text = "\nmost often mixed up\n";
  for (std::size_t i = 0; i < std::min(kMixUps, cells.size()); ++i)
    text += fmt::format("  true {}, predicted {}: {}\n", wordOf(output, cells[i].truth),
                        wordOf(output, cells[i].predicted), cells[i].count);
  return text;
}

std::string worstSamples(const EvaluatedOutput& output) {
  std::string text = "\nworst samples\n";
  for (std::size_t i = 0; i < std::min(kWorstSamples, output.worst.size()); ++i) {
    const EvaluatedSample& each = output.worst[i];
    const std::string begin = fmt::format("  row {}: ", each.row + 1);
    if (!each.finite)
      text += begin + "not a number\n";
    else if (output.kind == EvaluatedOutput::classes)
      text += begin + fmt::format("true {}, predicted {} with {}, loss {:.3f}\n", wordOf(output, each.truth),
                                  wordOf(output, each.predicted), percent(each.predictedShare), each.loss);
    else
      text += begin + fmt::format("true {:.6g}, predicted {:.6g}\n", each.trueValue, each.predictedValue);
  }
  return text;
}

std::string classText(const EvaluatedOutput& output) {
  std::string text =
      line("accuracy", fmt::format("{} ({} of {}; 95 %: {:.2f} to {:.2f})", percent(output.accuracy.share),
                                   output.right, output.items, 100 * output.accuracy.low, 100 * output.accuracy.high));
  for (const TopK::Share& each : output.top)
    if (each.k > 1) text += line(fmt::format("top {}", each.k), percent(each.interval.share));
  text += line("loss", fmt::format("{:.6f} (-ln of the true share)", output.loss));
  if (output.isMap())
    text += line("mean IoU", percent(meanIntersectionOverUnion(output.table)));
  else if (!output.positions.empty())
    text += line("perplexity", fmt::format("{:.6g} (e to the loss of a position)", std::exp(output.loss)));
  text += line("F1", fmt::format("{} mean over classes, {} weighted by support", percent(output.table.macro.f1),
                                 percent(output.table.weighted.f1)));
  if (std::isfinite(output.macroAuc))
    text += line("AUC", fmt::format("{:.6f}, average precision {:.6f}{}{}", output.macroAuc, output.macroPrecision,
                                    output.curves.size() > 1 ? " (means over classes, each against the others)" : "",
                                    output.exactCurves ? "" : ", from 65,536 bins of the scores"));
  if (!output.noCurves.empty()) text += line("AUC", "none: " + output.noCurves);
  text += line("calibration",
               fmt::format("off by {} (ECE, {} bins){}", percent(output.calibration.expectedError),
                           output.calibration.bins.size(),
                           output.temperature ? fmt::format("; a temperature of {:.3f} would bring the loss to {:.6f}",
                                                            output.temperature->value, output.temperature->lossAfter)
                                              : std::string()));
  text += worstClasses(output);
  return text + mixUps(output) + worstSamples(output);
}

std::string numberText(const EvaluatedOutput& output) {
  const auto figures = [](const RegressionFigures& each) {
    return fmt::format("R2 {:.6f}, mean error {:.6g}, root mean square {:.6g}, true - predicted {:+.6g}", each.r2,
                       each.mae, each.rmse, each.bias);
  };
  std::string text = line("all", figures(output.regression));
  if (output.values.size() > 1)
    for (std::size_t i = 0; i < std::min(kValues, output.values.size()); ++i)
      text += line(output.words[i], figures(output.values[i]));
  if (output.values.size() > kValues) text += line("", fmt::format("and {} more", output.values.size() - kValues));
  return text + worstSamples(output);
}

}  // namespace

std::string evaluationText(const EvaluationReport& report) {
  std::string text = line("data", fmt::format("{}{} of {}", report.dataset.empty() ? "" : report.dataset + ", ",
                                              counted(report.samples, "samples"), report.csv)) +
                     line("checkpoint", fmt::format("{} (step {})", report.checkpoint, report.step));
  for (const EvaluatedOutput& output : report.outputs) {
    if (report.outputs.size() > 1) text += "\n" + output.name + "\n";
    if (output.notFinite > 0)
      text += line("NaN", fmt::format("{} left out: what the network says of them is no number",
                                      counted(output.notFinite, "samples")));
    text += output.kind == EvaluatedOutput::numbers ? numberText(output) : classText(output);
  }
  if (report.against) {
    const McNemar& difference = report.against->difference;
    text +=
        "\n" + line("against", fmt::format("{}: accuracy {} there; {} now right, {} now wrong of {}; by chance "
                                           "with a probability of {:.4f} (McNemar)",
                                           report.against->run, percent(report.against->accuracy), difference.nowRight,
                                           difference.nowWrong, difference.both, difference.pValue));
  }
  return text;
}

}  // namespace loom
