// Widths, depths and layers as dimensions: how they are written, what they make of a drawing, what a candidate costs
// (against numbers counted by hand), what is refused, and that nothing of it changes when a search is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/network/project_arguments.h"
#include "engine/network/structure_settings.h"
#include "engine/search/study.h"
#include "tests/engine/search/played_bench.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// x (1 × 6 × 6), two convolutions of 4 channels with 3 × 3, Same padding, a pooling between that halves, 10 outputs.
Json convolutions() {
  return parseJson(R"({"loom": 1, "networks": {"main": {
      "nodes": [{"id": "x", "layer": "Input", "shape": [1, 6, 6]}, {"id": "y", "layer": "Input", "shape": [1], "type": "label"},
                {"id": "conv1", "layer": "Convolution", "channels": 4}, {"id": "relu", "layer": "ReLU"},
                {"id": "pool", "layer": "MaxPooling"}, {"id": "conv2", "layer": "Convolution", "channels": 4},
                {"id": "fc", "layer": "Linear", "outputs": 10}, {"id": "loss", "layer": "SoftmaxCrossEntropy"}],
      "edges": [["x", "conv1"], ["conv1", "relu"], ["relu", "pool"], ["pool", "conv2"], ["conv2.output", "fc"], ["fc", "loss"],
                ["y", "loss.target"]]}},
    "datasets": {"training": {"csv": "train.csv"}}, "training": {"epochs": 1}})",
                   "convolutions");
}

// The same without pooling, and a shortcut around the second convolution: both have to have as many channels.
Json shortcut() {
  Json project = convolutions();
  Json& main = project["networks"]["main"];
  applySettings(project, {"pool.layer=none"});
  main["nodes"].push_back({{"id", "add"}, {"layer", "Add"}});
  main["edges"] =
      Json::parse(R"([["x", "conv1"], ["conv1", "relu"], ["relu", "conv2"], ["conv2", "add"], ["relu", "add"],
                                  ["add", "fc"], ["fc", "loss"], ["y", "loss.target"]])");
  return project;
}

Json changed(Json project, const std::vector<std::string>& settings) {
  applySettings(project, settings);
  return project;
}

Json* nodeOf(Json& project, const std::string& id) {
  for (Json& node : project["networks"]["main"]["nodes"])
    if (node["id"] == id) return &node;
  return nullptr;
}

std::string sentenceOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::badArgument);
    return error.message();
  }
  return "not refused";
}

Space fitted(const Json& project, const std::vector<std::string>& over) {
  Space space;
  for (const std::string& each : over) space.push_back(parseDimension(each));
  return checkedSpace(project, {}, space);
}

SearchPlan planOver(const Json& project, const std::vector<std::string>& over,
                    const std::vector<std::string>& limits = {}) {
  SearchPlan plan{.name = "s"};
  for (const std::string& each : over) plan.space.push_back(parseDimension(each));
  for (const std::string& each : limits) plan.limits.push_back(parseLimit(each));
  plan.strategy = "random";
  return checkedPlan(project, plan);
}

CandidateScreen::Answer looked(const Json& project, const std::vector<std::string>& over, const Point& point,
                               const std::vector<std::string>& limits = {}) {
  return CandidateScreen(project, planOver(project, over, limits)).look(point);
}

TEST(StructureKeys, AreTakenApart) {
  EXPECT_THAT(singleKeys("batch"), ElementsAre("batch"));
  EXPECT_THAT(singleKeys("conv1,conv2.channels"), ElementsAre("conv1.channels", "conv2.channels"));
  EXPECT_THAT(singleKeys("conv1.channels,fc.outputs"), ElementsAre("conv1.channels", "fc.outputs"));
  EXPECT_THAT(singleKeys("conv1,relu.repeat"), ElementsAre("conv1,relu.repeat"));
  EXPECT_THAT(singleKeys("networks.main.nodes.conv1,networks.main.nodes.relu.repeat"),
              ElementsAre("networks.main.nodes.conv1,relu.repeat"));
  EXPECT_THAT(singleKeys("networks.main.nodes.a,networks.main.nodes.b.channels"),
              ElementsAre("networks.main.nodes.a.channels", "networks.main.nodes.b.channels"));
  EXPECT_EQ(toText(parseDimension("conv1,conv2.channels=log:whole:8..64")), "conv1,conv2.channels=log:whole:8..64");
}

