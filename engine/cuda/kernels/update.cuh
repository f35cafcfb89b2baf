// An optimizer's step. The rules' arithmetic is that of engine/optimizers/rules; which there are, LOOM_UPDATE_RULES
// says (CMakeLists.txt).
#include "engine/cuda/kernels/language.h"
#include "engine/cuda/kernels/pieces.cuh"
#include "engine/cuda/kernels/reduce_block.cuh"
#include "engine/cuda/kernels/update.h"
#include "engine/optimizers/rules/average.h"
#include "engine/optimizers/rules/rule.h"

namespace loom::cuda {

__global__ void __launch_bounds__(kUpdateThreads) squaresOfPieces(SquaresArguments a) {
  const Piece piece = a.pieces[blockIdx.x];
  const SquaresTensor tensor = a.tensors[piece.tensor];
  double sum = 0;
  const auto add = [&](float x) { sum += static_cast<double>(x) * x; };
  overPiece(
      tensor.pieces, piece,
      [&](std::int64_t i) {
        const Pack<float> pack = *reinterpret_cast<const Pack<float>*>(tensor.x + i);
        for (int k = 0; k < 4; ++k) add(pack.at[k]);
      },
      [&](std::int64_t i) { add(tensor.x[i]); });
  sum = blockSum<kUpdateThreads>(sum);
  if (threadIdx.x == 0) a.parts[blockIdx.x] = sum;
}

// A warp a tensor.
__global__ void __launch_bounds__(kUpdateThreads) squaresOfTensors(SquaresArguments a) {
  const std::int64_t t = firstOfThread() / kWarp;
  if (t >= a.tensorCount) return;
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const TensorPieces pieces = a.tensors[t].pieces;
  double sum = 0;
  for (std::int32_t k = lane; k < pieces.pieces; k += kWarp) sum += a.parts[pieces.firstPiece + k];
  sum = warpSum(sum);
  if (lane == 0) a.squares[t] = sum;
}

// kCount elements from i on: all are loaded before the first is stored, which may be one of them for all that is known.
template <int kCount>
__device__ __forceinline__ void scaleSome(const ScaledTensor& tensor, std::int64_t i, float factor,
                                          const DeliveryWords& words) {
  using Numbers = Few<float, kCount>;
  Numbers numbers = *reinterpret_cast<const Numbers*>(tensor.from + i), before{};
  if (words.accumulate != 0) before = *reinterpret_cast<const Numbers*>(tensor.to + i);
  for (int k = 0; k < kCount; ++k) {
    const float value = words.scale * (factor * numbers.at[k]);
    numbers.at[k] = words.accumulate != 0 ? before.at[k] + value : value;
  }
  *reinterpret_cast<Numbers*>(tensor.to + i) = numbers;
}

__global__ void __launch_bounds__(kUpdateThreads) scaleAll(ScaleAllArguments a) {
  const Piece piece = a.pieces[blockIdx.x];
  const ScaledTensor tensor = a.tensors[piece.tensor];
  const float factor = a.factor == nullptr ? 1 : *a.factor;
  DeliveryWords words{0, 1};
  if (tensor.delivered != 0) words = *a.words;
  overPiece(
      tensor.pieces, piece, [&](std::int64_t i) { scaleSome<4>(tensor, i, factor, words); },
      [&](std::int64_t i) { scaleSome<1>(tensor, i, factor, words); });
}

__global__ void __launch_bounds__(kUpdateThreads) updateStates(UpdateStatesArguments a) {
  if (a.state->made == 0) return;
  const Piece piece = a.pieces[blockIdx.x];
  const ScaledTensor tensor = a.tensors[piece.tensor];
  overPiece(
      tensor.pieces, piece,
      [&](std::int64_t i) {
        *reinterpret_cast<Pack<float>*>(tensor.to + i) = *reinterpret_cast<const Pack<float>*>(tensor.from + i);
      },
      [&](std::int64_t i) { tensor.to[i] = tensor.from[i]; });
}

__device__ __forceinline__ double numberOf(const UpdateNumber& number) {
  if (number.type == DataType::f64) return *reinterpret_cast<const double*>(number.at);
  if (number.type == DataType::i64) return static_cast<double>(*reinterpret_cast<const std::int64_t*>(number.at));
  return *reinterpret_cast<const float*>(number.at);
}

template <class Rule>
__device__ __forceinline__ const Rule& ruleOf(const UpdateArguments& a) {
  static_assert(sizeof(Rule) <= kRuleBytes);
  return *reinterpret_cast<const Rule*>(a.rule);
}
template <class Rule>
__device__ __forceinline__ typename Rule::template Constants<float>& constantsOf(const UpdateArguments& a,
                                                                                 std::int64_t tensor) {
  return reinterpret_cast<typename Rule::template Constants<float>*>(a.constants)[tensor];
}
__device__ __forceinline__ UpdateScalars scalarsOf(const UpdateArguments& a, const UpdateScalars& shared,
                                                   std::int64_t tensor, double ratio) {
  UpdateScalars scalars = shared;
  scalars.weightDecay = static_cast<float>(a.tensors[tensor].weightDecay);
  scalars.tensorScale = static_cast<float>(ratio);
  return scalars;
}

// One block: whether anything is changed, the scale of the gradients, and each tensor's constants. The host may begin
// updates before it learns that one was refused: those behind it change nothing until its number comes again.
template <class Rule>
__global__ void __launch_bounds__(kUpdateThreads, 4) prepareUpdate(UpdateArguments a) {
  const std::int64_t refused = a.state->refused;
  double sum = 0;
  for (std::int32_t t = static_cast<int>(threadIdx.x); t < a.squaresCount; t += kUpdateThreads) sum += a.squares[t];
  sum = blockSum<kUpdateThreads>(sum);
  UpdateScalars scalars;
  scalars.learningRate = static_cast<float>(numberOf(a.learningRate));
  scalars.gradientScale =
      a.clipNorm.at == nullptr ? 1.0f : static_cast<float>(clipScale(sqrt(sum), numberOf(a.clipNorm)));
  scalars.step = static_cast<std::int64_t>(numberOf(a.updateCount));
  if (a.epochs.at != nullptr) scalars.epoch = numberOf(a.epochs) / static_cast<double>(a.stepsPerEpoch);
  if (threadIdx.x == 0) {
    const bool due = refused == 0 || scalars.step <= refused, made = due && isfinite(sum);
    a.state->scalars = scalars;
    a.state->made = made ? 1 : 0;
    a.state->refused = made ? 0 : due ? scalars.step : refused;
  }
  for (std::int32_t t = static_cast<int>(threadIdx.x); t < a.squaresCount; t += kUpdateThreads) a.ratios[t] = 1;
  for (std::int32_t t = static_cast<int>(threadIdx.x); t < a.tensorCount; t += kUpdateThreads) {
    constantsOf<Rule>(a, t) = ruleOf<Rule>(a).template constants<float>(scalarsOf(a, scalars, t, 1));
  }
}

// kCount elements of a tensor from i on, as `work(weight, gradient, slots)` leaves them.
template <class Rule, int kCount, bool kWeights, class Work>
__device__ __forceinline__ void workOn(const UpdateTensor& tensor, std::int64_t i, const Work& work) {
  using Numbers = Few<float, kCount>;
  Numbers weight = *reinterpret_cast<const Numbers*>(tensor.weight + i);
  const Numbers gradient = *reinterpret_cast<const Numbers*>(tensor.gradient + i);
  Numbers slots[kMostSlots];
  for (int slot = 0; slot < Rule::kSlots; ++slot)
    slots[slot] = *reinterpret_cast<const Numbers*>(tensor.slots[slot] + i);
  for (int k = 0; k < kCount; ++k) {
    float here[kMostSlots] = {};
    for (int slot = 0; slot < Rule::kSlots; ++slot) here[slot] = slots[slot].at[k];
    work(weight.at[k], gradient.at[k], here);
    for (int slot = 0; slot < Rule::kSlots; ++slot) slots[slot].at[k] = here[slot];
  }
  for (int slot = 0; slot < Rule::kSlots; ++slot) *reinterpret_cast<Numbers*>(tensor.slots[slot] + i) = slots[slot];
  if (kWeights) *reinterpret_cast<Numbers*>(tensor.weight + i) = weight;
}

template <class Rule>
__global__ void __launch_bounds__(kUpdateThreads) measurePieces(UpdateArguments a) {
  UpdateSums sums;
  if (a.state->made == 0) {
    if (threadIdx.x == 0) a.sums[blockIdx.x] = sums;
    return;
  }
  const Piece piece = a.pieces[blockIdx.x];
  const UpdateTensor tensor = a.tensors[piece.tensor];
  const auto constants = constantsOf<Rule>(a, piece.tensor);
  const auto gather = [&](const float& weight, float gradient, float(&slots)[kMostSlots]) {
    const UpdateSums part = Rule::gather(constants, weight, gradient, slots);
    sums.weight += part.weight;
    sums.direction += part.direction;
  };
  overPiece(
      tensor.pieces, piece, [&](std::int64_t i) { workOn<Rule, 4, false>(tensor, i, gather); },
      [&](std::int64_t i) { workOn<Rule, 1, false>(tensor, i, gather); });
  sums.weight = blockSum<kUpdateThreads>(sums.weight);
  sums.direction = blockSum<kUpdateThreads>(sums.direction);
  if (threadIdx.x == 0) a.sums[blockIdx.x] = sums;
}

// A warp a tensor: its trust ratio, and its constants with that.
template <class Rule>
__global__ void __launch_bounds__(kUpdateThreads) takeRatios(UpdateArguments a) {
  const std::int64_t t = firstOfThread() / kWarp;
  if (t >= a.tensorCount || a.state->made == 0) return;
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const UpdateTensor& tensor = a.tensors[t];
  UpdateSums sums;
  for (std::int32_t k = lane; k < tensor.pieces.pieces; k += kWarp) {
    sums.weight += a.sums[tensor.pieces.firstPiece + k].weight;
    sums.direction += a.sums[tensor.pieces.firstPiece + k].direction;
  }
  sums.weight = warpSum(sums.weight);
  sums.direction = warpSum(sums.direction);
  if (lane != 0 || tensor.scaled == 0) return;
  sums.gradient = a.squares[tensor.square];
  const UpdateScalars shared = a.state->scalars;
  const double ratio = ruleOf<Rule>(a).tensorScale(sums, scalarsOf(a, shared, t, 1));
  a.ratios[tensor.square] = ratio;
  UpdateScalars known = scalarsOf(a, shared, t, ratio);
  known.sums = sums;
  constantsOf<Rule>(a, t) = ruleOf<Rule>(a).template constants<float>(known);
}

// kCount elements of an average: keep of it, and take of the weights, which the same thread has just written.
template <int kCount>
__device__ __forceinline__ void averageSome(const UpdateTensor& tensor, std::int64_t i, float keep, float take) {
  using Numbers = Few<float, kCount>;
  const Numbers weight = *reinterpret_cast<const Numbers*>(tensor.weight + i);
  Numbers average = *reinterpret_cast<const Numbers*>(tensor.average + i);
  for (int k = 0; k < kCount; ++k) average.at[k] = keep * average.at[k] + take * weight.at[k];
  *reinterpret_cast<Numbers*>(tensor.average + i) = average;
}
__device__ __forceinline__ void averagePiece(const UpdateTensor& tensor, const Piece& piece, float keep, float take) {
  overPiece(
      tensor.pieces, piece, [&](std::int64_t i) { averageSome<4>(tensor, i, keep, take); },
      [&](std::int64_t i) { averageSome<1>(tensor, i, keep, take); });
}

template <class Rule>
__global__ void __launch_bounds__(kUpdateThreads) updatePieces(UpdateArguments a) {
  if (a.state->made == 0) return;
  const Piece piece = a.pieces[blockIdx.x];
  const UpdateTensor tensor = a.tensors[piece.tensor];
  const auto constants = constantsOf<Rule>(a, piece.tensor);
  const auto descend = [&](float& weight, float gradient, float(&slots)[kMostSlots]) {
    Rule::update(constants, weight, gradient, slots);
  };
  overPiece(
      tensor.pieces, piece, [&](std::int64_t i) { workOn<Rule, 4, true>(tensor, i, descend); },
      [&](std::int64_t i) { workOn<Rule, 1, true>(tensor, i, descend); });
  if (tensor.average == nullptr) return;
  const double kept = keptOfAverage(a.averageDecay, a.state->scalars.step);
  averagePiece(tensor, piece, static_cast<float>(kept), static_cast<float>(1 - kept));
}

#define LOOM_UPDATE_ROWS(name, Rule)                                             \
  LOOM_KERNEL_ONE("update_prepare." name, prepareUpdate<Rule>, UpdateArguments), \
      LOOM_KERNEL_ONE("update." name, updatePieces<Rule>, UpdateArguments)
#define LOOM_MEASURING_ROWS(name, Rule)                                                                        \
  LOOM_UPDATE_ROWS(name, Rule), LOOM_KERNEL_ONE("update_measure." name, measurePieces<Rule>, UpdateArguments), \
      LOOM_KERNEL_ONE("update_ratios." name, takeRatios<Rule>, UpdateArguments)

// By Rule::kName.
LOOM_KERNELS(update, LOOM_KERNEL_ONE("squares_of_pieces", squaresOfPieces, SquaresArguments),
             LOOM_KERNEL_ONE("squares_of_tensors", squaresOfTensors, SquaresArguments),
             LOOM_KERNEL_ONE("update_scale_all", scaleAll, ScaleAllArguments),
             LOOM_KERNEL_ONE("update_states", updateStates, UpdateStatesArguments),
             LOOM_UPDATE_RULES(LOOM_UPDATE_ROWS, LOOM_MEASURING_ROWS))
#undef LOOM_MEASURING_ROWS
#undef LOOM_UPDATE_ROWS

}  // namespace loom::cuda
