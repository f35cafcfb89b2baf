// gradient_squares, scale_all and update: all tensors in a few launches, whatever their number. Nothing waits for the
// host: whether gradients are finite, the clipping and the trust ratios are found on the device before the first weight
// changes.
#include "engine/ops/update.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/cuda/kernels/update.h"
#include "engine/cuda/lowerings/lowerings.h"
#include "engine/cuda/lowerings/pieces.h"

namespace loom::cuda {
namespace {

Cut cutFor(const Plan& plan, const std::vector<TensorId>& ids) {
  std::vector<std::int64_t> elements;
  for (const TensorId id : ids) elements.push_back(plan.shape(id).elements());
  return cutOf(elements);
}

// A warp a tensor.
Launch overTensors(const Cut& cut) {
  const std::size_t warps = kUpdateThreads / 32;
  return {.grid = {static_cast<unsigned>((cut.tensors.size() + warps - 1) / warps)}, .block = {kUpdateThreads}};
}

void lowerGradientSquares(Plan& plan, const Operation& operation) {
  const Cut cut = cutFor(plan, operation.inputs);
  std::vector<Operand> gradients;
  for (const TensorId id : operation.inputs) gradients.push_back(plan.read(id));
  const Operand tensors = plan.constant(cut.tensors.size() * sizeof(SquaresTensor), [gradients, cut] {
    std::vector<SquaresTensor> table;
    for (std::size_t i = 0; i < gradients.size(); ++i)
      table.push_back({gradients[i].address<const float>(), cut.tensors[i]});
    return bytesOfTable(table);
  });
  const Operand pieces = plan.constant(bytesOfTable(cut.pieces)),
                parts = plan.scratch(cut.pieces.size() * sizeof(double)), squares = plan.write(operation.outputs[0]);
  const auto arguments = [=, count = static_cast<std::int32_t>(cut.tensors.size())] {
    return SquaresArguments{.tensors = tensors.address<const SquaresTensor>(),
                            .pieces = pieces.address<const Piece>(),
                            .parts = parts.address<double>(),
                            .squares = squares.address<double>(),
                            .tensorCount = count};
  };
  std::vector<Operand> reads{tensors, pieces};
  reads.insert(reads.end(), gradients.begin(), gradients.end());
  plan.kernel("squares_of_pieces", overPieces(cut), std::move(reads), {parts}, arguments);
  plan.kernel("squares_of_tensors", overTensors(cut), {tensors, parts}, {squares}, arguments);
}

struct Scaled {
  Operand from, to;
  bool delivered = false;
};
Operand tableOf(Plan& plan, const std::vector<Scaled>& tensors, const Cut& cut) {
  return plan.constant(tensors.size() * sizeof(ScaledTensor), [tensors, cut] {
    std::vector<ScaledTensor> table;
    for (std::size_t i = 0; i < tensors.size(); ++i)
      table.push_back({tensors[i].from.address<const float>(), tensors[i].to.address<float>(), cut.tensors[i],
                       tensors[i].delivered ? 1 : 0});
    return bytesOfTable(table);
  });
}

// What goes to the store as a gradient is delivered at once: one launch for all.
void lowerScaleAll(Plan& plan, const Operation& operation) {
  const std::vector<TensorId> from(operation.inputs.begin() + 1, operation.inputs.end());
  const Cut cut = cutFor(plan, from);
  const Operand factor = plan.read(operation.inputs[0]), words = plan.deliveryWords();
  std::vector<Scaled> tensors;
  std::vector<Operand> reads{factor}, writes;
  bool delivers = false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const TensorId y = operation.outputs[i];
    const bool delivered = plan.tensor(y).role == TensorRole::parameterGradient;
    tensors.push_back({plan.read(from[i]), delivered ? plan.inStore(y) : plan.write(y), delivered});
    reads.push_back(tensors.back().from);
    writes.push_back(tensors.back().to);
    if (delivered) reads.push_back(tensors.back().to.moving(0));  // only what is added to is read
    delivers |= delivered;
  }
  if (delivers) reads.push_back(words);
  const Operand table = tableOf(plan, tensors, cut), pieces = plan.constant(bytesOfTable(cut.pieces));
  reads.insert(reads.end(), {table, pieces});
  plan.kernel("update_scale_all", overPieces(cut), std::move(reads), std::move(writes), [=] {
    return ScaleAllArguments{table.address<const ScaledTensor>(), pieces.address<const Piece>(),
                             factor.address<const float>(), words.address<const DeliveryWords>()};
  });
}

struct UpdatedTensor {
  Operand weight, gradient, slots[kMostSlots], average;
  UpdateOfTensor settings;
};

Operand tableOf(Plan& plan, const std::vector<UpdatedTensor>& tensors, const Cut& cut) {
  return plan.constant(tensors.size() * sizeof(UpdateTensor), [tensors, cut] {
    std::vector<UpdateTensor> table;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const UpdatedTensor& one = tensors[i];
      table.push_back({.weight = one.weight.address<float>(),
                       .gradient = one.gradient.address<const float>(),
                       .pieces = cut.tensors[i],
                       .weightDecay = one.settings.weightDecay,
                       .scaled = one.settings.scaled ? 1 : 0,
                       .square = static_cast<std::int32_t>(one.settings.square)});
      for (std::size_t slot = 0; slot < kMostSlots; ++slot) table.back().slots[slot] = one.slots[slot].address<float>();
      table.back().average = one.average.address<float>();
    }
    return bytesOfTable(table);
  });
}

