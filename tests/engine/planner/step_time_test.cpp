#include "engine/planner/step_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"

namespace loom {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// 2 bytes a second of memory, 10 operations a second in f32, 100 rounded, 1000 in 16 bits, 5 bytes a second from the
// host.
const GpuModel kSlow{"slow", "Slow GPU", 90, 1, 1000, 2, 10, 100, 1000, 5};

GpuEfficiency whole() {
  return {.link = 1, .launchSeconds = 0.5, .source = "a test"};
}

TEST(StepTime, IsTheLongerOfMemoryAndArithmeticAndTheWayToTheNextKernel) {
  StageCost stage{.op = "matmul", .kind = StageKind::product, .read = 6, .written = 4, .operations = 20};
  EXPECT_DOUBLE_EQ(secondsOf(stage, kSlow, whole()), 5 + 0.5);
  stage.operations = 80;
  EXPECT_DOUBLE_EQ(secondsOf(stage, kSlow, whole()), 8 + 0.5);
  stage.tf32 = true;
  stage.operations = 800;
  EXPECT_DOUBLE_EQ(secondsOf(stage, kSlow, whole()), 8 + 0.5);
  for (const DataType type : {DataType::bf16, DataType::f16}) {
    stage.factors = type;
    stage.operations = 9000;
    EXPECT_DOUBLE_EQ(secondsOf(stage, kSlow, whole()), 9 + 0.5);
  }
  GpuEfficiency half = whole();
  half.kinds[static_cast<std::size_t>(StageKind::product)] = {
      .bandwidth = 0.5, .f32 = 1, .tf32 = 1, .bf16 = 1, .f16 = 0.25};
  EXPECT_DOUBLE_EQ(secondsOf(stage, kSlow, half), 36 + 0.5);
  stage.operations = 0;
  EXPECT_DOUBLE_EQ(secondsOf(stage, kSlow, half), 10 + 0.5);
}

UpdateCost costOf(std::int64_t passes, std::int64_t every) {
  UpdateCost cost{.passes = passes, .every = every};
  cost.pass.stages = {{.op = "relu", .kernel = "unary.f32", .read = 4, .written = 4},
                      {.op = "matmul", .kind = StageKind::product, .read = 2, .operations = 100}};
  cost.pass.uploaded = 10;
  cost.update.stages = {{.op = "update", .kind = StageKind::update, .written = 2}};
  return cost;
}

TEST(StepTime, PassesAddUpAndAnUpdateOfEveryOtherStepCountsHalf) {
  const UpdateCost updates[] = {costOf(3, 2)};
  const StepPrediction step = predictStep(updates, 30, DataType::f32, kSlow, whole());
  ASSERT_EQ(step.ops.size(), 3u);
  EXPECT_EQ(step.ops[0].op, "matmul");
  EXPECT_DOUBLE_EQ(step.ops[0].seconds, 1.5 * (10 + 0.5));
  EXPECT_DOUBLE_EQ(step.ops[0].operations, 150);
  EXPECT_EQ(step.ops[1].op, "relu");
  EXPECT_DOUBLE_EQ(step.ops[1].bytes, 1.5 * 8);
  EXPECT_DOUBLE_EQ(step.ops[1].seconds, 1.5 * (4 + 0.5));
  EXPECT_EQ(step.ops[2].op, "update");
  EXPECT_DOUBLE_EQ(step.ops[2].seconds, 0.5 * (1 + 0.5));
  EXPECT_DOUBLE_EQ(step.uploadSeconds, 1.5 * 10 / 5);
  EXPECT_DOUBLE_EQ(step.seconds, 15.75 + 6.75 + 0.75);
  EXPECT_DOUBLE_EQ(step.samplesPerSecond(), 30 / 23.25);
  GpuEfficiency slow = whole();
  slow.link = 0.25;
  EXPECT_DOUBLE_EQ(predictStep(updates, 30, DataType::f32, kSlow, slow).uploadSeconds, 4 * 1.5 * 10 / 5);
  UpdateCost large = costOf(3, 2);
  large.pass.uploaded = 100;
  EXPECT_DOUBLE_EQ(predictStep({&large, 1}, 30, DataType::f32, kSlow, whole()).seconds, 1.5 * 100 / 5)
      << "inputs come up meanwhile, and are waited for where they take longer";
}

TEST(StepTime, IsToldAsPredictedWithAllThatItRestsOn) {
  const UpdateCost updates[] = {costOf(1, 1)};
  const StepPrediction step = predictStep(updates, 30, DataType::bf16, kSlow, assumedEfficiency());
  const std::string text = toText(step, {.weightBytes = 2000});
  EXPECT_THAT(text, AllOf(HasSubstr("a step of 30 samples in bf16 on Slow GPU: predicted, not measured\n"),
                          HasSubstr("samples a second"), HasSubstr("does not fit"), HasSubstr("assumed"),
                          HasSubstr("2.50 us from one kernel to the next"), HasSubstr("meanwhile"),
                          HasSubstr("what the host adds")));
  const Json json = toJson(step, {.weightBytes = 2000});
  EXPECT_EQ(json["word"], "predicted, not measured");
  EXPECT_EQ(json["stages"][0]["kernel"], "unary.f32");
  EXPECT_EQ(json["efficiencies"]["efficiency"]["convolution"]["bf16"], 0.6);
  double shares = 0;
  for (const Json& op : json["ops"]) shares += op["share"].get<double>();
  EXPECT_NEAR(shares, 1, 1e-12);
}

TEST(StepTime, KnowsTheGpusByIdAndByName) {
  EXPECT_EQ(findGpuModel("h200"), findGpuModel("NVIDIA H200"));
  EXPECT_EQ(findGpuModel("a100")->multiprocessors, 108);
  EXPECT_EQ(findGpuModel("v100"), nullptr);
}

class Calibration : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(m_file); }
  GpuEfficiency read(const std::string& text) {
    writeFileAtomically(m_file, text);
    return readCalibration(m_file);
  }
  std::string faultOf(const std::string& text) {
    try {
      read(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }
  std::filesystem::path m_file =
      std::filesystem::temp_directory_path() / ("calibration-" + std::to_string(::getpid()) + ".json");
};

TEST_F(Calibration, WhatWasMeasuredTakesThePlaceOfWhatIsAssumed) {
  const GpuEfficiency assumed = assumedEfficiency();
  const GpuEfficiency found = read(R"({"calibration": 1, "device": "NVIDIA H200", "driver": "580", "date": "today",
    "versions": "CUDA 13.0", "efficiency": {"convolution": {"bf16": 0.41}, "memory": {"bandwidth": 0.93}},
    "upload": 0.7, "launch_us": 1.5})");
  EXPECT_EQ(found.source, "measured on NVIDIA H200 (CUDA 13.0); assumed: product, attention, recurrence, update");
  const auto of = [](const GpuEfficiency& all, StageKind kind) { return all.kinds[static_cast<std::size_t>(kind)]; };
  EXPECT_EQ(of(found, StageKind::convolution).bf16, 0.41);
  EXPECT_EQ(of(found, StageKind::convolution).f16, of(assumed, StageKind::convolution).f16);
  EXPECT_EQ(of(found, StageKind::memory).bandwidth, 0.93);
  EXPECT_EQ(of(found, StageKind::product).bf16, of(assumed, StageKind::product).bf16);
  EXPECT_EQ(found.link, 0.7);
  EXPECT_DOUBLE_EQ(found.launchSeconds, 1.5e-6);
}

