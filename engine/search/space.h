#pragma once
// Over what a search goes: settings of the training and arguments of layers, each a range or a list of values. Pure
// functions, any thread.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "engine/base/json.h"

namespace loom {

struct Dimension {
  // As `loom train --set` takes it: "optimizer.learning_rate", "conv1.channels"; of what is drawn also
  // "conv1,conv2.channels" (both alike), "relu1.layer" (another layer in its place), "conv2,relu2.repeat" (the chain of
  // both, so many times), "stage1.repeat" (a unit or a group).
  std::string key;
  std::vector<Json> choices;  // in their order; empty = a range
  double low = 0, high = 0;   // of a range, both inclusive
  bool log = false;           // equal factors are equal steps; low is above 0
  bool whole = false;         // whole numbers only
  int levels = 0;             // of a range in a grid; 0 = as many as the number of trials allows
  bool operator==(const Dimension&) const = default;
};
using Space = std::vector<Dimension>;
using Point = std::vector<Json>;  // a value of each dimension, in their order

// "KEY=LOW..HIGH", "KEY=log:LOW..HIGH", "KEY=whole:LOW..HIGH", "KEY=log:whole:LOW..HIGH", each with "/LEVELS" behind
// it where a grid shall have so many; "KEY=a,b,c" is a list. Throws Error(badArgument) that names key and remedy.
Dimension parseDimension(const std::string& text);
std::string toText(const Dimension& dimension);  // parseDimension() reads it back

// The place of a value from 0 to 1 on the dimension's scale, and the value at a place; whole numbers and lists are
// rounded to the nearest. A value outside the dimension is taken to its nearest end.
double placeOf(const Dimension& dimension, const Json& value);
Json valueAt(const Dimension& dimension, double place);
// How many different values there are; 0 = without number.
std::int64_t countOf(const Dimension& dimension);
std::int64_t countOf(const Space& space);  // of points

// One text a point: equal points have equal ones.
std::string keyOf(const Point& point);
// "optimizer.learning_rate=0.01" of each dimension, for `loom train --set`, in the order in which they can be done.
std::vector<std::string> settingsOf(const Space& space, const Point& point);

// What may be searched in a project: settings of the training that are numbers or choices, arguments of layers and
// units that are numbers, how often units and groups are repeated, and which layer a node is.
struct Searchable {
  std::string key;      // "networks.main.nodes.conv1.channels"
  std::string shorter;  // "conv1.channels" where one drawing alone has such a node or group; else the key
  std::string label;    // "Learning rate", "conv1: Channels"
  Json value;           // that holds now; null = absent
  bool whole = false;
  std::vector<std::string> choices;  // of a choice
  // What a number may be; infinite = no bound.
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  bool important = false;  // an argument that stands on the node's card, or one of a unit
};
std::vector<Searchable> searchableOf(const Json& project, const std::vector<std::string>& settings = {});

// Where a search of it may begin: a factor of ten around a number that holds (four of a whole one), all words of a
// choice.
Dimension usualRange(const Searchable& searchable);
// The one that a key means, however it is written ("conv1.channels", "training.batch"); null, and in `near` the nearest
// key where one is near.
const Searchable* findSearchable(const Json& project, const std::vector<Searchable>& known, const std::string& key,
                                 std::string* near = nullptr);
// Why the nodes of a key that ends in ".repeat" ("conv2,relu2.repeat") cannot be repeated as a chain; empty where they
// can. Throws Error(badArgument) for a node that several drawings have.
std::string faultOfChain(const Json& project, const std::string& key);
// A key of a node or a group without its drawing, for headings: "conv1.channels".
std::string shortKey(const std::string& key);

// A space that fits a project with `settings` on top: keys are there, ends and choices are allowed, whole numbers are
// known as such. Throws Error(badArgument) that names the key, what is wrong, and the nearest one that there is.
Space checkedSpace(const Json& project, const std::vector<std::string>& settings, Space space);

}  // namespace loom
