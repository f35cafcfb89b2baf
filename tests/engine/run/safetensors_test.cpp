#include "engine/run/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "tests/engine/run/folder.h"

namespace loom {
namespace {

class Tensors : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 37; ++i) m_a.push_back(0.5f * static_cast<float>(i) - 3);
    TensorFile::write(
        m_path, {{"conv1/weight", Shape{37}, m_a}, {"b", Shape{}, std::span(m_a).first(1)}, {"empty", Shape{0, 3}, {}}},
        {{"gradloom", "{\"step\":3}"}});
    m_text = readFile(m_path);
  }
  std::string refusal(const std::string& text) const {
    const std::filesystem::path path = m_folder.path() / "broken.safetensors";
    std::ofstream(path, std::ios::binary) << text;
    try {
      const TensorFile file(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  TestFolder m_folder{"tensors"};
  std::filesystem::path m_path = m_folder.path() / "step.safetensors";
  std::vector<float> m_a;
  std::string m_text;
};

TEST_F(Tensors, ComeBack) {
  const TensorFile file(m_path);
  ASSERT_EQ(file.tensors().size(), 3u);
  EXPECT_THAT(file.find("conv1/weight")->values, testing::ElementsAreArray(m_a));
  EXPECT_EQ(file.find("b")->shape, Shape{});
  EXPECT_EQ(file.find("empty")->values.size(), 0u);
  EXPECT_EQ(file.metadata().at("gradloom"), "{\"step\":3}");
  EXPECT_EQ(file.find("c"), nullptr);
}

// The layout that other readers expect, byte by byte.
TEST_F(Tensors, AreInTheFormatOfOthers) {
  std::uint64_t length = 0;
  std::memcpy(&length, m_text.data(), 8);
  const Json header = Json::parse(m_text.substr(8, length));
  EXPECT_EQ(header["conv1/weight"]["dtype"], "F32");
  EXPECT_EQ(header["conv1/weight"]["shape"], Json::array({37}));
  EXPECT_EQ(header["conv1/weight"]["data_offsets"], Json::array({0, 148}));
  EXPECT_EQ(header["b"]["data_offsets"], Json::array({148, 152}));
  EXPECT_EQ((8 + length) % 8, 0u);
  float second = 0;
  std::memcpy(&second, m_text.data() + 8 + length + 4, 4);
  EXPECT_EQ(second, -2.5f);
}

TEST_F(Tensors, EveryTruncationIsRefused) {
  for (std::size_t size = 0; size < m_text.size(); ++size)
    ASSERT_THAT(refusal(m_text.substr(0, size)), testing::HasSubstr("no whole checkpoint"))
        << size << " of " << m_text.size() << " bytes";
  EXPECT_THAT(refusal(m_text + "x"), testing::HasSubstr("follow the header"));
  EXPECT_EQ(refusal(m_text), "");
}

// A file whose length is right, but whose end was never written.
TEST_F(Tensors, HolesAreRefused) {
  std::string hole = m_text;
  std::fill(hole.end() - 60, hole.end(), '\0');
  EXPECT_THAT(refusal(hole), testing::HasSubstr("hash"));
}

TEST_F(Tensors, AChangedByteIsRefused) {
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    std::string changed = m_text;
    const std::size_t at = random() % changed.size();
    changed[at] = static_cast<char>(changed[at] ^ (1 << random() % 8));
    const std::string reason = refusal(changed);
    const std::size_t key = m_text.find("\"header_xxh64\"");
    if (at >= key && at < key + 16) continue;  // without its name the header has no hash, as in earlier files
    EXPECT_THAT(reason, testing::Not(testing::IsEmpty())) << at;
    if (at >= m_text.size() - 152) {
      EXPECT_THAT(reason, testing::HasSubstr("hash")) << at;
    }
  }
}

TEST_F(Tensors, HeadersThatLieAreRefused) {
  const auto file = [](const std::string& header, std::size_t data) {
    std::uint64_t length = header.size();
    return std::string(reinterpret_cast<const char*>(&length), 8) + header + std::string(data, '\0');
  };
  EXPECT_THAT(refusal(file("[]", 0)), testing::HasSubstr("not JSON"));
  EXPECT_THAT(refusal(file(R"({"a":{"dtype":"F17","shape":[1],"data_offsets":[0,2]}})", 2)), testing::HasSubstr("F17"));
  EXPECT_THAT(refusal(file(R"({"a":{"dtype":"F16","shape":[1],"data_offsets":[0,4]}})", 4)),
              testing::HasSubstr("4 bytes"));
  EXPECT_THAT(refusal(file(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4)),
              testing::HasSubstr("4 bytes"));
  EXPECT_THAT(refusal(file(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4)), testing::HasSubstr("-1"));
  EXPECT_THAT(refusal(file(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8)),
              testing::HasSubstr("expected"));
  EXPECT_THAT(refusal(file(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", 0)),
              testing::Not(testing::IsEmpty()));
  EXPECT_THAT(refusal(file(R"({"a":5})", 0)), testing::HasSubstr("described wrongly"));
  EXPECT_THAT(refusal(file(R"({"__metadata__":{"a":5}})", 0)), testing::HasSubstr("no text"));
  EXPECT_THAT(refusal(std::string(8, '\xff')), testing::HasSubstr("header should have"));
}

// As other programs write them: half the bits, a header in any order, counters beside weights.
TEST_F(Tensors, OfOtherProgramsAreReadAsFloats) {
  const std::uint16_t halves[] = {0x3c00, 0xc100, 0x0001, 0x7c00};  // 1, -2.5, 2^-24, infinity
  const std::uint16_t brains[] = {0x3f80, 0xc020};                  // 1, -2.5
  const double whole = 0.1;
  const std::int64_t count = 7;
  const std::string header =
      R"({"n":{"dtype":"I64","shape":[],"data_offsets":[20,28]},"w":{"dtype":"F16","shape":[4],"data_offsets":[0,8]},)"
      R"("b":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]},"d":{"dtype":"F64","shape":[1],"data_offsets":[12,20]}})";
  const std::uint64_t length = header.size();
  std::string text(reinterpret_cast<const char*>(&length), 8);
  text += header;
  text.append(reinterpret_cast<const char*>(halves), sizeof halves);
  text.append(reinterpret_cast<const char*>(brains), sizeof brains);
  text.append(reinterpret_cast<const char*>(&whole), sizeof whole);
  text.append(reinterpret_cast<const char*>(&count), sizeof count);
  const std::filesystem::path path = m_folder.path() / "other.safetensors";
  std::ofstream(path, std::ios::binary) << text;
  const TensorFile file(path);
  ASSERT_EQ(file.tensors().size(), 3u);
  EXPECT_THAT(file.find("w")->values,
              testing::ElementsAre(1.0f, -2.5f, std::ldexp(1.0f, -24), std::numeric_limits<float>::infinity()));
  EXPECT_THAT(file.find("b")->values, testing::ElementsAre(1.0f, -2.5f));
  EXPECT_THAT(file.find("d")->values, testing::ElementsAre(0.1f));
}

// Those of before "data_xxh64" had another hash, under another name, and none of the header: they are read as files of
// other programs are.
TEST_F(Tensors, OfEarlierProgramsAreRead) {
  std::string older = m_text;
  for (const auto& [name, before] : {std::pair{"data_xxh64", "data_hash\""}, {"header_xxh64", "header_hash\""}}) {
    const std::size_t key = older.find(name), length = std::string_view(name).size();
    ASSERT_NE(key, std::string::npos);
    older.replace(key, length, before);  // as many bytes: the quote that follows becomes a space
    older[key + length] = ' ';
  }
  EXPECT_EQ(refusal(older), "");
}

}  // namespace
}  // namespace loom
