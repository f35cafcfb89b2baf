// NetworkView: the mouse.
#include <QApplication>
#include <QContextMenuEvent>
#include <QDragEnterEvent>
#include <QHelpEvent>
#include <QMimeData>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "widgets/canvas/add_menu.h"
#include "widgets/canvas/network_view.h"
#include "widgets/canvas/overlays.h"
#include "widgets/document/card_geometry.h"
#include "widgets/document/group_edits.h"
#include "widgets/document/network_edits.h"
#include "widgets/document/unit_edits.h"

namespace loom {

namespace {
constexpr double kPinReach = 12;  // device-independent pixels
}

void NetworkView::mousePressEvent(QMouseEvent* event) {
  m_hint->clear();
  m_revealed.clear();
  m_pressed = event->position().toPoint();
  m_pressedScene = mapToScene(m_pressed);
  if (event->button() == Qt::MiddleButton || (event->button() == Qt::LeftButton && m_spaceHeld)) {
    m_gesture = Gesture::pan;
    m_spaceUsed = true;
    viewport()->setCursor(Qt::ClosedHandCursor);
    return;
  }
  if (event->button() != Qt::LeftButton) return;
  if (m_wiring && m_wiring->byKeys) endWire();
  const double reach = std::min(kPinReach, kPinReach / zoom());
  if (const auto pin = m_scene.pinAt(m_pressedScene, reach); pin && zoom() >= 0.4) {
    beginWire(*pin);
    return;
  }
  const bool add = event->modifiers() & (Qt::ShiftModifier | Qt::ControlModifier);
  m_pressedGroup.clear();
  m_pressedComment.clear();
  if (const std::string card = m_scene.cardAt(m_pressedScene); m_scene.isFoldedGroup(card) || card.empty()) {
    if (pressGroup(m_pressedScene, add) || pressComment(m_pressedScene, add)) return;
  }
  m_pressedNode = m_scene.nodeAt(m_pressedScene);
  if (!m_pressedNode.empty()) {
    Picked picked = m_scene.picked();
    if (add) {
      if (!picked.nodes.erase(m_pressedNode)) picked.nodes.insert(m_pressedNode);
      m_scene.pick(std::move(picked));
      m_gesture = Gesture::none;
      return;
    }
    if (!picked.nodes.contains(m_pressedNode)) m_scene.pickNode(m_pressedNode);
    m_gesture = Gesture::press;
    return;
  }
  if (const auto wire = m_scene.wireAt(m_pressedScene, kWireReach / zoom())) {
    Picked picked = add ? m_scene.picked() : Picked{};
    picked.wires.insert(*wire);
    m_scene.pick(std::move(picked));
    return;
  }
  m_before = add ? m_scene.picked() : Picked{};
  m_scene.pick(m_before);
  m_gesture = Gesture::band;
  m_band = QRectF(m_pressedScene, m_pressedScene);
}

void NetworkView::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = mapToScene(event->position().toPoint());
  const QPoint moved = event->position().toPoint() - m_pressed;
  switch (m_gesture) {
    case Gesture::none:
      hover(event->position());
      return;
    case Gesture::press:
      if (moved.manhattanLength() < QApplication::startDragDistance()) return;
      beginMove();
      [[fallthrough]];
    case Gesture::move:
      moveBy(at - m_pressedScene);
      return;
    case Gesture::band:
      m_band = QRectF(m_pressedScene, at).normalized();
      finishBand();
      viewport()->update();
      return;
    case Gesture::wire:
      moveWire(at);
      return;
    case Gesture::resize:
      resizeComment(at);
      return;
    case Gesture::pan:
      horizontalScrollBar()->setValue(horizontalScrollBar()->value() - moved.x());
      verticalScrollBar()->setValue(verticalScrollBar()->value() - moved.y());
      m_pressed = event->position().toPoint();
      return;
  }
}

void NetworkView::mouseReleaseEvent(QMouseEvent* event) {
  const Gesture was = m_gesture;
  m_gesture = Gesture::none;
  switch (was) {
    case Gesture::press:
      // A click among several means this one.
      if (!m_pressedGroup.empty())
        m_scene.pickGroup(m_pressedGroup);
      else if (!m_pressedComment.empty())
        m_scene.pick({{}, {}, {}, {m_pressedComment}});
      else if (m_scene.picked().nodes.size() > 1)
        m_scene.pickNode(m_pressedNode);
      break;
    case Gesture::move:
      finishMove();
      break;
    case Gesture::band:
      viewport()->update();
      break;
    case Gesture::wire:
      dropWire();
      return;  // the pin that it was dropped on is no longer meant until the mouse moves again
    case Gesture::pan:
      viewport()->unsetCursor();
      break;
    case Gesture::resize:
      if (m_resized) m_scene.document().setComment(m_scene.networkName(), *m_resized);
      m_resized.reset();
      break;
    case Gesture::none:
      break;
  }
  hover(event->position());
  m_bubble->refresh();
}

