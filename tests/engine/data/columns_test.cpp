// Steps of preparation on the columns of a CSV: values as scikit-learn's, measured on the training part alone, and the
// dataset that is made of them.
#include <gmock/gmock.h>

#include <cmath>

#include "engine/data/check.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/columns/resolve.h"
#include "engine/data/columns/target_meaning.h"
#include "engine/data/pack.h"
#include "engine/data/parts.h"
#include "tests/engine/data/columns_values.h"
#include "tests/engine/data/data_files.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Columns : public testing::Test {
 protected:
  // All values of a variable, row by row.
  static std::vector<float> valuesOf(const Dataset& dataset, const std::string& variable) {
    const int index = dataset.schema().indexOf(variable);
    if (index < 0) throw std::runtime_error("no variable " + variable);
    std::vector<float> values;
    for (std::int64_t row = 0; row < dataset.size(); ++row) {
      const auto bytes = dataset.read(row, static_cast<std::size_t>(index));
      const auto* numbers = reinterpret_cast<const float*>(bytes.data());
      values.insert(values.end(), numbers, numbers + bytes.size() / sizeof(float));
    }
    return values;
  }
  std::unique_ptr<Dataset> open(const std::string& text, std::vector<Json> prepare, RowChoice rows = {},
                                const std::string& name = "t.csv") {
    OpenOptions options;
    options.prepare = std::move(prepare);
    options.rows = rows;
    options.warn = [this](const std::string& sentence) { warnings.push_back(sentence); };
    return openDataset(folder.write(name, text), options);
  }
  std::string refusal(const std::string& text, std::vector<Json> prepare) {
    return messageOf([&] { open(text, std::move(prepare)); });
  }
  template <std::size_t Count>
  static void expectNear(const std::vector<float>& values, const double (&wanted)[Count]) {
    ASSERT_EQ(values.size(), Count);
    for (std::size_t i = 0; i < Count; ++i)
      EXPECT_NEAR(values[i], wanted[i], 1e-6 * std::max(1.0, std::abs(wanted[i])));
  }
  ScratchFolder folder;
  std::vector<std::string> warnings;
};

Json step(const std::string& name, const Json& variable, Json more = Json::object()) {
  Json json = {{"step", name}, {"variable", variable}};
  json.update(more);
  return json;
}

TEST_F(Columns, ValuesAreThoseOfScikitLearn) {
  for (const auto& [with, wanted] :
       {std::pair("median", &kMedian), std::pair("mean", &kMean), std::pair("most_frequent", &kMostFrequent)})
    expectNear(valuesOf(*open(kTable, {step("Fill", "a", {{"with", with}}), step("LeaveOut", "town")}), "a"), *wanted);
  const Json fill = step("Fill", "a");
  expectNear(valuesOf(*open(kTable, {fill, step("Standardise", "a"), step("LeaveOut", "town")}), "a"), kStandardised);
  expectNear(valuesOf(*open(kTable, {fill, step("RobustScale", "a"), step("LeaveOut", "town")}), "a"), kRobust);
  expectNear(valuesOf(*open(kTable, {fill, step("Encode", "town")}), "town"), kOrdinal);
  const auto joined =
      open(kTable, {fill, step("Encode", "town", {{"form", "one_hot"}}), step("Join", Json::array({"town"}))});
  expectNear(valuesOf(*joined, "x"), kOneHot);
  EXPECT_THAT(joined->schema().find("x")->elementLabels,
              ElementsAre("town_Aarau", "town_Bern", "town_Chur", "town_Ulm"));
}

TEST_F(Columns, WhatIsMeasuredStandsInTheStepsOfTheDataset) {
  const auto dataset = open(kTable, {step("Fill", Json::array({"a"})), step("Encode", "town")});
  const std::vector<Json> steps = dataset->columnSteps();
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_DOUBLE_EQ(steps[0]["value"].get<double>(), 3.75);
  EXPECT_EQ(steps[1]["classes"], Json({"Aarau", "Bern", "Chur", "Ulm"}));
  EXPECT_FALSE(needsResolving(steps));
  EXPECT_EQ(dataset->schema().find("town")->label, "label");
  // A pack needs neither the CSV nor the steps.
  OpenOptions options;
  options.prepare = {step("Fill", Json::array({"a"})), step("Encode", "town")};
  const auto pack = openDataset(cachePath(folder.path() / "t.csv", options));
  EXPECT_EQ(pack->columnSteps(), steps);
  EXPECT_EQ(valuesOf(*pack, "town"), valuesOf(*dataset, "town"));
}

