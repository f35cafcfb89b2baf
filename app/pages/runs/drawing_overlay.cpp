#include "app/pages/runs/drawing_overlay.h"

#include <QStringList>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "app/differences.h"
#include "engine/base/error.h"
#include "engine/base/files.h"
#include "widgets/document/arrange.h"
#include "widgets/document/card_geometry.h"

namespace loom {
namespace {

constexpr std::size_t kLargestRunFile = std::size_t{64} << 20;
constexpr double kBetweenCards = 24;
constexpr int kMostNotes = 3;

Network& trainedOf(Project& project) {
  const std::string name = project.training.updates.empty() ? "main" : project.training.updates.front().network;
  Network* const network = project.network(name);
  if (!network) throwError(ErrorCode::badData, "it holds no network '{}'", name);
  return *network;
}

std::string plain(std::string text) {
  return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? text.substr(1, text.size() - 2) : text;
}

// Every field of a node with its value; what the file leaves out has its default.
std::map<std::string, std::string> fieldsOf(const Node& node) {
  std::map<std::string, std::string> fields;
  const auto take = [&](const std::string& key, const Json& value) {
    if (!value.is_null()) fields[key] = plain(comparableText(value));
  };
  if (const LayerDefinition* const layer = findLayer(node.layer))
    for (const Field& field : layer->entry.fields) take(field.key, field.defaultValue);
  for (const auto& item : node.values.items()) take(item.key(), item.value());
  take("repeat", node.repeat);
  if (!node.shares.empty()) fields["shares"] = node.shares;
  return fields;
}

std::set<Edge> wiresOf(const Network& network) {
  return {network.edges.begin(), network.edges.end()};
}

bool sameInside(const Project& first, const Network& a, const Project& second, const Network& b, int depth);

bool sameNode(const Project& first, const Node& a, const Project& second, const Node& b, int depth) {
  if (a.layer != b.layer || a.unit != b.unit || fieldsOf(a) != fieldsOf(b)) return false;
  if (a.unit.empty()) return true;
  const Network *const inA = first.unit(a.unit), *const inB = second.unit(b.unit);
  return inA && inB ? sameInside(first, *inA, second, *inB, depth + 1) : inA == inB;
}

// A unit that holds itself is a fault of the drawing: it is not followed for ever.
bool sameInside(const Project& first, const Network& a, const Project& second, const Network& b, int depth) {
  constexpr int kDeepest = 32;
  if (depth > kDeepest) return true;
  if (a.nodes.size() != b.nodes.size() || wiresOf(a) != wiresOf(b)) return false;
  std::map<std::string, const Node*> byId;
  for (const Node& each : b.nodes) byId[each.id] = &each;
  return std::all_of(a.nodes.begin(), a.nodes.end(), [&](const Node& each) {
    const auto other = byId.find(each.id);
    return other != byId.end() && sameNode(first, each, second, *other->second, depth);
  });
}

QString noteOf(const Node& before, const Node& after) {
  QStringList notes;
  const auto layer = [](const Node& node) {
    return QString::fromStdString(node.unit.empty() ? node.layer : node.unit);
  };
  if (layer(before) != layer(after)) return QObject::tr("%1 → %2").arg(layer(before), layer(after));
  const auto a = fieldsOf(before), b = fieldsOf(after);
  std::set<std::string> keys;
  for (const auto* each : {&a, &b})
    for (const auto& [key, value] : *each) keys.insert(key);
  const auto text = [](const std::map<std::string, std::string>& fields, const std::string& key) {
    const auto found = fields.find(key);
    return found == fields.end() ? QStringLiteral("–") : QString::fromStdString(found->second);
  };
  for (const std::string& key : keys)
    if (text(a, key) != text(b, key))
      notes << QObject::tr("%1 %2 → %3").arg(QString::fromStdString(key), text(a, key), text(b, key));
  if (notes.isEmpty()) return QObject::tr("changed inside");
  if (notes.size() > kMostNotes) notes = notes.mid(0, kMostNotes) << QStringLiteral("…");
  return notes.join(", ");
}

OverlayNode overlayNode(const Node& node, DrawnChange change) {
  return {.id = QString::fromStdString(node.id),
          .layer = QString::fromStdString(node.unit.empty() ? node.layer : node.unit),
          .note = {},
          .card = cardRect(node),
          .change = change};
}

// What is no more stands as far from the nearest card that stayed as it did, and beside what stands there now.
void placeRemoved(OverlayNode& node, const std::map<std::string, QRectF>& before,
                  const std::map<std::string, QRectF>& now, const std::vector<OverlayNode>& placed) {
  double nearest = std::numeric_limits<double>::infinity();
  QPointF moved;
  for (const auto& [id, card] : now) {
    const auto old = before.find(id);
    if (old == before.end()) continue;
    const QPointF way = old->second.center() - node.card.center();
    if (const double distance = std::hypot(way.x(), way.y()); distance < nearest) {
      nearest = distance;
      moved = card.center() - old->second.center();
    }
  }
  node.card.translate(moved);
  const auto covers = [&](const OverlayNode& each) {
    return each.card.adjusted(-kBetweenCards / 2, -2, kBetweenCards / 2, 2).intersects(node.card);
  };
  for (auto other = std::find_if(placed.begin(), placed.end(), covers); other != placed.end();
       other = std::find_if(placed.begin(), placed.end(), covers))
    node.card.moveLeft(other->card.right() + kBetweenCards);
}

}  // namespace

int DrawingOverlay::count(DrawnChange change) const {
  return static_cast<int>(
      std::count_if(nodes.begin(), nodes.end(), [&](const OverlayNode& each) { return each.change == change; }));
}

bool DrawingOverlay::isSame() const {
  return count(DrawnChange::same) == static_cast<int>(nodes.size()) &&
         std::all_of(wires.begin(), wires.end(),
                     [](const OverlayWire& each) { return each.change == DrawnChange::same; });
}

DrawingOverlay overlayOf(Project first, Project second) {
  placeUnplaced(first);
  placeUnplaced(second);
  const Network &before = trainedOf(first), &after = trainedOf(second);
  std::map<std::string, const Node*> old;
  std::map<std::string, QRectF> oldCards, cards;
  for (const Node& each : before.nodes) {
    old[each.id] = &each;
    oldCards[each.id] = cardRect(each);
  }
  DrawingOverlay overlay;
  for (const Node& each : after.nodes) {
    const auto known = old.find(each.id);
    OverlayNode node = overlayNode(each, known == old.end() ? DrawnChange::added : DrawnChange::same);
    if (known != old.end() && !sameNode(first, *known->second, second, each, 0)) {
      node.change = DrawnChange::changed;
      node.note = noteOf(*known->second, each);
    }
    cards[each.id] = node.card;
    overlay.nodes.push_back(std::move(node));
  }
  const std::map<std::string, QRectF> stayed = cards;
  for (const Node& each : before.nodes) {
    if (cards.count(each.id)) continue;
    OverlayNode node = overlayNode(each, DrawnChange::removed);
    placeRemoved(node, oldCards, stayed, overlay.nodes);
    cards[each.id] = node.card;
    overlay.nodes.push_back(std::move(node));
  }
  const std::set<Edge> oldWires = wiresOf(before), newWires = wiresOf(after);
  const auto add = [&](const Edge& edge, DrawnChange change) {
    const auto from = cards.find(edge.from.node), to = cards.find(edge.to.node);
    if (from == cards.end() || to == cards.end()) return;
    overlay.wires.push_back(
        {{from->second.center().x(), from->second.bottom()}, {to->second.center().x(), to->second.top()}, change});
  };
  for (const Edge& each : newWires) add(each, oldWires.count(each) ? DrawnChange::same : DrawnChange::added);
  for (const Edge& each : oldWires)
    if (!newWires.count(each)) add(each, DrawnChange::removed);
  for (const OverlayNode& each : overlay.nodes) overlay.bounds |= each.card;
  return overlay;
}

Project projectOfRun(const QString& folder) {
  const Json run = parseJson(readFile((folder + "/run.json").toStdString(), kLargestRunFile), "run.json");
  if (!run.is_object() || !run.contains("project") || !run["project"].is_object())
    throwError(ErrorCode::badData, "{}: its run.json holds no project", folder.toStdString());
  ReadProject project = readProject(run["project"].dump(), "run.json");
  if (!project.readable) throwError(ErrorCode::badData, "{}: it holds no network", folder.toStdString());
  return std::move(project.project);
}

DrawingOverlay overlayOfRuns(const QString& firstFolder, const QString& secondFolder) {
  return overlayOf(projectOfRun(firstFolder), projectOfRun(secondFolder));
}

}  // namespace loom
