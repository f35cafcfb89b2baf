// NetworkView: keys, and what menus and keys share.
#include <algorithm>
#include <cmath>

#include <QApplication>
#include <QClipboard>
#include <QCursor>
#include <QKeyEvent>
#include <QMimeData>
#include <QPointer>

#include "widgets/canvas/add_menu.h"
#include "widgets/canvas/network_view.h"
#include "widgets/canvas/overlays.h"
#include "widgets/document/card_geometry.h"
#include "widgets/document/network_edits.h"

namespace loom {

namespace {

bool isArrow(int key) { return key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Up || key == Qt::Key_Down; }

QPointF direction(int key) {
  switch (key) {
    case Qt::Key_Left: return {-1, 0};
    case Qt::Key_Right: return {1, 0};
    case Qt::Key_Up: return {0, -1};
    default: return {0, 1};
  }
}

}  // namespace

// Plain keys that a window could have as shortcuts belong to the canvas while it has the focus.
bool NetworkView::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool plain = !(key->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier));
    const bool command = isArrow(key->key()) || key->matches(QKeySequence::Copy) || key->matches(QKeySequence::Cut) ||
                         key->matches(QKeySequence::Paste) || key->matches(QKeySequence::SelectAll);
    const bool functionKey = key->key() >= Qt::Key_F1 && key->key() <= Qt::Key_F35 && key->key() != Qt::Key_F2;
    if ((plain && !functionKey && key->key() != Qt::Key_Question) || command) {
      event->accept();
      return true;
    }
  }
  return QGraphicsView::event(event);
}

void NetworkView::focusInEvent(QFocusEvent* event) {
  QGraphicsView::focusInEvent(event);
  const bool byKey = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
  if (byKey && m_scene.picked().empty() && !m_scene.network().nodes.empty()) m_scene.pickNode(m_scene.network().nodes.front().id);
}

void NetworkView::keyPressEvent(QKeyEvent* event) {
  if (keyWire(event) || commandKey(event)) {
    event->accept();
    return;
  }
  const bool control = event->modifiers() & Qt::ControlModifier, shift = event->modifiers() & Qt::ShiftModifier;
  const bool alt = event->modifiers() & Qt::AltModifier;
  switch (event->key()) {
    case Qt::Key_Space:
      if (!event->isAutoRepeat()) {
        m_spaceHeld = true;
        m_spaceUsed = false;
        viewport()->setCursor(Qt::OpenHandCursor);
      }
      return;
    case Qt::Key_Escape:
      if (m_gesture != Gesture::none || m_hint->isVisible()) return cancelGesture();
      if (!m_scene.picked().empty()) return m_scene.pick({});
      return event->ignore();
    case Qt::Key_Delete: return removeSelection(false);
    case Qt::Key_Backspace: return removeSelection(true);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (!control && !m_scene.picked().nodes.empty()) {
        Q_EMIT editRequested();
        return;
      }
      break;
    case Qt::Key_F2: Q_EMIT renameRequested(); return;
    case Qt::Key_Slash: Q_EMIT paletteRequested(); return;
    case Qt::Key_Insert: return openAddMenu();
    case Qt::Key_M:
      if (control) break;
      return setMapShown(!m_mapShown);
    case Qt::Key_W:
      if (control) break;
      return beginKeyWire();
    case Qt::Key_Plus:
    case Qt::Key_Equal: return zoomBy(1.25);
    case Qt::Key_Minus: return zoomBy(0.8);
    case Qt::Key_0:
      if (control || shift) break;
      return setZoom(1);
    default: break;
  }
  if (isArrow(event->key())) {
    if (alt && event->key() == Qt::Key_Left && m_scene.picked().nodes.size() < 2) return previousView();
    if (alt) {
      const Qt::Edge edge = event->key() == Qt::Key_Left ? Qt::LeftEdge : event->key() == Qt::Key_Right ? Qt::RightEdge
                            : event->key() == Qt::Key_Up ? Qt::TopEdge : Qt::BottomEdge;
      return alignSelection(edge);
    }
    if (control) {
      walk(static_cast<Qt::Key>(event->key()));
      return;
    }
    if (m_scene.picked().nodes.empty()) {
      const QPointF by = direction(event->key()) * 60;
      centerOn(middle() + by / zoom());
      return;
    }
    return nudge(direction(event->key()) * (shift ? 60 : kGrid));
  }
  event->ignore();
}

