#pragma once
// What arrange.cpp works on: one connected part of a drawing in layers, with a bend point in every layer that a long
// wire passes.
#include <atomic>
#include <vector>

#include "widgets/document/arrange.h"

namespace loom {

struct LayeredEdge {
  int from = 0, to = 0;           // vertices
  double fromPin = 0, toPin = 0;  // from the centre of the card, in pixels
};

struct LayeredVertex {
  int card = -1;  // of the task; -1: a bend point
  int rank = 0;
  double width = 0;
  double x = 0;
  bool bend() const { return card < 0; }
};

struct LayeredGraph {
  std::vector<LayeredVertex> vertices;
  std::vector<LayeredEdge> edges;        // each spans one rank after splitting
  std::vector<std::vector<int>> layers;  // vertices of each rank, from left to right

  std::vector<std::vector<int>> above() const;  // by vertex: edges that come in
  std::vector<std::vector<int>> below() const;  // by vertex: edges that go out
};

// The parts of the drawing that hang together, each layered and split.
std::vector<LayeredGraph> layeredParts(const ArrangeTask& task);
// Few crossings. False where `cancelled` became true on the way.
bool orderLayers(LayeredGraph& graph, const std::atomic<bool>* cancelled);
// Sets every vertex's x.
void assignColumns(LayeredGraph& graph);

}  // namespace loom
