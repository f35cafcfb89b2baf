// Datasets in Neural Network Console's convention: what is read, and how every fault is told.
#include <gmock/gmock.h>

#include "engine/data/csv_blocks.h"
#include "engine/data/csv_rows.h"
#include "tests/engine/data/data_files.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Csv : public testing::Test {
 protected:
  std::unique_ptr<Dataset> open(std::string_view text, const std::string& name = "t.csv") {
    return openDataset(folder.write(name, text));
  }
  std::string errorOf(std::string_view text) {
    return messageOf([&] { open(text); });
  }
  static std::vector<float> cells(const Dataset& dataset, std::int64_t row, std::size_t variable) {
    const auto raw = dataset.read(row, variable);
    const auto* values = reinterpret_cast<const float*>(raw.data());
    return {values, values + raw.size() / sizeof(float)};
  }
  ScratchFolder folder;
};

TEST_F(Csv, ReadsVectorsScalarsAndLabels) {
  const auto dataset = open("x__0:length,#comment,x__1:width,y:label\n1,ignored,2.5,0\n-3e-2,,4,1\n");
  const Schema& schema = dataset->schema();
  ASSERT_EQ(schema.variables.size(), 2u);
  EXPECT_EQ(schema.variables[0].kind, VariableKind::vector);
  EXPECT_EQ(schema.variables[0].shape, (Shape{2}));
  EXPECT_THAT(schema.variables[0].elementLabels, ElementsAre("length", "width"));
  EXPECT_EQ(schema.variables[1].label, "label");
  EXPECT_EQ(schema.indexOf("y"), 1);
  EXPECT_EQ(schema.find("z"), nullptr);
  ASSERT_EQ(dataset->size(), 2);
  EXPECT_THAT(cells(*dataset, 0, 0), ElementsAre(1, 2.5f));
  EXPECT_THAT(cells(*dataset, 1, 0), ElementsAre(-0.03f, 4));
  EXPECT_THAT(cells(*dataset, 1, 1), ElementsAre(1));
}

TEST_F(Csv, SplitsTheHeaderOnceAtEachMark) {
  const auto dataset = open("a__0:b:c__1,a__1\n1,2\n");
  EXPECT_EQ(dataset->schema().variables[0].name, "a");
  EXPECT_THAT(dataset->schema().variables[0].elementLabels, ElementsAre("b:c__1", ""));
}

TEST_F(Csv, TakesByteOrderMarkCarriageReturnsQuotesAndAMissingLastLineBreak) {
  const auto dataset = open("\xef\xbb\xbf\"x__0:a,b\",x__1,y\r\n\"1.5\",\"2\",3\r\n\r\n4,5,\"6\"");
  EXPECT_EQ(dataset->schema().variables[0].elementLabels[0], "a,b");
  ASSERT_EQ(dataset->size(), 2);
  EXPECT_THAT(cells(*dataset, 0, 0), ElementsAre(1.5f, 2));
  EXPECT_THAT(cells(*dataset, 1, 0), ElementsAre(4, 5));
  EXPECT_THAT(cells(*dataset, 1, 1), ElementsAre(6));
}

TEST_F(Csv, OrdersAVectorByIndexWhereverItsColumnsStand) {
  const auto dataset = open("x__2,y,x__0,#x__3,x__1\n30,7,10,99,20\n");
  EXPECT_THAT(cells(*dataset, 0, 0), ElementsAre(10, 20, 30));
}

TEST_F(Csv, ReadsTheSameInBlocksOfAnySize) {
  std::string text = "x__0,\"x__1:with \"\"quotes\"\"\",y\n";
  for (int i = 0; i < 500; ++i) text += fmt::format("{},\"{}\",{}\n{}", i, i * 0.25, i % 7, i % 50 == 0 ? "\r\n" : "");
  const auto file = folder.write("t.csv", text);
  for (std::size_t bytes : {std::size_t{64}, std::size_t{100}, std::size_t{4096}, std::size_t{1} << 20}) {
    for (std::int64_t records : {std::int64_t{1}, std::int64_t{3}, INT64_MAX}) {
      CsvBlockReader reader(file, bytes);
      CsvBlock block;
      std::string whole;
      std::int64_t line = 1;
      while (reader.next(block, records)) {
        EXPECT_EQ(block.line, line);
        line += block.lines;
        whole += block.text();
        EXPECT_EQ(block.text().back(), '\n');
        EXPECT_EQ(block.end, static_cast<std::int64_t>(whole.size()));
      }
      EXPECT_TRUE(whole == text) << bytes << " bytes, " << records << " records";
    }
  }
}

