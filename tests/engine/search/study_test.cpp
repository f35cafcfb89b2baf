// A search is what its trials' folders say; the driver begins, ends and takes up trials again on a bench that the test
// plays.
#include "engine/search/study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "tests/engine/search/played_bench.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::HasSubstr;

class SearchStudy : public testing::Test {
 protected:
  SearchPlan plan(int trials = 6) {
    SearchPlan plan{.name = "s", .space = {parseDimension("optimizer.learning_rate=log:0.001..1")}};
    plan.strategy = "random";
    plan.trials = trials;
    return checkedPlan(perceptron(), plan);
  }
  std::filesystem::path runs() const { return m_workshop.path() / "runs"; }
  Workshop m_workshop{"study"};
};

TEST_F(SearchStudy, APlanIsCheckedAndSurvivesItsFile) {
  const SearchPlan made = plan();
  EXPECT_EQ(made.metric, "loss");
  EXPECT_FALSE(made.higher);
  const SearchPlan read = planFromJson(Json::parse(toJson(made).dump()));
  EXPECT_EQ(read.space, made.space);
  EXPECT_EQ(toJson(read), toJson(made));
  Json accuracy = perceptron();
  accuracy["training"]["monitor"] = "accuracy";
  EXPECT_TRUE(checkedPlan(accuracy, plan()).higher) << "as the layer's entry says";
  // A foreign folder's word leads nowhere else.
  for (const char* name : {"../up", "a/b", ".hidden", "a\x1b[2J"}) {
    SearchPlan foreign = plan();
    foreign.name = name;
    EXPECT_THROW(checkedPlan(perceptron(), foreign), Error) << name;
    EXPECT_THROW(planFromJson(toJson(foreign)), Error) << name;
  }
  const SearchPlan share = planFromJson(toJson(checkedPlan(accuracy, plan())));
  EXPECT_EQ(resultText(share, 0.99441), "99.44 %");
  EXPECT_EQ(resultText(made, 0.03312), "0.03312");
  accuracy["training"]["monitor"] = "acuracy";
  EXPECT_THROW(checkedPlan(accuracy, plan()), Error);
  EXPECT_NE(hashOf(accuracy), hashOf(perceptron()));
}

TEST_F(SearchStudy, IsRebuiltFromItsTrials) {
  PlayedBench bench(runs());
  SearchDriver driver({.plan = plan(), .runs = runs(), .trials = {}}, bench, 2);
  drive(driver, bench);
  const auto file = runs() / "s.search.json";
  const std::string saved = readFile(file);
  std::filesystem::remove(file);
  const std::optional<Study> study = readStudy(runs(), "s");
  ASSERT_TRUE(study);
  ASSERT_EQ(study->trials.size(), 6u);
  for (const auto& each : study->trials) each->look(false);
  study->save();
  EXPECT_EQ(readFile(file), saved);
  const std::vector<Trial> state = study->state();
  EXPECT_EQ(bestOf(state)->number, 6) << "the least loss";
  EXPECT_EQ(Json::parse(saved)["trials"][5]["result"], 1.0 / 6);
  EXPECT_THAT(searchesIn(runs()), testing::ElementsAre("s"));
  EXPECT_FALSE(readStudy(runs(), "other"));
  // A folder whose file is damaged is no trial, and hurts none.
  m_workshop.write("runs/s-3/trial.json", "{\"search\": 7");
  EXPECT_EQ(readStudy(runs(), "s")->trials.size(), 5u);
}

TEST_F(SearchStudy, KilledAtAnyTimeItNeitherRepeatsNorLosesATrial) {
  std::vector<Point> undisturbed;
  {
    PlayedBench bench(runs() / "whole");
    SearchDriver driver({.plan = plan(8), .runs = runs() / "whole", .trials = {}}, bench, 2);
    drive(driver, bench);
    for (const Trial& each : driver.study().state()) undisturbed.push_back(each.point);
  }
  PlayedBench bench(runs());
  for (int begun = 0; begun < 9; ++begun) {
    std::optional<Study> study = readStudy(runs(), "s");
    if (!study) study = Study{.plan = plan(8), .runs = runs(), .trials = {}};
    // Those that it left behind went with it, without a word.
    for (auto& [number, lives] : bench.alive) lives = false;
    SearchDriver driver(std::move(*study), bench, 2);
    drive(driver, bench, 3);
  }
  PlayedBench& after = bench;
  SearchDriver last(std::move(*readStudy(runs(), "s")), after, 2);
  drive(last, after);
  std::vector<Point> points;
  for (const Trial& each : last.study().state()) {
    points.push_back(each.point);
    EXPECT_EQ(each.state, TrialState::done) << each.number;
    EXPECT_EQ(each.curve.size(), 4u) << "each result once";
  }
  EXPECT_EQ(points, undisturbed);
}

