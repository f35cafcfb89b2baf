#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/philox.h"
#include "engine/base/shape.h"
#include "engine/base/words.h"

namespace loom {
namespace {

using testing::HasSubstr;

std::string messageOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Error, GainsContextOnTheWayUp) {
  Error error(ErrorCode::badData, "the label is 12, but there are 10 classes");
  error.addContext("train.csv line 812, column y").addContext("in dataset 'training'");
  EXPECT_STREQ(error.what(),
               "in dataset 'training': train.csv line 812, column y: the label is 12, but there are 10 classes");
}

// The known-answer vectors of Random123 1.09 (kat_vectors, philox4x32 10 rounds), key and counter all zero and all
// ones.
TEST(Philox, MatchesTheAuthorsVectors) {
  EXPECT_EQ(Philox(0, std::uint64_t{0})(0, 0), (Philox::Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox(~std::uint64_t{0}, std::uint64_t{0})(~std::uint64_t{0}, ~std::uint64_t{0}),
            (Philox::Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(Philox, NormalHasUnitVariance) {
  Philox random(7, "conv1/weight");
  double sum = 0, squares = 0;
  constexpr int kCount = 200000;
  for (int i = 0; i < kCount; ++i) {
    const double value = random.normal(i);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.01);
  EXPECT_NEAR(squares / kCount, 1, 0.01);
}

TEST(Json, NamesLineAndColumnOfAFault) {
  EXPECT_THAT(messageOf([] { parseJson("{\n  \"a\": 1,\n  \"b\": }", "p.loom"); }),
              HasSubstr("p.loom line 3, column 8"));
  EXPECT_THAT(messageOf([] { parseJson("{\"a\": 1, \"a\": 2}", "p.loom"); }), HasSubstr("\"a\" stands twice"));
  EXPECT_THAT(messageOf([] { parseJson(std::string(100000, '['), "p.loom"); }), HasSubstr("nested deeper"));
}

TEST(Json, KeepsNumbersThatAreNotFinite) {
  EXPECT_TRUE(std::isnan(numberFromJson(numberToJson(std::nan("")))));
  EXPECT_EQ(numberFromJson(numberToJson(-INFINITY)), -INFINITY);
  EXPECT_EQ(numberFromJson(numberToJson(0.1)), 0.1);
}

TEST(Json, FormatsForGitDiff) {
  const Json value =
      parseJson(R"({"nodes":[{"id":"x","shape":[1,28,28],"text":"a: \"b\", c"},{"id":"y"}],"empty":{}})", "t");
  const std::string text = formatJson(value);
  EXPECT_EQ(text,
            "{\n  \"nodes\": [\n    {\"id\": \"x\", \"shape\": [1, 28, 28], \"text\": \"a: \\\"b\\\", c\"},\n    "
            "{\"id\": \"y\"}\n  ],\n"
            "  \"empty\": {}\n}\n");
  EXPECT_EQ(parseJson(text, "t"), value);
}

TEST(Files, AreReplacedWholeOrNotAtAll) {
  const auto folder = std::filesystem::temp_directory_path() / ("gradloom-base-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  writeFileAtomically(folder / "a", "old");
  EXPECT_THROW(writeFileAtomically(folder / "a",
                                   [](const Append& append) {
                                     append("half", 4);
                                     throw Error(ErrorCode::internal, "stop");
                                   }),
               Error);
  EXPECT_EQ(readFile(folder / "a"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  EXPECT_THAT(messageOf([&] { readFile(folder / "b"); }), HasSubstr("no such file"));
  EXPECT_EQ(MappedFile(folder / "a").text(), "old");
  std::filesystem::remove_all(folder);
}

TEST(Files, SayThatTheDiskIsFull) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  EXPECT_THAT(messageOf([] { throwErrno(ENOSPC, "write", "x"); }), HasSubstr("disk is full"));
}

// Packs and checkpoints hold these numbers: another function, or another seed, would make all of them strangers.
TEST(Hash64, IsXxh64) {
  const auto of = [](std::string_view text, std::uint64_t seed = 0) {
    return Hash64::of(std::as_bytes(std::span(text)), seed);
  };
  EXPECT_EQ(of(""), 0xef46db3751d8e999u);
  EXPECT_EQ(of("a"), 0xd24ec4f1a98c6e5bu);
  EXPECT_EQ(of("abc"), 0x44bc2cf5ad770999u);
  EXPECT_NE(of("abc", 1), of("abc"));
  Hash64 pieces;
  pieces.add("a", 1);
  pieces.add(nullptr, 0);
  pieces.add("bc", 2);
  EXPECT_EQ(pieces.value(), of("abc"));
}

TEST(Hash64, DependsOnEveryByteAndTheLength) {
  std::vector<std::byte> bytes(100);
  std::set<std::uint64_t> hashes{Hash64::of(bytes)};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = std::byte{1};
    EXPECT_TRUE(hashes.insert(Hash64::of(bytes)).second) << i;
    bytes[i] = std::byte{0};
    EXPECT_TRUE(hashes.insert(Hash64::of(std::span(bytes).first(i))).second) << i;
  }
}

TEST(Words, OneOfSeveral) {
  EXPECT_EQ(counted(1, "rows"), "1 row");
  EXPECT_EQ(counted(0, "rows"), "0 rows");
  EXPECT_EQ(counted(2, "new columns"), "2 new columns");
  EXPECT_EQ(counted(1, "new columns"), "1 new column");
  EXPECT_EQ(counted(1, "batches"), "1 batch");
  EXPECT_EQ(counted(1, "classes"), "1 class");
  EXPECT_EQ(counted(1, "passes"), "1 pass");
  EXPECT_EQ(counted(1, "axes"), "1 axis");
  EXPECT_EQ(counted(1, "boxes"), "1 box");
  EXPECT_EQ(counted(1, "entries"), "1 entry");
  EXPECT_EQ(singular("MiB"), "MiB");
  EXPECT_EQ(singular(""), "");
}

TEST(Shape, CountsAndNeverOverflows) {
  EXPECT_EQ((Shape{16, 32, 32}).toString(), "16×32×32");
  EXPECT_EQ((Shape{2, 3}).elements(), 6);
  EXPECT_EQ((Shape{2, 3})[-1], 3);
  EXPECT_THROW((void)(Shape{1ll << 40, 1ll << 40}).elements(), Error);
}

}  // namespace
}  // namespace loom
