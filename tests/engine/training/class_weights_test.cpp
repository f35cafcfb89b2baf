// The setting `weigh_classes`: what classes count is measured on the training part, kept in the run, and the same in
// training, validation and evaluation, on any number of ranks.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/run/control.h"
#include "engine/training/run_description.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::HasSubstr;

// 40 rows of which the last 12 are held out: of the 28 others 20 are of class 0, 6 of class 1, 2 of class 2.
Json unlike(const Workshop& workshop) {
  std::string text = "x__0,x__1,x__2,y:label\n";
  for (int i = 0; i < 40; ++i)
    text += fmt::format("{},{},{},{}\n", i % 7, i % 5, i % 3, i < 20 ? 0 : i < 26 ? 1 : i < 28 ? 2 : i % 3);
  workshop.write("all.csv", text);
  Json project = perceptron();
  project["datasets"]["training"] = {{"csv", "all.csv"}, {"hold_out", 0.3}, {"hold_shuffled", false}};
  project["datasets"]["validation"] = {
      {"csv", "all.csv"}, {"hold_out", 0.3}, {"hold_shuffled", false}, {"part", "held"}};
  project["training"]["weigh_classes"] = "balanced";
  return project;
}

TEST(ClassWeights, AreMeasuredOnTheTrainingPartAndKeptInTheRun) {
  const Workshop workshop("class-weights");
  const Json project = unlike(workshop);
  const auto run = workshop.train(project, "weighed");
  const Json kept = readRunDescription(run.folder).facts.at("training").at("class_weights").at("y");
  const std::vector<double> wanted{28.0 / (3 * 20), 28.0 / (3 * 6), 28.0 / (3 * 2)};
  ASSERT_EQ(kept.size(), 3u);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(kept[c].get<double>(), wanted[c], 1e-15);
  // The project in the run says what a person chose, not what was measured.
  EXPECT_FALSE(readRunDescription(run.folder).project.networks[0].find("loss")->values.contains("class_weights"));

  Json by = project;
  by["training"].erase("weigh_classes");
  const auto plain = workshop.train(by, "plain");
  by["networks"]["main"]["nodes"][5]["class_weights"] = wanted;
  const auto given = workshop.train(by, "given");
  EXPECT_EQ(run.series("step", "loss"), given.series("step", "loss"));
  EXPECT_EQ(run.series("validation", "loss"), given.series("validation", "loss"));
  EXPECT_EQ(run.tensors(), given.tensors());
  EXPECT_NE(run.series("step", "loss"), plain.series("step", "loss"));

  TrainedNetwork trained(cpuBackend(), {.run = run.folder, .which = Which::last});
  EXPECT_NEAR(trained.evaluate("validation").loss, run.series("validation", "loss").back(), 1e-5);
}

TEST(ClassWeights, AreTheSameOnSeveralRanksAndWhereARunGoesOn) {
  const Workshop workshop("class-weights-ranks");
  Json project = unlike(workshop);
  const auto one = workshop.train(project, "one");
  workshop.train(project, "parts", {.watch = [](const Event& event, const RunFolder& folder) {
                   if (event.kind == "step" && event.body["step"] == 3) appendControl(folder, {{"command", "stop"}});
                 }});
  const auto resumed = workshop.train(project, "parts", {.resume = true});
  EXPECT_EQ(one.tensors(), resumed.tensors());
  project["training"]["virtual_ranks"] = 4;
  const auto four = workshop.train(project, "four");
  const std::vector<double> a = one.series("step", "loss"), b = four.series("step", "loss");
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5) << i;
  EXPECT_NEAR(one.series("validation", "loss").back(), four.series("validation", "loss").back(), 1e-5);
}

TEST(ClassWeights, OfNoClassesAndTwiceAreRefused) {
  const Workshop workshop("class-weights-refused");
  Json project = unlike(workshop);
  project["training"]["oversample"] = "y";
  EXPECT_THAT(workshop.failure(project, "twice").what(), HasSubstr("one of the two is enough"));
  project["training"].erase("oversample");
  Json& main = project["networks"]["main"];
  main["nodes"][4].erase("type");
  main["nodes"][3]["outputs"] = 1;
  main["nodes"][5]["layer"] = "MeanSquaredError";
  main["nodes"].erase(6);
  main["edges"].erase(5), main["edges"].erase(5);
  EXPECT_THAT(workshop.failure(project, "numbers").what(), HasSubstr("weigh_classes: no loss of 'main' compares"));
}

}  // namespace
}  // namespace loom
