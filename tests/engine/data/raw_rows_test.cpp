// Columns of words are told once; the words of classes stand beside the file.
#include "engine/data/raw_rows.h"

#include <gmock/gmock.h>

#include "engine/data/check.h"
#include "tests/engine/data/data_files.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RawRowsTest : public testing::Test {
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

TEST_F(RawRowsTest, AColumnOfWordsIsOneFinding) {
  const CheckReport report = checkDataset(flowers());
  ASSERT_EQ(report.errors, 1) << report.toJson().dump(2);
  EXPECT_EQ(report.faults[0].kind, FaultKind::textColumn);
  EXPECT_THAT(report.faults[0].message(),
              HasSubstr("column kind: 300 of 300 cells are words, 3 different ones: 'setosa', 'versi,color'"));
  EXPECT_EQ(report.count(FaultKind::missingFile), 0);
}

TEST_F(RawRowsTest, WordsInAVectorAreOneFindingToo) {
  std::string text = "x__0,x__1,y\n";
  for (int i = 0; i < 20; ++i) text += "1,red,0\n";
  const CheckReport report = checkDataset(folder.write("t.csv", text));
  EXPECT_EQ(report.count(FaultKind::textColumn), 1) << report.toJson().dump(2);
  EXPECT_EQ(report.count(FaultKind::notANumber), 0);
}

TEST_F(RawRowsTest, FilesThatAreMissingStayFiles) {
  const CheckReport report = checkDataset(folder.write("t.csv", "x:image,y\na/1.png,0\na/2.png,1\na/3.png,1\n"));
  EXPECT_EQ(report.count(FaultKind::missingFile), 3);
  EXPECT_EQ(report.count(FaultKind::textColumn), 0);
}

TEST_F(RawRowsTest, WordsOfClassesStandBesideTheFile) {
  const auto csv = flowers(3);
  EXPECT_THAT(classWords(csv, "kind"), IsEmpty());
  folder.write("classes.txt", "cat\r\ndog\n");
  EXPECT_THAT(classWords(csv, "kind"), ElementsAre("cat", "dog"));
  folder.write("flowers.kind.classes.txt", "setosa\nversi,color\n");
  EXPECT_THAT(classWords(csv, "kind"), ElementsAre("setosa", "versi,color"));
  EXPECT_THAT(classWords(csv, "other"), ElementsAre("cat", "dog"));
}

// Only the cells that are meant differ; the text is UTF-8 behind it.
TEST_F(RawRowsTest, CellsAreWrittenAnewAndAllElseStays) {
  const auto csv = folder.write(
      "a.csv", "sep=;\r\nfile:image;note;y\r\nold/1.png;\"a;\"\"b\"\"\";0,5\r\n\r\nold/2.png;;1\r\n\"old/3.png\";x;2");
  const auto out = folder.path() / "out" / "b.csv";
  std::filesystem::create_directories(out.parent_path());
  rewriteCells(
      csv, {}, {"file"}, [](const std::string& cell) { return "new;" + cell.substr(4); }, out);
  EXPECT_EQ(contentOf(out),
            "file:image;note;y\r\n\"new;1.png\";\"a;\"\"b\"\"\";0,5\r\n\"new;2.png\";;1\r\n\"new;3.png\";x;2\n");
  EXPECT_THAT(messageOf([&] {
                rewriteCells(
                    csv, {}, {"none"}, [](const std::string& cell) { return cell; }, out);
              }),
              HasSubstr("a.csv has no column none"));
}

}  // namespace
}  // namespace loom
