#include "engine/training/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/training/position.h"
#include "engine/training/same_weights.h"
#include "tests/engine/run/folder.h"
#include "tests/engine/training/far_machine.h"

namespace loom {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

class Checkpoints : public testing::Test {
 protected:
  void SetUp() override {
    m_store.ensure(
        {{.name = "fc/weight", .shape = Shape{2, 3}, .initializer = {.kind = InitializerKind::normal, .scale = 1}},
         {.name = "bn/mean", .shape = Shape{3}, .isState = true}});
    m_store.slot("fc/weight", "m").host()[4] = 7;
  }
  Snapshot snapshot(std::int64_t step) const { return takeSnapshot(m_store, step, Position{.step = step}.toJson()); }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& item : std::filesystem::directory_iterator(m_folder.run().checkpoints()))
      if (item.path().extension() == ".safetensors") names.push_back(item.path().filename().string());
    return names;
  }
  TestFolder m_folder{"checkpoints"};
  ParameterStore m_store{3};
};

TEST_F(Checkpoints, BringEverythingBack) {
  CheckpointKeeper keeper(m_folder.run());
  const auto written = keeper.write(snapshot(12), true, {}, false);
  EXPECT_EQ(written.file, "checkpoints/step-00000012.safetensors");
  ParameterStore other(99);
  other.ensure({m_store.at("fc/weight").parameter, m_store.at("bn/mean").parameter});
  other.slot("fc/weight", "m");
  other.slot("fc/weight", "v");
  const Checkpoint checkpoint(m_folder.path() / written.file);
  EXPECT_THAT(checkpoint.restore(other), testing::ElementsAre("fc/weight#v"));
  EXPECT_THAT(other.at("fc/weight").value.host(), testing::ElementsAreArray(m_store.at("fc/weight").value.host()));
  EXPECT_EQ(other.slot("fc/weight", "m").host()[4], 7);
  EXPECT_EQ(checkpoint.step(), 12);
}

TEST_F(Checkpoints, GoBetweenMachines) {
  CheckpointKeeper keeper(m_folder.run());
  const Checkpoint here(m_folder.path() / keeper.write(snapshot(12), true, {}, false).file);
  ParameterStore far(99, std::make_unique<FarMemory>());
  far.ensure({m_store.at("fc/weight").parameter, m_store.at("bn/mean").parameter});
  far.slot("fc/weight", "m");
  EXPECT_THROW(far.at("fc/weight").value.host(), Error);
  EXPECT_TRUE(here.restore(far).empty());
  EXPECT_EQ(far.at("fc/weight").value.values(), m_store.at("fc/weight").value.values());
  EXPECT_EQ(far.slot("fc/weight", "m").values()[4], 7);
  EXPECT_EQ(checksumOf(far), checksumOf(m_store));

  const auto there = keeper.write(takeSnapshot(far, 13, Position{.step = 13}.toJson()), true, {}, false);
  ParameterStore back(5);
  back.ensure({m_store.at("fc/weight").parameter, m_store.at("bn/mean").parameter});
  Checkpoint(m_folder.path() / there.file).restore(back);
  EXPECT_EQ(back.at("fc/weight").value.values(), m_store.at("fc/weight").value.values());
}

