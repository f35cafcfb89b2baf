// ProjectDocument: what a person does to the drawings.
#include <algorithm>

#include "widgets/document/arrange.h"
#include "widgets/document/card_geometry.h"
#include "widgets/document/card_grid.h"
#include "widgets/document/group_edits.h"
#include "widgets/document/network_edits.h"
#include "widgets/document/node_clipboard.h"
#include "widgets/document/project_document.h"
#include "widgets/document/texts.h"
#include "widgets/document/unit_edits.h"

namespace loom {

namespace {

constexpr std::size_t kArrangedAtOnce = 300;  // some milliseconds

// "conv1" or "3 nodes"
QString named(const std::vector<std::string>& ids) {
  return ids.size() == 1 ? q(ids.front()) : ProjectDocument::tr("%1 nodes").arg(ids.size());
}

QString badId(const std::string& id) {
  return id.empty()
             ? ProjectDocument::tr("A name cannot be empty")
             : ProjectDocument::tr("'%1' is no name: letters, digits, '_' and '-', beginning with a letter").arg(q(id));
}

using PlacesInOrder = std::vector<std::pair<std::size_t, QPointF>>;  // of nodes by their positions

PlacesInOrder inOrder(const ArrangeTask& task, const std::map<std::string, QPointF>& places) {
  PlacesInOrder found;
  for (std::size_t i = 0; i < task.cards.size(); ++i)
    if (const auto place = places.find(task.cards[i].id); place != places.end()) found.emplace_back(i, place->second);
  return found;
}

void moveAll(DrawingEdit& edit, const std::map<std::string, QPointF>& places) {
  PlacesInOrder at;
  for (const auto& [id, place] : places)
    if (const auto found = edit.index().node(id); found != NetworkIndex::kNone) at.emplace_back(found, place);
  std::sort(at.begin(), at.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  edit.moveAll(at);
}

}  // namespace

std::string ProjectDocument::addNetwork(const std::string& wanted) {
  std::string name = validId(wanted) ? wanted : "network";
  const std::string stem = name;
  for (int number = 2; network(name) != nullptr; ++number) name = stem + std::to_string(number);
  edit(tr("Add network %1").arg(q(name)), [&](ProjectEdit& edit) { edit.addNetwork({name, {}, {}}); });
  return name;
}

Outcome ProjectDocument::renameNetwork(const std::string& from, const std::string& to) {
  if (from == to) return Outcome::done();
  if (const Outcome may = mayNameDrawing(to); !may) return may;
  if (m_project.unit(from) != nullptr) {
    edit(tr("Rename unit %1 to %2").arg(q(from), q(to)), [&](Project& project) { renameUnit(project, from, to); });
    return Outcome::done();
  }
  edit(tr("Rename network %1 to %2").arg(q(from), q(to)), [&](ProjectEdit& edit) {
    edit.renameDrawing(from, to);
    for (UpdateSpec& update : edit.training().updates)
      if (update.network == from) update.network = to;
    if (edit.training().validationNetwork == from) edit.training().validationNetwork = to;
  });
  return Outcome::done();
}

Outcome ProjectDocument::removeNetwork(const std::string& name) {
  if (m_project.unit(name) != nullptr) {
    if (const std::vector<UnitUse> uses = usesOf(m_project, name); !uses.empty())
      return Outcome::refused(tr("%1 in %2 uses this unit").arg(q(uses.front().node), q(uses.front().drawing)));
    edit(tr("Remove unit %1").arg(q(name)), [&](ProjectEdit& edit) { edit.removeDrawing(name); });
    return Outcome::done();
  }
  if (m_project.networks.size() == 1) return Outcome::refused(tr("A project keeps one network at least"));
  edit(tr("Remove network %1").arg(q(name)), [&](ProjectEdit& edit) {
    std::vector<std::string> ids;
    if (const Network* drawn = network(name))
      for (const Node& node : drawn->nodes) ids.push_back(node.id);
    edit.removeDrawing(name);
    passOnShares(edit, ids);
  });
  return Outcome::done();
}

std::string ProjectDocument::addNode(const AddRequest& request) {
  const Network* unit = m_project.unit(request.layer);
  const LayerDefinition* layer = unit == nullptr ? findLayer(request.layer) : nullptr;
  const std::optional<Drawing> before = drawn(request.network);
  if ((layer == nullptr && unit == nullptr) || !before) return {};
  if (unit != nullptr && contains(m_project, unit->name, request.network)) return {};  // a unit inside itself
  Node node;
  node.id =
      unit != nullptr ? before->network.freeId(q(unit->name).toLower().toStdString()) : before->network.freeId(*layer);
  if (unit != nullptr)
    node.unit = unit->name;
  else
    node.layer = layer->entry.id;
  const NodePorts ports = portsOf(m_project, node);
  node.values = request.values;
  node.placed = true;
  const Node* after = before->find(request.after);
  const QPointF at = snapped(after != nullptr ? QPointF(after->x, after->y + kPitch) : request.at);
  node.x = at.x();
  node.y = at.y();
  const bool follows = after != nullptr;
  // What is put between members of one group stands in it too: a chain that repeats stays one.
  if (follows) node.group = after->group;
  if (request.into) {
    const Node *from = before->find(request.into->from.node), *to = before->find(request.into->to.node);
    if (from != nullptr && to != nullptr && from->group == to->group) node.group = from->group;
  }
  editDrawing(tr("Add %1").arg(q(node.id)), request.network, [&](DrawingEdit& edit) {
    edit.freezePlaces();
    const std::size_t wires = edit.network().edges.size();
    edit.addNode(node);
    if (request.into) {
      loom::insertInto(edit, node.id, *request.into);
    } else if (follows) {
      insertAfter(edit, node.id, request.after);
    } else {
      // A wire dropped on nothing: its other end is whichever pin of the new card fits first.
      if (request.from && !ports.inputs.empty())
        loom::connect(edit, {*request.from, {node.id, ports.inputs.front().key}});
      if (request.to && !ports.outputs.empty())
        loom::connect(edit, {{node.id, ports.outputs.front().key}, *request.to});
    }
    const auto place = edit.index().node(node.id);
    const bool inserted = edit.network().edges.size() == wires + 1 && !edit.index().outOf(place).empty() && !request.to;
    if (inserted) {
      if (request.into) seatBelow(edit, node.id, request.into->from.node);
      moveDownBehind(edit, node.id);
    } else {
      const CardPlace free = freePlace(edit.drawing(), edit.network().nodes[place]);
      edit.move(place, free.x, free.y);
    }
  });
  return node.id;
}

void ProjectDocument::addNodes(const QString& text, const std::string& network, const Remedy& remedy) {
  editDrawing(text, network, [&](DrawingEdit& edit) {
    edit.freezePlaces();
    for (const Node& node : remedy.nodes) {
      Node added = node;
      added.placed = true;
      for (const Edge& edge : remedy.edges) {
        const Node* above = edge.to.node == node.id ? edit.find(edge.from.node) : nullptr;
        const Node* reader = edge.from.node == node.id ? edit.find(edge.to.node) : nullptr;
        if (above != nullptr)
          added.x = above->x, added.y = above->y + kPitch;
        else if (reader != nullptr)
          added.x = reader->x + kCardWidth + 4 * kGrid, added.y = reader->y - kPitch;
      }
      setPlace(added, freePlace(edit.drawing(), added));
      edit.addNode(std::move(added));
    }
    for (const Edge& edge : remedy.edges) loom::connect(edit, edge);
  });
}

Outcome ProjectDocument::insertInto(const std::string& network, const std::string& id, const Edge& edge, QPointF at) {
  const std::optional<Drawing> before = drawn(network);
  const auto place = before ? before->index.node(id) : NetworkIndex::kNone;
  if (place == NetworkIndex::kNone) return Outcome::refused(tr("%1 is not in this network").arg(q(id)));
  if (inputSlots(*before, place).empty() || outputSlots(m_project, before->network.nodes[place]).empty())
    return Outcome::refused(tr("%1 cannot stand in a wire: it needs an input and an output").arg(q(id)));
  if (!before->index.into(place).empty() || !before->index.outOf(place).empty())
    return Outcome::refused(tr("%1 has wires already").arg(q(id)));
  editDrawing(tr("Insert %1").arg(q(id)), network, [&](DrawingEdit& edit) {
    edit.freezePlaces();
    const QPointF wanted = snapped(at);
    edit.move(id, wanted.x(), wanted.y());
    loom::insertInto(edit, id, edge);
    if (const Node* from = edit.find(edge.from.node), *to = edit.find(edge.to.node);
        from != nullptr && to != nullptr && from->group == to->group)
      edit.change(id, [group = from->group](Node& node) { node.group = group; });
    seatBelow(edit, id, edge.from.node);
    moveDownBehind(edit, id);
  });
  return Outcome::done();
}

void ProjectDocument::removeNodes(const std::string& network, const std::vector<std::string>& ids, bool heal) {
  if (ids.empty()) return;
  edit((heal ? tr("Remove %1 and heal") : tr("Remove %1")).arg(named(ids)), [&](ProjectEdit& edit) {
    edit.drawing(network, [&](DrawingEdit& drawing) {
      const std::vector<Gap> gaps = heal ? gapsOf(drawing.drawing(), ids) : std::vector<Gap>();
      loom::removeNodes(drawing, ids, heal);
      close(drawing, gaps);
      dropEmptyGroups(drawing);
    });
    passOnShares(edit, ids);
  });
}

void ProjectDocument::moveNodes(const std::string& network, const std::map<std::string, QPointF>& places, int gesture,
                                const std::string& group) {
  std::vector<std::string> ids;
  for (const auto& [id, place] : places) ids.push_back(id);
  const QString key = gesture == 0 ? QString() : QStringLiteral("move %1 %2").arg(q(network)).arg(gesture);
  editDrawing(
      tr("Move %1").arg(named(ids)), network,
      [&](DrawingEdit& edit) {
        edit.freezePlaces();
        moveAll(edit, places);
        for (const auto& [id, place] : places) {
          const Comment* known = edit.network().comment(id);
          if (known == nullptr) continue;
          for (Comment& comment : edit.comments())
            if (comment.id == id) comment.x = place.x(), comment.y = place.y();
        }
        if (group.empty()) return;
        for (const auto& [id, place] : places)
          if (edit.find(id) != nullptr) edit.change(id, [&](Node& node) { node.group = group; });
        dropEmptyGroups(edit);
      },
      key);
}

void ProjectDocument::arrange(const std::string& name, const std::function<void()>& done) {
  const std::optional<Drawing> shown = drawn(name);
  if (!shown) return;
  const auto put = [this, name, done](const PlacesInOrder& places) {
    editDrawing(tr("Arrange"), name, [&](DrawingEdit& edit) {
      edit.moveAll(places);
      edit.freezePlaces();
    });
    if (done) done();
  };
  ArrangeTask task = arrangeTask(*shown);
  if (shown->network.nodes.size() <= kArrangedAtOnce) return put(inOrder(task, arranged(task)));
  setArranging(true);
  m_arranging.ask([this, put, name, done, task = std::move(task),
                   revision = m_revision](const std::atomic<bool>& outdated) -> NewestTask::Answer {
    return [this, put, name, done, revision, places = inOrder(task, arranged(task, &outdated))] {
      if (revision != m_revision) return arrange(name, done);  // it changed meanwhile: as it is now
      setArranging(false);
      put(places);
    };
  });
}

void ProjectDocument::setArranging(bool arranging) {
  if (arranging == m_isArranging) return;
  m_isArranging = arranging;
  Q_EMIT arrangingChanged();
}

void ProjectDocument::cancelArranging() {
  m_arranging.forget();
  setArranging(false);
}

Outcome ProjectDocument::renameNode(const std::string& network, const std::string& from, const std::string& to) {
  if (from == to) return Outcome::done();
  const std::optional<Drawing> before = drawn(network);
  if (!before || before->find(from) == nullptr) return Outcome::refused(tr("%1 is not in this network").arg(q(from)));
  if (!validId(to)) return Outcome::refused(badId(to));
  if (before->find(to) != nullptr) return Outcome::refused(tr("There is a node '%1' already").arg(q(to)));
  edit(tr("Rename %1 to %2").arg(q(from), q(to)), [&](ProjectEdit& edit) {
    loom::renameNode(edit, network, from, to);
    // A port of a unit is named by the wires at its uses.
    if (m_project.unit(network) != nullptr && isPortNode(*node(network, to))) renamePort(edit, network, from, to);
  });
  return Outcome::done();
}

Outcome ProjectDocument::mayWire(const std::string& network, const Edge& edge) const {
  const std::optional<Drawing> shown = drawn(network);
  if (!shown) return Outcome::refused(tr("There is no network '%1'").arg(q(network)));
  return {q(whyNotConnect(*shown, edge))};
}

Outcome ProjectDocument::addWire(const std::string& network, const Edge& edge) {
  const Outcome may = mayWire(network, edge);
  if (!may) return may;
  editDrawing(tr("Wire %1 to %2").arg(q(edge.from.node), q(edge.to.node)), network,
              [&](DrawingEdit& edit) { loom::connect(edit, edge); });
  return may;
}

void ProjectDocument::removeWires(const std::string& network, const std::vector<Edge>& edges) {
  if (edges.empty()) return;
  const QString what = edges.size() == 1
                           ? tr("the wire from %1 to %2").arg(q(edges.front().from.node), q(edges.front().to.node))
                           : tr("%1 wires").arg(edges.size());
  editDrawing(tr("Remove %1").arg(what), network, [&](DrawingEdit& edit) { loom::removeWires(edit, edges); });
}

Outcome ProjectDocument::rewire(const std::string& network, const Edge& from, const Edge& to) {
  if (from == to) return Outcome::done();
  const std::optional<Drawing> before = drawn(network);
  if (!before) return Outcome::refused(tr("There is no network '%1'").arg(q(network)));
  if (const std::string why = whyNotConnect(*before, to, from); !why.empty()) return Outcome::refused(q(why));
  editDrawing(tr("Rewire %1 to %2").arg(q(to.from.node), q(to.to.node)), network, [&](DrawingEdit& edit) {
    const auto old = edit.index().wire(edit.network(), from);
    // The order of wires is the order of the inputs: one that stays at its port keeps its place there.
    if (old != NetworkIndex::kNone && from.to == to.to) return edit.changeWire(old, to);
    if (old != NetworkIndex::kNone) edit.removeWire(old);
    loom::connect(edit, to);
  });
  return Outcome::done();
}

std::string ProjectDocument::copyNodes(const std::string& name, const std::vector<std::string>& ids) const {
  const Network* drawn = network(name);
  return drawn == nullptr || ids.empty() ? std::string() : copyText(m_project, *drawn, ids);
}

void ProjectDocument::cutNodes(const std::string& network, const std::vector<std::string>& ids) {
  if (ids.empty()) return;
  edit(tr("Cut %1").arg(named(ids)), [&](ProjectEdit& edit) {
    edit.drawing(network, [&](DrawingEdit& drawing) {
      loom::removeNodes(drawing, ids, false);
      dropEmptyGroups(drawing);
    });
    passOnShares(edit, ids);
  });
}

std::vector<std::string> ProjectDocument::pasteNodes(const std::string& name, std::string_view copied, QPointF centre) {
  const std::optional<Drawing> before = drawn(name);
  if (!before) return {};
  Copied found = readCopied(copied, *before, centre);
  Network& coming = found.drawing;
  // Pasted where cards stand already: down and right until they lie free, so that nothing is hidden.
  QRectF come;
  for (const Node& node : coming.nodes) come = come.isNull() ? cardRect(node) : come.united(cardRect(node));
  CardGrid grid;  // of those that may be met on the way
  for (std::size_t i = 0; i < before->network.nodes.size(); ++i)
    if (const QRectF card = cardRect(before->network.nodes[i]);
        card.right() >= come.left() && card.bottom() >= come.top())
      grid.put(i, card);
  const auto hidden = [&] {
    return std::any_of(coming.nodes.begin(), coming.nodes.end(),
                       [&](const Node& node) { return grid.touches(cardRect(node)); });
  };
  while (hidden()) {
    for (Node& node : coming.nodes) node.x += 2 * kGrid, node.y += 2 * kGrid;
    for (Comment& comment : coming.comments) comment.x += 2 * kGrid, comment.y += 2 * kGrid;
  }
  std::vector<std::string> ids;
  for (const Node& node : coming.nodes) ids.push_back(node.id);
  for (const Comment& comment : coming.comments) ids.push_back(comment.id);
  if (ids.empty()) return ids;
  edit(tr("Paste %1").arg(named(ids)), [&](ProjectEdit& edit) {
    for (Network& unit : found.units) edit.addUnit(std::move(unit));
    edit.drawing(name, [&](DrawingEdit& drawing) {
      drawing.freezePlaces();
      drawing.addNodes(std::move(coming.nodes));
      drawing.addWires(std::move(coming.edges));
      if (!coming.groups.empty())
        drawing.groups().insert(drawing.groups().end(), coming.groups.begin(), coming.groups.end());
      if (!coming.comments.empty())
        drawing.comments().insert(drawing.comments().end(), coming.comments.begin(), coming.comments.end());
    });
  });
  return ids;
}

std::vector<std::string> ProjectDocument::duplicateNodes(const std::string& network,
                                                         const std::vector<std::string>& ids) {
  const Network* before = this->network(network);
  if (before == nullptr || ids.empty()) return {};
  QRectF around;
  for (const std::string& id : ids)
    if (const Node* drawn = node(network, id))
      around = around.isNull() ? cardRect(*drawn) : around.united(cardRect(*drawn));
  if (around.isNull()) return {};
  const QPointF beside = around.center() + QPointF(around.width() + 2 * kGrid, 0);
  m_stack.beginMacro(tr("Duplicate %1").arg(named(ids)));
  std::vector<std::string> made = pasteNodes(network, copyText(m_project, *before, ids), beside);
  m_stack.endMacro();
  return made;
}

}  // namespace loom