bool NetworkView::commandKey(QKeyEvent* event) {
  const bool control = event->modifiers() & Qt::ControlModifier, shift = event->modifiers() & Qt::ShiftModifier;
  if (event->matches(QKeySequence::Copy)) return copy(), true;
  if (event->matches(QKeySequence::Cut)) return cut(), true;
  if (event->matches(QKeySequence::Paste)) return paste(), true;
  if (event->matches(QKeySequence::SelectAll)) return selectAll(), true;
  if (control && shift && event->key() == Qt::Key_I) return invertSelection(), true;
  if (control && !shift && event->key() == Qt::Key_D) return duplicate(), true;
  if (control && !shift && event->key() == Qt::Key_L) return arrange(), true;
  if (!control && shift && event->key() == Qt::Key_A) return openAddMenu(), true;
  // Shift+1 types another character on most keyboards: the key's own code tells.
  const bool one = event->key() == Qt::Key_1 || event->key() == Qt::Key_Exclam;
  const bool two = event->key() == Qt::Key_2 || event->key() == Qt::Key_At || event->key() == Qt::Key_QuoteDbl;
  if (!control && shift && one) return fit(), true;
  if (!control && shift && two) return fitSelection(), true;
  return false;
}

void NetworkView::keyReleaseEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_Space || event->isAutoRepeat()) return QGraphicsView::keyReleaseEvent(event);
  m_spaceHeld = false;
  if (m_gesture != Gesture::pan) viewport()->unsetCursor();
}

void NetworkView::nudge(QPointF delta) {
  std::map<std::string, QPointF> places;
  for (const std::string& id : m_scene.pickedNodes()) {
    const Node* node = m_scene.network().find(id);
    places[id] = QPointF(node->x, node->y) + delta;
  }
  m_scene.document().moveNodes(m_scene.networkName(), places, m_nudges);
}

// Down and up along wires, left and right to the nearest card beside.
bool NetworkView::walk(Qt::Key key) {
  const std::vector<std::string> picked = m_scene.pickedNodes();
  const Network& network = m_scene.network();
  if (network.nodes.empty()) return false;
  if (picked.empty()) {
    reveal(network.nodes.front().id);
    return true;
  }
  const Node* here = network.find(key == Qt::Key_Down ? picked.back() : picked.front());
  std::string next;
  double best = 1e18;
  const auto consider = [&](const Node* node, double cost) {
    if (node == nullptr || node == here || cost >= best) return;
    best = cost;
    next = node->id;
  };
  if (key == Qt::Key_Down || key == Qt::Key_Up) {
    for (const Edge& edge : network.edges) {
      const bool along = key == Qt::Key_Down ? edge.from.node == here->id : edge.to.node == here->id;
      const Node* other = network.find(key == Qt::Key_Down ? edge.to.node : edge.from.node);
      if (along && other != nullptr) consider(other, std::abs(other->x - here->x) + std::abs(other->y - here->y) / 8);
    }
  } else {
    const double side = key == Qt::Key_Right ? 1 : -1;
    for (const Node& node : network.nodes)
      if ((node.x - here->x) * side > 1) consider(&node, std::abs(node.x - here->x) + 3 * std::abs(node.y - here->y));
  }
  if (next.empty()) return false;
  reveal(next);
  return true;
}

void NetworkView::removeSelection(bool heal) {
  const Picked picked = m_scene.picked();
  ProjectDocument& document = m_scene.document();
  if (!picked.nodes.empty()) {
    document.removeNodes(m_scene.networkName(), {picked.nodes.begin(), picked.nodes.end()}, heal);
  } else if (!picked.wires.empty()) {
    document.removeWires(m_scene.networkName(), {picked.wires.begin(), picked.wires.end()});
  }
}

void NetworkView::copy() {
  const std::string text = m_scene.document().copyNodes(m_scene.networkName(), m_scene.pickedNodes());
  if (text.empty()) return;
  auto* data = new QMimeData;
  data->setData(QLatin1String(kNodesMime), QByteArray::fromStdString(text));
  data->setText(QString::fromStdString(text));
  QApplication::clipboard()->setMimeData(data);
  m_pastes = 0;
}

void NetworkView::cut() {
  copy();
  m_scene.document().cutNodes(m_scene.networkName(), m_scene.pickedNodes());
}

void NetworkView::paste() {
  const QMimeData* data = QApplication::clipboard()->mimeData();
  if (data == nullptr) return;
  const std::string text = data->hasFormat(QLatin1String(kNodesMime)) ? data->data(QLatin1String(kNodesMime)).toStdString() : data->text().toStdString();
  const QPoint pointer = viewport()->mapFromGlobal(QCursor::pos());
  const QPointF at = viewport()->rect().contains(pointer) && viewport()->underMouse() ? mapToScene(pointer) : middle();
  const std::vector<std::string> ids = m_scene.document().pasteNodes(m_scene.networkName(), text, at);
  if (!ids.empty()) m_scene.pick({{ids.begin(), ids.end()}, {}});
  else m_hint->say(tr("The clipboard holds no nodes"), mapFromScene(at));
}

