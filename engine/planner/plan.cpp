#include "engine/planner/plan.h"

#include <algorithm>
#include <optional>
#include <set>

#include "engine/base/error.h"
#include "engine/network/batch_stages.h"
#include "engine/network/flatten.h"
#include "engine/network/pattern.h"
#include "engine/network/product_choice.h"
#include "engine/optimizers/optimizer.h"
#include "engine/passes/differentiate.h"
#include "engine/passes/passes.h"
#include "engine/program/builder.h"
#include "engine/program/memory_plan.h"
#include "engine/training/methods/method.h"

namespace loom {
namespace {

constexpr std::int64_t kFloat = bytesOf(DataType::f32);

bool isWanted(const UpdateSpec& update, const Parameter& parameter) {
  if (parameter.isState) return false;
  return update.parameters.empty() ||
         std::any_of(update.parameters.begin(), update.parameters.end(),
                     [&](const std::string& pattern) { return matchesPattern(pattern, parameter.name); });
}

// Of each weight, besides.
int averagesOf(const Values& settings) {
  return settings.text("evaluated_weights") == "average" ? 1 : 0;
}

// The numbers that a rule keeps for each weight of a program; a rule with products other ones for some.
class RuleSlots {
 public:
  RuleSlots(const OptimizerDefinition& rule, const Json& optimizer, const Program& program) {
    const Values values(rule.entry, optimizer);
    m_slots = static_cast<int>(rule.make(values)->slots().size());
    if (!rule.products) return;
    m_products = rule.products(values);
    m_choice.emplace(*m_products, program);
  }
  int of(const Parameter& parameter) const {
    return m_choice && m_choice->takes(parameter) ? static_cast<int>(m_products->slots().size()) : m_slots;
  }
  // Numbers beside those, in shapes of their own.
  std::int64_t matricesOf(const Parameter& parameter) const {
    std::int64_t all = 0;
    if (m_choice && m_choice->takes(parameter))
      for (const ProductMatrix& matrix : m_products->matrices(parameter.shape)) all += matrix.shape.elements();
    return all;
  }

