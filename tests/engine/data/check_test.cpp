// checkDataset() reports every fault of a file, counted exactly, with line, column and remedy.
#include "engine/data/check.h"

#include <gmock/gmock.h>

#include "engine/data/write_png.h"
#include "tests/engine/data/data_files.h"
#include "tests/engine/data/sample_files.h"

namespace loom {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class Check : public testing::Test {
 protected:
  CheckReport check(std::string_view text, CheckOptions options = {}) {
    return checkDataset(folder.write("t.csv", text), options);
  }
  static std::vector<std::string> messages(const CheckReport& report, FaultKind kind) {
    std::vector<std::string> all;
    for (const Fault& fault : report.faults) {
      if (fault.kind == kind) all.push_back(fault.message());
    }
    return all;
  }
  void image(const std::string& name, int value, std::int64_t side = 2) {
    writePng(folder.path() / name, std::vector<std::byte>(static_cast<std::size_t>(side * side), std::byte(value)),
             Shape{1, side, side});
  }
  ScratchFolder folder;
};

TEST_F(Check, FindsNothingInAGoodOne) {
  const auto report = check("x__0,x__1,y:label\n1,2,0\n3,4,1\n5,6,0\n");
  EXPECT_TRUE(report.ok());
  EXPECT_TRUE(report.faults.empty()) << report.toJson().dump(2);
  EXPECT_EQ(report.rows, 3);
  EXPECT_EQ(report.schema.variables.size(), 2u);
}

// As the dataset says that it is written, and the other part too: who chose the mark of thousands is not told to.
TEST_F(Check, ReadsTheFileAsItIsSaidToBe) {
  std::string text;
  for (int i = 1; i < 40; ++i) text += fmt::format("{};{}.{:03}\n", 100 + i, i, i);
  EXPECT_EQ(check(text).rows, 38) << "its first line is a header unless told";
  const CsvFormatChoice bare{.thousands = "point", .header = false};
  const CheckReport told = check(text, {.format = bare});
  EXPECT_EQ(told.rows, 39);
  EXPECT_TRUE(told.faults.empty()) << told.toJson().dump(2);
  const CheckReport twice =
      check(text, {.other = folder.write("other.csv", text), .format = bare, .otherFormat = bare});
  EXPECT_EQ(twice.count(FaultKind::sharedSample), 39) << twice.toJson().dump(2);
  const CheckReport words = check("1,ham\n2,spam\n3,ham\n", {.format = {.header = false}});
  EXPECT_THAT(messages(words, FaultKind::textColumn), ElementsAre(HasSubstr("3 of 3 cells are words")));
  EXPECT_EQ(words.errors, 1) << words.toJson().dump(2);
}

// A word for nothing in the first cell is neither a file nor what says of which kind the column is.
TEST_F(Check, AWordForNothingIsNoFile) {
  const CheckReport report = check("a,y:label\nN/A,0\n11.18,1\n12,0\n?,1\n");
  EXPECT_EQ(report.count(FaultKind::mixedKinds), 0) << report.toJson().dump(2);
  EXPECT_EQ(report.count(FaultKind::missingFile), 0);
  image("one.png", 3);
  image("two.png", 4);
  const CheckReport pictures = check("x,y:label\nN/A,0\none.png,1\ntwo.png,0\n");
  EXPECT_EQ(pictures.count(FaultKind::emptyCell), 1) << pictures.toJson().dump(2);
  EXPECT_EQ(pictures.errors, 1);
}

// Words in another column, which a step will encode, hide nothing of the pictures.
TEST_F(Check, SizesOfPicturesAreToldBesideWords) {
  image("one.png", 3);
  image("two.png", 4, 3);
  image("three.png", 5);
  const CheckReport report = check("file,shape\none.png,round\ntwo.png,square\nthree.png,round\nnone.png,round\n");
  ASSERT_EQ(report.count(FaultKind::mixedShapes), 1) << report.toJson().dump(2);
  EXPECT_THAT(messages(report, FaultKind::mixedShapes)[0], HasSubstr("2×2 to 3×3 pixels"));
}

TEST_F(Check, ReportsAllFaultsNotTheFirst) {
  const auto report =
      check("x__0,x__2,y:label\n1,2,0\ncat,3\nnan,4,1\n,5,1\n6,7,1.5\n8,9,-1\n10,1e99,0\n11,dog,1\n\n12,13,0\n");
  EXPECT_THAT(
      messages(report, FaultKind::raggedRow),
      ElementsAre("line 3: the row has 2 cells, but the header has 3; fill the missing cells or remove the row"));
  EXPECT_THAT(messages(report, FaultKind::notANumber),
              ElementsAre(HasSubstr("line 3, column x__0: the cell is 'cat'"),
                          HasSubstr("line 9, column x__2: the cell is 'dog'")));
  EXPECT_THAT(messages(report, FaultKind::notFinite),
              ElementsAre(HasSubstr("line 4, column x__0: the cell is 'nan'"),
                          HasSubstr("line 8, column x__2: the cell is '1e99'")));
  EXPECT_THAT(messages(report, FaultKind::emptyCell), ElementsAre(HasSubstr("line 5, column x__0: the cell is empty")));
  EXPECT_THAT(messages(report, FaultKind::label),
              ElementsAre(HasSubstr("line 6, column y:label: the label is 1.5, but labels are whole numbers from 0"),
                          HasSubstr("line 7, column y:label: the label is -1")));
  EXPECT_THAT(messages(report, FaultKind::indexGap), ElementsAre(HasSubstr("after x__0 comes x__2")));
  EXPECT_THAT(messages(report, FaultKind::blankLine), ElementsAre(HasSubstr("line 10")));
  EXPECT_EQ(report.errors, 8);
  EXPECT_EQ(report.warnings, 2);
  EXPECT_EQ(report.rows, 9);
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(report.faults.front().severity, FaultSeverity::error) << "errors stand first";
}

TEST_F(Check, CountsExactlyWhatItDoesNotList) {
  std::string text = "x,y\n";
  for (int i = 0; i < 30000; ++i) text += i % 3 ? fmt::format("{},{}\n", i, i) : "bad,1\n";
  for (const int threads : {1, 4}) {
    const auto report = check("x,y\n5,5\n" + text.substr(4), {.listed = 5, .threads = threads});
    EXPECT_EQ(report.count(FaultKind::notANumber), 10000);
    const auto listed = messages(report, FaultKind::notANumber);
    ASSERT_EQ(listed.size(), 5u);
    EXPECT_THAT(listed[4], HasSubstr("line 15, column x"));
    EXPECT_EQ(report.errors, 10000);
  }
}

TEST_F(Check, LooksIntoFiles) {
  image("a.png", 1);
  image("b.png", 2);
  image("large.png", 3, 3);
  folder.write("broken.png", contentOf(folder.path() / "a.png").substr(0, 40));
  folder.write("c.csv", "1,2\n");
  const std::string csv = "x:image,y:label\nnone.png,0\na.png,0\nb.png,1\nlarge.png,1\nbroken.png,0\nc.csv,1\n7,0\n";
  const auto report = check(csv);
  EXPECT_THAT(messages(report, FaultKind::missingFile),
              ElementsAre(HasSubstr("line 2, column x:image: there is no file")));
  EXPECT_THAT(messages(report, FaultKind::mixedShapes),
              ElementsAre(AllOf(HasSubstr("column x:image: the pictures have 2×2 to 3×3 pixels, 2 of 7 have 2×2"),
                                HasSubstr("add the step Resize to prepare"))));
  EXPECT_THAT(messages(report, FaultKind::brokenFile),
              ElementsAre(HasSubstr("line 6, column x:image: 'broken.png': the PNG image is broken")));
  EXPECT_THAT(messages(report, FaultKind::mixedKinds),
              ElementsAre(HasSubstr("line 7"), HasSubstr("line 8, column x:image: the cell is the number '7'")));
  EXPECT_EQ(report.errors, 4);
  EXPECT_EQ(report.warnings, 1);
  const auto sizes = std::find_if(report.faults.begin(), report.faults.end(),
                                  [](const Fault& fault) { return fault.kind == FaultKind::mixedShapes; });
  EXPECT_EQ(sizes->step, Json({{"step", "Resize"}, {"size", {2, 2}}, {"variable", "x"}}));
  const auto quick = check(csv, {.readFiles = false});
  EXPECT_EQ(quick.count(FaultKind::missingFile), 1);
  EXPECT_EQ(quick.count(FaultKind::mixedShapes), 0);
}

TEST_F(Check, TellsOfClipsOfSeveralLengths) {
  const auto clip = [&](const std::string& name, std::size_t samples) {
    const files::Bytes bytes = files::wav(1, 1, 16, files::Bytes(samples * 2, 3));
    folder.write(name, std::string(bytes.begin(), bytes.end()));
  };
  clip("a.wav", 40);
  clip("b.wav", 60);
  const auto report = check("x:sound,y:label\na.wav,0\nb.wav,1\n");
  EXPECT_THAT(messages(report, FaultKind::mixedShapes),
              ElementsAre(AllOf(HasSubstr("column x:sound: the clips have 40 to 60 steps"),
                                HasSubstr("Crop to at most 40"), HasSubstr("Pad to at least 60"))));
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.warnings, 1) << "without a step they cannot be trained on";
  const files::Bytes fast = files::wav(1, 1, 16, files::Bytes(120, 3), 44100);
  folder.write("c.wav", std::string(fast.begin(), fast.end()));
  const auto rates = check("x:sound,y:label\nb.wav,0\nc.wav,1\n");
  EXPECT_THAT(messages(rates, FaultKind::mixedKinds),
              ElementsAre(HasSubstr("column x:sound: the sounds have 8000 and 44100 samples a second")));
  clip("b.wav", 40);
  EXPECT_EQ(check("x:sound,y:label\na.wav,0\nb.wav,1\n").count(FaultKind::mixedShapes), 0);
}

