// Columns of words and broken rows: told once, and mended in a copy.
#include <gmock/gmock.h>

#include "engine/data/check.h"
#include "engine/data/raw_rows.h"
#include "tests/engine/data/data_files.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RepairTest : public testing::Test {
 protected:
  std::filesystem::path flowers(int rows = 300) {
    static const char* const words[] = {"setosa", "virginica", "versi,color"};
    std::string text = "x__0,x__1,kind\n";
    for (int i = 0; i < rows; ++i)
      text += std::to_string(i) + "," + std::to_string(i % 7) + ",\"" + words[i % 3] + "\"\n";
    return folder.write("flowers.csv", text);
  }
  ScratchFolder folder;
};

TEST_F(RepairTest, AColumnOfWordsIsOneFinding) {
  const CheckReport report = checkDataset(flowers());
  ASSERT_EQ(report.errors, 1) << report.toJson().dump(2);
  EXPECT_EQ(report.faults[0].kind, FaultKind::textColumn);
  EXPECT_THAT(report.faults[0].message(),
              HasSubstr("column kind: 300 of 300 cells are words, 3 different ones: 'setosa', 'versi,color'"));
  EXPECT_EQ(report.count(FaultKind::missingFile), 0);
}

TEST_F(RepairTest, WordsInAVectorAreOneFindingToo) {
  std::string text = "x__0,x__1,y\n";
  for (int i = 0; i < 20; ++i) text += "1,red,0\n";
  const CheckReport report = checkDataset(folder.write("t.csv", text));
  EXPECT_EQ(report.count(FaultKind::textColumn), 1) << report.toJson().dump(2);
  EXPECT_EQ(report.count(FaultKind::notANumber), 0);
}

TEST_F(RepairTest, FilesThatAreMissingStayFiles) {
  const CheckReport report = checkDataset(folder.write("t.csv", "x:image,y\na/1.png,0\na/2.png,1\na/3.png,1\n"));
  EXPECT_EQ(report.count(FaultKind::missingFile), 3);
  EXPECT_EQ(report.count(FaultKind::textColumn), 0);
}

TEST_F(RepairTest, WordsBecomeClasses) {
  const auto csv = flowers(30);
  const std::string before = contentOf(csv);
  const RepairedCsv repaired = repairCsv(csv, {.encode = {{"kind", {}}}});
  EXPECT_EQ(contentOf(csv), before) << "the file itself stays as it is";
  EXPECT_EQ(repaired.csv.filename(), "flowers.clean.csv");
  EXPECT_TRUE(checkDataset(repaired.csv).ok()) << checkDataset(repaired.csv).toJson().dump(2);
  EXPECT_EQ(openDataset(repaired.csv)->size(), 30);
  EXPECT_EQ(openDataset(repaired.csv)->schema().find("kind")->label, "label");
  EXPECT_THAT(classWords(repaired.csv, "kind"), ElementsAre("setosa", "versi,color", "virginica"));
}

TEST_F(RepairTest, AnotherFileKeepsTheNumbersOfKnownWords) {
  const auto csv = folder.write("v.csv", "x,kind\n1,virginica\n2,alba\n3,setosa\n");
  const RepairedCsv repaired = repairCsv(csv, {.encode = {{"kind", {"setosa", "versi,color", "virginica"}}}});
  EXPECT_EQ(contentOf(repaired.csv), "x,kind:label\n1,2\n2,3\n3,0\n");
}

TEST_F(RepairTest, AColumnIsLeftOut) {
  const RepairedCsv repaired = repairCsv(flowers(10), {.leaveOut = {"kind"}});
  EXPECT_TRUE(checkDataset(repaired.csv).ok());
  EXPECT_EQ(openDataset(repaired.csv)->schema().variables.size(), 1u);
}

TEST_F(RepairTest, BrokenRowsAreSkippedAndTheGoodOnesStay) {
  const auto csv = folder.write("t.csv", "x,y:label\n1,0\n\ncat,1\n3\n4,1\nnan,0\n");
  const RepairedCsv repaired = repairCsv(csv, {.skipFaulty = true});
  EXPECT_EQ(repaired.skipped, 3);
  EXPECT_EQ(contentOf(repaired.csv), "x,y:label\n1,0\n4,1\n");
  const RepairedCsv again = repairCsv(repaired.csv, {.skipFaulty = true});
  EXPECT_EQ(again.csv.filename(), "t.clean2.csv");
  EXPECT_THAT(messageOf([&] { repairCsv(folder.write("bad.csv", "x,y\na,b\nc,d\n"), {.skipFaulty = true}); }),
              HasSubstr("every row of bad.csv has a fault"));
}

}  // namespace
}  // namespace loom
