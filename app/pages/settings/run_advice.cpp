#include "app/pages/settings/run_advice.h"

#include <QLocale>
#include <algorithm>

#include "widgets/chart/format.h"
#include "widgets/controls/text.h"
#include "widgets/document/project_document.h"

namespace loom {
namespace {

using Rule = RunFinding::Rule;

QString digits(std::int64_t value) {
  return QLocale(QLocale::English).toString(static_cast<qlonglong>(value));
}
QString times(double value) {
  return formatShort(value);
}

QString sentence(const RunFinding& found) {
  switch (found.rule) {
    case Rule::batchBelowRanks:
      return QStringLiteral("A batch of %1 leaves some of the %2 ranks without a sample in every step.")
          .arg(digits(found.batch), digits(found.ranks));
    case Rule::statisticsOfPasses:
    case Rule::statisticsOfVirtualRanks:
      return QStringLiteral(
                 "Batch statistics over all ranks need all samples of a step at once, but %1 compute one after "
                 "another.")
          .arg(found.rule == Rule::statisticsOfPasses ? counted(found.passes, QStringLiteral("passes"))
                                                      : counted(found.ranks, QStringLiteral("virtual ranks")));
    case Rule::wireNotExact:
      return QStringLiteral(
          "A deterministic run has the same bits on any number of ranks, which a 16-bit exchange of gradients cannot "
          "carry.");
    case Rule::reductionImpossible:
      return QString::fromStdString(found.reason) + '.';
    case Rule::batchAboveSamples:
      return QStringLiteral("The batch is %1, but there %2: every epoch is one step.")
          .arg(digits(found.batch), (found.samples == 1 ? QStringLiteral("is only ") : QStringLiteral("are only ")) +
                                        counted(found.samples, QStringLiteral("samples")));
    case Rule::restOfSamples:
      return QStringLiteral("%1 = %2 × %3 + %4: %5")
          .arg(digits(found.samples), digits(found.steps), digits(found.batch), digits(found.rest),
               found.dropped ? QStringLiteral("the rest is left out of each epoch.")
                             : QStringLiteral("the last step is weighted by its samples."));
    case Rule::fewSteps:
      return QStringLiteral("The whole run has %1. More epochs or a smaller batch give the weights more of them.")
          .arg(counted(found.steps, QStringLiteral("steps")));
    case Rule::rateScaled:
      return QStringLiteral("The learning rate is multiplied by %1: the batch is %2 × the base batch.")
          .arg(times(found.factor), times(found.times));
    case Rule::rateNotScaled:
      return QStringLiteral("The batch is %1 × the base batch of %2, and the learning rate is used as typed.")
          .arg(times(found.times), digits(found.baseBatch));
    case Rule::noWarmup:
      return QStringLiteral("No warm-up: the first steps of a large batch, at the full rate, may diverge.");
    case Rule::warmupShort:
      return QStringLiteral("%1 of warm-up: the rate jumps rather than grows.")
          .arg(counted(found.steps, QStringLiteral("steps")));
    case Rule::warmupLong:
      return QStringLiteral("%1 of warm-up are %2 % of the run: little is left at the full rate.")
          .arg(counted(found.steps, QStringLiteral("steps")))
          .arg(found.percent);
    case Rule::warmup:
      return QStringLiteral("%1 of warm-up, %2 % of the run.")
          .arg(counted(found.steps, QStringLiteral("steps")))
          .arg(found.percent);
    case Rule::noisyStatistics:
      return QStringLiteral("Batch normalisation takes its statistics of %1 at a time, and is noisy below 16.")
          .arg(counted(found.shard, QStringLiteral("samples")));
  }
  return {};
}

QString button(const RunFinding& found) {
  const RunFinding::Remedy& remedy = found.remedy;
  if (remedy.warmupEpochs > 0)
    return QStringLiteral("Warm up for %1 %2")
        .arg(remedy.warmupEpochs)
        .arg(remedy.warmupEpochs == 1 ? QStringLiteral("epoch") : QStringLiteral("epochs"));
  if (remedy.setting == "batch") return QStringLiteral("Set batch to %1").arg(digits(remedy.value.get<std::int64_t>()));
  if (remedy.setting == "wire") return QStringLiteral("Use 32 bits");
  if (found.rule == RunFinding::Rule::reductionImpossible)
    return QStringLiteral("Set it to %1")
        .arg(QString::fromStdString(remedy.value.is_string() ? remedy.value.get<std::string>() : remedy.value.dump()));
  if (remedy.setting == "batch_statistics")
    return remedy.value == "per_shard" ? QStringLiteral("Take them per shard")
                                       : QStringLiteral("Take them over all ranks");
  if (remedy.setting == "rate_scaling")
    return remedy.value == "linear" ? QStringLiteral("Scale in proportion")
                                    : QStringLiteral("Scale by the square root");
  return {};
}

void apply(ProjectDocument& document, std::size_t index, const RunFinding::Remedy& remedy) {
  if (!remedy.setting.empty()) {
    document.setSetting(remedy.setting, remedy.value);
    return;
  }
  document.edit(QStringLiteral("warm up"), [index, epochs = remedy.warmupEpochs](ProjectEdit& edit) {
    if (index < edit.training().updates.size()) edit.training().updates[index].warmup = {{"epochs", epochs}};
  });
}

// The document says it, with the same remedy.
bool isTold(const ProjectDocument& document, const RunFinding& found) {
  if (found.rule != Rule::wireNotExact && found.rule != Rule::reductionImpossible) return false;
  if (document.isBlank()) return false;  // of which nothing is listed yet
  const std::string end = "." + found.remedy.setting;
  return std::any_of(document.problems().begin(), document.problems().end(), [&](const Problem& problem) {
    return problem.severity == Severity::error && problem.field.ends_with(end);
  });
}

}  // namespace

std::vector<Advice> adviceInWords(ProjectDocument& document, std::size_t index, const RunOutlook& outlook) {
  std::vector<Advice> advice;
  for (const RunFinding& found : adviseOnRun(document.project(), index, outlook)) {
    if (isTold(document, found)) continue;
    Advice one;
    one.kind = found.severity == RunFinding::Severity::error     ? Advice::Kind::error
               : found.severity == RunFinding::Severity::warning ? Advice::Kind::warning
                                                                 : Advice::Kind::fine;
    one.text = sentence(found);
    if (found.remedy.any()) {
      one.action = button(found);
      one.act = [&document, index, remedy = found.remedy] { apply(document, index, remedy); };
    }
    advice.push_back(std::move(one));
  }
  return advice;
}

}  // namespace loom
