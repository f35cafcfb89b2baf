// The analysis that remembers against the one that begins anew, over random edits: problems, their order and remedies,
// facts, sums.
#include "engine/network/incremental_analysis.h"

#include <gtest/gtest.h>

#include <random>

namespace loom {
namespace {

bool same(const Remedy& a, const Remedy& b) {
  return a.kind == b.kind && a.label == b.label && a.node == b.node && a.field == b.field && a.value == b.value &&
         a.edge == b.edge && a.nodes == b.nodes && a.edges == b.edges;
}

void expectSame(const Analysis& kept, const Analysis& fresh, const std::string& where) {
  ASSERT_EQ(kept.problems.size(), fresh.problems.size()) << where;
  for (std::size_t i = 0; i < kept.problems.size(); ++i) {
    const Problem &a = kept.problems[i], &b = fresh.problems[i];
    EXPECT_EQ(a.message, b.message) << where;
    EXPECT_TRUE(a.severity == b.severity && a.network == b.network && a.node == b.node && a.field == b.field &&
                a.edge == b.edge)
        << where << ": " << a.message;
    EXPECT_TRUE(same(a.remedy, b.remedy))
        << where << ": " << a.message << " [" << a.remedy.label << "] [" << b.remedy.label << "]";
  }
  EXPECT_EQ(kept.order, fresh.order) << where;
  EXPECT_EQ(kept.parameters, fresh.parameters) << where;
  EXPECT_EQ(kept.multiplyAdds, fresh.multiplyAdds) << where;
  ASSERT_EQ(kept.nodes.size(), fresh.nodes.size()) << where;
  for (const auto& [id, a] : kept.nodes) {
    const NodeFacts& b = fresh.nodes.at(id);
    EXPECT_TRUE(a.inputs == b.inputs && a.outputs == b.outputs && a.known == b.known && a.parameters == b.parameters &&
                a.multiplyAdds == b.multiplyAdds && a.outputValues == b.outputValues)
        << where << ": " << id;
  }
}

struct Monkey {
  std::mt19937 random;
  Network network{.name = "main"};
  int names = 0;

  std::size_t below(std::size_t count) { return count == 0 ? 0 : random() % count; }
  std::string any() { return network.nodes.empty() ? "nobody" : network.nodes[below(network.nodes.size())].id; }

