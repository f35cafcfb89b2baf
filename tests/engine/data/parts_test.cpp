// A dataset in two parts, and what the doctor says of parts that do not go together.
#include "engine/data/parts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "engine/data/balance.h"
#include "engine/data/stats.h"
#include "tests/engine/data/data_files.h"

namespace loom {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class Parts : public testing::Test {
 protected:
  // Sorted by class, as an import of class folders is.
  std::shared_ptr<const Dataset> sorted(int classes, int each) {
    std::string text = "x,y:label\n";
    for (int c = 0; c < classes; ++c)
      for (int i = 0; i < each; ++i) text += std::to_string(c * each + i) + "," + std::to_string(c) + "\n";
    return openDataset(folder.write("t.csv", text));
  }
  static std::set<std::int64_t> rowsOf(const Dataset& part) {
    std::set<std::int64_t> rows;
    for (std::int64_t row = 0; row < part.size(); ++row) rows.insert(part.sourceRow(row));
    return rows;
  }
  ScratchFolder folder;
};

TEST_F(Parts, TogetherAreTheWhole) {
  const auto whole = sorted(4, 25);
  for (const bool shuffled : {false, true}) {
    const auto rest = rowsOf(*selectPart(whole, {.share = 0.2, .shuffled = shuffled}));
    const auto held = rowsOf(*selectPart(whole, {.share = 0.2, .held = true, .shuffled = shuffled}));
    EXPECT_EQ(rest.size(), 80u);
    EXPECT_EQ(held.size(), 20u);
    for (const std::int64_t row : held) EXPECT_FALSE(rest.contains(row));
    EXPECT_EQ(held == (std::set<std::int64_t>{80, 81, 82, 83, 84, 85, 86, 87, 88, 89,
                                              90, 91, 92, 93, 94, 95, 96, 97, 98, 99}),
              !shuffled);
  }
}

TEST_F(Parts, FollowFromTheSeed) {
  const auto whole = sorted(4, 25);
  const HoldOut how{.share = 0.2, .held = true};
  HoldOut other = how;
  other.seed = 2;
  EXPECT_EQ(rowsOf(*selectPart(whole, how)), rowsOf(*selectPart(whole, how)));
  EXPECT_NE(rowsOf(*selectPart(whole, how)), rowsOf(*selectPart(whole, other)));
  EXPECT_NE(selectPart(whole, how)->contentHash(), selectPart(whole, other)->contentHash());
}

TEST_F(Parts, KeepTheShareOfEachClass) {
  const auto whole = sorted(4, 25);
  const auto held = selectPart(whole, {.share = 0.2, .held = true, .by = "y"});
  EXPECT_EQ(countClasses(*held, 1), (std::vector<std::int64_t>{5, 5, 5, 5}));
  EXPECT_EQ(countClasses(*selectPart(whole, {.share = 0.2, .by = "y"}), 1),
            (std::vector<std::int64_t>{20, 20, 20, 20}));
}

TEST_F(Parts, AreNeverEmpty) {
  EXPECT_EQ(selectPart(sorted(2, 1), {.share = 0.01, .held = true})->size(), 1);
  EXPECT_EQ(selectPart(sorted(2, 1), {.share = 0.99})->size(), 1);
  EXPECT_THAT(messageOf([&] { selectPart(sorted(1, 1), {}); }), HasSubstr("has 1 row: too few"));
  EXPECT_THAT(messageOf([&] { selectPart(sorted(2, 1), {.by = "y"}); }), HasSubstr("no class of two"));
  EXPECT_THAT(messageOf([&] { selectPart(sorted(2, 5), {.by = "z"}); }), HasSubstr("has no such column of classes"));
}

TEST_F(Parts, TellClassesThatStandInOneAlone) {
  const auto whole = sorted(5, 20);
  const auto last = [&](bool held) { return selectPart(whole, {.share = 0.2, .held = held, .shuffled = false}); };
  const auto faults = loneClasses(*last(false), "training", *last(true), "validation");
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(
      faults[0].message(),
      "column y: none of the 4 classes of training is in validation: 0, 1, 2, 3, but validation should have samples of "
      "each; split anew, shuffled and with the same share of each class");
  EXPECT_THAT(faults[1].found, HasSubstr("the one class of validation is not in training: 4"));
  const auto even = [&](bool held) { return selectPart(whole, {.share = 0.2, .held = held, .by = "y"}); };
  EXPECT_THAT(loneClasses(*even(false), "training", *even(true), "validation"), IsEmpty());
}

TEST_F(Parts, TheDoctorTellsThemOfTwoFiles) {
  const auto other = folder.write("v.csv", "x,y:label\n100,1\n101,1\n");
  const CheckReport report = checkDataset(folder.write("u.csv", "x,y:label\n1,0\n2,0\n3,0\n"), {.other = other});
  EXPECT_EQ(report.count(FaultKind::loneClass), 2);
}

TEST_F(Parts, NumbersThatVaryAreNoClasses) {
  std::string text = "x,few,cost,y:label\n";
  for (int i = 0; i < 200; ++i)
    text += std::to_string(i) + "," + std::to_string(i % 3) + "," + std::to_string(100 + i * 37 % 5053) + "," +
            std::to_string(i % 90) + "\n";
  const auto stats = measure(*openDataset(folder.write("t.csv", text)));
  EXPECT_TRUE(stats[0].classes.empty());  // a number a row
  EXPECT_EQ(stats[1].classes.size(), 3u);
  EXPECT_TRUE(stats[2].classes.empty()) << "whole numbers up to 5152 are amounts, not 5153 classes";
  EXPECT_EQ(stats[3].classes.size(), 90u);  // called a label: so it is
}

TEST(Balance, ShowsRareClassesAsOftenAsTheLargest) {
  ScratchFolder folder;
  std::string csv = "x__0,x__1,y\n";
  for (int i = 0; i < 17; ++i) csv += fmt::format("{},0,{}\n", i, i < 10 ? 0 : i < 14 ? 2 : 3);
  const std::shared_ptr<const Dataset> whole = openDataset(folder.write("t.csv", csv));
  const auto balanced = balanceClasses(whole, "y", 5), again = balanceClasses(whole, "y", 5);
  ASSERT_EQ(balanced->size(), 30);
  std::map<std::int64_t, int> times;
  for (std::int64_t row = 0; row < 30; ++row) {
    EXPECT_EQ(balanced->sourceRow(row), again->sourceRow(row));
    EXPECT_EQ(*reinterpret_cast<const float*>(balanced->read(row, 0).data()),
              static_cast<float>(balanced->sourceRow(row)));
    ++times[balanced->sourceRow(row)];
  }
  int rare = 0;
  for (const auto& [row, count] : times) {
    EXPECT_EQ(count == 1, row < 10) << row;
    EXPECT_LE(count, row < 14 ? 3 : 4) << row;
    EXPECT_GE(count, row < 10 ? 1 : row < 14 ? 2 : 3) << row;
    rare += row >= 14 ? count : 0;
  }
  EXPECT_EQ(rare, 10);
  EXPECT_EQ(times.size(), 17u);
  EXPECT_THAT(messageOf([&] { balanceClasses(whole, "z", 1); }), testing::HasSubstr("no column 'z' of classes"));
  EXPECT_THAT(messageOf([&] { balanceClasses(whole, "x", 1); }), testing::HasSubstr("no column 'x' of classes"));
}

// sklearn 1.5: compute_class_weight("balanced", classes=[0, 2, 3], y=...) of ten 0, four 2 and three 3.
TEST(Balance, WeighsClassesAsScikitLearnDoes) {
  ScratchFolder folder;
  std::string csv = "x,z,y\n";
  for (int i = 0; i < 17; ++i) csv += fmt::format("{},{},{}\n", i, i * 0.5, i < 10 ? 0 : i < 14 ? 2 : 3);
  const auto data = openDataset(folder.write("t.csv", csv));
  const std::vector<double> weights = classWeights(*data, "y");
  ASSERT_EQ(weights.size(), 4u);
  EXPECT_NEAR(weights[0], 0.5666666666666667, 1e-15);
  EXPECT_EQ(weights[1], 1);  // it does not occur
  EXPECT_NEAR(weights[2], 1.4166666666666667, 1e-15);
  EXPECT_NEAR(weights[3], 1.8888888888888888, 1e-15);
  EXPECT_TRUE(classWeights(*data, "z").empty());  // no classes
  EXPECT_TRUE(classWeights(*data, "no such").empty());
}

}  // namespace
}  // namespace loom
