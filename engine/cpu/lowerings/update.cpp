// An optimizer's step, over pieces of a few thousand elements of all tensors, which the threads share: a piece
// of gradient, weight and slots fits into a core's cache, tiny tensors are taken together, and sums are added piece by
// piece in their order, the same on any number of threads. A thread has the same pieces in every pass and goes through
// them to and fro, so that what it read last is still in its cache when the next pass begins.
#include "engine/ops/update.h"

#include <algorithm>
#include <cmath>

#include "engine/cpu/kernels/squares.h"
#include "engine/cpu/lowerings/lowerings.h"
#include "engine/optimizers/rules/average.h"

namespace loom::cpu {
namespace {

constexpr std::int64_t kPiece = 8192;  // elements: gradient, weight and two slots take 128 KiB

struct Piece {
  std::size_t tensor;
  std::int64_t first, count;
};

// Thread t of T has the t-th part of each large tensor's pieces, which is near to what it computes of that tensor's
// gradient and packs of its weight: so most numbers stay in one core's caches. Of all others, taken one behind the
// other, it has the t-th part.
class Pieces {
 public:
  Pieces(const std::vector<std::int64_t>& counts, int threads) : m_of(static_cast<std::size_t>(threads)) {
    std::vector<std::size_t> small;
    std::int64_t elements = 0;
    for (std::size_t tensor = 0; tensor < counts.size(); ++tensor) {
      const std::size_t before = m_pieces.size();
      for (std::int64_t first = 0; first < counts[tensor]; first += kPiece)
        m_pieces.push_back({tensor, first, std::min(kPiece, counts[tensor] - first)});
      const std::size_t pieces = m_pieces.size() - before;
      if (pieces < 4 * m_of.size()) {
        for (std::size_t i = before; i < m_pieces.size(); ++i) small.push_back(i);
        elements += counts[tensor];
        continue;
      }
      for (std::size_t i = 0; i < pieces; ++i) m_of[i * m_of.size() / pieces].push_back(before + i);
    }
    std::int64_t done = 0;
    for (const std::size_t i : small) {
      m_of[static_cast<std::size_t>(done * threads / elements)].push_back(i);
      done += m_pieces[i].count;
    }
  }

  std::int64_t size() const { return static_cast<std::int64_t>(m_pieces.size()); }
  const Piece& operator[](std::size_t i) const { return m_pieces[i]; }

  // Calls work(piece, index) for this part's pieces.
  template <class Work>
  void forwards(const Worker& worker, const Work& work) const {
    for (const std::size_t i : m_of[static_cast<std::size_t>(worker.index)]) work(m_pieces[i], i);
  }
  template <class Work>
  void backwards(const Worker& worker, const Work& work) const {
    const std::vector<std::size_t>& mine = m_of[static_cast<std::size_t>(worker.index)];
    for (auto i = mine.rbegin(); i != mine.rend(); ++i) work(m_pieces[*i], *i);
  }

 private:
  std::vector<Piece> m_pieces;
  std::vector<std::vector<std::size_t>> m_of;  // which, by part
};

// A number of rank 0, of whatever type.
std::function<double()> numberOf(Plan& plan, TensorId id) {
  const auto from = plan.read(id);
  switch (plan.tensor(id).type) {
    case DataType::f64:
      return [from] { return *from.as<double>().get(); };
    case DataType::i64:
      return [from] { return static_cast<double>(*from.as<std::int64_t>().get()); };
    default:
      return [from] { return static_cast<double>(*from.get()); };
  }
}

// The op `update`: what is decided before the first step, and one step.
class Step {
 public:
  Step(Plan& plan, const Operation& operation)
      : m_settings(updateSettings(operation.attributes)),
        m_pieces(countsOf(plan, operation, m_settings), plan.threads()) {
    const UpdateInputs inputs = updateInputs(operation.inputs);
    m_learningRate = numberOf(plan, inputs.learningRate);
    m_updateCount = numberOf(plan, inputs.updateCount);
    if (inputs.clipNorm != kNoTensor) m_clipNorm = numberOf(plan, inputs.clipNorm);
    m_squares = plan.read(inputs.squares).as<double>();
    m_squaresCount = static_cast<std::size_t>(plan.shape(inputs.squares).elements());
    for (const UpdateOfTensor& tensor : m_settings.tensors) {
      Buffers buffers{.weight = plan.read(operation.inputs[tensor.weight]),
                      .gradient = plan.read(operation.inputs[tensor.gradient]),
                      .slots = {}};
      for (std::size_t slot = 0; slot < m_settings.slots; ++slot)
        buffers.slots[slot] = plan.read(operation.inputs[tensor.firstSlot + slot]);
      if (m_settings.averageDecay > 0) buffers.average = plan.read(operation.inputs[tensor.average]);
      m_tensors.push_back(buffers);
    }
    for (const StateOfUpdate& state : statesOf(m_settings, operation.inputs.size()))
      m_states.push_back({plan.read(operation.inputs[state.state]), plan.read(operation.inputs[state.becomes]),
                          plan.shape(operation.inputs[state.state]).elements()});
    if (const auto epochsAt = epochInput(m_settings, operation.inputs.size()))
      m_epochs = numberOf(plan, operation.inputs[*epochsAt]);
    m_ratios = plan.write(operation.outputs[0]).as<double>();
    if (!m_settings.rule->measures()) return;
    m_sums = sumsFor(plan, m_pieces.size());
    m_sumsOfTensors = sumsFor(plan, static_cast<std::int64_t>(m_tensors.size()));
  }

