#pragma once
// flatten() at work. First every use of a unit and every repeat is written out (flattener.cpp), then the wires
// (flat_wires.cpp), then loops (flat_loops.cpp), then expressions over shapes, in the order in which shapes become
// known (flat_shapes.cpp). flat_values.cpp finds the values of fields and arguments for all of them.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>

#include "engine/base/expression.h"
#include "engine/network/drawing_plan.h"
#include "engine/network/flatten.h"

namespace loom {

class Flattener {
 public:
  Flattener(const Project& project, const Network& drawing);
  FlatNetwork run();

 private:
  // Where an expression stands: in a drawing's use, at a node of it, and of a unit's node in one of its repeats.
  struct Place {
    std::size_t use = 0;
    std::ptrdiff_t node = -1;     // -1: at an argument's default
    std::ptrdiff_t unitUse = -1;  // the use that the node's argument is for
    std::int64_t repeat = -1;     // -1: nothing repeats here
  };
  enum class State { known, needsShapes, failed };
  struct Found {
    State state = State::failed;
    Json value;
  };
  // What is wrong with an expression; without a message where that is told elsewhere.
  struct Fault {
    std::string message;
    std::optional<std::size_t> position;  // bytes of the field's text, '=' included
    std::string better;                   // the text as it was meant; empty = not known
  };
  struct ArgumentValue {
    State state = State::failed;
    Json value;  // known: the value; needsShapes: the text
    Place place;
    bool beingFound = false;
  };
  struct Parsed {
    std::optional<Expression> expression;
    Fault fault;
  };
  struct FlatPin {
    std::ptrdiff_t node = -1;  // flat; -1: nothing leads there, which is told elsewhere
    std::string port;
  };
  // What stands in a use for a node (a flat node, or the first and last use of its unit) or for a repeated group.
  struct Slot {
    std::ptrdiff_t first = -1, last = -1;
  };
  struct Use {
    const DrawingPlan* plan = nullptr;
    std::size_t body = 0;
    std::size_t root = 0;          // the use of the whole drawing around it: itself but for groups
    std::ptrdiff_t previous = -1;  // the repeat before
    std::string scope;             // the path whose parameters it uses; most often its own
    std::vector<Slot> nodes;       // by place in the body
    std::map<std::size_t, Slot> bodies;
    std::vector<ArgumentValue> arguments;
    std::vector<std::optional<FlatPin>> inputs;  // of a unit, by pin: once they were found
  };
  struct Told {
    Problem problem;
    std::size_t use;
  };
  struct Pending {
    std::size_t flat;
    std::string key;
  };

  // flattener.cpp
  const DrawingPlan& plan(const Network& drawing);
  void checkWires(const DrawingPlan& plan);
  void addUse(DrawingUse use, Use own);
  void expandBody(std::size_t use);
  void addNode(std::size_t use, std::size_t node);
  Slot expandUnit(std::size_t use, std::size_t node);
  Slot expandGroup(std::size_t use, std::size_t body);
  std::optional<std::int64_t> repeats(std::size_t use, const Json& given, const std::string& what, const Place& place,
                                      const std::string& node);
  bool isFull(std::size_t use, const std::string& node);
  std::string pathOf(std::size_t use, const std::string& id) const;
  std::string sharedPath(std::size_t use, const Node& node) const;
  void tell(std::size_t use, const std::string& node, const std::string& field, std::string message,
            Remedy remedy = {});
  void collectProblems();

  // flat_wires.cpp
  void wire();
  FlatPin resolve(std::size_t use, std::size_t node, std::string port);
  FlatPin inputOf(std::size_t unitUse, std::size_t pin);
  FlatPin outputOf(std::size_t unitUse, std::size_t pin);
  std::size_t unwired();

  // flat_loops.cpp
  void unrollLoops();
  bool unrollOutermost(std::vector<char>& settled, int pass);

  // flat_values.cpp
  const Parsed& parse(const std::string& text);
  Found evaluate(const std::string& text, const Place& place, Fault& fault);
  Found number(const Expression::Name& name, const Place& place, Fault& fault);
  Found extent(const Expression::Name& name, const Place& place, Fault& fault);
  Found argument(std::size_t root, std::size_t index, Fault& fault);
  void findArguments(std::size_t unitUse, const Place& place);
  void checkArguments(std::size_t use, const Node& node, const Network& unit);
  // Where something is left to be found later, or has no value, a text stays.
  void findValue(std::size_t flat, const std::string& key, Json& value);
  std::optional<Json> findElement(const Field& field, const Json& item, std::size_t flat, bool isAlone, bool& later);
  void tellFault(std::size_t use, const Node& node, const std::string& field, const std::string& text,
                 const Fault& fault, std::int64_t repeat);

  // flat_shapes.cpp
  void findShapes();

  const Project& m_project;
  FlatNetwork m_flat;
  std::vector<Use> m_uses;  // one for one with m_flat.uses
  std::map<const Network*, std::unique_ptr<DrawingPlan>> m_plans;
  std::unordered_map<std::string, Parsed> m_parsed;
  std::vector<const Network*> m_inside;  // units that are being written out, outermost first
  std::set<const Network*> m_usedUnits;  // whose problems as units are taken
  std::vector<Told> m_told;
  std::vector<Pending> m_pending;
  std::ptrdiff_t m_unwired = -1;
  bool m_isFull = false, m_isCircle = false;
  // While shapes are looked for: first which flat nodes' shapes an expression asks for, then those shapes.
  std::vector<std::size_t>* m_asked = nullptr;
  const std::vector<std::vector<Shape>>* m_shapes = nullptr;
};

// RecurrentInput, RecurrentOutput, Delay: what a flat network has only as copies of their loop.
bool isLoopLayer(std::string_view layer);

// One problem for all the uses of a drawing that have it; told "in stage1 (Residual), at repeat 2" where not all of
// them do. `uses` are those of the drawing around each.
std::vector<Problem> gathered(const FlatNetwork& flat, std::vector<std::pair<Problem, std::size_t>> told);

}  // namespace loom
