// The index of a drawing against brute force, over random changes.
#include "engine/network/network_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace loom {
namespace {

using Position = NetworkIndex::Position;

struct Changing {
  Network network;
  NetworkIndex index;
  std::mt19937 random;
  int names = 0;

  std::size_t below(std::size_t count) { return count == 0 ? 0 : random() % count; }
  std::vector<std::size_t> some(std::size_t count, std::size_t most) {
    std::set<std::size_t> chosen;
    for (std::size_t i = 0; i < most && i < count; ++i) chosen.insert(below(count));
    return {chosen.begin(), chosen.end()};
  }
  std::string anyName() {
    return below(8) == 0 || network.nodes.empty() ? "n" + std::to_string(below(60))
                                                  : network.nodes[below(network.nodes.size())].id;
  }

  void step() {
    switch (below(6)) {
      case 0: {  // nodes come, anywhere
        const std::size_t count = 1 + below(3);
        std::vector<std::size_t> at;
        for (std::size_t i = 0; i < count; ++i) {
          const std::size_t place = below(network.nodes.size() + 1);
          network.nodes.insert(network.nodes.begin() + static_cast<std::ptrdiff_t>(place),
                               Node{.id = "n" + std::to_string(names++), .layer = "ReLU"});
          for (std::size_t& earlier : at) earlier += earlier >= place;
          at.push_back(place);
        }
        std::sort(at.begin(), at.end());
        index.nodesCame(network, at);
        break;
      }
      case 1: {
        const auto at = some(network.nodes.size(), below(4));
        for (auto place = at.rbegin(); place != at.rend(); ++place)
          network.nodes.erase(network.nodes.begin() + static_cast<std::ptrdiff_t>(*place));
        index.nodesWent(network, at);
        break;
      }
      case 2: {
        std::vector<std::size_t> at;
        for (std::size_t i = 0, count = 1 + below(4); i < count; ++i) {
          const std::size_t place = below(network.edges.size() + 1);
          network.edges.insert(network.edges.begin() + static_cast<std::ptrdiff_t>(place),
                               Edge{{anyName(), "output"}, {anyName(), "input"}});
          for (std::size_t& earlier : at) earlier += earlier >= place;
          at.push_back(place);
        }
        std::sort(at.begin(), at.end());
        index.wiresCame(network, at);
        break;
      }
      case 3: {
        const auto at = some(network.edges.size(), below(4));
        for (auto place = at.rbegin(); place != at.rend(); ++place)
          network.edges.erase(network.edges.begin() + static_cast<std::ptrdiff_t>(*place));
        index.wiresWent(at);
        break;
      }
      case 4: {
        if (network.nodes.empty()) break;
        const std::size_t at = below(network.nodes.size());
        const std::string was = std::exchange(
            network.nodes[at].id, below(2) == 0 ? "n" + std::to_string(names++) : "n" + std::to_string(below(60)));
        index.nodeRenamed(network, at, was);
        break;
      }
      default: {
        if (network.edges.empty()) break;
        const std::size_t at = below(network.edges.size());
        network.edges[at] = {{anyName(), "output"}, {anyName(), "input"}};
        index.wireChanged(network, at);
      }
    }
  }
};

// What reaches what, by trying every wire until nothing changes.
std::vector<char> reached(const Network& network, const std::string& from, bool forward) {
  std::set<std::string> seen{from};
  for (std::size_t before = 0; before != seen.size();) {
    before = seen.size();
    for (const Edge& edge : network.edges)
      if (seen.contains(forward ? edge.from.node : edge.to.node)) seen.insert(forward ? edge.to.node : edge.from.node);
  }
  std::vector<char> found;
  for (const Node& node : network.nodes) found.push_back(seen.contains(node.id));
  return found;
}

TEST(NetworkIndex, FollowsRandomChangesAsIfMadeAnew) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    Changing all{{}, {}, std::mt19937(seed)};
    for (int i = 0; i < 200; ++i) {
      all.step();
      ASSERT_TRUE(all.index == NetworkIndex(all.network)) << "seed " << seed << ", step " << i;
    }
  }
}