TEST(StructureSettings, ChangeTheDrawing) {
  Json tied = changed(convolutions(), {"conv1,conv2.channels=8"});
  EXPECT_EQ((*nodeOf(tied, "conv1"))["channels"], 8);
  EXPECT_EQ((*nodeOf(tied, "conv2"))["channels"], 8);
  // Another layer keeps what both know; what it does not know goes.
  Json other = changed(convolutions(), {"pool.kernel=[3,3]", "pool.layer=AveragePooling", "conv2.layer=Linear"});
  EXPECT_EQ((*nodeOf(other, "pool"))["layer"], "AveragePooling");
  EXPECT_FALSE(nodeOf(other, "conv2")->contains("channels"));
  EXPECT_NO_THROW(checkedProject(changed(convolutions(), {"conv2.layer=Linear"}), "p", {}));
  // Left out: what it read goes on to where it led.
  Json without = changed(convolutions(), {"relu.layer=none"});
  EXPECT_EQ(nodeOf(without, "relu"), nullptr);
  EXPECT_EQ(without["networks"]["main"]["edges"][1], Json::parse(R"(["conv1", "pool"])"));
  EXPECT_NO_THROW(checkedProject(without, "p", {}));
  // A chain, so many times; once it is as it was.
  EXPECT_EQ(changed(convolutions(), {"conv2.repeat=1"}), convolutions());
  Json deep = changed(convolutions(), {"conv2,fc.repeat=3"});
  const Json group = deep["networks"]["main"]["groups"][0];
  EXPECT_EQ(group["repeat"], 3);
  EXPECT_EQ((*nodeOf(deep, "fc"))["group"], group["id"]);
  // A group that is drawn is repeated by its own name.
  Json drawn = convolutions();
  drawn["networks"]["main"]["groups"] = Json::parse(R"([{"id": "body"}])");
  (*nodeOf(drawn, "conv2"))["group"] = "body";
  EXPECT_EQ(changed(drawn, {"body.repeat=2"})["networks"]["main"]["groups"][0]["repeat"], 2);
  EXPECT_THAT(toText(fitted(drawn, {"body.repeat=1..3"})[0]), HasSubstr("whole:1..3"));
}

TEST(StructureSettings, SayWhatCannotBeDone) {
  EXPECT_THAT(sentenceOf([] { changed(convolutions(), {"fc,loss.repeat=0"}); }),
              HasSubstr("0 is no number of repeats"));
  EXPECT_THAT(sentenceOf([] { changed(convolutions(), {"conv2,rellu.repeat=2"}); }), HasSubstr("did you mean 'relu'"));
  EXPECT_THAT(sentenceOf([] { changed(shortcut(), {"add.layer=none"}); }), HasSubstr("2 wires end at 'add'"));
}

TEST(StructureSpace, FitsAProjectAndRefusesByName) {
  const Json project = convolutions();
  const Space space = fitted(project, {"conv1,conv2.channels=log:2..32", "conv2.repeat=1..3",
                                       "relu.layer=ReLU,GELU,none", "pool.layer=MaxPooling,AveragePooling"});
  EXPECT_TRUE(space[0].whole);
  EXPECT_TRUE(space[1].whole);
  EXPECT_EQ(countOf(Space{space[1], space[2], space[3]}), 18);
  // Chains first, then values, then layers: what is repeated is still there, what is exchanged has its fields.
  EXPECT_THAT(
      settingsOf(space, {8, 2, "none", "MaxPooling"}),
      ElementsAre("conv2.repeat=2", "conv1,conv2.channels=8", "relu.layer=\"none\"", "pool.layer=\"MaxPooling\""));
  const auto unfit = [&](const std::string& over) { return sentenceOf([&] { fitted(project, {over}); }); };
  EXPECT_THAT(unfit("relu.layer=ReLU,GELUU"), AllOf(HasSubstr("--over relu.layer"), HasSubstr("did you mean 'GELU'?")));
  EXPECT_THAT(unfit("conv1,conv3.channels=2..8"), HasSubstr("did you mean 'conv1.channels'?"));
  EXPECT_THAT(unfit("conv1,conv2.channels=0..8"), HasSubstr("the value 0 cannot be"));
  EXPECT_THAT(unfit("conv2,fcc.repeat=1..3"), HasSubstr("did you mean 'fc'?"));
  EXPECT_THAT(unfit("conv2.repeat=0..3"), HasSubstr("0 is no number of repeats"));
  EXPECT_THAT(unfit("relu.layer=1..3"), HasSubstr("is a choice and has no range"));
  EXPECT_THAT(sentenceOf([&] {
                fitted(project, {"conv1,conv2.channels=2..8", "conv2.channels=2..8"});
              }),
              HasSubstr("is there twice"));
  // One value alone would tear the shortcut; with the other dimension it need not.
  EXPECT_EQ(fitted(shortcut(), {"conv1.channels=4,8", "conv2.channels=4,8"}).size(), 2u);
  EXPECT_THAT(sentenceOf([] { fitted(shortcut(), {"conv1.channels=8,16"}); }), HasSubstr("conv1,conv2.channels"));
}

