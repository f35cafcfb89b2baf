#pragma once
// What a person does to a drawing, as plain functions on it: no Qt signals, no undo. ProjectDocument makes commands of them.
#include <string>
#include <string_view>
#include <vector>

#include "engine/network/project.h"

namespace loom {

bool validId(std::string_view id);  // letters, digits, '_' and '-'; begins with a letter
bool reaches(const Network& network, const std::string& from, const std::string& to);
std::vector<std::string> downstream(const Network& network, const std::string& from);  // without `from`

const Port* findInput(const Node& node, std::string_view port);
bool isTerminal(const LayerDefinition& layer);  // a loss or metric: nothing goes on behind it

// Empty when the wire may be drawn, else the reason as a sentence: a pin wired to its own node, a wire that stands already,
// a port that is not there, a loop (which names the way round). An input that takes one wire and has one is no reason.
std::string whyNotConnect(const Network& network, const Edge& edge);
// Replaces the wire of an input that takes only one.
void connect(Network& network, const Edge& edge);

// Wires of what goes are lost; with `heal` each reader of a removed node reads what its first input read.
void removeNodes(Network& network, const std::vector<std::string>& ids, bool heal);

// Puts `id` into the wire: its first input reads what the wire read, the wire's end reads its first output.
void insertInto(Network& network, const std::string& id, const Edge& edge);

// All that read the first output of `after` read `id` from now on, and `id` reads `after`; a terminal is only hung on.
void insertAfter(Network& network, const std::string& id, const std::string& after);

// Makes room: if `id` overlaps or stands too near above what follows it, everything that follows moves down, and so does what
// those would cover.
void moveDownBehind(Network& network, const std::string& id);
// A card put into the wire from `above` stands below that card, in its column where it is near, and covers no other.
void seatBelow(Network& network, const std::string& id, const std::string& above);
// Closes the gaps that removed cards left: what follows moves up, with the Inputs that feed only it, as far as nothing is
// covered. `before` is the network as it was.
void moveUpBehind(Network& network, const Network& before, const std::vector<std::string>& removed);
// The nearest place to `wanted` whose card covers no other: first as it is, then to the right, then below.
void placeFree(const Network& network, Node& node);
// From now on the file keeps the places that the canvas had chosen.
void freezePlaces(Network& network);

// Edges follow; so do `shares`, and the patterns of training updates that begin with the id.
void renameNode(Project& project, const std::string& network, const std::string& from, const std::string& to);
// The first that shared with a removed node owns the parameters, others share with that one.
void passOnShares(Project& project, const std::vector<std::string>& removed);

}  // namespace loom
