// A processor's times: from what was measured, else assumed; kept by machine.
#include "engine/planner/processor_times.h"

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

StageCost product(double operations, std::vector<double> sizes, DataType factors = DataType::f32) {
  return {.op = "matmul",
          .kernel = "matmul + relu",
          .kind = StageKind::product,
          .factors = factors,
          .read = 1,
          .operations = operations,
          .sizes = std::move(sizes)};
}
StageCost pass(const char* op, const char* kernel, double bytes) {
  return {.op = op, .kernel = kernel, .kind = StageKind::memory, .read = bytes, .sizes = {0}};
}

// 1e-9 s an operation where sizes are small, 1e-8 where they are large; passes of 2 and 4 ns a byte.
ProcessorTimes measured() {
  ProcessorTimes times{
      .machine = "a machine", .program = "gradloom 1", .date = "2026-11-23", .points = {}, .assumed = {}};
  times.points = {
      {"matmul", "matmul", StageKind::product, DataType::f32, 1, 1000, 1e-6, {0, 0}},
      {"matmul", "matmul", StageKind::product, DataType::f32, 1, 1000, 1e-5, {10, 0}},
      {"matmul", "matmul", StageKind::product, DataType::bf16, 1, 1000, 5e-7, {0, 0}},
      {"unary", "unary relu", StageKind::memory, DataType::f32, 1000, 0, 2e-6, {0}},
      {"unary", "unary gelu", StageKind::memory, DataType::f32, 1000, 0, 4e-6, {0}},
      {"update", "update", StageKind::update, DataType::f32, 1000, 0, 1e-6, {0}},
  };
  return times;
}

TEST(ProcessorTimes, OfWhatWasMeasuredGrowWithTheWorkAndGoByTheNearest) {
  const ProcessorTimes times = measured();
  EXPECT_NEAR(secondsOf(product(1000, {0, 0}), times), 1e-6, 1e-8);
  EXPECT_NEAR(secondsOf(product(4000, {0, 0}), times), 4e-6, 4e-8);
  EXPECT_NEAR(secondsOf(product(1000, {10, 0}), times), 1e-5, 1e-7);
  EXPECT_NEAR(secondsOf(product(1000, {5, 0}), times), 3.162e-6, 1e-8) << "half-way, the mean of the logarithms";
  EXPECT_NEAR(secondsOf(product(1000, {2, 0}), times), 1e-6, 1e-7);
}

TEST(ProcessorTimes, AreThoseOfTheSameTypeAndOfTheSameFunction) {
  const ProcessorTimes times = measured();
  EXPECT_NEAR(secondsOf(product(1000, {0, 0}, DataType::bf16), times), 5e-7, 1e-12);
  EXPECT_NEAR(secondsOf(pass("unary", "unary relu", 1000), times), 2e-6, 1e-12);
  EXPECT_NEAR(secondsOf(pass("unary", "unary gelu", 1000), times), 4e-6, 1e-12);
  // Nobody measured these: as others of the op, as others of the kind, as other types of it.
  EXPECT_NEAR(secondsOf(pass("unary", "unary tanh", 1000), times), 2.828e-6, 1e-9);
  EXPECT_NEAR(secondsOf(pass("softmax", "softmax", 1000), times), 2.828e-6, 1e-9);
  StageCost half = pass("softmax", "softmax", 1000);
  half.factors = DataType::bf16;
  EXPECT_NEAR(secondsOf(half, times), 2.828e-6, 1e-9);
}

// Weights that stay in a cache from step to step are updated faster than as many that other numbers drive out.
TEST(ProcessorTimes, OfWhatReadsWeightsGoByWhatTheStepMoves) {
  ProcessorTimes times = measured();
  times.points.push_back({"update", "update", StageKind::update, DataType::f32, 1000, 0, 1e-7, {0}, 1 << 20});
  times.points.push_back({"update", "update", StageKind::update, DataType::f32, 1000, 0, 1e-5, {0}, 1 << 30});
  StageCost update{.op = "update", .kernel = "update", .kind = StageKind::update, .read = 1000, .sizes = {0}};
  update.step = 1 << 20;
  times.points.erase(times.points.begin() + 5);
  EXPECT_NEAR(secondsOf(update, times), 1e-7, 1e-9);
  update.step = 1 << 30;
  EXPECT_NEAR(secondsOf(update, times), 1e-5, 1e-7);
  update.step = 0;
  EXPECT_NEAR(secondsOf(update, times), 1e-6, 1e-9) << "nobody said so: the mean of both";
  StageCost pass{.op = "unary", .kernel = "unary relu", .read = 1000, .sizes = {0}};
  const double before = secondsOf(pass, times);
  pass.step = 1 << 30;
  EXPECT_EQ(secondsOf(pass, times), before)
      << "what stands between two readings of it is its step's matter, not weights'";
}

