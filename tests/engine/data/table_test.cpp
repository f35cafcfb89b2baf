// A stranger's table: what its columns hold, what the doctor says of them, and the steps that make it train.
#include <gmock/gmock.h>

#include "engine/data/columns/findings.h"
#include "engine/data/columns/preview.h"
#include "engine/data/columns/raw_columns.h"
#include "engine/data/columns/row_split.h"
#include "engine/data/columns/suggestion.h"
#include "engine/data/dataset.h"
#include "tests/engine/data/data_files.h"

namespace loom {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Tables : public testing::Test {
 protected:
  // 800 rows with dates, two columns of words, holes and rows that are no data; `state` is the last column.
  std::filesystem::path pumps(int rows = 800) {
    std::string text = "id,when,town,flow,double_flow,hours,state\n";
    const char* const towns[] = {"Ulm", "Bern", "Chur"};
    const char* const states[] = {"ok", "ok", "ok", "worn", "leak"};
    for (int i = 0; i < rows; ++i) {
      if (i == 400) text += "# logger restarted\nid,when,town,flow,double_flow,hours,state\n,,,m3/h,m3/h,h,\n";
      const std::string flow = i % 40 == 7 ? "" : fmt::format("{:.2f}", 10 + i * 37 % 100 / 10.0);
      text += fmt::format("p{},2026-{:02}-{:02} {:02}:00,{},{},{:.1f},{},{}\n", i, 1 + i % 12, 1 + i % 28, i % 24,
                          i % 50 == 3 ? "" : towns[i % 3], flow, 2 * (10 + i * 37 % 100 / 10.0), 20000 + i * 31,
                          states[i % 5]);
    }
    return folder.write("pumps.csv", text);
  }
  static const TableFinding* find(const std::vector<TableFinding>& findings, FindingKind kind) {
    for (const TableFinding& finding : findings)
      if (finding.kind == kind) return &finding;
    return nullptr;
  }
  ScratchFolder folder;
};

TEST_F(Tables, ColumnsAreToldByTypeAndCountedExactly) {
  const auto csv = pumps();
  const TableFacts facts = analyseTable(csv);
  EXPECT_EQ(facts.rows, 803);
  EXPECT_EQ(facts.strayRows, 3);
  std::vector<std::string> types;
  for (const ColumnFacts& column : facts.columns) types.emplace_back(toString(column.type));
  EXPECT_THAT(types, ElementsAre("text", "date", "class", "number", "number", "number", "class"));
  const ColumnFacts& flow = *facts.find("flow");
  EXPECT_EQ(flow.missing, 20);
  EXPECT_EQ(flow.count, 780);
  EXPECT_EQ(flow.missingAt[0].line, 9);
  EXPECT_DOUBLE_EQ(flow.low, 10);
  EXPECT_DOUBLE_EQ(flow.high, 19.9);
  std::int64_t binned = 0;
  for (const std::int64_t bin : flow.histogram) binned += bin;
  EXPECT_EQ(binned, 780);
  EXPECT_EQ(facts.find("state")->words[0].word, "ok");
  EXPECT_EQ(facts.find("state")->words[0].rows, 480);
  EXPECT_TRUE(facts.find("when")->orders.yearFirst);
  EXPECT_TRUE(facts.find("when")->dateHasTime);
  const TableSample rows = readTableRows(csv, facts, 401, 2);
  EXPECT_THAT(rows.lines, ElementsAre(403, 404));
  EXPECT_EQ(rows.cells[0][3], "flow");
}

// numpy.histogram() puts a value that is an edge, up to rounding, where its own edges say.
TEST_F(Tables, HistogramsAreThoseOfNumpy) {
  std::string text = "a,b\n";
  for (int i = 0; i <= 170; ++i) text += fmt::format("{},{}\n", i / 10.0, i % 7);
  const TableFacts facts = analyseTable(folder.write("t.csv", text));
  EXPECT_THAT(facts.find("a")->histogram,
              ElementsAre(10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 11));
  EXPECT_THAT(facts.find("b")->histogram, ElementsAre(25, 0, 25, 0, 0, 25, 0, 0, 24, 0, 0, 24, 0, 0, 24, 0, 24));
}

TEST_F(Tables, ThreadsChangeNothingAndProgressGrows) {
  const auto csv = pumps(40'000);
  const Json one = analyseTable(csv, {.threads = 1}).toJson();
  std::vector<std::int64_t> rows;
  AnalyseOptions options{.threads = 3};
  options.progress = [&](const TableFacts& facts) {
    rows.push_back(facts.rows);
    EXPECT_EQ(facts.columns.size(), 7u);
    EXPECT_GE(facts.sample->cells.size(), 400u);
    return true;
  };
  Json three = analyseTable(csv, options).toJson();
  three["seconds"] = one["seconds"];
  EXPECT_EQ(three, one);
  ASSERT_GE(rows.size(), 2u);
  EXPECT_LE(rows.front(), 500);
  EXPECT_EQ(rows.back(), 40'003);
  options.progress = [](const TableFacts&) { return false; };
  EXPECT_THAT(messageOf([&] { analyseTable(csv, options); }), HasSubstr("stopped"));
}

TEST_F(Tables, TheDoctorSaysOneThingAColumn) {
  const TableFacts facts = analyseTable(pumps());
  const auto findings = tableFindings(facts, {.hasValidation = false});
  std::vector<std::string> titles;
  for (const TableFinding& finding : findings) titles.push_back(finding.title);
  EXPECT_THAT(titles, ElementsAre("3 rows are no data", "id is text", "when is a date", "town: 16 empty",
                                  "town is text", "flow: 20 empty", "state is text", HasSubstr("Ranges differ"),
                                  "double_flow says what flow says", "No validation set"));
  const TableFinding& missing = findings[5];
  EXPECT_EQ(missing.remedies[0].label, "Fill with median");
  EXPECT_EQ(missing.remedies[0].steps[0], Json({{"step", "Fill"}, {"variable", {"flow"}}}));
  EXPECT_EQ(missing.places[0].line, 9);
  EXPECT_EQ(find(findings, FindingKind::strayRows)->remedies[0].steps[0]["lines"], Json({402, 403, 404}));
  // What the steps mend is not said again.
  FindingsContext prepared{.prepare = suggestTable(facts).steps};
  for (const TableFinding& finding : tableFindings(facts, prepared))
    EXPECT_EQ(finding.kind, FindingKind::twins) << finding.title;
}

// The best known tables have no header: of iris the first flower would be lost in it, of mushrooms the first mushroom.
TEST_F(Tables, AFirstLineThatIsARowIsTold) {
  const auto toldOf = [&](const std::string& text, const CsvFormatChoice& format = {}) {
    const auto facts = analyseTable(folder.write("first.csv", text), {.format = format});
    const auto findings = tableFindings(facts);
    const TableFinding* const found = find(findings, FindingKind::firstRow);
    EXPECT_EQ(find(findings, FindingKind::header), nullptr) << text;
    if (found) EXPECT_EQ(found->remedies[0].writing, Json({{"header", false}}));
    return found != nullptr;
  };
  const std::string iris =
      "5.1,3.5,1.4,0.2,Iris-setosa\n4.9,3.0,1.4,0.2,Iris-setosa\n7.0,3.2,4.7,1.4,Iris-versicolor\n"
      "6.3,3.3,6.0,2.5,Iris-virginica\n5.8,2.7,5.1,1.9,Iris-virginica\n";
  EXPECT_TRUE(toldOf(iris));
  EXPECT_FALSE(toldOf(iris, {.header = false}));
  EXPECT_FALSE(toldOf("a,b,c,d,kind\n" + iris));
  EXPECT_TRUE(toldOf("p,x,s\ne,x,y\ne,b,w\np,x,s\np,f,s\ne,x,y\n"));
  EXPECT_TRUE(toldOf("2024-01-05;1,5;3\n2024-01-06;2;4,5\n2024-01-07;1,25;7,5\n"));
  EXPECT_FALSE(toldOf("country,2019,2020\nPeru,1,2\nChile,3,4\nPeru,5,6\n"));
  EXPECT_FALSE(toldOf("1:label,2\n1,2\n3,4\n"));
}

TEST_F(Tables, WhatCannotBeGuessedIsAsked) {
  std::string text = "d,time,y\n";
  for (int i = 0; i < 40; ++i)
    text += fmt::format("{}/{}/2026,{},{}\n", 1 + i % 12, 1 + i % 11, 1700000000 + 60 * i,
                        i % 10 == 0 ? ""
                        : i % 2     ? "1.5"
                                    : "2.5");
  const auto findings = tableFindings(analyseTable(folder.write("t.csv", text)));
  EXPECT_THAT(find(findings, FindingKind::date)->title, HasSubstr("does the day or the month stand first?"));
  EXPECT_EQ(find(findings, FindingKind::date)->remedies[1].steps[0]["order"], "mdy");
  EXPECT_THAT(find(findings, FindingKind::blurred)->title, HasSubstr("time: numbers that float32 does not tell apart"));
  EXPECT_THAT(find(findings, FindingKind::missingTarget)->detail, HasSubstr("y shall be predicted: 10.0 % of 40 rows"));
}

// The year of dates that all lie in one is a constant: it is neither offered nor fed, and no run warns of it.
TEST_F(Tables, OneYearIsNoPart) {
  const auto partsOf = [&](const char* last) {
    std::string text = "d,v,y\n";
    for (int i = 0; i < 40; ++i)
      text += fmt::format("{},{},{}\n", i == 39 ? last : fmt::format("2024-{:02}-{:02}", 1 + i % 12, 1 + i % 28), i % 7,
                          i * 0.5);
    const auto csv = folder.write("d.csv", text);
    const TableFacts facts = analyseTable(csv);
    const auto findings = tableFindings(facts);
    const Json offered = find(findings, FindingKind::date)->remedies[0].steps[0]["parts"];
    const TableSuggestion suggestion = suggestTable(facts);
    OpenOptions options;
    options.prepare = suggestion.steps;
    int warned = 0;
    options.warn = [&](const std::string&) { ++warned; };
    EXPECT_EQ(openDataset(csv, options)->schema().find("x")->shape, Shape{suggestion.inputs});
    EXPECT_EQ(warned, 0);
    for (const Json& step : suggestion.steps)
      if (step["step"] == "DateParts") EXPECT_EQ(step["parts"], offered);
    return offered;
  };
  EXPECT_EQ(partsOf("2024-12-31"), Json({"day_of_year", "weekday"}));
  EXPECT_EQ(partsOf("2025-01-01"), Json({"year", "day_of_year", "weekday"}));
}

TEST_F(Tables, RareClassesAreToldWithWeightsFirst) {
  std::string text = "x,kind\n";
  for (int i = 0; i < 200; ++i) text += fmt::format("{},{}\n", i * 0.5, i % 20 ? "fine" : "fraud");
  const TableFacts facts = analyseTable(folder.write("t.csv", text));
  const auto findings = tableFindings(facts);
  const TableFinding* const rare = find(findings, FindingKind::rareClass);
  ASSERT_NE(rare, nullptr);
  EXPECT_EQ(rare->title, "kind: 1 class is rare");
  ASSERT_EQ(rare->remedies.size(), 3u);
  EXPECT_EQ(rare->remedies[0].label, "Weigh classes");
  EXPECT_EQ(rare->remedies[0].settings["weigh_classes"], "balanced");
  EXPECT_EQ(rare->remedies[1].settings["oversample"], "kind");
  const auto told = [&](FindingsContext context) {
    context.targets = {"kind"};
    const auto all = tableFindings(facts, context);
    return find(all, FindingKind::rareClass) != nullptr;
  };
  EXPECT_TRUE(told({}));
  EXPECT_FALSE(told({.settings = {{"weigh_classes", "balanced"}}}));
  EXPECT_FALSE(told({.settings = {{"oversample", "kind"}}}));
  EXPECT_FALSE(told({.learnsClasses = false}));
}

TEST_F(Tables, TheSuggestionTrains) {
  const auto csv = pumps();
  const TableFacts facts = analyseTable(csv);
  const TableSuggestion classes = suggestTable(facts);
  EXPECT_EQ(classes.target.column, "state");
  EXPECT_EQ(classes.target.kind, TargetKind::classes);
  EXPECT_EQ(classes.target.classes, 3);
  EXPECT_THAT(classes.leftOut, ElementsAre(HasSubstr("id: nearly every row")));
  const TableSuggestion number = suggestTable(facts, "hours");
  EXPECT_EQ(number.target.kind, TargetKind::number);
  for (const TableSuggestion& suggestion : {classes, number}) {
    OpenOptions options;
    options.prepare = suggestion.steps;
    const auto dataset = openDataset(csv, options);
    EXPECT_EQ(dataset->size(), 800);
    EXPECT_EQ(dataset->schema().find(suggestion.input)->shape, Shape{suggestion.inputs});
    EXPECT_EQ(dataset->schema().find(suggestion.output)->kind, VariableKind::scalar);
    EXPECT_EQ(dataset->schema().variables.size(), 2u);
  }
}

TEST_F(Tables, BeforeAndAfterAreShownOfTheSample) {
  const TableFacts facts = analyseTable(pumps());
  const TablePreview preview = previewTable(*facts.sample, facts.format, suggestTable(facts).steps);
  EXPECT_THAT(preview.faults, IsEmpty());
  EXPECT_EQ(preview.before.size(), 7u);
  EXPECT_EQ(preview.rows.size(), facts.sample->cells.size());
  const auto flow = preview.of("flow");
  ASSERT_EQ(flow.size(), 1u);
  EXPECT_NEAR(flow[0]->mean, 0, 1e-9);
  EXPECT_NEAR(flow[0]->deviation, 1, 1e-9);
  EXPECT_EQ(preview.of("town").size(), 3u);
  EXPECT_EQ(preview.of("when").size(), 6u);
  const TablePreview wrong =
      previewTable(*facts.sample, facts.format, {{{"step", "Standardise"}, {"variable", "town"}}});
  EXPECT_THAT(wrong.faults, Not(IsEmpty()));
}

// What a page shows of a part are rows of the file, whatever blank lines and rows that are no data do to their lines.
TEST_F(Tables, RowsOfAPartAreCountedAsTheFileHasThem) {
  const auto csv = folder.write("t.csv", "x,y\n0,a\n\n1,b\nnote\n2,c\n\"3\",\"d\ne\"\n4,f\n");
  const TableFacts facts = analyseTable(csv);
  const std::vector<Json> steps = {{{"step", "SkipRows"}, {"lines", {5}}}};
  const RowChoice last{.holdOut = HoldOut{.share = 0.4, .held = true, .shuffled = false}};
  const auto held = rowsOfPart({csv, facts.format, 0, {}}, steps, last);
  EXPECT_THAT(held, ElementsAre(4, 5));  // with the quoted line break, and the row behind it
  RowChoice rest = last;
  rest.holdOut->held = false;
  EXPECT_THAT(rowsOfPart({csv, facts.format, 0, {}}, steps, rest), ElementsAre(0, 1, 3));
  EXPECT_EQ(readTableRows(csv, facts, held[1], 1).cells[0][0], "4");
}

// Which column is which is told on it, with a way to leave it out; a step on one leaves the other alone.
TEST_F(Tables, ColumnsOfOneNameAreToldApart) {
  const auto csv = folder.write("t.csv", "rate,rate,y\n1,20,3\n2,30,5\n3,10,7\n");
  const TableFacts facts = analyseTable(csv);
  EXPECT_EQ(facts.find("rate_1")->high, 3);
  EXPECT_EQ(facts.find("rate_2")->high, 30);
  EXPECT_EQ(readTableRows(csv, facts, 0, 1).header[1], "rate_2");
  const auto told = [&](const std::vector<Json>& prepare) {
    std::vector<std::string> columns;
    for (const TableFinding& each : tableFindings(facts, {.prepare = prepare}))
      if (each.kind == FindingKind::header) columns.push_back(each.columns.at(0));
    return columns;
  };
  EXPECT_THAT(told({}), ElementsAre("rate_1", "rate_2"));
  const std::vector<TableFinding> findings = tableFindings(facts);
  const TableFinding& first = *find(findings, FindingKind::header);
  EXPECT_EQ(first.title, "2 columns have the name 'rate': column 1 is called 'rate_1' here");
  const std::vector<Json>& leave = first.remedies.at(1).steps;
  EXPECT_THAT(told(leave), ElementsAre("rate_2"));
  const auto dataset = openDataset(csv, {.prepare = leave});
  EXPECT_EQ(dataset->schema().indexOf("rate_1"), -1);
  EXPECT_GE(dataset->schema().indexOf("rate_2"), 0);
}

TEST_F(Tables, PercentsAreNumbersAndAMixIsFound) {
  std::string text = "share,few,y\n";
  for (int i = 0; i < 20; ++i) text += fmt::format("{}{},{}{},{}\n", i, i == 7 ? "" : " %", i, i == 4 ? "%" : "", i);
  const TableFacts facts = analyseTable(folder.write("t.csv", text));
  const ColumnFacts &share = *facts.find("share"), &few = *facts.find("few");
  EXPECT_EQ(share.type, ColumnType::number);
  EXPECT_TRUE(share.percents);
  EXPECT_EQ(share.count, 19);
  EXPECT_EQ(share.high, 19);
  EXPECT_EQ(share.unreadable, 1);
  EXPECT_EQ(share.unreadableAt.at(0).line, 9);
  EXPECT_FALSE(few.percents);
  EXPECT_EQ(few.unreadable, 1);
  std::vector<std::string> said;
  for (const TableFinding& each : tableFindings(facts))
    if (each.kind == FindingKind::unreadable) said.push_back(each.title + ". " + each.detail);
  EXPECT_THAT(said, ElementsAre("share: 1 no percents. Such as '7' in line 9: the others are percents, as '12 %'.",
                                "few: 1 no numbers. Such as '4%' in line 6: a percent, and the others are numbers "
                                "without the sign."));
  const std::vector<Json> skip = {{{"step", "SkipRows"}, {"faulty", true}}};
  EXPECT_EQ(openDataset(folder.path() / "t.csv", {.prepare = skip})->size(), 18);
  const TablePreview preview = previewTable(*facts.sample, facts.format, skip);
  EXPECT_EQ(preview.of("share").at(0)->numbers.size(), 18u);
}

// What steps made of a row is led back: numbers in their unit, words of an index or of a column for each.
TEST_F(Tables, SamplesAreLedBackToTheirCells) {
  std::string text = "area,town,sold,heat,y\n";
  for (int i = 0; i < 30; ++i)
    text += fmt::format("{},{},2024-{:02}-01,{},{}\n", 40 + 7 * i, i % 3 ? "Ulm" : "Bern", 1 + i % 12,
                        i % 2 ? "gas" : "wood", i);
  const std::vector<Json> steps = {{{"step", "Encode"}, {"variable", {"town"}}, {"form", "one_hot"}},
                                   {{"step", "Encode"}, {"variable", {"heat"}}},
                                   {{"step", "DateParts"}, {"variable", {"sold"}}},
                                   {{"step", "Standardise"}, {"variable", {"area", "sold"}}},
                                   {{"step", "Join"}, {"variable", {"area", "town", "sold", "heat"}}}};
  const auto dataset = openDataset(folder.write("t.csv", text), {.prepare = steps});
  const int x = dataset->schema().indexOf("x");
  ASSERT_GE(x, 0);
  const auto bytes = dataset->read(5, static_cast<std::size_t>(x));
  const std::span<const float> values(reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float));
  std::string said;
  for (const RawCell& each : rawCellsOf(dataset->columnSteps(), "x", values))
    said += each.name + ' ' + (each.number ? fmt::format("{:.3f}", *each.number) : each.word) + ", ";
  EXPECT_EQ(said, "area 75.000, town Ulm, heat gas, ");
}

TEST_F(Tables, FilesOfNumbersAreNoWords) {
  folder.write("a.npy", "x");
  const TableFacts facts = analyseTable(folder.write("t.csv", "x,y\na.npy,1\nb.npy,2\na.npy,3\n"));
  EXPECT_EQ(facts.find("x")->type, ColumnType::matrix);
  EXPECT_EQ(facts.find("x")->unreadable, 1);
  const auto findings = tableFindings(facts);
  EXPECT_EQ(find(findings, FindingKind::text), nullptr);
  EXPECT_EQ(find(findings, FindingKind::unreadable)->title, "x: 1 file is not there");
  EXPECT_EQ(find(findings, FindingKind::unreadable)->remedies[0].find, FindAgain::files);
}

TEST_F(Tables, WhatNeverChangesIsNoTarget) {
  std::string text = "a,flag,land\n";
  for (int i = 0; i < 20; ++i) text += fmt::format("{},1,NO\n", i);
  const TableFacts facts = analyseTable(folder.write("t.csv", text));
  EXPECT_FALSE(canBeTarget(*facts.find("flag")));
  EXPECT_FALSE(canBeTarget(*facts.find("land")));
  EXPECT_TRUE(canBeTarget(*facts.find("a")));
  EXPECT_EQ(suggestTable(facts).targets.size(), 1u);
}

// A folder of pictures that was moved: nothing is said of columns that nobody can know, and no remedy takes all away.
TEST_F(Tables, FilesThatWereMovedAreToBeFoundAgain) {
  const auto csv = folder.write("index.csv", "file,shape\n../roll/1.png,0\n../roll/2.png,1\n../roll/3.png,0\n");
  const std::vector<TableFinding> findings = tableFindings(analyseTable(csv), {});
  const auto gone = std::find_if(findings.begin(), findings.end(),
                                 [](const TableFinding& each) { return each.kind == FindingKind::unreadable; });
  ASSERT_NE(gone, findings.end());
  EXPECT_EQ(gone->title, "file: all 3 pictures are not there");
  EXPECT_NE(gone->detail.find("Line 2 names '../roll/1.png'"), std::string::npos) << gone->detail;
  ASSERT_EQ(gone->remedies.size(), 1u);
  EXPECT_EQ(gone->remedies[0].find, FindAgain::files);
  EXPECT_THAT(messageOf([&] {
                peekSchema(csv, {.prepare = {{{"step", "SkipRows"}, {"lines", {3}}}}});
              }),
              testing::HasSubstr("there is no file"));
}

}  // namespace
}  // namespace loom