TEST_F(Check, DoesNotQuoteATextThatIsNoCsv) {
  const std::string secret = "root:x:0:0:root:/root:/bin/bash",
                    more = "daemon:x:1:1:a long text that is nobody's business";
  for (const Fault& fault : check(secret + "\n" + more + "\n").faults) {
    EXPECT_THAT(fault.message(), testing::Not(HasSubstr("/root"))) << "a name, not the text";
    EXPECT_THAT(fault.message(), testing::Not(HasSubstr("business")));
  }
  const auto prose = check("Dear all of you who read this line to its end\n" + more + "\n");
  EXPECT_FALSE(prose.ok());
  for (const Fault& fault : prose.faults) {
    EXPECT_THAT(fault.message(), testing::Not(HasSubstr("to its end")));
    EXPECT_THAT(fault.message(), testing::Not(HasSubstr("business")));
  }
  EXPECT_THAT(messages(prose, FaultKind::missingFile), ElementsAre(HasSubstr("line 2")));
}

TEST_F(Check, FindsDuplicatesAndWhatStandsInBothSets) {
  image("a.png", 1);
  image("copy.png", 1);
  image("b.png", 2);
  image("c.png", 3);
  folder.write("test.csv", "x,y:label\nc.png,1\ncopy.png,0\n");
  const auto report =
      check("x,y:label\na.png,0\nb.png,1\ncopy.png,0\nb.png,0\n", {.other = folder.path() / "test.csv"});
  EXPECT_THAT(messages(report, FaultKind::duplicate),
              ElementsAre(HasSubstr("line 4: the sample is the same as in line 2"),
                          HasSubstr("line 5: the input is the same as in line 3, with another target")));
  EXPECT_THAT(messages(report, FaultKind::sharedSample),
              ElementsAre(HasSubstr("line 2: the sample stands in test.csv too, in line 3"), HasSubstr("line 4")));
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.warnings, 4);
  const auto missing = check("x,y:label\na.png,0\n", {.other = folder.path() / "none.csv"});
  EXPECT_THAT(messages(missing, FaultKind::missingFile),
              ElementsAre(HasSubstr("the other dataset cannot be compared")));
}