 private:
  int m_slots = 0;
  std::unique_ptr<ProductRule> m_products;
  std::optional<ProductChoice> m_choice;
};

const OptimizerDefinition& ruleOf(const Json& optimizer, std::string& name) {
  name = optimizer.is_object() && optimizer.contains("name") && optimizer["name"].is_string()
             ? optimizer["name"].get<std::string>()
             : std::string();
  const OptimizerDefinition* definition = findOptimizer(name);
  if (!definition) throwError(ErrorCode::badProject, "there is no optimizer '{}'", name);
  name = definition->entry.id;
  return *definition;
}

// Of running statistics: where a step has several passes, what they become stands beside them.
std::int64_t stateBytes(const Program& program, const Parameter& state) {
  const bool averaged = program.findTensor(state.name, TensorRole::parameterGradient) != kNoTensor;
  return state.shape.elements() * kFloat * (averaged ? 2 : 1);
}

}  // namespace

std::int64_t CostPlan::totalBytes() const {
  return weightBytes + gradientBytes + optimizerBytes + copyBytes + stateBytes + activationBytes + inputBytes +
         recordBytes + processBytes;
}

StepMemory rowMajorMemory(const Program& program) {
  StepMemory memory{.activations = static_cast<std::int64_t>(planMemory(program).arenaBytes)};
  for (const Tensor& tensor : program.tensors)
    if (tensor.role == TensorRole::input)
      memory.inputs += tensor.shape.elements() * static_cast<std::int64_t>(bytesOf(tensor.type));
  return memory;
}

CostPlan planCosts(const Program& program, const StepMemory& memory,
                   const std::function<int(const Parameter&)>& slotsOf, std::int64_t passes) {
  CostPlan plan;
  for (const Parameter& parameter : program.parameters) {
    const std::int64_t elements = parameter.shape.elements();
    if (parameter.isState) {
      plan.stateBytes += stateBytes(program, parameter);
      continue;
    }
    plan.parameters += elements;
    plan.optimizerBytes += elements * kFloat * slotsOf(parameter);
  }
  plan.weightBytes = plan.gradientBytes = plan.parameters * kFloat;
  plan.activationBytes = memory.activations;
  plan.inputBytes = memory.inputs;
  plan.recordBytes = memory.record;
  plan.keptActivationBytes = std::max(memory.keptActivations, memory.activations);
  plan.operationsAgain = memory.operationsAgain;
  plan.againMultiplyAdds = memory.againMultiplyAdds * static_cast<double>(passes);
  plan.forwardMultiplyAdds = program.multiplyAdds(false) * static_cast<double>(passes);
  plan.backwardMultiplyAdds = program.multiplyAdds(true) * static_cast<double>(passes);
  return plan;
}

ProjectPlan planTraining(const Project& project, const MemoryOf& memoryOf) {
  ProjectPlan plan;
  std::set<std::string> counted;
  const Values settings(settingsEntry(), project.training.settings);
  const FlatNetworks networks(project);
  for (const UpdateSpec& update : project.training.updates) {
    const Network* network = networks.find(update.network);
    if (!network) throwError(ErrorCode::badProject, "training: there is no network '{}'", update.network);
    UpdatePlan planned;
    planned.network = update.network;
    planned.batch = largestBatch(settings);
    planned.passes = settings.integer("accumulate");
    if (planned.passes < 1 || planned.passes > planned.batch)
      throwError(ErrorCode::badProject, "training: a batch of {} samples cannot be split into {} passes", planned.batch,
                 planned.passes);
    planned.shard = (planned.batch + planned.passes - 1) / planned.passes;
    const OptimizerDefinition& rule = ruleOf(update.optimizer, planned.optimizer);
    const MethodCost method = methodCost(project.training.settings);
    planned.computes = method.computes;

    ProgramBuilder builder(lower(*network, {.batch = planned.shard, .training = true}));
    differentiate(builder, [&](const Parameter& parameter) { return isWanted(update, parameter); });
    Program program = builder.take();
    if (planned.passes > 1 || !methodsIn(project.training.settings).empty()) averageStates(program);
    const RuleSlots slots(rule, update.optimizer, program);
    std::int64_t changed = 0;
    const auto slotsOf = [&](const Parameter& parameter) {
      if (!isWanted(update, parameter)) return 0;
      changed += parameter.shape.elements();
      return slots.of(parameter) + averagesOf(settings) + method.slots;
    };
    planned.cost = planCosts(program, memoryOf(program), slotsOf, planned.passes * planned.computes);
    for (const Parameter& parameter : program.parameters)
      if (isWanted(update, parameter)) planned.cost.optimizerBytes += slots.matricesOf(parameter) * kFloat;
    planned.cost.copyBytes = changed * kFloat * method.copies;

    CostPlan& total = plan.total;
    for (const Parameter& parameter : program.parameters) {
      if (!counted.insert(parameter.name).second) continue;
      if (parameter.isState) {
        total.stateBytes += stateBytes(program, parameter);
        continue;
      }
      total.weightBytes += parameter.shape.elements() * kFloat;
      total.parameters += parameter.shape.elements();
    }
    total.gradientBytes = total.weightBytes;
    total.optimizerBytes += planned.cost.optimizerBytes;
    total.copyBytes += planned.cost.copyBytes;
    total.activationBytes = std::max(total.activationBytes, planned.cost.activationBytes);
    total.inputBytes += planned.cost.inputBytes;
    total.recordBytes += planned.cost.recordBytes;
    total.keptActivationBytes = std::max(total.keptActivationBytes, planned.cost.keptActivationBytes);
    total.operationsAgain += planned.cost.operationsAgain;
    total.againMultiplyAdds += planned.cost.againMultiplyAdds / update.every;
    // An update that runs every k-th step counts for its share of a step.
    total.forwardMultiplyAdds += planned.cost.forwardMultiplyAdds / update.every;
    total.backwardMultiplyAdds += planned.cost.backwardMultiplyAdds / update.every;
    plan.updates.push_back(std::move(planned));
  }
  return plan;
}

}  // namespace loom
