#include "engine/training/update_program.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/catalogue/names.h"
#include "engine/network/pattern.h"
#include "engine/network/product_choice.h"
#include "engine/ops/update.h"
#include "engine/program/builder.h"
#include "engine/training/methods/slot_owners.h"

namespace loom {
namespace {

bool matchesAny(const std::vector<std::string>& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [text](const std::string& pattern) { return matchesPattern(pattern, text); });
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

// Into which a step's share is divided, exactly.
constexpr std::int64_t kShareParts = std::int64_t{1} << 52;

// Writes the program of an update: what of each parameter goes where.
class UpdateWriter {
 public:
  UpdateWriter(const UpdateSpec& spec, int index, const Program& trained, const UpdateProgramOptions& options)
      : m_spec(spec),
        m_index(index),
        m_options(options),
        m_definition(definitionOf(spec.optimizer)),
        m_values(m_definition.entry, spec.optimizer),
        m_rule(m_definition.make(m_values)),
        m_products(m_definition.products ? m_definition.products(m_values) : nullptr),
        m_unscaled(m_rule->unscaled().begin(), m_rule->unscaled().end()),
        m_builder(1, trained.seed, true) {
    if (m_products) m_choice.emplace(*m_products, trained);
    m_made.baseRate = m_values.real("learning_rate");
    m_made.baseDecay = m_values.real("weight_decay");
    m_made.measures = m_rule->measures();
    m_made.weighsSteps = m_rule->weighsSteps();
    for (const std::string& slot : m_rule->slots()) m_made.slots.push_back(inStore(slot));
    if (auto evaluated = m_rule->evaluated()) {
      evaluated->slot = inStore(evaluated->slot);
      m_made.copies.push_back(evaluated->slot);
      m_made.evaluated = std::move(evaluated);
    }
    if (!averages()) return;
    m_made.slots.push_back(kAverageSlot);
    m_made.copies.push_back(kAverageSlot);
    m_made.evaluated = EvaluatedFrom{.slot = kAverageSlot};
  }

  UpdateProgram write(const Program& trained) {
    m_made.owners = owners(trained);
    for (const Parameter& parameter : trained.parameters)
      if (trained.findTensor(parameter.name, TensorRole::parameterGradient) != kNoTensor) take(parameter);
    if (m_gradients.empty()) refuseEmpty(m_spec, m_index, trained);
    m_squares = m_options.ownGradients ? writeSquares() : m_builder.add("gradient_squares", m_gradients);
    writeStatistics();
    for (const Multiplied& one : m_multiplied) multiply(one);
    const TensorId ratios = emitUpdate();
    if (averages() && !m_multiplied.empty()) emitAverages();
    if (!m_options.ownGradients) m_builder.result(kSquaresResult, ResultKind::output, m_squares);
    m_builder.result(kRatiosResult, ResultKind::output, ratios);
    m_made.program = m_builder.take();
    if (!m_made.onHost.empty()) m_made.products = std::move(m_products);
    return std::move(m_made);
  }

 private:
  // The largest first: numbers where slots are shared, else the rule's work.
  std::vector<int> owners(const Program& trained) const {
    const bool each = !m_options.sharesSlots && m_products && m_products->oneRankEach();
    std::vector<std::int64_t> weights;
    for (const Parameter& parameter : trained.parameters) {
      if (parameter.isState || trained.findTensor(parameter.name, TensorRole::parameterGradient) == kNoTensor) continue;
      if (m_options.ranks > 1 && each)
        weights.push_back(m_choice->takes(parameter) ? static_cast<std::int64_t>(m_products->work(parameter.shape))
                                                     : -1);
      else
        weights.push_back(m_options.sharesSlots ? parameter.shape.elements() : -1);
    }
    return ownersOf(weights, m_options.ranks);
  }

  // A parameter that is stepped by products.
  struct Multiplied {
    Parameter parameter;
    TensorId weight, gradient;
    double decay;
    std::size_t square;  // also its place among the parameters
  };

