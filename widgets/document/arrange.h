#pragma once
// Places for all cards of a network: layered, the flow from top to bottom, on the grid; no card covers another. Layers
// by longest path, order by barycentres (Sugiyama, Tagawa, Toda 1981), columns after Brandes and Köpf 2002, so that
// chains and skip connections run straight. Pure functions, any thread.
#include <QPointF>
#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "widgets/document/drawing.h"

namespace loom {

// What is to be placed: cards by their widths, in the order of the file, and wires between them.
struct ArrangeTask {
  struct Card {
    std::string id;
    double width = 0;
  };
  struct Wire {
    int from = 0, to = 0;           // cards
    double fromPin = 0, toPin = 0;  // from the centre of the card, in pixels
  };
  std::vector<Card> cards;
  std::vector<Wire> wires;
  QPointF first;  // where the first card stands, which keeps its place
};
ArrangeTask arrangeTask(const Drawing& drawing);

// Empty where `cancelled` became true on the way.
std::map<std::string, QPointF> arranged(const ArrangeTask& task, const std::atomic<bool>* cancelled = nullptr);
inline std::map<std::string, QPointF> arranged(const Drawing& drawing) {
  return arranged(arrangeTask(drawing));
}
std::map<std::string, QPointF> arranged(const Network& network);  // of one without units

// Gives places to nodes for which the file names none: all of a drawing by arranged() where no node has one, else each
// near what feeds it.
void placeUnplaced(Project& project);
void placeUnplaced(Network& network);  // of one without units

}  // namespace loom