TEST_F(Check, HoldsLabelsAgainstTheNetwork) {
  const auto report = check("x__0,x__1,y\n1,2,0\n1,3,9\n1,4,10\n", {.classes = {{"y", 10}, {"z", 3}}});
  EXPECT_THAT(messages(report, FaultKind::label),
              UnorderedElementsAre(HasSubstr("line 4, column y: the label is 10, but there are 10 classes: 0 to 9"),
                                   HasSubstr("there is no column 'z'")));
  EXPECT_THAT(messages(report, FaultKind::constantColumn), ElementsAre(HasSubstr("column x__0: every cell is 1")));
  EXPECT_THAT(messages(report, FaultKind::imbalance),
              ElementsAre(HasSubstr("8 of 11 classes have no sample: 1, 2, 3")));
  std::string text = "x,y:label\n";
  for (int i = 0; i < 50; ++i) text += fmt::format("{},{}\n", i, i == 7 ? 1 : 0);
  EXPECT_THAT(messages(check(text), FaultKind::imbalance),
              ElementsAre(HasSubstr("the largest class has 49 samples, the smallest 1")));
}

TEST_F(Check, TellsWhatFloat32DoesNotTellApart) {
  std::string seconds = "time,small,y:label\n", whole = "count,small,y:label\n";
  for (int i = 0; i < 40; ++i) {
    seconds += fmt::format("{},{},{}\n", 1700000000 + 60 * i, i % 5 / 10.0, i % 2);
    whole += fmt::format("{},{},{}\n", 16000000 + i, i % 5 / 10.0, i % 2);
  }
  EXPECT_THAT(messages(check(seconds), FaultKind::constantColumn),
              ElementsAre(HasSubstr("column time: float32 tells its numbers apart by 128 only: from 1700000000 to "
                                    "1700002304 there are 18 steps")));
  EXPECT_THAT(messages(check(whole), FaultKind::constantColumn), IsEmpty());
  // Nothing of numbers that were not read, since every row has a fault elsewhere.
  EXPECT_THAT(messages(check("time,town,y:label\n1,Ulm,0\n2,Bern,1\n3,Ulm,0\n"), FaultKind::constantColumn), IsEmpty());
}

