#include "engine/training/update_program.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/catalogue/names.h"
#include "engine/network/pattern.h"
#include "engine/ops/update.h"
#include "engine/program/builder.h"

namespace loom {
namespace {

bool matchesAny(const std::vector<std::string>& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [text](const std::string& pattern) { return matchesPattern(pattern, text); });
}

std::string_view kindName(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::weight:
      return "weight";
    case ParameterKind::bias:
      return "bias";
    case ParameterKind::normalisation:
      return "normalisation";
  }
  return "weight";
}

const OptimizerDefinition& definitionOf(const Json& optimizer) {
  if (!optimizer.is_object() || !optimizer.contains("name") || !optimizer["name"].is_string())
    throwError(ErrorCode::badProject,
               "training.optimizer: {} names no optimizer; an object such as {{\"name\": \"Momentum\"}} is wanted",
               optimizer.dump());
  const std::string name = optimizer["name"].get<std::string>();
  const OptimizerDefinition* definition = findOptimizer(name);
  if (!definition)
    throwError(ErrorCode::badProject, "training.optimizer: unknown optimizer '{}'{}", name,
               hintOn(optimizerTable(), name));
  for (const FieldProblem& problem : validate(definition->entry, optimizer, {"name"}))
    if (problem.severity == FieldProblem::Severity::error)
      throwError(ErrorCode::badProject, "training.optimizer ({}): {}", definition->entry.id, problem.message);
  return *definition;
}

[[noreturn]] void refuseEmpty(const UpdateSpec& spec, int index, const Program& trained) {
  std::string known;
  for (const Parameter& parameter : trained.parameters)
    if (!parameter.isState) known += (known.empty() ? "'" : ", '") + parameter.name + "'";
  throwError(ErrorCode::badProject, "training: update {} of network '{}' has nothing to update: {}", index + 1,
             spec.network,
             known.empty() ? std::string("the network has no parameters that lead to its loss")
                           : fmt::format("none of {} is matched by its patterns and leads to the loss", known));
}

}  // namespace

bool isChosen(const UpdateSpec& spec, const Parameter& parameter) {
  return !parameter.isState && (spec.parameters.empty() || matchesAny(spec.parameters, parameter.name));
}

UpdateProgram makeUpdateProgram(const UpdateSpec& spec, int index, const Program& trained, std::int64_t stepsPerEpoch,
                                double averageDecay) {
  const OptimizerDefinition& definition = definitionOf(spec.optimizer);
  const Values values(definition.entry, spec.optimizer);
  const std::unique_ptr<Optimizer> rule = definition.make(values);
  UpdateProgram made;
  made.baseRate = values.real("learning_rate");
  made.baseDecay = values.real("weight_decay");
  made.measures = rule->measures();
  for (const std::string& slot : rule->slots())
    made.slots.push_back(index == 0 ? slot : fmt::format("{}@{}", slot, index));
  if (averageDecay > 0) made.slots.push_back(kAverageSlot);

  const std::vector<std::string> unscaled(rule->unscaled().begin(), rule->unscaled().end());
  ProgramBuilder builder(1, trained.seed, true);
  std::vector<TensorId> gradients, tensors, states;
  std::vector<double> decays;
  std::vector<std::int64_t> scaled;
  for (const Parameter& parameter : trained.parameters) {
    if (trained.findTensor(parameter.name, TensorRole::parameterGradient) == kNoTensor) continue;
    if (parameter.isState) {
      states.insert(states.end(), {builder.state(parameter), builder.gradient(parameter)});
      continue;
    }
    const auto matched = [&](const std::vector<std::string>& patterns) {
      return matchesAny(patterns, kindName(parameter.kind)) || matchesAny(patterns, parameter.name);
    };
    const bool decayed = !matched(spec.decayExclude);
    if (!decayed) made.undecayed.push_back(parameter.name);
    decays.push_back(decayed ? made.baseDecay : 0);
    made.scaled.push_back(!matched(unscaled));
    scaled.push_back(made.scaled.back());
    made.parameters.push_back(parameter.name);
    gradients.push_back(builder.gradient(parameter));
    tensors.insert(tensors.end(), {builder.parameter(parameter), gradients.back()});
    for (const std::string& slot : made.slots) tensors.push_back(builder.slot(parameter, slot));
  }
  if (gradients.empty()) refuseEmpty(spec, index, trained);

  const TensorId squares = builder.add("gradient_squares", gradients);
  std::vector<TensorId> inputs{builder.scalar(kLearningRateScalar), builder.scalar(kUpdateCountScalar),
                               builder.scalar(kClipNormScalar), squares};
  inputs.insert(inputs.end(), tensors.begin(), tensors.end());
  inputs.insert(inputs.end(), states.begin(), states.end());
  if (rule->followsEpochs()) inputs.push_back(builder.scalar(kStepScalar));  // of the epochs, in this program
  Attributes attributes = updateAttributes(definition, values, std::move(decays), std::move(scaled), stepsPerEpoch);
  if (averageDecay > 0) attributes.set("average_decay", averageDecay);
  const TensorId ratios = builder.add("update", std::move(inputs), std::move(attributes));
  builder.result(kSquaresResult, ResultKind::output, squares);
  builder.result(kRatiosResult, ResultKind::output, ratios);
  made.program = builder.take();
  return made;
}

}  // namespace loom
