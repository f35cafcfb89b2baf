// Recipes with names, the range test and the noise scale: each does what it says, on a small network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/network/flatten.h"
#include "engine/network/presets.h"
#include "engine/network/project_arguments.h"
#include "engine/planner/critical_batch.h"
#include "engine/schedules/schedule.h"
#include "engine/training/compiled_networks.h"
#include "engine/training/feed.h"
#include "engine/training/noise_scale.h"
#include "engine/training/project_data.h"
#include "engine/training/range_test.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;

Project projectOf(const Json& json) {
  return checkedProject(json, "project.loom", {}).project;
}

Json changeAt(const Proposal& proposal, const std::string& path) {
  for (const FieldChange& change : proposal.changes)
    if (change.path == path) return change.after;
  return "no such change";
}

// Every row of the table: valid in a file, as said, and it trains by four virtual ranks with finite losses, at the rate
// that its schedule begins with.
TEST(Presets, EachSetsWhatItNamesAndTrainsByVirtualRanks) {
  const Workshop workshop("presets", 64);
  for (const Preset& preset : presetTable()) {
    SCOPED_TRACE(preset.id);
    Json before = perceptron();
    before["training"].update({{"batch", 32}, {"virtual_ranks", 4}});
    before["training"]["optimizer"] = {{"name", "AdamW"}, {"learning_rate", 0.5}, {"beta1", 0.8}};
    before["training"]["warmup"] = {{"steps", 3}};
    const Project project = projectOf(before);
    const Proposal proposal = withPreset(project, 0, preset, {.batch = 0, .ranks = 4});
    EXPECT_FALSE(preset.source.empty());
    EXPECT_FALSE(preset.result.empty());
    for (const PresetValue& value : preset.values) {
      EXPECT_FALSE(value.source.empty()) << value.path;
      if (value.path == "reduction" || value.path == "batch_then") continue;
      const Json holds = fieldAt(proposal.project, 0, value.path);
      if (value.value.is_number())
        EXPECT_DOUBLE_EQ(holds.get<double>(), value.value.get<double>()) << value.path;
      else
        EXPECT_EQ(holds, value.value) << value.path;
      EXPECT_EQ(changeAt(proposal, value.path).dump(), fieldAt(proposal.project, 0, value.path).dump()) << value.path;
    }
    // Nothing is left over of the rule before.
    EXPECT_FALSE(proposal.project.training.updates[0].optimizer.contains("beta1"));
    EXPECT_FALSE(proposal.project.training.updates[0].warmup.is_object() &&
                 proposal.project.training.updates[0].warmup.contains("steps"));
    EXPECT_THAT(proposal.changes, Contains(Field(&FieldChange::path, "optimizer.beta1")));
    Json after = parseJson(writeProject(proposal.project), preset.id);
    after["training"].update({{"max_steps", 5}, {"validate_every", 0}});
    ASSERT_NO_THROW(projectOf(after));
    const auto run = workshop.train(after, preset.id);
    EXPECT_EQ(run.result.step, 5);
    for (const double loss : run.series("step", "loss")) EXPECT_TRUE(std::isfinite(loss));
    EXPECT_EQ(run.of("started").front().body["batch"], 32);
  }
}

// What recipes call the rate is that behind the warm-up.
TEST(Presets, ReachThePublishedRateBehindTheWarmUp) {
  const Project project = projectOf(perceptron());
  for (const auto& [id, published] : {std::pair{"still-64k", 26.1},
                                      {"still-96k-110", 26.1},
                                      {"still-128k-150", 26.1},
                                      {"mlperf-3200", 11.0},
                                      {"mlperf-57k", 23.0},
                                      {"goyal-8k", 0.1}}) {
    const Project taken = withPreset(project, 0, presetNamed(id), {}).project;
    const UpdateSpec& update = taken.training.updates[0];
    const double epochs = fieldAt(taken, 0, "epochs").get<double>(), warm = update.warmup["epochs"].get<double>();
    const auto schedule = makeSchedule(update.schedule, update.warmup,
                                       {.steps = std::llround(1000 * epochs), .stepsPerEpoch = 1000, .rateScale = 1});
    const double base = update.optimizer["learning_rate"].get<double>();
    EXPECT_NEAR(base * schedule->factor(1000 * warm) / published, 1, 2e-3) << id;
    if (std::string_view(id).starts_with("still")) {
      EXPECT_NEAR(base * schedule->factor(0), 1.36, 1e-2) << id;
      // Behind it as the recipe: a polynomial over what is left of the run.
      const double half = (warm + epochs) / 2;
      EXPECT_NEAR(base * schedule->factor(1000 * half), 26.1 / 4, 2e-2) << id;
    }
  }
}

