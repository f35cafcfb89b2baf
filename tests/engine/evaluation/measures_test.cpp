// Every measure beside the value that scikit-learn 1.9.1 (scipy for intervals and McNemar) has for the same samples:
// values.py beside this. However the samples come: in uneven batches, by one to three ranks, merged in any order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/evaluation/mcnemar.h"
#include "tests/engine/evaluation/drawn_samples.h"

namespace loom {
namespace {

constexpr double kNear = 1e-6;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

void expectMean(const ClassTable::Mean& mean, double precision, double recall, double f1) {
  EXPECT_NEAR(mean.precision, precision, kNear);
  EXPECT_NEAR(mean.recall, recall, kNear);
  EXPECT_NEAR(mean.f1, f1, kNear);
}

TEST(Measures, ConfusionMatrixAndClassesAreThoseOfScikitLearn) {
  constexpr std::int64_t kCells[4][4] = {{165, 8, 10, 18}, {11, 117, 10, 8}, {5, 4, 77, 8}, {2, 1, 4, 52}};
  constexpr double kPrecision[] = {0.9016393443, 0.9, 0.7623762376, 0.6046511628};
  constexpr double kRecall[] = {0.8208955224, 0.8013698630, 0.8191489362, 0.8813559322};
  constexpr double kF1[] = {0.8593750000, 0.8478260870, 0.7897435897, 0.7172413793};
  constexpr std::int64_t kSupport[] = {201, 146, 94, 59};
  eachWay(outputOf(OutputKind::classes, {4}), fourClasses(), [&](const EvaluatedOutput& output) {
    ASSERT_EQ(output.kind, EvaluatedOutput::classes);
    ASSERT_EQ(output.cells.size(), 16u);
    for (const ConfusionMatrix::Cell& cell : output.cells)
      EXPECT_EQ(cell.count, kCells[cell.truth][cell.predicted]) << cell.truth << ' ' << cell.predicted;
    for (std::size_t c = 0; c < 4; ++c) {
      EXPECT_NEAR(output.table.classes[c].precision, kPrecision[c], kNear);
      EXPECT_NEAR(output.table.classes[c].recall, kRecall[c], kNear);
      EXPECT_NEAR(output.table.classes[c].f1, kF1[c], kNear);
      EXPECT_EQ(output.table.classes[c].support, kSupport[c]);
    }
    expectMean(output.table.macro, 0.7921666862, 0.8306925634, 0.8035465140);
    expectMean(output.table.weighted, 0.8399345863, 0.8220000000, 0.8261402450);
    expectMean(output.table.micro, 0.822, 0.822, 0.822);
  });
}

TEST(Measures, AccuracyTopKAndLossAreThoseOfScikitLearn) {
  eachWay(outputOf(OutputKind::classes, {4}), fourClasses(), [](const EvaluatedOutput& output) {
    EXPECT_EQ(output.right, 411);
    EXPECT_NEAR(output.accuracy.share, 0.822, kNear);
    EXPECT_NEAR(output.accuracy.low, 0.7860548115, kNear);
    EXPECT_NEAR(output.accuracy.high, 0.8530351133, kNear);
    ASSERT_EQ(output.top.size(), 3u) << "of four classes the first four are always right";
    EXPECT_NEAR(output.top[1].interval.share, 0.928, kNear);
    EXPECT_NEAR(output.top[2].interval.share, 0.98, kNear);
    EXPECT_NEAR(output.loss, 0.8377163004069305, kNear);
  });
}

TEST(Measures, WilsonsIntervalHoldsAtItsEnds) {
  EXPECT_NEAR(wilson(0, 30).high, 0.1135133932, kNear);
  EXPECT_EQ(wilson(0, 30).low, 0);
  EXPECT_NEAR(wilson(30, 30).low, 0.8864866068, kNear);
  EXPECT_EQ(wilson(30, 30).high, 1);
  EXPECT_TRUE(std::isnan(wilson(0, 0).share));
}

TEST(Measures, CurvesOfManyClassesAreThoseOfScikitLearn) {
  constexpr double kAuc[] = {0.9405480956, 0.9440832753, 0.9293837124, 0.9474614705};
  constexpr double kPrecision[] = {0.9165979562, 0.9051091857, 0.8160895105, 0.8380723611};
  eachWay(outputOf(OutputKind::classes, {4}), fourClasses(), [&](const EvaluatedOutput& output) {
    ASSERT_EQ(output.curves.size(), 4u);
    EXPECT_TRUE(output.exactCurves);
    for (std::size_t c = 0; c < 4; ++c) {
      EXPECT_NEAR(output.curves[c].curve.auc, kAuc[c], kNear);
      EXPECT_NEAR(output.curves[c].curve.averagePrecision, kPrecision[c], kNear);
    }
    EXPECT_NEAR(output.macroAuc, 0.9403691384483731, kNear);
    EXPECT_NEAR(output.weightedAuc, 0.9402972422781152, kNear);
  });
}

TEST(Measures, AChanceOfOneClassOfTwoIsThatOfScikitLearn) {
  eachWay(outputOf(OutputKind::chance, {1}), twoClasses(), [](const EvaluatedOutput& output) {
    ASSERT_EQ(output.kind, EvaluatedOutput::classes);
    ASSERT_EQ(output.cells.size(), 4u);
    EXPECT_EQ(output.cells[0].count, 193);
    EXPECT_EQ(output.cells[1].count, 64);
    EXPECT_EQ(output.cells[2].count, 67);
    EXPECT_EQ(output.cells[3].count, 76);
    ASSERT_EQ(output.curves.size(), 1u);
    EXPECT_EQ(output.curves[0].of, 1);
    EXPECT_NEAR(output.curves[0].curve.auc, 0.708402492449185, kNear);
    EXPECT_NEAR(output.curves[0].curve.averagePrecision, 0.6312568275755882, kNear);
    EXPECT_NEAR(output.loss, 0.5884516821702475, kNear);
    EXPECT_NEAR(output.table.classes[0].f1, 0.7466150870, kNear);
    EXPECT_NEAR(output.table.classes[1].precision, 0.5428571429, kNear);
    EXPECT_NEAR(output.table.classes[1].recall, 0.5314685315, kNear);
    EXPECT_NEAR(output.calibration.expectedError, 0.0655744255869649, kNear);
    ASSERT_TRUE(output.temperature);
    EXPECT_NEAR(output.temperature->value, 1.2045991815, kNear);
    EXPECT_NEAR(output.temperature->lossBefore, 0.5884516822, kNear);
    EXPECT_NEAR(output.temperature->lossAfter, 0.5857556274, kNear);
  });
}

TEST(Measures, CalibrationAndTemperatureAreThoseOfScipy) {
  eachWay(outputOf(OutputKind::classes, {4}), fourClasses(), [](const EvaluatedOutput& output) {
    EXPECT_NEAR(output.calibration.expectedError, 0.3420201063156128, kNear);
    std::int64_t counted = 0;
    for (const ReliabilityBin& bin : output.calibration.bins) counted += bin.count;
    EXPECT_EQ(counted, 500);
    ASSERT_TRUE(output.temperature);
    EXPECT_NEAR(output.temperature->value, 0.2709566318, kNear);
    EXPECT_NEAR(output.temperature->lossAfter, 0.5492827537, kNear);
    EXPECT_EQ(output.temperature->samples, 500);
  });
}

// The same samples as maps of 2 x 2 classes. jaccard_score() of scikit-learn.
TEST(Measures, AMapOfClassesHasTheSharesOfItsAreas) {
  constexpr double kShares[] = {0.7534246575, 0.7358490566, 0.6525423729, 0.5591397849};
  const DrawnSamples pixels = fourClasses();
  DrawnSamples maps;
  for (std::size_t i = 0; i < pixels.size(); i += 4) {
    DrawnSample& map = maps.emplace_back();
    for (std::size_t k = i; k < i + 4; ++k) {
      map.values.insert(map.values.end(), pixels[k].values.begin(), pixels[k].values.end());
      map.truth.push_back(pixels[k].truth[0]);
    }
  }
  eachWay(outputOf(OutputKind::classes, {2, 2, 4}), maps, [&](const EvaluatedOutput& output) {
    EXPECT_TRUE(output.isMap());
    EXPECT_THAT(output.positions, testing::ElementsAre(2, 2));
    EXPECT_EQ(output.items, 500);
    for (std::size_t c = 0; c < 4; ++c)
      EXPECT_NEAR(intersectionOverUnion(output.table.classes[c]), kShares[c], kNear) << c;
    EXPECT_NEAR(meanIntersectionOverUnion(output.table), 0.6752389680, kNear);
    for (const EvaluatedSample& each : output.worst) {
      if (!each.finite) continue;
      // By itself: of each class that is true or said among the four places.
      const DrawnSample& map = maps[static_cast<std::size_t>(each.sample)];
      double sum = 0, classes = 0, right = 0;
      for (int c = 0; c < 4; ++c) {
        int both = 0, any = 0;
        for (std::size_t k = 0; k < 4; ++k) {
          const auto from = map.values.begin() + static_cast<std::ptrdiff_t>(4 * k);
          const bool said = std::max_element(from, from + 4) - from == c, is = map.truth[k] == static_cast<float>(c);
          both += said && is;
          any += said || is;
        }
        right += both;
        if (any == 0) continue;
        sum += static_cast<double>(both) / any;
        ++classes;
      }
      EXPECT_NEAR(each.iou, sum / classes, 1e-6) << each.sample;
      EXPECT_NEAR(each.rightShare, right / 4, 1e-6) << each.sample;
    }
    const auto places = choose(output.worst, {.order = SampleChoice::iou});
    ASSERT_EQ(places.size(), output.worst.size());
    for (std::size_t i = 1; i < places.size(); ++i)
      if (output.worst[places[i - 1]].finite) EXPECT_LE(output.worst[places[i - 1]].iou, output.worst[places[i]].iou);
  });
  eachWay(outputOf(OutputKind::classes, {4, 4}), maps, [](const EvaluatedOutput& output) {
    EXPECT_FALSE(output.isMap()) << "a sequence";
    EXPECT_THAT(output.positions, testing::ElementsAre(4));
    EXPECT_NEAR(output.accuracy.share, 0.822, kNear);
  });
  EXPECT_TRUE(evaluated(outputOf(OutputKind::classes, {4}), pixels).positions.empty());
  EXPECT_TRUE(std::isnan(intersectionOverUnion(ClassFigures{}))) << "nobody says it and it is nowhere";
}

// By scipy: a half by the samples' numbers, in whatever order they come.
TEST(Measures, ATemperatureIsTriedOnTheHalfThatItHasNotSeen) {
  eachWay(outputOf(OutputKind::classes, {4}), fourClasses(), [](const EvaluatedOutput& output) {
    ASSERT_TRUE(output.temperatureTrial);
    const TemperatureTrial& trial = *output.temperatureTrial;
    EXPECT_EQ(trial.fitted, 239);
    EXPECT_EQ(trial.tried, 261);
    EXPECT_NEAR(trial.value, 0.2974600668, kNear);
    EXPECT_NEAR(trial.lossBefore, 0.8371469350, kNear);
    EXPECT_NEAR(trial.lossAfter, 0.5211009640, kNear);
    EXPECT_NEAR(trial.errorBefore, 0.3640285526, kNear);
    EXPECT_NEAR(trial.errorAfter, 0.0798173192, kNear);
  });
}

TEST(Measures, WhatIsAlwaysRightHasNoTemperature) {
  OutputEvaluator all(outputOf(OutputKind::classes, {2}));
  for (int i = 0; i < 10; ++i) all.add(i, i, std::vector{0.25F, 0.75F}, std::vector{1.0F});
  EXPECT_FALSE(all.finish().temperature);
  EXPECT_FALSE(all.finish().temperatureTrial);
  EXPECT_TRUE(std::isnan(all.finish().macroAuc)) << "there is nothing of the other class";
}

TEST(Measures, LabelsOfTheirOwnAreThoseOfScikitLearn) {
  constexpr double kAuc[] = {0.7123212321, 0.6690452484, 0.6718007958};
  constexpr double kPrecision[] = {0.7354638475, 0.5624251730, 0.5587874344};
  eachWay(outputOf(OutputKind::chance, {3}), threeLabels(), [&](const EvaluatedOutput& output) {
    ASSERT_EQ(output.kind, EvaluatedOutput::labels);
    expectMean(output.table.macro, 0.4845804900, 0.4536643437, 0.4636414566);
    expectMean(output.table.weighted, 0.5082142012, 0.4524886878, 0.4743328644);
    expectMean(output.table.micro, 0.4926108374, 0.4524886878, 0.4716981132);
    EXPECT_NEAR(output.accuracy.share, 0.6266666666666667, kNear);
    EXPECT_NEAR(output.loss, 0.6098232137010313, kNear);
    ASSERT_EQ(output.curves.size(), 3u);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(output.curves[k].curve.auc, kAuc[k], kNear);
      EXPECT_NEAR(output.curves[k].curve.averagePrecision, kPrecision[k], kNear);
    }
  });
}

TEST(Measures, NumbersAreThoseOfScikitLearn) {
  eachWay(outputOf(OutputKind::numbers, {2}), twoNumbers(), [](const EvaluatedOutput& output) {
    ASSERT_EQ(output.kind, EvaluatedOutput::numbers);
    ASSERT_EQ(output.values.size(), 2u);
    EXPECT_NEAR(output.values[0].r2, 0.9891315387, kNear);
    EXPECT_NEAR(output.values[1].r2, 0.9899929440, kNear);
    EXPECT_NEAR(output.values[0].mae, 6.6558333333, kNear);
    EXPECT_NEAR(output.values[1].rmse, 7.3980413371, kNear);
    EXPECT_NEAR(output.values[0].bias, 0.4, kNear);
    EXPECT_NEAR(output.values[1].bias, -0.6479166667, kNear);
    EXPECT_NEAR(output.regression.r2, 0.9895622413678301, kNear);
    EXPECT_NEAR(output.regression.mae, 6.533541666666666, kNear);
    EXPECT_NEAR(output.loss, 55.50182291666667, kNear);
    EXPECT_EQ(output.regression.count, 300);
  });
}

// Large numbers that differ little: a sum of squares would have lost them.
TEST(Measures, NumbersFarFromZeroAreAsExact) {
  OutputEvaluator left(outputOf(OutputKind::numbers, {1})), right = left;
  for (int i = 0; i < 1000; ++i)
    (i % 3 ? left : right)
        .add(i, i, std::vector{16000000.0F + static_cast<float>(i % 7)},
             std::vector{16000000.0F + static_cast<float>(i % 7) + (i % 2 ? 1.0F : 0.0F)});
  right.merge(left);
  // By numpy in float64: 1 - 500 / sum of squares around the mean.
  double mean = 0, squares = 0;
  for (int i = 0; i < 1000; ++i) mean += (i % 7 + i % 2) / 1000.0;
  for (int i = 0; i < 1000; ++i) squares += std::pow(i % 7 + i % 2 - mean, 2);
  EXPECT_NEAR(right.finish().regression.r2, 1 - 500 / squares, kNear);
}

TEST(Measures, McNemarIsThatOfScipy) {
  EXPECT_NEAR(mcNemar(19, 9).pValue, 0.0871585533, kNear);
  EXPECT_NEAR(mcNemar(9, 19).pValue, 0.0871585533, kNear);
  EXPECT_NEAR(mcNemar(3, 0).pValue, 0.25, kNear);
  EXPECT_NEAR(mcNemar(1200, 1100).pValue, 0.0389899728, kNear);
  EXPECT_EQ(mcNemar(0, 0).pValue, 1);
  EXPECT_NEAR(mcNemar(5, 5).pValue, 1, kNear);
}

TEST(Measures, TwoRunsAreComparedSampleBySample) {
  const auto sample = [](std::int64_t number, bool right, bool finite = true) {
    return EvaluatedSample{.sample = number, .finite = finite, .right = right};
  };
  const std::vector before{sample(0, true), sample(1, false), sample(2, false), sample(3, true),
                           sample(4, true, false)};
  const std::vector now{sample(3, false), sample(2, true), sample(1, false),
                        sample(0, true),  sample(4, true), sample(9, true)};
  const McNemar difference = compare(before, now);
  EXPECT_EQ(difference.both, 4);
  EXPECT_EQ(difference.nowRight, 1);
  EXPECT_EQ(difference.nowWrong, 1);
}

TEST(Measures, WhatIsNotFiniteIsCountedAndNeverAveraged) {
  DrawnSamples samples = fourClasses();
  const EvaluatedOutput without = evaluated(outputOf(OutputKind::classes, {4}), samples);
  samples.push_back({{0.25F, kNaN, 0.25F, 0.25F}, {1}});
  samples.push_back({{0.25F, 0.25F, std::numeric_limits<float>::infinity(), 0.25F}, {1}});
  eachWay(outputOf(OutputKind::classes, {4}), samples, [&](const EvaluatedOutput& output) {
    EXPECT_EQ(output.notFinite, 2);
    EXPECT_EQ(output.samples, 500);
    EXPECT_NEAR(output.loss, without.loss, 1e-12);
    EXPECT_EQ(output.right, without.right);
    EXPECT_NEAR(output.macroAuc, without.macroAuc, 1e-12);
    EXPECT_NEAR(output.calibration.expectedError, without.calibration.expectedError, 1e-12);
    ASSERT_EQ(output.worst.size(), 502u);
    EXPECT_FALSE(output.worst[0].finite || output.worst[1].finite) << "they are the worst";
    EXPECT_TRUE(output.worst[2].finite);
  });
}

TEST(Measures, AClassThatTheNetworkDoesNotKnowIsRefusedWithItsRow) {
  OutputEvaluator four(outputOf(OutputKind::classes, {4}));
  for (const float truth : {4.0F, -1.0F, 1.5F}) {
    try {
      four.add(6, 6, std::vector{0.25F, 0.25F, 0.25F, 0.25F}, std::vector{truth});
      ADD_FAILURE() << truth << " is no class of four";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::badData);
      EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("row 7"), testing::HasSubstr("0 to 3")));
    }
  }
  EXPECT_THROW(four.add(0, 0, std::vector{1.0F, 0.0F, 0.0F, 0.0F}, std::vector{1.0F, 0.0F}), Error);
}