TEST(ProcessorTimes, HoldTheWayFromStageToStageForEachCall) {
  ProcessorTimes times = measured();
  times.betweenStages = 1e-3;
  StageCost stage = product(1000, {0, 0});
  stage.calls = 3;
  EXPECT_NEAR(secondsOf(stage, times), 3e-3 + 1e-6, 1e-8);
}

TEST(ProcessorTimes, AreAssumedWhereNothingWasMeasured) {
  ProcessorTimes times;
  times.assumed = {.threads = 2, .operations = 100, .bandwidth = 10, .stage = 0.5};
  EXPECT_DOUBLE_EQ(secondsOf(product(1000, {}), times), 5 + 0.5);
  EXPECT_DOUBLE_EQ(secondsOf(pass("unary", "unary relu", 200), times), 10 + 0.5);
  EXPECT_THAT(sourceOf(times), AllOf(HasSubstr("assumed"), HasSubstr("loom plan --calibrate")));
  // An op of a kind that no network of the calibration has.
  times.points = measured().points;
  StageCost attention{.op = "attention", .kind = StageKind::attention, .operations = 1000};
  EXPECT_DOUBLE_EQ(secondsOf(attention, times), 5 + 0.5);
  EXPECT_THAT(sourceOf(measured()), AllOf(HasSubstr("6 stages measured on 2026-11-23"), HasSubstr("gradloom 1")));
}

class KeptTimes : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(m_folder); }
  std::filesystem::path m_folder =
      std::filesystem::temp_directory_path() / ("processor-times-" + std::to_string(::getpid()));
  std::filesystem::path m_file = m_folder / "cache" / "processors.json";
};

TEST_F(KeptTimes, AreReadAsTheyWereWrittenAndOtherMachinesStay) {
  EXPECT_FALSE(readProcessorTimes(m_file, "a machine"));
  ProcessorTimes times = measured();
  times.betweenStages = 2e-6;
  times.points[0].step = 12345;
  keepProcessorTimes(m_file, times);
  ProcessorTimes other = measured();
  other.machine = "another";
  other.points.resize(1);
  keepProcessorTimes(m_file, other);
  const auto read = readProcessorTimes(m_file, "a machine");
  ASSERT_TRUE(read);
  EXPECT_EQ(sourceOf(*read), sourceOf(times));
  EXPECT_DOUBLE_EQ(read->betweenStages, 2e-6);
  EXPECT_EQ(read->points[0].step, 12345);
  for (const StageCost& stage :
       {product(1000, {3, 1}), product(7, {0, 0}, DataType::bf16), pass("unary", "unary gelu", 5)})
    EXPECT_NEAR(secondsOf(stage, *read) / secondsOf(stage, times), 1, 1e-9) << stage.kernel;
  EXPECT_EQ(readProcessorTimes(m_file, "another")->points.size(), 1u);
  EXPECT_FALSE(readProcessorTimes(m_file, "a third"));
}

TEST_F(KeptTimes, OfAFileThatIsNoneAreAFaultWithItsRemedyAndItStays) {
  std::filesystem::create_directories(m_file.parent_path());
  const auto faultOf = [&](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::badData) << error.what();
      return error.what();
    }
    return "none";
  };
  for (const char* text : {"{}", "[1]", R"({"gradloom_processor_times": 99, "machines": {}})"}) {
    writeFileAtomically(m_file, text);
    const auto words = AllOf(HasSubstr(m_file.string()), HasSubstr("move it away"));
    EXPECT_THAT(faultOf([&] { readProcessorTimes(m_file, "a machine"); }), words) << text;
    EXPECT_THAT(faultOf([&] { keepProcessorTimes(m_file, measured()); }), words) << text;
    EXPECT_EQ(readFile(m_file), text);
  }
  for (const char* entry :
       {"3", "{}", R"({"program": "p", "date": "d", "between_stages_us": 1, "stages": [{"op": 1}]})",
        R"({"program": "p", "date": "d", "between_stages_us": 1, "stages": [{"op": "matmul",
                               "kernel": "k", "kind": "product", "factors": "f32", "bytes": 1, "operations": 1,
                               "us": -1, "sizes": []}]})"}) {
    writeFileAtomically(m_file,
                        R"({"gradloom_processor_times": 1, "machines": {"a machine": )" + std::string(entry) + "}}");
    EXPECT_THAT(faultOf([&] { readProcessorTimes(m_file, "a machine"); }),
                AllOf(HasSubstr("'a machine'"), HasSubstr("loom plan --calibrate")))
        << entry;
    EXPECT_FALSE(readProcessorTimes(m_file, "another")) << "which has nothing to do with it";
  }
}

}  // namespace
}  // namespace loom
