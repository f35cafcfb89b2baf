// Ways to add gradients up, on ranks that are threads: sums and bits, and what they send against their formulas and
// against the closed forms of messages, steps and bytes of each topology.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <mutex>

#include "engine/base/error.h"
#include "engine/comm/reductions/reduction.h"
#include "engine/comm/reductions/scattered.h"
#include "tests/engine/comm/thread_ranks.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const ReductionDefinition& row(std::string_view name) {
  const ReductionDefinition* found = findReduction(name);
  if (!found) throw std::runtime_error("there is no reduction " + std::string(name));
  return *found;
}

float valueOf(int shard, std::size_t i) {
  return (0.5f + std::sin(1.0f + static_cast<float>(shard) * 7 + static_cast<float>(i))) *
         (shard % 3 == 0 ? 1e-3f : 1.0f);
}

std::vector<float> shardOf(int shard, std::size_t floats) {
  std::vector<float> values(floats);
  for (std::size_t i = 0; i < floats; ++i) values[i] = valueOf(shard, i);
  return values;
}

// What all ranks end with, in two sums by one object (its memory is used again), the first of fewer numbers.
std::vector<std::vector<float>> summed(ThreadRanks& world, const ReductionDefinition& way,
                                       const ReductionShape& shape) {
  std::vector<std::vector<float>> results(static_cast<std::size_t>(shape.ranks));
  world.run([&](Communicator& ranks) {
    const std::unique_ptr<Reduction> reduction = way.make(ranks, shape);
    for (const std::size_t floats : {shape.floats / 2, shape.floats}) {
      if (ranks.rank() == 0) world.forget();
      const int first = shape.shards * ranks.rank() / shape.ranks,
                last = shape.shards * (ranks.rank() + 1) / shape.ranks;
      ranks.allReduce({});  // nobody counts before all forgot
      std::vector<float> sum(floats, 0.0f);
      for (int shard = first; shard < last; ++shard) {
        std::vector<float> values = shardOf(shard, floats);
        const std::size_t cut = floats / 3;
        const std::vector<std::span<float>> tensors{std::span(values).first(cut), std::span(values).subspan(cut)};
        reduction->add(shard, tensors, sum);
      }
      reduction->finish(sum);
      results[static_cast<std::size_t>(ranks.rank())] = std::move(sum);
      ranks.allReduce({});
    }
  });
  return results;
}

// The distance from what one rank makes of it in f32, in parts of its norm.
double distance(const std::vector<float>& result, int shards) {
  std::vector<float> sum(result.size(), 0.0f);
  for (int shard = 0; shard < shards; ++shard)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += valueOf(shard, i);
  double off = 0, norm = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    off += (result[i] - sum[i]) * (result[i] - sum[i]);
    norm += sum[i] * sum[i];
  }
  return std::sqrt(off / norm);
}

bool can(const ReductionDefinition& way, int ranks) {
  return !way.refuse || !way.refuse(ranks, Json::object());
}

