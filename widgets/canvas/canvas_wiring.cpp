// NetworkView: drawing a wire, by mouse and by keys.
#include <QKeyEvent>
#include <algorithm>

#include "widgets/canvas/add_menu.h"
#include "widgets/canvas/network_view.h"
#include "widgets/canvas/overlays.h"
#include "widgets/document/network_edits.h"

namespace loom {

void NetworkView::beginWire(const PinHit& pin) {
  m_gesture = Gesture::wire;
  m_wiring = Wiring{pin, std::nullopt, pin.at, std::nullopt, {}, 0, false, {}};
  // An input that has a wire gives it into the hand: its other end stays.
  if (!pin.output) {
    const Drawing drawing = m_scene.drawing();
    const auto node = drawing.index.node(pin.end.node);
    std::vector<Edge> into;
    if (node != NetworkIndex::kNone)
      for (const auto wire : drawing.index.into(node))
        if (drawing.network.edges[wire].to == pin.end && std::abs(inputPin(drawing, wire).x() - pin.at.x()) < 1)
          into.push_back(drawing.network.edges[wire]);
    if (!into.empty()) {
      const Node* source = m_scene.node(into.front().from.node);
      m_wiring->taken = into.front();
      m_wiring->from = {
          into.front().from, true,
          source != nullptr ? outputPin(m_scene.document().project(), *source, into.front().from.port) : pin.at};
    }
  }
  m_wiring->rules =
      std::make_shared<const WireRules>(m_scene.drawing(), m_wiring->from.end, m_wiring->from.output, m_wiring->taken);
  m_scene.markLegal(m_wiring->from, m_wiring->taken);
  m_bubble->refresh();
  viewport()->setCursor(Qt::CrossCursor);
  viewport()->update();
}

Edge NetworkView::wireEdge(const PinHit& target) const {
  return m_wiring->from.output ? Edge{m_wiring->from.end, target.end} : Edge{target.end, m_wiring->from.end};
}

// The pin under the pointer, or of the card under it: the first that the wire may go to, free ones before taken ones.
std::optional<PinHit> NetworkView::wireTarget(QPointF at) const {
  const auto legal = [&](const PinHit& pin) {
    return pin.output != m_wiring->from.output && m_wiring->rules->allows(pin.end);
  };
  if (const auto pin = m_scene.pinAt(at, 16)) {
    if (legal(*pin)) return pin;
    if (pin->end.node != m_wiring->from.end.node) return std::nullopt;
  }
  const CardItem* card = m_scene.card(m_scene.nodeAt(at));
  if (card == nullptr) return std::nullopt;
  std::optional<PinHit> taken;
  for (const CardPin& pin : m_wiring->from.output ? card->inputs() : card->outputs()) {
    const PinHit hit{pin.end, !m_wiring->from.output, card->pos() + pin.at};
    if (!legal(hit)) continue;
    if (!pin.wired) return hit;
    if (!taken) taken = hit;
  }
  return taken;
}

void NetworkView::moveWire(QPointF at) {
  m_wiring->end = at;
  m_wiring->target = wireTarget(at);
  m_scene.setHovered({}, {}, m_wiring->target);
  // Over something that it cannot go to, the reason stands at the pointer.
  const auto pin = m_scene.pinAt(at, 16);
  const std::string node = pin ? pin->end.node : m_scene.nodeAt(at);
  if (m_wiring->target || node.empty() || (node == m_wiring->from.end.node && !pin)) {
    m_hint->clear();
  } else {
    QString why;
    const CardItem* card = m_scene.card(node);
    const bool sameSide = pin && pin->output == m_wiring->from.output;
    if (sameSide && node != m_wiring->from.end.node) {
      why = m_wiring->from.output ? tr("A wire goes from an output to an input: this is an output too")
                                  : tr("A wire goes from an output to an input: this is an input too");
    } else if (card != nullptr) {
      const auto& ends = m_wiring->from.output ? card->inputs() : card->outputs();
      Endpoint end{node, {}};
      if (pin && !sameSide)
        end = pin->end;
      else if (!ends.empty())
        end = ends.front().end;
      why = QString::fromStdString(m_wiring->rules->whyNot(end));
    }
    if (!why.isEmpty() && (!pin || pin->end != m_wiring->from.end)) m_hint->say(why, mapFromScene(at), 60000);
  }
  viewport()->update();
}

void NetworkView::dropWire() {
  if (!m_wiring) return;
  const QPointF at = m_wiring->end;
  if (m_wiring->target) {
    finishWire(*m_wiring->target);
    return;
  }
  const Wiring wiring = *m_wiring;
  const bool far = QLineF(mapFromScene(at), m_pressed).length() > 20;
  const bool onNothing = m_scene.nodeAt(at).empty() && !m_scene.pinAt(at, 16);
  const QString why = m_hint->isVisible() ? m_hint->text() : QString();
  endWire();
  if (!why.isEmpty()) {
    m_hint->say(why, mapFromScene(at));
    return;
  }
  if (!far) {  // a click on a pin selects its node
    m_scene.pickNode(wiring.taken ? wiring.taken->to.node : wiring.from.end.node);
    return;
  }
  if (!onNothing) return;
  if (wiring.taken) {
    m_scene.document().removeWires(m_scene.networkName(), {*wiring.taken});
    return;
  }
  const bool output = wiring.from.output;
  // The wire's own end says what fits behind it, whatever is selected.
  const std::string source = output ? wiring.from.end.node : std::string();
  const Analysis& analysis = m_scene.analysis();
  const auto facts = analysis.nodes.find(source);
  const loom::Shape* shape =
      facts != analysis.nodes.end() && facts->second.outputs.size() == 1 ? &facts->second.outputs.front() : nullptr;
  offerLayers(
      mapFromScene(at), source,
      [output, shape](const Entry& entry) {
        const LayerDefinition* layer =
            entry.category == "unit"
                ? nullptr
                : findLayer(entry.id);  // none for a unit: whether it takes the tensor is seen when it stands there
        if (!output) return !entry.outputs.empty() && (layer == nullptr || !isTerminal(*layer));
        return !entry.inputs.empty() && (shape == nullptr || layer == nullptr || mayFollow(*layer, *shape));
      },
      [this, at, wiring](const std::string& layer) {
        AddRequest request{.network = m_scene.networkName(), .layer = layer, .at = at};
        (wiring.from.output ? request.from : request.to) = wiring.from.end;
        const std::string id = add(request);
        if (!id.empty()) m_scene.pickNode(id);
      });
}

void NetworkView::finishWire(const PinHit& target) {
  const Edge edge = wireEdge(target);
  const auto taken = m_wiring->taken;
  endWire();
  ProjectDocument& document = m_scene.document();
  const Outcome outcome =
      taken ? document.rewire(m_scene.networkName(), *taken, edge) : document.addWire(m_scene.networkName(), edge);
  if (!outcome) m_hint->say(outcome.reason, mapFromScene(target.at));
}

void NetworkView::endWire() {
  m_wiring.reset();
  m_gesture = Gesture::none;
  m_hint->clear();
  m_scene.markLegal({});
  m_scene.setHovered({}, {}, {});
  m_bubble->refresh();
  viewport()->unsetCursor();
  viewport()->update();
}

QPainterPath NetworkView::wirePreview() const {
  const QPointF from = m_wiring->from.at, to = m_wiring->target ? m_wiring->target->at : m_wiring->end;
  QPainterPath path(from);
  path.lineTo(to);
  return path;
}

// W: from the selected node's output through all pins that a wire may go to, nearest first; arrows choose, Enter
// connects.
void NetworkView::beginKeyWire() {
  const std::vector<std::string> picked = m_scene.pickedNodes();
  const CardItem* card = picked.size() == 1 ? m_scene.card(picked.front()) : nullptr;
  if (card == nullptr) {
    m_hint->say(tr("Select one node to start a wire from"), viewport()->rect().center());
    return;
  }
  const bool output = !card->outputs().empty() && !isResult(card->content().role);
  const auto& pins = output ? card->outputs() : card->inputs();
  if (pins.empty()) return;
  const PinHit from{pins.front().end, output, card->pos() + pins.front().at};
  Wiring wiring{from, std::nullopt, from.at, std::nullopt, {}, 0, true, {}};
  wiring.rules = std::make_shared<const WireRules>(m_scene.drawing(), from.end, output);
  for (const Node& node : m_scene.network().nodes) {
    const CardItem* other = m_scene.card(node.id);
    if (other == nullptr) continue;
    std::set<std::string> ports;  // a port that takes several is one choice
    for (const CardPin& pin : output ? other->inputs() : other->outputs()) {
      const PinHit hit{pin.end, !output, other->pos() + pin.at};
      if (wiring.rules->allows(pin.end) && ports.insert(pin.end.port).second) wiring.choices.push_back(hit);
    }
  }
  if (wiring.choices.empty()) {
    m_hint->say(tr("There is no pin that %1 can be wired to").arg(QString::fromStdString(picked.front())),
                mapFromScene(from.at));
    return;
  }
  const auto distance = [&](const PinHit& pin) { return QLineF(pin.at, from.at).length(); };
  std::sort(wiring.choices.begin(), wiring.choices.end(),
            [&](const PinHit& a, const PinHit& b) { return distance(a) < distance(b); });
  wiring.target = wiring.choices.front();
  m_wiring = std::move(wiring);
  m_scene.markLegal(from);
  m_scene.setHovered({}, {}, m_wiring->target);
  m_hint->say(tr("Arrows choose a pin, Enter connects, Esc leaves"), mapFromScene(m_wiring->target->at), 60000);
  viewport()->update();
}

bool NetworkView::keyWire(QKeyEvent* event) {
  if (!m_wiring || !m_wiring->byKeys) return false;
  switch (event->key()) {
    case Qt::Key_Escape:
      endWire();
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      finishWire(*m_wiring->target);
      return true;
    case Qt::Key_Down:
    case Qt::Key_Right:
      m_wiring->choice = (m_wiring->choice + 1) % m_wiring->choices.size();
      break;
    case Qt::Key_Up:
    case Qt::Key_Left:
      m_wiring->choice = (m_wiring->choice + m_wiring->choices.size() - 1) % m_wiring->choices.size();
      break;
    default:
      return true;
  }
  m_wiring->target = m_wiring->choices[m_wiring->choice];
  m_scene.setHovered({}, {}, m_wiring->target);
  const CardItem* card = m_scene.card(m_wiring->target->end.node);
  if (card != nullptr)
    setAccessibleDescription(
        tr("wire to %1, %2").arg(card->content().title, QString::fromStdString(m_wiring->target->end.port)));
  ensureVisible(QRectF(m_wiring->target->at, QSizeF(1, 1)), 60, 60);
  viewport()->update();
  return true;
}

}  // namespace loom
