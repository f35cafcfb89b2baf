// NetworkView: keys, and what menus and keys share.
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QCursor>
#include <QKeyEvent>
#include <QMimeData>
#include <QPointer>
#include <algorithm>
#include <cmath>

#include "widgets/canvas/add_menu.h"
#include "widgets/canvas/network_view.h"
#include "widgets/canvas/overlays.h"
#include "widgets/canvas/unit_view.h"
#include "widgets/controls/commands.h"
#include "widgets/document/card_geometry.h"
#include "widgets/document/network_edits.h"
#include "widgets/document/unit_edits.h"
#include "widgets/document/unit_entry.h"
#include "widgets/library/own_layer_edits.h"
#include "widgets/library/own_layers.h"

namespace loom {

QString NetworkView::commandOf(const QKeyEvent& event) {
  for (const char* scope : {"network/canvas", "network"})
    if (const QAction* const command = commands().findByKeys(QLatin1String(scope), event))
      return Commands::idOf(*command);
  return {};
}

// The canvas's own keys, and plain ones of its page, are not the window's while it has the focus.
bool NetworkView::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool plain = !(key->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier));
    const bool always = key->key() == Qt::Key_Escape || (key->key() == Qt::Key_Space && plain) ||
                        (plain && m_wiring && m_wiring->byKeys);
    if (always || commands().findByKeys(QStringLiteral("network/canvas"), *key) != nullptr ||
        (plain && !commandOf(*key).isEmpty())) {
      event->accept();
      return true;
    }
  }
  return QGraphicsView::event(event);
}

void NetworkView::focusInEvent(QFocusEvent* event) {
  QGraphicsView::focusInEvent(event);
  const bool byKey = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
  if (byKey && m_scene.picked().empty() && !m_scene.network().nodes.empty())
    m_scene.pickNode(m_scene.network().nodes.front().id);
}

void NetworkView::keyPressEvent(QKeyEvent* event) {
  if (keyWire(event)) return event->accept();
  const QString command = commandOf(*event);
  if (event->key() == Qt::Key_Space && (command.isEmpty() || command == QLatin1String("network.in-place"))) {
    if (!event->isAutoRepeat()) {
      m_spaceHeld = true;
      m_spaceUsed = false;
      m_spaceOpens = !command.isEmpty();
      viewport()->setCursor(Qt::OpenHandCursor);
    }
    return;
  }
  if (event->key() == Qt::Key_Escape) {
    if (m_scene.document().isArranging()) return m_scene.document().cancelArranging();
    if (m_gesture != Gesture::none || m_hint->isVisible()) return cancelGesture();
    if (m_unitView != nullptr && m_unitView->isOpen()) return m_unitView->close();
    if (!m_scene.picked().empty()) return m_scene.pick({});
    return event->ignore();
  }
  if (command.isEmpty()) return event->ignore();
  event->accept();
  commands().press(command, this);
}

void NetworkView::editPicked() {
  const Picked& picked = m_scene.picked();
  if (picked.groups.size() == 1) return nameGroup(*picked.groups.begin());
  if (picked.comments.size() == 1 && picked.nodes.empty()) return editComment(*picked.comments.begin());
  if (const Node* use = pickedUnit()) {
    Q_EMIT tabRequested(QString::fromStdString(use->unit));
  } else if (!picked.nodes.empty()) {
    Q_EMIT editRequested();
  }
}

void NetworkView::renamePicked() {
  const Picked& picked = m_scene.picked();
  if (picked.groups.size() == 1) return nameGroup(*picked.groups.begin());
  if (picked.comments.size() == 1 && picked.nodes.empty()) return editComment(*picked.comments.begin());
  Q_EMIT renameRequested();
}

void NetworkView::moveSelection(QPointF direction, double step) {
  if (m_scene.picked().nodes.empty() && m_scene.picked().comments.empty())
    centerOn(middle() + direction * 60 / zoom());
  else
    nudge(direction * step);
}

void NetworkView::keyReleaseEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_Space || event->isAutoRepeat()) return QGraphicsView::keyReleaseEvent(event);
  m_spaceHeld = false;
  if (m_gesture != Gesture::pan) viewport()->unsetCursor();
  // Space alone; with a drag it moved the view.
  if (!m_spaceUsed && m_spaceOpens) commands().press(QStringLiteral("network.in-place"), this);
}

