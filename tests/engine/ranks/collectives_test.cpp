#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "engine/base/error.h"
#include "engine/comm/gradient_exchange.h"
#include "engine/comm/network_probe.h"
#include "engine/comm/reductions/links.h"
#include "engine/comm/wire.h"
#include "tests/engine/ranks/ranks.h"

namespace loom {
namespace {

int rank() {
  return world().rank();
}
int size() {
  return world().size();
}
float valueOf(int rank, std::size_t i) {
  return std::sin(1.0f + static_cast<float>(rank) * 7 + static_cast<float>(i));
}

TEST(Collectives, MoveWhatTheySay) {
  const auto p = static_cast<std::size_t>(size());
  std::vector<float> data(17);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = valueOf(rank(), i);
  world().allReduce(data);
  for (std::size_t i = 0; i < data.size(); ++i) {
    double sum = 0;
    for (int r = 0; r < size(); ++r) sum += valueOf(r, i);
    EXPECT_NEAR(data[i], sum, 1e-5);
  }
  std::vector<std::int32_t> mine(p), got(p), all(p);
  for (std::size_t r = 0; r < p; ++r) mine[r] = rank() * 100 + static_cast<int>(r);
  world().allToAll(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(got)));
  for (std::size_t r = 0; r < p; ++r) EXPECT_EQ(got[r], static_cast<int>(r) * 100 + rank());
  world().allGather(std::as_bytes(std::span(mine).first(1)), std::as_writable_bytes(std::span(all)));
  for (std::size_t r = 0; r < p; ++r) EXPECT_EQ(all[r], static_cast<int>(r) * 100);
  std::vector<float> parts(2 * p), part(2);
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = static_cast<float>(i);
  world().reduceScatter(parts, part);
  EXPECT_EQ(part[1], static_cast<float>(size() * (2 * rank() + 1)));
  EXPECT_EQ(broadcastText(world(), rank() == size() - 1 ? "from the last" : "", size() - 1), "from the last");
  const std::string text(static_cast<std::size_t>(rank()), 'x');
  const std::vector<std::string> texts = allGatherTexts(world(), text);
  for (std::size_t r = 0; r < p; ++r) EXPECT_EQ(texts[r].size(), r);
  EXPECT_EQ(world().activity().entered, world().activity().left);
}

TEST(Collectives, SplitAndSend) {
  const auto half = world().split(rank() % 2, -rank());
  EXPECT_EQ(half->size(), (size() + 1 - rank() % 2) / 2);
  float highest = static_cast<float>(rank());
  half->broadcast(std::as_writable_bytes(std::span(&highest, 1)), 0);  // keys fall with the rank: the highest is first
  EXPECT_EQ(static_cast<int>(highest), (size() - 1 - rank() % 2) / 2 * 2 + rank() % 2);
  if (size() == 1) return;
  std::vector<float> data(3, static_cast<float>(rank()));
  if (rank() == 0) world().send(std::as_bytes(std::span(data)), 1, 5);
  if (rank() == 1) {
    world().receive(std::as_writable_bytes(std::span(data)), 0, 5);
    EXPECT_EQ(data[2], 0);
  }
}

// Numbers of many chunks, through the memory that ranks of a host share; whole ones, so that sums are exact in any
// order.
TEST(Collectives, LargeSumsAreThoseOfAllRanks) {
  EXPECT_EQ(world().name().find("shared memory") != std::string::npos, size() > 1);
  for (const std::size_t count : {std::size_t{2049}, std::size_t{524288}, std::size_t{1300007}}) {
    std::vector<float> data(count);
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < count; ++i)
        data[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(rank()) * 31) % 1000);
      world().allReduce(data);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < count; ++i) {
        float sum = 0;
        for (std::size_t r = 0; r < static_cast<std::size_t>(size()); ++r)
          sum += static_cast<float>((i * 7 + r * 31) % 1000);
        wrong += data[i] != sum;
      }
      EXPECT_EQ(wrong, 0u) << count;
    }
  }
  EXPECT_EQ(world().activity().entered, world().activity().left);
}