  int phases() const { return m_settings.rule->measures() ? 3 : 1; }

  // Every part reads the same squares and so comes to the same answers.
  void run(const Worker& worker) const {
    if (worker.index == 0 && worker.phase == 0) std::fill_n(m_ratios.get(), m_squaresCount, 1.0);
    double sum = 0;
    for (std::size_t i = 0; i < m_squaresCount; ++i) sum += m_squares.get()[i];
    if (!std::isfinite(sum)) return;
    if (worker.phase == 0) takeStates(worker);
    const UpdateScalars scalars{
        .learningRate = static_cast<float>(m_learningRate()),
        .gradientScale = m_clipNorm ? static_cast<float>(clipScale(std::sqrt(sum), m_clipNorm())) : 1,
        .step = static_cast<std::int64_t>(m_updateCount()),
        .epoch = m_epochs ? m_epochs() / static_cast<double>(m_settings.stepsPerEpoch) : 0};
    const Optimizer& rule = *m_settings.rule;
    if (!rule.measures()) {
      m_pieces.backwards(worker,
                         [&](const Piece& piece, std::size_t) { apply(piece, scalarsOf(scalars, piece.tensor, 1)); });
    } else if (worker.phase == 0) {
      m_pieces.backwards(worker, [&](const Piece& piece, std::size_t i) {
        m_sums.get()[i] = rule.measure(rangeOf(piece), scalarsOf(scalars, piece.tensor, 1));
      });
    } else if (worker.phase == 1) {
      if (worker.index == 0) takeRatios(scalars);
    } else {
      m_pieces.forwards(worker, [&](const Piece& piece, std::size_t) {
        UpdateScalars known = scalarsOf(scalars, piece.tensor, m_ratios.get()[m_settings.tensors[piece.tensor].square]);
        known.sums = m_sumsOfTensors.get()[piece.tensor];
        apply(piece, known);
      });
    }
  }

 private:
  struct Buffers {
    Ref<float> weight, gradient, slots[kMostSlots], average;
  };

  // The rule on a piece, and its average while it is still in the cache.
  void apply(const Piece& piece, const UpdateScalars& scalars) const {
    const UpdateRange range = rangeOf(piece);
    m_settings.rule->update(range, scalars);
    if (m_settings.averageDecay == 0) return;
    float* average = m_tensors[piece.tensor].average.get() + piece.first;
    const double kept = keptOfAverage(m_settings.averageDecay, scalars.step);
    const auto keep = static_cast<float>(kept), take = static_cast<float>(1 - kept);
    for (std::int64_t i = 0; i < range.count; ++i) average[i] = keep * average[i] + take * range.weight[i];
  }

  static Ref<UpdateSums> sumsFor(Plan& plan, std::int64_t count) {
    static_assert(sizeof(UpdateSums) % sizeof(float) == 0);
    return plan.scratch(count * static_cast<std::int64_t>(sizeof(UpdateSums) / sizeof(float))).as<UpdateSums>();
  }

  static std::vector<std::int64_t> countsOf(const Plan& plan, const Operation& operation,
                                            const UpdateSettings& settings) {
    std::vector<std::int64_t> counts;
    for (const UpdateOfTensor& tensor : settings.tensors)
      counts.push_back(plan.shape(operation.inputs[tensor.weight]).elements());
    return counts;
  }

  UpdateRange rangeOf(const Piece& piece) const {
    const Buffers& buffers = m_tensors[piece.tensor];
    UpdateRange range{.weight = buffers.weight.get() + piece.first,
                      .gradient = buffers.gradient.get() + piece.first,
                      .slots = {},
                      .count = piece.count};
    for (std::size_t slot = 0; slot < m_settings.slots; ++slot)
      range.slots[slot] = buffers.slots[slot].get() + piece.first;
    return range;
  }