  bool averages() const { return m_options.averageDecay > 0; }
  std::string inStore(const std::string& slot) const { return nameInStore(slot, m_index); }

  std::vector<std::string> slotsOf(bool byProducts) const {
    if (!byProducts) return m_made.slots;
    std::vector<std::string> names;
    for (const std::string& slot : m_products->slots()) names.push_back(inStore(slot));
    if (averages()) names.push_back(kAverageSlot);
    return names;
  }

  void take(const Parameter& parameter) {
    if (parameter.isState) {
      m_states.insert(m_states.end(), {m_builder.state(parameter), m_builder.gradient(parameter)});
      return;
    }
    const auto matched = [&](const std::vector<std::string>& patterns) {
      return matchesAny(patterns, kindName(parameter.kind)) || matchesAny(patterns, parameter.name);
    };
    const bool decayed = !matched(m_spec.decayExclude);
    if (!decayed) m_made.undecayed.push_back(parameter.name);
    const double decay = decayed ? m_made.baseDecay : 0;
    const int owner = m_made.owners[m_made.parameters.size()];
    const bool own = owner < 0 || owner == m_options.rank;
    const TensorId gradient = m_builder.gradient(parameter);
    m_gradients.push_back(gradient);
    m_withGradient.push_back(parameter);
    m_made.shapes.push_back(parameter.shape);
    m_made.parameters.push_back(parameter.name);
    const bool byProducts = m_choice && m_choice->takes(parameter);
    m_made.scaled.push_back(own && !byProducts && !matched(m_unscaled));
    m_made.slotsOf.push_back(slotsOf(byProducts));
    m_made.matricesOf.emplace_back();
    if (byProducts)
      for (ProductMatrix& matrix : m_products->matrices(parameter.shape))
        m_made.matricesOf.back().push_back({inStore(matrix.name), std::move(matrix.shape)});
    if (!own) return;
    const TensorId weight = m_builder.parameter(parameter);
    if (byProducts) {
      m_multiplied.push_back({parameter, weight, gradient, decay, m_gradients.size() - 1});
      return;
    }
    m_decays.push_back(decay);
    m_scaled.push_back(m_made.scaled.back());
    m_places.push_back(static_cast<std::int64_t>(m_gradients.size()) - 1);
    m_tensors.insert(m_tensors.end(), {weight, gradient});
    for (const std::string& slot : m_made.slots) m_tensors.push_back(m_builder.slot(parameter, slot));
  }

  // What gradients are multiplied with so that their common norm stays below the limit, as the op `update` does it.
  TensorId clipping(ProgramBuilder& builder, const std::vector<TensorId>& gradients) const {
    if (!m_options.clipNorm) return kNoTensor;
    TensorId sum = kNoTensor;
    for (const TensorId gradient : gradients) {
      const TensorId square = builder.add("unary", {gradient}, {{"function", "square"}});
      const TensorId part = builder.add("reduce", {square}, {{"function", "sum"}});
      sum = sum == kNoTensor ? part : builder.add("binary", {sum, part}, {{"function", "add"}});
    }
    const TensorId norm = builder.add("unary", {sum}, {{"function", "sqrt"}}),
                   below = builder.add("scale", {norm}, {{"factor", 1.0}, {"offset", 1e-6}}),
                   over = builder.add("unary", {below}, {{"function", "reciprocal"}}),
                   scale = builder.add("scale", {over}, {{"factor", *m_options.clipNorm}, {"offset", 0.0}});
    return builder.add("unary", {scale}, {{"function", "clamp"}, {"alpha", 0.0}, {"beta", 1.0}});
  }

