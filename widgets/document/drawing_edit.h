#pragma once
// A change of one drawing under way. Every change goes through here: it is done at once, the index is kept right, and
// the exact difference is written down, from which undo lives. So an edit costs what it changes, however large the
// drawing is. Positions are those in Network::nodes and Network::edges of this moment; lists of positions ascend.
#include <QPointF>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "widgets/document/drawing.h"
#include "widgets/document/project_delta.h"

namespace loom {

class DrawingEdit {
 public:
  DrawingEdit(Project& project, ProjectIndex& index, DrawingPlace place, ProjectDelta& delta);
  ~DrawingEdit();
  DrawingEdit(const DrawingEdit&) = delete;
  DrawingEdit& operator=(const DrawingEdit&) = delete;

  const Project& project() const { return m_project; }
  const Network& network() const { return m_place.in(static_cast<const Project&>(m_project)); }
  const NetworkIndex& index() const { return m_place.in(m_index); }
  Drawing drawing() const { return {m_project, network(), index()}; }
  const Node* find(std::string_view id) const { return index().find(network(), id); }

  // Nodes.
  void addNode(Node node) { addNodes({std::move(node)}); }
  void addNodes(std::vector<Node> nodes) { addNodes(network().nodes.size(), std::move(nodes)); }  // behind the others
  void addNodes(std::size_t at, std::vector<Node> nodes);
  void removeNodes(std::vector<std::size_t> at);  // their wires are to be gone before
  // Anything of a node, its place and its id too (wires follow no new id: that is renameNode()'s). Nothing for an
  // unknown one.
  void change(std::string_view id, const std::function<void(Node&)>& change);
  void change(std::size_t at, const std::function<void(Node&)>& change) { changeAll({at}, change); }
  void changeAll(std::vector<std::size_t> at, const std::function<void(Node&)>& change);  // in any order
  void move(std::size_t at, double x, double y);
  void move(std::string_view id, double x, double y);
  void moveAll(const std::vector<std::pair<std::size_t, QPointF>>& places);  // positions ascend
  void freezePlaces();  // from now on the file keeps the places that the canvas had chosen

  // Wires; their order is that of the inputs of a port that takes several.
  void addWire(Edge edge) { addWire(network().edges.size(), std::move(edge)); }
  void addWire(std::size_t at, Edge edge);
  void addWires(std::vector<Edge> edges);  // behind the others
  void changeWire(std::size_t at, Edge edge);
  void removeWires(std::vector<std::size_t> at);
  void removeWire(std::size_t at) { removeWires({at}); }

  // Short lists, changed as they are; written down whole when the edit ends.
  std::vector<Group>& groups() { return kept(m_groups, writable().groups); }
  std::vector<Comment>& comments() { return kept(m_comments, writable().comments); }
  std::vector<Argument>& arguments() { return kept(m_arguments, writable().arguments); }

 private:
  Network& writable() { return m_place.in(m_project); }
  NetworkIndex& links() { return m_place.in(m_index); }
  template <class T>
  static T& kept(std::optional<T>& before, T& now) {
    if (!before) before = now;
    return now;
  }

  Project& m_project;
  ProjectIndex& m_index;
  DrawingPlace m_place;
  ProjectDelta& m_delta;
  std::optional<std::vector<Group>> m_groups;
  std::optional<std::vector<Comment>> m_comments;
  std::optional<std::vector<Argument>> m_arguments;
};

}  // namespace loom
