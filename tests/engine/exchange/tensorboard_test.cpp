// TensorBoard's event files, read back by a reader of this test's own: it takes records apart by the format's
// description (its record writer, the messages Event and Summary) and shares nothing with the writer.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>

#include "engine/base/error.h"
#include "engine/exchange/tensorboard/event_file.h"
#include "engine/exchange/tensorboard/run_scalars.h"
#include "engine/run/event_series.h"

using namespace loom;

namespace {

namespace fs = std::filesystem;

// Bit by bit from the polynomial x^32+x^28+...+1 of Castagnoli, not by a table.
std::uint32_t slowCrc(const std::string& bytes) {
  std::uint32_t crc = ~0u;
  for (const char each : bytes) {
    crc ^= static_cast<unsigned char>(each);
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0x82F63B78u : crc >> 1;
  }
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

template <class T>
T take(const std::string& bytes, std::size_t& at) {
  T value;
  EXPECT_LE(at + sizeof value, bytes.size());
  std::memcpy(&value, bytes.data() + at, sizeof value);
  at += sizeof value;
  return value;
}

struct Fields {
  std::multimap<int, std::string> bytes;
  std::map<int, std::uint64_t> numbers;
};

std::uint64_t takeVarint(const std::string& bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (int shift = 0; at < bytes.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return value;
}

Fields parse(const std::string& message) {
  Fields fields;
  for (std::size_t at = 0; at < message.size();) {
    const std::uint64_t key = takeVarint(message, at);
    const int field = static_cast<int>(key >> 3);
    switch (key & 7) {
      case 0:
        fields.numbers[field] = takeVarint(message, at);
        break;
      case 1:
        fields.numbers[field] = take<std::uint64_t>(message, at);
        break;
      case 5:
        fields.numbers[field] = take<std::uint32_t>(message, at);
        break;
      case 2: {
        const std::uint64_t size = takeVarint(message, at);
        fields.bytes.emplace(field, message.substr(at, size));
        at += size;
        break;
      }
      default:
        ADD_FAILURE() << "wire type " << (key & 7);
        return fields;
    }
  }
  return fields;
}

struct Point {
  std::int64_t step;
  double wallTime;
  float value;
};

struct Read {
  std::string version;
  std::map<std::string, std::vector<Point>> tags;
};

Read readBack(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(in)), {});
  Read read;
  for (std::size_t at = 0; at < all.size();) {
    const std::string head = all.substr(at, 8);
    const auto size = take<std::uint64_t>(all, at);
    EXPECT_EQ(take<std::uint32_t>(all, at), slowCrc(head));
    const std::string message = all.substr(at, size);
    EXPECT_EQ(message.size(), size);
    at += size;
    EXPECT_EQ(take<std::uint32_t>(all, at), slowCrc(message));
    if (testing::Test::HasFailure()) break;
    const Fields event = parse(message);
    double wallTime = 0;
    std::memcpy(&wallTime, &event.numbers.at(1), sizeof wallTime);
    if (event.bytes.count(3)) read.version = event.bytes.find(3)->second;
    if (!event.bytes.count(5)) continue;
    const Fields summary = parse(event.bytes.find(5)->second);
    for (const auto& [field, bytes] : summary.bytes) {
      const Fields value = parse(bytes);
      const auto bits = static_cast<std::uint32_t>(value.numbers.at(2));
      float number = 0;
      std::memcpy(&number, &bits, sizeof number);
      read.tags[value.bytes.find(1)->second].push_back(
          {static_cast<std::int64_t>(event.numbers.at(2)), wallTime, number});
    }
  }
  return read;
}

class TensorBoard : public testing::Test {
 protected:
  fs::path m_folder = fs::temp_directory_path() / ("gradloom-tensorboard-" + std::to_string(::getpid()));
  RunFolder m_run{m_folder / "runs" / "lars-1"};
  int m_sequence = 0;

  void SetUp() override { fs::create_directories(m_run.path); }
  void TearDown() override { fs::remove_all(m_folder); }
  void tell(const char* kind, int attempt, int step, double time, Json body) {
    Json line{{"v", 1}, {"seq", m_sequence++}, {"attempt", attempt}, {"time", time}, {"kind", kind}, {"step", step}};
    line.update(body);
    std::ofstream(m_run.eventsFile(), std::ios::app) << line.dump() << '\n';
  }
  Read exported() {
    const TensorBoardWritten written = exportTensorBoard({.run = m_run, .folder = m_folder / "board", .name = {}});
    EXPECT_EQ(written.file.parent_path(), m_folder / "board" / "lars-1");
    return readBack(written.file);
  }
};

// Of RFC 3720, B.4.
TEST(Crc32c, AsTheStandardHasIt) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
}

