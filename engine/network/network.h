#pragma once
// The drawing: nodes and wires, units and repeats, frames and comments. Holds what the file holds and nothing derived;
// see flatten.h for the flat network that runs, analysis.h for shapes and problems.
#include <map>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/layers/layer.h"

namespace loom {

struct Node {
  std::string id;     // unique in its network; letters, digits, '_' and '-'; begins with a letter
  std::string layer;  // catalogue id; empty where the node uses a unit
  Json values =
      Json::object();  // fields that differ from the default; of a unit's node its arguments. "=text" is an expression
  // Whose parameters this node uses too; empty = its own. A node of the same drawing, or else a path from the top of
  // any network of the project ("conv1", "stage1/0/conv_a"). A node that uses a unit shares those of a node that uses
  // the same one, all of them.
  std::string shares;
  double x = 0, y = 0;  // centre of the card on the canvas, in logical pixels
  bool placed = false;  // false = the file named no place: the canvas arranges it
  std::string unit;     // name of a unit of the project; `layer` is then empty
  // Of a unit's node: so many times one behind the other, null = once. A whole number, or an expression ("=depth"). The
  // counter `i`, from 0, may be used in the arguments. The unit's outputs lead to its inputs in their order; further
  // inputs are wired to each repeat alike, further outputs are those of the last.
  Json repeat;
  std::string group;  // id of the group that it stands in; empty = none
};

struct Endpoint {
  std::string node;
  std::string port;  // key of a port of the entry; never empty in memory (the file may leave the first one out)
  auto operator<=>(const Endpoint&) const = default;
};

struct Edge {
  Endpoint from, to;
  auto operator<=>(const Edge&) const = default;
};

// What a unit's user may choose: the name that expressions inside use, and the value where nothing is given.
struct Argument {
  std::string name;   // as a node's id, and none of the keys of a node (isArgumentName())
  Json defaultValue;  // a number, a truth value, a text, a list, an expression over the arguments before it; null =
                      // must be given
  std::string label;  // of the form; empty = the name
  std::string help;
  Json range;  // of a number, and of each of a list: [lowest, highest], each of them null where it is open; null = any
  bool operator==(const Argument&) const = default;
};

// What a unit says of itself where it is chosen, as a layer's entry does.
struct UnitWords {
  std::string help, icon;
  std::string origin;  // its name among the person's own layers that it came from or was saved to; empty = none
  bool operator==(const UnitWords&) const = default;
};

// A frame around nodes. With `repeat` the chain inside is run so many times one behind the other: one entry (all wires
// from outside come from one pin), one exit (all wires to the outside leave one pin).
struct Group {
  std::string id;  // unique in its drawing, nodes and comments included
  std::string title;
  std::string colour;         // a word of the canvas ("blue") or "#rrggbb"; empty = the usual one
  std::string parent;         // id of the group that it stands in; empty = none
  bool folded = false;        // drawn as one card
  Json repeat;                // null = once; a whole number or an expression
  std::string counter = "i";  // the name of the repeat's number, from 0, in expressions inside
  bool operator==(const Group&) const = default;
};

struct Comment {
  std::string id;  // unique in its drawing, nodes and groups included
  std::string text;
  double x = 0, y = 0;  // its centre, in logical pixels
  double width = 200, height = 80;
  std::string colour;  // as of a group
  bool operator==(const Comment&) const = default;
};

// A network, or a unit: a drawing that nodes of others use. A unit's ports are its nodes of layer Input and Output, in
// the order of the file; a wire to or from a node that uses it names them by their ids.
struct Network {
  std::string name;
  std::vector<Node> nodes;  // in the order of the file
  std::vector<Edge> edges;
  std::vector<Argument> arguments;  // of a unit alone
  std::vector<Group> groups;
  std::vector<Comment> comments;
  UnitWords words;  // of a unit alone

  const Node* find(std::string_view id) const;
  Node* find(std::string_view id);
  // "conv", "conv2", "conv3": the first free id for a new node of this layer.
  std::string freeId(const LayerDefinition& layer) const;
  // wanted, wanted2, wanted3: the first that no node, group or comment has.
  std::string freeId(const std::string& wanted) const;
  const Group* group(std::string_view id) const;
  Group* group(std::string_view id);
  const Comment* comment(std::string_view id) const;
  Comment* comment(std::string_view id);
  const Argument* argument(std::string_view name) const;
  bool operator==(const Network&) const = default;
};

inline bool operator==(const Node& a, const Node& b) {
  return a.id == b.id && a.layer == b.layer && a.values == b.values && a.shares == b.shares && a.x == b.x &&
         a.y == b.y && a.placed == b.placed && a.unit == b.unit && a.repeat == b.repeat && a.group == b.group;
}

// "=channels*4"
inline bool isExpression(const Json& value) {
  return value.is_string() && value.get_ref<const std::string&>().starts_with('=');
}
// Whether a repeat says more than once, or not yet.
inline bool isRepeated(const Json& repeat) {
  return !repeat.is_null() && repeat != 1;
}
// Whether an argument may be called so: a letter, then letters, digits and '_' (an expression has no other names), and
// no key of a node.
bool isArgumentName(std::string_view name);
// Whether `range` is what Argument::range may be.
bool isArgumentRange(const Json& range);

}  // namespace loom