TEST_F(Columns, OtherStepsMakeAnotherPack) {
  EXPECT_FLOAT_EQ(valuesOf(*open("a\n1\n3\n", {step("Fill", "a"), step("Clip", "a", {{"high", 2}})}), "a")[1], 2);
  EXPECT_FLOAT_EQ(valuesOf(*open("a\n1\n3\n", {step("Fill", "a"), step("Clip", "a", {{"high", 2.5}})}), "a")[1], 2.5);
  EXPECT_FLOAT_EQ(valuesOf(*openDataset(folder.path() / "t.csv"), "a")[1], 3);
  // The file changed: what was measured of it is measured again.
  EXPECT_FLOAT_EQ(valuesOf(*open("a\n1\n\n\"\"\n3\n5\n", {step("Fill", "a")}), "a")[1], 3);
  EXPECT_FLOAT_EQ(valuesOf(*open("a\n1\n\n\"\"\n3\n5\n7\n", {step("Fill", "a")}), "a")[1], 4);
}

TEST_F(Columns, WhatIsHeldOutIsNeverMeasured) {
  std::string text = "t,town,a,b,y\n";
  for (int i = 0; i < 100; ++i)
    text += fmt::format("{},{},{},{},{}\n", i, i < 80 ? (i % 2 ? "in" : "there") : "later", i < 80 ? i : 1e6 + i,
                        i == 5 || i == 95 ? ""
                        : i < 80          ? "2"
                                          : "1000",
                        i % 2 ? "yes" : "no");
  const std::vector<Json> prepare = {step("Fill", "b"),
                                     step("Encode", "town", {{"form", "one_hot"}, {"unknown", "own"}}),
                                     step("Standardise", "a"),
                                     step("RobustScale", "t"),
                                     step("Clip", "b", {{"percentiles", {0, 100}}}),
                                     step("Encode", "y"),
                                     step("Join", Json::array({"t", "town", "a", "b"}))};
  const auto check = [&](const RowChoice& rows) {
    const auto dataset = open(text, prepare, rows);
    for (const Json& one : dataset->columnSteps()) {
      if (one["step"] == "Fill") {
        EXPECT_DOUBLE_EQ(one["value"].get<double>(), 2);
      }
      if (one["step"] == "Encode" && one["variable"] == "town") {
        EXPECT_EQ(one["classes"], Json({"in", "there"}));
      }
      if (one["step"] == "Standardise") {
        EXPECT_DOUBLE_EQ(one["mean"].get<double>(), 39.5);
      }
      if (one["step"] == "RobustScale") {
        EXPECT_DOUBLE_EQ(one["centre"].get<double>(), 39.5);
      }
      if (one["step"] == "Clip") {
        EXPECT_DOUBLE_EQ(one["high"].get<double>(), 2);
      }
    }
    return std::shared_ptr<const Dataset>(open(text, prepare, rows));
  };
  HoldOut last{.share = 0.2, .shuffled = false};
  check({.holdOut = last});
  last.held = true;
  const auto held = selectPart(check({.holdOut = last}), last);
  EXPECT_EQ(held->size(), 20);
  EXPECT_GT(valuesOf(*held, "x")[3], 1e4);  // town has two columns: t, town_in, town_there, a, b
  check({.count = 80});
  check({.first = 0, .count = 80});
  // The same rows in order of a column, whatever their order in the file.
  HoldOut inTime{.share = 0.2, .order = "t"};
  check({.holdOut = inTime});
}

