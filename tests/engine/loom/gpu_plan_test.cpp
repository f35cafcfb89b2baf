// The workloads of `loom bench`, planned for GPUs that are not here.
#include "engine/loom/gpu_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "tests/engine/loom/planned_project.h"

namespace loom {
namespace {

using testing::HasSubstr;

GpuPlan planOf(const std::string& name, const std::string& gpu, Json settings) {
  return planOnGpu(projectOf(makeWorkload(name), std::move(settings)), openPlannedGpu(gpu), assumedEfficiency());
}

double bytesOf(const GpuPlan& plan, const std::string& op) {
  for (const OpTime& one : plan.step.ops)
    if (one.op == op) return one.bytes;
  return 0;
}

TEST(GpuPlan, OfEachWorkloadIsLongerOnASlowerGpu) {
  for (const std::string& name : workloadNames()) {
    SCOPED_TRACE(name);
    const Json settings = {{"precision", "bf16"}, {"batch", 64}};
    const GpuPlan h100 = planOf(name, "h100", settings), h200 = planOf(name, "h200", settings),
                  a100 = planOf(name, "a100", settings);
    EXPECT_GT(h200.step.seconds, 0);
    EXPECT_LE(h200.step.seconds, h100.step.seconds);
    EXPECT_LT(h100.step.seconds, a100.step.seconds);
    EXPECT_NEAR(h100.step.samplesPerSecond() * h100.step.seconds, 64, 1e-9);
    double seconds = 0, operations = 0;
    for (const OpTime& op : h100.step.ops) {
      seconds += op.seconds;
      operations += op.operations;
    }
    EXPECT_NEAR(std::max(seconds, h100.step.uploadSeconds), h100.step.seconds, 1e-9);
    // All multiply-adds of the program are some stage's. Attention computes more than is counted; a recurrence less, by
    // its first step, which has nothing before it, and by its gradient to the data (2.1 % of the lstm's together).
    const CostPlan& cost = h100.memory.total;
    const double counted = 2 * (cost.forwardMultiplyAdds + cost.backwardMultiplyAdds);
    EXPECT_GT(operations, 0.975 * counted);
    EXPECT_LT(operations, 1.5 * counted);
    EXPECT_GT(bytesOf(h100, "update"), 3 * cost.weightBytes);
    EXPECT_THAT(toText(h100.step, cost), HasSubstr("predicted, not measured"));
  }
}

// Reckoned by hand from its shapes: 6.2 TFLOP a step of 256, and 122 GB with nothing fused or 83 GB with the first
// fusions, in 16 bits.
TEST(GpuPlan, OfResNet50HasTheKnownArithmeticAndBytes) {
  const GpuPlan plan = planOf("resnet50", "h200", {{"precision", "bf16"}, {"batch", 256}});
  double bytes = 0, operations = 0;
  for (const OpTime& op : plan.step.ops) {
    bytes += op.bytes;
    operations += op.operations;
  }
  EXPECT_NEAR(operations / 6.2e12, 1, 0.02);
  EXPECT_GT(bytes, 75e9);
  EXPECT_LT(bytes, 130e9);
}

TEST(GpuPlan, SixteenBitsHalveTheBytesOfActivations) {
  const Json wide = {{"precision", "f32"}, {"batch", 64}}, narrow = {{"precision", "bf16"}, {"batch", 64}};
  for (const char* name : {"resnet20", "resnet50"}) {
    SCOPED_TRACE(name);
    const GpuPlan f32 = planOf(name, "h100", wide), bf16 = planOf(name, "h100", narrow);
    for (const char* op : {"batch_normalization", "batch_normalization_gradient"})
      EXPECT_NEAR(bytesOf(bf16, op) / bytesOf(f32, op), 0.5, 0.01) << op;
    EXPECT_NEAR(
        static_cast<double>(bf16.memory.total.activationBytes) / static_cast<double>(f32.memory.total.activationBytes),
        0.5, 0.1);
    EXPECT_LT(bf16.step.seconds, f32.step.seconds);
    EXPECT_EQ(bf16.memory.total.weightBytes, f32.memory.total.weightBytes);
  }
}

TEST(GpuPlan, Tf32IsTheSameBytesInLessTime) {
  for (const char* name : {"resnet20", "lstm"}) {
    SCOPED_TRACE(name);
    const GpuPlan exact = planOf(name, "h100", {{"batch", 64}}),
                  rounded = planOf(name, "h100", {{"batch", 64}, {"tf32", true}});
    EXPECT_LT(rounded.step.seconds, exact.step.seconds);
    EXPECT_FALSE(exact.step.tf32);
    EXPECT_TRUE(rounded.step.tf32);
    EXPECT_THAT(toText(rounded.step, rounded.memory.total), HasSubstr(" in f32 (tf32) on "));
    EXPECT_EQ(toJson(rounded.step, rounded.memory.total)["tf32"], true);
    const GpuPlan narrow = planOf(name, "h100", {{"batch", 64}, {"precision", "bf16"}}),
                  both = planOf(name, "h100", {{"batch", 64}, {"precision", "bf16"}, {"tf32", true}});
    EXPECT_LE(both.step.seconds, narrow.step.seconds);
  }
}

TEST(GpuPlan, PassesShareTheMemoryAndAddUpTheWork) {
  const GpuPlan once = planOf("resnet20", "h100", {{"batch", 128}}),
                inPasses = planOf("resnet20", "h100", {{"batch", 128}, {"accumulate", 4}});
  EXPECT_LT(inPasses.memory.total.activationBytes, once.memory.total.activationBytes / 3);
  EXPECT_NEAR(bytesOf(inPasses, "batch_normalization") / bytesOf(once, "batch_normalization"), 1, 0.02);
  // Running statistics are averaged over the passes, and take the mean with the weights.
  EXPECT_EQ(inPasses.memory.total.stateBytes, 2 * once.memory.total.stateBytes);
  EXPECT_GT(bytesOf(inPasses, "update"), bytesOf(once, "update"));
  EXPECT_NEAR(bytesOf(inPasses, "update") / bytesOf(once, "update"), 1, 0.03);
  EXPECT_EQ(bytesOf(once, "scale_all"), 0);
  EXPECT_GT(bytesOf(inPasses, "scale_all"), 0);
  EXPECT_GT(inPasses.step.seconds, once.step.seconds);
}

// An update of every other step counts half in a mean one, and takes its memory whole.
TEST(GpuPlan, AnUpdateOfEveryOtherStepIsHalfTheWork) {
  const PlannedGpu gpu = openPlannedGpu("h100");
  Project project = projectOf(makeWorkload("resnet20"), {{"batch", 64}});
  const GpuPlan each = planOnGpu(project, gpu, assumedEfficiency());
  project.training.updates[0].every = 2;
  const GpuPlan half = planOnGpu(project, gpu, assumedEfficiency());
  for (const char* op : {"convolution", "update"}) EXPECT_DOUBLE_EQ(2 * bytesOf(half, op), bytesOf(each, op)) << op;
  EXPECT_NEAR(2 * half.step.seconds, each.step.seconds, 1e-9);
  EXPECT_EQ(half.memory.total.activationBytes, each.memory.total.activationBytes);
  // Inputs as they are used and as they come up, and the tables of the update.
  EXPECT_GT(each.memory.total.inputBytes, 2 * 64 * (3 * 32 * 32 + 1) * 4);
}

TEST(GpuPlan, AMemoryBudgetIsKeptAndToldWithWhatItCosts) {
  const GpuPlan all = planOf("resnet20", "h100", {{"batch", 64}});
  const std::int64_t budget = all.memory.total.activationBytes * 3 / 4;
  const GpuPlan less =
      planOf("resnet20", "h100", {{"batch", 64}, {"memory_budget", static_cast<double>(budget) / (1 << 20)}});
  EXPECT_LT(less.memory.total.activationBytes, all.memory.total.activationBytes);
  EXPECT_GT(less.memory.total.operationsAgain, 0);
  EXPECT_GT(less.step.seconds, all.step.seconds);
}

TEST(GpuPlan, NamesTheDevicesThatThereAre) {
  try {
    openPlannedGpu("v100");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::badArgument);
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("'v100'"), HasSubstr("h100, h200, a100"), HasSubstr("cpu")));
  }
}

}  // namespace
}  // namespace loom
