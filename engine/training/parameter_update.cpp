#include "engine/training/parameter_update.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/base/vectorised.h"
#include "engine/catalogue/names.h"
#include "engine/network/pattern.h"

namespace loom {
namespace {

constexpr std::int64_t kPiece = 8192;  // elements: gradient, weight and two slots take 128 KiB

// Sixteen sums side by side: the order of additions is fixed, and the compiler may still use its widest registers.
LOOM_VECTORISED double sumOfSquares(const float* values, std::int64_t count) {
  constexpr int kLanes = 16;
  double lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += static_cast<double>(values[i + lane]) * values[i + lane];
  double sum = 0;
  for (; i < count; ++i) sum += static_cast<double>(values[i]) * values[i];
  for (const double lane : lanes) sum += lane;
  return sum;
}

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

}  // namespace

bool ParameterUpdate::chosen(const UpdateSpec& spec, const Parameter& parameter) {
  return !parameter.isState && (spec.parameters.empty() || matchesAny(spec.parameters, parameter.name));
}

std::string ParameterUpdate::slotName(std::string_view slot, int index) {
  return index == 0 ? std::string(slot) : fmt::format("{}@{}", slot, index);
}

ParameterUpdate::ParameterUpdate(const UpdateSpec& spec, int index, const Program& program, ParameterStore& store) {
  const OptimizerDefinition& definition = definitionOf(spec.optimizer);
  const Values values(definition.entry, spec.optimizer);
  m_optimizer = definition.make(values);
  m_baseRate = values.real("learning_rate");
  m_baseDecay = values.real("weight_decay");
  for (const std::string& slot : m_optimizer->slots()) m_slots.push_back(slotName(slot, index));

  const std::vector<std::string> unscaled(m_optimizer->unscaled().begin(), m_optimizer->unscaled().end());
  for (const Parameter& parameter : program.parameters) {
    if (program.findTensor(parameter.name, TensorRole::parameterGradient) == kNoTensor) continue;
    ParameterStore::Entry& entry = store.at(parameter.name);
    const bool decayed =
        !matchesAny(spec.decayExclude, kindName(parameter.kind)) && !matchesAny(spec.decayExclude, parameter.name);
    if (!decayed) m_undecayed.push_back(parameter.name);
    Tensor tensor{.range = {.weight = entry.value.host().data(),
                            .gradient = entry.gradient.host().data(),
                            .slots = {},
                            .count = entry.value.elements()},
                  .weightDecay = decayed ? static_cast<float>(m_baseDecay) : 0,
                  .scaled = !matchesAny(unscaled, kindName(parameter.kind)) && !matchesAny(unscaled, parameter.name)};
    for (std::size_t i = 0; i < m_slots.size(); ++i)
      tensor.range.slots[i] = store.slot(parameter.name, m_slots[i]).host().data();
    m_tensors.push_back(tensor);
    m_weights.push_back(&entry.value);
    m_names.push_back(parameter.name);
  }
  if (m_names.empty()) {
    std::string known;
    for (const Parameter& parameter : program.parameters)
      if (!parameter.isState) known += (known.empty() ? "'" : ", '") + parameter.name + "'";
    throwError(ErrorCode::badProject, "training: update {} of network '{}' has nothing to update: {}", index + 1,
               spec.network,
               known.empty() ? std::string("the network has no parameters that lead to its loss")
                             : fmt::format("none of {} is matched by its patterns and leads to the loss", known));
  }
  makePieces();
}

void ParameterUpdate::makePieces() {
  std::int64_t open = kPiece;  // elements in the unit that is being filled
  for (std::size_t tensor = 0; tensor < m_tensors.size(); ++tensor) {
    for (std::int64_t first = 0; first < m_tensors[tensor].range.count; first += kPiece) {
      if (open >= kPiece) {
        m_units.push_back(m_pieces.size());
        open = 0;
      }
      const std::int64_t count = std::min(kPiece, m_tensors[tensor].range.count - first);
      m_pieces.push_back({tensor, first, count});
      open += count;
    }
  }
  m_units.push_back(m_pieces.size());
  m_squares.resize(m_pieces.size());
  m_sums.resize(m_pieces.size());
  m_scales.assign(m_tensors.size(), 1.0);
}

template <class Work>
void ParameterUpdate::forEachPiece(Backend& backend, const Work& work) {
  backend.parallelFor(static_cast<std::int64_t>(m_units.size()) - 1, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::size_t i = m_units[static_cast<std::size_t>(first)]; i < m_units[static_cast<std::size_t>(last)]; ++i)
      work(i);
  });
}

