#include "engine/training/parameter_update.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/network/pattern.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define LOOM_SUM_VECTORISED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define LOOM_SUM_VECTORISED
#endif

namespace loom {
namespace {

constexpr std::int64_t kPiece = 8192;  // elements: gradient, weight and two slots take 128 KiB

// Sixteen sums side by side: the order of additions is fixed, and the compiler may still use its widest registers.
LOOM_SUM_VECTORISED double sumOfSquares(const float* values, std::int64_t count) {
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
  if (!definition) {
    std::vector<std::string> known;
    for (const OptimizerDefinition* one : optimizerTable()) known.push_back(one->entry.id);
    const std::string near = nearest(name, known);
    throwError(ErrorCode::badProject, "training.optimizer: unknown optimizer '{}'{}", name,
               near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near));
  }
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

  for (const Parameter& parameter : program.parameters) {
    if (program.findTensor(parameter.name, TensorRole::parameterGradient) == kNoTensor) continue;
    ParameterStore::Entry& entry = store.at(parameter.name);
    const bool decayed =
        !matchesAny(spec.decayExclude, kindName(parameter.kind)) && !matchesAny(spec.decayExclude, parameter.name);
    if (!decayed) m_undecayed.push_back(parameter.name);
    Tensor tensor{.range = {.weight = entry.value.data(),
                            .gradient = entry.gradient.data(),
                            .slots = {},
                            .count = static_cast<std::int64_t>(entry.value.size())},
                  .weightDecay = decayed ? static_cast<float>(m_baseDecay) : 0};
    for (std::size_t i = 0; i < m_slots.size(); ++i)
      tensor.range.slots[i] = store.slot(parameter.name, m_slots[i]).data();
    m_tensors.push_back(tensor);
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
}

double ParameterUpdate::measure(Backend& backend) {
  backend.parallelFor(static_cast<std::int64_t>(m_units.size()) - 1, 1, [this](std::int64_t first, std::int64_t last) {
    for (std::size_t i = m_units[static_cast<std::size_t>(first)]; i < m_units[static_cast<std::size_t>(last)]; ++i)
      m_squares[i] = sumOfSquares(m_tensors[m_pieces[i].tensor].range.gradient + m_pieces[i].first, m_pieces[i].count);
  });
  double sum = 0;
  for (const double squares : m_squares) sum += squares;
  return std::sqrt(sum);
}

std::string ParameterUpdate::firstNotFinite() const {
  for (std::size_t i = 0; i < m_pieces.size(); ++i)
    if (!std::isfinite(m_squares[i])) return m_names[m_pieces[i].tensor];
  return {};
}

ApplyOutcome ParameterUpdate::apply(Backend& backend, const ApplyOptions& options) {
  UpdateScalars scalars{.learningRate = static_cast<float>(options.learningRate), .step = m_count + 1};
  ApplyOutcome outcome;
  if (options.clipNorm) {
    outcome.gradientNorm = measure(backend);
    outcome.notFinite = firstNotFinite();
    if (!outcome.notFinite.empty()) return outcome;
    scalars.gradientScale = static_cast<float>(std::min(1.0, *options.clipNorm / (outcome.gradientNorm + 1e-6)));
  }
  const bool measured = options.clipNorm.has_value();
  backend.parallelFor(static_cast<std::int64_t>(m_units.size()) - 1, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::size_t i = m_units[static_cast<std::size_t>(first)]; i < m_units[static_cast<std::size_t>(last)]; ++i) {
      const Piece& piece = m_pieces[i];
      const Tensor& tensor = m_tensors[piece.tensor];
      UpdateRange range{.weight = tensor.range.weight + piece.first,
                        .gradient = tensor.range.gradient + piece.first,
                        .slots = {},
                        .count = piece.count};
      for (std::size_t slot = 0; slot < m_slots.size(); ++slot)
        range.slots[slot] = tensor.range.slots[slot] + piece.first;
      if (!measured) {
        m_squares[i] = sumOfSquares(range.gradient, range.count);
        if (!std::isfinite(m_squares[i])) continue;
      }
      UpdateScalars own = scalars;
      own.weightDecay = tensor.weightDecay;
      m_optimizer->update(range, own);
    }
  });
  if (!measured) {
    double sum = 0;
    for (const double squares : m_squares) sum += squares;
    outcome.gradientNorm = std::sqrt(sum);
    outcome.notFinite = firstNotFinite();
  }
  ++m_count;
  return outcome;
}

}  // namespace loom
