#include "engine/training/target_unit.h"

#include <algorithm>

#include "engine/data/columns/column_step.h"
#include "engine/data/prepare.h"
#include "engine/training/feed.h"

namespace loom {

OutputTarget targetOf(const Network& network, const std::string& node) {
  OutputTarget target;
  for (const Edge& edge : network.edges) {
    const Node* end = network.find(edge.to.node);
    const LayerDefinition* layer = end ? findLayer(end->layer) : nullptr;
    if (edge.from.node != node || !layer || !isResult(layer->role)) continue;
    if (layer->entry.id == "SoftmaxCrossEntropy") target.softmax = true;
    if (layer->entry.id == "BinaryCrossEntropy") {
      target.chance = true;
      if (Values(layer->entry, end->values).text("from") == "logits") target.unary = "sigmoid";
    }
    for (const Edge& other : network.edges) {
      const Node* input = network.find(other.from.node);
      if (other.to.node != edge.to.node || other.from.node == node || !input ||
          roleOf(input->layer) != LayerRole::input || !target.variable.empty())
        continue;
      target.variable = Feed::variableOf(network, input->id);
    }
  }
  return target;
}

TargetUnit::TargetUnit(const Variable& variable, const std::vector<Json>& prepare)
    : m_columns(meaningOf(columnStepsOf(prepare), variable.name)) {
  const std::vector<Json> steps = sampleStepsOf(prepare);
  const bool touched = std::any_of(steps.begin(), steps.end(),
                                   [&](const Json& step) { return appliesTo(step, prepareStep(step), variable); });
  if (!touched) return;
  const Preparation preparation(variable, prepare, false, 0);
  m_scale = preparation.scale();
  m_shift = preparation.shift();
  const SampleLayout layout = layoutOf(variable, preparation.shape());
  m_inner = layout.planes == layout.channels ? preparation.shape().elements() / layout.planes : 1;
}

void TargetUnit::restore(std::span<float> values) const {
  for (std::size_t i = 0; i < values.size() && !m_scale.empty(); ++i) {
    const std::size_t channel = i / static_cast<std::size_t>(m_inner) % m_scale.size();
    if (m_scale[channel] != 0) values[i] = (values[i] - m_shift[channel]) / m_scale[channel];
  }
  restoreColumns(values);
}

void TargetUnit::prepare(std::span<float> values) const {
  for (std::size_t i = 0; i < values.size() && !m_scale.empty(); ++i) {
    const std::size_t channel = i / static_cast<std::size_t>(m_inner) % m_scale.size();
    values[i] = values[i] * m_scale[channel] + m_shift[channel];
  }
}

void TargetUnit::restoreColumns(std::span<float> values) const {
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(m_columns[i % m_columns.size()].inUnits(values[i]));
}

std::optional<std::vector<UnitStep>> TargetUnit::steps(std::int64_t elements) const {
  using Kind = UnitStep::Kind;
  const auto count = static_cast<std::size_t>(elements);
  std::vector<UnitStep> steps;
  const auto linear = [&steps, count]() -> UnitStep& {
    if (steps.empty() || steps.back().kind != Kind::linear)
      steps.push_back({Kind::linear, std::vector<double>(count, 1), std::vector<double>(count, 0)});
    return steps.back();
  };
  if (!m_scale.empty()) {
    UnitStep& step = linear();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t channel = i / static_cast<std::size_t>(m_inner) % m_scale.size();
      if (m_scale[channel] == 0) continue;
      step.by[i] = 1.0 / m_scale[channel];
      step.add[i] = -static_cast<double>(m_shift[channel]) / m_scale[channel];
    }
  }
  const std::size_t links = m_columns.front().links.size();
  for (std::size_t link = 0; link < links; ++link) {
    for (std::size_t i = 0; i < count; ++i) {
      const TargetMeaning& column = m_columns[i % m_columns.size()];
      if (column.links.size() != links || column.links[link].kind != m_columns.front().links[link].kind) return {};
      const TargetMeaning::Link& back = column.links[link];
      if (back.kind != TargetMeaning::Link::Kind::linear) continue;
      UnitStep& step = linear();
      step.by[i] *= back.by;
      step.add[i] = step.add[i] * back.by + back.add;
    }
    if (m_columns.front().links[link].kind != TargetMeaning::Link::Kind::linear)
      steps.push_back({m_columns.front().links[link].kind == TargetMeaning::Link::Kind::exponential
                           ? Kind::exponential
                           : Kind::exponentialMinusOne,
                       {},
                       {}});
  }
  for (std::size_t i = 1; i < m_columns.size(); ++i)
    if (m_columns[i].links.size() != links) return {};
  std::erase_if(steps, [](const UnitStep& step) {
    return step.kind == Kind::linear &&
           std::all_of(step.by.begin(), step.by.end(), [](double by) { return by == 1; }) &&
           std::all_of(step.add.begin(), step.add.end(), [](double add) { return add == 0; });
  });
  return steps;
}

}  // namespace loom
