// NetworkScene: what stands on cards and beside wires.
#include <algorithm>

#include "widgets/canvas/card_content.h"
#include "widgets/canvas/network_scene.h"
#include "widgets/chart/format.h"
#include "widgets/document/card_geometry.h"
#include "widgets/document/unit_edits.h"

namespace loom {

// Words and pins; costs and faults are refreshFigures()'s.
void NetworkScene::refreshCard(NetworkIndex::Position at, CardItem& item) {
  const Drawing here = seen();
  const Node& node = here.network.nodes[at];
  const std::string& id = node.id;
  const auto keepFigures = [&](CardContent content) {  // until the analysis is read anew
    content.share = item.content().share;
    content.bar = item.content().bar;
    content.step = item.content().step;
    content.cost = item.content().cost;
    content.errors = item.content().errors;
    content.warnings = item.content().warnings;
    return content;
  };
  if (const Group* group = m_shown ? network().group(id) : nullptr)
    return item.setContent(keepFigures(groupContent(network(), *group)), kCardWidth, foldedPins(node, false),
                           foldedPins(node, true));
  const QRectF rect = cardRect(node);
  const QPointF centre(node.x, node.y);
  std::vector<CardPin> inputs, outputs;
  const std::vector<PinSlot> in = inputSlots(here, at), out = outputSlots(here.project, node);
  const auto count = [&](const std::string& port, bool output) {
    const auto wires = output ? here.index.outOf(at) : here.index.into(at);
    return std::count_if(wires.begin(), wires.end(), [&](auto wire) {
      const Edge& edge = here.network.edges[wire];
      return (output ? edge.from : edge.to).port == port;
    });
  };
  for (std::size_t i = 0; i < in.size(); ++i)
    inputs.push_back({{id, in[i].port},
                      in[i].slot,
                      in[i].optional,
                      count(in[i].port, false) > in[i].slot,
                      QPointF(pinX(rect, i, in.size()), rect.top()) - centre});
  for (std::size_t i = 0; i < out.size(); ++i)
    outputs.push_back({{id, out[i].port},
                       0,
                       out[i].optional,
                       count(out[i].port, true) > 0,
                       QPointF(pinX(rect, i, out.size()), rect.bottom()) - centre});
  CardContent content = cardContent(m_document.project(), m_shown ? *this->node(id) : node);
  if (m_document.project().unit(m_name) != nullptr && isPortNode(node)) content.form = CardContent::Form::port;
  item.setContent(keepFigures(std::move(content)), rect.width(), std::move(inputs), std::move(outputs));
}

// The shape beside an output, at the side to which no wire leaves.
void NetworkScene::word(std::uint32_t number) {
  const Source& source = m_sources[number];
  bool right = false;
  const CardItem* from = nullptr;
  for (const std::size_t wire : source.wires) {
    if (m_ofNumber[wire].from == nullptr || m_ofNumber[wire].to == nullptr) continue;
    from = m_ofNumber[wire].from;
    right = right || turnsRight(m_wires->points(wire));
  }
  if (from == nullptr) return m_wires->setWords(number, std::nullopt);
  const QPointF at = from->pos() + (source.slot < from->outputs().size() ? from->outputs()[source.slot].at
                                                                         : QPointF(0, kCardHeight / 2));
  const QPointF below(0, from->content().form == CardContent::Form::unit ? kSheetsBelow : 0);  // where its sheets end
  m_wires->setWords(number, WireWords{labelAt(source.pin, at + below, right),
                                      source.shape ? shapeText(*source.shape) : QStringLiteral("?"),
                                      !source.shape || m_redPins.contains(source.pin)});
}

// What follows from the analysis: costs, faults, shapes.
void NetworkScene::refreshFigures() {
  const Drawing here = seen();
  const Node* use = m_use.node.empty() ? nullptr : m_document.node(m_use.drawing, m_use.node);
  m_ofUse = use != nullptr && use->unit == m_name;
  const Analysis& analysis = this->analysis();
  const CardFigures figures(m_document.project(), network(), analysis, m_costs, m_costKind);
  m_scale = isRecorded(m_costKind)           ? CostScale(m_costKind, m_recorded.largest[recordedIndex(m_costKind)])
            : CostScale::colours(m_costKind) ? CostScale(m_costs.largestMeasured)
                                             : CostScale();
  if (isRecorded(m_costKind) && m_recorded.nodes.empty()) m_scale = {};
  for (const auto& [id, facts] : analysis.nodes)
    if (CardItem* item = card(id)) {
      const double cost = figures.costOf(id, facts);
      showCost(*item, figures.share(cost), figures.bar(cost), cost);
    }
  std::set<std::string> faulty;
  for (const auto& [id, faults] : figures.faults) faulty.insert(id);
  for (const std::string& id : m_faulty)
    if (CardItem* item = card(id); item != nullptr && !faulty.contains(id)) item->setFaults({}, {});
  for (const auto& [id, faults] : figures.faults)
    if (CardItem* item = card(id)) item->setFaults(faults.errors, faults.warnings);
  m_faulty = std::move(faulty);

  // Red: the wire that a problem names, and wires into a node whose inputs should agree and do not.
  std::set<Edge> red;
  for (const Problem& problem : analysis.problems) {
    if (problem.severity != Severity::error || problem.network != m_name) continue;
    if (problem.edge) red.insert(*problem.edge);
    const auto at =
        problem.node.empty() || !problem.field.empty() ? NetworkIndex::kNone : here.index.node(problem.node);
    if (at == NetworkIndex::kNone || here.index.into(at).size() < 2) continue;
    std::set<std::vector<std::int64_t>> shapes;
    for (const auto wire : here.index.into(at))
      if (const auto shape = shapeOf(meantBy(wire).from)) shapes.insert(shape->extents());
    if (shapes.size() > 1)
      for (const auto wire : here.index.into(at)) red.insert(meantBy(wire));
  }
  std::set<Endpoint> redPins;
  for (const Edge& edge : red) redPins.insert(edge.from);
  // Both are sorted by the node: one walk.
  const auto byPin = [&](std::uint32_t a, std::uint32_t b) { return m_sources[a].pin < m_sources[b].pin; };
  const auto fresh = m_byPin.begin() + static_cast<std::ptrdiff_t>(m_sortedPins);
  std::sort(fresh, m_byPin.end(), byPin);
  std::inplace_merge(m_byPin.begin(), fresh, m_byPin.end(), byPin);
  m_sortedPins = m_byPin.size();
  auto facts = analysis.nodes.begin();
  for (const std::uint32_t number : m_byPin) {
    const Endpoint& pin = m_sources[number].pin;
    while (facts != analysis.nodes.end() && facts->first < pin.node) ++facts;
    Source& source = m_sources[number];
    const bool known =
        facts != analysis.nodes.end() && facts->first == pin.node && source.port < facts->second.outputs.size();
    const bool same =
        known == source.shape.has_value() && (!known || *source.shape == facts->second.outputs[source.port]);
    const bool wasRed = m_redPins.contains(pin), isRed = redPins.contains(pin);
    if (!same) source.shape = known ? std::optional(facts->second.outputs[source.port]) : std::nullopt;
    if (!same || wasRed != isRed) reword(number);
    if (!same || wasRed || isRed || !source.looked)
      for (const std::size_t wire : source.wires)
        m_wires->setLook(wire, {!known, red.contains(m_ofNumber[wire].meant)});
    source.looked = true;
  }
  m_redPins = std::move(redPins);
  refreshGroups(figures);
  route();
  Q_EMIT refreshed();
}

void NetworkScene::showCost(CardItem& item, double share, double bar, double cost) {
  if (!CostScale::colours(m_costKind)) return item.setCost(share, bar);
  if (isRecorded(m_costKind)) {
    const RecordedFigures::Node* const node = recorded(item.id());
    const std::size_t kind = recordedIndex(m_costKind);
    return item.setCost(0, 0, node ? m_scale.stepOf(node->values[kind]) : CostScale::kNone,
                        node ? node->cards[kind] : QString());
  }
  item.setCost(share, bar, m_scale.stepOf(cost), cost > 0 ? formatDuration(cost) : QString());
}

std::optional<Shape> NetworkScene::shapeOf(const Endpoint& end) const {
  const Analysis& analysis = this->analysis();
  const auto facts = analysis.nodes.find(end.node);
  const auto port = portOf(end);
  if (facts == analysis.nodes.end() || !port || *port >= facts->second.outputs.size()) return std::nullopt;
  return facts->second.outputs[*port];
}

// Among the outputs of its node, hidden or not; none for a port that it lacks.
std::optional<std::size_t> NetworkScene::portOf(const Endpoint& end) const {
  const Node* node = this->node(end.node);
  if (node == nullptr) return std::nullopt;
  const std::vector<PinSlot> outputs = outputSlots(m_document.project(), *node);
  const auto found =
      std::find_if(outputs.begin(), outputs.end(), [&](const PinSlot& slot) { return slot.port == end.port; });
  return found == outputs.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - outputs.begin()));
}

}  // namespace loom
