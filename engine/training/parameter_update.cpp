#include "engine/training/parameter_update.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/base/error.h"

namespace loom {

ParameterUpdate::ParameterUpdate(const UpdateSpec& spec, int index, const Program& trained, ParameterStore& store,
                                 Backend& backend, const Options& options)
    : m_stepsPerEpoch(options.stepsPerEpoch),
      m_store(store),
      m_index(index),
      m_made(makeUpdateProgram(spec, index, trained,
                               {.stepsPerEpoch = options.stepsPerEpoch,
                                .averageDecay = options.averageDecay,
                                .clipNorm = options.clipNorm,
                                .rank = options.rank,
                                .ranks = options.ranks,
                                .sharesSlots = options.sharesSlots,
                                .ownGradients = options.gatherSquares != nullptr})),
      m_statistics(m_made.statistics ? backend.compile(std::move(*m_made.statistics), store,
                                                       {.threads = options.threads, .trace = options.trace})
                                     : nullptr),
      m_ownSquares(m_made.squares ? backend.compile(std::move(*m_made.squares), store,
                                                    {.threads = options.threads, .trace = options.trace})
                                  : nullptr),
      m_executable(backend.compile(std::move(m_made.program), store,
                                   {.threads = options.threads, .trace = options.trace, .profile = options.profile})),
      m_gatherSquares(options.gatherSquares),
      m_rank(options.rank),
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

namespace {

// A parameter's slots and matrices in the store.
class StoredProducts final : public ProductStore {
 public:
  StoredProducts(ParameterStore& store, const std::string& parameter, int index)
      : m_store(store), m_parameter(parameter), m_index(index) {}
  std::vector<float> read(std::string_view name) const override { return tensorOf(name).values(); }
  void write(std::string_view name, std::span<const float> values) override { tensorOf(name).write(values); }

 private:
  StoredTensor& tensorOf(std::string_view name) const {
    const std::string stored = nameInStore(std::string(name), m_index), matrix = matrixInStore(m_parameter, stored);
    return m_store.has(matrix) ? m_store.at(matrix).value : m_store.slot(m_parameter, stored);
  }
  ParameterStore& m_store;
  const std::string& m_parameter;
  int m_index;
};

}  // namespace

// False: a gradient is not finite.
bool ParameterUpdate::countStatistics(std::int64_t number, const ApplyOptions& options) {
  const StepNumber step = m_statistics->run(
      {.updateCount = number, .clipNorm = options.clipNorm.value_or(std::numeric_limits<double>::infinity())});
  m_statistics->readResult(kSquaresResult, m_squares, step);
  return std::all_of(m_squares.begin(), m_squares.end(), [](double square) { return std::isfinite(square); });
}

void ParameterUpdate::workOnHost(std::int64_t number) {
  const auto storeOf = [&](std::size_t i) {
    return StoredProducts(m_store, m_made.parameters[m_made.onHost[i]], m_index);
  };
  const ProductRule& rule = *m_made.products;
  for (std::size_t i = m_worked.size(); i < m_made.onHost.size(); ++i) {
    const std::vector<float> shown = storeOf(i).read(rule.shownOnHost(m_made.shapes[m_made.onHost[i]]));
    m_worked.push_back(std::any_of(shown.begin(), shown.end(), [](float value) { return value != 0; }));
  }
  const bool due = rule.dueOnHost(number);
  for (std::size_t i = 0; i < m_worked.size(); ++i) {
    if (!due && m_worked[i]) continue;
    StoredProducts store = storeOf(i);
    try {
      m_worked[i] = rule.workOnHost(m_made.shapes[m_made.onHost[i]], number, !m_worked[i], store);
    } catch (Error& error) {
      error.addContext(fmt::format("'{}'", m_made.parameters[m_made.onHost[i]]));
      throw;
    }
  }
}

// Of all gradients, of which other ranks have some.
void ParameterUpdate::takeSquares(std::int64_t number) {
  std::fill(m_squares.begin(), m_squares.end(), 0.0);
  if (m_ownSquares) {
    std::vector<double> own(static_cast<std::size_t>(std::count(m_made.owners.begin(), m_made.owners.end(), m_rank)));
    m_ownSquares->readResult(kSquaresResult, own, m_ownSquares->run({.updateCount = number}));
    for (std::size_t i = 0, at = 0; i < m_squares.size(); ++i)
      if (m_made.owners[i] == m_rank) m_squares[i] = own[at++];
  }
  m_gatherSquares(m_squares);
  const std::span<std::byte> input = m_executable->input(kSquaresResult);
  std::memcpy(input.data(), m_squares.data(), input.size());
}

void ParameterUpdate::begin(const ApplyOptions& options) {
  const std::int64_t number = m_count + static_cast<std::int64_t>(m_begun.size()) + 1;
  if (worksOnHost() && !m_begun.empty())
    throwError(ErrorCode::internal, "an update with work for the host is begun before the last is done");
  const bool sound = !m_statistics || countStatistics(number, options);
  if (sound && worksOnHost() && !m_made.products->worksBehind()) workOnHost(number);
  if (m_gatherSquares) takeSquares(number);
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
  if (!m_gatherSquares) m_executable->readResult(kSquaresResult, m_squares, begun.step);
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
  if (worksOnHost() && m_made.products->worksBehind()) workOnHost(begun.number);
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
