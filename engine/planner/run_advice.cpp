#include "engine/planner/run_advice.h"

#include <algorithm>
#include <cmath>

#include "engine/catalogue/entry.h"
#include "engine/network/flatten.h"
#include "engine/network/project_settings.h"
#include "engine/optimizers/optimizer.h"

namespace loom {
namespace {

using Rule = RunFinding::Rule;

constexpr double kLargeBatch = 4;         // times the base batch from which it is a large one
constexpr std::int64_t kFewSteps = 50;    // of a whole run
constexpr std::int64_t kShortWarmup = 5;  // steps
constexpr int kLongWarmup = 50;           // percent of the run
constexpr std::int64_t kNoisyShard = 16;  // samples below which batch statistics are noisy
constexpr std::int64_t kSmallBatch = 32;  // where nobody expects more

class RunAdviser {
 public:
  RunAdviser(const Project& project, std::size_t index, const RunOutlook& outlook)
      : m_project(project),
        m_update(project.training.updates.at(index)),
        m_outlook(outlook),
        m_settings(settingsEntry(), project.training.settings),
        m_batch(std::max<std::int64_t>(1, m_settings.integer("batch"))) {}

  std::vector<RunFinding> run() {
    ranks();
    samples();
    rate();
    warmup();
    statistics();
    return std::move(m_found);
  }

 private:
  RunFinding& find(RunFinding::Severity severity, Rule rule) {
    return m_found.emplace_back(RunFinding{.rule = rule, .severity = severity, .remedy = {}});
  }
  // Of one that is not known: as most rules are.
  OptimizerTraits traits() const {
    const OptimizerDefinition* const rule = optimizerOf(m_update);
    return rule ? rule->traits : OptimizerTraits{};
  }
  double growth() const {
    return static_cast<double>(m_batch) /
           static_cast<double>(std::max<std::int64_t>(1, m_settings.integer("base_batch")));
  }

  void ranks() {
    const std::int64_t passes = m_settings.integer("accumulate"), ranks = m_outlook.ranks;
    if (m_batch < ranks) {
      RunFinding& found = find(RunFinding::Severity::error, Rule::batchBelowRanks);
      found.batch = m_batch, found.ranks = ranks;
      found.remedy = {"batch", ranks};
    }
    if (m_settings.text("batch_statistics") == "synchronised" && (passes > 1 || m_outlook.virtualRanks)) {
      RunFinding& found =
          find(RunFinding::Severity::error, passes > 1 ? Rule::statisticsOfPasses : Rule::statisticsOfVirtualRanks);
      found.passes = passes, found.ranks = ranks;
      found.remedy = {"batch_statistics", "per_shard"};
    }
    reduction();
  }

  void reduction() {
    const auto refusal = refusedReduction(m_project.training.settings, m_outlook.ranks);
    if (!refusal) return;
    RunFinding& found =
        find(RunFinding::Severity::error, refusal->setting == "wire" ? Rule::wireNotExact : Rule::reductionImpossible);
    found.reason = refusal->sentence(), found.ranks = m_outlook.ranks;
    found.remedy = {refusal->setting, refusal->value};
  }

  void samples() {
    const std::int64_t samples = m_outlook.samples;
    if (samples <= 0) return;
    if (m_batch > samples) {
      RunFinding& found = find(RunFinding::Severity::warning, Rule::batchAboveSamples);
      found.batch = m_batch, found.samples = samples;
      found.remedy = {"batch", std::max<std::int64_t>(1, samples / 10)};
    } else if (samples % m_batch != 0) {
      RunFinding& found = find(RunFinding::Severity::fine, Rule::restOfSamples);
      found.batch = m_batch, found.samples = samples, found.steps = samples / m_batch, found.rest = samples % m_batch;
      found.dropped = m_settings.boolean("drop_last");
    }
    if (m_outlook.steps > 0 && m_outlook.steps < kFewSteps)
      find(RunFinding::Severity::warning, Rule::fewSteps).steps = m_outlook.steps;
  }

  // Goyal et al. 2017, section 2.1: in proportion for SGD; by the square root for rules that divide by the gradient's
  // size.
  void rate() {
    const double times = growth();
    const OptimizerTraits rule = traits();
    if (const std::string scaling = m_settings.text("rate_scaling"); scaling != "none") {
      RunFinding& found = find(RunFinding::Severity::fine, Rule::rateScaled);
      found.times = times, found.factor = scaling == "linear" ? times : std::sqrt(times);
    } else if (times >= kLargeBatch && !rule.stepsPerTensor) {
      RunFinding& found = find(RunFinding::Severity::warning, Rule::rateNotScaled);
      found.times = times, found.baseBatch = m_settings.integer("base_batch");
      found.remedy = {"rate_scaling", rule.rateScaling == RateScaling::squareRoot ? "square_root" : "linear"};
    }
  }

  void warmup() {
    if (m_outlook.steps <= 0) return;
    const std::int64_t steps = m_outlook.warmupSteps;
    if (steps == 0) {
      // Goyal et al.: 5 of 90 epochs.
      if (growth() >= kLargeBatch)
        find(RunFinding::Severity::warning, Rule::noWarmup).remedy.warmupEpochs =
            std::clamp(std::round(m_settings.real("epochs") / 12), 1.0, 5.0);
      return;
    }
    const int share =
        static_cast<int>(std::lround(100.0 * static_cast<double>(steps) / static_cast<double>(m_outlook.steps)));
    RunFinding& found = steps < kShortWarmup  ? find(RunFinding::Severity::warning, Rule::warmupShort)
                        : share > kLongWarmup ? find(RunFinding::Severity::warning, Rule::warmupLong)
                                              : find(RunFinding::Severity::fine, Rule::warmup);
    found.steps = steps, found.percent = share;
  }

  void statistics() {
    const Network* network = m_project.network(m_update.network);
    if (!network || m_settings.text("batch_statistics") == "synchronised") return;
    const std::vector<Node> layers = flatten(m_project, *network).network.nodes;
    const bool normalises =
        std::any_of(layers.begin(), layers.end(), [](const Node& node) { return node.layer == "BatchNormalization"; });
    const std::int64_t shard = m_batch / std::max<std::int64_t>(1, m_outlook.ranks * m_settings.integer("accumulate"));
    if (!normalises || shard >= kNoisyShard || m_batch < kSmallBatch) return;
    RunFinding& found = find(RunFinding::Severity::warning, Rule::noisyStatistics);
    found.shard = shard;
    if (m_settings.integer("accumulate") == 1 && !m_outlook.virtualRanks && m_outlook.ranks > 1)
      found.remedy = {"batch_statistics", "synchronised"};
  }

  const Project& m_project;
  const UpdateSpec& m_update;
  const RunOutlook& m_outlook;
  Values m_settings;
  std::int64_t m_batch;
  std::vector<RunFinding> m_found;
};

}  // namespace

std::int64_t stepsPerEpoch(std::int64_t samples, std::int64_t batch, bool dropLast) {
  if (samples <= 0 || batch <= 0) return 0;
  return dropLast ? std::max<std::int64_t>(1, samples / batch) : (samples + batch - 1) / batch;
}

std::vector<RunFinding> adviseOnRun(const Project& project, std::size_t index, const RunOutlook& outlook) {
  return RunAdviser(project, index, outlook).run();
}

}  // namespace loom