void NetworkView::mouseDoubleClickEvent(QMouseEvent* event) {
  const QPointF at = mapToScene(event->position().toPoint());
  if (event->button() == Qt::LeftButton && doubleClickGroup(at)) return;
  const std::string node = m_scene.nodeAt(at);
  if (node.empty()) return mousePressEvent(event);
  m_scene.pickNode(node);
  const Node* picked = m_scene.node(node);
  if (picked != nullptr && !picked->unit.empty()) return openInPlace(node);
  Q_EMIT editRequested();
}

void NetworkView::hover(QPointF viewportAt) {
  const QPointF at = mapToScene(viewportAt.toPoint());
  const auto pin = pinUnder(at);
  const std::string node = m_scene.nodeAt(at);
  const auto wire = pin || !node.empty() ? std::nullopt : m_scene.wireAt(at, kWireReach / zoom());
  m_scene.setHovered(node.empty() ? m_scene.cardAt(at) : node, wire, pin);
  Q_EMIT wireHovered(this, node.empty() ? flowAt(at) : std::nullopt, viewport()->mapToGlobal(viewportAt.toPoint()));
  const bool free = !pin && m_scene.cardAt(at).empty();
  m_scene.groups().setHovered(free ? m_scene.groups().headAt(at) : std::string(),
                              free ? m_scene.groups().commentAt(at) : std::string());
  viewport()->setCursor(m_spaceHeld ? Qt::OpenHandCursor : pin ? Qt::CrossCursor : Qt::ArrowCursor);
}

// Also where a pin takes the press: between cards that stand close, its reach covers the whole wire. On the pin itself
// its name is meant.
std::optional<Edge> NetworkView::flowAt(QPointF at) const {
  constexpr double kPinItself = 4.5;
  return m_scene.pinAt(at, kPinItself) ? std::nullopt : m_scene.wireAt(at, kWireReach / zoom());
}

std::optional<PinHit> NetworkView::pinUnder(QPointF at) const {
  return zoom() >= 0.4 ? m_scene.pinAt(at, std::min(kPinReach, kPinReach / zoom())) : std::nullopt;
}

// A view asks the items of its scene for tooltips and closes any other: what a pin is called is shown here, but on its
// wire, where what flows there is shown.
bool NetworkView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave && m_gesture == Gesture::none) {
    m_scene.setHovered({}, std::nullopt, std::nullopt);
    Q_EMIT wireHovered(this, std::nullopt, {});
  }
  if (event->type() != QEvent::ToolTip) return QGraphicsView::viewportEvent(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const QPointF at = mapToScene(help->pos());
  const auto pin = m_gesture == Gesture::none && !m_wiring && !flowAt(at) ? pinUnder(at) : std::nullopt;
  const Node* owner = pin ? m_scene.node(pin->end.node) : nullptr;
  const NodePorts ports = owner ? portsOf(m_scene.document().project(), *owner) : NodePorts();
  QString tip;
  if (owner)
    for (const Port& port : pin->output ? ports.outputs : ports.inputs)
      if (port.key == pin->end.port)
        tip = QString::fromStdString(port.label + (port.help.empty() ? "" : ": " + port.help));
  if (!owner && m_gesture == Gesture::none && isRecorded(m_scene.costKind()))
    if (const RecordedFigures::Node* const recorded = m_scene.recorded(m_scene.cardAt(at))) tip = recorded->words;
  const int reach = static_cast<int>(std::ceil(kPinReach));
  QToolTip::showText(help->globalPos(), tip, viewport(),
                     QRect(help->pos() - QPoint(reach, reach), 2 * QSize(reach, reach)));
  return true;
}

void NetworkView::wheelEvent(QWheelEvent* event) {
  if (m_addMenu->isOpen()) return;
  m_revealed.clear();
  const double steps = event->angleDelta().y() / 120.0;
  if (steps == 0) {
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() - event->angleDelta().x());
    return;
  }
  if (event->modifiers() & Qt::ShiftModifier) {
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() - event->angleDelta().y());
    return;
  }
  // Where a person wants the wheel to scroll, Ctrl makes it zoom.
  if (!m_wheelZooms && !(event->modifiers() & Qt::ControlModifier)) {
    verticalScrollBar()->setValue(verticalScrollBar()->value() - event->angleDelta().y());
    return;
  }
  setZoom(zoom() * std::pow(1.15, steps), event->position());
}

// Moving cards: shown at once, one command at the end.

void NetworkView::beginMove() {
  m_gesture = Gesture::move;
  m_bubble->refresh();
  m_movingFrom.clear();
  for (const std::string& id : m_scene.pickedNodes()) {
    const Node* node = m_scene.node(id);
    m_movingFrom[id] = {node->x, node->y};
  }
  // Comments that are picked, and those inside the frames of picked groups.
  std::set<std::string> comments = m_scene.picked().comments;
  for (const std::string& group : m_scene.picked().groups) {
    const std::vector<std::string> inside = commentsIn(m_scene.network(), groupFrame(m_scene.network(), group));
    comments.insert(inside.begin(), inside.end());
  }
  for (const std::string& id : comments)
    if (const Comment* comment = m_scene.network().comment(id)) m_movingFrom[id] = {comment->x, comment->y};
}

