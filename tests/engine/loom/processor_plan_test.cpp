// The workloads of `loom bench`, planned for this machine's processor.
#include "engine/loom/processor_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "engine/base/json.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/loom/bench/calibration.h"
#include "engine/loom/bench/drawing.h"
#include "engine/program/backend.h"
#include "tests/engine/loom/planned_project.h"

namespace loom {
namespace {

using testing::HasSubstr;

ProcessorTimes assumed() {
  ProcessorTimes times;
  times.machine = "a machine";
  times.assumed = thisProcessor(2);
  return times;
}

TEST(ProcessorPlan, OfEachWorkloadHoldsItsArithmeticAndItsOptimizer) {
  for (const std::string& name : workloadNames()) {
    SCOPED_TRACE(name);
    const ProcessorPlan plan =
        planOnProcessor(projectOf(makeWorkload(name), {{"batch", 4}, {"threads", 2}}), assumed());
    const CostPlan& cost = plan.memory.total;
    double seconds = 0, operations = 0, update = 0;
    for (const OpTime& op : plan.step.ops) {
      seconds += op.seconds;
      operations += op.operations;
      if (op.op == "update") update = op.bytes;
    }
    EXPECT_NEAR(seconds / plan.step.seconds, 1, 1e-9);
    EXPECT_NEAR(operations / (2 * (cost.forwardMultiplyAdds + cost.backwardMultiplyAdds)), 1, 1e-9);
    EXPECT_GT(update, 4.9 * static_cast<double>(cost.weightBytes)) << "weight, gradient and slot, weight and slot";
    // Convolutions bring oneDNN's code.
    EXPECT_EQ(cost.processBytes >> 20, name == "mlp" || name == "lstm" || name == "gpt-mini" ? 3 : 7);
    EXPECT_GT(cost.totalBytes(), cost.weightBytes + cost.activationBytes + cost.processBytes);
    EXPECT_THAT(toText(plan.step), HasSubstr("assumed"));
    EXPECT_EQ(toJson(plan.step)["measured"], false);
    // By layer it is the same step, and each layer is one of the drawing.
    const std::vector<NodeTimes> times = nodeTimes(toJson(plan.step));
    ASSERT_EQ(times.size(), 1U);
    const Workload workload = makeWorkload(name);
    double layers = times[0].rest;
    for (const auto& [layer, taken] : times[0].nodes) {
      layers += taken;
      EXPECT_NE(workload.network.find(layer), nullptr) << layer;
    }
    EXPECT_NEAR(layers / plan.step.seconds, 1, 1e-9);
  }
}

TEST(ProcessorPlan, PassesAddUpAndAnUpdateOfEveryOtherStepCountsHalf) {
  const auto of = [](Json settings, int every = 1) {
    Project project = projectOf(makeWorkload("mlp"), std::move(settings));
    project.training.updates[0].every = every;
    return planOnProcessor(project, assumed()).step.seconds;
  };
  const double once = of({{"batch", 64}});
  EXPECT_GT(of({{"batch", 128}, {"accumulate", 2}}), 1.5 * once);
  EXPECT_NEAR(of({{"batch", 64}}, 2) / once, 0.5, 1e-9);
}

// About a step more each time, and the values of all layers at once.
TEST(ProcessorPlan, RecordedLayersCostAStepNowAndThenAndTheirValues) {
  const auto of = [](int every) {
    return planOnProcessor(
        projectOf(makeWorkload("resnet20"), {{"batch", 8}, {"threads", 2}, {"record_layers", every}}), assumed());
  };
  const ProcessorPlan never = of(0), each = of(1), tenth = of(10);
  const double added = each.step.seconds - never.step.seconds;
  EXPECT_GT(added, 0.5 * never.step.seconds);
  EXPECT_LT(added, 2 * never.step.seconds);
  EXPECT_NEAR((tenth.step.seconds - never.step.seconds) / added, 0.1, 1e-9);
  EXPECT_EQ(never.memory.total.recordBytes, 0);
  EXPECT_EQ(each.memory.total.recordBytes, tenth.memory.total.recordBytes);
  // Values and slopes of every layer, and the weights of before.
  const double kept = static_cast<double>(each.memory.total.recordBytes - never.memory.total.gradientBytes);
  EXPECT_GT(kept, 1.2 * static_cast<double>(never.memory.total.activationBytes));
  EXPECT_EQ(each.memory.total.totalBytes() - never.memory.total.totalBytes(), each.memory.total.recordBytes);
  EXPECT_THAT(toText(each.step), HasSubstr(kRecordedOp));
  EXPECT_THAT(toText(each.memory), HasSubstr("layers recorded"));
  EXPECT_THAT(toText(never.memory), testing::Not(HasSubstr("layers recorded")));
  // A layer's own time is what it trains.
  const NodeTimes with = nodeTimes(toJson(each.step)).front(), without = nodeTimes(toJson(never.step)).front();
  for (const auto& [layer, seconds] : without.nodes) EXPECT_NEAR(with.nodes.at(layer) / seconds, 1, 1e-9) << layer;
}

// What a calibration found of a network is what is predicted of that network.
TEST(ProcessorPlan, OfTheNetworkThatWasMeasuredIsWhatWasMeasured) {
  drawn::Drawing d = drawn::begin("probe", {64}, "values", {1});
  d.add("Linear", drawn::linear(512));
  d.add("ReLU");
  d.add("Linear", drawn::linear(32));
  d.loss();
  const Workload probe{"probe", d.take(), 64, drawn::update(false), {{"y", 32}}};
  const auto backend = makeCpuBackend(1);
  std::vector<std::string> told;
  ProcessorTimes times = measureProcessor(*backend, 1, [&](const std::string& what) { told.push_back(what); }, {probe});
  EXPECT_THAT(told, testing::ElementsAre("1 of 2, probe in f32", "2 of 2, probe in bf16"));
  EXPECT_THAT(times.machine, HasSubstr("1 thread, oneDNN"));
  EXPECT_EQ(times.machine, processorWords(1));
  times.betweenStages = 0;
  double measured = 0;
  for (const ProcessorTimes::Point& point : times.points)
    if (point.op == "matmul" && point.factors == DataType::f32) measured += point.seconds;
  ASSERT_GT(measured, 0);
  double predicted = 0;
  for (const OpTime& op : planOnProcessor(projectOf(probe, {{"threads", 1}}), times).step.ops)
    if (op.op == "matmul") predicted = op.seconds;
  EXPECT_NEAR(predicted / measured, 1, 0.3);
}

// Cores of a virtual machine share a cache in one minute and not in the next.
class KeptTimes : public testing::Test {
 protected:
  void SetUp() override { ::setenv("XDG_CACHE_HOME", m_cache.c_str(), 1); }
  void TearDown() override {
    ::unsetenv("XDG_CACHE_HOME");
    std::filesystem::remove_all(m_cache);
  }
  static std::string words(bool apart) {
    std::string said = processorWords(2);
    const std::string::size_type at = said.find(kApart);
    if (at != said.npos) said.erase(at, kApart.size());
    if (apart) said.insert(said.find(" threads") + 8, kApart);
    return said;
  }
  static void keep(bool apart) {
    keepProcessorTimes(keptProcessorTimes(), {.machine = words(apart),
                                              .program = "this test",
                                              .date = apart ? "apart" : "near",
                                              .points = {{.op = "relu", .kernel = "relu", .bytes = 1e6, .seconds = 1}},
                                              .assumed = {}});
  }

 private:
  inline static const std::string kApart = " without a common cache";
  const std::string m_cache = testing::TempDir() + "kept_times_" + std::to_string(::getpid());
};

TEST_F(KeptTimes, OfCoresThatAreNearAndApartAreToldByThemselves) {
  EXPECT_EQ(knownProcessor(2).points.size(), 0U);
  EXPECT_THAT(knownProcessor(2).machine, testing::AnyOf(words(false), words(true)));
  keep(false);
  keep(true);
  const ProcessorTimes times = knownProcessor(2);
  ASSERT_EQ(times.points.size(), 1U);
  EXPECT_EQ(times.machine, words(times.date == "apart"));
}

TEST_F(KeptTimes, OfOtherCoresAreBetterThanNone) {
  for (const bool apart : {false, true}) {
    TearDown();
    SetUp();
    keep(apart);
    EXPECT_EQ(knownProcessor(2).date, apart ? "apart" : "near");
    EXPECT_EQ(knownProcessor(2).machine, words(apart));
    EXPECT_EQ(measuredProcessor(2, nullptr).points.size(), 1U) << "they are not measured again by themselves";
  }
}

}  // namespace
}  // namespace loom
