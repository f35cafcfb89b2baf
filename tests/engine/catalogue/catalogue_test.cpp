#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/base/error.h"
#include "engine/catalogue/entry.h"
#include "engine/catalogue/text.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Problems = std::vector<FieldProblem>;

// One field of every type.
const Entry& entry() {
  static const Entry entry = [] {
    Entry entry;
    entry.id = "Thing";
    entry.fields = {
        {.key = "count",
         .help = "how many",
         .type = FieldType::integer,
         .defaultValue = nullptr,
         .hard = Range{1, 100},
         .comfortable = Range{2, 50},
         .unit = "samples"},
        {.key = "rate", .type = FieldType::real, .defaultValue = 0.5, .hard = Range{0, INFINITY}},
        {.key = "on", .type = FieldType::boolean, .defaultValue = false},
        {.key = "name", .type = FieldType::text, .defaultValue = "", .optional = true},
        {.key = "mode",
         .type = FieldType::choice,
         .defaultValue = "same",
         .choices = {{"same", "Same", ""}, {"valid", "Valid", ""}, {"explicit", "Explicit", ""}}},
        {.key = "kernel", .type = FieldType::integers, .defaultValue = Json::array({3, 3}), .hard = Range{1, 9}},
        {.key = "betas",
         .type = FieldType::reals,
         .defaultValue = Json::array({0.9, 0.99}),
         .hard = Range{0, 1},
         .count = 2},
        {.key = "patterns", .type = FieldType::texts, .defaultValue = Json::array()},
        {.key = "shape", .type = FieldType::shape, .defaultValue = Json::array({1}), .hard = Range{1, 1000}},
        {.key = "file", .type = FieldType::file, .defaultValue = nullptr, .optional = true},
        {.key = "pads",
         .type = FieldType::integers,
         .defaultValue = 0,
         .hard = Range{0, 9},
         .onlyWhen = "mode=explicit"},
        {.key = "depth", .type = FieldType::integer, .defaultValue = 1, .hard = Range{1, 9}, .onlyWhen = "on=true"}};
    return entry;
  }();
  return entry;
}

Problems of(const char* text) {
  return validate(entry(), parseJson(text, "t"));
}

TEST(Validate, AcceptsEveryTypeOfField) {
  EXPECT_THAT(
      of(R"({"count": 7, "rate": 1, "on": true, "name": "a", "mode": "explicit", "kernel": [5], "betas": [0, 1], "patterns": ["*/bias"],
                     "shape": [3, 8, 8], "file": "a.csv", "pads": [1, 2], "depth": 3})"),
      IsEmpty());
  EXPECT_THAT(of(R"({"count": 7, "kernel": 3, "name": null})"), IsEmpty());
}

struct Wrong {
  const char* text;
  const char* key;
  const char* message;
  Json remedy = nullptr;  // null: none
};

class WrongValues : public testing::TestWithParam<Wrong> {};

