#include "widgets/document/arrange.h"

#include <QTest>
#include <random>
#include <set>

#include "tests/widgets/document/drawings.h"
#include "widgets/document/card_geometry.h"
#include "widgets/document/card_grid.h"

namespace loom {

namespace {

Network network(const std::string& text) {
  ReadProject read = readProject(text, "test");
  return read.project.networks.at(0);
}

void place(Network& drawn) {
  for (const auto& [id, at] : arranged(drawn)) {
    Node* node = drawn.find(id);
    node->x = at.x();
    node->y = at.y();
  }
}

// Empty when no two cards touch, else their names.
QString overlap(const Network& drawn) {
  for (std::size_t i = 0; i < drawn.nodes.size(); ++i)
    for (std::size_t j = i + 1; j < drawn.nodes.size(); ++j)
      if (cardRect(drawn.nodes[i]).intersects(cardRect(drawn.nodes[j])))
        return QString::fromStdString(drawn.nodes[i].id + " covers " + drawn.nodes[j].id);
  return {};
}

Network randomNetwork(unsigned seed, int nodes) {
  std::mt19937 random(seed);
  Network drawn{"main", {}, {}};
  for (int i = 0; i < nodes; ++i)
    drawn.nodes.push_back({.id = "n" + std::to_string(i),
                           .layer = i == 0       ? "Input"
                                    : i % 5 == 0 ? "Concatenate"
                                                 : "ReLU"});
  for (int i = 1; i < nodes; ++i)
    for (int wires = i % 5 == 0 ? 3 : 1; wires > 0; --wires) {
      const Edge edge{{"n" + std::to_string(random() % static_cast<unsigned>(i)), "output"},
                      {"n" + std::to_string(i), "input"}};
      if (std::find(drawn.edges.begin(), drawn.edges.end(), edge) == drawn.edges.end()) drawn.edges.push_back(edge);
    }
  return drawn;
}

}  // namespace

class ArrangeTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void aChainRunsStraightDown();
  void skipsLeaveTheTrunkStraight();
  void nothingOverlaps_data();
  void nothingOverlaps();
  void theFlowGoesDown();
  void labelsStandBesideWhatReadsThem();
  void loopsAndLooseNodesAreArrangedToo();
  void twiceIsTheSame();
  void aGridAnswersWhatLookingAtAllWould();
  void unplacedNodesFindRoom();
};

void ArrangeTest::aChainRunsStraightDown() {
  Network drawn = network(
      R"({"loom": 1, "networks": {"main": {"nodes": [{"id": "x", "layer": "Input", "shape": [4]}, {"id": "a", "layer": "Linear"},
      {"id": "a_rather_long_name_for_a_node", "layer": "GlobalAveragePooling"}, {"id": "c", "layer": "ReLU"}],
      "edges": [["x", "a"], ["a", "a_rather_long_name_for_a_node"], ["a_rather_long_name_for_a_node", "c"]]}}})");
  place(drawn);
  for (std::size_t i = 1; i < drawn.nodes.size(); ++i) {
    QCOMPARE(drawn.nodes[i].x, drawn.nodes[0].x);
    QCOMPARE(drawn.nodes[i].y - drawn.nodes[i - 1].y, kPitch);
  }
}

void ArrangeTest::skipsLeaveTheTrunkStraight() {
  Network drawn = network(drawings::residual(3));
  place(drawn);
  for (const Node& node : drawn.nodes)
    if (node.id.starts_with("b")) QVERIFY2(std::abs(node.x - drawn.find("x")->x) < 1, node.id.c_str());
}

void ArrangeTest::nothingOverlaps_data() {
  QTest::addColumn<int>("seed");
  QTest::addColumn<int>("nodes");
  for (int seed = 0; seed < 12; ++seed) QTest::addRow("random %d", seed) << seed << 10 + 9 * seed;
  QTest::newRow("residual, 300 nodes") << -42 << 0;
}

