#include "widgets/canvas/wire_router.h"

#include <QTest>
#include <cmath>
#include <optional>
#include <random>
#include <set>

#include "tests/widgets/document/drawings.h"
#include "widgets/document/arrange.h"
#include "widgets/document/card_geometry.h"

namespace loom {

namespace {

Network arrangedNetwork(const std::string& text) {
  Network drawn = readProject(text, "test").project.networks.at(0);
  placeUnplaced(drawn);
  return drawn;
}

// How many cards the way runs through, apart from touching its ends' pins.
int crossed(const Network& drawn, const WireRoute& route) {
  int count = 0;
  for (const Node& node : drawn.nodes) {
    const QRectF card = cardRect(node).adjusted(1, 1, -1, -1);
    for (std::size_t p = 1; p < route.points.size(); ++p) {
      const QPointF a = route.points[p - 1], b = route.points[p];
      const QRectF piece = QRectF(a, b).normalized().adjusted(-0.1, -0.1, 0.1, 0.1);
      if (piece.intersects(card)) {
        ++count;
        break;
      }
    }
  }
  return count;
}

}  // namespace

class WireRouterTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void chainsRunStraight();
  void everyPieceIsLevelOrUpright();
  void skipsRunBesideTheCards();
  void wiresOfDifferentPinsNeverLieOnEachOther();
  void backwardsGoesAround();
  void aShapeStandsOnceAtEachOutput();
  void roundedCornersKeepTheEnds();
  void aLongSearchIsInterruptedAndComesToTheSame();
  void wiresThatGoLeaveTheirPlaceToOthers();
};

void WireRouterTest::chainsRunStraight() {
  const Network drawn = arrangedNetwork(drawings::kSmall);
  const Routing routing = routeWires(drawn);
  QCOMPARE(routing.routes.size(), drawn.edges.size());
  QCOMPARE(routing.routes[0].points.size(), std::size_t{2});
  QCOMPARE(routing.routes[0].points.front(), QPointF(0, 22));
  QCOMPARE(routing.routes[0].points.back(), QPointF(0, 38));
}

void WireRouterTest::everyPieceIsLevelOrUpright() {
  const Network drawn = arrangedNetwork(drawings::residual(4));
  for (const WireRoute& route : routeWires(drawn).routes)
    for (std::size_t p = 1; p < route.points.size(); ++p)
      QVERIFY(route.points[p].x() == route.points[p - 1].x() || route.points[p].y() == route.points[p - 1].y());
}

void WireRouterTest::skipsRunBesideTheCards() {
  const Network drawn = arrangedNetwork(drawings::residual(6));
  const Routing routing = routeWires(drawn);
  for (std::size_t i = 0; i < drawn.edges.size(); ++i)
    QVERIFY2(crossed(drawn, routing.routes[i]) == 0,
             (drawn.edges[i].from.node + " to " + drawn.edges[i].to.node).c_str());
}

void WireRouterTest::wiresOfDifferentPinsNeverLieOnEachOther() {
  const Network drawn = arrangedNetwork(drawings::residual(5));
  const Routing routing = routeWires(drawn);
  for (std::size_t i = 0; i < drawn.edges.size(); ++i)
    for (std::size_t j = i + 1; j < drawn.edges.size(); ++j) {
      if (drawn.edges[i].from == drawn.edges[j].from) continue;
      for (std::size_t p = 1; p < routing.routes[i].points.size(); ++p)
        for (std::size_t r = 1; r < routing.routes[j].points.size(); ++r) {
          const QPointF a = routing.routes[i].points[p - 1], b = routing.routes[i].points[p];
          const QPointF c = routing.routes[j].points[r - 1], d = routing.routes[j].points[r];
          const bool level = a.y() == b.y() && c.y() == d.y() && std::abs(a.y() - c.y()) < 2;
          const bool upright = a.x() == b.x() && c.x() == d.x() && std::abs(a.x() - c.x()) < 2;
          const auto apart = [](double p1, double p2, double q1, double q2) {
            return std::max(p1, p2) <= std::min(q1, q2) + 1 || std::max(q1, q2) <= std::min(p1, p2) + 1;
          };
          if (level) QVERIFY(apart(a.x(), b.x(), c.x(), d.x()));
          if (upright) QVERIFY(apart(a.y(), b.y(), c.y(), d.y()));
        }
    }
}

void WireRouterTest::backwardsGoesAround() {
  Network drawn = arrangedNetwork(drawings::kSmall);
  drawn.find("relu")->y = -300;  // what reads conv stands above it
  const Routing routing = routeWires(drawn);
  QVERIFY(routing.routes[1].points.size() >= 5);
  QCOMPARE(crossed(drawn, routing.routes[1]), 0);
}

void WireRouterTest::aShapeStandsOnceAtEachOutput() {
  const Network drawn = arrangedNetwork(drawings::residual(2));
  const Routing routing = routeWires(drawn);
  std::set<Endpoint> seen;
  for (const WireLabel& label : routing.labels) QVERIFY(seen.insert(label.pin).second);
  for (const Edge& edge : drawn.edges) QVERIFY(seen.contains(edge.from));
}

