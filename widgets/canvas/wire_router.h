#pragma once
// Ways for all wires of a network: orthogonal, straight down where they can, else across in a track between the rows,
// else along a lane beside the cards that are in the way. Wires of one pin share their way as far as they go together,
// wires of different pins never lie on each other. What moves is routed again, with all that it gets into the way of or
// out of it, and nothing else; the answer is the same as if everything had been routed anew.
#include <QPainterPath>
#include <QPointF>
#include <QString>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "widgets/canvas/piece_grid.h"
#include "widgets/document/card_grid.h"
#include "widgets/document/drawing.h"

namespace loom {

class WireRouter {
 public:
  // Cards and wires by numbers that the caller gives and keeps.
  using Number = std::size_t;
  struct Wire {
    QPointF from, to;
    std::uint32_t source = 0;  // wires of one pin have one
    std::uint32_t order = 0;   // of two equally long the first of the file chooses first
  };

  void clear();
  void setCard(Number card, const QRectF& rect);
  void removeCard(Number card);
  bool cardTouches(Number card, const QRectF& area) const { return m_cards.rect(card).intersects(area); }
  // `touched`: its place in the order of the file is another.
  void setWire(Number wire, const Wire& set, bool touched = false);
  // Its place in the file is counted anew, behind and before the same others as it was.
  void setOrder(Number wire, std::uint32_t order);
  void removeWire(Number wire);
  std::vector<Number> route();  // the wires whose way is another now
  // The same, but only wires that stand in `seen` (null: all), and not longer than so many milliseconds, even where a
  // single wire looks longer: it goes on where it was the next time. isRouted() tells whether others wait. The ways are
  // those of route() once nothing waits.
  std::vector<Number> route(const QRectF& seen, double milliseconds);
  bool isRouted() const { return m_dirty.empty() && m_freed.empty(); }
  bool hasWay(Number wire) const { return wire < m_wires.size() && !m_wires[wire].points.empty(); }
  const Wire& ends(Number wire) const { return m_wires[wire].ends; }
  const std::vector<QPointF>& points(Number wire) const { return m_wires[wire].points; }

 private:
  struct Routed {
    Wire ends;
    bool there = false, waits = false;  // waits: it stands in m_dirty
    std::vector<QPointF> points;
    QRectF looked;  // where it looked for a way: nothing outside can change it
  };
  using Rank = std::tuple<double, std::uint32_t, Number>;  // short ones first: they have the least choice

  Rank rankOf(Number wire) const;
  void dirty(const QRectF& area, const Rank& after);
  void wait(Number wire);
  void waitNoMore(Number wire);
  enum class Tell { now, later };
  void draw(Number wire, bool drawn, Tell tell);  // its pieces come or go, and whoever stands behind looks again
  using Time = std::chrono::steady_clock::time_point;
  void tellFreed(const QRectF& seen, const Time* end = nullptr);
  enum class Chosen { same, other, notYet };
  Chosen choose(Number wire, const Time* end = nullptr);  // its way; notYet where the time did not suffice

  std::vector<Routed> m_wires;
  CardGrid m_cards, m_looked{512, 256};
  PieceGrid m_pieces;
  std::set<Rank> m_dirty;
  // Where a wire lay that was taken away, and how long it was: whoever is longer may want the place. Told when ways are
  // looked for, since a thousand wires may go at once.
  struct Freed {
    QRectF area;
    double length;
  };
  std::vector<Freed> m_freed;
  // A search that was interrupted, good as long as nothing has changed since.
  struct Paused {
    Number wire = 0;
    std::size_t next = 0;  // of what it tries, what comes next; 0: none is interrupted
    QRectF looked;
    std::uint64_t of = 0;
  } m_paused;
  std::uint64_t m_changes = 0;  // of cards and pieces
  friend class WayFinder;
};

struct WireRoute {
  std::vector<QPointF> points;  // from the output pin to the input pin; corners are right angles
};

// Where a shape stands beside an output pin.
struct WireLabel {
  Endpoint pin;
  QPointF at;         // baseline: left end, or right end when `left`
  bool left = false;  // a wire leaves to the right, so the words go left
};
WireLabel labelAt(Endpoint pin, QPointF at, bool turnsRight);
bool turnsRight(const std::vector<QPointF>& points);  // soon behind its pin

struct Routing {
  std::vector<WireRoute> routes;  // one an edge, in the order of network.edges
  std::vector<WireLabel> labels;  // one an output that has wires
};

// All of a drawing at once.
Routing routeWires(const Drawing& drawing);
Routing routeWires(const Network& network);  // of one without units

// With round corners, for painting.
QPainterPath roundedPath(const std::vector<QPointF>& points, double radius);

}  // namespace loom