TEST_F(TensorBoard, EveryPointStandsThereOnce) {
  constexpr double kStart = 1690000000.125;
  for (int step = 1; step <= 300; ++step)
    tell("step", 1, step, kStart + 0.5 * step,
         {{"loss", 2.5 / step},
          {"epoch", step / 100.0},
          {"learning_rate", 0.1},
          {"gradient_norm", 1e-3 * step},
          {"metrics", {{"accuracy", 1 - 1.0 / step}}}});
  tell("validation", 1, 300, kStart + 151, {{"loss", 0.25}, {"metrics", {{"accuracy", 0.875}}}, {"samples", 10}});
  tell("checkpoint", 1, 300, kStart + 152, {{"file", "step-300.safetensors"}});
  const Read read = exported();
  EXPECT_EQ(read.version, "brain.Event:2");
  ASSERT_EQ(read.tags.count("training/loss"), 1u);
  const std::vector<Point>& loss = read.tags.at("training/loss");
  ASSERT_EQ(loss.size(), 300u);
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(loss[static_cast<std::size_t>(i)].step, i + 1);
    EXPECT_EQ(loss[static_cast<std::size_t>(i)].value, static_cast<float>(2.5 / (i + 1)));
    EXPECT_EQ(loss[static_cast<std::size_t>(i)].wallTime, kStart + 0.5 * (i + 1));
  }
  EXPECT_EQ(read.tags.at("training/accuracy").size(), 300u);
  EXPECT_EQ(read.tags.at("step/gradient_norm")[41].value, static_cast<float>(1e-3 * 42));
  EXPECT_EQ(read.tags.at("learning_rate").size(), 300u);
  ASSERT_EQ(read.tags.at("validation/accuracy").size(), 1u);
  EXPECT_EQ(read.tags.at("validation/accuracy")[0].step, 300);
  EXPECT_EQ(read.tags.at("validation/accuracy")[0].value, 0.875f);
  EXPECT_FALSE(read.tags.count("validation/samples"));
}

TEST_F(TensorBoard, ANewerAttemptTakesTheStepsThatItWentThrough) {
  for (int step = 1; step <= 10; ++step) tell("step", 1, step, 100 + step, {{"loss", 1.0}});
  tell("validation", 1, 8, 108.5, {{"loss", 1.0}});
  for (int step = 8; step <= 9; ++step) tell("step", 2, step, 200 + step, {{"loss", 2.0}});
  const Read read = exported();
  std::map<std::int64_t, float> values;
  for (const Point& each : read.tags.at("training/loss")) {
    EXPECT_FALSE(values.count(each.step));
    values[each.step] = each.value;
  }
  ASSERT_EQ(values.size(), 10u);
  EXPECT_EQ(values[7], 1.0f);
  EXPECT_EQ(values[8], 2.0f);
  EXPECT_EQ(values[9], 2.0f);
  EXPECT_EQ(values[10], 1.0f);  // the newer one did not come so far
  EXPECT_FALSE(read.tags.count("validation/loss"));
}

TEST_F(TensorBoard, WhatIsNotFiniteStaysSo) {
  tell("step", 1, 1, 10, {{"loss", "nan"}, {"learning_rate", "inf"}, {"gradient_norm", 1e300}});
  tell("step", 1, 2, 11, {{"loss", "-inf"}, {"learning_rate", -1e300}});
  const Read read = exported();
  EXPECT_TRUE(std::isnan(read.tags.at("training/loss")[0].value));
  EXPECT_EQ(read.tags.at("training/loss")[1].value, -std::numeric_limits<float>::infinity());
  EXPECT_EQ(read.tags.at("learning_rate")[0].value, std::numeric_limits<float>::infinity());
  EXPECT_EQ(read.tags.at("learning_rate")[1].value, -std::numeric_limits<float>::infinity());
  EXPECT_EQ(read.tags.at("step/gradient_norm")[0].value, std::numeric_limits<float>::infinity());
}

TEST_F(TensorBoard, AnotherExportTakesThePlaceOfTheOneBefore) {
  tell("step", 1, 1, 10, {{"loss", 1.0}});
  exported();
  tell("step", 1, 2, 11, {{"loss", 0.5}});
  EXPECT_EQ(exported().tags.at("training/loss").size(), 2u);
  EXPECT_EQ(std::distance(fs::directory_iterator(m_folder / "board" / "lars-1"), {}), 1);
}

TEST_F(TensorBoard, AFolderWithoutALogIsRefused) {
  try {
    exportTensorBoard({.run = {m_folder / "nothing"}, .folder = m_folder / "board", .name = {}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::missingFile);
  }
  EXPECT_FALSE(fs::exists(m_folder / "board"));
}

TEST_F(TensorBoard, ANameNeverLeadsOutOfTheFolder) {
  tell("step", 1, 1, 10, {{"loss", 1.0}});
  const auto written = exportTensorBoard({.run = m_run, .folder = m_folder / "board", .name = "../../away"});
  EXPECT_EQ(written.file.parent_path(), m_folder / "board" / ".._.._away");
}

}  // namespace
