#pragma once
// What one edit did to a project, as a list of exact differences: applied forward it is the edit, backward its undo,
// byte for byte. A difference holds what changed and nothing else, so its size and time are those of the edit, not of
// the drawing (a step in the middle of a list moves what stands behind it). Written by DrawingEdit and ProjectEdit
// while they change the project.
#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/network/network_index.h"
#include "engine/network/project.h"
#include "widgets/document/list_step.h"
#include "widgets/document/project_change.h"

namespace loom {

// Where a card stands, and whether the file says so.
struct CardPlace {
  std::string node;
  double x = 0, y = 0;
  bool placed = false;
  bool operator==(const CardPlace&) const = default;
};
inline CardPlace placeOf(const Node& node) {
  return {node.id, node.x, node.y, node.placed};
}
inline void setPlace(Node& node, const CardPlace& place) {
  node.x = place.x;
  node.y = place.y;
  node.placed = place.placed;
}
// All of two nodes but their places.
bool sameContent(const Node& a, const Node& b);

// The indexes of a project's drawings, in the order of the drawings.
struct ProjectIndex {
  std::vector<NetworkIndex> networks, units;

  ProjectIndex() = default;
  explicit ProjectIndex(const Project& project);
};

// Which drawing of the project a difference is about.
struct DrawingPlace {
  bool unit = false;
  std::size_t at = 0;  // in Project::networks or Project::units
  bool operator==(const DrawingPlace&) const = default;

  Network& in(Project& project) const { return (unit ? project.units : project.networks)[at]; }
  const Network& in(const Project& project) const { return (unit ? project.units : project.networks)[at]; }
  NetworkIndex& in(ProjectIndex& index) const { return (unit ? index.units : index.networks)[at]; }
};

class ProjectDelta {
 public:
  // Everything that differs, found by comparing: for changes that are no edits (a file read anew).
  static ProjectDelta between(const Project& before, const Project& after);
  void addBetween(DrawingPlace drawing, const Network& before, const Network& after);  // but for the name

  bool empty() const { return m_steps.empty(); }
  void apply(Project& project, ProjectIndex& index, bool forward) const;
  // What the step forward or back did; `project` is as it is after it.
  ProjectChange change(const Project& project, bool forward) const;
  // The steps of `next`, which follow these, behind them. Changes of the same thing become one, and none where it ends
  // as it began.
  void append(ProjectDelta next);

  // One difference, done already. Of nodes that changed the place is left out: that is addPlaces()'s. A step of `lists`
  // holds whole lists of groups, comments or arguments.
  void addNodes(DrawingPlace drawing, ListStep<Node> step) { add(OfDrawing<Node>{drawing, std::move(step)}); }
  void addPlaces(DrawingPlace drawing, ListStep<CardPlace> step) {
    add(OfDrawing<CardPlace>{drawing, std::move(step)});
  }
  void addWires(DrawingPlace drawing, ListStep<Edge> step) { add(OfDrawing<Edge>{drawing, std::move(step)}); }
  void addDrawings(bool units, ListStep<Network> step) { add(Drawings{units, std::move(step)}); }
  template <class T>  // Group, Comment, Argument, UnitWords; std::string: the drawing's name
  void addWhole(DrawingPlace drawing, T before, T after) {
    add(WholeOf<T>{drawing, std::move(before), std::move(after)});
  }
  template <class T>  // datasets, training, notes
  void addWhole(T before, T after) {
    add(Swap<T>{std::move(before), std::move(after)});
  }
  void tidy();  // drops what is as it was

 private:
  template <class T>
  struct OfDrawing {  // nodes (those that changed: but for their places), places, wires
    DrawingPlace drawing;
    ListStep<T> list;
  };
  struct Drawings {
    bool units;
    ListStep<Network> list;
  };
  template <class T>
  struct WholeOf {
    DrawingPlace drawing;
    T before, after;
  };
  template <class T>
  struct Swap {
    T before, after;
  };
  using Step = std::variant<OfDrawing<Node>, OfDrawing<CardPlace>, OfDrawing<Edge>, Drawings, WholeOf<std::string>,
                            WholeOf<std::vector<Group>>, WholeOf<std::vector<Comment>>, WholeOf<std::vector<Argument>>,
                            WholeOf<UnitWords>, Swap<std::vector<DatasetSpec>>, Swap<TrainingSpec>, Swap<std::string>>;
  friend struct DeltaSteps;

  void add(Step step);

  std::vector<Step> m_steps;
};

// Of the parts of a project that an edit keeps whole.
bool same(const std::vector<DatasetSpec>& a, const std::vector<DatasetSpec>& b);
bool same(const TrainingSpec& a, const TrainingSpec& b);

}  // namespace loom
