#include "widgets/canvas/scene_groups.h"

#include <QGraphicsScene>
#include <algorithm>

#include "widgets/controls/text.h"
#include "widgets/document/group_edits.h"

namespace loom {

namespace {

int depthOf(const Network& network, const Group& group) {
  int depth = 0;
  for (const Group* at = network.group(group.parent); at != nullptr && depth < 64; at = network.group(at->parent))
    ++depth;
  return depth;
}

bool hiddenGroup(const Network& network, const Group& group) {
  int steps = 0;
  for (const Group* at = &group; at != nullptr && steps < 64; at = network.group(at->parent), ++steps)
    if (at->folded) return true;
  return false;
}

GroupContent contentOf(const Network& network, const Group& group, const GroupFigures& figures) {
  const CardContent card = groupContent(network, group);
  GroupContent content;
  content.title = card.title;
  content.count =
      figures.share >= 0.0005 ? QObject::tr("%1, %2").arg(card.type, percentText(figures.share)) : card.type;
  content.isRepeat = repeats(group);
  content.repeat = content.isRepeat && !group.counter.empty() && group.counter != "i"
                       ? card.repeat + QStringLiteral("  ") + QString::fromStdString(group.counter)
                       : card.repeat;
  content.tint = card.tint;
  content.errors = static_cast<int>(figures.errors.size());
  return content;
}

template <class Items, class Contains>
void removeMissing(Items& items, const Contains& contains) {
  std::erase_if(items, [&](const auto& entry) {
    if (contains(entry.first)) return false;
    delete entry.second;
    return true;
  });
}

}  // namespace

GroupFigures figuresOf(const Network& network, const Group& group, const CardFigures& figures) {
  GroupFigures sum;
  for (const std::string& node : membersOf(network, group.id)) {
    const double cost = figures.costOf(node);
    sum.cost += cost;
    sum.share += figures.share(cost);
    sum.bar += figures.bar(cost);
    if (const auto faults = figures.faults.find(node); faults != figures.faults.end()) {
      sum.errors += faults->second.errors;
      sum.warnings += faults->second.warnings;
    }
  }
  sum.bar = std::min(1.0, sum.bar);
  return sum;
}

void SceneGroups::refresh(const Network& network, const CardFigures& figures) {
  removeMissing(m_groups, [&](const std::string& id) {
    const Group* group = network.group(id);
    return group != nullptr && !hiddenGroup(network, *group);
  });
  m_contents.clear();
  for (const Group& group : network.groups) {
    if (hiddenGroup(network, group)) continue;
    GroupItem*& item = m_groups[group.id];
    if (item == nullptr) m_scene.addItem(item = new GroupItem(group.id));
    m_contents[group.id] = contentOf(network, group, figuresOf(network, group, figures));
    m_depths[group.id] = depthOf(network, group);
  }
  followComments(network);
}

void SceneGroups::followComments(const Network& network) {
  removeMissing(m_comments, [&](const std::string& id) { return network.comment(id) != nullptr; });
  for (const Comment& comment : network.comments) {
    CommentItem*& item = m_comments[comment.id];
    if (item == nullptr) m_scene.addItem(item = new CommentItem(comment.id));
  }
}

void SceneGroups::place(const Network& network, const std::map<std::string, QPointF>& moved) {
  if (!m_groups.empty()) {
    const std::map<std::string, QRectF> frames = groupFrames(network, moved);
    for (const auto& [id, item] : m_groups) {
      const auto frame = frames.find(id);
      item->setVisible(frame != frames.end());
      item->setContent(m_contents[id], frame == frames.end() ? QRectF() : frame->second, m_depths[id]);
    }
  }
  for (const auto& [id, item] : m_comments) {
    const Comment* comment = network.comment(id);
    if (comment == nullptr) continue;
    QRectF rect = commentRect(*comment);
    if (const auto there = moved.find(id); there != moved.end()) rect.moveCenter(there->second);
    item->setContent(*comment, rect);
  }
}

void SceneGroups::setPicked(const std::set<std::string>& groups, const std::set<std::string>& comments) {
  for (const auto& [id, item] : m_groups) item->setPicked(groups.contains(id));
  for (const auto& [id, item] : m_comments) item->setPicked(comments.contains(id));
}

void SceneGroups::setHovered(const std::string& group, const std::string& comment) {
  for (const auto& [id, item] : m_groups) item->setHovered(id == group);
  for (const auto& [id, item] : m_comments) item->setHovered(id == comment);
}

void SceneGroups::setDropTarget(const std::string& group) {
  for (const auto& [id, item] : m_groups) item->setDropTarget(id == group);
}

void SceneGroups::setDimmed(bool dimmed) {
  for (const auto& [id, item] : m_groups) item->setDimmed(dimmed);
}

void SceneGroups::restyle() {
  for (const auto& [id, item] : m_groups) item->update();
  for (const auto& [id, item] : m_comments) item->update();
}

GroupItem* SceneGroups::group(const std::string& id) const {
  const auto found = m_groups.find(id);
  return found == m_groups.end() ? nullptr : found->second;
}

CommentItem* SceneGroups::comment(const std::string& id) const {
  const auto found = m_comments.find(id);
  return found == m_comments.end() ? nullptr : found->second;
}

std::string SceneGroups::headAt(QPointF at) const {
  const GroupItem* best = nullptr;
  for (const auto& [id, item] : m_groups)
    if (item->isVisible() && item->head().contains(at) && (best == nullptr || item->zValue() > best->zValue()))
      best = item;
  return best == nullptr ? std::string() : best->id();
}

std::string SceneGroups::frameAt(QPointF at, const std::set<std::string>& except) const {
  const GroupItem* best = nullptr;
  for (const auto& [id, item] : m_groups)
    if (item->isVisible() && !except.contains(id) && item->frame().contains(at) &&
        (best == nullptr || item->zValue() > best->zValue()))
      best = item;
  return best == nullptr ? std::string() : best->id();
}

std::vector<QColor> SceneGroups::fillsAt(QPointF at, double upTo) const {
  std::vector<const GroupItem*> frames;
  for (const auto& [id, item] : m_groups)
    if (item->isVisible() && item->zValue() <= upTo && item->frame().contains(at)) frames.push_back(item);
  std::sort(frames.begin(), frames.end(),
            [](const GroupItem* a, const GroupItem* b) { return a->zValue() < b->zValue(); });
  std::vector<QColor> fills;
  for (const GroupItem* frame : frames) fills.push_back(frame->fill());
  return fills;
}

QRectF SceneGroups::edgeThrough(const QRectF& area) const {
  const GroupItem* best = nullptr;
  for (const auto& [id, item] : m_groups)
    if (item->isVisible() && item->frame().intersects(area) && !item->frame().contains(area) &&
        (best == nullptr || item->zValue() > best->zValue()))
      best = item;
  return best == nullptr ? QRectF() : best->frame();
}

std::string SceneGroups::commentAt(QPointF at) const {
  for (const auto& [id, item] : m_comments)
    if (item->rect().adjusted(-4, -2, 4, 4).contains(at)) return id;
  return {};
}

QRectF SceneGroups::bounds() const {
  QRectF bounds;
  const auto take = [&](const QRectF& rect) { bounds = bounds.isNull() ? rect : bounds.united(rect); };
  for (const auto& [id, item] : m_groups)
    if (item->isVisible()) take(item->frame());
  for (const auto& [id, item] : m_comments) take(item->rect());
  return bounds;
}

}  // namespace loom
