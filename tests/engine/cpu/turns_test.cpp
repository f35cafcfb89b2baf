#include "engine/cpu/turns.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "engine/cpu/thread_pool.h"

namespace loom {
namespace {

using cpu::Turns;

const auto never = [] { return false; };

std::vector<int> whole(int turns) {
  return std::vector<int>(static_cast<std::size_t>(turns), 1);
}

TEST(Turns, aThreadTakesItsOwnPartFirstAndThenWhatNobodyHasBegun) {
  Turns turns(3, whole(6));
  turns.begin(4, 6);
  ASSERT_EQ(turns.now(), 4);
  EXPECT_EQ(turns.claim(4, 1, false).part, 1);
  EXPECT_FALSE(turns.done(4, never));
  EXPECT_EQ(turns.claim(4, 1, true).part, 2);
  EXPECT_FALSE(turns.claim(4, 1, true)) << "the first part is the caller's";
  EXPECT_EQ(turns.claim(4, 0, true).part, 0);
  EXPECT_FALSE(turns.claim(4, 2, false)) << "another thread has taken it";
  EXPECT_FALSE(turns.done(4, never));
  EXPECT_EQ(turns.now(), 4);
  EXPECT_TRUE(turns.done(4, never));
  EXPECT_EQ(turns.now(), 5);
  EXPECT_FALSE(turns.claim(4, 0, false)) << "a turn that is done";
  EXPECT_EQ(turns.claim(5, 0, true).part, 0);
}

TEST(Turns, aThreadTakesItsOwnPiecesFromTheFirstOnAndThoseOfOthersFromTheLastOn) {
  Turns turns(2, {1, 4, 2});
  turns.begin(1, 3);
  const auto claimed = [&](int turn, int thread) {
    const Turns::Claim claim = turns.claim(turn, thread, false);
    return std::pair(claim.part, claim.piece);
  };
  EXPECT_EQ(claimed(1, 1), std::pair(1, 0));
  for (int piece : {0, 1, 2, 3}) EXPECT_EQ(claimed(1, 0), std::pair(0, piece));
  EXPECT_EQ(claimed(1, 0), std::pair(1, 3));
  EXPECT_EQ(claimed(1, 1), std::pair(1, 1));
  EXPECT_EQ(claimed(1, 0), std::pair(1, 2));
  EXPECT_EQ(claimed(1, 1).first, -1) << "all are begun";
  for (int piece = 0; piece < 7; ++piece) EXPECT_FALSE(turns.done(1, never));
  EXPECT_TRUE(turns.done(1, never));
  EXPECT_EQ(claimed(2, 1), std::pair(1, 0));
  EXPECT_EQ(claimed(2, 1), std::pair(1, 1));
  EXPECT_EQ(claimed(2, 1), std::pair(0, 1)) << "a part that its thread has not come to in this turn";
}

TEST(Turns, endsBeforeTheLastTurnWhereTheLastThreadSaysSo) {
  Turns turns(1, whole(10));
  turns.begin(0, 10);
  EXPECT_FALSE(turns.over(turns.now()));
  ASSERT_EQ(turns.claim(0, 0, false).part, 0);
  EXPECT_TRUE(turns.done(0, [] { return true; }));
  EXPECT_TRUE(turns.over(turns.now()));
}

// Every piece of every turn once, none before the turn before is done, although threads come and go.
TEST(Turns, eachPieceIsComputedOnceAndInOrderByMoreThreadsThanCores) {
  constexpr int kThreads = 5, kTurns = 400, kMost = 3;
  cpu::ThreadPool pool(kThreads);
  struct Context {
    cpu::ThreadPool& pool;
    Turns turns;
    std::vector<std::atomic<int>> computed = std::vector<std::atomic<int>>(kThreads * kTurns * kMost);
    std::atomic<int> early{0};
    static int piecesOf(int turn) { return turn % kMost + 1; }
    std::atomic<int>& of(int turn, int part, int piece) {
      return computed[static_cast<std::size_t>((turn * kThreads + part) * kMost + piece)];
    }
  };
  std::vector<int> pieces;
  for (int turn = 0; turn < kTurns; ++turn) pieces.push_back(Context::piecesOf(turn));
  Context context{pool, Turns(kThreads, pieces)};
  for (int step = 1; step <= 20; ++step) {
    context.turns.begin(0, kTurns);
    pool.run(
        [](void* pointer, int thread) {
          auto& c = *static_cast<Context*>(pointer);
          for (;;) {
            const int turn = c.turns.now();
            if (c.turns.over(turn)) return true;
            const Turns::Claim claim = c.turns.claim(turn, thread, turn % 7 == 0);
            if (!claim) return false;
            std::atomic<int>& mine = c.of(turn, claim.part, claim.piece);
            for (int part = 0; turn > 0 && part < kThreads; ++part) {
              for (int piece = 0; piece < Context::piecesOf(turn - 1); ++piece)
                if (c.of(turn - 1, part, piece) <= mine) ++c.early;
            }
            ++mine;
            if (c.turns.done(turn, never)) c.pool.signal();
          }
        },
        &context);
    for (int turn = 0; turn < kTurns; ++turn) {
      for (int part = 0; part < kThreads; ++part) {
        for (int piece = 0; piece < kMost; ++piece)
          ASSERT_EQ(context.of(turn, part, piece), piece < Context::piecesOf(turn) ? step : 0);
      }
    }
  }
  EXPECT_EQ(context.early, 0);
}

// A thread that has no core: the others do its part of each turn.
TEST(Turns, aStepEndsWithoutAThreadThatDoesNotCome) {
  Turns turns(2, whole(50));
  turns.begin(0, 50);
  int parts = 0;
  for (int turn = 0; turn < 50; ++turn) {
    ASSERT_EQ(turns.now(), turn);
    for (; turns.claim(turn, 0, false); ++parts) turns.done(turn, never);
  }
  EXPECT_TRUE(turns.over(turns.now()));
  EXPECT_EQ(parts, 100);
}

}  // namespace
}  // namespace loom