TEST_F(SearchStudy, StoppedWholeItsTrialsGoOnLater) {
  PlayedBench bench(runs());
  {
    SearchDriver driver({.plan = plan(), .runs = runs(), .trials = {}}, bench, 2);
    driver.step();
    bench.tick();
    driver.stop();
    while (driver.step()) {
    }
    EXPECT_THAT(bench.stopped, testing::UnorderedElementsAre(1, 2));
    EXPECT_EQ(driver.study().trials.size(), 2u) << "no further one began";
    EXPECT_EQ(driver.study().trials[0]->trial().state, TrialState::interrupted);
  }
  SearchDriver driver(std::move(*readStudy(runs(), "s")), bench, 2);
  drive(driver, bench);
  EXPECT_EQ(driver.study().trials.size(), 6u);
  EXPECT_EQ(bench.starts[1], 2);
  EXPECT_EQ(bench.starts[3], 1);
}

// Looks of a planner at candidates, one of which it can be held at.
class HeldPlanner {
 public:
  std::map<int, int> looks;  // by the outputs of fc1
  int holdAt = -1;           // refused ones to come until it holds

  CandidateScreen::Planner planner(double limit) {
    return [this, limit](const Json& project, TrialCost& cost) {
      const int outputs = project["networks"]["main"]["nodes"][1]["outputs"];
      cost.step = outputs / 1000.0;
      std::unique_lock lock(m_mutex);
      ++looks[outputs];
      if (cost.step <= limit || holdAt < 0 || holdAt-- > 0) return;
      m_held = true;
      m_changed.wait(lock, [this] { return !m_held; });
    };
  }
  bool held() {
    const std::scoped_lock lock(m_mutex);
    return m_held;
  }
  void release() {
    const std::scoped_lock lock(m_mutex);
    m_held = false;
    m_changed.notify_all();
  }

 private:
  std::mutex m_mutex;
  std::condition_variable m_changed;
  bool m_held = false;
};

std::vector<std::vector<Point>> refusedBy(const Study& study) {
  std::vector<std::vector<Point>> all;
  for (const auto& each : study.trials) {
    std::vector<Point>& own = all.emplace_back();
    for (const RefusedCandidate& candidate : each->file().refused) own.push_back(candidate.point);
  }
  return all;
}

// Stopped while a candidate is looked at, again and again: whoever goes on takes up the draw where it was.
TEST_F(SearchStudy, WhatALimitRefusedIsNeitherDrawnAgainNorCountedTwice) {
  SearchPlan made{.name = "s", .space = {parseDimension("fc1.outputs=2..64")}};
  made.strategy = "random";
  made.trials = 4;
  made.limits = {parseLimit("step=8ms")};
  made = checkedPlan(perceptron(), made);
  HeldPlanner planner;
  const auto screen = std::make_shared<const CandidateScreen>(perceptron(), made, planner.planner(8e-3));
  const auto driven = [&](const std::filesystem::path& folder, PlayedBench& bench, bool oneTrial = false) {
    std::optional<Study> study = readStudy(folder, "s");
    if (!study) study = Study{.plan = made, .runs = folder, .trials = {}};
    SearchDriver driver(std::move(*study), bench, oneTrial ? 1 : 2, screen);
    while (driver.step()) {
      if (oneTrial && !driver.study().trials.empty()) driver.stop();
      if (planner.held()) driver.stop(), planner.release();
      bench.tick();
    }
    driver.study().save();
  };
  PlayedBench undisturbed(runs() / "whole");
  driven(runs() / "whole", undisturbed);
  const std::optional<Study> whole = readStudy(runs() / "whole", "s");
  ASSERT_EQ(whole->trials.size(), 4u);
  ASSERT_GT(whole->refused(), 12);
  planner.looks.clear();
  PlayedBench bench(runs());
  std::int64_t counted = 0;
  for (int begun = 0; begun < 12; ++begun) {
    planner.holdAt = begun > 0 ? 2 : -1;  // before its first trial a search has no place to go on from
    driven(runs(), bench, begun == 0);
    const std::optional<Study> so = readStudy(runs(), "s");
    EXPECT_GE(so->refused(), counted) << "none is forgotten";
    EXPECT_EQ(so->refused() + static_cast<std::int64_t>(so->trials.size()),
              static_cast<std::int64_t>(planner.looks.size()));
    counted = so->refused();
  }
  planner.holdAt = -1;
  driven(runs(), bench);
  const std::optional<Study> after = readStudy(runs(), "s");
  EXPECT_EQ(refusedBy(*after), refusedBy(*whole));
  EXPECT_EQ(after->refused(), whole->refused());
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(after->state()[i].point, whole->state()[i].point);
  for (const auto& [outputs, looks] : planner.looks) EXPECT_EQ(looks, 1) << outputs;
  EXPECT_EQ(Json::parse(readFile(runs() / "s.search.json"))["refused"], whole->refused());
}