void ArrangeTest::nothingOverlaps() {
  QFETCH(int, seed);
  QFETCH(int, nodes);
  Network drawn = seed < 0 ? network(drawings::residual(-seed)) : randomNetwork(static_cast<unsigned>(seed), nodes);
  place(drawn);
  QCOMPARE(overlap(drawn), QString());
  for (const Node& node : drawn.nodes) {
    QCOMPARE(std::fmod(node.x, kGrid), 0.0);
    QCOMPARE(std::fmod(node.y, kGrid), 0.0);
  }
}

void ArrangeTest::theFlowGoesDown() {
  Network drawn = randomNetwork(3, 60);
  place(drawn);
  for (const Edge& edge : drawn.edges) QVERIFY(drawn.find(edge.to.node)->y >= drawn.find(edge.from.node)->y + kPitch);
}

void ArrangeTest::labelsStandBesideWhatReadsThem() {
  Network drawn = network(drawings::kSmall);
  place(drawn);
  QCOMPARE(drawn.find("y")->y, drawn.find("fc")->y);
}

void ArrangeTest::loopsAndLooseNodesAreArrangedToo() {
  Network drawn = randomNetwork(1, 12);
  drawn.edges.push_back({{"n11", "output"}, {"n1", "input"}});
  drawn.edges.push_back({{"n4", "output"}, {"nobody", "input"}});
  drawn.nodes.push_back({.id = "loose", .layer = "Linear"});
  drawn.nodes.push_back({.id = "odd", .layer = "NoSuchLayer"});
  place(drawn);
  QCOMPARE(overlap(drawn), QString());
  QVERIFY(arranged(Network{}).empty());
}

void ArrangeTest::twiceIsTheSame() {
  Network drawn = randomNetwork(5, 50);
  place(drawn);
  const Network once = drawn;
  place(drawn);
  QVERIFY(drawn == once);
}

void ArrangeTest::unplacedNodesFindRoom() {
  Network drawn = network(drawings::kSmall);
  drawn.nodes.push_back({.id = "late", .layer = "ReLU"});
  drawn.nodes.push_back({.id = "later", .layer = "ReLU"});
  drawn.edges.push_back({{"conv", "output"}, {"late", "input"}});
  const double before = drawn.find("fc")->y;
  placeUnplaced(drawn);
  QCOMPARE(overlap(drawn), QString());
  QCOMPARE(drawn.find("fc")->y, before);
}

// Cards that come, go and move, small ones and some over many cells, beside a plain list of them.
void ArrangeTest::aGridAnswersWhatLookingAtAllWould() {
  std::mt19937 random(11);
  const auto below = [&](unsigned count) { return static_cast<double>(random() % count); };
  const auto rect = [&] {
    const double large = random() % 20 == 0 ? 8 : 1;
    return QRectF(below(9000) - 4500, below(6000) - 3000, large * (1 + below(400)), large * below(150));
  };
  CardGrid grid;
  std::map<std::size_t, QRectF> all;
  for (int i = 0; i < 6000; ++i) {
    const std::size_t card = random() % 500;
    if (random() % 4 == 0) {
      grid.take(card);
      all.erase(card);
    } else {
      const auto known = all.find(card);
      const QRectF now =
          known != all.end() && random() % 3 == 0 ? known->second.translated(below(30), below(30)) : rect();
      all[card] = now;
      grid.put(card, now);
    }
    if (i == 3000) {
      grid.clear();
      all.clear();
    }
    if (i % 5 != 0) continue;
    const QRectF area = i % 100 == 0 ? QRectF(-1e6, -1e6, 2e6, 2e6) : rect();
    std::map<std::size_t, int> met;
    grid.any(area, [&](std::size_t number, const QRectF& at) {
      ++met[number];
      return at != all.at(number);
    });
    QRectF around;
    for (const auto& [number, at] : all) {
      if (at.intersects(area))
        QVERIFY2(met.contains(number), qPrintable(QStringLiteral("step %1: %2 is not met").arg(i).arg(number)));
      around = around.isNull() ? at : around.united(at);
    }
    for (const auto& [number, times] : met) QVERIFY(times == 1 && all.contains(number));
    QCOMPARE(grid.bounds(), around);
  }
}

}  // namespace loom

QTEST_GUILESS_MAIN(loom::ArrangeTest)
#include "arrange_test.moc"
