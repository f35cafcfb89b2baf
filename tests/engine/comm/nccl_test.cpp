// What ranks say before NCCL is opened, on any machine; with GPUs it is tested in tests/gpu.
#include "engine/comm/nccl.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "engine/base/error.h"
#include "tests/engine/comm/hollow_nccl.h"

namespace loom {
namespace {

using testing::HasSubstr;

TEST(NcclPlaces, AGpuForEachRankIsAllThatIsAsked) {
  EXPECT_EQ(faultOf({{"a", "11 H200", ""}, {"a", "22 H200", ""}, {"b", "11 H200", ""}}), "");
}

TEST(NcclPlaces, TwoRanksOnOneGpuAreRefusedByName) {
  EXPECT_EQ(
      faultOf({{"a", "11 H200", ""}, {"b", "22 H200", ""}, {"a", "11 H200", ""}}),
      "ranks 0 and 2 on a would both use GPU 11 H200, but NCCL needs a GPU for each rank: start as many ranks on a "
      "host as it has GPUs");
}

TEST(NcclPlaces, ARankWithoutOneIsNamedWithItsReason) {
  EXPECT_EQ(faultOf({{"a", "11 H200", ""}, {"b", "", "it has no GPU"}}), "rank 1 on b cannot use NCCL: it has no GPU");
}

TEST(NcclModule, ThatIsMissingIsToldWithTheRemedy) {
  ::setenv("GRADLOOM_NCCL_MODULE", "/nowhere/loom_nccl.so", 1);
  const auto self = makeSelfCommunicator();
  try {
    openNccl(*self, 0);
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device);
    EXPECT_THAT(error.what(), HasSubstr("rank 0 on "));
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/loom_nccl.so"));
    EXPECT_THAT(error.what(), HasSubstr("GRADLOOM_NCCL_MODULE"));
  }
  ::unsetenv("GRADLOOM_NCCL_MODULE");
}

// Exchanges on streams over a module that has nothing behind it (hollow_nccl.cpp).
class NcclStreamsOfAHollowModule : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("GRADLOOM_NCCL_MODULE", GRADLOOM_HOLLOW_NCCL, 1);
    for (const char* name : {"", "_BEGUN", "_RELEASED"}) ::unsetenv((std::string("LOOM_HOLLOW") + name).c_str());
    m_self = makeSelfCommunicator();
    m_ranks = openNcclStreams(*m_self, 0);
    void* const module = ::dlopen(GRADLOOM_HOLLOW_NCCL, RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(module, nullptr);
    m_aborts = reinterpret_cast<HollowAborts* (*)()>(::dlsym(module, "hollowAborts"))();
    m_aborts->begun = m_aborts->ended = 0;
  }
  void TearDown() override { ::unsetenv("GRADLOOM_NCCL_MODULE"); }
  int count(const char* what) const {
    const char* const text = std::getenv((std::string("LOOM_HOLLOW_") + what).c_str());
    return text != nullptr ? std::atoi(text) : 0;
  }
  static bool comes(const std::atomic<int>& number) {
    for (int k = 0; k < 5000 && number == 0; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return number == 1;
  }
  HollowAborts* m_aborts = nullptr;
  std::unique_ptr<Communicator> m_self;
  std::shared_ptr<StreamRanks> m_ranks;
};

// Though a graph, which lives until the error has come up, keeps NCCL's abort from ending.
TEST_F(NcclStreamsOfAHollowModule, EndWhatIsUnderWayOnceARankIsGone) {
  m_aborts->waits = true;
  m_ranks->begin({}, nullptr);
  m_ranks->expectAlive();
  EXPECT_EQ(count("BEGUN"), 1);
  ::setenv("LOOM_HOLLOW", "gone", 1);
  try {
    m_ranks->expectAlive();
    FAIL() << "a rank is gone";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::communication);
    EXPECT_STREQ(error.what(), "an exchange by NCCL on rank 0 of 1: hollow error 6");
  }
  EXPECT_TRUE(comes(m_aborts->begun)) << "else the device would wait for ever";
  EXPECT_EQ(m_aborts->ended, 0);
  m_ranks->expectAlive();
  EXPECT_THROW(m_ranks->begin({}, nullptr), Error);
  EXPECT_EQ(count("BEGUN"), 1);
  m_ranks.reset();
  m_aborts->waits = false;  // the graph is gone
  EXPECT_TRUE(comes(m_aborts->ended)) << "once";
  EXPECT_EQ(count("RELEASED"), 0);
}

TEST_F(NcclStreamsOfAHollowModule, AreReleasedWhereAllIsWell) {
  m_ranks.reset();
  EXPECT_EQ(m_aborts->begun, 0);
  EXPECT_EQ(count("RELEASED"), 1);
}

}  // namespace
}  // namespace loom
