#include "widgets/canvas/network_scene.h"

#include <QGraphicsView>
#include <algorithm>
#include <cmath>
#include <utility>

#include "widgets/canvas/pick_history.h"
#include "widgets/document/group_edits.h"
#include "widgets/document/network_edits.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {

constexpr double kHalfWorld = 4000000;  // a fixed scene rectangle: nothing jumps when a card is added

const Network& emptyNetwork() {
  static const Network empty;
  return empty;
}

}  // namespace

NetworkScene::NetworkScene(ProjectDocument& document, QObject* parent)
    : QGraphicsScene(parent),
      m_document(document),
      m_wires(new WiresItem),
      m_cards(new CardsItem),
      m_groups(std::make_unique<SceneGroups>(*this)),
      m_history(new PickHistory(*this, document.undoStack())) {
  setItemIndexMethod(NoIndex);
  setSceneRect(-kHalfWorld, -kHalfWorld, 2 * kHalfWorld, 2 * kHalfWorld);
  addItem(m_wires);
  addItem(m_cards);
  connect(&document, &ProjectDocument::opened, this, [this] {
    const auto& networks = m_document.project().networks;
    setNetwork(networks.empty() ? std::string() : networks.front().name);
  });
  connect(&document, &ProjectDocument::changed, this, &NetworkScene::followChange);
  connect(&document, &ProjectDocument::analysisChanged, this, [this] {
    if (!m_seen)
      m_stale = true;
    else if (!std::exchange(m_fresh, false))
      refreshFigures();
  });
  connect(&Theme::of(this), &Theme::changed, this, [this] {
    m_cards->restyle();
    m_groups->restyle();
    update();
  });
  m_later.setSingleShot(true);
  m_later.setInterval(0);
  connect(&m_later, &QTimer::timeout, this, &NetworkScene::routeLater);
  const auto& networks = m_document.project().networks;
  if (!networks.empty()) m_name = networks.front().name;
  rebuild();
}

NetworkScene::~NetworkScene() = default;

const Network& NetworkScene::network() const {
  const Network* network = m_document.network(m_name);
  return network != nullptr ? *network : emptyNetwork();
}

Drawing NetworkScene::drawing() const {
  return {m_document.project(), network(), m_document.index(m_name)};
}

void NetworkScene::setNetwork(const std::string& name) {
  m_name = name;
  m_preview.clear();
  m_picked = {};
  m_hovered.clear();
  rebuild();
  Q_EMIT networkSwitched();
  Q_EMIT picksChanged();
}

void NetworkScene::setUse(const UnitUse& use) {
  if (use == m_use) return;
  if (!m_use.node.empty()) m_document.unwatchUse(m_use.drawing, m_use.node);
  m_use = use;
  m_ofUse = false;  // until it is read anew
  m_costs = {};     // those of the other use
  if (!m_use.node.empty()) m_document.watchUse(m_use.drawing, m_use.node);
}

void NetworkScene::tell() {
  m_told = true;
  for (QGraphicsView* view : views()) view->viewport()->update();
}

void NetworkScene::setCostKind(CostKind kind) {
  m_costKind = kind;
  setCostsFaint(m_costsFaint);
  if (m_seen)
    refreshFigures();
  else
    m_stale = true;
  Q_EMIT costKindChanged();
}

void NetworkScene::setCosts(NetworkCosts costs) {
  m_costs = std::move(costs);
  const bool shown = m_costKind >= CostKind::activations;  // the others are the analysis's
  if (shown && m_seen) refreshFigures();
  if (shown && !m_seen) m_stale = true;
  Q_EMIT costsChanged();
}

void NetworkScene::setRecorded(RecordedFigures figures) {
  m_recorded = std::move(figures);
  if (isRecorded(m_costKind)) {
    if (m_seen)
      refreshFigures();
    else
      m_stale = true;
  }
  Q_EMIT costsChanged();
}

void NetworkScene::setCostsFaint(bool faint) {
  m_costsFaint = faint;
  m_cards->setCostsFaint(faint && m_costKind >= CostKind::activations && !isRecorded(m_costKind));
}

void NetworkScene::setSeen(bool seen) {
  m_seen = seen;
  if (!seen) return;
  catchUp();
  m_later.start();  // what waited when it was hidden
}

void NetworkScene::catchUp() {
  if (std::exchange(m_stale, false)) rebuild();
}

std::vector<std::string> NetworkScene::pickedNodes() const {
  std::vector<std::pair<NetworkIndex::Position, const std::string*>> found;
  const NetworkIndex& index = m_document.index(m_name);
  for (const std::string& id : m_picked.nodes)
    if (const auto at = index.node(id); at != NetworkIndex::kNone) found.emplace_back(at, &id);
  std::sort(found.begin(), found.end());
  std::vector<std::string> ids;
  for (const auto& [at, id] : found) ids.push_back(*id);
  return ids;
}

void NetworkScene::pick(Picked picked) {
  take(std::move(picked));
  m_history->note();
}