// A sequence: each position is counted, and the sample shows the position that is worst.
TEST(Measures, PositionsOfASequenceAreCountedEach) {
  OutputEvaluator all(outputOf(OutputKind::classes, {2, 3}));
  all.add(0, 0, std::vector{0.7F, 0.2F, 0.1F, 0.1F, 0.6F, 0.3F}, std::vector{0.0F, 2.0F});
  const EvaluatedOutput output = all.finish();
  EXPECT_EQ(output.samples, 1);
  EXPECT_EQ(output.items, 2);
  EXPECT_EQ(output.right, 1);
  EXPECT_NEAR(output.loss, -(std::log(0.7) + std::log(0.3)) / 2, kNear);
  EXPECT_FALSE(output.worst[0].right);
  EXPECT_EQ(output.worst[0].truth, 2);
  EXPECT_EQ(output.worst[0].predicted, 1);
  EXPECT_EQ(output.worst[0].value, 1);
}

// An autoencoder's pixels are no labels.
TEST(Measures, ChancesWhoseTruthLiesBetweenAreNumbers) {
  OutputEvaluator all(outputOf(OutputKind::chance, {2}));
  all.add(0, 0, std::vector{0.9F, 0.2F}, std::vector{1.0F, 0.0F});
  EXPECT_EQ(all.finish().kind, EvaluatedOutput::labels);
  all.add(1, 1, std::vector{0.4F, 0.2F}, std::vector{0.5F, 0.25F});
  EXPECT_EQ(all.finish().kind, EvaluatedOutput::numbers);
  EXPECT_NEAR(all.finish().regression.mae, (0.1 + 0.2 + 0.1 + 0.05) / 4, kNear);
}

}  // namespace
}  // namespace loom