TEST_F(Checkpoints, OfAnotherNetworkAreRefused) {
  CheckpointKeeper keeper(m_folder.run());
  const Checkpoint checkpoint(m_folder.path() / keeper.write(snapshot(1), true, {}, false).file);
  const auto message = [&](const Parameter& parameter) -> std::string {
    ParameterStore other(1);
    other.ensure({parameter});
    try {
      checkpoint.restore(other);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message({.name = "fc/weight", .shape = Shape{3, 2}}), testing::AllOf(HasSubstr("2×3"), HasSubstr("3×2")));
  EXPECT_THAT(message({.name = "fc2/weight", .shape = Shape{3, 2}}), HasSubstr("fc2/weight"));
}

TEST_F(Checkpoints, TheLastTwoTheBestAndTheKeptStay) {
  CheckpointKeeper keeper(m_folder.run());
  keeper.write(snapshot(1), true, Json{{"value", 3}}, false);
  keeper.write(snapshot(2), true, {}, true);
  keeper.write(snapshot(3), true, Json{{"value", 2}}, false);
  keeper.write(snapshot(4), true, {}, false);
  keeper.write(snapshot(5), true, {}, false);
  EXPECT_THAT(files(), UnorderedElementsAre("step-00000002.safetensors", "step-00000003.safetensors",
                                            "step-00000004.safetensors", "step-00000005.safetensors"));
  // A keeper of the next attempt knows them all.
  std::ofstream(m_folder.run().checkpoints() / "step-00000005.safetensors.partial-77") << "half";
  CheckpointKeeper(m_folder.run()).write(snapshot(6), true, {}, false);
  EXPECT_THAT(files(), UnorderedElementsAre("step-00000002.safetensors", "step-00000003.safetensors",
                                            "step-00000005.safetensors", "step-00000006.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(m_folder.run().checkpoints() / "step-00000005.safetensors.partial-77"));
  EXPECT_EQ(findCheckpoint(m_folder.run(), Which::best)->filename(), "step-00000003.safetensors");
  EXPECT_EQ(findCheckpoint(m_folder.run(), Which::last)->filename(), "step-00000006.safetensors");
}

TEST_F(Checkpoints, TheOneBeforeTheNewestStaysWhereTheNewestIsTheBest) {
  CheckpointKeeper keeper(m_folder.run());
  for (const std::int64_t step : {1, 2, 3}) keeper.write(snapshot(step), true, Json{{"value", 4 - step}}, false);
  keeper.write(snapshot(3), true, {}, false);  // the same step again is no other checkpoint
  EXPECT_THAT(files(), UnorderedElementsAre("step-00000002.safetensors", "step-00000003.safetensors"));
}

// Nobody can tell which of the others were named by it.
TEST_F(Checkpoints, WhereAPointerIsDamagedOnlyOnesOwnAreRemoved) {
  {
    CheckpointKeeper keeper(m_folder.run());
    keeper.write(snapshot(1), true, Json{{"value", 3}}, false);
    for (const std::int64_t step : {2, 3}) keeper.write(snapshot(step), true, {}, false);
  }
  std::ofstream(m_folder.run().checkpoints() / "best.json") << "";
  CheckpointKeeper keeper(m_folder.run());
  for (const std::int64_t step : {4, 5, 6}) keeper.write(snapshot(step), true, {}, false);
  EXPECT_THAT(files(), UnorderedElementsAre("step-00000001.safetensors", "step-00000002.safetensors",
                                            "step-00000003.safetensors", "step-00000005.safetensors",
                                            "step-00000006.safetensors"));
}

TEST_F(Checkpoints, AreFoundWithoutAPointerAndOnlyWhenWhole) {
  CheckpointKeeper keeper(m_folder.run());
  keeper.write(snapshot(8), true, {}, true);
  keeper.write(snapshot(123456789), true, {}, true);
  const auto folder = m_folder.run().checkpoints();
  for (const char* pointer : {"{\"file\": \"../../../etc/passwd\"}", "{}", "[", "{\"file\": 5}",
                              "{\"file\": \"step-00000009.safetensors\"}"}) {
    std::ofstream(folder / "last.json") << pointer;
    EXPECT_EQ(findCheckpoint(m_folder.run(), Which::last)->filename(), "step-123456789.safetensors") << pointer;
  }
  std::filesystem::remove(folder / "last.json");
  const auto newest = folder / "step-123456789.safetensors";
  const std::string text = readFile(newest);
  for (std::size_t size = 0; size < text.size(); size += 7) {
    std::ofstream(newest, std::ios::binary) << text.substr(0, size);
    std::vector<RefusedCheckpoint> refused;
    ASSERT_EQ(findCheckpoint(m_folder.run(), Which::last, &refused)->filename(), "step-00000008.safetensors") << size;
    ASSERT_EQ(refused.size(), 1u);
  }
  EXPECT_FALSE(findCheckpoint({m_folder.path() / "nowhere"}, Which::last));
}

TEST_F(Checkpoints, ANewerVersionIsSaid) {
  Snapshot newer = snapshot(1);
  newer.position["version"] = 99;
  CheckpointKeeper keeper(m_folder.run());
  const auto written = keeper.write(newer, true, {}, false);
  try {
    const Checkpoint checkpoint(m_folder.path() / written.file);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::newerVersion);
    EXPECT_THAT(error.what(), HasSubstr("99"));
  }
}

TEST(PositionTest, ComesBackExactly) {
  Position position{.step = 7,
                    .scheduleStep = 6.1,
                    .stepsPerEpoch = 21,
                    .settingsBatch = 16,
                    .samples = 99,
                    .epoch = 1.0 / 3,
                    .validationDue = true,
                    .nextValidation = 2,
                    .batch = 5};
  position.means.add({.loss = 0.1, .metrics = {{"accuracy", 1.0 / 3}}, .samples = 7});
  position.best = BestSoFar{.metric = "loss", .value = 0.1 + 0.2, .epoch = 0.7, .step = 3};
  position.datasets["a"] = {.epoch = 3, .sample = 17};
  position.updates = {{.count = 4, .rate = RateOverride{.value = 0.1, .at = 2.5, .base = 0.3}}, {.count = 1}};
  const Position back = Position::fromJson(Json::parse(position.toJson().dump()));
  EXPECT_EQ(back.toJson(), position.toJson());
  EXPECT_EQ(back.epoch, position.epoch);
  EXPECT_EQ(back.best->value, 0.1 + 0.2);
  EXPECT_EQ(back.means.value().metrics, position.means.value().metrics);
  EXPECT_FALSE(back.updates[1].rate);
  EXPECT_EQ(back.stepsPerEpoch, 21);
  EXPECT_EQ(back.settingsBatch, 16);
  EXPECT_EQ(back.updates[0].rate->base, 0.3);
  for (const char* text : {"{}", "[]", "5", "{\"step\":\"a\"}"})
    EXPECT_THROW(Position::fromJson(Json::parse(text)), Error);
}

}  // namespace
}  // namespace loom
