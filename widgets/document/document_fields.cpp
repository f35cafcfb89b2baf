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

Outcome ProjectDocument::setField(const std::string& network, const std::string& id, const std::string& key, const Json& value) {
  const Network* before = m_project.network(network);
  const Node* node = before == nullptr ? nullptr : before->find(id);
  if (node == nullptr) return Outcome::refused(tr("%1 is not in this network").arg(q(id)));
  editNetwork(tr("Set %1 of %2").arg(labelOf(*node, key), q(id)), network, [&](Network& changed) {
    put(*changed.find(id), key, value);
  }, QStringLiteral("field %1/%2/%3").arg(q(network), q(id), q(key)));
  return Outcome::done();
}

void ProjectDocument::setFieldOfMany(const std::string& network, const std::vector<std::string>& ids, const std::string& key, const Json& value) {
  const Network* before = m_project.network(network);
  const Node* first = before == nullptr || ids.empty() ? nullptr : before->find(ids.front());
  if (first == nullptr) return;
  QString nodes;
  for (const std::string& id : ids) nodes += QLatin1Char(' ') + q(id);
  editNetwork(tr("Set %1 of %2 nodes").arg(labelOf(*first, key)).arg(ids.size()), network, [&](Network& changed) {
    for (const std::string& id : ids)
      if (Node* node = changed.find(id)) put(*node, key, value);
  }, QStringLiteral("field %1/%2/%3").arg(q(network), nodes, q(key)));
}

void ProjectDocument::resetField(const std::string& network, const std::string& id, const std::string& key) {
  const Network* before = m_project.network(network);
  const Node* node = before == nullptr ? nullptr : before->find(id);
  if (node == nullptr) return;
  editNetwork(tr("Reset %1 of %2").arg(labelOf(*node, key), q(id)), network,
              [&](Network& changed) { changed.find(id)->values.erase(key); });
}

Outcome ProjectDocument::setShares(const std::string& network, const std::string& id, const std::string& other) {
  if (id == other) return Outcome::refused(tr("%1 has its own parameters already").arg(q(id)));
  editNetwork(other.empty() ? tr("Give %1 its own parameters").arg(q(id)) : tr("Share parameters of %1 with %2").arg(q(other), q(id)),
              network, [&](Network& changed) {
    if (Node* node = changed.find(id)) node->shares = other;
  });
  return Outcome::done();
}

Outcome ProjectDocument::setLayer(const std::string& network, const std::string& id, const std::string& wanted) {
  const LayerDefinition* layer = findLayer(wanted);
  if (layer == nullptr) return Outcome::refused(tr("There is no layer '%1'").arg(q(wanted)));
  editNetwork(tr("Make %1 a %2").arg(q(id), q(layer->entry.label)), network, [&](Network& changed) {
    Node* node = changed.find(id);
    if (node == nullptr) return;
    node->layer = layer->entry.id;
    Json kept = Json::object();  // fields that the new layer knows keep their values
    for (const auto& [key, value] : node->values.items())
      if (layer->entry.field(key) != nullptr) kept[key] = value;
    node->values = std::move(kept);
    // Wires end at pins of the same name, else at the first.
    for (Edge& edge : changed.edges) {
      if (edge.to.node == id && findInput(*node, edge.to.port) == nullptr && !layer->entry.inputs.empty())
        edge.to.port = layer->entry.inputs.front().key;
      if (edge.from.node == id && layer->entry.outputs.size() == 1) edge.from.port = layer->entry.outputs.front().key;
    }
  });
  return Outcome::done();
}

Outcome ProjectDocument::applyRemedy(const Problem& problem) {
  const Remedy& remedy = problem.remedy;
  const std::string& key = remedy.field.empty() ? problem.field : remedy.field;
  const std::string& node = remedy.node.empty() ? problem.node : remedy.node;  // it may lie at another node than the fault
  switch (remedy.kind) {
    case Remedy::Kind::none: return Outcome::refused(tr("Nothing mends this by itself"));
    case Remedy::Kind::renameLayer:
      return remedy.value.is_string() ? setLayer(problem.network, node, remedy.value.get<std::string>())
                                      : Outcome::refused(tr("The remedy names no layer"));
    case Remedy::Kind::removeEdge: removeWires(problem.network, {remedy.edge}); return Outcome::done();
    case Remedy::Kind::addEdge: return addWire(problem.network, remedy.edge);
    case Remedy::Kind::addNodes: addNodes(q(remedy.label), problem.network, remedy); return Outcome::done();
    case Remedy::Kind::setField:
    case Remedy::Kind::removeField: break;
  }
  const Json value = remedy.kind == Remedy::Kind::setField ? remedy.value : Json();
  if (!node.empty()) return setField(problem.network, node, key, value);
  return setPath(key, value);
}

}  // namespace loom
