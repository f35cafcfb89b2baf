#pragma once
// Places for all cards of a network: layered, the flow from top to bottom, on the grid; no card covers another. Layers by
// longest path, order by barycentres (Sugiyama, Tagawa, Toda 1981), columns after Brandes and Köpf 2002, so that chains and
// skip connections run straight. A pure function of the drawing; 300 nodes take a few milliseconds.
#include <map>
#include <string>

#include <QPointF>

#include "engine/network/network.h"

namespace loom {

// The first node of the flow keeps its place.
std::map<std::string, QPointF> arranged(const Network& network);

// Gives places to nodes for which the file names none: all by arranged() where no node has one, else each near what feeds it.
void placeUnplaced(Network& network);

}  // namespace loom
