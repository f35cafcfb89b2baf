#include "app/large_batch_figures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "launcher/store/run_store.h"

namespace loom {
namespace {

constexpr int kEventsLookedAt = 1000;  // the newest that are looked through
constexpr std::size_t kMostLayers = 20000, kMostBuckets = 20000, kMostPowers = 300, kMostSkipped = 200;
constexpr std::int64_t kLookedAt = 256;  // steps
constexpr qsizetype kLongestTold = 200;

double toldNumber(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  const double value = json.is_object() && found != json.end() && found->is_number() ? found->get<double>() : 0;
  return std::isfinite(value) ? value : 0;
}

QString toldText(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() && found->is_string()
             ? QString::fromStdString(found->get<std::string>()).left(kLongestTold)
             : QString();
}

const Json& toldList(const Json& json, const char* key) {
  static const Json none = Json::array();
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() && found->is_array() ? *found : none;
}

std::optional<double> toldSeconds(const Json& json, const char* key) {
  const double ms = toldNumber(json, key);
  return ms > 0 ? std::optional(ms / 1e3) : std::nullopt;
}

void takeGradients(LargeBatchFigures& figures, const Json& body) {
  figures.step = static_cast<qint64>(std::clamp(toldNumber(body, "step"), 0.0, 1e15));
  for (const Json& each : toldList(body, "trust_ratios"))
    if (const QString name = toldText(each, "name"); !name.isEmpty() && figures.ratios.size() < kMostLayers)
      if (const double ratio = toldNumber(each, "ratio"); ratio > 0) figures.ratios.push_back({name, ratio});
  const auto told = body.find("magnitudes");
  if (told == body.end() || !told->is_object()) return;
  GradientMagnitudes magnitudes{.from = static_cast<int>(std::clamp(toldNumber(*told, "from"), -400.0, 400.0)),
                                .counts = {},
                                .zeros = std::max(0.0, toldNumber(*told, "zeros")),
                                .lost = std::clamp(toldNumber(*told, "lost"), 0.0, 1.0),
                                .scale = std::max(1.0, toldNumber(*told, "scale")),
                                .lostScaled = std::clamp(toldNumber(*told, "lost_scaled"), 0.0, 1.0)};
  for (const Json& each : toldList(*told, "counts"))
    if (magnitudes.counts.size() < kMostPowers)
      magnitudes.counts.push_back(each.is_number() ? std::max(0.0, each.get<double>()) : 0);
  if (!magnitudes.counts.empty()) figures.magnitudes = std::move(magnitudes);
}

void takeExchange(LargeBatchFigures& figures, const Json& body) {
  for (const Json& update : toldList(body, "updates")) {
    if (figures.reduction.isEmpty()) figures.reduction = toldText(update, "reduction");
    if (figures.wire.isEmpty()) figures.wire = toldText(update, "wire");
    for (const Json& each : toldList(update, "buckets"))
      if (figures.buckets.size() < kMostBuckets)
        figures.buckets.push_back({.label = toldText(each, "label"),
                                   .reduction = toldText(each, "reduction"),
                                   .numbers = toldNumber(each, "numbers"),
                                   .bytes = toldNumber(each, "bytes"),
                                   .predicted = toldSeconds(each, "predicted_ms"),
                                   .least = toldSeconds(each, "least_ms")});
  }
}

WaitingShares waitingSharesOf(const RunData& curves, const WaitingAsked& asked) {
  WaitingShares shares;
  const auto sum = [&](const char* series) {
    const double from = static_cast<double>(asked.lastStep - kLookedAt + 1), to = static_cast<double>(asked.lastStep);
    const SeriesView view = curves.view(series, Axis::step, {from, to}, static_cast<int>(kLookedAt));
    std::pair<int, double> all{0, 0};
    for (const SeriesColumn& each : view.columns)
      if (each.x >= from && each.x <= to && std::isfinite(each.last)) ++all.first, all.second += each.last / 1e3;
    return all;
  };
  const auto [steps, seconds] = sum(series::kMilliseconds);
  shares.steps = steps;
  if (steps == 0 || !(seconds > 0)) return shares;
  shares.step = seconds / steps;
  const auto share = [&](const char* series) -> std::optional<double> {
    const auto [told, waited] = sum(series);
    return told > 0 ? std::optional(std::clamp(waited / seconds, 0.0, 1.0)) : std::nullopt;
  };
  shares.data = share(series::kDataMilliseconds);
  shares.exchange = share(series::kExchangeMilliseconds);
  const std::vector<SeriesPoint> skipped = curves.points(series::kSkipped);
  for (const SeriesPoint& each : skipped) shares.skipped.push_back(each.step);
  if (shares.skipped.size() > kMostSkipped)
    shares.skipped.erase(shares.skipped.begin(), shares.skipped.end() - static_cast<std::ptrdiff_t>(kMostSkipped));
  return shares;
}

double toldSetting(const RunRecord& run, const char* key) {
  return run.settings.is_object() ? toldNumber(run.settings, key) : 0;
}

}  // namespace

LargeBatchFigures largeBatchFigures(RunStore& store, const QString& run) {
  LargeBatchFigures figures;
  const std::vector<Event> events = store.events(run, kEventsLookedAt);
  bool started = false;  // the newest attempt
  for (auto each = events.rbegin(); each != events.rend(); ++each) {
    if (each->kind == "gradients" && figures.step == 0) takeGradients(figures, each->body);
    if (each->kind == "started" && !std::exchange(started, true)) {
      figures.ranks = static_cast<int>(std::clamp(toldNumber(each->body, "ranks"), 1.0, 1e6));
      figures.logical = static_cast<int>(std::clamp(toldNumber(each->body, "logical_ranks"), 1.0, 1e6));
    }
    if (each->kind == "exchange" && figures.buckets.empty()) takeExchange(figures, each->body);
  }
  return figures;
}

std::unique_ptr<WaitingQuestion> waitingQuestion(const RunStore& store, const QString& run,
                                                 std::function<void()> told) {
  return std::make_unique<WaitingQuestion>(store, run, waitingSharesOf, std::move(told));
}

bool watchesGradients(const RunRecord& run) {
  const auto found = run.settings.is_object() ? run.settings.find("watch_gradients") : run.settings.end();
  return run.settings.is_object() && found != run.settings.end() && *found == Json(true);
}

bool hasParts(const RunRecord& run, const LargeBatchFigures& figures) {
  return figures.logical > 1 || toldSetting(run, "accumulate") > 1;
}

}  // namespace loom