TEST(Presets, ScaleToTheBatchThatIsChosen) {
  Json json = perceptron();
  json["training"].update({{"batch", 512}});
  const Project project = projectOf(json);
  // The same multiple, at the published epoch; seven ranks make no torus.
  const Preset& sony = presetNamed("sony-224s");
  const Proposal own = withPreset(project, 0, sony, {.batch = 0, .ranks = 7});
  EXPECT_EQ(changeAt(own, "batch"), 512);
  EXPECT_EQ(changeAt(own, "batch_then"), Json::array({1024}));
  EXPECT_EQ(changeAt(own, "reduction"), "automatic");
  for (const FieldChange& change : own.changes)
    if (change.path == "reduction") {
      EXPECT_THAT(change.reason, HasSubstr("left out: "));
    }
  EXPECT_EQ(changeAt(withPreset(project, 0, sony, {.batch = sony.batch, .ranks = 2176}), "batch_then"),
            Json::array({69632}));
  // Where the recipe has a rule, the rate follows it: 0.1 for each 256.
  const Proposal goyal = withPreset(project, 0, presetNamed("goyal-8k"), {});
  EXPECT_EQ(changeAt(goyal, "rate_scaling"), "linear");
  EXPECT_EQ(fieldAt(goyal.project, 0, "base_batch"), 256);
  EXPECT_THROW(presetNamed("goyal-8"), Error);
  EXPECT_THROW(withPreset(project, 1, sony, {}), Error);
}

std::vector<RangePoint> curve(const std::function<double(double)>& loss, double from = 1e-5, double to = 100) {
  std::vector<RangePoint> points;
  for (int i = 0; i < 100; ++i) {
    const double rate = from * std::pow(to / from, i / 99.0);
    points.push_back({i + 1, rate, loss(rate)});
  }
  return points;
}

TEST(RangeTest, ReadsTheSteepestDescentAndWhereItDiverges) {
  // A step down around 0.01 on a log axis, and up behind 3.
  const auto falls = [](double rate) { return 2.3 - 1.8 / (1 + std::pow(rate / 0.01, -2)); };
  RangeReading reading = readRange(curve([&](double rate) { return falls(rate) + std::pow(rate / 3, 3); }));
  ASSERT_TRUE(reading.suggested && reading.steepest && reading.diverged);
  EXPECT_NEAR(std::log10(*reading.steepest), -2, 0.2);
  // The bottom goes on to about 1: an order below that.
  EXPECT_GT(*reading.suggested, 3 * *reading.steepest);
  EXPECT_LE(*reading.suggested, *reading.diverged / 10 * (1 + 1e-9));
  EXPECT_GT(*reading.diverged, 2);
  EXPECT_LT(*reading.diverged, 15);
  // Where it diverges right behind, an order below that.
  reading = readRange(curve([&](double rate) { return falls(rate) + std::pow(rate / 0.02, 4); }));
  ASSERT_TRUE(reading.suggested && reading.diverged);
  EXPECT_LE(*reading.suggested, *reading.diverged / 10 * (1 + 1e-9));
  // Not finite ends it; never falling suggests nothing; noise does not end it.
  reading = readRange(curve([&](double rate) { return rate > 0.5 ? std::nan("") : falls(rate); }));
  EXPECT_NEAR(*reading.diverged, 0.5, 0.1);
  EXPECT_FALSE(readRange(curve([](double rate) { return 1 + 0.1 * rate; })).suggested);
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.15);
  reading = readRange(curve([&](double rate) { return falls(rate) + noise(random); }));
  EXPECT_FALSE(reading.diverged);
  EXPECT_NEAR(std::log10(*reading.steepest), -2, 0.7);
}

