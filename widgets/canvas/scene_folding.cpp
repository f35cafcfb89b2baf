// NetworkScene: groups, folded ones as cards, comments, and what is dimmed.
#include <algorithm>

#include "widgets/canvas/card_content.h"
#include "widgets/canvas/network_scene.h"
#include "widgets/document/card_geometry.h"
#include "widgets/document/group_edits.h"

namespace loom {

// Pins of a folded group: one a tensor that crosses its edge, each standing for a pin of a member.
std::vector<CardPin> NetworkScene::foldedPins(const Node& group, bool output) const {
  std::vector<CardPin> pins;
  const Drawing shown = m_shown->drawing();
  const auto at = shown.index.node(group.id);
  const std::vector<PinSlot> found = output ? outputSlots(shown.project, group) : inputSlots(shown, at);
  const QRectF rect = cardRect(group);
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const auto wire : output ? shown.index.outOf(at) : shown.index.into(at)) {
      const Edge& edge = shown.network.edges[wire];
      if ((output ? edge.from : edge.to).port != found[i].port) continue;
      const Edge meant = meantBy(wire);
      pins.push_back({output ? meant.from : meant.to, 0, false, true,
                      QPointF(pinX(rect, i, found.size()), output ? rect.bottom() : rect.top()) - rect.center()});
      break;
    }
  }
  return pins;
}

// Frames, comments, and what a folded group's card adds up.
void NetworkScene::refreshGroups(const CardFigures& figures) {
  const Network& drawn = network();
  m_groups->refresh(drawn, figures);
  m_groups->place(drawn, m_preview);
  m_groups->setPicked(m_picked.groups, m_picked.comments);
  if (m_shown)
    for (const Group& group : drawn.groups) {
      CardItem* item = card(group.id);
      if (item == nullptr) continue;
      const GroupFigures sum = figuresOf(drawn, group, figures);
      showCost(*item, sum.share, sum.bar, sum.cost);
      item->setFaults(sum.errors, sum.warnings);
    }
  if (m_dimming) dim();
}

void NetworkScene::setDimming(bool on) {
  if (on == m_dimming) return;
  m_dimming = on;
  dim();
}

void NetworkScene::dim() {
  const Network& drawn = network();
  const bool dims = m_dimming && !m_picked.nodes.empty();
  const std::set<std::string> lit = dims ? reachOf(drawing(), m_picked.nodes) : std::set<std::string>();
  const auto bright = [&](const std::string& group) {
    const std::set<std::string> members = membersOf(drawn, group);
    return std::any_of(members.begin(), members.end(), [&](const std::string& node) { return lit.contains(node); });
  };
  m_cards->each([&](CardItem& item) {
    item.setDimmed(dims && !lit.contains(item.id()) && !(isFoldedGroup(item.id()) && bright(item.id())));
  });
  m_wires->setDimmed(dims ? std::optional(lit) : std::nullopt);
  for (const Group& group : drawn.groups)
    if (GroupItem* item = m_groups->group(group.id)) item->setDimmed(dims && !bright(group.id));
}

void NetworkScene::pickGroup(const std::string& id) {
  Picked picked;
  picked.groups.insert(id);
  pick(std::move(picked));
}

bool NetworkScene::isFoldedGroup(const std::string& id) const {
  return m_shown && network().group(id) != nullptr && card(id) != nullptr;
}

std::vector<std::string> NetworkScene::foldedIn(const QRectF& rect) const {
  std::vector<std::string> ids;
  if (!m_shown) return ids;
  for (const CardItem* item : m_cards->in(rect))
    if (isFoldedGroup(item->id()) && item->sceneCard().intersects(rect)) ids.push_back(item->id());
  return ids;
}

std::string NetworkScene::cardAt(QPointF at) const {
  if (std::string node = nodeAt(at); !node.empty()) return node;
  const std::vector<std::string> folded = foldedIn(QRectF(at, QSizeF(0.5, 0.5)));
  return folded.empty() ? std::string() : folded.front();
}

}  // namespace loom