// What is large goes in equal parts by messages of its own; what is small is the library's. Same sums, same bits.
TEST(Collectives, LargePartsAreSummedInEqualMessages) {
  const auto p = static_cast<std::size_t>(size());
  for (const std::size_t part : {std::size_t{5}, std::size_t{1023}, std::size_t{1024}, std::size_t{70001}}) {
    std::vector<float> data(p * part), mine(part), sums;
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>((i * 7 + 31 * p + 3) % 1000 + 1);
    for (float& value : data) value *= static_cast<float>(rank() + 1);
    world().reduceScatter(data, mine);
    std::vector<float> whole = data;
    world().sumInParts(whole);
    const float ranks = static_cast<float>(p * (p + 1) / 2);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < data.size(); ++i)
      wrong += whole[i] != static_cast<float>((i * 7 + 31 * p + 3) % 1000 + 1) * ranks;
    for (std::size_t i = 0; i < part; ++i) wrong += mine[i] != whole[static_cast<std::size_t>(rank()) * part + i];
    EXPECT_EQ(wrong, 0u) << part;
  }
  // Numbers that do not divide, and fewer than ranks.
  for (const std::size_t count : {std::size_t{1}, 4096 * p + 3}) {
    std::vector<float> data(count);
    for (std::size_t i = 0; i < count; ++i) data[i] = valueOf(rank(), i);
    world().sumInParts(data);
    double off = 0;
    for (std::size_t i = 0; i < count; ++i) {
      double sum = 0;
      for (int r = 0; r < size(); ++r) sum += valueOf(r, i);
      off = std::max(off, std::abs(data[i] - sum));
    }
    EXPECT_LT(off, 1e-5);
    std::vector<float> first = data;
    world().broadcast(std::as_writable_bytes(std::span(first)), 0);
    EXPECT_EQ(first, data);
  }
  EXPECT_EQ(world().activity().entered, world().activity().left);
}

TEST(Network, FiguresAreThoseOfTheWayAndTheSameOnEveryRank) {
  const NetworkFigures one = measureNetwork(world(), "here"),
                       split = measureNetwork(world(), "machine " + std::to_string(rank() / 2));
  if (size() == 1) return;
  EXPECT_FALSE(one.acrossMachines);
  EXPECT_EQ(one.to, size() - 1);
  EXPECT_EQ(split.acrossMachines, size() > 2);
  EXPECT_EQ(split.to, size() > 2 ? 2 : 1);
  EXPECT_GT(one.bandwidth, 1e6);
  EXPECT_GT(one.delay, 0);
  EXPECT_LT(one.delay, 1);
  EXPECT_GT(one.allReduce, 0);
  std::vector<float> mine{static_cast<float>(one.bandwidth)}, first = mine;
  world().broadcast(std::as_writable_bytes(std::span(first)), 0);
  EXPECT_EQ(first, mine);
}

// The same bits on every rank, near the true sum, for sizes that do not divide and for fewer numbers than ranks.
TEST(Wires, SumAlikeOnEveryRank) {
  for (const Wire wire : {Wire::f32, Wire::bf16, Wire::f16}) {
    for (const std::size_t count : {1u, 5u, 1001u}) {
      WireReduction reduction(world(), wire, count);
      std::vector<float> data(count), first(count);
      double error = 0, norm = 0;
      for (std::size_t i = 0; i < count; ++i) data[i] = valueOf(rank(), i);
      reduction.run(data);
      for (std::size_t i = 0; i < count; ++i) {
        double sum = 0, size = 0;  // what is rounded are the terms, however much of them cancels
        for (int r = 0; r < world().size(); ++r) {
          sum += valueOf(r, i);
          size += std::abs(valueOf(r, i));
        }
        error += (data[i] - sum) * (data[i] - sum);
        norm += size * size;
      }
      EXPECT_LE(std::sqrt(error), (wire == Wire::f32   ? 1e-6
                                   : wire == Wire::f16 ? 1e-3
                                                       : 1e-2) *
                                          std::sqrt(norm) +
                                      1e-6)
          << toString(wire);
      first = data;
      world().broadcast(std::as_writable_bytes(std::span(first)), 0);
      EXPECT_EQ(first, data) << toString(wire) << " " << count;
    }
  }
}

// Every way to add up, by messages and collectives of the library: near the true sum, alike on every rank, for fewer
// numbers than ranks and for messages that the library sends only when they are awaited.
TEST(Reductions, SumAlikeOnEveryRank) {
  int tried = 0;
  for (const ReductionDefinition* way : reductionTable()) {
    if (way->refuse && way->refuse(size(), Json::object())) continue;
    ++tried;
    const ReductionShape most{.ranks = size(), .floats = 300007, .shards = size()};
    const auto reduction = way->make(world(), most);
    for (const std::size_t count : {std::size_t{2}, std::size_t{5001}, most.floats}) {
      std::vector<float> values(count), sum(count, 0.0f);
      for (std::size_t i = 0; i < count; ++i) values[i] = valueOf(rank(), i);
      const std::vector<std::span<float>> tensors{values};
      reduction->add(rank(), tensors, sum);
      reduction->finish(sum);
      double error = 0, norm = 0;
      for (std::size_t i = 0; i < count; ++i) {
        double exact = 0;
        for (int r = 0; r < size(); ++r) exact += valueOf(r, i);
        error += (sum[i] - exact) * (sum[i] - exact);
        norm += exact * exact;
      }
      EXPECT_LE(std::sqrt(error), 1e-6 * std::sqrt(norm)) << way->entry.id << " " << count;
      std::vector<float> first = sum;
      world().broadcast(std::as_writable_bytes(std::span(first)), 0);
      EXPECT_EQ(first, sum) << way->entry.id << " " << count;
    }
  }
  EXPECT_GT(tried, 9);
  EXPECT_EQ(world().activity().entered, world().activity().left);
}

