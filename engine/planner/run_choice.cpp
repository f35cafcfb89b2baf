#include "engine/planner/run_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/base/error.h"
#include "engine/planner/critical_batch.h"
#include "engine/planner/numbers_text.h"

namespace loom {
namespace {

constexpr std::int64_t kLeastSteps = 20;       // of an epoch, where no noise scale says more
constexpr std::int64_t kLeastPerRank = 8;      // samples: fewer leave a machine idle
constexpr std::int64_t kMomentumHolds = 8192;  // Goyal et al. 2017: linear scaling holds up to there
constexpr std::int64_t kLarsHolds = 65536;     // Sony 2019: beyond it LARS alone loses accuracy
constexpr std::int64_t kUsualShard = 256;      // samples at once that are taken to fit where memory is not known
constexpr double kLarge = 4;                   // times the batch before, from which a warm-up is wanted
constexpr double kWireGain = 0.95;             // of a step: 16 bits on the wire must bring this much

const std::set<std::string> kDivides{"Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Lion", "LAMB"};
const std::set<std::string> kOwnLength{"LARS", "LAMB", "STiLL"};

class Chooser {
 public:
  Chooser(const Project& project, std::size_t update, int ranksNow, const ChoiceQuestion& question)
      : m_project(project),
        m_update(update),
        m_ranksNow(ranksNow),
        m_question(question),
        m_settings(settingsEntry(), project.training.settings),
        m_batchNow(std::max<std::int64_t>(1, m_settings.integer("batch"))),
        m_buckets(exchangedBuckets(project)) {
    m_scaling = {.secondsPerSample = question.secondsPerSample,
                 .secondsPerStep = question.secondsPerStep,
                 .perHost = question.host.perHost,
                 .links = question.host.links,
                 .samples = question.samples,
                 .epochs = m_settings.real("epochs"),
                 .wires = {Wire::f32}};
  }

  RunChoice run() {
    chooseBatchAndRanks();
    chooseExchange();
    chooseRule();
    chooseMemory();
    RunChoice choice{.project = withFields(m_project, m_update, m_values),
                     .ranks = m_best.ranks,
                     .predicted = m_best,
                     .changes = {{"ranks", m_ranksNow, m_best.ranks, m_ranksReason}}};
    for (const PresetValue& one : m_values)
      choice.changes.push_back(
          {one.path, fieldAt(m_project, m_update, one.path), fieldAt(choice.project, m_update, one.path), one.source});
    return choice;
  }

 private:
  void set(const std::string& path, Json value, std::string why) {
    m_values.push_back({path, std::move(value), std::move(why)});
  }

  // Steps to the same loss, over those with an endless batch.
  double stepsAt(std::int64_t batch) const {
    return m_question.noise ? 1 + *m_question.noise / static_cast<double>(batch)
                            : 1 / static_cast<double>(batch);  // as many samples whatever the batch
  }
  std::int64_t largestBatch() const {
    if (m_question.sameAsBatch) return *m_question.sameAsBatch;
    const std::int64_t few =
        m_question.samples > 0 ? std::max<std::int64_t>(m_batchNow, m_question.samples / kLeastSteps) : kMomentumHolds;
    return m_question.noise ? std::max<std::int64_t>(1, std::llround(*m_question.noise)) : few;
  }

  void chooseBatchAndRanks() {
    const std::int64_t most = largestBatch();
    std::vector<std::int64_t> batches;
    if (m_question.sameAsBatch)
      batches = {*m_question.sameAsBatch};
    else
      for (std::int64_t batch = std::min(m_batchNow, most); batch <= most; batch *= 2) batches.push_back(batch);
    double best = 0;
    for (const std::int64_t batch : batches)
      for (const int ranks : rankCounts()) {
        if (ranks > 1 && batch / ranks < kLeastPerRank) continue;
        m_scaling.batch = batch;
        const ScalingPoint point = scalingPoint(m_project, m_scaling, m_buckets, ranks);
        const double time = stepsAt(batch) * point.step;
        // A twentieth of the time is not worth more ranks or a larger batch.
        if (m_best.step > 0 && time >= best * 0.95) continue;
        best = time;
        m_best = point;
      }
    m_scaling.batch = m_best.batch;
    m_ranksReason = fmt::format("{} a rank; {:.0f} % of what ranks could do that never wait; {} offers {}{}",
                                m_best.batch / m_best.ranks, 100 * m_best.efficiency, m_question.host.name,
                                m_question.host.ranks, m_question.host.measured ? "" : ", its links are assumed");
    set("batch", m_best.batch, batchReason(most));
    set("virtual_ranks", 0, "real ranks");
    set("batch_at", Json::array(), "one batch throughout");
    set("batch_then", Json::array(), "one batch throughout");
  }

  std::string batchReason(std::int64_t most) const {
    if (m_question.sameAsBatch) return "the batch whose accuracy is wanted";
    if (m_question.noise)
      return fmt::format("at most the critical batch, measured as {}: {}", groupedText(most),
                         tradeSentence(*m_question.noise, static_cast<double>(m_best.batch)));
    if (m_question.samples > 0)
      return fmt::format("at least {} steps an epoch of {} samples; the noise scale was not measured", kLeastSteps,
                         groupedText(m_question.samples));
    return "momentum holds up to 8,192 (Goyal et al. 2017); neither samples nor noise scale are known";
  }

