// NetworkView: units, groups, repeats and comments under the mouse, by keys and in the menu.
#include <QApplication>
#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>

#include "widgets/canvas/comment_editor.h"
#include "widgets/canvas/network_view.h"
#include "widgets/canvas/unit_view.h"
#include "widgets/document/card_geometry.h"
#include "widgets/document/group_edits.h"
#include "widgets/document/texts.h"
#include "widgets/document/unit_edits.h"
#include "widgets/theme/theme.h"

namespace loom {

void NetworkView::setEmbedded(bool embedded) {
  m_embedded = embedded;
  placeOverlays();
}

NetworkView& NetworkView::inHand() {
  if (m_unitView == nullptr || !m_unitView->isOpen()) return *this;
  NetworkView& inner = m_unitView->view();
  const QWidget* focus = QApplication::focusWidget();
  const bool inside = focus != nullptr && m_unitView->isAncestorOf(focus);
  // Whichever has a selection; where both have none, or both, the one with the keyboard.
  if (inside || (m_scene.picked().empty() && !inner.networkScene().picked().empty())) return inner.inHand();
  return *this;
}

// The mouse.

bool NetworkView::pressGroup(QPointF at, bool add) {
  const std::string card = m_scene.cardAt(at);
  const std::string id = m_scene.isFoldedGroup(card) ? card
                         : card.empty()              ? m_scene.groups().headAt(at)
                                                     : std::string();
  if (id.empty()) return false;
  const GroupItem* frame = m_scene.groups().group(id);
  const CardItem* folded = m_scene.card(id);
  const bool chevron =
      frame != nullptr
          ? frame->chevron().contains(at)
          : folded != nullptr &&
                QRectF(folded->sceneCard().left(), folded->sceneCard().top(), 30, kCardHeight).contains(at);
  if (chevron && !add) {
    const Group* group = m_scene.network().group(id);
    m_scene.document().setFolded(m_scene.networkName(), id, !group->folded);
    m_scene.pickGroup(id);
    return true;
  }
  Picked picked = m_scene.picked();
  if (add) {
    if (picked.groups.erase(id)) {
      for (const std::string& member : membersOf(m_scene.network(), id)) picked.nodes.erase(member);
    } else {
      picked.groups.insert(id);
    }
    m_scene.pick(std::move(picked));
    return true;
  }
  if (!picked.groups.contains(id)) m_scene.pickGroup(id);
  m_pressedGroup = id;
  const std::set<std::string> members = membersOf(m_scene.network(), id);
  m_pressedNode = members.empty() ? std::string() : *members.begin();
  m_gesture = Gesture::press;
  return true;
}

bool NetworkView::pressComment(QPointF at, bool add) {
  if (!m_scene.cardAt(at).empty()) return false;
  const std::string id = m_scene.groups().commentAt(at);
  const CommentItem* item = m_scene.groups().comment(id);
  if (item == nullptr) return false;
  Picked picked = m_scene.picked();
  if (add) {
    if (!picked.comments.erase(id)) picked.comments.insert(id);
    m_scene.pick(std::move(picked));
    return true;
  }
  if (item->grip().contains(at)) {
    m_scene.pick({{}, {}, {}, {id}});
    m_resized = *m_scene.network().comment(id);
    m_gesture = Gesture::resize;
    return true;
  }
  if (!picked.comments.contains(id)) m_scene.pick({{}, {}, {}, {id}});
  m_pressedComment = id;
  m_pressedNode = id;  // what the drag is measured by
  m_gesture = Gesture::press;
  return true;
}

void NetworkView::resizeComment(QPointF at) {
  if (!m_resized) return;
  const QRectF before = commentRect(*m_resized);
  const QPointF corner = snapped(at);
  const QRectF rect(before.topLeft(), QSizeF(std::max(kCommentLeast * 2, corner.x() - before.left()),
                                             std::max(kCommentLeast, corner.y() - before.top())));
  m_resized->x = rect.center().x(), m_resized->y = rect.center().y();
  m_resized->width = rect.width(), m_resized->height = rect.height();
  if (CommentItem* item = m_scene.groups().comment(m_resized->id)) item->setContent(*m_resized, rect);
}

bool NetworkView::doubleClickGroup(QPointF at) {
  const std::string card = m_scene.cardAt(at);
  const std::string id = m_scene.isFoldedGroup(card) ? card
                         : card.empty()              ? m_scene.groups().headAt(at)
                                                     : std::string();
  if (!id.empty()) {
    const Group* group = m_scene.network().group(id);
    m_scene.document().setFolded(m_scene.networkName(), id, !group->folded);
    m_scene.pickGroup(id);
    return true;
  }
  const std::string comment = card.empty() ? m_scene.groups().commentAt(at) : std::string();
  if (comment.empty()) return false;
  editComment(comment);
  return true;
}

std::string NetworkView::joinedGroup() const {
  if (m_gesture == Gesture::none && m_scene.previewed().empty()) return {};
  if (!m_scene.picked().groups.empty() || m_pressedNode.empty() || m_scene.network().find(m_pressedNode) == nullptr)
    return {};
  const auto there = m_scene.previewed().find(m_pressedNode);
  if (there == m_scene.previewed().end()) return {};
  // Frames as they would be without what is dragged: one that only stretches after its own node takes nothing in.
  Network without = m_scene.network();
  std::set<std::string> own;
  for (Node& node : without.nodes)
    if (m_scene.previewed().contains(node.id)) {
      own.insert(node.group);
      node.group.clear();
    }
  std::string innermost;
  double area = 0;
  for (const auto& [id, frame] : groupFrames(without)) {
    if (!frame.contains(there->second) || without.group(id)->folded) continue;
    if (innermost.empty() || frame.width() * frame.height() < area)
      innermost = id, area = frame.width() * frame.height();
  }
  return own.size() == 1 && own.contains(innermost) ? std::string() : innermost;
}

}  // namespace loom
