#pragma once
// A drawing as it is seen: a folded group is one node in the place of its members, with the wires that cross its edge.
// The wires stay those of the drawing; only where they end is another place.
#include <QPointF>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "widgets/document/drawing.h"
#include "widgets/document/project_change.h"

namespace loom {

struct ShownDrawing {
  Network network;     // folded groups as nodes of their ids; of the others what they are and where they stand
  NetworkIndex index;  // of it
  Project project;     // the units, and one for each folded group whose pins are what crosses its edge
  std::vector<std::size_t> edges;         // of network.edges: which wire of the drawing stands there
  std::map<std::string, std::string> in;  // of a hidden node: the group that is seen in its place

  Drawing drawing() const { return {project, network, index}; }
  // After a change of the drawing: false where it hides other nodes or has other wires now, and is to be made anew.
  bool follow(const Drawing& drawn, const NetworkChange& change, const std::map<std::string, QPointF>& moved);
  std::set<std::string> folded() const;  // the groups that are seen as cards
};

bool hasFolded(const Network& drawn);
ShownDrawing shownDrawing(const Project& project, const Network& drawn,
                          const std::map<std::string, QPointF>& moved = {});

}  // namespace loom