  // Its matrices in the store, as states of a program.
  std::vector<TensorId> matricesOf(ProgramBuilder& builder, const Multiplied& one) const {
    std::vector<TensorId> states;
    for (const ProductMatrix& matrix : m_made.matricesOf[one.square])
      states.push_back(builder.state({.name = matrixInStore(one.parameter.name, matrix.name),
                                      .shape = matrix.shape,
                                      .initializer = {.kind = InitializerKind::zeros},
                                      .isState = true}));
    return states;
  }
  // Pairs of what `into` becomes, of what does.
  static void addStates(std::vector<TensorId>& states, const std::vector<TensorId>& into,
                        const std::vector<TensorId>& becomes) {
    for (std::size_t i = 0; i < std::min(into.size(), becomes.size()); ++i)
      if (becomes[i] != kNoTensor) states.insert(states.end(), {into[i], becomes[i]});
  }

  TensorId writeSquares() {
    ProgramBuilder own(1, m_builder.seed(), true);
    std::vector<TensorId> gradients;
    for (std::size_t i = 0; i < m_withGradient.size(); ++i)
      if (m_made.owners[i] == m_options.rank) gradients.push_back(own.gradient(m_withGradient[i]));
    if (!gradients.empty()) {
      own.result(kSquaresResult, ResultKind::output, own.add("gradient_squares", gradients));
      m_made.squares = own.take();
    }
    return m_builder.input(kSquaresResult, Shape{static_cast<std::int64_t>(m_gradients.size())}, DataType::f64);
  }

  // What the rule's matrices become before the host works on them: nothing where a gradient is not finite.
  void writeStatistics() {
    ProgramBuilder before(1, m_builder.seed(), true);
    std::vector<TensorId> gradients, states;
    for (const Parameter& parameter : m_withGradient) gradients.push_back(before.gradient(parameter));
    const TensorId squares = before.add("gradient_squares", gradients);
    TensorId clip = kNoTensor;
    for (const Multiplied& one : m_multiplied) {
      if (m_made.matricesOf[one.square].empty()) continue;
      m_made.onHost.push_back(one.square);
      if (clip == kNoTensor) clip = clipping(before, gradients);
      ProductInputs inputs{.gradient = gradients[one.square], .matrices = matricesOf(before, one)};
      if (clip != kNoTensor) inputs.gradient = before.add("scale_by", {inputs.gradient, clip});
      std::vector<TensorId> into(1 + m_products->slots().size(), kNoTensor);
      into.insert(into.end(), inputs.matrices.begin(), inputs.matrices.end());
      addStates(states, into, m_products->emitStatistics(before, inputs));
    }
    if (states.empty()) return;
    const OptimizerDefinition& still = *findOptimizer("SGD");
    const Json none = Json::object();
    std::vector<TensorId> inputs{before.constant(0), before.scalar(kUpdateCountScalar), kNoTensor, squares};
    inputs.insert(inputs.end(), states.begin(), states.end());
    Attributes attributes = updateAttributes(still, Values(still.entry, none), {}, {});
    attributes.set("squares_at", std::vector<std::int64_t>());
    before.add("update", std::move(inputs), std::move(attributes));
    before.result(kSquaresResult, ResultKind::output, squares);
    m_made.statistics = before.take();
  }

  void multiply(const Multiplied& one) {
    if (m_clip == kNoTensor) m_clip = clipping(m_builder, m_gradients);
    ProductInputs inputs{
        .weight = one.weight,
        .gradient = m_clip == kNoTensor ? one.gradient : m_builder.add("scale_by", {one.gradient, m_clip}),
        .learningRate = m_builder.scalar(kLearningRateScalar),
        .weightDecay = one.decay,
        .slots = {},
        .matrices = matricesOf(m_builder, one)};
    for (const std::string& slot : m_products->slots())
      inputs.slots.push_back(m_builder.slot(one.parameter, inStore(slot)));
    std::vector<TensorId> into{one.weight};
    into.insert(into.end(), inputs.slots.begin(), inputs.slots.end());
    into.insert(into.end(), inputs.matrices.begin(), inputs.matrices.end());
    addStates(m_states, into, m_products->emit(m_builder, inputs));
  }