TEST_P(WrongValues, NameTheValueAndWhatWouldBeRight) {
  const Problems problems = of(GetParam().text);
  ASSERT_EQ(problems.size(), 1u) << (problems.size() > 1 ? problems[1].message : "");
  EXPECT_EQ(problems[0].key, GetParam().key);
  EXPECT_EQ(problems[0].severity, FieldProblem::Severity::error);
  EXPECT_THAT(problems[0].message, HasSubstr(GetParam().message));
  EXPECT_EQ(problems[0].remedy.value_or(Json(nullptr)), GetParam().remedy);
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongValues,
    testing::Values(
        Wrong{R"({})", "count", "'count' is missing: how many"},
        Wrong{R"({"count": 0})", "count", "'count' is 0, but 1 to 100 samples is possible", 1},
        Wrong{R"({"count": 101})", "count", "101, but 1 to 100", 100},
        Wrong{R"({"count": 7.5})", "count", "'count' is 7.5, but a whole number is wanted", 8},
        Wrong{R"({"count": "7"})", "count", "is \"7\", but a whole number is wanted", 7},
        Wrong{R"({"count": true})", "count", "is true, but a whole number is wanted"},
        Wrong{R"({"count": 18446744073709551615})", "count", "but a whole number is wanted"},
        Wrong{R"({"count": [1]})", "count", "but a whole number is wanted", 1},
        Wrong{R"({"count": 7, "rate": -1})", "rate", "'rate' is -1, but at least 0 is possible", 0},
        Wrong{R"({"count": 7, "rate": "nan"})", "rate", "is \"nan\", but a number is wanted"},
        Wrong{R"({"count": 7, "rate": "0.25"})", "rate", "but a number is wanted", 0.25},
        Wrong{R"({"count": 7, "on": 1})", "on", "'on' is 1, but true or false is wanted", true},
        Wrong{R"({"count": 7, "on": "yes"})", "on", "but true or false is wanted"},
        Wrong{R"({"count": 7, "name": 7})", "name", "but a text is wanted"},
        Wrong{R"({"count": 7, "mode": "Same"})", "mode", "is \"Same\", but it is one of same, valid, explicit", "same"},
        Wrong{R"({"count": 7, "mode": "reflection"})", "mode", "but it is one of same, valid, explicit", "same"},
        Wrong{R"({"count": 7, "kernel": []})", "kernel",
              "is [], but a whole number or a list of whole numbers is wanted"},
        Wrong{R"({"count": 7, "kernel": [3, 12]})", "kernel", "'kernel' is 12, but 1 to 9 is possible",
              Json::array({3, 9})},
        Wrong{R"({"count": 7, "kernel": [3, 0.5]})", "kernel", "is [3, 0.5]"},
        Wrong{R"({"count": 7, "betas": [0.9]})", "betas", "'betas' has 1 numbers, but 2 are wanted"},
        Wrong{R"({"count": 7, "betas": 0.9})", "betas", "a list of numbers is wanted", Json::array({0.9})},
        Wrong{R"({"count": 7, "patterns": 3})", "patterns", "a list of texts is wanted"},
        Wrong{R"({"count": 7, "shape": 28})", "shape", "a list of extents", Json::array({28})},
        Wrong{R"({"count": 7, "shape": [0, 28]})", "shape", "'shape' is 0, but 1 to 1000", Json::array({1, 28})},
        Wrong{R"({"count": 7, "shape": [1,1,1,1,1,1,1,1,1]})", "shape", "'shape' has 9 extents, but at most 8"},
        Wrong{R"({"count": 7, "Rate": 1})", "Rate", "unknown key 'Rate': did you mean 'rate'?"},
        Wrong{R"({"count": 7, "frobnicate": 1})", "frobnicate",
              "unknown key 'frobnicate': known are count, rate, on"}));

TEST(Validate, ReportsAllProblemsAtOnce) {
  EXPECT_EQ(of(R"({"count": 0, "rate": -1, "mode": "x", "huh": 1})").size(), 4u);
  EXPECT_THAT(validate(entry(), Json::array())[0].message, HasSubstr("is [], but an object of fields is wanted"));
}

TEST(Validate, WarnsOutsideTheComfortableRangeAndKeepsTheValue) {
  const Problems problems = of(R"({"count": 60})");
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].severity, FieldProblem::Severity::warning);
  EXPECT_EQ(problems[0].message, "'count' is 60; usual is 2 to 50 samples");
}

// A whole number of a real field: the remedy is the bound, not the bound cut to a whole number.
TEST(Validate, OffersABoundThatIsNoWholeNumber) {
  Entry one;
  one.id = "Thing";
  one.fields = {{.key = "epochs", .type = FieldType::real, .defaultValue = 1.0, .comfortable = Range{0.01, 1000}}};
  const Problems problems = validate(one, Json{{"epochs", 0}});
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].remedy, std::optional<Json>(0.01));
}

