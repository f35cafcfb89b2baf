// Which precision a machine is given where the project leaves it to the machine.
#include "engine/loom/auto_precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/json.h"
#include "tests/engine/loom/planned_project.h"

namespace loom {
namespace {

using testing::AllOf;
using testing::HasSubstr;

PrecisionChoice chosen(double f32, double bf16) {
  Project project;
  project.training.settings = {{"precision", "auto"}};
  return choosePrecision(project, "measured on a day", [&](const Project& said) {
    StepTimes step;
    step.seconds = said.training.settings["precision"] == "bf16" ? bf16 : f32;
    return step;
  });
}

TEST(AutoPrecision, IsBf16OnlyWhereThatPays) {
  const PrecisionChoice pays = chosen(3, 2), hardly = chosen(1.09, 1), slower = chosen(1, 3);
  EXPECT_EQ(pays.precision, DataType::bf16);
  EXPECT_EQ(hardly.precision, DataType::f32);
  EXPECT_EQ(slower.precision, DataType::f32);
  EXPECT_EQ(toText(pays), "bf16: a step in bf16 is predicted to be 1.50 times as fast as in f32 (measured on a day)");
  EXPECT_THAT(toText(slower),
              AllOf(HasSubstr("f32: "), HasSubstr("0.33 times"), HasSubstr("under 1.1 it does not pay")));
}

TEST(AutoPrecision, IsWhatTheSettingSaysAndNothingElse) {
  EXPECT_TRUE(isPrecisionAuto({{"precision", "auto"}}));
  EXPECT_FALSE(isPrecisionAuto({{"precision", "bf16"}}));
  EXPECT_FALSE(isPrecisionAuto(Json::object()));
}

TEST(AutoPrecision, OfAGpuFollowsItsPlan) {
  const PrecisionChoice choice =
      choosePrecisionOnGpu(projectOf(makeWorkload("resnet50"), {{"precision", "auto"}, {"batch", 64}}), "h100", {});
  EXPECT_EQ(choice.precision, DataType::bf16);
  EXPECT_GT(choice.gain(), 1.5) << "tensor cores multiply bf16 alone, as TF32 was not asked for";
  EXPECT_THAT(toText(choice), HasSubstr("assumed"));
}

}  // namespace
}  // namespace loom