void NetworkView::moveBy(QPointF delta) {
  // The pressed card lands on the grid; the others keep their distance to it.
  const QPointF from = m_movingFrom[m_pressedNode];
  const QPointF step = snapped(from + delta) - from;
  std::map<std::string, QPointF> places;
  for (const auto& [id, place] : m_movingFrom) places[id] = place + step;
  m_scene.preview(places);
  m_dropEdge.reset();
  if (m_movingFrom.size() == 1) {
    const NetworkIndex& index = m_scene.document().index(m_scene.networkName());
    const auto at = index.node(m_pressedNode);
    const bool wired = at == NetworkIndex::kNone || !index.into(at).empty() || !index.outOf(at).empty();
    const Node* node = m_scene.node(m_pressedNode);
    if (!wired && node != nullptr)
      m_dropEdge = wireUnder(places.begin()->second, node->unit.empty() ? node->layer : node->unit);
  }
  m_scene.setTarget(m_dropEdge);
  m_scene.groups().setDropTarget(m_dropEdge ? std::string() : joinedGroup());
  placeOverlays();
}

void NetworkView::finishMove() {
  const std::map<std::string, QPointF> places = m_scene.previewed();
  const std::string group = joinedGroup();
  m_scene.setTarget({});
  m_scene.groups().setDropTarget({});
  ProjectDocument& document = m_scene.document();
  // The cards stay where they are seen until the document has them there: nothing goes back and forth.
  if (m_dropEdge)
    document.insertInto(m_scene.networkName(), m_pressedNode, *m_dropEdge, places.at(m_pressedNode));
  else
    document.moveNodes(m_scene.networkName(), places, 0, group);
  m_scene.preview({});
  m_dropEdge.reset();
}

void NetworkView::finishBand() {
  Picked picked = m_before;
  for (const std::string& id : m_scene.nodesIn(m_band)) picked.nodes.insert(id);
  for (const std::string& id : m_scene.foldedIn(m_band)) picked.groups.insert(id);
  if (picked.nodes.empty())
    for (const Edge& edge : m_scene.edgesIn(m_band)) picked.wires.insert(edge);
  m_scene.pick(std::move(picked));
}

void NetworkView::cancelGesture() {
  if (m_wiring) endWire();
  if (m_gesture == Gesture::move || m_gesture == Gesture::resize) m_scene.preview({});
  m_resized.reset();
  m_scene.groups().setDropTarget({});
  m_scene.setTarget({});
  m_dropEdge.reset();
  m_dropGhost.reset();
  m_gesture = Gesture::none;
  m_hint->clear();
  viewport()->update();
}

// The wire into which a layer dropped here would go: one that it can stand in.
std::optional<Edge> NetworkView::wireUnder(QPointF at, const std::string& name) const {
  const Node coming = nodeCalled(m_scene.document().project(), name);
  const LayerDefinition* layer = findLayer(coming.layer);
  const NodePorts ports = portsOfLayer(name);
  if (ports.inputs.empty() || ports.outputs.empty() || (layer != nullptr && isTerminal(*layer))) return std::nullopt;
  const QRectF card(at.x() - kCardWidth / 4, at.y() - kCardHeight / 2, kCardWidth / 2, kCardHeight);
  const std::vector<Edge> edges = m_scene.edgesIn(card);
  if (edges.empty()) return std::nullopt;
  const auto nearest = m_scene.wireAt(at, 60);
  return nearest && std::find(edges.begin(), edges.end(), *nearest) != edges.end() ? nearest : edges.front();
}

// From the palette.

void NetworkView::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasFormat(QLatin1String(kLayerMime)))
    event->acceptProposedAction();
  else
    event->ignore();
}

void NetworkView::dragMoveEvent(QDragMoveEvent* event) {
  if (!event->mimeData()->hasFormat(QLatin1String(kLayerMime))) return event->ignore();
  const std::string layer = event->mimeData()->data(QLatin1String(kLayerMime)).toStdString();
  const QPointF at = snapped(mapToScene(event->position().toPoint()));
  m_dropEdge = wireUnder(at, layer);
  m_scene.setTarget(m_dropEdge);
  m_dropGhost = QRectF(at.x() - kCardWidth / 2, at.y() - kCardHeight / 2, kCardWidth, kCardHeight);
  viewport()->update();
  event->acceptProposedAction();
}

void NetworkView::dragLeaveEvent(QDragLeaveEvent*) {
  cancelGesture();
}

void NetworkView::dropEvent(QDropEvent* event) {
  const std::string layer = event->mimeData()->data(QLatin1String(kLayerMime)).toStdString();
  AddRequest request{.network = m_scene.networkName(), .layer = layer, .at = mapToScene(event->position().toPoint())};
  request.into = wireUnder(snapped(request.at), layer);
  cancelGesture();
  const std::string id = add(request);
  if (id.empty()) return event->ignore();
  event->acceptProposedAction();
  m_scene.pickNode(id);
  setFocus(Qt::MouseFocusReason);
}

}  // namespace loom