void lowerUpdate(Plan& plan, const Operation& operation) {
  const UpdateSettings settings = updateSettings(operation.attributes);
  const UpdateInputs inputs = updateInputs(operation.inputs);
  std::vector<UpdatedTensor> tensors;
  std::vector<TensorId> weights;
  std::vector<Operand> gradients, slots, updated, averages;
  for (const UpdateOfTensor& one : settings.tensors) {
    weights.push_back(operation.inputs[one.weight]);
    UpdatedTensor tensor{.weight = plan.read(weights.back()),
                         .gradient = plan.read(operation.inputs[one.gradient]),
                         .slots = {},
                         .average = {},
                         .settings = one};
    for (std::size_t slot = 0; slot < settings.slots; ++slot) {
      tensor.slots[slot] = plan.read(operation.inputs[one.firstSlot + slot]);
      slots.push_back(tensor.slots[slot]);
    }
    if (settings.averageDecay > 0) averages.push_back(tensor.average = plan.read(operation.inputs[one.average]));
    gradients.push_back(tensor.gradient);
    updated.push_back(tensor.weight);
    tensors.push_back(std::move(tensor));
  }
  const Cut cut = cutFor(plan, weights);
  const bool measures = settings.rule->measures();
  const PlainRule rule = settings.rule->plain();
  const Operand learningRate = plan.read(inputs.learningRate), updateCount = plan.read(inputs.updateCount),
                clipNorm = plan.read(inputs.clipNorm), squares = plan.read(inputs.squares),
                table = tableOf(plan, tensors, cut), pieces = plan.constant(bytesOfTable(cut.pieces)),
                state = plan.lasting(sizeof(UpdateState)),
                constants = plan.scratch(std::max<std::size_t>(tensors.size(), 1) * rule.constantsBytes),
                sums = measures ? plan.scratch(cut.pieces.size() * sizeof(UpdateSums)) : Operand{},
                ratios = plan.write(operation.outputs[0]);
  const auto epochsAt = epochInput(settings, operation.inputs.size());
  const Operand epochs = epochsAt ? plan.read(operation.inputs[*epochsAt]) : Operand{};
  UpdateArguments shared{.stepsPerEpoch = settings.stepsPerEpoch,
                         .averageDecay = settings.averageDecay,
                         .tensorCount = static_cast<std::int32_t>(tensors.size()),
                         .squaresCount = static_cast<std::int32_t>(plan.shape(inputs.squares).elements())};
  if (rule.bytes.size() > kRuleBytes)
    throwError(ErrorCode::internal, "the rule '{}' takes {} bytes, but kernels take {}", rule.name, rule.bytes.size(),
               kRuleBytes);
  std::copy(rule.bytes.begin(), rule.bytes.end(), shared.rule);
  const auto arguments = [=] {
    UpdateArguments all = shared;
    all.learningRate = {learningRate.address(), learningRate.type};
    all.updateCount = {updateCount.address(), updateCount.type};
    all.clipNorm = {clipNorm.address(), clipNorm.type};
    all.epochs = {epochs.address(), epochs.type};
    all.squares = squares.address<const double>();
    all.tensors = table.address<const UpdateTensor>();
    all.pieces = pieces.address<const Piece>();
    all.state = state.address<UpdateState>();
    all.constants = constants.address();
    all.sums = sums.address<UpdateSums>();
    all.ratios = ratios.address<double>();
    return all;
  };
  const auto stage = [&](const char* name, const Launch& launch, std::vector<Operand> reads,
                         std::vector<Operand> writes) {
    plan.kernel(std::string(name) + "." + std::string(rule.name), launch, std::move(reads), std::move(writes),
                arguments);
  };
  const auto joined = [](std::vector<Operand> all, const std::vector<Operand>& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  stage("update_prepare", {.grid = {1}, .block = {kUpdateThreads}},
        {learningRate, updateCount, clipNorm, epochs, squares, table, state}, {state, constants, ratios});
  const std::vector<Operand> read =
      joined(joined({table, pieces, state, constants}, gradients), joined(updated, slots));
  if (measures && !tensors.empty()) {
    stage("update_measure", overPieces(cut), read, joined(slots, {sums}));
    stage("update_ratios", overTensors(cut), {table, state, sums, squares}, {constants, ratios});
  }
  if (!tensors.empty())
    stage("update", overPieces(cut), joined(read, averages), joined(joined(updated, slots), averages));

  std::vector<Scaled> states;
  std::vector<TensorId> ids;
  std::vector<Operand> becoming, changed;
  for (const StateOfUpdate& one : statesOf(settings, operation.inputs.size())) {
    ids.push_back(operation.inputs[one.state]);
    states.push_back({plan.read(operation.inputs[one.becomes]), plan.read(ids.back())});
    becoming.push_back(states.back().from);
    changed.push_back(states.back().to);
  }
  if (states.empty()) return;
  const Cut statesCut = cutFor(plan, ids);
  const Operand statesTable = tableOf(plan, states, statesCut),
                statesPieces = plan.constant(bytesOfTable(statesCut.pieces));
  // What an update that is refused leaves as it was is read, as it were.
  std::vector<Operand> statesRead = joined({statesTable, statesPieces, state}, becoming);
  for (const Operand& one : changed) statesRead.push_back(one.moving(0));
  plan.kernel("update_states", overPieces(statesCut), std::move(statesRead), std::move(changed), [=] {
    return UpdateStatesArguments{statesTable.address<const ScaledTensor>(), statesPieces.address<const Piece>(),
                                 state.address<const UpdateState>()};
  });
}

}  // namespace

LoweringRows updateRows() {
  static const LoweringRow rows[] = {
      {"gradient_squares", lowerGradientSquares, {}, {}, nullptr, StageKind::update},
      {"scale_all", lowerScaleAll, {}, {}, nullptr, StageKind::update},
      {"update", lowerUpdate, {}, {}, nullptr, StageKind::update},
  };
  return rows;
}

}  // namespace loom::cuda
