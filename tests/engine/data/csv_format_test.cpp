// Separators, decimal marks and encodings of the world's CSV files, recognised, reported and overridden.
#include "engine/data/csv_format.h"

#include <gmock/gmock.h>

#include "engine/data/check.h"
#include "engine/data/dataset.h"
#include "tests/engine/data/data_files.h"

namespace loom {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Formats : public testing::Test {
 protected:
  std::string formatOf(const std::string& text) { return recogniseCsv(folder.write("t.csv", text)).text(); }
  // The numbers of all variables, row by row.
  std::vector<float> numbersOf(const std::string& text, const CsvFormatChoice& choice = {}) {
    OpenOptions options;
    options.format = choice;
    const auto dataset = openDataset(folder.write("t.csv", text), options);
    std::vector<float> numbers;
    for (std::int64_t row = 0; row < dataset->size(); ++row)
      for (std::size_t v = 0; v < dataset->schema().variables.size(); ++v)
        numbers.push_back(*reinterpret_cast<const float*>(dataset->read(row, v).data()));
    return numbers;
  }
  static std::string asUtf16(const std::string& text, bool big, bool mark) {
    std::string wide = !mark ? "" : big ? "\xfe\xff" : "\xff\xfe";
    for (const char c : text) {
      if (big) wide += '\0';
      wide += c;
      if (!big) wide += '\0';
    }
    return wide;
  }
  ScratchFolder folder;
};

TEST_F(Formats, AreRecognisedAndRead) {
  const std::vector<float> wanted = {1.5F, 2000, -3.25F, 4};
  EXPECT_EQ(numbersOf("a,b\n1.5,2000\n-3.25,4\n"), wanted);
  EXPECT_EQ(numbersOf("a;b\n1,5;2000\n-3,25;4\n"), wanted);
  EXPECT_EQ(numbersOf("a\tb\r\n1.5\t2000\r\n-3.25\t4\r\n"), wanted);
  EXPECT_EQ(numbersOf("a;b\n1,5;2.000\n-3,25;4\n"), wanted);
  EXPECT_EQ(numbersOf("a,b\n1.5,\"2,000\"\n-3.25,4\n"), wanted);
  EXPECT_EQ(numbersOf("a;b\n1.5;2'000\n-3.25;4\n"), wanted);
  EXPECT_EQ(numbersOf("a;b\n1,5;2\xc2\xa0"
                      "000\n-3,25;4\n"),
            wanted);
  EXPECT_EQ(numbersOf("sep=;\r\na;b\r\n1,5;2000\r\n-3,25;4\r\n"), wanted);
  EXPECT_EQ(numbersOf("\xef\xbb\xbf"
                      "a,b\n1.5,2000\n-3.25,4\n"),
            wanted);
  EXPECT_EQ(numbersOf("gr\xf6\xdf"
                      "e,b\n1.5,2000\n-3.25,4\n"),
            wanted);
  for (const bool big : {false, true})
    for (const bool mark : {false, true})
      EXPECT_EQ(numbersOf(asUtf16("a;b\r\n1,5;2000\r\n-3,25;4\r\n", big, mark)), wanted);
  EXPECT_EQ(formatOf("sep=;\na;b\n1,5;2.000\n"),
            "semicolons, decimal comma, a point between thousands, UTF-8, a line sep= before the header");
  EXPECT_EQ(formatOf("gr\xf6\xdf"
                     "e\tb\n1\t2\n"),
            "tabs, Windows-1252");
  EXPECT_EQ(formatOf("x:image,y:label\na.png,1\n"), "commas, UTF-8");
}

TEST_F(Formats, AreOverridden) {
  EXPECT_EQ(numbersOf("a;b\n1,500;2\n"), (std::vector<float>{1.5F, 2}));
  EXPECT_EQ(numbersOf("a;b\n1,500;2\n", {.decimal = "point", .thousands = "comma"}), (std::vector<float>{1500, 2}));
  EXPECT_EQ(numbersOf("1,2\n3,4\n", {.header = false}), (std::vector<float>{1, 2, 3, 4}));
}

TEST_F(Formats, PercentsAreNumbers) {
  const std::vector<float> wanted = {12, 1, 12.5F, 2, -0.5F, 3};
  EXPECT_EQ(numbersOf("a,b\n12 %,1\n12.5%,2\n-0.5 %,3\n"), wanted);
  EXPECT_EQ(numbersOf("a;b\n12\xc2\xa0%;1\n12,5 %;2\n\"-0,5 %\";3\n"), wanted);
  EXPECT_EQ(formatOf("a;b\n12 %;1\n12,5 %;2\n"), "semicolons, decimal comma, percents in column 1, UTF-8");
  // Holes are none of a column's numbers, and words are no percents.
  EXPECT_EQ(formatOf("a,b,c\n12 %,10 %,yes\n,off,no\nNA,off,%\n"), "commas, percents in column 1, UTF-8");
  // A mix is no number, whichever is rarer: 0.12 may mean 12 %.
  const auto problem = [&](const std::string& text) { return messageOf([&] { numbersOf(text); }); };
  EXPECT_THAT(problem("a,b\n12 %,1\n13 %,2\n0.5,3\n"), HasSubstr("t.csv line 4, column a: the cell is '0.5'"));
  EXPECT_THAT(problem("a,b\n12,1\n13,2\n50 %,3\n"), HasSubstr("the cell is '50 %'"));
  EXPECT_THAT(problem("a,b\n12 %,1\n%,2\n13 %,3\n"), HasSubstr("line 3, column a"));
}

TEST_F(Formats, NamesThatLeadAstrayAreWarnedOf) {
  const auto told = [&](const std::string& text) {
    const CheckReport report = checkDataset(folder.write("t.csv", text));
    EXPECT_TRUE(report.ok()) << report.toJson().dump(2);
    std::string all;
    for (const Fault& fault : report.faults)
      if (fault.severity == FaultSeverity::warning) all += fault.message() + "\n";
    return all;
  };
  EXPECT_THAT(told("x__0, x__1, y:label\n1, 2, 0\n3, 4, 1\n"), HasSubstr("the name ' x__1' begins with a blank"));
  EXPECT_THAT(told("1,2,0\n3,4,1\n5,6,0\n"), HasSubstr("the first line looks like a row"));
  EXPECT_THAT(told("x__0,\xe2\x80\x8by\n1,0\n2,1\n"), HasSubstr("holds the letter U+200B"));
  EXPECT_THAT(told("a;b\n850;1\n1.234;2\n12.345;3\n5.678;4\n"), HasSubstr("1234 is rather meant"));
  EXPECT_THAT(told("a;b\n850;1\n1.234;2\n12.345;3\n5.67;4\n"), Not(HasSubstr("rather meant")));
  EXPECT_THAT(told("a;b\n0.850;1\n1.234;2\n12.345;3\n5.678;4\n"), Not(HasSubstr("rather meant")));
  EXPECT_THAT(told("a;b\n1850;1\n1.234;2\n12.345;3\n5.678;4\n"), Not(HasSubstr("rather meant")));
  EXPECT_THAT(told("a,b,a\n1,0,3\n2,1,4\n"),
              AllOf(HasSubstr("2 columns have the name 'a': column 1 is called 'a_1' here"),
                    HasSubstr("column 3 is called 'a_2' here")));
  EXPECT_THAT(told(",b\n1,0\n2,1\n"), HasSubstr("column 1, which has no name, is called 'c1' here"));
  EXPECT_EQ(told("sep=,\r\nx__0,y:label\r\n1,0\r\n2,1\r\n"), "");
}

}  // namespace
}  // namespace loom
