#include "engine/cpu/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>

namespace loom {
namespace {

// Once on every thread of the pool: the job is over when all have been in it.
template <class Work>
void onEveryThread(cpu::ThreadPool& pool, const Work& work) {
  struct Context {
    cpu::ThreadPool& pool;
    const Work& work;
    std::vector<std::atomic<int>> begun;
    std::atomic<int> ended{0};
  } context{pool, work, std::vector<std::atomic<int>>(static_cast<std::size_t>(pool.size()))};
  pool.run(
      [](void* pointer, int index) {
        auto& c = *static_cast<Context*>(pointer);
        if (c.begun[static_cast<std::size_t>(index)].exchange(1) == 0) {
          c.work(index);
          ++c.ended;
          c.pool.signal();
        }
        return c.ended == c.pool.size();
      },
      &context);
}

TEST(ThreadPool, callersFromSeveralThreadsTakeTurns) {
  cpu::ThreadPool pool(3);
  std::atomic<int> inside{0}, most{0}, done{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int k = 0; k < 20; ++k) {
        onEveryThread(pool, [&](int) {
          const int now = ++inside;
          int before = most;
          while (before < now && !most.compare_exchange_weak(before, now)) {
          }
          --inside;
          ++done;
        });
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(done, 4 * 20 * 3);
  EXPECT_LE(most, 3);
}

// Nobody is in a job when run() returns, and a thread that came too late for it is not called any more.
TEST(ThreadPool, aJobThatIsOverIsNotEnteredAgain) {
  constexpr int kThreads = 5;
  cpu::ThreadPool pool(kThreads);
  for (int round = 0; round < 100; ++round) {
    struct Context {
      std::atomic<int> inside{0}, calls{0};
      std::atomic<bool> ending{false};
    } context;
    pool.run(
        [](void* pointer, int index) {
          auto& c = *static_cast<Context*>(pointer);
          ++c.inside;
          ++c.calls;
          if (index == 0) {  // ends when another thread is in the midst of it, if one comes at all
            for (int i = 0; i < 1000 && c.inside == 1; ++i) std::this_thread::yield();
            c.ending = true;
          } else {
            while (!c.ending) std::this_thread::yield();
            for (int i = 0; i < 1000; ++i) __builtin_ia32_pause();
          }
          --c.inside;
          return true;
        },
        &context);
    ASSERT_EQ(context.inside, 0);
    const int calls = context.calls;
    ASSERT_GE(calls, 1);
    ASSERT_EQ(context.calls, calls);
  }
}

TEST(ThreadPool, threadsThatAreNotTakenSleepUntilTheyAre) {
  constexpr int kThreads = 4;
  cpu::ThreadPool pool(kThreads);
  const auto most = [&] {
    struct Context {
      std::atomic<int> last{0}, rounds{0};
      cpu::ThreadPool& pool;
    } context{.pool = pool};
    pool.run(
        [](void* pointer, int index) {
          auto& c = *static_cast<Context*>(pointer);
          for (int last = c.last; last < index && !c.last.compare_exchange_weak(last, index);) {
          }
          if (index == 0) {  // time for the others to come
            c.pool.signal();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
          return ++c.rounds > 100 || index == 0;
        },
        &context);
    return context.last.load();
  };
  for (int count : {2, 1, 3}) {
    pool.take(count);
    int last = 0;
    for (int job = 0; job < 30; ++job) last = std::max(last, most());
    EXPECT_LT(last, count);
  }
  pool.take(kThreads);
  std::atomic<int> came{0};
  onEveryThread(pool, [&](int) { ++came; });
  EXPECT_EQ(came, kThreads);
  pool.take(1);  // threads that sleep end with the pool
}

TEST(ThreadPool, denormalsAreZeroWithinAJobAndTheCallersOwnModeComesBack) {
  constexpr int kThreads = 3;
  cpu::ThreadPool pool(kThreads);
  volatile float least = std::numeric_limits<float>::min(), denormal = std::numeric_limits<float>::denorm_min();
  std::atomic<int> stored{0}, read{0};
  onEveryThread(pool, [&](int) {
    if (least * 0.5f == 0) ++stored;
    if (denormal * 16777216.0f * 16777216.0f == 0) ++read;
  });
  EXPECT_EQ(stored, kThreads);
  EXPECT_EQ(read, kThreads);
  EXPECT_GT(least * 0.5f, 0);
}

}  // namespace
}  // namespace loom
