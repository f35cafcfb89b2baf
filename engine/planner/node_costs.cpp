#include "engine/planner/node_costs.h"

#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "engine/network/flatten.h"
#include "engine/network/pattern.h"
#include "engine/optimizers/optimizer.h"
#include "engine/passes/differentiate.h"
#include "engine/passes/passes.h"
#include "engine/planner/drawn_places.h"
#include "engine/program/builder.h"

namespace loom {
namespace {

constexpr double kOneFloat = 4;

double bytesOfTensor(const Tensor& tensor) {
  return static_cast<double>(tensor.shape.elements()) * static_cast<double>(bytesOf(tensor.type));
}

const UpdateSpec& updateOf(const Project& project, const std::string& network) {
  const auto& updates = project.training.updates;
  if (updates.empty()) throwError(ErrorCode::badProject, "training has no update, so no step can be predicted");
  const auto found =
      std::find_if(updates.begin(), updates.end(), [&](const UpdateSpec& each) { return each.network == network; });
  return found == updates.end() ? updates.front() : *found;
}

bool changes(const UpdateSpec& update, const Parameter& parameter) {
  return !parameter.isState &&
         (update.parameters.empty() ||
          std::any_of(update.parameters.begin(), update.parameters.end(),
                      [&](const std::string& pattern) { return matchesPattern(pattern, parameter.name); }));
}

double slotsOf(const UpdateSpec& update) {
  const OptimizerDefinition* definition = findOptimizer(update.optimizer.value("name", std::string()));
  return definition ? static_cast<double>(definition->make(Values(definition->entry, update.optimizer))->slots().size())
                    : 0;
}

// Bytes of the weights that the update changes, by the flat node that reads them.
using Weights = std::map<std::string, double>;

// Costs of one step by flat node, of a program with its backward part.
std::map<std::string, NodeCost> costsOf(const Program& program, const UpdateSpec& update, std::int64_t passes,
                                        const ProcessorModel& processor, Weights& weights) {
  std::map<std::string, NodeCost> costs;
  const double operations = processor.operations * processor.threads,
               bandwidth = processor.bandwidth * processor.threads;
  std::vector<const std::string*> madeBy(program.tensors.size(), nullptr);  // forward
  std::map<std::string, const std::string*> readBy;                         // a parameter: the first node that reads it
  std::set<TensorId> kept;
  for (const Operation& operation : program.operations) {
    double bytes = 0;
    for (const auto* ids : {&operation.inputs, &operation.outputs})
      for (const TensorId id : *ids)
        if (id != kNoTensor) bytes += bytesOfTensor(program.tensor(id));
    const double work = operation.op->multiplyAdds
                            ? 2 * operation.op->multiplyAdds(program.specs(operation.inputs),
                                                             program.specs(operation.outputs), operation.attributes)
                            : 0;
    costs[operation.origin].seconds +=
        static_cast<double>(passes) * (std::max(work / operations, bytes / bandwidth) + processor.stage);
    for (const TensorId id : operation.inputs) {
      if (id == kNoTensor) continue;
      const Tensor& tensor = program.tensor(id);
      if (tensor.role == TensorRole::parameter || tensor.role == TensorRole::state)
        readBy.emplace(tensor.name, &operation.origin);
      if (operation.backward && madeBy[static_cast<std::size_t>(id)]) kept.insert(id);
    }
    if (!operation.backward)
      for (const TensorId id : operation.outputs)
        if (id != kNoTensor && program.tensor(id).role == TensorRole::intermediate)
          madeBy[static_cast<std::size_t>(id)] = &operation.origin;
  }
  for (const TensorId id : kept)
    costs[*madeBy[static_cast<std::size_t>(id)]].activations += bytesOfTensor(program.tensor(id));
  for (auto& [origin, cost] : costs) cost.memory = cost.activations;
  for (const Tensor& tensor : program.tensors)
    if (tensor.role == TensorRole::input) costs[tensor.name].memory += bytesOfTensor(tensor);
  const double slots = slotsOf(update);
  for (const Parameter& parameter : program.parameters) {
    const auto reader = readBy.find(parameter.name);
    if (reader == readBy.end()) continue;
    NodeCost& cost = costs[*reader->second];
    const double bytes = static_cast<double>(parameter.shape.elements()) * kOneFloat;
    const bool changed = changes(update, parameter);
    cost.memory += bytes * (parameter.isState ? 1 : 2 + (changed ? slots : 0));
    // The update reads weight, gradient and slots and writes all but the gradient.
    if (changed) cost.seconds += bytes * (3 + 2 * slots) / bandwidth / update.every;
    if (changed) weights[*reader->second] += bytes;
  }
  return costs;
}

// In place of the roofline's: `known` is by flat node. What it says of nodes that are not here is no node's.
void takeTimes(std::map<std::string, NodeCost>& costs, const Weights& weights, const NodeTimes& known) {
  double rest = known.rest, bytes = 0;
  for (auto& [node, cost] : costs) cost.seconds = 0;
  for (const auto& [node, seconds] : known.nodes) {
    const auto found = costs.find(node);
    (found == costs.end() ? rest : found->second.seconds) += seconds;
  }
  for (const auto& [node, each] : weights) bytes += each;
  if (bytes > 0)
    for (const auto& [node, each] : weights) costs[node].seconds += rest * each / bytes;
  else
    for (auto& [node, cost] : costs) cost.seconds += rest / static_cast<double>(costs.size());
}

// Of all updates that run the network.
NodeTimes timesOf(const Project& project, const std::string& network, const std::vector<NodeTimes>& predicted) {
  NodeTimes all;
  const auto& updates = project.training.updates;
  for (std::size_t i = 0; i < std::min(updates.size(), predicted.size()); ++i) {
    if (updates[i].network != network) continue;
    for (const auto& [node, seconds] : predicted[i].nodes) all.nodes[node] += seconds;
    all.rest += predicted[i].rest;
  }
  return all;
}

}  // namespace

void NodeCost::add(const NodeCost& other) {
  activations += other.activations;
  memory += other.memory;
  seconds += other.seconds;
  measured += other.measured;
}

StepPlan::StepPlan(const Project& project, const Network& drawing, const ProcessorModel& processor,
                   const std::map<std::string, double>& measured, const std::vector<NodeTimes>& predicted) {
  const Network* const around = networkAround(project, drawing.name);
  if (!around) throwError(ErrorCode::badProject, "no network uses the unit '{}'", drawing.name);
  m_network = around->name;
  m_flat = flatten(project, *around);
  if (!m_flat.problems.empty()) throw Error(ErrorCode::badProject, m_flat.problems.front().message);
  const UpdateSpec& update = updateOf(project, around->name);
  const Values settings(settingsEntry(), project.training.settings);
  m_batch = settings.integer("batch");
  const std::int64_t passes =
      std::clamp<std::int64_t>(settings.integer("accumulate"), 1, std::max<std::int64_t>(1, m_batch));
  ProgramBuilder builder(
      lower(m_flat.network, {.batch = std::max<std::int64_t>(1, (m_batch + passes - 1) / passes), .training = true}));
  differentiate(builder, [&](const Parameter& parameter) { return changes(update, parameter); });
  Program program = builder.take();
  simplify(program);
  Weights weights;
  m_costs = costsOf(program, update, passes, processor, weights);
  if (!predicted.empty()) takeTimes(m_costs, weights, timesOf(project, m_network, predicted));
  for (const Node& node : m_flat.network.nodes)
    if (const auto found = measured.find(node.id); found != measured.end()) m_costs[node.id].measured = found->second;
  for (const auto& [origin, cost] : m_costs) m_step.add(cost);
}

NetworkCosts StepPlan::of(const Network& drawing, const std::vector<Use>& through) const {
  NetworkCosts result{
      .nodes = {}, .total = {}, .step = m_step, .network = m_network, .batch = m_batch, .measuredBy = {}};
  for (std::size_t i = 0; i < m_flat.network.nodes.size(); ++i) {
    const auto cost = m_costs.find(m_flat.network.nodes[i].id);
    const std::string node = cost == m_costs.end() ? std::string() : drawnPlace(m_flat, i, drawing.name, through);
    if (node.empty()) continue;
    result.nodes[node].add(cost->second);
    result.total.add(cost->second);
  }
  for (const auto& [node, cost] : result.nodes)
    result.largestMeasured = std::max(result.largestMeasured, cost.measured);
  return result;
}

NetworkCosts planNodes(const Project& project, const Network& drawing, const ProcessorModel& processor,
                       const std::map<std::string, double>& measured) {
  return StepPlan(project, drawing, processor, measured).of(drawing);
}

}  // namespace loom
