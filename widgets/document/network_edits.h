#pragma once
// What a person does to a drawing, as plain functions on an edit under way: no Qt signals, no undo. ProjectDocument
// makes commands of them. Each costs what it changes, not what the drawing holds.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "widgets/document/drawing_edit.h"
#include "widgets/document/project_edit.h"

namespace loom {

class CardGrid;

bool validId(std::string_view id);  // letters, digits, '_' and '-'; begins with a letter

bool isTerminal(const LayerDefinition& layer);  // a loss or metric: nothing goes on behind it

// Whether wires may be drawn from one pin, an output or an input, to others, as if the wire `except` were not there: it
// is in the hand.
class WireRules {
 public:
  WireRules(const Drawing& drawing, Endpoint end, bool output, const std::optional<Edge>& except = {});
  bool allows(const Endpoint& other) const { return refusal(other) == Refusal::none; }
  // Empty when the wire may be drawn, else the reason as a sentence: a pin wired to its own node, a wire that stands
  // already, a port that is not there, a loop (which names the way round). An input that takes one wire and has one is
  // no reason.
  std::string whyNot(const Endpoint& other) const;

 private:
  enum class Refusal { none, unknown, itself, noInputs, noOutputs, noOutput, noInput, twice, loop };
  Refusal refusal(const Endpoint& other) const;
  Edge wire(const Endpoint& other) const { return m_output ? Edge{m_end, other} : Edge{other, m_end}; }

  Drawing m_drawing;
  Endpoint m_end;
  bool m_output;
  NetworkIndex::Position m_except = NetworkIndex::kNone;
  std::vector<char> m_round;  // nodes that a wire from here must not go to: it would close a loop
};
std::string whyNotConnect(const Drawing& drawing, const Edge& edge, const std::optional<Edge>& except = {});

// Replaces the wire of an input that takes only one.
void connect(DrawingEdit& edit, const Edge& edge);
void removeWires(DrawingEdit& edit, const std::vector<Edge>& wires);

// Wires of what goes are lost; with `heal` each reader of a removed node reads what its first input read.
void removeNodes(DrawingEdit& edit, const std::vector<std::string>& ids, bool heal);

// Puts `id` into the wire: its first input reads what the wire read, the wire's end reads its first output.
void insertInto(DrawingEdit& edit, const std::string& id, const Edge& edge);

// All that read the first output of `after` read `id` from now on, and `id` reads `after`; a terminal is only hung on.
void insertAfter(DrawingEdit& edit, const std::string& id, const std::string& after);

// Makes room: if `id` overlaps or stands too near above what follows it, everything that follows moves down, and so
// does what those would cover.
void moveDownBehind(DrawingEdit& edit, const std::string& id);
// A card put into the wire from `above` stands below that card, in its column where it is near, and covers no other.
void seatBelow(DrawingEdit& edit, const std::string& id, const std::string& above);
// What removed cards leave: asked before they go, closed when they are gone. What follows moves up, with the Inputs
// that feed only it, as far as nothing is covered. Of very many at once the gaps stay: arranging closes them better.
struct Gap {
  double y = 0, lift = 0;
  std::vector<std::string> behind;
};
std::vector<Gap> gapsOf(const Drawing& drawing, const std::vector<std::string>& removed);
void close(DrawingEdit& edit, const std::vector<Gap>& gaps);
// The nearest place to `node`'s whose card covers no other: first as it is, then to the right, then below.
CardPlace freePlace(const Drawing& drawing, const Node& node);
CardPlace freePlace(const CardGrid& grid, const Node& node,
                    std::size_t own = NetworkIndex::kNone);  // `own`: its number in the grid

// Edges follow; so do `shares`, and the patterns of training updates that begin with the id.
void renameNode(ProjectEdit& edit, const std::string& network, const std::string& from, const std::string& to);
// The first that shared with a removed node owns the parameters, others share with that one.
void passOnShares(ProjectEdit& edit, const std::vector<std::string>& removed);

}  // namespace loom
