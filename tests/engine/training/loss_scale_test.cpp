#include "engine/schedules/loss_scale.h"

#include <gtest/gtest.h>

#include <limits>

namespace loom {
namespace {

TEST(LossScale, HalvesAtAnOverflowAndDoublesAfterTwoThousandFiniteSteps) {
  LossScale scale(DataType::f16);
  EXPECT_EQ(scale.value(), 65536);
  for (int step = 0; step < 1999; ++step) scale.grow();
  EXPECT_EQ(scale.value(), 65536);
  scale.grow();
  EXPECT_EQ(scale.value(), 131072);
  for (int step = 0; step < 1999; ++step) scale.grow();
  EXPECT_TRUE(scale.shrink());
  EXPECT_EQ(scale.value(), 65536);
  scale.grow();
  EXPECT_EQ(scale.value(), 65536) << "an overflow begins the count anew";
  EXPECT_EQ(scale.finiteSteps(), 1);
}

TEST(LossScale, EndsAtOneAndAtTwoToTheTwentyFourth) {
  LossScale scale(DataType::f16);
  int halvings = 0;
  while (scale.shrink()) ++halvings;
  EXPECT_EQ(halvings, 16);
  EXPECT_EQ(scale.value(), 1) << "no smaller one would help";
  for (int step = 0; step < 30 * 2000; ++step) scale.grow();
  EXPECT_EQ(scale.value(), 0x1p24);
}

TEST(LossScale, IsOneWhereGradientsHaveTheRangeOfF32) {
  for (const DataType type : {DataType::f32, DataType::bf16}) {
    LossScale scale(type);
    scale.restore(8, 3);
    scale.grow();
    EXPECT_FALSE(scale.active());
    EXPECT_EQ(scale.value(), 1);
    EXPECT_FALSE(scale.shrink());
  }
}

TEST(LossScale, GoesOnWhereACheckpointLeftIt) {
  LossScale scale(DataType::f16);
  scale.restore(512, 1999);
  scale.grow();
  EXPECT_EQ(scale.value(), 1024);
  for (const double value : {0.0, -2.0, 0x1p25, std::numeric_limits<double>::quiet_NaN()}) {
    scale.restore(value, 7);
    EXPECT_EQ(scale.value(), 1024) << value;
  }
}

}  // namespace
}  // namespace loom
