#pragma once
// What a person does to units, as plain functions on a project: no Qt signals, no undo. ProjectDocument makes commands
// of them. A drawing is a network or a unit; names of drawings are one name space.
#include <string>
#include <vector>

#include "widgets/document/project_edit.h"

namespace loom {

std::vector<std::string> unitInputs(const Network& unit);   // ids of its nodes of layer Input, in the order of the file
std::vector<std::string> unitOutputs(const Network& unit);  // of layer Output
bool isPortNode(const Node& node);  // Input or Output: never part of a selection that becomes a unit

// Every use of a unit in the project: (drawing, id). The first one is what its tab shows shapes for.
struct UnitUse {
  std::string drawing, node;
  bool operator==(const UnitUse&) const = default;
};
std::vector<UnitUse> usesOf(const Project& project, const std::string& unit);
// Whether drawing `inside` is `unit` or is used by it, directly or not: then `unit` may not be put into `inside`.
bool contains(const Project& project, const std::string& unit, const std::string& inside);
// Shapes, costs and faults of a unit as this use sees them, rather than the first one.
Analysis analysisOfUse(const Project& project, const UnitUse& use);
// Where a problem shows in a drawing: at its node, or at the use or group around what has it. Empty: not in this
// drawing.
std::string nodeWith(const Problem& problem, const Project& project, const Network& drawing);
// A new node of the unit or, where there is none, of the layer that is called so (units may be called as a layer's
// alias is); with neither where nothing is.
Node nodeCalled(const Project& project, const std::string& name);
bool isLayerName(std::string_view name);  // a catalogue id, which no drawing may have for a name
std::string freeDrawingName(const Project& project, const std::string& wanted);

// The selection as one node: what crosses becomes a port, what an expression inside takes from outside becomes an
// argument. Empty or a sentence: nothing to make a unit of, a way that leaves the selection and comes back, weights
// shared across its edge.
std::string whyNotUnit(const Drawing& drawing, const std::vector<std::string>& ids);
std::string makeUnit(ProjectEdit& edit, const std::string& drawing, const std::vector<std::string>& ids,
                     const std::string& name);

// The unit's nodes in the place of its use, arguments put in; a repeated use becomes a group that repeats. Answers
// their ids. The unit itself stays.
std::string whyNotDissolve(const Project& project, const Network& drawing, const std::string& id);
std::vector<std::string> dissolveUnit(ProjectEdit& edit, const std::string& drawing, const std::string& id);

void renameUnit(Project& project, const std::string& from, const std::string& to);
void renameArgument(Project& project, const std::string& unit, const std::string& from, const std::string& to);
// Expressions inside keep the default that it had.
void removeArgument(Project& project, const std::string& unit, const std::string& name);
// A port's id is what wires at its uses name.
void renamePort(ProjectEdit& edit, const std::string& unit, const std::string& from, const std::string& to);

}  // namespace loom