  Node make() {
    static const char* const layers[] = {"Input",
                                         "Convolution",
                                         "ReLU",
                                         "MaxPooling",
                                         "Linear",
                                         "Add",
                                         "BatchNormalization",
                                         "SoftmaxCrossEntropy",
                                         "Concatenate",
                                         "Softmax",
                                         "Convolutoin"};
    Node node{.id = "n" + std::to_string(names++), .layer = layers[below(std::size(layers))]};
    if (node.layer == "Input")
      node.values = below(4) == 0 ? Json{{"shape", {1}}, {"type", "label"}} : Json{{"shape", {3, 16, 16}}};
    if (node.layer == "Linear") node.values = {{"outputs", 10}};
    return node;
  }
  void begin() {
    network.nodes = {{.id = "x", .layer = "Input", .values = {{"shape", {3, 16, 16}}}}};
    std::string last = "x";
    for (int i = 0; i < 12; ++i) {
      const std::string id = "b" + std::to_string(i);
      network.nodes.push_back({.id = id,
                               .layer = i % 3 == 0   ? "Convolution"
                                        : i % 3 == 1 ? "BatchNormalization"
                                                     : "ReLU"});
      network.edges.push_back({{last, "output"}, {id, "input"}});
      last = id;
    }
  }
  void step() {
    switch (below(11)) {
      case 0: {
        network.nodes.insert(network.nodes.begin() + static_cast<std::ptrdiff_t>(below(network.nodes.size() + 1)),
                             make());
        break;
      }
      case 1:
        if (below(3) == 0 && !network.nodes.empty())
          network.nodes.erase(network.nodes.begin() + static_cast<std::ptrdiff_t>(below(network.nodes.size())));
        break;
      case 2:
      case 3:
        network.edges.push_back({{any(), "output"}, {any(), below(6) == 0 ? "target" : "input"}});
        break;
      case 4:
        if (!network.edges.empty())
          network.edges.erase(network.edges.begin() + static_cast<std::ptrdiff_t>(below(network.edges.size())));
        break;
      case 5:
      case 6:
      case 7: {
        if (network.nodes.empty()) break;
        Node& node = network.nodes[below(network.nodes.size())];
        switch (below(6)) {
          case 0:
            node.values["channels"] = 1 + below(8);
            break;
          case 1:
            node.values["stride"] = 1 + below(3);
            break;
          case 2:
            node.values["kernel"] = {1 + below(9), 3};
            break;
          case 3:
            node.values["outputs"] = below(3) == 0 ? Json("ten") : Json(1 + below(20));
            break;
          case 4:
            node.values = Json::object();
            break;
          default:
            node.values["type"] = below(2) == 0 ? "label" : "values";
            break;
        }
        break;
      }
      case 8:
        if (!network.nodes.empty())
          network.nodes[below(network.nodes.size())].shares = below(2) == 0 ? any() : std::string();
        break;
      case 9:
        if (!network.nodes.empty()) network.nodes[below(network.nodes.size())].layer = make().layer;
        break;
      default: {
        if (network.nodes.empty()) break;
        Node& node = network.nodes[below(network.nodes.size())];
        const std::string was = node.id, now = below(8) == 0 ? any() : "n" + std::to_string(names++);
        node.id = now;
        for (Edge& edge : network.edges) {
          if (edge.from.node == was) edge.from.node = now;
          if (edge.to.node == was) edge.to.node = now;
        }
      }
    }
  }
};

TEST(IncrementalAnalysis, AnswersAsOneMadeAnew) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    Monkey monkey{std::mt19937(seed)};
    monkey.begin();
    IncrementalAnalysis kept;
    for (int i = 0; i < 120; ++i) {
      for (std::size_t edits = 1 + monkey.below(2); edits > 0; --edits) monkey.step();
      const std::string where = "seed " + std::to_string(seed) + ", edit " + std::to_string(i);
      expectSame(kept.update(monkey.network), IncrementalAnalysis().update(monkey.network), where);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(IncrementalAnalysis, AnswersAsOneMadeAnewBesideAnotherNetwork) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    Monkey first{std::mt19937(seed)}, second{std::mt19937(seed + 100)};
    first.begin();
    second.begin();
    IncrementalAnalysis keptFirst, keptSecond;
    for (int i = 0; i < 60; ++i) {
      (i % 2 == 0 ? first : second).step();
      ParameterUses kept, fresh;
      keptFirst.update(first.network, &kept);
      IncrementalAnalysis().update(first.network, &fresh);
      expectSame(keptSecond.update(second.network, &kept), IncrementalAnalysis().update(second.network, &fresh),
                 "seed " + std::to_string(seed));
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(IncrementalAnalysis, LooksOnlyBehindWhatChanged) {
  Monkey monkey{std::mt19937(1)};
  monkey.begin();
  IncrementalAnalysis kept;
  kept.update(monkey.network);
  EXPECT_EQ(kept.visited(), monkey.network.nodes.size());
  kept.update(monkey.network);
  EXPECT_EQ(kept.visited(), 0U);
  monkey.network.find("b9")->values["channels"] = 5;  // b9 and what reads it, b10 and b11
  kept.update(monkey.network);
  EXPECT_EQ(kept.visited(), 3U);
  monkey.network.find("b3")->values["channels"] = 5;  // up to b6, whose output stays
  kept.update(monkey.network);
  EXPECT_EQ(kept.visited(), 4U);
}

}  // namespace
}  // namespace loom