TEST_F(Columns, PartsKeepClassesGroupsAndTime) {
  std::string text = "patient,day,y\n";
  for (int i = 0; i < 60; ++i)
    text += fmt::format("p{},{:02}.{:02}.2026,{}\n", i / 6, 1 + i * 7 % 28, 1 + i % 12, i % 3 == 0 ? "ill" : "well");
  const std::vector<Json> prepare = {step("Encode", "patient", {{"unknown", "own"}}),
                                     step("DateParts", "day", {{"parts", {"month"}}, {"form", "numbers"}}),
                                     step("Encode", "y")};
  const auto part = [&](HoldOut how) {
    return selectPart(std::shared_ptr<const Dataset>(open(text, prepare, {.holdOut = how})), how);
  };
  const auto byClass = part({.share = 0.2, .held = true, .by = "y"});
  const std::vector<float> classes = valuesOf(*byClass, "y");
  EXPECT_EQ(classes.size(), 12u);
  EXPECT_EQ(std::count(classes.begin(), classes.end(), 0.0F), 4);
  const auto rest = valuesOf(*part({.share = 0.2, .group = "patient"}), "patient");
  const auto held = valuesOf(*part({.share = 0.2, .held = true, .group = "patient"}), "patient");
  EXPECT_EQ(rest.size() + held.size(), 60u);
  EXPECT_EQ(held.size(), 12u);
  for (const float patient : held) EXPECT_EQ(std::count(rest.begin(), rest.end(), patient), 0);
  const auto months = valuesOf(*part({.share = 0.25, .held = true, .order = "day"}), "day_month");
  EXPECT_THAT(months, testing::Each(testing::Ge(10.0F)));
  // Without steps, on the variables of the pack.
  std::shared_ptr<const Dataset> plain =
      openDataset(folder.write("p.csv", "g,t,x\n1,5,0\n1,4,0\n2,3,0\n2,2,0\n3,1,0\n3,0,0\n"));
  EXPECT_THAT(valuesOf(*selectPart(plain, {.share = 0.3, .held = true, .order = "t"}), "t"), ElementsAre(5, 4));
  EXPECT_EQ(selectPart(plain, {.share = 0.3, .held = true, .group = "g"})->size(), 2);
}

TEST_F(Columns, RowsThatAreNoDataAreSkipped) {
  const std::string text =
      "flow,rpm,state\n1,10,ok\n# restarted\nflow,rpm,state\nm3/h,1/min,\n2,20,worn\n,30,ok\n4,x,ok\n5,50,ok\n";
  const std::vector<Json> rest = {step("Fill", "flow", {{"with", "mean"}}), step("Encode", "state")};
  const auto with = [&](Json skip) {
    skip["step"] = "SkipRows";
    std::vector<Json> steps = {skip};
    steps.insert(steps.end(), rest.begin(), rest.end());
    return steps;
  };
  const auto dataset = open(text, with({{"faulty", true}}));
  EXPECT_THAT(valuesOf(*dataset, "rpm"), ElementsAre(10, 20, 30, 50));
  EXPECT_THAT(valuesOf(*dataset, "flow"), ElementsAre(1, 2, 8.0F / 3, 5));
  EXPECT_EQ(dataset->columnSteps()[0]["numbers"], Json({"flow", "rpm"}));
  EXPECT_THAT(valuesOf(*open(text, with({{"lines", {3, 4, 5, 8}}, {"missing", "flow"}})), "rpm"),
              ElementsAre(10, 20, 50));
  EXPECT_THAT(refusal(text, with({{"lines", {3, 4, 5}}})), HasSubstr("t.csv line 8, column rpm: the cell is 'x'"));
  EXPECT_THAT(refusal(text, rest), HasSubstr("t.csv line 3: the row has 1 cells, but the header has 3"));
  // Another file has lines of its own.
  const Json other = stepsForAnotherFile(with({{"lines", {3}}, {"faulty", true}}))[0];
  EXPECT_TRUE(other.contains("faulty") && !other.contains("lines"));
}