UpdateRange ParameterUpdate::rangeOf(const Piece& piece) const {
  const Tensor& tensor = m_tensors[piece.tensor];
  UpdateRange range{.weight = tensor.range.weight + piece.first,
                    .gradient = tensor.range.gradient + piece.first,
                    .slots = {},
                    .count = piece.count};
  for (std::size_t slot = 0; slot < m_slots.size(); ++slot) range.slots[slot] = tensor.range.slots[slot] + piece.first;
  return range;
}

void ParameterUpdate::measure(Backend& backend) {
  forEachPiece(backend, [this](std::size_t i) {
    m_squares[i] = sumOfSquares(m_tensors[m_pieces[i].tensor].range.gradient + m_pieces[i].first, m_pieces[i].count);
  });
}

// The rule's reductions and what it makes of them, tensor by tensor; `squares`: those of the gradient in the same pass.
void ParameterUpdate::measureRule(Backend& backend, const UpdateScalars& scalars, bool squares) {
  forEachPiece(backend, [&](std::size_t i) {
    const UpdateRange range = rangeOf(m_pieces[i]);
    if (squares) m_squares[i] = sumOfSquares(range.gradient, range.count);
    UpdateScalars own = scalars;
    own.weightDecay = m_tensors[m_pieces[i].tensor].weightDecay;
    m_sums[i] = m_optimizer->measure(range, own);
  });
  for (std::size_t i = 0; i < m_pieces.size();) {
    const std::size_t tensor = m_pieces[i].tensor;
    UpdateSums sums;
    for (; i < m_pieces.size() && m_pieces[i].tensor == tensor; ++i) {
      sums.weight += m_sums[i].weight;
      sums.direction += m_sums[i].direction;
    }
    UpdateScalars own = scalars;
    own.weightDecay = m_tensors[tensor].weightDecay;
    m_scales[tensor] = m_tensors[tensor].scaled ? m_optimizer->tensorScale(sums, own) : 1;
  }
}

ApplyOutcome ParameterUpdate::checked() const {
  double sum = 0;
  for (const double squares : m_squares) sum += squares;
  ApplyOutcome outcome{.gradientNorm = std::sqrt(sum), .notFinite = {}};
  for (std::size_t i = 0; i < m_pieces.size() && outcome.notFinite.empty(); ++i)
    if (!std::isfinite(m_squares[i])) outcome.notFinite = m_names[m_pieces[i].tensor];
  return outcome;
}

ApplyOutcome ParameterUpdate::apply(Backend& backend, const ApplyOptions& options) {
  UpdateScalars scalars{.learningRate = static_cast<float>(options.learningRate), .step = m_count + 1};
  ApplyOutcome outcome;
  if (options.clipNorm) {
    measure(backend);
    outcome = checked();
    if (!outcome.notFinite.empty()) return outcome;
    scalars.gradientScale = static_cast<float>(std::min(1.0, *options.clipNorm / (outcome.gradientNorm + 1e-6)));
  }
  bool measured = options.clipNorm.has_value();
  if (m_optimizer->measures()) {
    measureRule(backend, scalars, !measured);
    if (!measured) outcome = checked();
    if (!outcome.notFinite.empty()) return outcome;
    measured = true;
  }
  forEachPiece(backend, [&](std::size_t i) {
    const Tensor& tensor = m_tensors[m_pieces[i].tensor];
    const UpdateRange range = rangeOf(m_pieces[i]);
    if (!measured) {  // the gradient is still in the cache when the rule reads it
      m_squares[i] = sumOfSquares(range.gradient, range.count);
      if (!std::isfinite(m_squares[i])) return;
    }
    UpdateScalars own = scalars;
    own.weightDecay = tensor.weightDecay;
    own.tensorScale = static_cast<float>(m_scales[m_pieces[i].tensor]);
    m_optimizer->update(range, own);
  });
  for (StoredTensor* weight : m_weights) weight->changed();
  if (!measured) outcome = checked();
  ++m_count;
  return outcome;
}

}  // namespace loom