TEST(NetworkIndex, AnswersAsBruteForceDoes) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Changing all{{}, {}, std::mt19937(seed)};
    for (int i = 0; i < 120; ++i) all.step();
    const Network& network = all.network;
    std::set<std::string> ids;
    bool twice = false;
    for (const Node& node : network.nodes) twice |= !ids.insert(node.id).second;
    if (twice) continue;  // names that stand twice have no brute force answer
    for (std::size_t i = 0; i < network.nodes.size(); ++i) {
      const auto at = static_cast<Position>(i);
      const std::string& id = network.nodes[i].id;
      EXPECT_EQ(all.index.node(id), at);
      std::vector<Position> in, out;
      for (std::size_t wire = 0; wire < network.edges.size(); ++wire) {
        if (network.edges[wire].to.node == id) in.push_back(static_cast<Position>(wire));
        if (network.edges[wire].from.node == id) out.push_back(static_cast<Position>(wire));
      }
      EXPECT_TRUE(std::ranges::equal(all.index.into(at), in)) << id;
      EXPECT_TRUE(std::ranges::equal(all.index.outOf(at), out)) << id;
      // Loose wires lead through nodes that are not there, which nothing may go along.
      Network tied = network;
      std::erase_if(tied.edges,
                    [&](const Edge& edge) { return !ids.contains(edge.from.node) || !ids.contains(edge.to.node); });
      EXPECT_EQ(all.index.behind(at), reached(tied, id, true)) << id;
      EXPECT_EQ(all.index.before(at), reached(tied, id, false)) << id;
      for (std::size_t other = 0; other < network.nodes.size(); ++other) {
        const auto way = all.index.way(at, static_cast<Position>(other));
        ASSERT_EQ(!way.empty(), all.index.behind(at)[other] != 0);
        if (way.empty()) continue;
        EXPECT_EQ(way.front(), at);
        EXPECT_EQ(way.back(), other);
        for (std::size_t step = 1; step < way.size(); ++step)
          EXPECT_TRUE(std::ranges::any_of(all.index.outOf(way[step - 1]),
                                          [&](Position wire) { return all.index.to(wire) == way[step]; }));
      }
    }
    // The order: each behind all that feed it, and nothing of a circle.
    std::vector<std::ptrdiff_t> place(network.nodes.size(), -1);
    for (std::size_t i = 0; i < all.index.order().size(); ++i)
      place[all.index.order()[i]] = static_cast<std::ptrdiff_t>(i);
    for (std::size_t wire = 0; wire < network.edges.size(); ++wire) {
      const Position from = all.index.from(wire), to = all.index.to(wire);
      if (from == NetworkIndex::kNone || to == NetworkIndex::kNone || place[to] < 0) continue;
      ASSERT_GE(place[from], 0);
      EXPECT_LT(place[from], place[to]);
    }
    for (std::size_t i = 0; i < network.nodes.size(); ++i)
      if (place[i] < 0)
        EXPECT_TRUE(std::ranges::any_of(all.index.into(static_cast<Position>(i)), [&](Position wire) {
          return all.index.from(wire) != NetworkIndex::kNone && place[all.index.from(wire)] < 0;
        }));
  }
}

TEST(NetworkIndex, AWireInTheHandDoesNotCount) {
  const Network network{.name = "main",
                        .nodes = {{.id = "a"}, {.id = "b"}, {.id = "c"}},
                        .edges = {{{"a", "output"}, {"b", "input"}}, {{"b", "output"}, {"c", "input"}}}};
  const NetworkIndex index(network);
  EXPECT_EQ(index.behind(0), (std::vector<char>{1, 1, 1}));
  EXPECT_EQ(index.behind(0, 1), (std::vector<char>{1, 1, 0}));
  EXPECT_TRUE(index.way(0, 2, 0).empty());
  EXPECT_EQ(index.wire(network, network.edges[1]), 1U);
  EXPECT_EQ(index.wire(network, {{"a", "output"}, {"c", "input"}}), NetworkIndex::kNone);
}

}  // namespace
}  // namespace loom
