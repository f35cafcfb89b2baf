// Every optimizer of the catalogue with its defaults, on tensors of several pieces, of one element and of none of its
// trust ratio. Gradients are states here, which nobody differentiates, so that a test sees that they stay as they are.
#include <limits>

#include "engine/base/json.h"
#include "engine/ops/update.h"
#include "tests/engine/ops/case_families.h"

namespace loom::cases {
namespace {

const Json kNone = Json::object();

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all{{3, 5}, {17001}, {1}, {4, 2050}};
  return all;
}

OpCase updateCase(const std::string& name, const OptimizerDefinition& definition, const Json& given, InputCase squared,
                  InputCase clip, double averageDecay = 0) {
  const Values values(definition.entry, given);
  OpCase made{.name = name,
              .op = "update",
              .inputs = {learningRate(), updateCount(), std::move(clip), std::move(squared)},
              .attributes = updateAttributes(definition, values, {0.25, 0.0, 0.125, 0.25}, {1, 1, 1, 0}, 2)};
  const auto rule = definition.make(values);
  if (averageDecay > 0) made.attributes.set("average_decay", averageDecay);
  const std::size_t slots = rule->slots().size() + (averageDecay > 0 ? 1 : 0);
  for (const Shape& shape : shapes()) {
    made.inputs.push_back(state(shape));
    made.inputs.push_back(state(shape));
    for (std::size_t slot = 0; slot < slots; ++slot) made.inputs.push_back(state(shape, 0, 1));
  }
  if (rule->followsEpochs()) made.inputs.push_back(step());  // epoch 1.5
  return made;
}

}  // namespace

std::vector<OpCase> updateCases() {
  const auto tensors = static_cast<std::int64_t>(shapes().size());
  std::vector<OpCase> all{
      {"gradient_squares", "gradient_squares", {state({3, 5}), state({17001}), state({}), state({2, 8192})}, {}}};
  for (const OptimizerDefinition* definition : optimizerTable())
    all.push_back(updateCase("update_" + definition->entry.id, *definition, Json::object(), squares(tensors, 0.1, 0.2),
                             absent()));
  const OptimizerDefinition &lamb = *findOptimizer("LAMB"), &rms = *findOptimizer("RMSprop");
  all.push_back(updateCase("update_clipped", lamb, {{"bias_correction", true}}, squares(tensors, 5, 6), clipNorm()));
  all.push_back(updateCase("update_two_slots", rms, {{"momentum", 0.5}}, squares(tensors, 0.1, 0.2), clipNorm()));
  // In the midst of their ways, and with what is off by default.
  const auto add = [&](const char* name, const char* rule, const Json& given) {
    all.push_back(updateCase(name, *findOptimizer(rule), given, squares(tensors, 0.1, 0.2), clipNorm()));
  };
  add("update_still_half", "STiLL", {{"transition", 3.0}, {"lamb_learning_rate", 0.05}, {"learning_rate", 2.0}});
  add("update_still_lars", "STiLL", {{"transition", 1.0}});
  add("update_warmup_half", "RMSpropWarmup", {{"center", 1.0}, {"period", 2.0}});
  add("update_warmup_literal", "RMSpropWarmup", {{"center", 1.0}, {"period", 8.0}, {"literal", true}});
  add("update_lamb_length", "LAMB", {{"bias_correction", true}, {"correction_of", "length"}, {"ratio_high", 0.5}});
  add("update_lamb_undecayed", "LAMB", {{"adapt_undecayed", false}});
  add("update_lars_you", "LARS", {{"variant", "you"}, {"rate_placement", "outside"}});
  add("update_nadam_decoupled", "NAdam", {{"decoupled", true}, {"momentum_decay", 3.0}});
  add("update_radam_decoupled", "RAdam", {{"decoupled", true}});
  // With averages of the weights: before the ramp ends (2 of 11 are kept) and behind it.
  for (const double decay : {0.9, 0.1})
    for (const char* rule : {"SGD", "LAMB", "STiLL"})
      all.push_back(updateCase(std::string("update_average_") + (decay > 0.5 ? "ramp_" : "") + rule,
                               *findOptimizer(rule), Json::object(), squares(tensors, 0.1, 0.2), absent(), decay));
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  // States that take the place of others, unless the update is refused.
  const auto withStates = [](OpCase made) {
    for (const Shape& shape : {Shape{17001}, Shape{7}})
      made.inputs.insert(made.inputs.end(), {state(shape), state(shape, 2, 3)});
    return made;
  };
  all.push_back(withStates(
      updateCase("update_states", *findOptimizer("SGD"), Json::object(), squares(tensors, 0.1, 0.2), absent())));
  all.push_back(withStates(updateCase("update_states_not_finite", *findOptimizer("Adam"), Json::object(),
                                      squares(tensors, kNan, kNan), absent())));
  // Squares of gradients that others step stand among them; of these alone there may be some.
  for (const char* rule : {"SGD", "LARS"}) {
    OpCase made = updateCase(std::string("update_among_others_") + rule, *findOptimizer(rule), Json::object(),
                             squares(tensors + 2, 5, 6), clipNorm());
    made.attributes.set("squares_at", std::vector<std::int64_t>{0, 2, 3, 5});
    all.push_back(withStates(std::move(made)));
  }
  OpCase still{
      .name = "update_states_alone",
      .op = "update",
      .inputs = {learningRate(), updateCount(), clipNorm(), squares(2, 0.1, 0.2)},
      .attributes = updateAttributes(*findOptimizer("SGD"), Values(findOptimizer("SGD")->entry, kNone), {}, {})};
  still.attributes.set("squares_at", std::vector<std::int64_t>{});
  all.push_back(withStates(std::move(still)));
  all.push_back({"scale_all", "scale_all", {learningRate(), state({17001}), state({3, 5}), state({})}, {}});
  all.push_back({"scale_all_copies", "scale_all", {absent(), state({4, 5}), state({3})}, {}});
  all.push_back(updateCase("update_not_finite", lamb, Json::object(), squares(tensors, kNan, kNan), clipNorm()));
  return all;
}

}  // namespace loom::cases
