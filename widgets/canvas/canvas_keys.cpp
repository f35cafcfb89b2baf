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
#include "widgets/canvas/unit_view.h"
#include "widgets/document/card_geometry.h"
#include "widgets/document/network_edits.h"
#include "widgets/document/unit_edits.h"
#include "widgets/document/unit_entry.h"

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
  if (keyWire(event) || groupKey(event) || commandKey(event)) {
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
      if (m_scene.document().isArranging()) return m_scene.document().cancelArranging();
      if (m_gesture != Gesture::none || m_hint->isVisible()) return cancelGesture();
      if (m_unitView != nullptr && m_unitView->isOpen()) return m_unitView->close();
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
      const bool sideways = event->key() == Qt::Key_Left || event->key() == Qt::Key_Right;
      if (shift) return distributeSelection(sideways ? Qt::Horizontal : Qt::Vertical);
      return alignSelection(event->key() == Qt::Key_Left ? Qt::AlignLeft : event->key() == Qt::Key_Right ? Qt::AlignRight
                            : event->key() == Qt::Key_Up ? Qt::AlignTop : Qt::AlignBottom);
    }
    if (control) {
      walk(static_cast<Qt::Key>(event->key()));
      return;
    }
    if (m_scene.picked().nodes.empty() && m_scene.picked().comments.empty()) {
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
  if (!m_spaceUsed) toggleInPlace();  // Space alone; with a drag it moved the view
}