// Chunk by chunk; whole numbers, so that sums are exact in any order.
TEST(Reductions, TheHostsMemoryTakesSumsOfAnySize) {
  const auto reduction = findReduction("host_memory")->make(world(), {.ranks = size(), .floats = 1300007});
  EXPECT_EQ(world().onHost() != nullptr, size() > 1);
  for (const std::size_t count : {std::size_t{2048}, std::size_t{524288}, std::size_t{1300007}}) {
    std::vector<float> data(count);
    for (std::size_t i = 0; i < count; ++i)
      data[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(rank()) * 31) % 1000);
    reduction->finish(data);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      float sum = 0;
      for (std::size_t r = 0; r < static_cast<std::size_t>(size()); ++r)
        sum += static_cast<float>((i * 7 + r * 31) % 1000);
      wrong += data[i] != sum;
    }
    EXPECT_EQ(wrong, 0u) << count;
  }
}

TEST(Reductions, LinksAreMeasuredByClassAndAlikeOnEveryRank) {
  const MeasuredLinks here = measureLinks(world(), "here"),
                      split = measureLinks(world(), "machine " + std::to_string(rank() / 2));
  EXPECT_EQ(here.perHost, 0);
  EXPECT_EQ(split.perHost, size() <= 2 ? 0 : size() % 2 == 0 ? 2 : 1);
  EXPECT_EQ(ranksPerHost({"a", "a", "a", "b", "b", "b"}), 3);
  EXPECT_EQ(ranksPerHost({"a", "b", "a", "b"}), 1);
  if (size() == 1) return;
  for (const MeasuredLinks& measured : {here, split}) {
    EXPECT_GT(measured.links.within.delay, 0);
    EXPECT_LT(measured.links.within.delay, 1);
    EXPECT_GT(measured.links.within.bandwidth, 1e6);
    std::array<double, 4> mine{measured.links.within.delay, measured.links.within.bandwidth,
                               measured.links.between.delay, measured.links.between.bandwidth},
        first = mine;
    world().broadcast(std::as_writable_bytes(std::span(first)), 0);
    EXPECT_EQ(first, mine);
  }
  EXPECT_NE(here.links.within.delay, Links{}.within.delay);
}

// Whoever watches compares how many collectives ranks have entered: a sum is one, however many messages a rank sends.
TEST(GradientExchange, ASumIsOneCollectiveOnEveryRank) {
  for (const char* name : {"star", "binomial", "hierarchical", "host_memory"}) {
    std::vector<float> data(5000, 1.0f);
    GradientExchange::Bucket bucket{"sums", {data}};
    bucket.reduction = findReduction(name)->make(world(), {.ranks = size(), .floats = data.size(), .shards = size()});
    GradientExchange exchange(world(), {bucket});
    const std::uint64_t before = world().activity().entered;
    exchange.postAll();
    exchange.wait();
    EXPECT_EQ(world().activity().entered - before, 1u) << name;
    EXPECT_EQ(world().activity().left, world().activity().entered) << name;
    EXPECT_EQ(data[4999], static_cast<float>(size()));
  }
}

TEST(GradientExchange, SumsOverRanksInAnyOrderOfPosts) {
  std::vector<float> a(300), b(7), c(1);
  GradientExchange exchange(world(), {{"a", {a}}, {"b and c", {b, c}}, {"c again", {c}, Wire::bf16}});
  for (int step = 0; step < 20; ++step) {
    std::fill(a.begin(), a.end(), 1.0f);
    std::fill(b.begin(), b.end(), 2.0f);
    c[0] = 0.5f;
    // Ranks post as they please: even ones backwards.
    for (int i = 0; i < 3; ++i) exchange.post(rank() % 2 ? i : 2 - i);
    exchange.wait();
    EXPECT_EQ(a[299], static_cast<float>(size()));
    EXPECT_EQ(b[6], 2.0f * static_cast<float>(size()));
    EXPECT_EQ(c[0], 0.5f * static_cast<float>(size() * size()));
    std::vector<double> mine{static_cast<double>(rank())}, all(static_cast<std::size_t>(size()));
    exchange.gather(mine, all);
    EXPECT_EQ(all.back(), size() - 1);
  }
}

}  // namespace
}  // namespace loom
