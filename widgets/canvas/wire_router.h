#pragma once
// Ways for all wires of a network: orthogonal, straight down where they can, else across in a track between the rows, else
// along a lane beside the cards that are in the way. A pure function of places; wires of one pin share their way as far as they
// go together, wires of different pins never lie on each other.
#include <map>
#include <string>
#include <vector>

#include <QPainterPath>
#include <QPointF>
#include <QString>

#include "engine/network/network.h"

namespace loom {

struct WireRoute {
  std::vector<QPointF> points;  // from the output pin to the input pin; corners are right angles
};

// Where a shape stands beside an output pin.
struct WireLabel {
  Endpoint pin;
  QPointF at;         // baseline: left end, or right end when `left`
  bool left = false;  // a wire leaves to the right, so the words go left
};

struct Routing {
  std::vector<WireRoute> routes;  // one an edge, in the order of network.edges
  std::vector<WireLabel> labels;  // one an output that has wires
};

// `moved` overrides places, as while cards are being dragged.
Routing routeWires(const Network& network, const std::map<std::string, QPointF>& moved = {});

// With round corners, for painting.
QPainterPath roundedPath(const std::vector<QPointF>& points, double radius);

}  // namespace loom
