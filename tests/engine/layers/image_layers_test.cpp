// Layers that change images at random in training, and the mean that is taken from them: what they do to known images.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "engine/program/evaluator.h"
#include "tests/engine/layers/examples.h"

namespace loom {
namespace {

using Values64 = std::vector<double>;

// What training makes of a batch of images that are all this one.
Values64 ofCopies(const LayerExample& example, const Values64& image, std::int64_t batch, std::int64_t first = 0,
                  std::int64_t step = 1) {
  const LoweredExample lowered = lowerExample(example, batch, true);
  Evaluator evaluator(lowered.program);
  Values64 images;
  for (std::int64_t i = 0; i < batch; ++i) images.insert(images.end(), image.begin(), image.end());
  evaluator.value("0", TensorRole::input).values = images;
  for (const auto& [name, value] : {std::pair{kFirstSampleScalar, first}, {kStepScalar, step}})
    if (lowered.program.findTensor(name, TensorRole::scalar) != kNoTensor)
      evaluator.value(name, TensorRole::scalar).values = {static_cast<double>(value)};
  evaluator.run();
  return evaluator.value(lowered.outputs[0]).values;
}

// Squares of 5 x 5 in images of 10 x 10.
const LayerExample kSquares{
    "RandomErase",
    R"({"min_area": 0.25, "max_area": 0.25, "min_ratio": 1, "max_ratio": 1, "low": 0, "high": 0})",
    {{1, 10, 10}}};

TEST(RandomErase, TakesRectanglesAtRandomPlaces) {
  constexpr int kImages = 600;
  const Values64 found = ofCopies(kSquares, Values64(100, 7), kImages);
  int erased = 0;
  std::set<int> rows, columns;
  for (int n = 0; n < kImages; ++n) {
    int top = 10, left = 10, bottom = -1, right = -1, count = 0;
    for (int i = 0; i < 100; ++i) {
      const double value = found[static_cast<std::size_t>(100 * n + i)];
      if (value == 7) continue;
      ASSERT_EQ(value, 0);
      ++count;
      top = std::min(top, i / 10), bottom = std::max(bottom, i / 10);
      left = std::min(left, i % 10), right = std::max(right, i % 10);
    }
    if (count == 0) continue;
    ++erased;
    EXPECT_EQ(count, 25);
    EXPECT_EQ(bottom - top, 4);
    EXPECT_EQ(right - left, 4);
    rows.insert(top);
    columns.insert(left);
  }
  EXPECT_NEAR(erased, kImages / 2, 50);
  EXPECT_EQ(rows, (std::set<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(columns, rows);
}

TEST(RandomErase, IsAFunctionOfStepAndSampleWhoeverComputesIt) {
  const Values64 image(100, 7);
  const Values64 whole = ofCopies(kSquares, image, 40), half = ofCopies(kSquares, image, 20, 20);
  EXPECT_EQ(Values64(whole.begin() + 2000, whole.end()), half);
  EXPECT_NE(ofCopies(kSquares, image, 20, 20, 2), half);
  EXPECT_TRUE(lowerExample(kSquares, 4, false).program.operations.empty()) << "nothing in evaluation";
}

TEST(RandomErase, HasNoiseOfItsRangeAndAreasOfItsOwn) {
  const LayerExample own{
      "RandomErase", R"({"probability": 1, "share": false, "low": 2, "high": 3, "patches": 2})", {{3, 12, 9}}};
  const Values64 found = ofCopies(own, Values64(3 * 12 * 9, 0), 200);
  std::set<int> areas;
  double least = 9, largest = 0;
  int alike = 0;
  for (std::size_t n = 0; n < 200; ++n) {
    int counts[3] = {};
    for (std::size_t i = 0; i < 3 * 108; ++i) {
      const double value = found[n * 324 + i];
      if (value == 0) continue;
      ++counts[i / 108];
      least = std::min(least, value), largest = std::max(largest, value);
    }
    areas.insert(counts[0]);
    alike += counts[0] == counts[1] && counts[1] == counts[2];
  }
  EXPECT_GE(least, 2);
  EXPECT_LT(least, 2.01);
  EXPECT_LT(largest, 3);
  EXPECT_GT(largest, 2.99);
  EXPECT_GT(areas.size(), 30U);
  EXPECT_LE(*areas.rbegin(), 2 * 0.4 * 108);
  EXPECT_LT(alike, 20);
  // All channels alike: the erased places are the same ones.
  const Values64 shared =
      ofCopies({"RandomErase", R"({"probability": 1, "low": 2, "high": 3})", {{2, 8, 8}}}, Values64(128, 0), 50);
  for (std::size_t n = 0; n < 50; ++n)
    for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(shared[n * 128 + i] == 0, shared[n * 128 + 64 + i] == 0);
}

// A ramp shows from where each pixel was read.
TEST(ImageAugmentation, DistortsAlongTheRadius) {
  constexpr std::size_t kImages = 300;
  Values64 ramp;
  for (int i = 0; i < 81; ++i) ramp.push_back(i % 9 + 1);
  const Values64 found = ofCopies({"ImageAugmentation", R"({"distortion": 0.5})", {{1, 9, 9}}}, ramp, kImages);
  const auto readAt = [&](std::size_t n, std::size_t row, std::size_t column) {
    return found[n * 81 + row * 9 + column] - 5;
  };
  const auto bent = [](double u, double v, double d) {
    const double square = (u * u + v * v) / (4.5 * 4.5);
    return u * (1 + d * square) / (1 + d);
  };
  double least = 0, largest = 0;
  for (std::size_t n = 0; n < kImages; ++n) {
    EXPECT_NEAR(readAt(n, 4, 4), 0, 1e-9) << "the middle stays";
    const double y = readAt(n, 4, 6), d = (2 - y) / (y - 2 * 4 / (4.5 * 4.5));
    least = std::min(least, d), largest = std::max(largest, d);
    EXPECT_NEAR(readAt(n, 4, 3), bent(-1, 0, d), 1e-6);
    EXPECT_NEAR(readAt(n, 6, 5), bent(1, 2, d), 1e-6);
  }
  EXPECT_NEAR(least, std::exp(-0.5) - 1, 0.01);
  EXPECT_NEAR(largest, std::exp(0.5) - 1, 0.01);
}

TEST(MeanSubtraction, SubtractsTheMeanOfAllBatchesSoFar) {
  const LoweredExample lowered = lowerExample({"MeanSubtraction", "{}", {{2}}}, 2, true);
  Evaluator evaluator(lowered.program);
  const auto step = [&](Values64 batch) {
    evaluator.value("0", TensorRole::input).values = std::move(batch);
    evaluator.run();
    return evaluator.value(lowered.outputs[0]).values;
  };
  EXPECT_EQ(step({2, 10, 4, 30}), (Values64{-1, -10, 1, 10}));  // means 3 and 20
  EXPECT_EQ(step({4, 0, 6, 0}), (Values64{0, -10, 2, -10}));    // of the batch 5 and 0, of both 4 and 10
  const Values64 third = step({1, 1, 1, 1});
  EXPECT_NEAR(third[0], 1 - 3, 1e-12);
  EXPECT_NEAR(third[1], 1 - 7, 1e-12);
  EXPECT_EQ(evaluator.value("it/batches", TensorRole::state).values, (Values64{3}));
  const LoweredExample later = lowerExample({"MeanSubtraction", "{}", {{2}}}, 1, false);
  Evaluator evaluation(later.program);
  evaluation.value("0", TensorRole::input).values = {5, 5};
  evaluation.value("it/mean", TensorRole::state).values = {3, 7};
  evaluation.run();
  EXPECT_EQ(evaluation.value(later.outputs[0]).values, (Values64{2, -2}));
  EXPECT_EQ(evaluation.value("it/mean", TensorRole::state).values, (Values64{3, 7}));
}

TEST(MeanSubtraction, TakesMeansOverTheAxesBeforeItsBase) {
  const LoweredExample lowered = lowerExample({"MeanSubtraction", R"({"base_axis": 1})", {{2, 2}}}, 2, true);
  Evaluator evaluator(lowered.program);
  evaluator.value("0", TensorRole::input).values = {1, 10, 2, 20, 3, 30, 6, 60};
  evaluator.run();
  EXPECT_EQ(evaluator.value(lowered.outputs[0]).values, (Values64{-2, -20, -1, -10, 0, 0, 3, 30}));
}

TEST(MeanSubtraction, LeavesItsMeanAloneWithoutUpdate) {
  const LoweredExample lowered = lowerExample({"MeanSubtraction", R"({"update": false})", {{1}}}, 2, true);
  Evaluator evaluator(lowered.program);
  evaluator.value("it/mean", TensorRole::state).values = {4};
  evaluator.value("0", TensorRole::input).values = {1, 7};
  evaluator.run();
  EXPECT_EQ(evaluator.value(lowered.outputs[0]).values, (Values64{-3, 3}));
  EXPECT_EQ(evaluator.value("it/mean", TensorRole::state).values, (Values64{4}));
}

// Long axes are summed in pieces.
TEST(CumulativeSum, SumsAnyNumberOfValuesEitherWay) {
  for (const std::int64_t n : {1, 5, 64, 65, 128, 5000})
    for (const bool exclusive : {false, true})
      for (const bool reverse : {false, true}) {
        const LayerExample example{
            "CumulativeSum", fmt::format(R"({{"exclusive": {}, "reverse": {}}})", exclusive, reverse), {{n, 2}}};
        Values64 x, wanted(static_cast<std::size_t>(2 * n));
        for (std::int64_t i = 0; i < 2 * n; ++i) x.push_back(static_cast<double>(i * 7 % 11) - 4);
        for (std::size_t column : {std::size_t{0}, std::size_t{1}}) {
          double sum = 0;
          for (std::int64_t i = 0; i < n; ++i) {
            const auto at = static_cast<std::size_t>(2 * (reverse ? n - 1 - i : i)) + column;
            wanted[at] = exclusive ? sum : sum + x[at];
            sum += x[at];
          }
        }
        EXPECT_EQ(ofCopies(example, x, 1), wanted) << n << " " << example.values;
      }
}

TEST(ModuloLayer, TakesTheSignThatIsTold) {
  EXPECT_EQ(ofCopies({"Modulo", R"({"value": 3})", {{4}, {}}}, {-4, 4, 7.5, -3}, 1), (Values64{2, 1, 1.5, 0}));
  EXPECT_EQ(ofCopies({"Modulo", R"({"value": 3, "sign_of_a": true})", {{4}, {}}}, {-4, 4, 7.5, -3}, 1),
            (Values64{-1, 1, 1.5, 0}));
}

}  // namespace
}  // namespace loom
