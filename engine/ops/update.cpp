// update: an optimizer's step on all of its tensors. The rule (engine/optimizers) with its hyper-parameters is an
// attribute; what changes from step to step comes as scalars. In this order:
//   1. Where one of the squares is not finite, nothing is changed and all ratios are 1; nor by later updates, where a
//      machine was given some before it came so far (program/README.md). There may be squares of gradients that no
//      tensor here has (squares_at): of tensors that other operations or other ranks step.
//   2. gradients are scaled by min(1, clip_norm / (norm + 1e-6)), norm = sqrt(sum of squares)
//   3. a rule that measures answers each tensor's trust ratio; others, and tensors that are not `scaled`, have 1
//   4. the rule on every element
//   5. with an `average_decay`, the exponential average of each weight, which stands behind its slots; it is the weight
//      itself before the first update, which is for the caller to see to
//   6. states behind the tensors take the values that are given with them
// Behind all others, a rule that follows epochs is given the epochs done, in steps of which one has
// `steps_per_epoch`.
#include "engine/ops/update.h"

#include <cmath>

#include "engine/base/json.h"
#include "engine/ops/support.h"
#include "engine/optimizers/rules/average.h"

namespace loom {
namespace {

constexpr std::size_t kFirstTensor = 4;  // behind the scalars and the squares

// Hyper-parameters that are a step's or a tensor's, not the rule's.
bool isRules(const Field& field) {
  return field.key != "learning_rate" && field.key != "weight_decay" && field.type != FieldType::texts;
}

const OptimizerDefinition& definitionOf(const Attributes& attributes) {
  const OptimizerDefinition* definition = findOptimizer(attributes.text("rule"));
  if (!definition)
    throwError(ErrorCode::badProject, "update: there is no rule '{}' among the optimizers", attributes.text("rule"));
  return *definition;
}

}  // namespace

Attributes updateAttributes(const OptimizerDefinition& definition, const Values& values,
                            std::vector<double> weightDecay, std::vector<std::int64_t> scaled,
                            std::int64_t stepsPerEpoch) {
  Attributes attributes{{"rule", definition.entry.id}, {"steps_per_epoch", stepsPerEpoch}};
  for (const Field& field : definition.entry.fields) {
    if (!isRules(field)) continue;
    switch (field.type) {
      case FieldType::real:
        attributes.set(field.key, values.real(field.key));
        break;
      case FieldType::integer:
        attributes.set(field.key, values.integer(field.key));
        break;
      case FieldType::boolean:
        attributes.set(field.key, values.boolean(field.key));
        break;
      case FieldType::choice:
        attributes.set(field.key, values.text(field.key));
        break;
      default:
        throwError(ErrorCode::internal, "the field '{}' of {} is of a type that no attribute of update has", field.key,
                   definition.entry.id);
    }
  }
  return attributes.set("weight_decay", std::move(weightDecay)).set("scaled", std::move(scaled));
}

UpdateSettings updateSettings(const Attributes& attributes) {
  const OptimizerDefinition& definition = definitionOf(attributes);
  Json given = Json::object();
  for (const Field& field : definition.entry.fields)
    if (isRules(field) && attributes.has(field.key)) {
      if (field.type == FieldType::real) given[field.key] = attributes.real(field.key);
      if (field.type == FieldType::integer) given[field.key] = attributes.integer(field.key);
      if (field.type == FieldType::boolean) given[field.key] = attributes.boolean(field.key);
      if (field.type == FieldType::choice) given[field.key] = attributes.text(field.key);
    }
  UpdateSettings settings{.rule = definition.make(Values(definition.entry, given)), .slots = 0, .tensors = {}};
  settings.slots = settings.rule->slots().size();
  settings.stepsPerEpoch = attributes.integer("steps_per_epoch", 1);
  if (settings.stepsPerEpoch < 1)
    throwError(ErrorCode::badProject, "update: an epoch of {} steps is none", settings.stepsPerEpoch);
  settings.averageDecay = attributes.real("average_decay", 0.0);
  if (!(settings.averageDecay >= 0 && settings.averageDecay < 1))
    throwError(ErrorCode::badProject, "update: an average that keeps {} of itself is none", settings.averageDecay);
  const std::vector<double>& decays = attributes.reals("weight_decay");
  const std::vector<std::int64_t>& scaled = attributes.integers("scaled");
  if (decays.size() != scaled.size())
    throwError(ErrorCode::badProject, "update: 'weight_decay' has {} tensors, but 'scaled' has {}", decays.size(),
               scaled.size());
  const std::vector<std::int64_t> places =
      attributes.has("squares_at") ? attributes.integers("squares_at") : std::vector<std::int64_t>();
  if (attributes.has("squares_at") && places.size() != decays.size())
    throwError(ErrorCode::badProject, "update: 'weight_decay' has {} tensors, but 'squares_at' has {}", decays.size(),
               places.size());
  for (std::size_t i = 0; i < decays.size(); ++i) {
    const std::size_t first = kFirstTensor + i * (2 + settings.kept());
    settings.tensors.push_back({.weight = first,
                                .gradient = first + 1,
                                .firstSlot = first + 2,
                                .average = first + 2 + settings.slots,
                                .square = places.empty() ? i : static_cast<std::size_t>(places[i]),
                                .weightDecay = decays[i],
                                .scaled = scaled[i] != 0});
  }
  return settings;
}

std::vector<StateOfUpdate> statesOf(const UpdateSettings& settings, std::size_t inputs) {
  std::vector<StateOfUpdate> states;
  for (std::size_t at = kFirstTensor + settings.tensors.size() * (2 + settings.kept()); at + 1 < inputs; at += 2)
    states.push_back({at, at + 1});
  return states;
}

std::optional<std::size_t> epochInput(const UpdateSettings& settings, std::size_t inputs) {
  return settings.rule->followsEpochs() ? std::optional(inputs - 1) : std::nullopt;
}

namespace update_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  const UpdateSettings settings = updateSettings(attributes);
  for (std::size_t i = 0; i < 3; ++i)
    if (inputs[i].present && inputs[i].shape.rank() != 0)
      throwError(ErrorCode::badProject, "scalar {} is {}, but must be one number", i, inputs[i].shape.toString());
  const auto tensors = static_cast<std::int64_t>(settings.tensors.size());
  if (inputs[3].type != DataType::f64) throwError(ErrorCode::badProject, "the squares must hold f64");
  if (!attributes.has("squares_at")) ops::needShape("the squares", inputs[3], Shape{tensors});
  ops::needRank("the squares", inputs[3], 1, 1);
  for (const UpdateOfTensor& tensor : settings.tensors)
    if (static_cast<std::int64_t>(tensor.square) >= inputs[3].shape[0])
      throwError(ErrorCode::badProject, "'squares_at' names the square {} of {}", tensor.square, inputs[3].shape[0]);
  const std::size_t wanted = settings.tensors.size() * (2 + settings.kept()), last = settings.rule->followsEpochs();
  if (inputs.size() < kFirstTensor + wanted + last || (inputs.size() - kFirstTensor - wanted - last) % 2 != 0)
    throwError(ErrorCode::badProject,
               "{} of {} tensors takes {} of each, {} in all, and two for each state behind them{}, but {} are given",
               attributes.text("rule"), tensors, 2 + settings.kept(), wanted, last ? ", then the epochs" : "",
               inputs.size() - kFirstTensor);
  if (last && (inputs.back().shape.rank() != 0 || !inputs.back().present))
    throwError(ErrorCode::badProject, "the epochs must be one number");
  for (const StateOfUpdate& one : statesOf(settings, inputs.size())) {
    ops::needFloat("the state", inputs[one.state]);
    ops::needFloat("what a state becomes", inputs[one.becomes]);
    ops::needSameShape("what a state becomes", inputs[one.becomes], "the state", inputs[one.state]);
  }
  for (const UpdateOfTensor& tensor : settings.tensors) {
    ops::needFloat("the weight", inputs[tensor.weight]);
    for (std::size_t i = tensor.gradient; i < tensor.firstSlot + settings.kept(); ++i) {
      ops::needFloat(i == tensor.gradient ? "the gradient" : "the slot", inputs[i]);
      ops::needSameShape(i == tensor.gradient ? "the gradient" : "the slot", inputs[i], "the weight",
                         inputs[tensor.weight]);
    }
  }
  return {{inputs[3].shape, DataType::f64}};
}

