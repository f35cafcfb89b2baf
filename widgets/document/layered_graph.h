#pragma once
// What arrange.cpp works on: one connected part of a drawing in layers, with a bend point in every layer that a long wire passes.
#include <string>
#include <vector>

#include "engine/network/network.h"

namespace loom {

struct LayeredEdge {
  int from = 0, to = 0;           // vertices
  double fromPin = 0, toPin = 0;  // from the centre of the card, in pixels
};

struct LayeredVertex {
  std::string node;  // empty: a bend point
  int rank = 0;
  double width = 0;
  double x = 0;
  bool bend() const { return node.empty(); }
};

struct LayeredGraph {
  std::vector<LayeredVertex> vertices;
  std::vector<LayeredEdge> edges;        // each spans one rank after splitting
  std::vector<std::vector<int>> layers;  // vertices of each rank, from left to right

  std::vector<std::vector<int>> above() const;  // by vertex: edges that come in
  std::vector<std::vector<int>> below() const;  // by vertex: edges that go out
};

// The parts of the drawing that hang together, each layered, split and ordered with few crossings.
std::vector<LayeredGraph> layeredParts(const Network& network);
void orderLayers(LayeredGraph& graph);
// Sets every vertex's x.
void assignColumns(LayeredGraph& graph);

}  // namespace loom