TEST_F(Calibration, NamesWhatIsWrongWithIt) {
  const std::string begin = R"({"calibration": 1, "device": "NVIDIA H200", )";
  EXPECT_THAT(faultOf("{}"), HasSubstr("\"calibration\": 1"));
  EXPECT_THAT(faultOf(R"({"calibration": 1})"), HasSubstr("\"device\""));
  EXPECT_THAT(faultOf(begin + R"("speed": 1})"), HasSubstr("unknown key \"speed\""));
  EXPECT_THAT(faultOf(begin + R"("efficiency": {"matmul": {}}})"),
              AllOf(HasSubstr("unknown kind \"matmul\""), HasSubstr("product")));
  EXPECT_THAT(faultOf(begin + R"("efficiency": {"product": {"int8": 1}}})"), HasSubstr("unknown key \"int8\""));
  EXPECT_THAT(faultOf(begin + R"("efficiency": {"product": {"bf16": 0}}})"), HasSubstr("product.bf16"));
  EXPECT_THAT(faultOf(begin + R"("launch_us": "2"})"), HasSubstr("launch_us"));
  EXPECT_THAT(faultOf("{"), HasSubstr("calibration-"));
  EXPECT_THROW(readCalibration("/nowhere/calibration.json"), Error);
}

}  // namespace
}  // namespace loom