  UpdateScalars scalarsOf(UpdateScalars scalars, std::size_t tensor, double ratio) const {
    scalars.weightDecay = static_cast<float>(m_settings.tensors[tensor].weightDecay);
    scalars.tensorScale = static_cast<float>(ratio);
    return scalars;
  }

  void takeStates(const Worker& worker) const {
    for (const State& state : m_states) {
      const auto [first, last] = worker.share(state.count, 16);
      std::copy(state.becomes.get() + first, state.becomes.get() + last, state.state.get() + first);
    }
  }

  void takeRatios(const UpdateScalars& scalars) const {
    for (std::size_t i = 0; i < static_cast<std::size_t>(m_pieces.size());) {
      const std::size_t tensor = m_pieces[i].tensor;
      UpdateSums sums;
      for (; i < static_cast<std::size_t>(m_pieces.size()) && m_pieces[i].tensor == tensor; ++i) {
        sums.weight += m_sums.get()[i].weight;
        sums.direction += m_sums.get()[i].direction;
      }
      const std::size_t square = m_settings.tensors[tensor].square;
      sums.gradient = m_squares.get()[square];
      const bool scaled = m_settings.tensors[tensor].scaled;
      if (scaled) m_ratios.get()[square] = m_settings.rule->tensorScale(sums, scalarsOf(scalars, tensor, 1));
      m_sumsOfTensors.get()[tensor] = scaled ? sums : UpdateSums{};
    }
  }

  UpdateSettings m_settings;
  Pieces m_pieces;
  std::function<double()> m_learningRate, m_updateCount, m_clipNorm, m_epochs;
  Ref<double> m_squares, m_ratios;
  std::size_t m_squaresCount = 0;
  Ref<UpdateSums> m_sums, m_sumsOfTensors;  // of each piece and tensor, for rules that measure
  std::vector<Buffers> m_tensors;
  struct State {
    Ref<float> state, becomes;
    std::int64_t count;
  };
  std::vector<State> m_states;
};

}  // namespace

// Products are rounded before they are added to what a gradient holds.
void lowerScaleAll(Plan& plan, const Operation& operation) {
  struct Scaled {
    Ref<float> from;
    Plan::Target to;
    std::int64_t count;
  };
  std::vector<Scaled> tensors;
  const auto factor = plan.readOptional(operation.inputs[0]);
  for (std::size_t k = 0; k < operation.outputs.size(); ++k) {
    const TensorId x = operation.inputs[k + 1], y = operation.outputs[k];
    const auto from = plan.read(x);
    const bool delivered = plan.tensor(y).role == TensorRole::parameterGradient;
    tensors.push_back({from, delivered ? plan.deliverTo(y) : Plan::Target{plan.write(y)}, plan.shape(x).elements()});
  }
  plan.stage("scale_all", [factor, tensors](const Worker& worker) {
    const float by = factor ? *factor.get() : 1;
    for (const Scaled& one : tensors) {
      const auto [first, last] = worker.share(one.count, 16);
      const float* from = one.from.get();
      float* to = one.to.to.get();
      const bool adds = one.to.adds(worker);
      for (std::int64_t i = first; i < last; ++i) {
        const float value = by * from[i];
        to[i] = adds ? to[i] + value : value;
      }
    }
  });
}

void lowerGradientSquares(Plan& plan, const Operation& operation) {
  std::vector<Ref<float>> gradients;
  std::vector<std::int64_t> counts;
  for (const TensorId id : operation.inputs) {
    gradients.push_back(plan.read(id));
    counts.push_back(plan.shape(id).elements());
  }
  const Pieces pieces(counts, plan.threads());
  const auto parts = plan.scratch(2 * pieces.size()).as<double>();
  const auto squares = plan.write(operation.outputs[0]).as<double>();
  plan.stage("gradient_squares", [=](const Worker& worker) {
    if (worker.phase == 0)
      return pieces.forwards(worker, [&](const Piece& piece, std::size_t i) {
        parts.get()[i] = sumOfSquares(gradients[piece.tensor].get() + piece.first, piece.count);
      });
    if (worker.index != 0) return;
    std::fill_n(squares.get(), gradients.size(), 0.0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(pieces.size()); ++i)
      squares.get()[pieces[i].tensor] += parts.get()[i];
  });
  plan.phases(2);
}

void lowerUpdate(Plan& plan, const Operation& operation) {
  const auto step = std::make_shared<const Step>(plan, operation);
  plan.stage("update", [step](const Worker& worker) { step->run(worker); });
  plan.phases(step->phases());
}

}  // namespace loom::cpu
