// Sums made of messages of equal parts: right on any number of ranks, and as few bytes as they are meant to send.
#include "engine/comm/reductions/messages.h"

#include <gtest/gtest.h>

#include "tests/engine/comm/thread_ranks.h"

namespace loom {
namespace {

// Whole numbers, so that sums are exact in any order.
float numberOf(int rank, std::size_t i) {
  return static_cast<float>((i * 7 + static_cast<std::size_t>(rank) * 31) % 1000);
}
float wholeOf(int ranks, std::size_t i) {
  float sum = 0;
  for (int r = 0; r < ranks; ++r) sum += numberOf(r, i);
  return sum;
}
std::vector<float> numbersOf(int rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = numberOf(rank, i);
  return values;
}

TEST(Messages, ARingSumsWithTheBytesOfTwoRounds) {
  for (int p = 1; p <= 9; ++p)
    for (const std::size_t count : {std::size_t{3}, std::size_t{720}}) {
      SCOPED_TRACE(std::to_string(p) + " ranks, " + std::to_string(count));
      ThreadRanks world(p);
      std::vector<int> wrong(static_cast<std::size_t>(p));
      world.run([&](Communicator& ranks) {
        std::vector<float> sum = numbersOf(ranks.rank(), count), received(count / static_cast<std::size_t>(p) + 1);
        ringAllReduce(ranks, sum, received);
        for (std::size_t i = 0; i < count; ++i)
          wrong[static_cast<std::size_t>(ranks.rank())] += sum[i] != wholeOf(p, i);
      });
      EXPECT_EQ(wrong, std::vector<int>(static_cast<std::size_t>(p), 0));
      std::int64_t bytes = 0;
      for (const ThreadRanks::Sent& sent : world.sent()) {
        EXPECT_EQ(sent.messages, 2 * (p - 1));
        bytes += sent.bytes;
      }
      EXPECT_EQ(bytes, 2 * (p - 1) * 4 * static_cast<std::int64_t>(count));
    }
}

TEST(Messages, PairsScatterASumOnceOverTheWay) {
  for (int p = 1; p <= 9; ++p) {
    SCOPED_TRACE(p);
    const std::size_t part = 80, count = part * static_cast<std::size_t>(p);
    ThreadRanks world(p);
    std::vector<int> wrong(static_cast<std::size_t>(p));
    world.run([&](Communicator& ranks) {
      const std::vector<float> data = numbersOf(ranks.rank(), count);
      std::vector<float> mine(part), received(part);
      pairwiseReduceScatter(ranks, data, mine, received);
      const std::size_t first = part * static_cast<std::size_t>(ranks.rank());
      for (std::size_t i = 0; i < part; ++i)
        wrong[static_cast<std::size_t>(ranks.rank())] += mine[i] != wholeOf(p, first + i);
      EXPECT_EQ(data, numbersOf(ranks.rank(), count)) << "what is given stays";
    });
    EXPECT_EQ(wrong, std::vector<int>(static_cast<std::size_t>(p), 0));
    for (const ThreadRanks::Sent& sent : world.sent()) {
      EXPECT_EQ(sent.messages, p - 1);
      EXPECT_EQ(sent.bytes, (p - 1) * 4 * static_cast<std::int64_t>(part));
    }
  }
}

}  // namespace
}  // namespace loom