TEST(Candidate, CostsWhatIsCountedByHand) {
  const Json project = convolutions();
  // 1·9·4·36 + 4·9·4·9 + 36·10, and 4·9 + 4, 4·4·9 + 4, 36·10 + 10.
  const std::vector<std::string> widths{"conv1,conv2.channels=2..16"};
  CandidateScreen::Answer answer = looked(project, widths, {4});
  EXPECT_EQ(answer.refusal, "");
  EXPECT_EQ(answer.cost.multiplyAdds, 1296 + 1296 + 360);
  EXPECT_EQ(answer.cost.parameters, 40 + 148 + 370);
  EXPECT_TRUE(std::isnan(answer.cost.step));
  answer = looked(project, widths, {8});
  EXPECT_EQ(answer.cost.multiplyAdds, 2592 + 5184 + 720);
  EXPECT_EQ(answer.cost.parameters, 80 + 584 + 730);
  answer = looked(project, {"conv2.repeat=1..4"}, {3});
  EXPECT_EQ(answer.refusal, "");
  EXPECT_EQ(answer.cost.multiplyAdds, 1296 + 3 * 1296 + 360);
  EXPECT_EQ(answer.cost.parameters, 40 + 3 * 148 + 370);
  answer = looked(project, {"pool.layer=MaxPooling,none"}, {"none"});
  EXPECT_EQ(answer.cost.multiplyAdds, 1296 + 5184 + 1440);
  answer = looked(perceptron(), {"fc1.outputs=2..16"}, {16});
  EXPECT_EQ(answer.cost.multiplyAdds, 3 * 16 + 16 * 3);
  EXPECT_EQ(answer.cost.parameters, 3 * 16 + 16 + 16 * 3 + 3);
}

TEST(Candidate, AboveALimitOrNotBuildableIsToldNotTrained) {
  const std::vector<std::string> widths{"conv1,conv2.channels=2..16"};
  EXPECT_EQ(looked(convolutions(), widths, {8}, {"multiply_adds=8496"}).refusal, "");
  EXPECT_THAT(looked(convolutions(), widths, {8}, {"multiply_adds=8495"}).refusal, HasSubstr("Multiply-adds"));
  EXPECT_THAT(looked(convolutions(), widths, {8}, {"parameters=1k"}).refusal, HasSubstr("1.394 k is above 1 k"));
  const std::vector<std::string> apart{"conv1.channels=4,8", "conv2.channels=4,8"};
  EXPECT_EQ(looked(shortcut(), apart, {8, 8}).refusal, "");
  EXPECT_THAT(looked(shortcut(), apart, {4, 8}).refusal, AllOf(HasSubstr("cannot be built"), HasSubstr("add")));
  // A planner's word, and what it says of the candidate, not of the project.
  const SearchPlan plan = planOver(convolutions(), widths, {"step=5ms"});
  const CandidateScreen screen(convolutions(), plan, [](const Json& project, TrialCost& cost) {
    cost.step = project["networks"]["main"]["nodes"][2]["channels"].get<double>() / 1000;
  });
  EXPECT_EQ(screen.look({5}).refusal, "");
  EXPECT_EQ(screen.look({6}).refusal, "Predicted step: 6 ms is above 5 ms");
  const CandidateScreen silent(convolutions(), plan,
                               [](const Json&, TrialCost&) { throwError(ErrorCode::device, "nobody knows"); });
  EXPECT_NE(silent.look({5}).refusal, "") << "what is limited has to be known";
}

