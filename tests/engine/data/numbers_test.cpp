// Numbers of a CSV against strtof, which is correctly rounded: every bit, on a million numbers of every length.
#include "engine/data/numbers.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "engine/base/philox.h"
#include "engine/data/text.h"

namespace loom {
namespace {

NumberKind kindOf(std::string_view cell) {
  float value;
  return parseNumber(cell, value);
}

// Both ways in must agree with strtof wherever they answer.
void expectLikeStrtof(const std::string& text, std::int64_t& fast) {
  const float wanted = std::strtof(text.c_str(), nullptr);
  float value = 0;
  ASSERT_EQ(parseNumber(text, value), std::isfinite(wanted) ? NumberKind::number : NumberKind::outOfRange) << text;
  if (std::isfinite(wanted)) {
    ASSERT_EQ(std::memcmp(&value, &wanted, sizeof value), 0) << text << ": " << value << " instead of " << wanted;
  }
  const std::string line = text + "\n";
  float quick = 0;
  if (const char* end = parseNumberFast(line.c_str(), quick)) {
    ++fast;
    ASSERT_EQ(*end, '\n') << text;
    ASSERT_EQ(std::memcmp(&quick, &wanted, sizeof quick), 0) << text << ": " << quick << " instead of " << wanted;
  }
}

TEST(Numbers, AreRoundedAsStrtofRoundsThem) {
  const Philox random(3, "numbers");
  std::int64_t fast = 0, all = 0;
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const auto words = random(i);
    const std::uint64_t digits = static_cast<std::uint64_t>(words[0]) << 32 | words[1];
    const int length = 1 + static_cast<int>(words[2] % 19),
              point = static_cast<int>(words[3] % static_cast<std::uint32_t>(length + 1));
    std::string text = fmt::format("{:020d}", digits).substr(1, static_cast<std::size_t>(length));
    text.insert(static_cast<std::size_t>(point), ".");
    if (words[2] & 0x1000) text.insert(0, "-");
    if (words[2] & 0x2000) text += fmt::format("e{}", static_cast<int>(words[3] >> 8 & 63) - 32);
    expectLikeStrtof(text, fast);
    // As other programs write floats and doubles: shortest, and 17 digits.
    float narrow;
    std::memcpy(&narrow, &words[0], sizeof narrow);
    if (std::isfinite(narrow)) expectLikeStrtof(fmt::format("{}", narrow), fast);
    expectLikeStrtof(fmt::format("{:.17g}", digits * 0x1p-64), fast);
    all += 3;
  }
  EXPECT_GT(fast, all * 6 / 10) << "most numbers must go the fast way";
}

// The places where two roundings go wrong: decimals within 1e-17 of the middle between two floats.
TEST(Numbers, NearTheMiddleBetweenTwoFloatsAreRoundedRight) {
  const Philox random(4, "middle");
  std::int64_t fast = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const auto words = random(i);
    const std::uint32_t bits = 0x3f800000u + words[0] % 0x05000000u;  // 1 to 1,000 or so
    float low;
    std::memcpy(&low, &bits, sizeof low);
    const double middle = (static_cast<double>(low) + std::nextafterf(low, INFINITY)) / 2;
    for (const double value : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e9)}) {
      for (const int digits : {15, 16, 17, 18, 19}) expectLikeStrtof(fmt::format("{:.{}g}", value, digits), fast);
      expectLikeStrtof(fmt::format("{:.30f}", value), fast);
    }
  }
  for (const char* text : {"16777217", "16777219", "33554434", "16777217.0", "1.00000005960464477539",
                           "1.000000059604644775390625", "1.0000000596046447753906251"})
    expectLikeStrtof(text, fast);
}

TEST(Numbers, TakeEveryDecimalForm) {
  for (const auto& [text, wanted] :
       std::vector<std::pair<std::string, float>>{{"0", 0},
                                                  {"-0", -0.0f},
                                                  {"1.", 1},
                                                  {".5", 0.5f},
                                                  {"+3", 3},
                                                  {"1e5", 1e5f},
                                                  {"1E+5", 1e5f},
                                                  {"2.5e-3", 2.5e-3f},
                                                  {" 7 ", 7},
                                                  {"\t8", 8},
                                                  {"00012", 12},
                                                  {"3.4028234e38", 3.4028234e38f},
                                                  {"1e-45", 1.4e-45f},
                                                  {"1e-400", 0},
                                                  {"-1e-60", -0.0f},
                                                  {"0.000000000000000000000000000000000000001", 1e-39f},
                                                  {"123456789012345678901234567890", 1.2345679e29f},
                                                  {"0e999", 0},
                                                  {"1e0", 1}}) {
    float value = 99;
    EXPECT_EQ(parseNumber(text, value), NumberKind::number) << text;
    EXPECT_EQ(value, wanted) << text;
    EXPECT_EQ(std::signbit(value), std::signbit(wanted)) << text;
  }
}

TEST(Numbers, RefuseWhatIsNone) {
  for (const char* text : {"cat", "1,5", "0x10",  "1_000",  "--1",     "+-1", "1e", "1e+", "e5",    ".",    "-",
                           "+",   "1 2", "1.2.3", "nan(1)", "infinit", "1f",  "１", "−1",  "1e5.5", "+nan0"})
    EXPECT_EQ(kindOf(text), NumberKind::text) << text;
  for (const char* text : {"nan", "NaN", "-nan", "inf", "-Inf", "Infinity", "+inf"})
    EXPECT_EQ(kindOf(text), NumberKind::notFinite) << text;
  for (const char* text : {"1e39", "-3.5e38", "1e999", "340282360000000000000000000000000000000"})
    EXPECT_EQ(kindOf(text), NumberKind::outOfRange) << text;
  for (const char* text : {"", " ", "\t \r"}) EXPECT_EQ(kindOf(text), NumberKind::empty) << text;
  EXPECT_EQ(kindOf(std::string_view("1\0", 2)), NumberKind::text);
}

TEST(Text, OfACellIsSafeToPrint) {
  EXPECT_EQ(quotedText("cat"), "'cat'");
  EXPECT_EQ(quotedText(std::string_view("a\0\x1b[31m", 7)), "'a\\x00\\x1b[31m'");
  EXPECT_EQ(quotedText("gr\xc3\xbcn"), "'gr\xc3\xbcn'");
  EXPECT_EQ(quotedText("gr\xfcn"), "'gr\\xfcn'");
  EXPECT_EQ(quotedText(std::string(100, 'x')), "'" + std::string(60, 'x') + "' (40 more bytes)");
}

TEST(Text, KnowsUtf8) {
  EXPECT_EQ(findNonUtf8("plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82"), std::string_view::npos);
  for (const char* wrong : {"a\xff", "a\xc3", "a\xc0\xaf", "a\xe0\x80\xaf", "a\xed\xa0\x80", "a\xf5\x80\x80\x80",
                            "a\xf4\x90\x80\x80", "a\xe2\x82"})
    EXPECT_EQ(findNonUtf8(wrong), 1u) << wrong;
}

}  // namespace
}  // namespace loom
