#pragma once
// A drawing with its units and repeats written out: the flat network that analysis, lowering, planner and training use,
// and the way back from its nodes to what a person drew. What runs takes the flat network, what draws takes the
// drawing.
//
// Ids are paths: a node `conv_a` of the unit that `stage1` uses is "stage1/conv_a", with a repeat of more than one
// "stage1/0/conv_a", "stage1/1/conv_a" ...; nodes of a repeated group `body` are "body/0/conv", without a repeat of
// more than one just "conv". Parameters are named by these paths. Expressions are replaced by their values; those over
// shapes too, after the shapes of what leads to them. A drawing without any of this comes out as it is, node for node
// and wire for wire. 10,000 flat nodes take some milliseconds. Pure functions, any thread.
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/network/project.h"

namespace loom {

// More nodes than this are not written out: a repeat in a repeat in a repeat is a slip.
inline constexpr std::size_t kMostFlatNodes = 200000;
inline constexpr std::int64_t kMostRepeats = 10000;

// Where a flat node stands on the screen.
struct DrawnNode {
  const Network* drawing = nullptr;  // of the project that was flattened, which must outlive this; nodes by their place
  std::size_t node = 0;              // index into drawing->nodes
  std::size_t use = 0;  // index into FlatNetwork::uses: the use of a unit, or the repeat of a group, around it

  const Node& operator*() const { return drawing->nodes[node]; }
  const Node* operator->() const { return &drawing->nodes[node]; }
};

// One use of a drawing: uses[0] is the network itself; each other is a repeat of a unit's node or of a group.
struct DrawingUse {
  const Network* drawing = nullptr;  // what stands inside: the unit's drawing, or for a group the drawing around it
  std::size_t parent = 0;            // the use around it
  std::ptrdiff_t node = -1;          // the unit's node in the parent's drawing; -1: none
  std::ptrdiff_t group = -1;         // the group in its drawing; -1: none
  std::int64_t repeat = 0;           // which repeat, from 0
  std::int64_t repeats = 1;          // of how many
  std::string path;                  // "stage1/2"; empty for uses[0]
  Json arguments = Json::object();   // of a unit: every argument's value in this use, as far as it is known
  // Of a unit: what each of its Inputs reads, and what each of its Outputs gives, in their order: pins of flat nodes;
  // an empty id where nothing leads there.
  std::vector<Endpoint> inputs, outputs;
};

struct FlatNetwork {
  Network network;                 // `name` is the drawing's
  std::vector<DrawnNode> origins;  // of network.nodes, one for one
  std::vector<std::size_t> edges;  // of network.edges: index of the drawn wire in the drawing of the node where it ends
  std::vector<DrawingUse> uses;
  // What is wrong with units, repeats, arguments and expressions, told at the drawing. A field whose expression has no
  // value is left as it is ("=..."): analyse() takes its node for unknown and says nothing further.
  std::vector<Problem> problems;

  // Index of the first flat node that stands for a drawn one; -1 when there is none.
  std::ptrdiff_t first(std::string_view drawing, std::string_view node) const;
};

// `drawing`: a network, or a unit by itself, as in its tab: its Inputs then have the shapes of their fields, its
// arguments their defaults.
FlatNetwork flatten(const Project& project, const Network& drawing);
// By name; throws Error(badProject) where the project has no such drawing.
FlatNetwork flatten(const Project& project, std::string_view drawing);
// Whether flatten() would change anything.
bool isFlat(const Network& drawing);

// The flat network, of which everything that runs is made. Throws Error(badProject) with the first problem.
Network flatNetwork(const Project& project, std::string_view network);

// The flat networks of a project that runs, each made when it is asked for and kept at its address. The project
// outlives this and stays as it is.
class FlatNetworks {
 public:
  explicit FlatNetworks(const Project& project) : m_project(project) {}
  // Null when the project has no such network. Throws Error(badProject) as flatNetwork() does.
  const Network* find(const std::string& network) const;

 private:
  const Project& m_project;
  mutable std::map<std::string, std::unique_ptr<const Network>> m_made;
};

// What analyse() found in a flat network, as a person sees it: problems at the drawing where the node stands, one for
// all uses that have it, facts by the ids of `drawing` (the network that was flattened, or a unit that it uses). A
// unit's node has the shapes of its pins and the sum of what stands inside; of several repeats and uses the shapes are
// those of the first.
Analysis drawnAnalysis(const FlatNetwork& flat, const Analysis& analysis, const Network& drawing);
// Problems alone, those of `flat` itself left out: of analyse(), or of others that name flat nodes.
std::vector<Problem> drawnProblems(const FlatNetwork& flat, const std::vector<Problem>& found);
// drawnAnalysis() from the beginning. A unit is analysed within the first network that uses it, one that nothing uses
// by itself.
Analysis analyseDrawing(const Project& project, const Network& drawing);
// `memory`: what the last call for this drawing found, so that this one looks only at what changed since.
class IncrementalAnalysis;
Analysis analyseDrawing(const Project& project, const Network& drawing, IncrementalAnalysis& memory);

}  // namespace loom
