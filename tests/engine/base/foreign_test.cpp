// What strangers wrote, before it is shown.
#include "engine/base/foreign.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/base/json.h"

namespace loom {
namespace {

TEST(ShownText, ObeysNothing) {
  EXPECT_EQ(shownText("\x1b]0;pwned\x07\x1b[2J"), "\\x1b]0;pwned\\x07\\x1b[2J");
  EXPECT_EQ(shownText("a\x7f\r\xc2\x9b"
                      "31m"),
            "a\\x7f\\x0d\\u009b31m");
  EXPECT_EQ(shownText("a\xe2\x80\xae txt.exe\xe2\x81\xa6"), "a\\u202e txt.exe\\u2066");  // turned writing
  EXPECT_EQ(shownText(std::string("a\0b", 3)), "a\\x00b");
}

TEST(ShownText, LeavesWhatIsText) {
  const std::string text = "é, 測試, 🙂: \"x\"\n\ttwo";
  EXPECT_EQ(shownText(text), text);
  EXPECT_EQ(shownText("a\n\tb", kLongestShown, ShownLines::one), "a\\n\\tb");
}

TEST(ShownText, SpellsOutWhatIsNoUtf8) {
  EXPECT_EQ(shownText("\xff"), "\\xff");
  EXPECT_EQ(shownText("\xc3"), "\\xc3");           // cut
  EXPECT_EQ(shownText("\xc0\x9b"), "\\xc0\\x9b");  // a longer way to write ESC's neighbour
  EXPECT_EQ(shownText("\xed\xa0\x80"), "\\xed\\xa0\\x80");
}

TEST(ShownText, IsCutBetweenCharacters) {
  EXPECT_EQ(shownText("aü", 2), "a...");
  EXPECT_EQ(shownText("aü", 3), "aü");
  EXPECT_EQ(shownText(std::string(100000, 'x')).size(), kLongestShown + 3);
}

TEST(Showable, ReachesNamesAndDepths) {
  Json json = {{"a\x1b", {{"b", "c\x1b"}, {"n", 3}}}, {"list", {"\x07"}}};
  makeShowable(json);
  EXPECT_EQ(json.dump(), R"({"a\\x1b":{"b":"c\\x1b","n":3},"list":["\\x07"]})");
  Json deep = Json::parse(std::string(200000, '[') + std::string(200000, ']'));
  makeShowable(deep);
  EXPECT_EQ(deep.dump(), std::string(64, '[') + "null" + std::string(64, ']'));
}

TEST(Foreign, AnotherTypeIsNoValue) {
  const Json json = {{"loss", Json::object()}, {"rate", "inf"}, {"step", "x"}, {"name", 7}, {"whole", 3}};
  EXPECT_TRUE(std::isnan(numberIn(json, "loss")));
  EXPECT_TRUE(std::isnan(numberIn(json, "step")));
  EXPECT_TRUE(std::isinf(numberIn(json, "rate")));
  EXPECT_EQ(numberIn(json, "whole"), 3);
  EXPECT_EQ(wholeIn(json, "step"), 0);
  EXPECT_EQ(wholeIn(json, "whole"), 3);
  EXPECT_EQ(textIn(json, "name"), "");
}

}  // namespace
}  // namespace loom