TEST(CostLimits, AreWrittenAndReadBack) {
  EXPECT_EQ(parseLimit("multiply_adds=2M").most, 2e6);
  EXPECT_EQ(parseLimit(" memory = 512 MiB ").most, 512.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(parseLimit("step=2.5ms").most, 0.0025);
  for (const char* text : {"multiply_adds=2300000", "step=0.0025", "memory=536870912"})
    EXPECT_EQ(toText(parseLimit(text)), text);
  EXPECT_THAT(sentenceOf([] { parseLimit("flops=3"); }),
              AllOf(HasSubstr("no cost 'flops'"), HasSubstr("multiply_adds=2M")));
  EXPECT_THAT(sentenceOf([] { parseLimit("step=3 m"); }), HasSubstr("'m' is none of the units us, ms, s"));
  EXPECT_THAT(sentenceOf([] { parseLimit("parameters=-3"); }), HasSubstr("above 0"));
  EXPECT_THAT(sentenceOf([] { parseLimit("measured=3"); }), HasSubstr("no cost 'measured' to limit"));
}

class StructureSearch : public testing::Test {
 protected:
  std::shared_ptr<const CandidateScreen> screen(const SearchPlan& plan) {
    return std::make_shared<const CandidateScreen>(shortcut(), plan);
  }
  // Half of all cannot be built, and of the rest the widest are above the limit.
  SearchPlan plan(const std::string& limit = "multiply_adds=60k") {
    SearchPlan plan = planOver(shortcut(),
                               {"conv1.channels=4,6,8,12,16", "conv2.channels=4,6,8,12,16", "relu.layer=ReLU,GELU,none",
                                "optimizer.learning_rate=log:0.001..1"},
                               {limit});
    plan.trials = 7;
    return plan;
  }
  std::filesystem::path runs() const { return m_workshop.path() / "runs"; }
  std::pair<std::vector<Point>, std::vector<Point>> found(const Study& study) {
    std::pair<std::vector<Point>, std::vector<Point>> points;
    for (const auto& each : study.trials) {
      points.first.push_back(each->file().point);
      for (const RefusedCandidate& refused : each->file().refused) points.second.push_back(refused.point);
    }
    return points;
  }
  Workshop m_workshop{"structure"};
};

TEST_F(StructureSearch, TrainsOnlyWhatCanBeBuiltAndIsWithinTheLimits) {
  PlayedBench bench(runs());
  SearchDriver driver({.plan = plan(), .runs = runs(), .trials = {}}, bench, 1, screen(plan()));
  drive(driver, bench);
  const Study& study = driver.study();
  ASSERT_EQ(study.trials.size(), 7u);
  for (const auto& each : study.trials) {
    EXPECT_EQ(each->trial().state, TrialState::done);
    EXPECT_EQ(each->file().point[0], each->file().point[1]) << "else the shortcut is torn";
    EXPECT_LE(each->file().cost.multiplyAdds, 60000);
    EXPECT_FALSE(each->file().drawing.empty());
  }
  EXPECT_GT(study.refused(), 7);
  const Json file = Json::parse(readFile(runs() / "s.search.json"));
  EXPECT_EQ(file["refused"], study.refused());
  EXPECT_EQ(file["trials"][0]["cost"]["multiply_adds"], study.trials[0]->file().cost.multiplyAdds);
}

TEST_F(StructureSearch, KilledAtAnyTimeItDrawsTheSame) {
  std::pair<std::vector<Point>, std::vector<Point>> undisturbed;
  {
    PlayedBench bench(runs() / "whole");
    SearchDriver driver({.plan = plan(), .runs = runs() / "whole", .trials = {}}, bench, 1, screen(plan()));
    drive(driver, bench);
    undisturbed = found(driver.study());
  }
  PlayedBench bench(runs());
  for (std::size_t begun = 0; begun < 7;) {
    std::optional<Study> study = readStudy(runs(), "s");
    if (!study) study = Study{.plan = plan(), .runs = runs(), .trials = {}};
    for (auto& [number, lives] : bench.alive) lives = false;
    SearchDriver driver(std::move(*study), bench, 1, screen(plan()));
    // Until one more has begun: the next is killed while it draws.
    while (driver.study().trials.size() <= begun && driver.step()) bench.tick();
    begun = driver.study().trials.size();
  }
  SearchDriver last(std::move(*readStudy(runs(), "s")), bench, 1, screen(plan()));
  drive(last, bench);
  EXPECT_EQ(found(last.study()), undisturbed);
  for (const Trial& each : last.study().state()) EXPECT_EQ(each.state, TrialState::done) << each.number;
}

TEST_F(StructureSearch, SaysWhyNothingFits) {
  PlayedBench bench(runs());
  const SearchPlan none = plan("multiply_adds=100");
  SearchDriver driver({.plan = none, .runs = runs(), .trials = {}}, bench, 1, screen(none));
  const std::string said = sentenceOf([&] { drive(driver, bench); });
  EXPECT_THAT(said, AllOf(HasSubstr("none of 200 candidates"), HasSubstr("above the limit of 100"),
                          HasSubstr("Raise a limit, or change the ranges")));
  EXPECT_TRUE(readStudy(runs(), "s") == std::nullopt) << "nothing began";
  // Of a space that can be counted all that fits is trained, and then it says what the rest was.
  SearchPlan few = planOver(shortcut(), {"conv1.channels=4,8", "conv2.channels=4,8"});
  few.trials = 4;
  for (const char* strategy : {"grid", "random"}) {
    few.strategy = few.name = strategy;
    PlayedBench own(runs());
    SearchDriver counted({.plan = few, .runs = runs(), .trials = {}}, own, 1, screen(few));
    drive(counted, own);
    EXPECT_EQ(counted.study().trials.size(), 2u) << strategy;
    EXPECT_THAT(counted.ending(), HasSubstr("candidate")) << strategy;
  }
}

TEST_F(StructureSearch, StoppedWhileItDrawsItWaitsForNobodyAndBeginsNothing) {
  std::atomic<bool> goes{false};
  SearchPlan made = plan("memory=1GiB");
  const auto slow = std::make_shared<const CandidateScreen>(shortcut(), made, [&](const Json&, TrialCost& cost) {
    while (!goes) std::this_thread::yield();
    cost.memory = 1;
  });
  PlayedBench bench(runs());
  SearchDriver driver({.plan = made, .runs = runs(), .trials = {}}, bench, 1, slow);
  EXPECT_TRUE(driver.step());
  driver.stop();
  EXPECT_TRUE(driver.step()) << "still looked at, and the window is not held up";
  goes = true;
  while (driver.step()) std::this_thread::yield();
  EXPECT_TRUE(driver.study().trials.empty());
}

TEST_F(StructureSearch, TheSameDrawingIsTrainedOnce) {
  // Whatever the window of a pooling that is left out: one project.
  Json project = convolutions();
  SearchPlan made = planOver(project, {"pool.kernel=[2,2],[3,3]", "pool.layer=MaxPooling,none"});
  made.trials = 4;
  made.strategy = "grid";
  PlayedBench bench(runs());
  SearchDriver driver({.plan = made, .runs = runs(), .trials = {}}, bench, 1,
                      std::make_shared<const CandidateScreen>(project, made));
  drive(driver, bench);
  EXPECT_EQ(driver.study().trials.size(), 3u);
  EXPECT_THAT(driver.ending(), HasSubstr("the same drawing"));
}

#ifdef GRADLOOM_HAS_DLIB
TEST_F(StructureSearch, TheGlobalStrategyGoesAroundWhatCannotBe) {
  SearchPlan made = plan();
  made.strategy = "global";
  made.trials = 12;
  PlayedBench bench(runs());
  SearchDriver driver({.plan = made, .runs = runs(), .trials = {}}, bench, 1, screen(made));
  drive(driver, bench);
  ASSERT_EQ(driver.study().trials.size(), 12u) << driver.ending();
  for (const auto& each : driver.study().trials) {
    EXPECT_EQ(each->file().point[0], each->file().point[1]);
    EXPECT_LE(each->file().refused.size(), 100u);
  }
}
#endif

}  // namespace
}  // namespace loom