std::vector<int> updatesOf(std::size_t inputs, const Attributes& attributes) {
  const UpdateSettings settings = updateSettings(attributes);
  std::vector<int> places;
  for (const UpdateOfTensor& tensor : settings.tensors) {
    places.push_back(static_cast<int>(tensor.weight));
    for (std::size_t slot = 0; slot < settings.kept(); ++slot)
      places.push_back(static_cast<int>(tensor.firstSlot + slot));
  }
  for (const StateOfUpdate& one : statesOf(settings, inputs)) places.push_back(static_cast<int>(one.state));
  return places;
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const UpdateSettings settings = updateSettings(attributes);
  std::vector<double>& ratios = outputs[0].values;
  std::fill(ratios.begin(), ratios.end(), 1.0);
  double sum = 0;
  for (const double squares : inputs[3]->values) sum += squares;
  if (!std::isfinite(sum)) return;
  UpdateScalars scalars{.learningRate = inputs[0]->values[0],
                        .gradientScale = inputs[2] ? clipScale(std::sqrt(sum), inputs[2]->values[0]) : 1,
                        .step = static_cast<std::int64_t>(inputs[1]->values[0])};
  if (const auto epochs = epochInput(settings, inputs.size()))
    scalars.epoch = inputs[*epochs]->values[0] / static_cast<double>(settings.stepsPerEpoch);
  for (std::size_t i = 0; i < settings.tensors.size(); ++i) {
    const UpdateOfTensor& tensor = settings.tensors[i];
    const std::span<ReferenceTensor> updated = outputs.subspan(1 + i * (1 + settings.kept()), 1 + settings.kept());
    ReferenceRange range{.weight = updated[0].values.data(),
                         .gradient = inputs[tensor.gradient]->values.data(),
                         .slots = {},
                         .count = static_cast<std::int64_t>(updated[0].values.size())};
    for (std::size_t slot = 0; slot < settings.slots; ++slot) range.slots[slot] = updated[1 + slot].values.data();
    scalars.weightDecay = tensor.weightDecay;
    scalars.tensorScale = 1;
    scalars.sums = {};
    if (settings.rule->measures()) {
      UpdateSums sums = settings.rule->measure(range, scalars);
      sums.gradient = inputs[3]->values[tensor.square];
      if (tensor.scaled) {
        ratios[tensor.square] = settings.rule->tensorScale(sums, scalars);
        scalars.sums = sums;
      }
      scalars.tensorScale = ratios[tensor.square];
    }
    std::vector<double>* average = settings.averageDecay > 0 ? &updated.back().values : nullptr;
    settings.rule->update(range, scalars);
    if (!average) continue;
    const double kept = keptOfAverage(settings.averageDecay, scalars.step);
    for (std::size_t k = 0; k < average->size(); ++k)
      (*average)[k] = kept * (*average)[k] + (1 - kept) * updated[0].values[k];
  }
  std::size_t updated = 1 + settings.tensors.size() * (1 + settings.kept());
  for (const StateOfUpdate& one : statesOf(settings, inputs.size()))
    outputs[updated++].values = inputs[one.becomes]->values;
}

}  // namespace update_op

const OpDefinition& defineUpdateOp() {
  using namespace update_op;
  static const OpDefinition op{.name = "update",
                               .infer = infer,
                               .reference = reference,
                               .signature = "learning_rate, update_count, clip_norm?, squares, tensors... -> ratios",
                               .updatesOf = updatesOf,
                               .flat = true};
  return op;
}

}  // namespace loom
