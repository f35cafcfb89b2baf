// What ranks say before NCCL is opened, on any machine; with GPUs it is tested in tests/gpu.
#include "engine/comm/nccl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/base/error.h"

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

}  // namespace
}  // namespace loom
