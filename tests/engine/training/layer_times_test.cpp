// How long each layer took, told once in an attempt.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/program/trace.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

TEST(LayerTimes, AreToldOnceInAnAttemptForEveryLayer) {
  const Workshop workshop("layer-times", 200);
  const auto run = workshop.train(perceptron(), "run");
  const std::vector<Event> told = run.of("layers");
  ASSERT_EQ(told.size(), 1u);
  const Json& body = told.front().body;
  EXPECT_EQ(body["steps"], 5);
  EXPECT_EQ(body["step"], 8);
  double sum = 0;
  for (const char* layer : {"fc1", "fc2", "loss"}) {
    ASSERT_TRUE(body["ms"].contains(layer)) << body.dump();
    EXPECT_GT(body["ms"][layer].get<double>(), 0) << layer;
  }
  for (const auto& [layer, ms] : body["ms"].items()) sum += ms.get<double>();
  double longest = 0;
  for (const double ms : run.series("step", "ms")) longest = std::max(longest, ms);
  EXPECT_LT(sum, longest);
}

TEST(LayerTimes, AreToldByOperationAndBesideWhatWasPredicted) {
  const Workshop workshop("layer-times-predicted", 200);
  const auto run = workshop.train(perceptron(), "run",
                                  {.predictedSeconds = [](const StageCost& stage) { return 1e-3 * stage.calls; }});
  const std::vector<Event> told = run.of("layers");
  ASSERT_EQ(told.size(), 1u);
  const Json& body = told.front().body;
  EXPECT_FALSE(body.contains("kernels_ms"));
  const auto sumOf = [](const Json& all) {
    double sum = 0;
    for (const auto& [name, ms] : all.items()) sum += ms.get<double>();
    return sum;
  };
  const double layers = sumOf(body["ms"]) + body["other_ms"].get<double>();
  EXPECT_NEAR(sumOf(body["ops_ms"]), layers, 1e-9 + 1e-6 * layers);
  EXPECT_GE(body["step_ms"].get<double>(), layers);
  EXPECT_TRUE(body["ops_ms"].contains("matmul")) << body.dump();
  const Json& predicted = body["predicted"];
  EXPECT_EQ(predicted["from"], "from a test");
  for (const char* layer : {"fc1", "fc2", "loss"}) EXPECT_GE(predicted["ms"][layer].get<double>(), 1) << layer;
  EXPECT_GE(predicted["other_ms"].get<double>(), 1);  // the update's
  EXPECT_NEAR(sumOf(predicted["ops_ms"]), sumOf(predicted["ms"]) + predicted["other_ms"].get<double>(), 1e-9);
  for (const char* op : {"matmul", "update", "pack weights"}) EXPECT_TRUE(predicted["ops_ms"].contains(op)) << op;
}

TEST(LayerTimes, ARunOfFewStepsTellsWhatItHas) {
  const Workshop workshop("layer-times-few");
  Json project = perceptron(false);
  project["training"]["max_steps"] = 3;
  EXPECT_THAT(workshop.train(project, "run").of("layers"), testing::IsEmpty());
}

TEST(Trace, EndsAndIsReadFromAPlaceOn) {
  Trace trace(8);
  const auto now = Trace::Clock::now();
  const auto add = [&](const char* layer, int ms) {
    trace.add(Trace::Lane::compute, "kernel", layer, now, now + std::chrono::milliseconds(ms));
  };
  add("a layer with a long name", 1);
  trace.restart();
  add("b", 2);
  const std::size_t from = trace.recorded();
  add("c", 3);
  std::vector<std::pair<std::string, double>> told;
  trace.each(from,
             [&](Trace::Lane, const char*, const char* layer, double seconds) { told.emplace_back(layer, seconds); });
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].first, "c");
  EXPECT_NEAR(told[0].second, 0.003, 1e-6);
  told.clear();
  trace.each(0,
             [&](Trace::Lane, const char*, const char* layer, double seconds) { told.emplace_back(layer, seconds); });
  EXPECT_EQ(told[0].first, "b");  // and nothing of the longer name before it
  trace.end();
  EXPECT_TRUE(trace.full());
  add("d", 4);
  EXPECT_EQ(trace.recorded(), 0u);
}

}  // namespace
}  // namespace loom