void WireRouterTest::roundedCornersKeepTheEnds() {
  const QPainterPath path = roundedPath({{0, 0}, {0, 40}, {60, 40}, {60, 80}}, 7);
  QCOMPARE(path.pointAtPercent(0), QPointF(0, 0));
  QCOMPARE(path.currentPosition(), QPointF(60, 80));
  QVERIFY(path.controlPointRect().contains(QPointF(30, 40)));
  QVERIFY(roundedPath({}, 7).isEmpty());
}

// One wire across the whole drawing: its search goes on in the next slice, and begins anew where something changed in
// between.
void WireRouterTest::aLongSearchIsInterruptedAndComesToTheSame() {
  const Network drawn = arrangedNetwork(drawings::residual(40));
  const std::size_t across = drawn.edges.size(), moved = 20;
  const auto setWire = [&](WireRouter& router, std::size_t number, const Node& from, const Node& to) {
    const QPointF below(0, kCardHeight / 2);
    router.setWire(number, {outputPin(from, "output"), cardRect(to).center() - below,
                            static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number)});
  };
  const auto fill = [&](WireRouter& router) {
    for (std::size_t i = 0; i < drawn.nodes.size(); ++i) router.setCard(i, cardRect(drawn.nodes[i]));
    // Cards beside the chain leave no lane near it.
    for (std::size_t i = 0; i < 12; ++i)
      router.setCard(5000 + i,
                     QRectF(drawn.nodes[0].x + 130 + 24.0 * static_cast<double>(i), drawn.find("b5_add")->y, 10, 400));
    for (std::size_t i = 0; i < across; ++i)
      setWire(router, i, *drawn.find(drawn.edges[i].from.node), *drawn.find(drawn.edges[i].to.node));
  };
  const Node &top = *drawn.find("b0_relu1"), &bottom = *drawn.find("b39_conv1");
  const QRectF place = cardRect(drawn.nodes[moved]).translated(12, 0);
  WireRouter inSlices, anew;
  fill(inSlices);
  inSlices.route();
  setWire(inSlices, across, top, bottom);
  int slices = 0;
  for (; slices < 20000 && !inSlices.isRouted(); ++slices) {
    inSlices.route({}, 0);
    if (slices == 2) {
      QVERIFY2(!inSlices.hasWay(across), "it was not interrupted");
      inSlices.setCard(moved, place);
    }
  }
  QVERIFY(inSlices.isRouted());
  fill(anew);
  anew.setCard(moved, place);
  setWire(anew, across, top, bottom);
  anew.route();
  for (std::size_t wire = 0; wire <= across; ++wire)
    QVERIFY2(anew.points(wire) == inSlices.points(wire), qPrintable(QString::number(wire)));
}

// Wires come and go, most of them out of sight, and the ways are looked for a part at a time: what comes of it is what
// a router says that never had the others.
void WireRouterTest::wiresThatGoLeaveTheirPlaceToOthers() {
  const Network drawn = arrangedNetwork(drawings::residual(25));
  const NetworkIndex index(drawn);
  std::mt19937 random(2);
  const auto ends = [&](std::size_t wire, double aside) {
    const Node &from = drawn.nodes[index.from(wire)], &to = drawn.nodes[index.to(wire)];
    return WireRouter::Wire{QPointF(from.x + aside, from.y + kCardHeight / 2),
                            QPointF(to.x - aside, to.y - kCardHeight / 2), static_cast<std::uint32_t>(index.from(wire)),
                            static_cast<std::uint32_t>(wire)};
  };
  WireRouter kept;
  for (std::size_t i = 0; i < drawn.nodes.size(); ++i) kept.setCard(i, cardRect(drawn.nodes[i]));
  std::vector<std::optional<double>> there(drawn.edges.size());
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 60; ++i) {
      const std::size_t wire = random() % there.size();
      if (there[wire] && random() % 2 == 0) {
        there[wire].reset();
        kept.removeWire(wire);
      } else {
        there[wire] = 4.0 * static_cast<double>(random() % 8);
        kept.setWire(wire, ends(wire, *there[wire]));
      }
      if (i % 20 == 0) kept.route(QRectF(-500, 1000, 1000, 800), 1);
    }
    for (int slices = 0; !kept.isRouted(); ++slices) {
      QVERIFY(slices < 100000);
      kept.route({}, 0.2);
    }
    WireRouter anew;
    for (std::size_t i = 0; i < drawn.nodes.size(); ++i) anew.setCard(i, cardRect(drawn.nodes[i]));
    for (std::size_t wire = 0; wire < there.size(); ++wire)
      if (there[wire]) anew.setWire(wire, ends(wire, *there[wire]));
    anew.route();
    for (std::size_t wire = 0; wire < there.size(); ++wire)
      if (there[wire])
        QVERIFY2(kept.points(wire) == anew.points(wire),
                 qPrintable(QStringLiteral("round %1, wire %2").arg(round).arg(wire)));
  }
}

}  // namespace loom

QTEST_GUILESS_MAIN(loom::WireRouterTest)
#include "wire_router_test.moc"
