// What each setting moves.
#include <algorithm>
#include <cmath>

#include "app/importance/forest.h"
#include "app/pages/runs/run_rows.h"
#include "app/pages/runs/runs_model.h"
#include "app/pages/runs/settings_panel.h"
#include "widgets/chart/weight_bars.h"
#include "widgets/controls/text.h"

namespace loom {
namespace {

constexpr double kLeastExplained = 0.3;

Cause causeOf(const AxisValue& value) {
  return value.number && std::isfinite(*value.number) ? Cause(*value.number) : Cause(value.text.toStdString());
}

std::size_t hashOf(const CauseSamples& samples) {
  std::size_t hash = 1;
  const auto take = [&](std::size_t value) { hash = hash * 1099511628211u ^ value; };
  for (const std::vector<Cause>& sample : samples.causes)
    for (const Cause& cause : sample) take(std::hash<Cause>()(cause));
  for (const double result : samples.results) take(std::hash<double>()(result));
  return hash;
}

}  // namespace

void SettingsPanel::weighSoon() {
  if (!m_weighSoon.isActive()) m_weighSoon.start();
}

// Runs that finished, and that have a result of the metric by which all are compared.
void SettingsPanel::weigh() {
  CauseSamples samples;
  std::vector<ParallelAxes::Axis> causes;
  std::vector<int> runs = m_rows.filtered();
  std::erase_if(runs, [this](int row) {
    const RunRecord& run = m_model.run(row);
    return run.state != RunState::finished || run.settings.empty() || run.bestStep < 0 || !std::isfinite(run.best) ||
           run.metric != m_model.metric();
  });
  for (ParallelAxes::Axis& axis : differing())
    if (differ(runs, axis.key)) causes.push_back(std::move(axis));
  for (const int row : runs) {
    std::vector<Cause>& sample = samples.causes.emplace_back();
    for (const ParallelAxes::Axis& cause : causes) sample.push_back(causeOf(valueOf(row, cause.key)));
    samples.results.push_back(m_model.run(row).best);
  }
  const std::size_t asked = hashOf(samples);
  if (asked == m_weighed) return;  // a run that goes on changes nothing of those that finished
  m_weighed = asked;
  const QString title = tr("What moves the best %1").arg(m_model.metric().section('/', -1));
  const qsizetype count = std::ssize(runs);
  if (runs.size() < kLeastSamples || causes.empty()) {
    m_weigh.forget();
    m_weights->setTitle(title, counted(count, tr("finished runs")));
    m_weights->setMessage(
        runs.size() < kLeastSamples
            ? tr("Too few runs to tell: %1 finished with a result, a forest needs %2.").arg(count).arg(kLeastSamples)
            : tr("These runs differ in no setting."));
    return;
  }
  m_weigh.ask([this, samples = std::move(samples), causes, title,
               count](const std::atomic<bool>& outdated) -> NewestTask::Answer {
    const auto weights = weighCauses(samples, &outdated);
    return [this, weights, causes, title, count] {
      const int explained = weights ? static_cast<int>(std::lround(100 * std::max(0.0, weights->explained))) : 0;
      m_weights->setTitle(title, tr("%1, forest, explains %2 %").arg(counted(count, tr("runs"))).arg(explained));
      if (!weights) return m_weights->setMessage(tr("All of these runs came to the same: nothing moved it."));
      if (weights->explained < kLeastExplained)
        return m_weights->setMessage(
            tr("Too few runs to tell: the settings explain %1 % of what came of them, %2 % are needed.")
                .arg(explained)
                .arg(static_cast<int>(kLeastExplained * 100)));
      std::vector<WeightBars::Bar> bars;
      for (std::size_t i = 0; i < causes.size(); ++i)
        bars.push_back({causes[i].key, causes[i].title, weights->shares[i]});
      std::stable_sort(bars.begin(), bars.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
      m_weights->setBars(std::move(bars));
    };
  });
}

}  // namespace loom
