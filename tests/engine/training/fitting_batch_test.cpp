#include "engine/training/fitting_batch.h"

#include <gtest/gtest.h>

#include <cmath>

namespace loom {
namespace {

TEST(FittingBatch, IsTheMostThatFits) {
  int asked = 0;
  const auto even = [&](std::int64_t batch) {
    ++asked;
    return 1000.0 + 10.0 * static_cast<double>(batch);
  };
  EXPECT_EQ(fittingBatch(256, 1500, even), 50);
  EXPECT_LE(asked, 6);
  EXPECT_EQ(fittingBatch(256, 1509, even), 50);
  EXPECT_EQ(fittingBatch(256, 3550, even), 255);
  EXPECT_EQ(fittingBatch(2, 1010, even), 1);
}

TEST(FittingBatch, IsNoneWhereOneIsTooMany) {
  const auto bytes = [](std::int64_t batch) { return 1000.0 + 10.0 * static_cast<double>(batch); };
  EXPECT_EQ(fittingBatch(256, 1009, bytes), 0);
  EXPECT_EQ(fittingBatch(1, 1e9, bytes), 0) << "what did not fit";
}

TEST(FittingBatch, FitsWhateverTheBytesDo) {
  for (const double free : {10.0, 77.0, 5000.0, 1e5}) {
    int asked = 0;
    const auto uneven = [&](std::int64_t batch) {
      ++asked;
      const auto b = static_cast<double>(batch);
      return b * b + (batch % 8 == 0 ? 0 : 3 * b);
    };
    const std::int64_t fits = fittingBatch(1000, free, uneven);
    EXPECT_LE(asked, 10);
    EXPECT_GE(fits, 1);
    EXPECT_LE(uneven(fits), free);
  }
}

}  // namespace
}  // namespace loom