// A single text is a list of one, as a single number is.
TEST(Validate, TakesATextForAListOfTexts) {
  EXPECT_THAT(of(R"({"count": 7, "patterns": "w"})"), IsEmpty());
  const Json given{{"patterns", "w"}};
  EXPECT_THAT(Values(entry(), given).texts("patterns"), testing::ElementsAre("w"));
}

TEST(Validate, WarnsOfAFieldThatIsNotRead) {
  const Problems problems = of(R"({"count": 7, "pads": 1, "depth": 2})");
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].message, "'pads' is not used while 'mode' is same");
  EXPECT_EQ(problems[1].message, "'depth' is not used while 'on' is false");
  EXPECT_EQ(problems[0].severity, FieldProblem::Severity::warning);
}

TEST(Validate, MessagesStayShortAndValidUtf8) {
  const Json given{{"count", 7}, {"mode", std::string(5000, 'x') + "\xc3"}, {std::string(400, 'k'), 1}};
  for (const FieldProblem& problem : validate(entry(), given)) {
    EXPECT_LT(problem.message.size(), 300u);
    EXPECT_NO_THROW((void)Json(problem.message).dump());
  }
  EXPECT_EQ(clipped("ääää", 3), "ä…");
}

TEST(Values, AnswerFromTheEntryWhatIsNotGiven) {
  const Json given = parseJson(R"({"count": 7, "kernel": 5, "betas": [0.5, 1]})", "t");
  const Values values(entry(), given);
  EXPECT_EQ(values.integer("count"), 7);
  EXPECT_EQ(values.real("rate"), 0.5);
  EXPECT_FALSE(values.boolean("on"));
  EXPECT_EQ(values.text("mode"), "same");
  EXPECT_EQ(values.text("file"), "");
  EXPECT_THAT(values.integers("kernel", 3), ElementsAre(5, 5, 5));
  EXPECT_THAT(values.reals("betas"), ElementsAre(0.5, 1.0));
  EXPECT_THAT(values.integers("shape"), ElementsAre(1));
  EXPECT_FALSE(values.has("file"));
  EXPECT_TRUE(values.has("rate"));
}

TEST(Values, ADefaultListServesAnyNumberOfAxesAGivenOneDoesNot) {
  const Json none = nullptr, two = parseJson(R"({"kernel": [3, 3]})", "t");
  EXPECT_THAT(Values(entry(), none).integers("kernel", 3), ElementsAre(3, 3, 3));
  EXPECT_THROW(Values(entry(), two).integers("kernel", 3), Error);
}

TEST(Values, ThrowForAnotherTypeAndForAnUnknownKey) {
  const Json given = parseJson(R"({"count": "7", "on": 1})", "t");
  const Values values(entry(), given);
  EXPECT_THROW((void)values.integer("count"), Error);
  EXPECT_THROW((void)values.boolean("on"), Error);
  EXPECT_THROW((void)values.real("no such"), Error);
}

TEST(WithoutDefaults, KeepsWhatDiffersInTheOrderOfTheEntry) {
  const Json given = parseJson(
      R"({"zzz": 1, "kernel": 3, "mode": "valid", "rate": 0.5, "count": 7, "on": false, "betas": [0.9, 0.98], "file": null})",
      "t");
  EXPECT_EQ(withoutDefaults(entry(), given).dump(), R"({"count":7,"mode":"valid","betas":[0.9,0.98],"zzz":1})");
  EXPECT_EQ(withoutDefaults(entry(), nullptr), Json::object());
}

TEST(ToJson, HoldsEveryFieldWithItsRange) {
  const Json json = toJson(entry());
  EXPECT_EQ(json["fields"].size(), entry().fields.size());
  EXPECT_EQ(json["fields"][0]["range"], Json::array({1, 100}));
  EXPECT_EQ(json["fields"][1]["range"], Json::array({0, nullptr}));
  EXPECT_EQ(json["fields"][4]["choices"].size(), 3u);
}

}  // namespace
}  // namespace loom