TEST_F(Csv, KeepsRowsTogetherWhoseQuotesSpanLinesAndBlocks) {
  folder.write("a\nb.csv", "1\n");
  folder.write("plain.csv", "2\n");
  std::string text = "x,y\n";
  for (int i = 0; i < 200; ++i) text += i % 2 ? "plain.csv,1\n" : "plain.csv,\"1\"\n";
  const auto file = folder.write("t.csv", text + "\"a\nb.csv\",0\n");
  EXPECT_THAT(messageOf([&] { openDataset(file); }), HasSubstr("t.csv line 202, column x: the cell is 'a\\x0ab.csv'"));
}

// No name means two columns, and none is taken for another.
TEST_F(Csv, GivesEachColumnANameOfItsOwn) {
  const auto names = [&](const std::string& header) {
    std::string text;
    const auto dataset = open(header + "\n1,2,3,4\n");
    for (const Variable& each : dataset->schema().variables) text += each.name + ' ';
    return text;
  };
  EXPECT_EQ(names("x,y,x,z"), "x_1 y x_2 z ");
  EXPECT_EQ(names("x,x,x_2,x"), "x_1 x_3 x_2 x_4 ");
  EXPECT_EQ(names("x:a,x:label,y,y:label"), "x_1 x_2 y_1 y_2 ");
  EXPECT_EQ(names("x,, ,c2"), "x c3 c4 c2 ");
  EXPECT_EQ(names("x,#x,#x,y"), "x y ");
}

TEST_F(Csv, TellsFaultsOfTheHeader) {
  EXPECT_THAT(errorOf(""), HasSubstr("is empty"));
  EXPECT_THAT(errorOf("x,y\n"), HasSubstr("has a header but no samples"));
  EXPECT_THAT(errorOf("x,y,\n1,2,\n"), HasSubstr("t.csv line 2, column c3: the cell is empty"));
  EXPECT_THAT(errorOf(":image,y\n1,2\n"), HasSubstr("names no variable"));
  EXPECT_THAT(errorOf("x__0,x\n1,2\n"), HasSubstr("stands in several columns"));
  EXPECT_THAT(errorOf("x__0,x__0\n1,2\n"), HasSubstr("x__0 stands twice"));
  EXPECT_THAT(errorOf("my__feature,y\n1,2\n"),
              HasSubstr("after '__' stands 'feature', but an index 0, 1, 2 ... belongs there"));
  EXPECT_THAT(errorOf("x,y\r1,2\r"), HasSubstr("the lines end with CR alone"));
  EXPECT_THAT(errorOf(std::string_view("x\0,y\n1,2\n", 9)), HasSubstr("'x\\x00'"));
  EXPECT_THAT(errorOf("#x,#y\n1,2\n"), HasSubstr("names no variable"));
  EXPECT_THAT(errorOf("\"x,y\n1,2\n"), HasSubstr("a quote in the header is never closed"));
  EXPECT_THAT(errorOf("\x89PNG\r\n\x1a\n"), HasSubstr("is a PNG image"));
  EXPECT_THAT(errorOf("PK\x03\x04xl/workbook"), HasSubstr("is a ZIP or Excel file"));
  EXPECT_THAT(messageOf([&] { openDataset(folder.path()); }), HasSubstr("is a folder"));
  EXPECT_THAT(messageOf([&] { openDataset(folder.path() / "none.csv"); }), HasSubstr("there is no such file"));
}

