#include "engine/training/range_test.h"

#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/optimizers/optimizer.h"
#include "engine/training/settings.h"
#include "engine/training/trainer.h"

namespace loom {
namespace {

constexpr double kMemory = 0.9;     // of the running mean by which a test ends
constexpr double kGainLost = 0.75;  // share of what was gained that is lost again
constexpr double kRise = 0.25;      // of the first loss, where nothing was gained
constexpr std::size_t kLeast = 10;  // points before which nothing is said
constexpr double kBegun = 0.1;      // of the gain, from which on the loss falls
constexpr double kLowest = 0.1;     // of the gain, within which the loss is as low as it gets
constexpr double kOrder = 10;       // between where it diverges and the highest rate that is suggested

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "gradloom-range-XXXXXX").string();
    if (!::mkdtemp(name.data())) throwErrno(errno, "make the folder", name);
    m_path = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return m_path; }

 private:
  std::filesystem::path m_path;
};

// Losses until the first that is not finite.
std::vector<double> finiteLosses(const std::vector<RangePoint>& points) {
  std::vector<double> losses;
  for (const RangePoint& point : points) {
    if (!std::isfinite(point.loss)) break;
    losses.push_back(point.loss);
  }
  return losses;
}

// Weighted by distance on both sides, so that a falling curve is not seen late.
std::vector<double> smooth(const std::vector<double>& losses) {
  const double width = std::max(1.5, static_cast<double>(losses.size()) / 30);
  const auto reach = static_cast<std::ptrdiff_t>(std::ceil(3 * width));
  const auto count = static_cast<std::ptrdiff_t>(losses.size());
  std::vector<double> smoothed;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    double sum = 0, weights = 0;
    for (std::ptrdiff_t j = std::max<std::ptrdiff_t>(0, i - reach); j <= std::min(count - 1, i + reach); ++j) {
      const double distance = static_cast<double>(i - j) / width, weight = std::exp(-0.5 * distance * distance);
      sum += weight * losses[static_cast<std::size_t>(j)];
      weights += weight;
    }
    smoothed.push_back(sum / weights);
  }
  return smoothed;
}

// Losses of steps as they come: how far they differ by chance, and whether they have lost what they had gained.
class LossWatch {
 public:
  // Whether it has diverged with this one.
  bool add(double loss) {
    if (!std::isfinite(loss)) return true;
    if (m_count > 0) m_differences += std::abs(loss - m_last);
    m_last = loss;
    m_mean = kMemory * m_mean + (1 - kMemory) * loss;
    m_weight = kMemory * m_weight + (1 - kMemory);
    if (++m_count < kLeast) return false;
    const double now = m_mean / m_weight;
    if (m_count == kLeast) m_first = now;
    if (now < m_best) {
      m_best = now;
      m_noise = noise();  // from before it rose
    }
    const double rise = std::max(kGainLost * (m_first - m_best), kRise * std::abs(m_first));
    // A mean of some ten losses is off by a quarter of their deviation.
    return now > m_best + rise + m_noise;
  }
  // Their deviation, from neighbours: the mean difference of two normal ones is 2 / √π of it.
  double noise() const {
    return m_count < 2 ? 0 : m_differences / static_cast<double>(m_count - 1) * std::sqrt(std::acos(-1.0)) / 2;
  }

 private:
  std::size_t m_count = 0;
  double m_last = 0, m_differences = 0, m_mean = 0, m_weight = 0, m_first = 0, m_noise = 0,
         m_best = std::numeric_limits<double>::infinity();
};

struct Descent {
  double steepest = 0;  // rate at which the smoothed loss falls fastest
  double end = 0;       // the last rate at which it is as low as it gets
};

// Looked at from where the loss has begun to fall: before, the slope of noise is all there is.
std::optional<Descent> descentOf(const std::vector<RangePoint>& points, const std::vector<double>& losses,
                                 double noise) {
  const auto lowest = static_cast<std::size_t>(std::min_element(losses.begin(), losses.end()) - losses.begin());
  const std::size_t few = std::max<std::size_t>(2, losses.size() / 10),
                    reach = std::max<std::size_t>(1, losses.size() / 33);
  double first = 0;
  for (std::size_t i = 0; i < few; ++i) first += losses[i] / static_cast<double>(few);
  const double gain = first - losses[lowest];
  if (gain <= noise / 2) return {};
  std::size_t begin = lowest, end = lowest;
  while (begin > 0 && losses[begin - 1] < first - kBegun * gain) --begin;
  while (end + 1 < losses.size() && losses[end + 1] < losses[lowest] + kLowest * gain) ++end;
  Descent descent{.end = points[end].rate};
  double least = 0;
  for (std::size_t i = std::max(begin, reach); i <= lowest && i + reach < losses.size(); ++i) {
    const double slope =
        (losses[i + reach] - losses[i - reach]) / std::log(points[i + reach].rate / points[i - reach].rate);
    if (slope >= least) continue;
    least = slope;
    descent.steepest = points[i].rate;
  }
  return descent.steepest > 0 ? std::optional(descent) : std::nullopt;
}