std::map<std::string, std::string> contents(const std::filesystem::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& each : std::filesystem::recursive_directory_iterator(folder))
    if (each.is_regular_file()) all[each.path().string()] = readFile(each.path());
  return all;
}

// Stopped, failed or done: what stood before stands, and the folder of its own is gone.
TEST(RangeTest, LeavesRunsAndFilesAsTheyWere) {
  const Workshop workshop("range");
  Json json = perceptron();
  json["training"].update({{"virtual_ranks", 2}, {"batch_at", {1}}, {"batch_then", {24}}, {"monitor", "accuracy"}});
  workshop.train(json, "before");
  const std::filesystem::path temporary = workshop.path() / "temporary";
  std::filesystem::create_directories(temporary);
  const char* place = std::getenv("TMPDIR");
  const std::string kept = place ? place : "";
  ::setenv("TMPDIR", temporary.c_str(), 1);
  const auto before = contents(workshop.path());
  std::vector<RangePoint> told;
  RangeTestOptions options{.project = projectOf(json), .folder = workshop.path(), .steps = 60};
  options.observer = [&](const RangePoint& point) { told.push_back(point); };
  const RangeTest whole = rangeTest(cpuBackend(), options);
  EXPECT_FALSE(whole.stopped);
  EXPECT_EQ(told.size(), whole.points.size());
  ASSERT_TRUE(whole.reading.suggested);
  // By the same factor at every step, from the least that is usual for the rule on.
  EXPECT_DOUBLE_EQ(told[0].rate, 1e-6);
  EXPECT_NEAR(told[20].rate / told[19].rate, std::pow(1e7, 1.0 / 59), 1e-6);
  EXPECT_EQ(contents(workshop.path()), before);

  std::atomic<bool> stop{false};
  options.stop = &stop;
  options.observer = [&](const RangePoint& point) { stop = point.step >= 12; };
  const RangeTest part = rangeTest(cpuBackend(), options);
  EXPECT_TRUE(part.stopped);
  EXPECT_LT(part.points.size(), 20u);
  options.stop = nullptr;
  options.observer = [](const RangePoint&) { throwError(ErrorCode::inputOutput, "the pipe is gone"); };
  EXPECT_THROW(rangeTest(cpuBackend(), options), Error);
  options.observer = nullptr;
  options.from = 10;
  options.to = 1;
  EXPECT_THROW(rangeTest(cpuBackend(), options), Error);
  EXPECT_EQ(contents(workshop.path()), before);
  EXPECT_TRUE(std::filesystem::is_empty(temporary));
  if (place)
    ::setenv("TMPDIR", kept.c_str(), 1);
  else
    ::unsetenv("TMPDIR");
}

// What is suggested is before `rate_scaling`, and rates far too high end the test early.
TEST(RangeTest, SuggestsWhatTheFieldWants) {
  const Workshop workshop("range-scaled");
  Json json = perceptron(false);
  json["training"]["optimizer"] = {{"name", "Momentum"}};
  RangeTestOptions options{.project = projectOf(json), .folder = workshop.path(), .from = 1e-3, .to = 1e6, .steps = 80};
  const RangeTest plain = rangeTest(cpuBackend(), options);
  ASSERT_TRUE(plain.field && plain.reading.diverged);
  EXPECT_LT(plain.points.size(), 80u);
  EXPECT_DOUBLE_EQ(*plain.field, *plain.reading.suggested);
  json["training"].update({{"rate_scaling", "linear"}, {"base_batch", 4}});  // batch 16
  options.project = projectOf(json);
  const RangeTest scaled = rangeTest(cpuBackend(), options);
  EXPECT_DOUBLE_EQ(*scaled.reading.suggested, *plain.reading.suggested);
  EXPECT_DOUBLE_EQ(*scaled.field, *plain.reading.suggested / 4);
}

