#include "engine/cpu/core_distance.h"

#include <gtest/gtest.h>
#include <sched.h>

#include "engine/cpu/thread_pool.h"

namespace loom::cpu {
namespace {

TEST(CoreDistance, OfOneCoreIsNone) {
  EXPECT_EQ(coreDistance(1), 0);
  EXPECT_EQ(coreDistance(0), 0);
}

TEST(CoreDistance, OfTwoIsWhatALineTakesAndTheCallerStaysWhereItWas) {
  if (availableThreads() < 2) GTEST_SKIP() << "one core";
  cpu_set_t before, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  double seconds = 0;  // none where other work kept a core to itself
  for (int attempt = 0; attempt < 100 && seconds == 0; ++attempt) seconds = coreDistance(2);
  EXPECT_GT(seconds, 2e-9);
  EXPECT_LT(seconds, 1e-4);
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(CoreDistance, OfMoreThreadsThanCoresIsThatOfAllCores) {
  if (availableThreads() < 2) GTEST_SKIP() << "one core";
  double seconds = 0;
  for (int attempt = 0; attempt < 100 && seconds == 0; ++attempt) seconds = coreDistance(1 << 20);
  EXPECT_GT(seconds, 2e-9);
}

}  // namespace
}  // namespace loom::cpu