TEST_F(Check, NamesTheFileThatIsMeant) {
  folder.write("img/CAFE.PNG", "x");
  folder.write("img/caf\x65\xcc\x81.png", "x");
  const CheckReport report = check("x:image,y\nimg/cafe.png,0\nimg/caf\xc3\xa9.png,1\nimg/tea.png,0\n");
  EXPECT_THAT(messages(report, FaultKind::missingFile),
              ElementsAre(HasSubstr("there is 'CAFE.PNG', in other letter case"),
                          HasSubstr("whose accents are written otherwise (Unicode NFC and NFD)"),
                          HasSubstr("paths begin at the folder of the CSV")));
}

// A table of separate columns: one finding for all of them, without labels and what is to be predicted.
TEST_F(Check, TellsOnceThatSeparateColumnsDifferInScale) {
  std::string text = "age,income,height,kind:label,y\n";
  for (int i = 0; i < 40; ++i) text += fmt::format("{},{},{},{},{}\n", 20 + i, 1000 * i, 0.01 * i, i % 2, 1000000 * i);
  const auto report = check(text);
  EXPECT_THAT(messages(report, FaultKind::unlikeScales),
              ElementsAre(HasSubstr("3 columns differ in scale: income spans 0 to 3.9e+04, height only 0 to 0.39")));
  EXPECT_TRUE(report.ok());
  const auto named = [](const CheckReport& from) {
    for (const Fault& fault : from.faults)
      if (fault.kind == FaultKind::unlikeScales) return fault.variables;
    return std::vector<std::string>();
  };
  EXPECT_THAT(named(report), ElementsAre("age", "income", "height"));
  // Where the network says what it gives, that is what is left out.
  EXPECT_THAT(named(check(text, {.targets = {"income"}})), ElementsAre("age", "height", "y"));
  // A vector is told by itself; columns of similar size are not told.
  EXPECT_EQ(check("x__0,x__1,y\n1,1000,0\n2,3000,1\n3,0,1\n").count(FaultKind::unlikeScales), 1);
  EXPECT_EQ(check("a,b,y\n1,2,100000\n2,4,0\n3,9,200000\n").count(FaultKind::unlikeScales), 0);
}

TEST_F(Check, TellsAFileThatIsNone) {
  EXPECT_THAT(messages(checkDataset(folder.path() / "none.csv"), FaultKind::missingFile),
              ElementsAre(HasSubstr("there is no such file")));
  EXPECT_THAT(messages(check(""), FaultKind::unreadable), ElementsAre(HasSubstr("is empty")));
  EXPECT_THAT(messages(check("x,y\n"), FaultKind::unreadable), ElementsAre(HasSubstr("no samples")));
  EXPECT_THAT(messages(check("x,,z\n1,2,3\n"), FaultKind::givenName), ElementsAre(HasSubstr("is called 'c2' here")));
  EXPECT_FALSE(checkDataset(folder.path()).ok());
  int calls = 0;
  EXPECT_THAT(messageOf([&] { check("x\n1\n", {.progress = [&](const CacheProgress&) { return ++calls < 0; }}); }),
              HasSubstr("stopped"));
}

}  // namespace
}  // namespace loom