TEST(Reductions, SumAlikeOnEveryRankForAnyNumberOfThem) {
  int tried = 0;
  for (const ReductionDefinition* way : reductionTable()) {
    for (int p = 1; p <= 16; ++p) {
      if (!can(*way, p)) continue;
      for (const std::size_t floats : {std::size_t{3}, std::size_t{1001}}) {
        SCOPED_TRACE(way->entry.id + " of " + std::to_string(p) + ", " + std::to_string(floats));
        ThreadRanks world(p);
        const auto results = summed(world, *way, {.ranks = p, .floats = floats, .shards = p});
        EXPECT_LT(distance(results[0], p), 1e-6);
        for (const auto& other : results) EXPECT_EQ(other, results[0]);
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 300);
}

// Only a row that says so has the same bits on any number of ranks.
TEST(Reductions, OnlyTheTreeIsExact) {
  std::set<std::string> exact;
  for (const ReductionDefinition* way : reductionTable()) {
    std::set<std::vector<float>> results;
    for (const int p : {1, 2, 3, 4, 5, 8, 12}) {
      if (!can(*way, p)) continue;
      ThreadRanks world(p);
      results.insert(summed(world, *way, {.ranks = p, .floats = 1001, .shards = 24})[0]);
    }
    EXPECT_EQ(results.size() == 1, way->exact) << way->entry.id;
    if (way->exact) exact.insert(way->entry.id);
  }
  EXPECT_THAT(exact, ElementsAre("tree"));
}

// Shards without samples add nothing, wherever they stand.
TEST(Reductions, ATreeGoesWithoutShards) {
  const std::vector<int> with{0, 3, 4, 11, 17, 23};
  std::set<std::vector<float>> results;
  for (const int p : {1, 2, 3, 4, 6, 8, 16}) {
    ThreadRanks world(p);
    world.run([&](Communicator& ranks) {
      const auto tree = row("tree").make(ranks, {.ranks = p, .floats = 77, .shards = 24});
      std::vector<float> sum(77);
      for (int step = 0; step < 2; ++step) {
        std::fill(sum.begin(), sum.end(), 0.0f);
        for (const int shard : with) {
          if (step == 0 && shard == 4) continue;  // it comes in the second step alone
          if (shard < 24 * ranks.rank() / p || shard >= 24 * (ranks.rank() + 1) / p) continue;
          std::vector<float> values = shardOf(shard, 77);
          const std::vector<std::span<float>> tensors{values};
          tree->add(shard, tensors, sum);
        }
        tree->finish(sum);
      }
      if (ranks.rank() == p - 1) results.insert(sum);
    });
  }
  ASSERT_EQ(results.size(), 1U);
  for (std::size_t i = 0; i < 77; ++i) {
    double sum = 0;
    for (const int shard : with) sum += valueOf(shard, i);
    EXPECT_NEAR((*results.begin())[i], sum, 1e-5);
  }
}

TEST(Reductions, SixteenBitsRoundEachShardAndTheSumOnce) {
  for (const Wire wire : {Wire::bf16, Wire::f16}) {
    const double unit = wire == Wire::bf16 ? 1.0 / 256 : 1.0 / 2048;
    for (const int p : {1, 2, 3, 7}) {
      ThreadRanks world(p);
      const auto results = summed(world, row("direct"), {.ranks = p, .floats = 500, .wire = wire, .shards = 2 * p});
      EXPECT_LT(distance(results[0], 2 * p), 4 * unit) << toString(wire) << p;
      EXPECT_GT(distance(results[0], 2 * p), unit / 100) << "it was not rounded";
      for (std::size_t i = 0; i < results[0].size() && wire == Wire::bf16; ++i)
        ASSERT_EQ(std::bit_cast<std::uint32_t>(results[0][i]) & 0xFFFFu, 0u) << "the sum was not rounded, " << p;
      for (const auto& other : results) EXPECT_EQ(other, results[0]);
    }
  }
}

// Messages and bytes that each rank sends are what its row says.
TEST(Reductions, SendWhatTheirFormulasSay) {
  for (const char* name : {"ring", "binomial", "butterfly", "halving_doubling", "star"}) {
    for (int p = 1; p <= 16; ++p) {
      for (const std::size_t floats : {std::size_t{5}, std::size_t{1000}}) {
        ThreadRanks world(p);
        const ReductionShape shape{.ranks = p, .floats = floats, .shards = p};
        summed(world, row(name), shape);
        for (int r = 0; r < p; ++r) {
          const RankTraffic told = row(name).sent(shape, r);
          EXPECT_EQ(world.sent()[static_cast<std::size_t>(r)].messages, told.messages) << name << p << " rank " << r;
          EXPECT_EQ(world.sent()[static_cast<std::size_t>(r)].bytes, told.bytes) << name << p << " rank " << r;
        }
      }
    }
  }
}

// The formulas themselves, against the published table: S divides by every p up to 16.
TEST(Reductions, FormulasAreThoseOfTheTable) {
  const std::int64_t floats = 720720, S = 4 * floats;
  for (int p = 2; p <= 16; ++p) {
    const int log = std::bit_width(static_cast<unsigned>(p - 1)), floor = std::bit_width(static_cast<unsigned>(p)) - 1;
    const bool power = std::has_single_bit(static_cast<unsigned>(p));
    const int m = 1 << floor, pairs = p - m;
    const ReductionShape shape{.ranks = p, .floats = static_cast<std::size_t>(floats), .shards = p};
    SCOPED_TRACE(p);
    const auto cost = [&](const char* name) { return costOf(row(name), shape); };
    EXPECT_EQ(cost("star").steps, 2 * (p - 1));
    EXPECT_EQ(cost("star").bytes, (p - 1) * S);
    EXPECT_EQ(cost("star").total, 2 * (p - 1) * S);
    EXPECT_EQ(row("star").sent(shape, 1).bytes, S);
    EXPECT_EQ(cost("binomial").steps, 2 * log);
    EXPECT_EQ(cost("binomial").total, 2 * (p - 1) * S);
    EXPECT_EQ(row("binomial").sent(shape, 0).bytes, log * S);
    EXPECT_EQ(cost("butterfly").steps, floor + (power ? 0 : 2));
    EXPECT_EQ(cost("butterfly").bytes, S * (floor + (pairs > 0 ? 1 : 0)));
    EXPECT_EQ(cost("halving_doubling").steps, 2 * floor + (power ? 0 : 2));
    EXPECT_EQ(cost("halving_doubling").bytes, 2 * S / m * (m - 1) + (pairs > 0 ? S : 0));
    EXPECT_EQ(cost("ring").steps, 2 * (p - 1));
    EXPECT_EQ(cost("ring").bytes, 2 * S / p * (p - 1));
    if (pairs > 0) {
      EXPECT_EQ(row("halving_doubling").sent(shape, 1).bytes, S);
    }
  }
}

TEST(Reductions, StepsAreThePublishedOnes) {
  const auto steps = [](const char* name, int ranks, const Json& values = Json::object()) {
    return costOf(row(name), {.ranks = ranks, .floats = 1 << 20, .values = values}).steps;
  };
  EXPECT_EQ(steps("ring", 8), 14);
  EXPECT_EQ(steps("ring", 1024), 2046);
  EXPECT_EQ(steps("hierarchical", 1024, {{"hierarchical_group", 16}}), 186);
  EXPECT_EQ(steps("hierarchical", 1024, {{"hierarchical_group", 8}}), 282);
  EXPECT_EQ(steps("hierarchical", 1024, {{"hierarchical_group", 4}}), 522);
  EXPECT_EQ(steps("hierarchical", 64, {{"hierarchical_group", 8}}), 42);
  EXPECT_EQ(steps("hierarchical", 1024), 186);  // 16 and 32 tie
  EXPECT_EQ(steps("torus", 1024), 124);
  EXPECT_EQ(steps("torus", 1024, {{"torus_columns", 16}}), 156);
  EXPECT_EQ(steps("torus", 1024, {{"torus_columns", 8}}), 268);
  EXPECT_EQ(steps("torus", 16), 12);
  EXPECT_EQ(steps("torus", 4), 4);
}

// Asked for any number of ranks, as the planner does for every bucket: counting up to them would take hours here.
TEST(Reductions, AreToldForAsManyRanksAsYouLike) {
  constexpr int kRanks = 1 << 30;
  double least = 1e9;
  for (std::size_t floats = 1; floats <= 300; ++floats) {
    const ReductionShape shape{.ranks = kRanks, .floats = floats, .perHost = 8};
    for (const char* name : {"ring", "torus", "hierarchical", "hybrid", "butterfly"})
      least = std::min(least, secondsOf(row(name), shape));
    ReductionShape alone = shape;
    alone.perHost = 0;  // no hosts that say how large a group is
    least = std::min(least, secondsOf(row("hierarchical"), alone));
  }
  EXPECT_GT(least, 0);
  // 4 (k - 1) + 2 (p / k - 1) is least at k = 2^14 and 2^15.
  EXPECT_EQ(row("hierarchical").phases({.ranks = kRanks, .floats = 1}).front().ranks, 1 << 14);
  // Of all ranks together, the way is chosen once.
  const ReductionShape many{.ranks = 4096, .floats = 1 << 20, .perHost = 8};
  const ReductionCost chosen = costOf(row("hybrid"), many), other = costOf(row("ring"), many);
  EXPECT_LE(secondsOf(row("hybrid"), many), secondsOf(row("ring"), many));
  EXPECT_GE(chosen.total, other.total / 2);
  // Every shard is its rank's, however they are divided.
  EXPECT_EQ(row("tree").phases({.ranks = 24, .floats = 24, .shards = 24}).front().ranks, 24);
}

// ResNet-50 in f32: what a rank of 1,024 sends.
TEST(Reductions, ATorusCarriesARingsBytes) {
  const ReductionShape shape{.ranks = 1024, .floats = 102228128 / 4};
  const std::vector<ReductionPhase> phases = row("torus").phases(shape);
  ASSERT_EQ(phases.size(), 3U);
  EXPECT_NEAR(static_cast<double>(phases[0].bytes + phases[2].bytes), 198066998, 300);
  EXPECT_NEAR(static_cast<double>(phases[1].bytes), 6189594, 300);
  EXPECT_NEAR(static_cast<double>(costOf(row("ring"), shape).bytes), 204256592, 300);
}

// Calls, groups and bytes of each level, counted; uneven groups too.
TEST(Reductions, CollectivesAreCalledByTheGroupsThatTheirPhasesName) {
  struct Case {
    const char* name;
    int ranks;
    Json values;
  };
  for (const auto& [name, p, values] :
       {Case{"torus", 6, Json::object()}, Case{"torus", 16, Json::object()}, Case{"torus", 12, {{"torus_columns", 6}}},
        Case{"torus", 5, {{"torus_columns", 5}}}, Case{"hierarchical", 12, {{"hierarchical_group", 4}}},
        Case{"hierarchical", 16, Json::object()}, Case{"hierarchical", 7, {{"hierarchical_group", 3}}},
        Case{"hierarchical", 3, {{"hierarchical_group", 8}}}, Case{"direct", 5, Json::object()},
        Case{"tree", 5, Json::object()}, Case{"library", 5, Json::object()}}) {
    SCOPED_TRACE(std::string(name) + " of " + std::to_string(p) + " " + values.dump());
    const ReductionShape shape{.ranks = p, .floats = 720, .shards = 24, .values = values};
    ThreadRanks world(p);
    const auto results = summed(world, row(name), shape);
    EXPECT_LT(distance(results[0], 24), 1e-6);
    for (const auto& other : results) EXPECT_EQ(other, results[0]);
    std::map<std::string, std::pair<int, std::int64_t>> wanted, counted;  // groups; bytes of a member of the largest
    for (const ReductionPhase& phase : row(name).phases(shape)) {
      if (phase.call.empty() || phase.ranks == 1) continue;
      wanted[phase.call] = {phase.groups, phase.bytes};
    }
    for (const ThreadRanks::Call& call : world.calls()) {
      if (call.members.size() == 1 || call.bytes == 0) continue;
      ++counted[call.name].first;
      counted[call.name].second = std::max(counted[call.name].second, call.bytes);
    }
    // A last group of one member calls nobody.
    if (p == 7)
      for (auto& [call, of] : wanted)
        if (call != "all-reduce") --of.first;
    EXPECT_EQ(counted, wanted);
    for (int r = 0; r < p && std::string(name) == "hierarchical"; ++r) {
      std::int64_t bytes = world.sent()[static_cast<std::size_t>(r)].bytes;
      for (const ThreadRanks::Call& call : world.calls())
        if (std::count(call.members.begin(), call.members.end(), r)) bytes += call.bytes;
      EXPECT_EQ(bytes, row(name).sent(shape, r).bytes) << "rank " << r;
    }
  }
}

// Each rank's own numbers have the bits of the whole sum, for the bytes that are told.
TEST(Reductions, LeaveEachRankWithItsOwnAlone) {
  for (const char* name : {"direct", "tree"})
    for (int p = 1; p <= 8; ++p) {
      const ReductionShape shape{.ranks = p, .floats = 720, .shards = 24};
      ThreadRanks world(p);
      const auto whole = summed(world, row(name), shape);
      // Uneven, and one rank may have nothing.
      std::vector<OwnedParts::Part> parts{{0, 100, p - 1}, {100, 7, 0}, {107, 313, p / 2}, {420, 300, p - 1}};
      const OwnedParts owned(parts, p);
      std::mutex mutex;
      world.run([&](Communicator& ranks) {
        const std::unique_ptr<Reduction> reduction = row(name).make(ranks, shape);
        dynamic_cast<Scattering&>(*reduction).scatter(owned);
        for (int again = 0; again < 2; ++again) {
          if (ranks.rank() == 0) world.forget();
          ranks.allReduce({});
          std::vector<float> sum(720, 0.0f);
          for (int shard = 24 * ranks.rank() / p; shard < 24 * (ranks.rank() + 1) / p; ++shard) {
            std::vector<float> values = shardOf(shard, 720);
            const std::vector<std::span<float>> tensors{std::span(values)};
            reduction->add(shard, tensors, sum);
          }
          reduction->finish(sum);
          const std::lock_guard lock(mutex);
          for (const OwnedParts::Part& part : parts)
            for (std::size_t i = part.begin; part.owner == ranks.rank() && i < part.begin + part.count; ++i)
              EXPECT_EQ(sum[i], whole[0][i]) << name << p << " rank " << part.owner << " number " << i;
        }
      });
      const auto told = scatteredBytes(row(name), shape, owned);
      EXPECT_EQ(told.has_value(), p > 1);
      if (!told) continue;
      std::int64_t most = 0;
      for (const ThreadRanks::Sent& sent : world.sent()) most = std::max(most, sent.bytes);
      EXPECT_LE(most, *told) << name << p;
      EXPECT_LE(*told, (p - 1) * most) << name << p;
    }
  EXPECT_FALSE(scatteredBytes(row("ring"), {.ranks = 4, .floats = 8}, OwnedParts({{0, 8, 1}}, 4)));
}

TEST(Reductions, RefuseWhatCannotBeAndSayWhatCan) {
  const auto refusal = [](const char* name, int ranks, Wire wire = Wire::f32, bool deterministic = false,
                          Json values = Json::object()) {
    const auto found = refusalOf({name, std::move(values)}, ranks, wire, deterministic);
    return found ? found->text + " [" + found->setting + " = " + found->value.dump() + "]" : std::string();
  };
  for (const int prime : {2, 3, 5, 7, 13}) EXPECT_THAT(refusal("torus", prime), HasSubstr("is a prime; start "));
  EXPECT_THAT(refusal("torus", 7), HasSubstr("start 8 ranks, or set reduction to ring [reduction = \"ring\"]"));
  for (const int fine : {1, 4, 6, 9, 15}) EXPECT_EQ(refusal("torus", fine), "");
  EXPECT_THAT(refusal("torus", 12, Wire::f32, false, {{"torus_columns", 5}}),
              HasSubstr("12 ranks do not make rows of 5; set torus_columns to a divisor of 12"));
  EXPECT_EQ(refusal("torus", 7, Wire::f32, false, {{"torus_columns", 7}}), "");
  EXPECT_THAT(refusal("automatic", 2, Wire::bf16, true), HasSubstr("set wire to f32 [wire = \"f32\"]"));
  EXPECT_THAT(refusal("ring", 2, Wire::f32, true), HasSubstr("set reduction to automatic"));
  EXPECT_EQ(refusal("tree", 2, Wire::f32, true), "");
  EXPECT_THAT(refusal("ring", 2, Wire::f16), HasSubstr("set reduction to automatic, or wire to f32"));
  EXPECT_EQ(refusal("direct", 2, Wire::f16), "");
  EXPECT_EQ(refusal("automatic", 7, Wire::f16), "");
  EXPECT_THROW(reductionOf({"rnig"}, Wire::f32, false), Error);
}

// Every row says what it is, and its fields are settings that hold only while it is chosen.
TEST(Reductions, AreChosenByTheCatalogue) {
  const std::vector<Field> fields = reductionFields();
  ASSERT_EQ(fields.front().key, "reduction");
  EXPECT_EQ(fields.front().choices.size(), reductionTable().size() + 1);
  for (const ReductionDefinition* way : reductionTable()) {
    EXPECT_FALSE(way->entry.summary.empty() || way->entry.help.empty() || way->entry.label.empty()) << way->entry.id;
    for (const Field& field : way->entry.fields) {
      const auto found =
          std::find_if(fields.begin(), fields.end(), [&](const Field& each) { return each.key == field.key; });
      ASSERT_NE(found, fields.end()) << field.key;
      EXPECT_EQ(found->onlyWhen, "reduction=" + way->entry.id);
    }
  }
}

}  // namespace
}  // namespace loom