// Of a space of which no more fits, too.
TEST_F(SearchStudy, ASearchThatFoundNothingMoreLooksAtNothingAgain) {
  SearchPlan made{.name = "s", .space = {parseDimension("fc1.outputs=2..20")}};
  made.strategy = "grid";
  made.trials = 19;
  made.limits = {parseLimit("step=4ms")};
  made = checkedPlan(perceptron(), made);
  HeldPlanner planner;
  const auto screen = std::make_shared<const CandidateScreen>(perceptron(), made, planner.planner(4e-3));
  PlayedBench bench(runs());
  for (int begun = 0; begun < 3; ++begun) {
    std::optional<Study> study = readStudy(runs(), "s");
    if (!study) study = Study{.plan = made, .runs = runs(), .trials = {}};
    SearchDriver driver(std::move(*study), bench, 1, screen);
    drive(driver, bench);
    EXPECT_THAT(driver.ending(), HasSubstr("no further trial fits"));
    EXPECT_EQ(driver.study().trials.size(), 3u);
    EXPECT_EQ(driver.study().refused(), 16);
  }
  for (const auto& [outputs, looks] : planner.looks) EXPECT_EQ(looks, 1) << outputs;
}

TEST_F(SearchStudy, WeakTrialsEndAndStayEnded) {
  SearchPlan made = plan(12);
  made.stopWeak = "median";
  PlayedBench bench(runs());
  bench.value = [](int number, int step) { return number <= 5 ? 1.0 : 10.0 + 1.0 / step; };
  SearchDriver driver({.plan = made, .runs = runs(), .trials = {}}, bench, 1);
  drive(driver, bench);
  EXPECT_EQ(bench.stopped.size(), 7u) << "all behind the first five";
  const std::optional<Study> read = readStudy(runs(), "s");
  for (const auto& each : read->trials) each->look(false);
  EXPECT_EQ(read->trials[7]->trial().state, TrialState::weak);
  EXPECT_DOUBLE_EQ(read->trials[7]->trial().spent, 0.25);
  SearchDriver again(std::move(*readStudy(runs(), "s")), bench, 1);
  drive(again, bench);
  EXPECT_EQ(bench.starts[8], 1) << "a weak trial does not go on";
}

TEST_F(SearchStudy, ATrialThatGoesWithoutAWordFailedAndTheSearchGoesOn) {
  PlayedBench bench(runs());
  SearchDriver driver({.plan = plan(3), .runs = runs(), .trials = {}}, bench, 1);
  driver.step();
  bench.alive[1] = false;
  drive(driver, bench);
  EXPECT_EQ(driver.study().trials[0]->trial().state, TrialState::failed);
  EXPECT_EQ(driver.study().trials[0]->file().message, "killed");
  EXPECT_EQ(driver.study().trials.size(), 3u);
  EXPECT_EQ(bestOf(driver.study().state())->number, 3);
}

TEST_F(SearchStudy, AResultThatIsNoNumberIsNoResult) {
  PlayedBench bench(runs());
  bench.value = [](int number, int step) { return number == 2 && step > 50 ? std::nan("") : number; };
  SearchDriver driver({.plan = plan(3), .runs = runs(), .trials = {}}, bench, 1);
  drive(driver, bench);
  EXPECT_TRUE(std::isnan(driver.study().trials[1]->trial().score()));
  EXPECT_FALSE(Json::parse(readFile(runs() / "s.search.json"))["trials"][1].contains("result"));
}

}  // namespace
}  // namespace loom
