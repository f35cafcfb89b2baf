#include "engine/training/parameter_update.h"

#include <cmath>
#include <limits>

namespace loom {

ParameterUpdate::ParameterUpdate(const UpdateSpec& spec, int index, const Program& trained, ParameterStore& store,
                                 Backend& backend, Trace* trace)
    : m_made(makeUpdateProgram(spec, index, trained)),
      m_executable(backend.compile(std::move(m_made.program), store, {.trace = trace})),
      m_squares(m_made.parameters.size()),
      m_ratios(m_made.parameters.size(), 1.0) {}

ApplyOutcome ParameterUpdate::apply(const ApplyOptions& options) {
  m_executable->run({.learningRate = options.learningRate,
                     .updateCount = m_count + 1,
                     .clipNorm = options.clipNorm.value_or(std::numeric_limits<double>::infinity())});
  m_executable->readResult(kSquaresResult, m_squares);
  double sum = 0;
  for (const double squares : m_squares) sum += squares;
  ApplyOutcome outcome{.gradientNorm = std::sqrt(sum), .notFinite = {}};
  for (std::size_t i = 0; i < m_squares.size(); ++i) {
    if (std::isfinite(m_squares[i])) continue;
    outcome.notFinite = m_made.parameters[i];
    return outcome;
  }
  m_executable->readResult(kRatiosResult, m_ratios);
  ++m_count;
  return outcome;
}

}  // namespace loom