  std::vector<TensorId> scalars(TensorId learningRate) {
    return {learningRate, m_builder.scalar(kUpdateCountScalar), m_builder.scalar(kClipNormScalar), m_squares};
  }

  TensorId emitUpdate() {
    TensorId rate = m_builder.scalar(kLearningRateScalar);
    if (const double rest = m_products ? m_products->restRate() : 1; rest != 1)
      rate = m_builder.add("scale", {rate}, {{"factor", rest}, {"offset", 0.0}});
    std::vector<TensorId> inputs = scalars(rate);
    inputs.insert(inputs.end(), m_tensors.begin(), m_tensors.end());
    inputs.insert(inputs.end(), m_states.begin(), m_states.end());
    if (m_rule->followsEpochs()) inputs.push_back(m_builder.scalar(kStepScalar));  // of the epochs, in this program
    const std::int64_t parts = m_made.weighsSteps ? kShareParts : m_options.stepsPerEpoch;
    Attributes attributes = updateAttributes(m_definition, m_values, m_decays, m_scaled, parts);
    if (averages()) attributes.set("average_decay", m_options.averageDecay);
    if (m_places.size() < m_gradients.size()) attributes.set("squares_at", m_places);
    return m_builder.add("update", std::move(inputs), std::move(attributes));
  }

  // Of what was stepped by products: a step of SGD that goes nowhere, with the average behind it.
  void emitAverages() {
    const OptimizerDefinition& still = *findOptimizer("SGD");
    const Json none = Json::object();
    std::vector<TensorId> inputs = scalars(m_builder.constant(0));
    std::vector<std::int64_t> places, scaled;
    std::vector<double> decays;
    for (const Multiplied& one : m_multiplied) {
      inputs.insert(inputs.end(), {one.weight, one.gradient, m_builder.slot(one.parameter, kAverageSlot)});
      places.push_back(static_cast<std::int64_t>(one.square));
      decays.push_back(0);
      scaled.push_back(0);
    }
    Attributes attributes = updateAttributes(still, Values(still.entry, none), decays, scaled);
    attributes.set("average_decay", m_options.averageDecay);
    if (places.size() < m_gradients.size()) attributes.set("squares_at", places);
    m_builder.add("update", std::move(inputs), std::move(attributes));
  }

  const UpdateSpec& m_spec;
  int m_index;
  const UpdateProgramOptions& m_options;
  const OptimizerDefinition& m_definition;
  Values m_values;
  std::unique_ptr<Optimizer> m_rule;
  std::unique_ptr<ProductRule> m_products;
  std::vector<std::string> m_unscaled;
  std::optional<ProductChoice> m_choice;
  ProgramBuilder m_builder;
  UpdateProgram m_made;
  std::vector<TensorId> m_gradients, m_tensors, m_states;
  std::vector<Parameter> m_withGradient;
  std::vector<Multiplied> m_multiplied;
  std::vector<double> m_decays;
  std::vector<std::int64_t> m_scaled, m_places;
  TensorId m_squares = kNoTensor, m_clip = kNoTensor;
};

}  // namespace

std::string nameInStore(const std::string& slot, int index) {
  return index == 0 ? slot : fmt::format("{}@{}", slot, index);
}

bool givesOneRankEach(const UpdateSpec& spec) {
  const OptimizerDefinition& definition = definitionOf(spec.optimizer);
  return definition.products && definition.products(Values(definition.entry, spec.optimizer))->oneRankEach();
}

bool isChosen(const UpdateSpec& spec, const Parameter& parameter) {
  return !parameter.isState && (spec.parameters.empty() || matchesAny(spec.parameters, parameter.name));
}

UpdateProgram makeUpdateProgram(const UpdateSpec& spec, int index, const Program& trained,
                                const UpdateProgramOptions& options) {
  return UpdateWriter(spec, index, trained, options).write(trained);
}

std::int64_t partsOfShare(double share) {
  return std::llround(share * static_cast<double>(kShareParts));
}

}  // namespace loom
