#include "engine/planner/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "engine/base/json.h"
#include "engine/planner/exchange_plan.h"
#include "engine/planner/numbers_text.h"
#include "engine/planner/run_advice.h"

namespace loom {
namespace {

// Gradients leave bucket by bucket while the backward part goes on, about two thirds of computing.
constexpr double kBackward = 2.0 / 3;

struct Way {
  std::string reduction;
  Wire wire = Wire::f32;
  double total = 0, last = 0;  // seconds of all buckets, of the one that nothing hides
};

double exposed(const Way& way, double compute) {
  return std::max(way.last, way.total - kBackward * compute);
}

}  // namespace

std::vector<std::size_t> exchangedBuckets(const Project& project) {
  Project plain = project;
  for (const char* key : {"reduction", "wire", "deterministic"})
    if (plain.training.settings.is_object()) plain.training.settings.erase(key);
  std::vector<std::size_t> buckets;
  for (const ExchangePlan& plan : planExchange(plain, {.ranks = 2, .perHost = 0, .links = {}}))
    for (const ExchangePlan::Bucket& bucket : plan.buckets) buckets.push_back(bucket.floats);
  return buckets;
}

ScalingPoint scalingPoint(const Project& project, const ScalingQuestion& question,
                          const std::vector<std::size_t>& buckets, int ranks) {
  const Values settings(settingsEntry(), project.training.settings);
  const ReductionChoice own = reductionIn(project.training.settings);
  const bool deterministic = settings.boolean("deterministic");
  const std::vector<Wire> wires =
      question.wires.empty() ? std::vector{wireNamed(settings.text("wire"))} : question.wires;
  ScalingPoint point{.ranks = ranks, .batch = question.batch > 0 ? question.batch : question.samplesPerRank * ranks};
  const auto perRank = std::ceil(static_cast<double>(point.batch) / ranks);
  point.compute = perRank * question.secondsPerSample + question.secondsPerStep;
  Way best{.total = ranks > 1 ? std::numeric_limits<double>::infinity() : 0};
  for (const Wire wire : wires) {
    if (ranks == 1) break;
    for (const ReductionDefinition* row : reductionTable()) {
      if (!question.anyReduction && row != &reductionOf(own, wire, deterministic)) continue;
      if (row->entry.id == "host_memory" && question.perHost > 0 && ranks > question.perHost && question.anyReduction)
        continue;  // within a host it is what it says, between hosts the library's ring, which has a row
      if (refusalOf({row->entry.id, own.values}, ranks, wire, deterministic)) continue;
      Way way{.reduction = row->entry.id, .wire = wire};
      for (const std::size_t floats : buckets) {
        const ReductionShape shape{.ranks = ranks,
                                   .floats = floats,
                                   .wire = wire,
                                   .shards = ranks,
                                   .perHost = ranks > question.perHost ? question.perHost : 0,
                                   .links = question.links,
                                   .values = own.values};
        way.last = secondsOf(*row, shape);
        way.total += way.last;
      }
      if (exposed(way, point.compute) < exposed(best, point.compute) * 0.999 || best.reduction.empty()) best = way;
    }
  }
  point.reduction = best.reduction;
  point.wire = best.wire;
  point.exchange = std::isfinite(best.total) ? best.total : 0;
  point.step = point.compute + (ranks > 1 ? std::max(0.0, exposed(best, point.compute)) : 0);
  point.samplesPerSecond = static_cast<double>(point.batch) / point.step;
  const double alone = perRank / (perRank * question.secondsPerSample + question.secondsPerStep);
  point.efficiency = point.samplesPerSecond / (alone * ranks);
  if (question.samples > 0) {
    point.steps = std::llround(question.epochs * static_cast<double>(stepsPerEpoch(question.samples, point.batch,
                                                                                   settings.boolean("drop_last"))));
    point.run = static_cast<double>(point.steps) * point.step;
  }
  return point;
}

ScalingPoint predictScalingAt(const Project& project, const ScalingQuestion& question, int ranks) {
  return scalingPoint(project, question, exchangedBuckets(project), ranks);
}

std::vector<ScalingPoint> predictScaling(const Project& project, const ScalingQuestion& question) {
  const std::vector<std::size_t> buckets = exchangedBuckets(project);
  const int host = question.perHost > 0 ? question.perHost : question.most;
  std::set<int> counts;
  for (int ranks = 1; ranks < host && ranks <= question.most; ranks *= 2) counts.insert(ranks);
  for (int ranks = host; ranks <= question.most; ranks *= 2) counts.insert(ranks);
  if (question.also > 0) counts.insert(question.also);
  std::vector<ScalingPoint> points;
  for (const int ranks : counts) points.push_back(scalingPoint(project, question, buckets, ranks));
  return points;
}

std::string toText(const std::vector<ScalingPoint>& points) {
  std::string text = fmt::format("  {:>6}{:>10}{:>12}{:>12}{:>12}{:>14}{:>8}  {}\n", "ranks", "batch", "computing",
                                 "exchange", "step", "samples/s", "eff.", "summed by");
  const auto milliseconds = [](double seconds) { return fmt::format("{:.3g} ms", seconds * 1e3); };
  for (const ScalingPoint& point : points)
    text += fmt::format("  {:>6}{:>10}{:>12}{:>12}{:>12}{:>14}{:>8.2f}  {}\n", point.ranks, groupedText(point.batch),
                        milliseconds(point.compute), milliseconds(point.exchange), milliseconds(point.step),
                        groupedText(std::llround(point.samplesPerSecond)), point.efficiency,
                        point.reduction.empty() ? "" : fmt::format("{}, {}", point.reduction, toString(point.wire)));
  return text;
}

Json toJson(const std::vector<ScalingPoint>& points) {
  Json all = Json::array();
  for (const ScalingPoint& point : points)
    all.push_back({{"ranks", point.ranks},
                   {"batch", point.batch},
                   {"reduction", point.reduction},
                   {"wire", toString(point.wire)},
                   {"compute", point.compute},
                   {"exchange", point.exchange},
                   {"step", point.step},
                   {"samples_per_second", point.samplesPerSecond},
                   {"efficiency", point.efficiency},
                   {"steps", point.steps},
                   {"run", point.run}});
  return all;
}

}  // namespace loom
