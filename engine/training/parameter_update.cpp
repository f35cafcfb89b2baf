#include "engine/training/parameter_update.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.h"

namespace loom {

ParameterUpdate::ParameterUpdate(const UpdateSpec& spec, int index, const Program& trained, ParameterStore& store,
                                 Backend& backend, const Options& options)
    : m_stepsPerEpoch(options.stepsPerEpoch),
      m_made(makeUpdateProgram(spec, index, trained,
                               {.stepsPerEpoch = options.stepsPerEpoch,
                                .averageDecay = options.averageDecay,
                                .clipNorm = options.clipNorm,
                                .rank = options.rank,
                                .ranks = options.ranks})),
      m_executable(backend.compile(std::move(m_made.program), store,
                                   {.threads = options.threads, .trace = options.trace, .profile = options.profile})),
      m_squares(m_made.parameters.size()),
      m_ratios(m_made.parameters.size(), 1.0) {}

// The epochs done, in whole steps of them; of a rule that weighs its steps, this one's share of their average: by the
// square of the highest rate so far (Defazio et al. 2024).
std::int64_t ParameterUpdate::stepScalar(const ApplyOptions& options) {
  if (!m_made.weighsSteps)
    return static_cast<std::int64_t>(std::floor(options.epoch * static_cast<double>(m_stepsPerEpoch) + 1e-6));
  m_weightsBegun = m_weights;
  m_weightsBegun.most = std::max(m_weights.most, options.learningRate);
  const double weight = m_weightsBegun.most * m_weightsBegun.most;
  m_weightsBegun.sum += weight;
  return partsOfShare(m_weightsBegun.sum > 0 ? weight / m_weightsBegun.sum : 0);
}

void ParameterUpdate::begin(const ApplyOptions& options) {
  const std::int64_t number = m_count + static_cast<std::int64_t>(m_begun.size()) + 1;
  const StepNumber step =
      m_executable->run({.step = stepScalar(options),
                         .learningRate = options.learningRate,
                         .updateCount = number,
                         .clipNorm = options.clipNorm.value_or(std::numeric_limits<double>::infinity())});
  m_begun.push_back({step, number});
}

ApplyOutcome ParameterUpdate::finish() {
  if (m_begun.empty()) throwError(ErrorCode::internal, "an update is to be finished, but none was begun");
  const Begun begun = m_begun.front();
  m_begun.pop_front();
  m_executable->readResult(kSquaresResult, m_squares, begun.step);
  double sum = 0;
  for (const double squares : m_squares) sum += squares;
  ApplyOutcome outcome{.gradientNorm = std::sqrt(sum), .notFinite = {}, .ratios = {}};
  const bool behindRefused = m_refused != 0 && begun.number > m_refused;
  for (std::size_t i = 0; i < m_squares.size(); ++i) {
    if (std::isfinite(m_squares[i])) continue;
    outcome.notFinite = m_made.parameters[i];
    if (!behindRefused) m_refused = begun.number;
    return outcome;
  }
  if (behindRefused) return outcome;
  m_refused = 0;
  m_executable->readResult(kRatiosResult, m_ratios, begun.step);
  if (m_made.measures) outcome.ratios = summary();
  ++m_count;
  if (m_made.weighsSteps) m_weights = m_weightsBegun;
  return outcome;
}

TrustRatios ParameterUpdate::summary() const {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < m_ratios.size(); ++i)
    if (m_made.scaled[i]) ratios.push_back(m_ratios[i]);
  if (ratios.empty()) return {};
  std::sort(ratios.begin(), ratios.end());
  return {.least = ratios.front(), .median = ratios[(ratios.size() - 1) / 2]};
}

}  // namespace loom