TEST_F(Csv, TellsFaultsOfRowsWithLineColumnAndRemedy) {
  EXPECT_THAT(errorOf("x,y\n1,2\n3\n"),
              HasSubstr("t.csv line 3: the row has 1 cells, but the header has 2; fill the missing cells"));
  EXPECT_THAT(errorOf("x,y\n1,2\n\n3,4,5\n"), HasSubstr("t.csv line 4: the row has 3 cells"));
  EXPECT_THAT(errorOf("x,y\n1,2\n3,cat\n"),
              HasSubstr("t.csv line 3, column y: the cell is 'cat', but a number is needed"));
  EXPECT_THAT(errorOf("x,y:label\n1,2\n,4\n"), HasSubstr("line 3, column x: the cell is empty"));
  EXPECT_THAT(errorOf("x,y\n1,2\n1,NaN\n"),
              HasSubstr("line 3, column y: the cell is 'NaN', but training needs finite numbers"));
  EXPECT_THAT(errorOf("x,y\n1,2\n1,-inf\n"), HasSubstr("'-inf'"));
  EXPECT_THAT(errorOf("x,y\n1,2\n1,1e39\n"), HasSubstr("float32 ends at 3.4e38"));
  EXPECT_THAT(errorOf("x,y\n1.5,2\n\"2,5\",3\n"), HasSubstr("write decimals with a point"));
  EXPECT_THAT(errorOf("x,y\n1,2\n\"3,4\n"), HasSubstr("line 3: a quote is opened and never closed"));
  EXPECT_THAT(errorOf("x,y\ncat,2\n"),
              HasSubstr("line 2, column x: 'cat' is neither a number nor a file that is there"));
  EXPECT_THAT(errorOf("x,y\na/b.png,2\n"), HasSubstr("there is no file"));
  EXPECT_THAT(errorOf("x,y\nhttps://host/b.png,2\n"), HasSubstr("download it"));
  EXPECT_THAT(errorOf(std::string_view("x,y\n1,2\n1\0,3\n", 13)), HasSubstr("the cell is '1\\x00'"));
  folder.write("a.csv", "1,2\n3,4\n");
  folder.write("b.csv", "1,2,3\n");
  folder.write("c.npy", "no array");
  folder.write("d.psd", "8BPS");
  EXPECT_THAT(errorOf("x,y\na.csv,2\nb.csv,3\n"),
              HasSubstr("'b.csv' has the shape 1×3, but the first row has 2×2, and only the first extent may differ"));
  EXPECT_THAT(errorOf("x,y\na.csv,2\n7,3\n"), HasSubstr("the cell is the number '7', but the rows before name files"));
  EXPECT_THAT(errorOf("x,y\n7,2\n./a.csv,3\n"), HasSubstr("let all cells of a column be files, or all numbers"));
  EXPECT_THAT(errorOf("x,y\nc.npy,2\n"), HasSubstr("its name ends in .npy: a NumPy array is needed"));
  EXPECT_THAT(errorOf("x,y\nd.psd,2\n"), HasSubstr("the name ends in '.psd', but files of samples end in .png"));
}

// The first fault of the file is told, whatever thread meets which one first.
TEST_F(Csv, TellsTheFirstFaultOfMany) {
  std::string text = "x__0,x__1\n";
  for (int i = 2; i < 200000; ++i) text += i >= 90000 && i % 1000 == 0 ? "1,bad\n" : "1.25,2.5\n";
  const auto file = folder.write("t.csv", text);
  for (int threads : {1, 2, 4})
    EXPECT_THAT(messageOf([&] { openDataset(file, {.threads = threads}); }),
                HasSubstr("t.csv line 90000, column x__1: the cell is 'bad'"));
}

TEST_F(Csv, RefusesALineWithoutEndAndKeepsMemorySmall) {
  // 2 GB that take no room on the disk: a file with a hole.
  const auto hole = folder.write("hole.csv", "x,y\n1,2\n");
  std::filesystem::resize_file(hole, std::uintmax_t{2} << 30);
  EXPECT_THAT(messageOf([&] { openDataset(hole); }),
              HasSubstr("hole.csv line 3: the line goes on for more than 67 MB"));
  std::string text = "x,y\n1,2\n\"";
  text.append(std::size_t{70} << 20, 'a');
  EXPECT_THAT(errorOf(text), HasSubstr("a quote that is opened here is never closed"));
}

TEST_F(Csv, PeeksAtTheSchemaWithoutReadingOn) {
  const auto file = folder.write("t.csv", "x__0,x__1,y:label\n1,2,3\nbroken\n");
  const Schema schema = peekSchema(file);
  EXPECT_EQ(schema.variables[0].shape, (Shape{2}));
  EXPECT_EQ(schema.variables[1].kind, VariableKind::scalar);
}

TEST_F(Csv, AnswersRangesOfRows) {
  const std::shared_ptr<const Dataset> dataset = open("x\n0\n1\n2\n3\n4\n");
  const auto last = selectRows(dataset, -2);
  EXPECT_EQ(last->size(), 2);
  EXPECT_THAT(cells(*last, 0, 0), ElementsAre(3));
  EXPECT_EQ(selectRows(dataset, 1, 3)->size(), 3);
  EXPECT_EQ(selectRows(dataset, 0), dataset);
  EXPECT_THAT(messageOf([&] { selectRows(dataset, 3, 5); }),
              HasSubstr("rows 3 to 8 are wanted, but the dataset has 5"));
  EXPECT_THAT(messageOf([&] { selectRows(dataset, 5); }), HasSubstr("no row is left"));
  EXPECT_THAT(messageOf([&] { selectRows(dataset, -6); }), HasSubstr("but the dataset has 5"));
}

}  // namespace
}  // namespace loom