void NetworkView::duplicate() {
  const std::vector<std::string> ids = m_scene.document().duplicateNodes(m_scene.networkName(), m_scene.pickedNodes());
  if (!ids.empty()) m_scene.pick({{ids.begin(), ids.end()}, {}});
}

void NetworkView::selectAll() {
  Picked picked;
  for (const Node& node : m_scene.network().nodes) picked.nodes.insert(node.id);
  m_scene.pick(std::move(picked));
}

void NetworkView::invertSelection() {
  Picked picked;
  for (const Node& node : m_scene.network().nodes)
    if (!m_scene.picked().nodes.contains(node.id)) picked.nodes.insert(node.id);
  m_scene.pick(std::move(picked));
}

void NetworkView::arrange() {
  // A large drawing takes its time beside the window: the view may be gone then.
  m_scene.document().arrange(m_scene.networkName(), [view = QPointer<NetworkView>(this)] {
    if (!view) return;
    const QRectF seen = view->mapToScene(view->viewport()->rect()).boundingRect();
    if (!seen.contains(view->m_scene.cardsRect())) view->fit();
  });
}

void NetworkView::alignSelection(Qt::Edge edge) {
  if (m_scene.picked().nodes.size() < 2) return;
  const QRectF around = m_scene.cardsRect(m_scene.picked().nodes);
  std::map<std::string, QPointF> places;
  for (const std::string& id : m_scene.pickedNodes()) {
    const CardItem* card = m_scene.card(id);
    QRectF rect = card->sceneCard();
    switch (edge) {
      case Qt::LeftEdge: rect.moveLeft(around.left()); break;
      case Qt::RightEdge: rect.moveRight(around.right()); break;
      case Qt::TopEdge: rect.moveTop(around.top()); break;
      case Qt::BottomEdge: rect.moveBottom(around.bottom()); break;
    }
    places[id] = rect.center();
  }
  m_scene.document().moveNodes(m_scene.networkName(), places);
}

std::string NetworkView::addLayer(const std::string& layer) {
  const std::vector<std::string> picked = m_scene.pickedNodes();
  AddRequest request{.network = m_scene.networkName(), .layer = layer, .at = middle()};
  const LayerDefinition* definition = findLayer(layer);
  const Node* after = picked.empty() ? nullptr : m_scene.network().find(picked.back());
  const LayerDefinition* before = after == nullptr ? nullptr : findLayer(after->layer);
  const bool wires = definition != nullptr && !definition->entry.inputs.empty() && before != nullptr && !isTerminal(*before);
  if (wires) request.after = after->id;
  else if (after != nullptr) request.at = QPointF(after->x + kCardWidth + 4 * kGrid, after->y);
  else if (!m_scene.network().nodes.empty() && picked.empty()) request.at = snapped(middle());
  const std::string id = m_scene.document().addNode(request);
  if (!id.empty()) reveal(id);
  return id;
}

void NetworkView::openAddMenu() {
  QPoint at = viewport()->mapFromGlobal(QCursor::pos());
  const std::vector<std::string> picked = m_scene.pickedNodes();
  const bool pointer = viewport()->rect().contains(at);
  if (!pointer) {
    at = picked.empty() ? viewport()->rect().center() : mapFromScene(m_scene.card(picked.back())->pos() + QPointF(kCardWidth / 2 + 24, 0));
  }
  const QPointF scene = mapToScene(at);
  // With a node selected the layer follows it; without, it lands where the pointer is.
  offerLayers(at, picked.size() == 1 ? picked.front() : std::string(), [](const LayerDefinition&) { return true; }, [this, scene](const std::string& layer) {
    if (m_scene.picked().nodes.size() == 1) {
      addLayer(layer);
      return;
    }
    const std::string id = m_scene.document().addNode({.network = m_scene.networkName(), .layer = layer, .at = scene});
    if (!id.empty()) reveal(id);
  });
}

void NetworkView::offerLayers(QPoint at, const std::string& after, const std::function<bool(const LayerDefinition&)>& fits,
                              const std::function<void(const std::string&)>& chosen) {
  std::vector<const LayerDefinition*> layers;
  for (const LayerDefinition* layer : layerTable())
    if (fits(*layer)) layers.push_back(layer);
  const CardItem* card = after.empty() ? nullptr : m_scene.card(after);
  m_addMenu->popup(at, std::move(layers), likelyAfter(card == nullptr ? std::string() : card->content().category.toStdString()), chosen);
}

}  // namespace loom
