// ProjectDocument: what a person does to the drawings.
#include <algorithm>

#include "widgets/document/arrange.h"
#include "widgets/document/card_geometry.h"
#include "widgets/document/network_edits.h"
#include "widgets/document/node_clipboard.h"
#include "widgets/document/project_document.h"
#include "widgets/document/texts.h"

namespace loom {

namespace {

constexpr std::size_t kArrangedAtOnce = 300;  // some milliseconds

// "conv1" or "3 nodes"
QString named(const std::vector<std::string>& ids) {
  return ids.size() == 1 ? q(ids.front()) : ProjectDocument::tr("%1 nodes").arg(ids.size());
}

QString badId(const std::string& id) {
  return id.empty() ? ProjectDocument::tr("A name cannot be empty")
                    : ProjectDocument::tr("'%1' is no name: letters, digits, '_' and '-', beginning with a letter").arg(q(id));
}

}  // namespace

std::string ProjectDocument::addNetwork(const std::string& wanted) {
  std::string name = validId(wanted) ? wanted : "network";
  const std::string stem = name;
  for (int number = 2; m_project.network(name) != nullptr; ++number) name = stem + std::to_string(number);
  edit(tr("Add network %1").arg(q(name)), [&](Project& project) { project.networks.push_back({name, {}, {}}); });
  return name;
}

Outcome ProjectDocument::renameNetwork(const std::string& from, const std::string& to) {
  if (from == to) return Outcome::done();
  if (!validId(to)) return Outcome::refused(badId(to));
  if (m_project.network(to) != nullptr) return Outcome::refused(tr("There is a network '%1' already").arg(q(to)));
  edit(tr("Rename network %1 to %2").arg(q(from), q(to)), [&](Project& project) {
    if (Network* network = project.network(from)) network->name = to;
    for (UpdateSpec& update : project.training.updates)
      if (update.network == from) update.network = to;
    if (project.training.validationNetwork == from) project.training.validationNetwork = to;
  });
  return Outcome::done();
}

Outcome ProjectDocument::removeNetwork(const std::string& name) {
  if (m_project.networks.size() == 1) return Outcome::refused(tr("A project keeps one network at least"));
  edit(tr("Remove network %1").arg(q(name)), [&](Project& project) {
    std::vector<std::string> ids;
    if (const Network* network = project.network(name))
      for (const Node& node : network->nodes) ids.push_back(node.id);
    std::erase_if(project.networks, [&](const Network& network) { return network.name == name; });
    passOnShares(project, ids);
  });
  return Outcome::done();
}

std::string ProjectDocument::addNode(const AddRequest& request) {
  const LayerDefinition* layer = findLayer(request.layer);
  const Network* before = m_project.network(request.network);
  if (layer == nullptr || before == nullptr) return {};
  Node node;
  node.id = before->freeId(*layer);
  node.layer = layer->entry.id;
  node.values = request.values;
  node.placed = true;
  const Node* after = before->find(request.after);
  const QPointF at = snapped(after != nullptr ? QPointF(after->x, after->y + kPitch) : request.at);
  node.x = at.x();
  node.y = at.y();
  editNetwork(tr("Add %1").arg(q(node.id)), request.network, [&](Network& network) {
    freezePlaces(network);
    const std::size_t wires = network.edges.size();
    network.nodes.push_back(node);
    Node& added = network.nodes.back();
    if (request.into) {
      loom::insertInto(network, node.id, *request.into);
    } else if (after != nullptr) {
      insertAfter(network, node.id, after->id);
    } else {
      // A wire dropped on nothing: its other end is whichever pin of the new card fits first.
      if (request.from && !layer->entry.inputs.empty())
        loom::connect(network, {*request.from, {node.id, layer->entry.inputs.front().key}});
      if (request.to && !layer->entry.outputs.empty())
        loom::connect(network, {{node.id, layer->entry.outputs.front().key}, *request.to});
    }
    const bool inserted = network.edges.size() == wires + 1 && !downstream(network, node.id).empty() && !request.to;
    if (inserted) {
      if (request.into) seatBelow(network, node.id, request.into->from.node);
      moveDownBehind(network, node.id);
    } else {
      placeFree(network, added);
    }
  });
  return node.id;
}

void ProjectDocument::addNodes(const QString& text, const std::string& network, const Remedy& remedy) {
  editNetwork(text, network, [&](Network& changed) {
    freezePlaces(changed);
    for (const Node& node : remedy.nodes) {
      changed.nodes.push_back(node);
      Node& added = changed.nodes.back();
      added.placed = true;
      for (const Edge& edge : remedy.edges) {
        const Node* above = edge.to.node == node.id ? changed.find(edge.from.node) : nullptr;
        const Node* reader = edge.from.node == node.id ? changed.find(edge.to.node) : nullptr;
        if (above != nullptr) added.x = above->x, added.y = above->y + kPitch;
        else if (reader != nullptr) added.x = reader->x + kCardWidth + 4 * kGrid, added.y = reader->y - kPitch;
      }
      placeFree(changed, added);
    }
    for (const Edge& edge : remedy.edges) loom::connect(changed, edge);
  });
}

Outcome ProjectDocument::insertInto(const std::string& network, const std::string& id, const Edge& edge, QPointF at) {
  const Network* before = m_project.network(network);
  const Node* node = before == nullptr ? nullptr : before->find(id);
  if (node == nullptr) return Outcome::refused(tr("%1 is not in this network").arg(q(id)));
  if (inputSlots(*before, *node).empty() || outputSlots(*node).empty())
    return Outcome::refused(tr("%1 cannot stand in a wire: it needs an input and an output").arg(q(id)));
  for (const Edge& wire : before->edges)
    if (wire.from.node == id || wire.to.node == id) return Outcome::refused(tr("%1 has wires already").arg(q(id)));
  editNetwork(tr("Insert %1").arg(q(id)), network, [&](Network& changed) {
    freezePlaces(changed);
    Node* moved = changed.find(id);
    const QPointF place = snapped(at);
    moved->x = place.x();
    moved->y = place.y();
    loom::insertInto(changed, id, edge);
    seatBelow(changed, id, edge.from.node);
    moveDownBehind(changed, id);
  });
  return Outcome::done();
}

void ProjectDocument::removeNodes(const std::string& network, const std::vector<std::string>& ids, bool heal) {
  if (ids.empty()) return;
  edit((heal ? tr("Remove %1 and heal") : tr("Remove %1")).arg(named(ids)), [&](Project& project) {
    if (Network* changed = project.network(network)) {
      const Network before = *changed;
      loom::removeNodes(*changed, ids, heal);
      if (heal) moveUpBehind(*changed, before, ids);
    }
    passOnShares(project, ids);
  });
}

void ProjectDocument::moveNodes(const std::string& network, const std::map<std::string, QPointF>& places, int gesture) {
  std::vector<std::string> ids;
  for (const auto& [id, place] : places) ids.push_back(id);
  const QString key = gesture == 0 ? QString() : QStringLiteral("move %1 %2").arg(q(network)).arg(gesture);
  editNetwork(tr("Move %1").arg(named(ids)), network, [&](Network& changed) {
    freezePlaces(changed);
    for (const auto& [id, place] : places) {
      Node* node = changed.find(id);
      if (node == nullptr) continue;
      node->x = place.x();
      node->y = place.y();
    }
  }, key);
}

void ProjectDocument::arrange(const std::string& name, const std::function<void()>& done) {
  const Network* network = m_project.network(name);
  if (network == nullptr) return;
  const auto put = [this, name, done](const std::map<std::string, QPointF>& places) {
    editNetwork(tr("Arrange"), name, [&](Network& changed) {
      for (Node& node : changed.nodes) {
        node.x = places.at(node.id).x();
        node.y = places.at(node.id).y();
      }
      freezePlaces(changed);
    });
    if (done) done();
  };
  if (network->nodes.size() <= kArrangedAtOnce) return put(arranged(*network));
  m_arranging.ask([this, put, name, done, drawn = *network, revision = m_revision](const std::atomic<bool>&) -> NewestTask::Answer {
    return [this, put, name, done, revision, places = arranged(drawn)] {
      if (revision == m_revision) put(places);
      else arrange(name, done);  // it changed meanwhile: as it is now
    };
  });
}

Outcome ProjectDocument::renameNode(const std::string& network, const std::string& from, const std::string& to) {
  if (from == to) return Outcome::done();
  const Network* before = m_project.network(network);
  if (before == nullptr || before->find(from) == nullptr) return Outcome::refused(tr("%1 is not in this network").arg(q(from)));
  if (!validId(to)) return Outcome::refused(badId(to));
  if (before->find(to) != nullptr) return Outcome::refused(tr("There is a node '%1' already").arg(q(to)));
  edit(tr("Rename %1 to %2").arg(q(from), q(to)), [&](Project& project) { loom::renameNode(project, network, from, to); });
  return Outcome::done();
}

Outcome ProjectDocument::mayWire(const std::string& network, const Edge& edge) const {
  const Network* drawn = m_project.network(network);
  if (drawn == nullptr) return Outcome::refused(tr("There is no network '%1'").arg(q(network)));
  return {q(whyNotConnect(*drawn, edge))};
}

Outcome ProjectDocument::addWire(const std::string& network, const Edge& edge) {
  const Outcome may = mayWire(network, edge);
  if (!may) return may;
  editNetwork(tr("Wire %1 to %2").arg(q(edge.from.node), q(edge.to.node)), network,
              [&](Network& changed) { loom::connect(changed, edge); });
  return may;
}

void ProjectDocument::removeWires(const std::string& network, const std::vector<Edge>& edges) {
  if (edges.empty()) return;
  const QString what = edges.size() == 1 ? tr("the wire from %1 to %2").arg(q(edges.front().from.node), q(edges.front().to.node))
                                         : tr("%1 wires").arg(edges.size());
  editNetwork(tr("Remove %1").arg(what), network, [&](Network& changed) {
    std::erase_if(changed.edges, [&](const Edge& edge) { return std::find(edges.begin(), edges.end(), edge) != edges.end(); });
  });
}

Outcome ProjectDocument::rewire(const std::string& network, const Edge& from, const Edge& to) {
  if (from == to) return Outcome::done();
  const Network* before = m_project.network(network);
  if (before == nullptr) return Outcome::refused(tr("There is no network '%1'").arg(q(network)));
  Network without = *before;
  std::erase(without.edges, from);
  if (const std::string why = whyNotConnect(without, to); !why.empty()) return Outcome::refused(q(why));
  editNetwork(tr("Rewire %1 to %2").arg(q(to.from.node), q(to.to.node)), network, [&](Network& changed) {
    const auto old = std::find(changed.edges.begin(), changed.edges.end(), from);
    // The order of wires is the order of the inputs: one that stays at its port keeps its place there.
    if (old != changed.edges.end() && from.to == to.to) {
      *old = to;
      return;
    }
    if (old != changed.edges.end()) changed.edges.erase(old);
    loom::connect(changed, to);
  });
  return Outcome::done();
}

std::string ProjectDocument::copyNodes(const std::string& network, const std::vector<std::string>& ids) const {
  const Network* drawn = m_project.network(network);
  return drawn == nullptr || ids.empty() ? std::string() : copyText(*drawn, ids);
}

void ProjectDocument::cutNodes(const std::string& network, const std::vector<std::string>& ids) {
  if (ids.empty()) return;
  edit(tr("Cut %1").arg(named(ids)), [&](Project& project) {
    if (Network* changed = project.network(network)) loom::removeNodes(*changed, ids, false);
    passOnShares(project, ids);
  });
}

std::vector<std::string> ProjectDocument::pasteNodes(const std::string& network, std::string_view copied, QPointF centre) {
  const Network* before = m_project.network(network);
  if (before == nullptr) return {};
  Network coming = readCopied(copied, *before, centre);
  // Pasted where cards stand already: down and right until they lie free, so that nothing is hidden.
  const auto hidden = [&] {
    return std::any_of(coming.nodes.begin(), coming.nodes.end(), [&](const Node& node) {
      return std::any_of(before->nodes.begin(), before->nodes.end(),
                         [&](const Node& other) { return cardRect(node).intersects(cardRect(other)); });
    });
  };
  while (hidden())
    for (Node& node : coming.nodes) {
      node.x += 2 * kGrid;
      node.y += 2 * kGrid;
    }
  std::vector<std::string> ids;
  for (const Node& node : coming.nodes) ids.push_back(node.id);
  if (ids.empty()) return ids;
  editNetwork(tr("Paste %1").arg(named(ids)), network, [&](Network& changed) {
    freezePlaces(changed);
    changed.nodes.insert(changed.nodes.end(), coming.nodes.begin(), coming.nodes.end());
    changed.edges.insert(changed.edges.end(), coming.edges.begin(), coming.edges.end());
  });
  return ids;
}

std::vector<std::string> ProjectDocument::duplicateNodes(const std::string& network, const std::vector<std::string>& ids) {
  const Network* before = m_project.network(network);
  if (before == nullptr || ids.empty()) return {};
  QRectF around;
  for (const std::string& id : ids)
    if (const Node* node = before->find(id)) around = around.isNull() ? cardRect(*node) : around.united(cardRect(*node));
  if (around.isNull()) return {};
  const QPointF beside = around.center() + QPointF(around.width() + 2 * kGrid, 0);
  m_stack.beginMacro(tr("Duplicate %1").arg(named(ids)));
  std::vector<std::string> made = pasteNodes(network, copyText(*before, ids), beside);
  m_stack.endMacro();
  return made;
}

}  // namespace loom
