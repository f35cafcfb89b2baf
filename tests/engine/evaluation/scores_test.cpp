// Scores beyond the limit are counted in bins: nearly the same curves, told, and the same however they come.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/engine/evaluation/drawn_samples.h"

namespace loom {
namespace {

constexpr EvaluationLimits kSmall{.exactScores = 600, .bins = 65536, .binnedClasses = 256, .samples = 40};

TEST(Scores, CurvesFromBinsAreNearlyTheExactOnesHoweverTheyCome) {
  const PredictedOutput output = outputOf(OutputKind::classes, {4});
  const EvaluatedOutput exact = evaluated(output, fourClasses());
  const EvaluatedOutput first = evaluated(output, fourClasses(), 1, 0, kSmall);
  EXPECT_FALSE(first.exactCurves);
  for (int ranks = 1; ranks <= 3; ++ranks)
    for (unsigned seed = 0; seed < 4; ++seed) {
      const EvaluatedOutput binned = evaluated(output, fourClasses(), ranks, seed, kSmall);
      EXPECT_FALSE(binned.exactCurves);
      for (std::size_t c = 0; c < 4; ++c) {
        // A pair of so few samples that falls into one bin is 8e-6 of the area.
        EXPECT_NEAR(binned.curves[c].curve.auc, exact.curves[c].curve.auc, 5e-5);
        EXPECT_DOUBLE_EQ(binned.curves[c].curve.auc, first.curves[c].curve.auc) << "whatever the order";
        EXPECT_EQ(binned.curves[c].curve.positives, exact.curves[c].curve.positives);
      }
      ASSERT_TRUE(binned.temperature);
      EXPECT_NEAR(binned.temperature->value, first.temperature->value, 1e-9);
      EXPECT_EQ(binned.temperature->samples, first.temperature->samples);
      EXPECT_LT(binned.temperature->samples, 500) << "it says from how many it was fitted";
      EXPECT_NEAR(binned.loss, exact.loss, 1e-9) << "sums are never thinned";
    }
}

TEST(Scores, ManyClassesBeyondTheLimitHaveNoCurvesAndSaySo) {
  EvaluationLimits limits = kSmall;
  limits.binnedClasses = 3;
  const EvaluatedOutput output = evaluated(outputOf(OutputKind::classes, {4}), fourClasses(), 2, 1, limits);
  EXPECT_TRUE(output.curves.empty());
  EXPECT_NE(output.noCurves.find("4 classes"), std::string::npos);
  EXPECT_TRUE(std::isnan(output.macroAuc));
  EXPECT_EQ(output.right, 411);
}

TEST(Scores, BinsReachFromAlmostNothingToAlmostSure) {
  const ScoreTable table(1, Question::eachItsOwn);
  EXPECT_EQ(table.binOf(0), 0);
  EXPECT_EQ(table.binOf(1), 65535);
  int last = -1;
  for (const float score : {0.0F, 1e-30F, 1e-9F, 1e-8F, 1e-3F, 0.499F, 0.5F, 0.502F, 0.9F, 0.9999F, 0.999999F, 1.0F}) {
    const int bin = table.binOf(score);
    EXPECT_GE(bin, last) << score;
    EXPECT_TRUE(bin > last || score <= 1e-9F) << score;
    EXPECT_LE(table.lowerEdge(bin), score + 1e-7F);
    last = bin;
  }
}

TEST(Scores, ACurveIsThinnedAndKeepsItsAreaAndItsEnds) {
  ScoreTable table(1, Question::eachItsOwn);
  Drawn drawn(3);
  for (int i = 0; i < 20000; ++i) {
    const std::int32_t truth = drawn.next(2);
    const float score = static_cast<float>(drawn.next(10000) + truth * 5000) / 20000.0F;
    table.add(i, std::span(&score, 1), std::span(&truth, 1));
  }
  const ScoreCurve whole = table.curve(0), thin = table.curve(0, 400);
  EXPECT_DOUBLE_EQ(thin.auc, whole.auc);
  EXPECT_DOUBLE_EQ(thin.averagePrecision, whole.averagePrecision);
  EXPECT_LE(thin.points.size(), 402u);
  EXPECT_GT(thin.points.size(), 100u);
  EXPECT_GT(whole.points.size(), 5000u);
  EXPECT_EQ(thin.points.back().truePositives, 1);
  EXPECT_EQ(thin.points.back().falsePositives, 1);
}

// As many as there would be, bins are as good as all scores.
TEST(Scores, BinsOfManySamplesAreExactToAMillionth) {
  ScoreTable exact(1, Question::eachItsOwn), binned(1, Question::eachItsOwn, {.exactScores = 1000});
  Drawn drawn(5);
  for (int i = 0; i < 200000; ++i) {
    const std::int32_t truth = drawn.next(4) == 0;
    const double logit =
        (drawn.next(20000) + drawn.next(20000) - 20000 + truth * 9000 + drawn.next(30000) / 30000.0) / 2500.0;
    const auto score = static_cast<float>(1 / (1 + std::exp(-logit)));
    exact.add(i, std::span(&score, 1), std::span(&truth, 1));
    binned.add(i, std::span(&score, 1), std::span(&truth, 1));
  }
  EXPECT_TRUE(exact.exact());
  EXPECT_FALSE(binned.exact());
  EXPECT_NEAR(binned.curve(0).auc, exact.curve(0).auc, 1e-6);
  EXPECT_NEAR(binned.curve(0).averagePrecision, exact.curve(0).averagePrecision, 1e-6);
}

TEST(Scores, TheWorstSamplesAreKeptHoweverTheyCome) {
  const PredictedOutput output = outputOf(OutputKind::classes, {4});
  const EvaluatedOutput all = evaluated(output, fourClasses());
  for (int ranks = 1; ranks <= 3; ++ranks)
    for (unsigned seed = 0; seed < 4; ++seed) {
      const EvaluatedOutput few = evaluated(output, fourClasses(), ranks, seed, kSmall);
      ASSERT_EQ(few.worst.size(), 40u);
      for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(few.worst[i].sample, all.worst[i].sample);
    }
}

TEST(Scores, SamplesAreChosenByCellByDoubtAndByFault) {
  const EvaluatedOutput output = evaluated(outputOf(OutputKind::classes, {4}), fourClasses());
  const auto cell = choose(output.worst, {.truth = 1, .predicted = 2});
  EXPECT_EQ(cell.size(), 10u) << "as the matrix says";
  double before = 1e9;
  for (const std::size_t place : cell) {
    EXPECT_EQ(output.worst[place].truth, 1);
    EXPECT_EQ(output.worst[place].predicted, 2);
    EXPECT_LE(output.worst[place].loss, before);
    before = output.worst[place].loss;
  }
  EXPECT_EQ(choose(output.worst, {.truth = 3}).size(), 59u);
  EXPECT_EQ(choose(output.worst, {.wrongOnly = true}).size(), 89u);
  const auto unsure = choose(output.worst, {.order = SampleChoice::leastSure});
  ASSERT_EQ(unsure.size(), 500u);
  EXPECT_LT(output.worst[unsure.front()].margin(), 0.01);
  EXPECT_GE(output.worst[unsure.back()].margin(), output.worst[unsure[250]].margin());
}

TEST(Scores, AMatrixOfThousandsOfClassesKeepsWhatIsThere) {
  constexpr std::int64_t kClasses = 5000;
  ConfusionMatrix one(kClasses), two(kClasses);
  for (int i = 0; i < 3000; ++i) (i % 2 ? one : two).add(i, (i * 7) % kClasses);
  one.add(4999, 0, 3);
  two.merge(one);
  EXPECT_EQ(two.total(), 3003);
  EXPECT_EQ(two.at(4999, 0), 3);
  EXPECT_EQ(two.at(4999, 1), 0);
  EXPECT_EQ(two.cells().size(), 3001u);
  EXPECT_EQ(two.right(), 2) << "classes 0 and 2500";
}

}  // namespace
}  // namespace loom