TEST_F(Columns, UnknownClassesAreRefusedOrTheirOwn) {
  const std::vector<Json> known = {step("Encode", "town", {{"classes", {"Bern", "Ulm"}}})};
  EXPECT_THAT(refusal("town\nUlm\nRom\n", known),
              HasSubstr("t.csv line 3, column town: the cell is 'Rom', but it is none of the 2 classes"));
  std::vector<Json> own = known;
  own[0]["unknown"] = "own";
  EXPECT_THAT(valuesOf(*open("town\nUlm\nRom\n", own), "town"), ElementsAre(1, 2));
  own[0]["form"] = "one_hot";
  own.push_back(step("Join", "town"));
  EXPECT_THAT(valuesOf(*open("town\nUlm\nRom\n", own), "x"), ElementsAre(0, 1, 0, 0));
  EXPECT_EQ(open("n,x\n10,1\n9,1\n2,1\n", {step("Encode", "n")})->columnSteps()[0]["classes"], Json({"2", "9", "10"}));
}

TEST_F(Columns, DatesBecomeNumbers) {
  const std::vector<Json> numbers = {
      step("DateParts", "d",
           {{"parts", {"year", "month", "day", "day_of_year", "weekday", "hour"}}, {"form", "numbers"}}),
      step("Join", "d")};
  EXPECT_THAT(valuesOf(*open("d\n2024-12-31 23:15\n2026-03-02T06:14:00Z\n", numbers), "x"),
              ElementsAre(2024, 12, 31, 366, 1, 23, 2026, 3, 2, 61, 0, 6));
  EXPECT_THAT(valuesOf(*open("d\n31.12.2024\n1.3.26\n", numbers), "x"),
              ElementsAre(2024, 12, 31, 366, 1, 0, 2026, 3, 1, 60, 6, 0));
  EXPECT_EQ(valuesOf(*open("d\n3/14/2026\n4/5/2026\n", numbers), "x")[7], 4);  // 14 is no month
  EXPECT_THAT(refusal("d\n3/4/2026\n4/5/2026\n", numbers),
              HasSubstr("the day or the month may stand first; say which with order"));
  EXPECT_THAT(refusal("d\n2026-02-30\n2026-02-03\n", numbers),
              HasSubstr("line 2, column d: the cell is '2026-02-30', but a date is needed"));
  const auto circle =
      valuesOf(*open("d\n2026-04-01\n", {step("DateParts", "d", {{"parts", {"month"}}}), step("Join", "d")}), "x");
  EXPECT_NEAR(circle[0], 1, 1e-6);
  EXPECT_NEAR(circle[1], 0, 1e-6);
}

TEST_F(Columns, LogarithmsRefuseWhatHasNone) {
  EXPECT_NEAR(valuesOf(*open("a\n0\n9\n", {step("Log", "a")}), "a")[1], std::log(10.0), 1e-6);
  EXPECT_THAT(refusal("a\n1\n0\n", {step("Log", "a", {{"function", "log"}})}),
              HasSubstr("line 3, column a: the cell is 0, but a logarithm needs numbers above 0"));
}

TEST_F(Columns, ThePreviousValueCrossesBlocks) {
  std::string text = "a,word\n";
  for (int i = 0; i < 300'000; ++i) text += i % 3 == 0 ? fmt::format("{},w{}\n", i, i % 7) : std::string(",\n");
  const auto dataset =
      open(text, {step("Fill", Json::array({"a", "word"}), {{"with", "previous"}}), step("Encode", "word")});
  const std::vector<float> values = valuesOf(*dataset, "a");
  ASSERT_EQ(values.size(), 300'000u);
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<float>(i / 3 * 3)) << i;
}

TEST_F(Columns, ColumnsWithoutSpreadOrValuesAreSaid) {
  const auto dataset = open("a,tank,b\n1,,5\n2,,5\n",
                            {step("Fill", Json::array({"a", "tank"})), step("Standardise", Json::array({"tank", "b"})),
                             step("Join", Json::array({"a", "tank", "b"}))});
  EXPECT_THAT(valuesOf(*dataset, "x"), ElementsAre(1, 0, 2, 0));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("column tank is empty in the training part: it is left out"),
                                    HasSubstr("column b holds 5 everywhere")));
  warnings.clear();
  open("a,tank,b\n1,,5\n2,,5\n",
       {step("Fill", Json::array({"a", "tank"})), step("Standardise", Json::array({"tank", "b"})),
        step("Join", Json::array({"a", "tank", "b"}))});
  EXPECT_EQ(warnings.size(), 2u) << "said again where nothing is measured again";
}