Project shortened(const RangeTestOptions& options) {
  Project project = options.project;
  Json& settings = project.training.settings;
  if (!settings.is_object()) settings = Json::object();
  for (const char* key :
       {"batch_at", "batch_then", "checkpoint_every", "monitor", "evaluated_weights", "record_layers"})
    settings.erase(key);
  settings["epochs"] = 1e6;
  settings["max_steps"] = options.steps;
  settings["validate_every"] = 0;
  return project;
}

}  // namespace

RangeReading readRange(const std::vector<RangePoint>& points) {
  RangeReading reading;
  LossWatch watch;
  for (std::size_t i = 0; i < points.size() && !reading.diverged; ++i)
    if (watch.add(points[i].loss)) reading.diverged = points[i].rate;
  reading.smoothed = smooth(finiteLosses(points));
  const std::vector<double>& losses = reading.smoothed;
  if (losses.size() < kLeast) return reading;
  const std::optional<Descent> descent = descentOf(points, losses, watch.noise());
  if (!descent) return reading;
  reading.steepest = descent->steepest;
  // A flat bottom behind the descent says that higher rates do as well in so few steps, and better in a whole run.
  reading.suggested = std::max(descent->steepest, descent->end / kOrder);
  if (reading.diverged) reading.suggested = std::min(*reading.suggested, *reading.diverged / kOrder);
  return reading;
}

RangeTest rangeTest(Backend& backend, const RangeTestOptions& options) {
  const auto& updates = options.project.training.updates;
  if (options.update >= updates.size())
    throwError(ErrorCode::badProject, "the project has no update {} whose rate could be tested", options.update + 1);
  const Json& rule = updates[options.update].optimizer;
  const OptimizerDefinition* definition = rule.is_object() ? findOptimizer(rule.value("name", std::string())) : nullptr;
  const Field* field = definition ? definition->entry.field("learning_rate") : nullptr;
  if (!field) throwError(ErrorCode::badProject, "the rule has no learning rate that could be tested");
  const Range usual = field->comfortable.value_or(Range{1e-6, 10});
  const double from = options.from.value_or(usual.low), to = options.to.value_or(usual.high);
  if (!(from > 0) || !(to > from) || options.steps < 10)
    throwError(ErrorCode::badArgument,
               "a range test from {:g} to {:g} in {} steps cannot be: it grows from a rate above 0, in at least 10 "
               "steps",
               from, to, options.steps);

  const TemporaryFolder folder;
  RangeTest test;
  LossWatch watch;
  std::atomic<bool> stop{false};
  TrainerOptions trainer{.project = shortened(options), .folder = options.folder, .run = {folder.path() / "run"}};
  std::filesystem::create_directories(trainer.run.path);
  trainer.stop = &stop;
  trainer.rateAt = [&](std::size_t update, std::int64_t step, double scheduled) {
    if (update != options.update) return scheduled;
    return from * std::pow(to / from, static_cast<double>(step) / static_cast<double>(options.steps - 1));
  };
  trainer.observer = [&](const Event& event) {
    if (options.stop && options.stop->load(std::memory_order_relaxed)) {
      test.stopped = true;
      stop = true;
    }
    if (event.kind != "step") return;
    const Json& step = event.body;
    test.points.push_back({.step = step.at("step").get<std::int64_t>(),
                           .rate = numberFromJson(step.at("learning_rate")),
                           .loss = numberFromJson(step.at("loss"))});
    if (options.observer) options.observer(test.points.back());
    if (watch.add(test.points.back().loss)) stop = true;
  };
  const double scale = readSettings(options.project.training.settings).rateScale;
  try {
    train(backend, std::move(trainer));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::stopped)
      test.stopped = true;
    else if (error.code() != ErrorCode::diverged)
      throw;
  }
  test.reading = readRange(test.points);
  if (test.reading.suggested) test.field = *test.reading.suggested / scale;
  return test;
}

}  // namespace loom