void NetworkView::nudge(QPointF delta) {
  beginMove();
  m_gesture = Gesture::none;
  std::map<std::string, QPointF> places;
  for (const auto& [id, from] : m_movingFrom) places[id] = from + delta;
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
  const Node* here = m_scene.node(key == Qt::Key_Down ? picked.back() : picked.front());
  std::string next;
  double best = 1e18;
  const auto consider = [&](const Node* node, double cost) {
    if (node == nullptr || node == here || cost >= best) return;
    best = cost;
    next = node->id;
  };
  if (key == Qt::Key_Down || key == Qt::Key_Up) {
    const NetworkIndex& index = m_scene.document().index(m_scene.networkName());
    const auto at = index.node(here->id);
    for (const auto wire : key == Qt::Key_Down ? index.outOf(at) : index.into(at)) {
      const auto end = key == Qt::Key_Down ? index.to(wire) : index.from(wire);
      if (end == NetworkIndex::kNone) continue;
      const Node& other = network.nodes[end];
      consider(&other, std::abs(other.x - here->x) + std::abs(other.y - here->y) / 8);
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
  if (!picked.nodes.empty() || !picked.comments.empty()) {
    document.removeThings(m_scene.networkName(), {picked.nodes.begin(), picked.nodes.end()}, {picked.comments.begin(), picked.comments.end()}, heal);
  } else if (!picked.wires.empty()) {
    document.removeWires(m_scene.networkName(), {picked.wires.begin(), picked.wires.end()});
  }
}

void NetworkView::copy() {
  std::vector<std::string> ids = m_scene.pickedNodes();
  ids.insert(ids.end(), m_scene.picked().comments.begin(), m_scene.picked().comments.end());
  const std::string text = m_scene.document().copyNodes(m_scene.networkName(), ids);
  if (text.empty()) return;
  auto* data = new QMimeData;
  data->setData(QLatin1String(kNodesMime), QByteArray::fromStdString(text));
  data->setText(QString::fromStdString(text));
  QApplication::clipboard()->setMimeData(data);
  m_pastes = 0;
}

void NetworkView::cut() {
  copy();
  if (m_scene.picked().comments.empty()) m_scene.document().cutNodes(m_scene.networkName(), m_scene.pickedNodes());
  else removeSelection(false);
}

void NetworkView::paste() {
  const QMimeData* data = QApplication::clipboard()->mimeData();
  if (data == nullptr) return;
  const std::string text = data->hasFormat(QLatin1String(kNodesMime)) ? data->data(QLatin1String(kNodesMime)).toStdString() : data->text().toStdString();
  const QPoint pointer = viewport()->mapFromGlobal(QCursor::pos());
  const QPointF at = viewport()->rect().contains(pointer) && viewport()->underMouse() ? mapToScene(pointer) : middle();
  const std::vector<std::string> ids = m_scene.document().pasteNodes(m_scene.networkName(), text, at);
  Picked came;
  for (const std::string& id : ids) (m_scene.network().comment(id) != nullptr ? came.comments : came.nodes).insert(id);
  if (!ids.empty()) m_scene.pick(std::move(came));
  else m_hint->say(tr("The clipboard holds no nodes"), mapFromScene(at));
}

void NetworkView::duplicate() {
  const std::vector<std::string> ids = m_scene.document().duplicateNodes(m_scene.networkName(), m_scene.pickedNodes());
  if (!ids.empty()) m_scene.pick({{ids.begin(), ids.end()}, {}});
}

void NetworkView::selectAll() {
  Picked picked;
  for (const Node& node : m_scene.network().nodes) picked.nodes.insert(node.id);
  for (const Comment& comment : m_scene.network().comments) picked.comments.insert(comment.id);
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

void NetworkView::alignSelection(Qt::Alignment where) {
  if (m_scene.picked().nodes.size() < 2) return;
  const QRectF around = m_scene.cardsRect(m_scene.picked().nodes);
  std::map<std::string, QPointF> places;
  for (const std::string& id : m_scene.pickedNodes()) {
    const CardItem* card = m_scene.card(id);
    if (card == nullptr) continue;
    QRectF rect = card->sceneCard();
    if (where & Qt::AlignLeft) rect.moveLeft(around.left());
    if (where & Qt::AlignRight) rect.moveRight(around.right());
    if (where & Qt::AlignHCenter) rect.moveCenter({snapped(around.center().x()), rect.center().y()});
    if (where & Qt::AlignTop) rect.moveTop(around.top());
    if (where & Qt::AlignBottom) rect.moveBottom(around.bottom());
    if (where & Qt::AlignVCenter) rect.moveCenter({rect.center().x(), snapped(around.center().y())});
    places[id] = rect.center();
  }
  m_scene.document().moveNodes(m_scene.networkName(), places);
}

std::string NetworkView::addLayer(const std::string& layer) {
  const std::vector<std::string> picked = m_scene.pickedNodes();
  AddRequest request{.network = m_scene.networkName(), .layer = layer, .at = middle()};
  const Project& project = m_scene.document().project();
  const Node coming = nodeCalled(project, layer);
  const Node* after = picked.empty() ? nullptr : m_scene.node(picked.back());
  const LayerDefinition* before = after == nullptr ? nullptr : findLayer(after->layer);
  const bool leadsOn = before != nullptr ? !isTerminal(*before) : after != nullptr && !portsOf(project, *after).outputs.empty();
  const bool wires = leadsOn && !portsOf(project, coming).inputs.empty();
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
    const CardItem* last = picked.empty() ? nullptr : m_scene.card(picked.back());
    at = last == nullptr ? viewport()->rect().center() : mapFromScene(last->pos() + QPointF(kCardWidth / 2 + 24, 0));
  }
  const QPointF scene = mapToScene(at);
  // With a node selected the layer follows it; without, it lands where the pointer is.
  offerLayers(at, picked.size() == 1 ? picked.front() : std::string(), [](const Entry&) { return true; }, [this, scene](const std::string& layer) {
    if (m_scene.picked().nodes.size() == 1) {
      addLayer(layer);
      return;
    }
    const std::string id = m_scene.document().addNode({.network = m_scene.networkName(), .layer = layer, .at = scene});
    if (!id.empty()) reveal(id);
  });
}

void NetworkView::offerLayers(QPoint at, const std::string& after, const std::function<bool(const Entry&)>& fits,
                              const std::function<void(const std::string&)>& chosen) {
  std::vector<const Entry*> entries;
  for (const LayerDefinition* layer : layerTable())
    if (fits(layer->entry)) entries.push_back(&layer->entry);
  // Units behind them: those that do not hold this drawing themselves.
  const Project& project = m_scene.document().project();
  m_units.clear();
  for (const Network& unit : project.units)
    if (!contains(project, unit.name, m_scene.networkName())) m_units.push_back(unitEntry(project, unit));
  for (const Entry& unit : m_units)
    if (fits(unit)) entries.push_back(&unit);
  const CardItem* card = after.empty() ? nullptr : m_scene.card(after);
  m_addMenu->popup(at, std::move(entries), likelyAfter(card == nullptr ? std::string() : card->content().category.toStdString()), chosen);
}

}  // namespace loom
