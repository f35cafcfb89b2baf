#include "app/pages/network/start_from_data.h"

#include <algorithm>

#include "engine/data/stats.h"
#include "widgets/document/arrange.h"
#include "widgets/document/network_edits.h"

namespace loom {

namespace {

std::string targetOf(const KnownColumns& columns) {
  std::vector<std::string> names;
  for (const auto& [name, shape] : columns.shapes) names.push_back(name);
  return likelyTarget(names, [&](const std::string& name) { return columns.classes.contains(name); });
}

std::string add(Network& network, const std::string& layer, const std::string& wanted, Json values) {
  const LayerDefinition* definition = findLayer(layer);
  Node node;
  node.id = validId(wanted) && network.find(wanted) == nullptr ? wanted : network.freeId(*definition);
  node.layer = definition->entry.id;
  node.values = std::move(values);
  network.nodes.push_back(node);
  return node.id;
}

Endpoint output(const Network& network, const std::string& id) {
  return {id, findLayer(network.find(id)->layer)->entry.outputs.front().key};
}
Endpoint input(const Network& network, const std::string& id, std::size_t index = 0) {
  return {id, findLayer(network.find(id)->layer)->entry.inputs.at(index).key};
}

}  // namespace

void fillFromData(ProjectDocument& document, const std::string& name) {
  const auto& updates = document.project().training.updates;
  const std::string dataset = updates.empty() ? UpdateSpec().dataset : updates.front().dataset;
  const auto& known = document.knownColumns();
  auto columns =
      std::find_if(known.begin(), known.end(), [&](const KnownColumns& each) { return each.dataset == dataset; });
  if (columns == known.end()) columns = known.begin();
  if (columns == known.end() || columns->shapes.empty()) return;
  const std::string target = targetOf(*columns);
  document.edit(ProjectDocument::tr("Start from data"), [&](Project& project) {
    Network* network = project.network(name);
    if (network == nullptr) return;
    const auto wire = [network](Edge edge) { network->edges.push_back(std::move(edge)); };
    std::vector<std::string> sources;
    for (const auto& [variable, shape] : columns->shapes) {
      if (variable == target) continue;
      Json values = {{"shape", shape.extents()}};
      if (!validId(variable)) values["variable"] = variable;
      sources.push_back(add(*network, "Input", variable, std::move(values)));
    }
    // Without a target the samples are to be found again: an autoencoder's loss.
    const std::string whole = sources.empty() ? target : std::string();
    if (!whole.empty())
      sources.push_back(add(*network, "Input", whole, {{"shape", columns->shapes.at(whole).extents()}}));
    const auto classes = columns->classes.find(target);
    const Shape targetShape = target.empty() || !whole.empty()
                                  ? columns->shapes.at(target.empty() ? columns->shapes.begin()->first : target)
                                  : columns->shapes.at(target);
    const bool labels = classes != columns->classes.end();
    const std::int64_t outputs = labels ? classes->second : std::max<std::int64_t>(1, targetShape.elements());
    const std::string linear = add(*network, "Linear", "fc", {{"outputs", outputs}});
    // Columns of a table come in together: one that no wire leaves would be left out without a word.
    const bool table = std::all_of(sources.begin(), sources.end(), [&](const std::string& id) {
      return network->find(id)->values.at("shape").size() == 1;
    });
    if (sources.size() > 1 && table) {
      const std::string joined = add(*network, "Concatenate", "columns", Json::object());
      for (const std::string& id : sources) wire({output(*network, id), input(*network, joined)});
      wire({output(*network, joined), input(*network, linear)});
    } else {
      wire({output(*network, sources.front()), input(*network, linear)});
    }
    std::string truth = sources.front();
    if (!target.empty() && whole.empty()) {
      Json values = {{"shape", targetShape.extents()}};
      if (labels) values["type"] = "label";
      if (!validId(target)) values["variable"] = target;
      truth = add(*network, "Input", target, std::move(values));
    }
    const std::string loss = add(*network, labels ? "SoftmaxCrossEntropy" : "MeanSquaredError", "loss", Json::object());
    wire({output(*network, linear), input(*network, loss)});
    wire({output(*network, truth), input(*network, loss, 1)});
    if (labels && findLayer("Accuracy") != nullptr) {
      const std::string accuracy = add(*network, "Accuracy", "accuracy", Json::object());
      wire({output(*network, linear), input(*network, accuracy)});
      wire({output(*network, truth), input(*network, accuracy, 1)});
    }
    for (Node& node : network->nodes) node.placed = false;
    placeUnplaced(project);
    for (Node& node : network->nodes) node.placed = true;
  });
}

}  // namespace loom