void NetworkScene::take(Picked picked) {
  for (const std::string& group : picked.groups) picked.nodes.merge(membersOf(network(), group));
  const bool differs = !(picked == m_picked);
  const Picked before = std::exchange(m_picked, std::move(picked));
  for (const std::string& id : before.nodes)
    if (CardItem* item = card(id); item != nullptr && !m_picked.nodes.contains(id)) item->setPicked(false);
  for (const std::string& id : m_picked.nodes)
    if (CardItem* item = card(id)) item->setPicked(true);
  for (const std::string& id : before.groups)
    if (CardItem* item = card(id); item != nullptr && !m_picked.groups.contains(id)) item->setPicked(false);
  for (const std::string& id : m_picked.groups)
    if (CardItem* item = card(id)) item->setPicked(true);
  m_groups->setPicked(m_picked.groups, m_picked.comments);
  m_wires->setLit(m_picked.wires, m_picked.nodes);
  if (m_dimming && differs) dim();
  if (differs) Q_EMIT picksChanged();
}

Picked NetworkScene::existing(const Picked& picked) const {
  const Drawing here = drawing();
  Picked kept;
  for (const std::string& id : picked.nodes)
    if (here.find(id) != nullptr) kept.nodes.insert(id);
  for (const Edge& edge : picked.wires)
    if (here.index.wire(here.network, edge) != NetworkIndex::kNone) kept.wires.insert(edge);
  for (const std::string& id : picked.groups)
    if (here.network.group(id) != nullptr) kept.groups.insert(id);
  for (const std::string& id : picked.comments)
    if (here.network.comment(id) != nullptr) kept.comments.insert(id);
  return kept;
}

void NetworkScene::keepPicks() {
  if (card(m_hovered) == nullptr) m_hovered.clear();
  take(existing(m_picked));
}

std::string NetworkScene::nodeAt(QPointF at) const {
  // Of cards that overlap the later in the file lies above.
  const NetworkIndex& index = m_document.index(m_name);
  std::string found;
  NetworkIndex::Position top = 0;
  for (const CardItem* item : m_cards->in(QRectF(at - QPointF(0.5, 0.5), QSizeF(1, 1)))) {
    if (!item->sceneCard().contains(at)) continue;
    const auto place = index.node(item->id());
    if (place == NetworkIndex::kNone || (!found.empty() && place < top)) continue;
    found = item->id();
    top = place;
  }
  return found;
}

std::optional<PinHit> NetworkScene::pinAt(QPointF at, double reach) const {
  std::optional<PinHit> nearest;
  double best = reach;
  for (const CardItem* item : m_cards->in(QRectF(at, at).adjusted(-reach, -reach, reach, reach))) {
    const auto look = [&](const std::vector<CardPin>& pins, bool output) {
      for (const CardPin& pin : pins) {
        const QPointF place = item->pos() + pin.at;
        const double distance = std::hypot(at.x() - place.x(), at.y() - place.y());
        if (distance > best) continue;
        best = distance;
        nearest = PinHit{pin.end, output, place};
      }
    };
    look(item->inputs(), false);
    look(item->outputs(), true);
  }
  return nearest;
}

std::vector<std::string> NetworkScene::nodesIn(const QRectF& rect) const {
  const NetworkIndex& index = m_document.index(m_name);
  std::vector<std::pair<NetworkIndex::Position, const CardItem*>> found;
  for (const CardItem* item : m_cards->in(rect))
    if (const auto at = index.node(item->id()); at != NetworkIndex::kNone && item->sceneCard().intersects(rect))
      found.emplace_back(at, item);
  std::sort(found.begin(), found.end());
  std::vector<std::string> ids;
  for (const auto& [at, item] : found) ids.push_back(item->id());
  return ids;
}

QRectF NetworkScene::cardsRect(const std::set<std::string>& ids) const {
  if (ids.empty()) {
    const QRectF frames = m_groups->bounds();
    return frames.isNull() ? m_cards->bounds() : m_cards->bounds().isNull() ? frames : m_cards->bounds().united(frames);
  }
  QRectF rect;
  for (const std::string& id : ids)
    if (const CardItem* item = card(id)) rect = rect.isNull() ? item->sceneCard() : rect.united(item->sceneCard());
  return rect;
}

void NetworkScene::setHovered(const std::string& node, std::optional<Edge> wire, std::optional<PinHit> pin) {
  const std::string hovered = pin ? pin->end.node : node;
  for (const std::string& id : std::exchange(m_hotCards, {}))
    if (CardItem* item = card(id); item != nullptr && id != hovered) {
      item->setHovered(false);
      item->setHoveredPin(std::nullopt);
    }
  if (CardItem* item = card(hovered)) {
    m_hotCards.insert(hovered);
    item->setHovered(true);
    item->setHoveredPin(pin ? std::optional(pin->end) : std::nullopt);
  }
  m_wires->setHovered(std::move(wire));
  if (hovered == m_hovered) return;
  m_hovered = hovered;
  Q_EMIT refreshed();
}

void NetworkScene::markLegal(const std::optional<PinHit>& from, const std::optional<Edge>& except) {
  if (from)
    m_cards->setRules(std::make_shared<const WireRules>(drawing(), from->end, from->output, except), from->end.node,
                      from->output);
  else
    m_cards->setRules(nullptr, {}, false);
}

}  // namespace loom