void NetworkView::nudge(QPointF delta) {
  beginMove();
  m_gesture = Gesture::none;
  std::map<std::string, QPointF> places;
  for (const auto& [id, from] : m_movingFrom) places[id] = from + delta;
  m_scene.document().moveNodes(m_scene.networkName(), places, m_nudges);
}

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
    document.removeThings(m_scene.networkName(), {picked.nodes.begin(), picked.nodes.end()},
                          {picked.comments.begin(), picked.comments.end()}, heal);
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
  if (m_scene.picked().comments.empty())
    m_scene.document().cutNodes(m_scene.networkName(), m_scene.pickedNodes());
  else
    removeSelection(false);
}

void NetworkView::paste() {
  const QMimeData* data = QApplication::clipboard()->mimeData();
  if (data == nullptr) return;
  const std::string text = data->hasFormat(QLatin1String(kNodesMime))
                               ? data->data(QLatin1String(kNodesMime)).toStdString()
                               : data->text().toStdString();
  const QPoint pointer = viewport()->mapFromGlobal(QCursor::pos());
  const QPointF at = viewport()->rect().contains(pointer) && viewport()->underMouse() ? mapToScene(pointer) : middle();
  const std::vector<std::string> ids = m_scene.document().pasteNodes(m_scene.networkName(), text, at);
  Picked came;
  for (const std::string& id : ids) (m_scene.network().comment(id) != nullptr ? came.comments : came.nodes).insert(id);
  if (!ids.empty())
    m_scene.pick(std::move(came));
  else
    m_hint->say(tr("The clipboard holds no nodes"), mapFromScene(at));
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
  const Node* after = picked.empty() ? nullptr : m_scene.node(picked.back());
  const LayerDefinition* before = after == nullptr ? nullptr : findLayer(after->layer);
  const bool leadsOn =
      before != nullptr ? !isTerminal(*before) : after != nullptr && !portsOf(project, *after).outputs.empty();
  const bool wires = leadsOn && !portsOfLayer(layer).inputs.empty();
  if (wires)
    request.after = after->id;
  else if (after != nullptr)
    request.at = QPointF(after->x + kCardWidth + 4 * kGrid, after->y);
  else if (!m_scene.network().nodes.empty() && picked.empty())
    request.at = snapped(middle());
  const std::string id = add(request);
  if (!id.empty()) reveal(id);
  return id;
}

void NetworkView::openAddMenu() {
  // From the menu at the pointer it comes where that one was, and stands free.
  if (m_menuAt) {
    return offerLayers(
        *m_menuAt, {}, [](const Entry&) { return true; },
        [this, at = *m_menuAt](const std::string& layer) {
          m_scene.pickNode(add({.network = m_scene.networkName(), .layer = layer, .at = mapToScene(at)}));
        });
  }
  QPoint at = viewport()->mapFromGlobal(QCursor::pos());
  const std::vector<std::string> picked = m_scene.pickedNodes();
  const bool pointer = viewport()->rect().contains(at);
  if (!pointer) {
    const CardItem* last = picked.empty() ? nullptr : m_scene.card(picked.back());
    at = last == nullptr ? viewport()->rect().center() : mapFromScene(last->pos() + QPointF(kCardWidth / 2 + 24, 0));
  }
  const QPointF scene = mapToScene(at);
  // With a node selected the layer follows it; without, it lands where the pointer is.
  offerLayers(
      at, picked.size() == 1 ? picked.front() : std::string(), [](const Entry&) { return true; },
      [this, scene](const std::string& layer) {
        if (m_scene.picked().nodes.size() == 1) {
          addLayer(layer);
          return;
        }
        const std::string id = add({.network = m_scene.networkName(), .layer = layer, .at = scene});
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
  // Those of one's own that the project has are among its units.
  if (m_ownLayers)
    for (const OwnLayer& own : m_ownLayers->layers())
      if (own.fault.isEmpty() && !isPresent(project, own)) m_units.push_back(own.entry);
  for (const Entry& unit : m_units)
    if (fits(unit)) entries.push_back(&unit);
  const CardItem* card = after.empty() ? nullptr : m_scene.card(after);
  m_addMenu->popup(at, std::move(entries),
                   likelyAfter(card == nullptr ? std::string() : card->content().category.toStdString()), chosen);
}

}  // namespace loom
