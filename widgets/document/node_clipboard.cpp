#include "widgets/document/node_clipboard.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>

#include "engine/base/error.h"
#include "widgets/document/card_geometry.h"
#include "widgets/document/network_edits.h"

namespace loom {

namespace {

// "conv" -> "conv2", "conv2" -> "conv3": the number at the end counts on until it is free.
std::string freeName(const std::string& wanted, const Network& network, const Network& coming) {
  const auto taken = [&](const std::string& id) { return network.find(id) != nullptr || coming.find(id) != nullptr; };
  if (!taken(wanted)) return wanted;
  std::size_t end = wanted.size();
  while (end > 1 && std::isdigit(static_cast<unsigned char>(wanted[end - 1])) && wanted.size() - end < 9) --end;
  const std::string stem = wanted.substr(0, end);
  for (long number = end == wanted.size() ? 2 : std::stol(wanted.substr(end)) + 1;; ++number) {
    const std::string id = stem + std::to_string(number);
    if (!taken(id)) return id;
  }
}

std::string textOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::string copyText(const Network& network, const std::vector<std::string>& ids) {
  Json nodes = Json::array(), edges = Json::array();
  const auto among = [&](const std::string& id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); };
  for (const Node& node : network.nodes) {
    if (!among(node.id)) continue;
    Json written = {{"id", node.id}, {"layer", node.layer}, {"values", node.values}, {"at", {node.x, node.y}}};
    if (!node.shares.empty()) written["shares"] = node.shares;
    nodes.push_back(std::move(written));
  }
  for (const Edge& edge : network.edges)
    if (among(edge.from.node) && among(edge.to.node))
      edges.push_back({edge.from.node, edge.from.port, edge.to.node, edge.to.port});
  return formatJson({{"gradloom", "nodes"}, {"nodes", nodes}, {"edges", edges}});
}

Network readCopied(std::string_view text, const Network& network, QPointF centre) {
  Network coming;
  Json read;
  try {
    read = parseJson(text, "clipboard");
  } catch (const Error&) {
    return coming;  // some other text
  }
  if (!read.is_object() || textOf(read, "gradloom") != "nodes" || !read.contains("nodes") || !read["nodes"].is_array()) return coming;
  std::map<std::string, std::string> names;
  double left = std::numeric_limits<double>::max(), top = left, right = -left, bottom = -left;
  for (const Json& each : read["nodes"]) {
    if (!each.is_object()) continue;
    Node node;
    const std::string wanted = textOf(each, "id");
    node.layer = textOf(each, "layer");
    if (node.layer.empty() || !validId(wanted)) continue;
    node.id = freeName(wanted, network, coming);
    names[wanted] = node.id;
    if (each.contains("values") && each["values"].is_object()) node.values = each["values"];
    node.shares = textOf(each, "shares");
    if (const auto at = each.find("at"); at != each.end() && at->is_array() && at->size() == 2 && (*at)[0].is_number() && (*at)[1].is_number()) {
      node.x = (*at)[0].get<double>();
      node.y = (*at)[1].get<double>();
    }
    node.placed = true;
    left = std::min(left, node.x);
    right = std::max(right, node.x);
    top = std::min(top, node.y);
    bottom = std::max(bottom, node.y);
    coming.nodes.push_back(std::move(node));
  }
  const QPointF shift = snapped(centre - QPointF((left + right) / 2, (top + bottom) / 2));
  for (Node& node : coming.nodes) {
    node.x += shift.x();
    node.y += shift.y();
    if (const auto renamed = names.find(node.shares); renamed != names.end()) node.shares = renamed->second;
  }
  if (!read.contains("edges") || !read["edges"].is_array()) return coming;
  for (const Json& each : read["edges"]) {
    const auto isText = [](const Json& part) { return part.is_string(); };
    if (!each.is_array() || each.size() != 4 || !std::all_of(each.begin(), each.end(), isText)) continue;
    const auto from = names.find(each[0].get<std::string>()), to = names.find(each[2].get<std::string>());
    if (from == names.end() || to == names.end()) continue;
    coming.edges.push_back({{from->second, each[1].get<std::string>()}, {to->second, each[3].get<std::string>()}});
  }
  return coming;
}

}  // namespace loom
