#include "engine/cpu/thread_pool.h"

#include <gtest/gtest.h>

#include <limits>

namespace loom {
namespace {

TEST(ThreadPool, barrierHoldsThreadsTogetherWithMoreThreadsThanCores) {
  constexpr int kThreads = 7, kRounds = 300;
  cpu::ThreadPool pool(kThreads);
  struct Context {
    cpu::ThreadPool& pool;
    std::atomic<int> arrived{0};
    std::atomic<int> early{0};
  } context{pool};
  pool.run(
      [](void* pointer, int) {
        auto& c = *static_cast<Context*>(pointer);
        for (int round = 1; round <= kRounds; ++round) {
          ++c.arrived;
          c.pool.barrier().wait();
          if (c.arrived < round * kThreads) ++c.early;
          c.pool.barrier().wait();
        }
      },
      &context);
  EXPECT_EQ(context.arrived, kThreads * kRounds);
  EXPECT_EQ(context.early, 0);
}

TEST(ThreadPool, callersFromSeveralThreadsTakeTurns) {
  cpu::ThreadPool pool(3);
  std::atomic<int> inside{0}, most{0}, done{0};
  struct Context {
    std::atomic<int>&inside, &most, &done;
  } context{inside, most, done};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int k = 0; k < 20; ++k) {
        pool.run(
            [](void* pointer, int) {
              auto& c = *static_cast<Context*>(pointer);
              const int now = ++c.inside;
              int before = c.most;
              while (before < now && !c.most.compare_exchange_weak(before, now)) {
              }
              --c.inside;
              ++c.done;
            },
            &context);
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(done, 4 * 20 * 3);
  EXPECT_LE(most, 3);
}

TEST(ThreadPool, aThreadThatWillNotComeLetsTheOthersGo) {
  constexpr int kThreads = 5;
  cpu::ThreadPool pool(kThreads);
  struct Context {
    cpu::ThreadPool& pool;
    int absent;
    std::atomic<int> broken{0}, met{0};
  };
  for (int round = 0; round < 200; ++round) {
    Context context{pool, round % (kThreads + 1), {}, {}};  // the last: all come
    pool.run(
        [](void* pointer, int index) {
          auto& c = *static_cast<Context*>(pointer);
          if (index == c.absent) return c.pool.barrier().breakUp();
          for (int meeting = 0; meeting < 3; ++meeting) ++(c.pool.barrier().wait() ? c.met : c.broken);
        },
        &context);
    EXPECT_EQ(context.met, context.absent == kThreads ? 3 * kThreads : 0) << "the barrier is whole in each run";
    EXPECT_EQ(context.broken, context.absent == kThreads ? 0 : 3 * (kThreads - 1));
  }
}

TEST(ThreadPool, denormalsAreZeroWithinAJobAndTheCallersOwnModeComesBack) {
  constexpr int kThreads = 3;
  cpu::ThreadPool pool(kThreads);
  struct Context {
    volatile float least = std::numeric_limits<float>::min(), denormal = std::numeric_limits<float>::denorm_min();
    std::atomic<int> stored{0}, read{0};
  } context;
  pool.run(
      [](void* pointer, int) {
        auto& c = *static_cast<Context*>(pointer);
        if (c.least * 0.5f == 0) ++c.stored;
        if (c.denormal * 16777216.0f * 16777216.0f == 0) ++c.read;
      },
      &context);
  EXPECT_EQ(context.stored, kThreads);
  EXPECT_EQ(context.read, kThreads);
  EXPECT_GT(context.least * 0.5f, 0);
}

}  // namespace
}  // namespace loom