TEST_F(Columns, AFileToPredictNeedsItsColumnsAlone) {
  const auto trained =
      open("id,rooms,town,price\na,3,Ulm,100\nb,4,Bern,200\nc,,Bern,300\n",
           {step("LeaveOut", "id"), step("Fill", "rooms"), step("Encode", "town", {{"form", "one_hot"}}),
            step("Standardise", Json::array({"rooms", "price"})), step("Join", Json::array({"rooms", "town"}))});
  OpenOptions options;
  options.prepare = trained->columnSteps();
  options.needed = {"x"};
  options.everyRow = true;
  const auto dataset = openDataset(folder.write("new.csv", "remark;town;rooms\n?;Ulm;3\nwet;Bern;\n"), options);
  EXPECT_EQ(dataset->schema().variables.size(), 1u);
  const std::vector<float> all = valuesOf(*trained, "x");
  EXPECT_THAT(valuesOf(*dataset, "x"), ElementsAre(all[0], all[1], all[2], all[6], all[7], all[8]));
  EXPECT_THAT(messageOf([&] { openDataset(folder.write("less.csv", "remark,area\n1,2\n"), options); }),
              HasSubstr("less.csv lacks the columns rooms, town; it has remark, area"));
}

TEST_F(Columns, PredictionsAreInTheUnitsOfTheFile) {
  const auto dataset =
      open("price,state\n10,ok\n1000,jam\n90,ok\n", {step("Log", "price", {{"function", "log"}}),
                                                     step("Standardise", "price"),
                                                     step("Encode", "state"),
                                                     {{"step", "Rename"}, {"variable", "price"}, {"to", "y"}}});
  std::vector<Json> prepare = dataset->columnSteps();
  prepare.push_back({{"step", "Scale"}, {"variable", "y"}, {"by", 2.0}, {"add", 1.0}});
  const auto price = meaningOf(prepare, "y");
  ASSERT_EQ(price.size(), 1u);
  EXPECT_EQ(price[0].column, "price");
  for (std::size_t row = 0; row < 3; ++row)
    EXPECT_NEAR(price[0].inUnits(2 * valuesOf(*dataset, "y")[row] + 1), row == 0 ? 10 : row == 1 ? 1000 : 90, 1e-3);
  const auto state = meaningOf(prepare, "state");
  EXPECT_EQ(state[0].className(1), "ok");
  EXPECT_EQ(state[0].className(7), "7");
  EXPECT_FALSE(meaningOf(prepare, "other")[0].changed());
}

TEST_F(Columns, StepsThatCannotBeDoneAreToldWithTheRemedy) {
  EXPECT_THAT(refusal("rooms,y\n1,2\n", {step("Fill", "room")}),
              HasSubstr("there is no column 'room' in t.csv; did you mean 'rooms'?"));
  EXPECT_THAT(orderProblem({{{"step", "Normalise"}, {"variable", "x"}}, step("Standardise", "x")}),
              HasSubstr("move step 2 before step 1"));
  const Json normalise = {{"step", "Normalise"}};
  EXPECT_THAT(orderProblem({normalise, step("Join", "a")}), HasSubstr("move step 2 before step 1"));
  EXPECT_THAT(orderProblem({step("Fill", "a"), {{"step", "Flip"}}, step("Fill", "b")}), IsEmpty());
  EXPECT_THAT(refusal("a\n1\n", {step("Clip", "a")}), HasSubstr("it has no bounds"));
  EXPECT_THAT(refusal("a,t\n1,Ulm\n", {step("Standardise", "t")}),
              HasSubstr("column t holds no numbers (the cell is 'Ulm'); encode its words first"));
}

}  // namespace
}  // namespace loom
