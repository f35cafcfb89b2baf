// ProjectDocument: fields of nodes, and what a remedy's button does.
#include "widgets/document/network_edits.h"
#include "widgets/document/project_document.h"
#include "widgets/document/texts.h"

namespace loom {

namespace {

QString labelOf(const Node& node, const std::string& key) {
  const LayerDefinition* layer = findLayer(node.layer);
  const Field* field = layer == nullptr ? nullptr : layer->entry.field(key);
  return field == nullptr || field->label.empty() ? q(key) : q(field->label).toLower();
}

// Null and the default are the same: the key goes.
void put(Node& node, const std::string& key, const Json& value) {
  const LayerDefinition* layer = findLayer(node.layer);
  const Field* field = layer == nullptr ? nullptr : layer->entry.field(key);
  if (value.is_null() || (field != nullptr && !field->defaultValue.is_null() && value == field->defaultValue)) {
    node.values.erase(key);
  } else {
    node.values[key] = value;
  }
}

}  // namespace

Outcome ProjectDocument::setField(const std::string& network, const std::string& id, const std::string& key,
                                  const Json& value) {
  const Node* drawn = node(network, id);
  if (drawn == nullptr) return Outcome::refused(tr("%1 is not in this network").arg(q(id)));
  editDrawing(
      tr("Set %1 of %2").arg(labelOf(*drawn, key), q(id)), network,
      [&](DrawingEdit& edit) { edit.change(id, [&](Node& changed) { put(changed, key, value); }); },
      QStringLiteral("field %1/%2/%3").arg(q(network), q(id), q(key)));
  return Outcome::done();
}

void ProjectDocument::setFieldOfMany(const std::string& network, const std::vector<std::string>& ids,
                                     const std::string& key, const Json& value) {
  const Node* first = ids.empty() ? nullptr : node(network, ids.front());
  if (first == nullptr) return;
  QString nodes;
  for (const std::string& id : ids) nodes += QLatin1Char(' ') + q(id);
  editDrawing(
      tr("Set %1 of %2 nodes").arg(labelOf(*first, key)).arg(ids.size()), network,
      [&](DrawingEdit& edit) {
        for (const std::string& id : ids) edit.change(id, [&](Node& changed) { put(changed, key, value); });
      },
      QStringLiteral("field %1/%2/%3").arg(q(network), nodes, q(key)));
}

void ProjectDocument::resetField(const std::string& network, const std::string& id, const std::string& key) {
  const Node* drawn = node(network, id);
  if (drawn == nullptr) return;
  editDrawing(tr("Reset %1 of %2").arg(labelOf(*drawn, key), q(id)), network,
              [&](DrawingEdit& edit) { edit.change(id, [&](Node& changed) { changed.values.erase(key); }); });
}

Outcome ProjectDocument::setShares(const std::string& network, const std::string& id, const std::string& other) {
  if (id == other) return Outcome::refused(tr("%1 has its own parameters already").arg(q(id)));
  editDrawing(other.empty() ? tr("Give %1 its own parameters").arg(q(id))
                            : tr("Share parameters of %1 with %2").arg(q(other), q(id)),
              network, [&](DrawingEdit& edit) { edit.change(id, [&](Node& node) { node.shares = other; }); });
  return Outcome::done();
}

Outcome ProjectDocument::setLayer(const std::string& network, const std::string& id, const std::string& wanted) {
  const LayerDefinition* layer = findLayer(wanted);
  if (layer == nullptr) return Outcome::refused(tr("There is no layer '%1'").arg(q(wanted)));
  editDrawing(tr("Make %1 a %2").arg(q(id), q(layer->entry.label)), network, [&](DrawingEdit& edit) {
    const auto at = edit.index().node(id);
    if (at == NetworkIndex::kNone) return;
    edit.change(id, [&](Node& node) {
      node.layer = layer->entry.id;
      Json kept = Json::object();  // fields that the new layer knows keep their values
      for (const auto& [key, value] : node.values.items())
        if (layer->entry.field(key) != nullptr) kept[key] = value;
      node.values = std::move(kept);
    });
    // Wires end at pins of the same name, else at the first.
    for (const auto wire : edit.index().into(at)) {
      Edge edge = edit.network().edges[wire];
      if (findPort(layer->entry.inputs, edge.to.port) != nullptr || layer->entry.inputs.empty()) continue;
      edge.to.port = layer->entry.inputs.front().key;
      edit.changeWire(wire, std::move(edge));
    }
    for (const auto wire : edit.index().outOf(at)) {
      if (layer->entry.outputs.size() != 1) break;
      Edge edge = edit.network().edges[wire];
      edge.from.port = layer->entry.outputs.front().key;
      edit.changeWire(wire, std::move(edge));
    }
  });
  return Outcome::done();
}

Outcome ProjectDocument::applyRemedy(const Problem& problem) {
  const Remedy& remedy = problem.remedy;
  const std::string& drawing = remedy.network.empty() ? problem.network : remedy.network;
  const std::string& key = remedy.field.empty() ? problem.field : remedy.field;
  const std::string& node =
      remedy.node.empty() ? problem.node : remedy.node;  // it may lie at another node than the fault
  switch (remedy.kind) {
    case Remedy::Kind::none:
      return Outcome::refused(tr("Nothing mends this by itself"));
    case Remedy::Kind::renameLayer:
      return remedy.value.is_string() ? setLayer(drawing, node, remedy.value.get<std::string>())
                                      : Outcome::refused(tr("The remedy names no layer"));
    case Remedy::Kind::removeEdge:
      removeWires(drawing, {remedy.edge});
      return Outcome::done();
    case Remedy::Kind::addEdge:
      return addWire(drawing, remedy.edge);
    case Remedy::Kind::addNodes:
      addNodes(q(remedy.label), drawing, remedy);
      return Outcome::done();
    case Remedy::Kind::setField:
    case Remedy::Kind::removeField:
      break;
  }
  const Json value = remedy.kind == Remedy::Kind::setField ? remedy.value : Json();
  if (!node.empty()) return setField(drawing, node, key, value);
  return setPath(key, value);
}

}  // namespace loom