TEST(NoiseScale, IsEstimatedWithoutBias) {
  // Two shards of two samples: their mean is (2, 1), their variance 2 in the first place.
  NoiseEstimate estimate(2);
  estimate.add(std::vector<float>{1});
  estimate.add(std::vector<float>{1});
  estimate.endShard();
  estimate.add(std::vector<float>{3});
  estimate.add(std::vector<float>{1});
  estimate.endShard();
  EXPECT_DOUBLE_EQ(estimate.trace(), 4);
  EXPECT_DOUBLE_EQ(estimate.squaredGradient(), 5 - 4.0 / 4);
  EXPECT_DOUBLE_EQ(estimate.noiseScale(), 1);
  // McCandlish et al., appendix A.1, with one small batch against the big one of both.
  const double small = (2 + 10) / 2.0, big = 5;
  EXPECT_DOUBLE_EQ(estimate.squaredGradient(), (4 * big - 2 * small) / (4 - 2));
  EXPECT_DOUBLE_EQ(estimate.trace(), (small - big) / (1 / 2.0 - 1 / 4.0));
}

TEST(NoiseScale, SaysWhatTwiceTheRanksBring) {
  EXPECT_NEAR(tradeOf(6100, 4096, 8192).samples, 1.402, 1e-3);
  EXPECT_NEAR(tradeOf(6100, 4096, 8192).steps, 0.701, 1e-3);
  EXPECT_DOUBLE_EQ(tradeOf(100, 100, 100).steps, 1);
  EXPECT_EQ(tradeSentence(6100, 4096), "Twice the ranks would save 30 % of the time and cost 40 % more samples.");
}

// tr(Σ) / |G|² of single gradients, one behind the other and kept whole.
double noiseOfSingles(const Workshop& workshop, const Project& project, const std::filesystem::path& run, int count) {
  const FlatNetworks flat(project);
  ParameterStore store(1, cpuBackend().makeMemory());
  CompiledNetworks networks(cpuBackend(), store, {}, 1);
  ProjectData data(project, {.folder = workshop.path()});
  const OpenedDataset& opened = data.open("training");
  Feed feed(opened.data, {.name = "training", .prepare = opened.prepare, .batch = 1, .shuffle = false});
  const Network& network = *flat.find("main");
  Executable& executable = networks.get({.network = &network, .batch = 1, .feed = &feed});
  if (!run.empty()) TrainedRun(RunFolder{run}, Which::last).restore(store);
  const auto bindings = feed.bind(network, executable.program());
  feed.start(0, 0);
  std::vector<std::vector<double>> gradients;
  for (int i = 0; i < count; ++i) {
    feed.next();
    feed.fill(executable, bindings, 0, 1);
    executable.run({});
    std::vector<double>& all = gradients.emplace_back();
    for (const auto& entry : store.entries())
      for (const float value : entry->gradient.values()) all.push_back(value);
  }
  double trace = 0, squared = 0;
  for (std::size_t k = 0; k < gradients.front().size(); ++k) {
    double mean = 0, variance = 0;
    for (const auto& each : gradients) mean += each[k] / count;
    for (const auto& each : gradients) variance += (each[k] - mean) * (each[k] - mean) / (count - 1);
    trace += variance;
    squared += mean * mean - variance / count;
  }
  return trace / squared;
}

TEST(NoiseScale, IsThatOfTwoThousandSingleGradients) {
  const Workshop workshop("noise", 2000);
  Json json = perceptron(false);
  json["training"].update({{"epochs", 0.3}, {"batch", 128}});
  const Project project = projectOf(json);
  const auto run = workshop.train(json, "trained");
  for (const std::filesystem::path& weights : {std::filesystem::path(), run.folder.path}) {
    const double direct = noiseOfSingles(workshop, project, weights, 2000);
    NoiseScaleOptions options{.project = project, .folder = workshop.path(), .run = weights, .samples = 2000};
    const NoiseScale measured = measureNoiseScale(cpuBackend(), options);
    std::printf("noise scale: %.4g of single gradients, %.4g of %ld samples in shards of %ld\n", direct, measured.noise,
                static_cast<long>(measured.samples), static_cast<long>(measured.shard));
    ASSERT_GT(direct, 0);
    EXPECT_FALSE(measured.atLeast);
    EXPECT_GT(measured.noise, direct / 2);
    EXPECT_LT(measured.noise, direct * 2);
    EXPECT_EQ(measured.step, weights.empty() ? 0 : run.result.step);
    options.stop = nullptr;
    std::atomic<bool> stop{true};
    options.stop = &stop;
    EXPECT_THROW(measureNoiseScale(cpuBackend(), options), Error);
  }
}

}  // namespace
}  // namespace loom
