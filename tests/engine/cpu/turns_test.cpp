#include "engine/cpu/turns.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "engine/cpu/thread_pool.h"

namespace loom {
namespace {

using cpu::Turns;

const auto never = [] { return false; };

TEST(Turns, aThreadTakesItsOwnPartFirstAndThenWhatNobodyHasBegun) {
  Turns turns(3);
  turns.begin(4, 6);
  ASSERT_EQ(turns.now(), 4);
  EXPECT_EQ(turns.claim(4, 1, false), 1);
  EXPECT_FALSE(turns.done(4, never));
  EXPECT_EQ(turns.claim(4, 1, true), 2);
  EXPECT_EQ(turns.claim(4, 1, true), -1) << "the first part is the caller's";
  EXPECT_EQ(turns.claim(4, 0, true), 0);
  EXPECT_EQ(turns.claim(4, 2, false), -1) << "another thread has taken it";
  EXPECT_FALSE(turns.done(4, never));
  EXPECT_EQ(turns.now(), 4);
  EXPECT_TRUE(turns.done(4, never));
  EXPECT_EQ(turns.now(), 5);
  EXPECT_EQ(turns.claim(4, 0, false), -1) << "a turn that is done";
  EXPECT_EQ(turns.claim(5, 0, true), 0);
}

TEST(Turns, endsBeforeTheLastTurnWhereTheLastThreadSaysSo) {
  Turns turns(1);
  turns.begin(0, 10);
  EXPECT_FALSE(turns.over(turns.now()));
  ASSERT_EQ(turns.claim(0, 0, false), 0);
  EXPECT_TRUE(turns.done(0, [] { return true; }));
  EXPECT_TRUE(turns.over(turns.now()));
}

// Every part of every turn once, none before the turn before is done, although threads come and go.
TEST(Turns, eachPartIsComputedOnceAndInOrderByMoreThreadsThanCores) {
  constexpr int kThreads = 5, kTurns = 400;
  cpu::ThreadPool pool(kThreads);
  struct Context {
    cpu::ThreadPool& pool;
    Turns turns{kThreads};
    std::vector<std::atomic<int>> computed = std::vector<std::atomic<int>>(kThreads * kTurns);
    std::atomic<int> early{0};
  } context{pool};
  for (int step = 1; step <= 20; ++step) {
    context.turns.begin(0, kTurns);
    pool.run(
        [](void* pointer, int thread) {
          auto& c = *static_cast<Context*>(pointer);
          for (;;) {
            const int turn = c.turns.now();
            if (c.turns.over(turn)) return true;
            const int part = c.turns.claim(turn, thread, turn % 7 == 0);
            if (part < 0) return false;
            for (int other = 0; turn > 0 && other < kThreads; ++other)
              if (c.computed[static_cast<std::size_t>((turn - 1) * kThreads + other)] <=
                  c.computed[static_cast<std::size_t>(turn * kThreads + part)])
                ++c.early;
            ++c.computed[static_cast<std::size_t>(turn * kThreads + part)];
            if (c.turns.done(turn, never)) c.pool.signal();
          }
        },
        &context);
    for (const auto& times : context.computed) ASSERT_EQ(times, step);
  }
  EXPECT_EQ(context.early, 0);
}

// A thread that has no core: the others do its part of each turn.
TEST(Turns, aStepEndsWithoutAThreadThatDoesNotCome) {
  Turns turns(2);
  turns.begin(0, 50);
  int parts = 0;
  for (int turn = 0; turn < 50; ++turn) {
    ASSERT_EQ(turns.now(), turn);
    for (int part; (part = turns.claim(turn, 0, false)) >= 0; ++parts) turns.done(turn, never);
  }
  EXPECT_TRUE(turns.over(turns.now()));
  EXPECT_EQ(parts, 100);
}

}  // namespace
}  // namespace loom
