// What of an evaluation leaves it by itself, as a picture on paper and as a table.
#include "app/pages/training/evaluation_board.h"
#include "app/pages/training/evaluation_side.h"
#include "app/pages/training/sample_panel.h"
#include "widgets/evaluation/confusion_view.h"
#include "widgets/evaluation/plot_view.h"

namespace loom {
namespace {

constexpr double kPaperRatio = 2;
constexpr QSize kPaper(480, 360);

}  // namespace

QList<EvaluationPart> EvaluationBoard::parts() const {
  QList<EvaluationPart> parts;
  if (!m_output) return parts;
  const auto table = [output = m_output](std::string (*make)(const EvaluatedOutput&)) {
    return [output, make] { return make(*output); };
  };
  const auto picture = [](const PlotView& view) { return [&view] { return view.toImage(kPaper, kPaperRatio); }; };
  if (m_output->kind == EvaluatedOutput::classes)
    parts << EvaluationPart{"confusion", tr("Confusion matrix"), [this] { return m_matrix->toImage(kPaperRatio); },
                            table(confusionCsv)};
  if (m_output->kind == EvaluatedOutput::numbers)
    parts << EvaluationPart{"classes", tr("Per value"), {}, table(classesCsv)}
          << EvaluationPart{"true-predicted", tr("True against predicted"), picture(*m_first), table(samplesCsv)}
          << EvaluationPart{"residuals", tr("Residuals"), picture(*m_second), table(samplesCsv)};
  else
    parts << EvaluationPart{"classes",
                            m_output->kind == EvaluatedOutput::labels ? tr("Per label") : tr("Per class"),
                            {},
                            table(classesCsv)}
          << EvaluationPart{"roc", tr("ROC"), picture(*m_first), table(rocCsv)}
          << EvaluationPart{"precision-recall", tr("Precision-recall"), picture(*m_second), table(precisionRecallCsv)}
          << EvaluationPart{"reliability", tr("Reliability"), picture(m_side->reliability()), table(reliabilityCsv)};
  parts << EvaluationPart{"samples", tr("Samples, worst first"), {}, table(samplesCsv)};
  return parts;
}

QList<std::pair<QString, QImage>> EvaluationBoard::pictures() const {
  QList<std::pair<QString, QImage>> pictures;
  for (const EvaluationPart& each : parts())
    if (each.picture) pictures << std::pair{each.name, each.picture()};
  if (showsSample()) pictures << m_panel->pictures();
  return pictures;
}

}  // namespace loom