  std::vector<int> rankCounts() const {
    std::vector<int> counts;
    const int host =
        m_question.host.perHost > 0 ? std::min(m_question.host.perHost, m_question.host.ranks) : m_question.host.ranks;
    for (int ranks = 1; ranks < host; ranks *= 2) counts.push_back(ranks);
    for (int ranks = host; ranks <= m_question.host.ranks; ranks *= 2) counts.push_back(ranks);
    if (counts.back() < m_question.host.ranks) counts.push_back(m_question.host.ranks / host * host);
    return counts;
  }

  void chooseExchange() {
    if (m_best.ranks == 1) return;
    ScalingQuestion narrow = m_scaling;
    narrow.wires = {Wire::f16};
    const ScalingPoint half = scalingPoint(m_project, narrow, m_buckets, m_best.ranks);
    const bool gains = !half.reduction.empty() && half.step < kWireGain * m_best.step;
    const double before = m_best.step;
    if (gains) m_best = half;
    set("reduction", m_best.reduction,
        fmt::format("the cheapest of all on {} ranks: {:.2f} ms of a step of {:.2f}", m_best.ranks,
                    1e3 * m_best.exchange, 1e3 * m_best.step));
    set("wire", toString(m_best.wire),
        gains ? fmt::format("a step takes {:.2f} ms instead of {:.2f}", 1e3 * m_best.step, 1e3 * before)
              : "16 bits would bring less than a twentieth");
  }

  void chooseRule() {
    const UpdateSpec& spec = m_project.training.updates[m_update];
    const std::string rule = fieldAt(m_project, m_update, "optimizer.name").get<std::string>();
    const double growth = static_cast<double>(m_best.batch) / static_cast<double>(m_batchNow);
    const std::int64_t batch = m_best.batch;
    const bool bySize = kDivides.contains(rule), byLayer = kOwnLength.contains(rule);
    if (batch > kLarsHolds && rule != "STiLL") {
      newRule("STiLL", "beyond 64K LARS alone loses accuracy (Sony 2019)");
    } else if (batch > kMomentumHolds && !bySize && !byLayer) {
      newRule("LARS", "one rate for all tensors holds up to 8,192 (Goyal et al. 2017; You et al. 2017)");
    } else {
      set("optimizer.name", rule,
          byLayer ? "made for large batches" : "holds at this batch: no other rule is needed up to 8,192");
      const bool scaled = m_settings.text("rate_scaling") != "none";
      if (growth > 1 && !byLayer) {
        set("rate_scaling", bySize ? "square_root" : "linear",
            bySize ? "a rule that divides by the gradient's size: √(batch / base batch)"
                   : "batch / base batch (Goyal et al. 2017)");
        if (!scaled) set("base_batch", m_batchNow, "the batch for which the rate was set");
      }
      set("optimizer.learning_rate", fieldAt(m_project, m_update, "optimizer.learning_rate"),
          growth > 1 && !byLayer ? "stays: it is scaled with the batch" : "stays; the range test finds a better one");
    }
    const bool warm = spec.warmup.is_object() && !spec.warmup.empty();
    if (growth >= kLarge && !warm)
      set("warmup.epochs", std::clamp(std::round(m_settings.real("epochs") / 18), 1.0, 5.0),
          "a batch that grew so much needs one: 5 of 90 epochs (Goyal et al. 2017)");
  }

  void newRule(const std::string& name, const std::string& why) {
    set("optimizer.name", name, why);
    set("optimizer.learning_rate", name == "LARS" ? 10.0 : 26.1,
        "as published for such batches; the range test finds yours");
    set("rate_scaling", "none", "its rate does not follow the batch");
    set("schedule.name", "Polynomial", "as all recipes with this rule");
    set("schedule.power", 2, "as all recipes with this rule");
  }

  void chooseMemory() {
    const std::int64_t perRank = (m_best.batch + m_best.ranks - 1) / m_best.ranks;
    if (m_question.memory <= 0 || m_question.memoryPerSample <= 0) {
      // What is computed at once now is known to fit; a few samples always do.
      const std::int64_t fitted = std::max<std::int64_t>(
          kUsualShard, m_batchNow / std::max<std::int64_t>(1, m_ranksNow * m_settings.integer("accumulate")));
      const std::int64_t passes = (perRank + fitted - 1) / fitted;
      set("accumulate", passes,
          fmt::format("{} samples at once; the memory of {} is not known", groupedText((perRank + passes - 1) / passes),
                      m_question.host.name));
      return;
    }
    const double room = m_question.memory - m_question.memoryBeside;
    const auto fits = std::max<std::int64_t>(1, static_cast<std::int64_t>(room / m_question.memoryPerSample));
    const std::int64_t passes = (perRank + fits - 1) / fits;
    const std::int64_t shard = (perRank + passes - 1) / passes;
    set("accumulate", passes,
        fmt::format(
            "{} samples at once take {} of {}", groupedText(shard),
            bytesText(std::llround(m_question.memoryBeside + static_cast<double>(shard) * m_question.memoryPerSample)),
            bytesText(std::llround(m_question.memory))));
  }

  const Project& m_project;
  std::size_t m_update;
  int m_ranksNow;
  const ChoiceQuestion& m_question;
  Values m_settings;
  std::int64_t m_batchNow;
  std::vector<std::size_t> m_buckets;
  ScalingQuestion m_scaling;
  ScalingPoint m_best;
  std::string m_ranksReason;
  std::vector<PresetValue> m_values;
};

}  // namespace

RunChoice chooseRun(const Project& project, std::size_t update, int ranksNow, const ChoiceQuestion& question) {
  if (question.host.ranks < 1) throwError(ErrorCode::badArgument, "a host offers at least one rank");
  return Chooser(project, update, ranksNow, question).run();
}

}  // namespace loom
