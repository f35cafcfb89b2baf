#include "engine/cpu/stage_costs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "engine/ops/convolution_geometry.h"

namespace loom::cpu {
namespace {

// What one doubling of an extent matters beside one of a convolution's channels.
constexpr double kRows = 0.35, kBytes = 0.5, kFlag = 2;

double sizeOf(std::int64_t extent, double weight = 1) {
  return weight * std::log2(static_cast<double>(std::max<std::int64_t>(extent, 1)));
}

StageKind kindOf(std::string_view op) {
  if (op.starts_with("convolution")) return StageKind::convolution;
  if (op == "matmul") return StageKind::product;
  if (op.starts_with("attention")) return StageKind::attention;
  if (op.starts_with("lstm") || op.starts_with("gru")) return StageKind::recurrence;
  if (op == "update" || op == "gradient_squares" || op == "scale_all") return StageKind::update;
  return StageKind::memory;
}

double bytesOfTensor(const Program& program, TensorId id) {
  if (id == kNoTensor) return 0;
  const Tensor& tensor = program.tensor(id);
  return static_cast<double>(tensor.shape.elements()) * static_cast<double>(bytesOf(tensor.type));
}

std::vector<double> sizesOfConvolution(const Program& program, const Operation& operation) {
  const auto specs = program.wideSpecs(operation.inputs);
  const ConvolutionGeometry g = operation.op->name == "convolution" ? geometryOfConvolution(specs, operation.attributes)
                                : operation.op->name == "convolution_input_gradient"
                                    ? geometryOfInputGradient(specs, operation.attributes)
                                    : geometryOfWeightGradient(specs, operation.attributes);
  const auto volume = [](const ConvolutionGeometry::Three& three) { return three[0] * three[1] * three[2]; };
  return {sizeOf(g.inputsPerGroup()),
          sizeOf(g.outputsPerGroup()),
          sizeOf(volume(g.kernel)),
          g.groups > 1 ? kFlag : 0,
          volume(g.strides) > 1 ? kFlag : 0,
          sizeOf(volume(g.output), kRows),
          sizeOf(g.batch * volume(g.output), kRows)};
}

std::vector<double> sizesOfProduct(const Program& program, const Operation& operation) {
  const Shape &a = program.tensor(operation.inputs[0]).shape, &y = program.tensor(operation.outputs[0]).shape;
  const bool transposeA = operation.attributes.boolean("transpose_a", false),
             transposeB = operation.attributes.boolean("transpose_b", false);
  const std::int64_t inner = a[transposeA ? -2 : -1], columns = y[-1],
                     rows = y.elements() / std::max<std::int64_t>(columns, 1);
  return {sizeOf(rows, 0.7), sizeOf(columns, 0.7), sizeOf(inner, 0.7), transposeA ? kFlag : 0, transposeB ? kFlag : 0};
}

std::vector<double> sizesOf(const Program& program, const Operation& operation, const StageCost& cost) {
  const auto shape = [&](std::size_t input) -> const Shape& { return program.tensor(operation.inputs[input]).shape; };
  switch (cost.kind) {
    case StageKind::convolution:
      return sizesOfConvolution(program, operation);
    case StageKind::product:
      return sizesOfProduct(program, operation);
    case StageKind::attention: {  // q, k: batch, places, channels
      const std::int64_t heads = std::max<std::int64_t>(operation.attributes.integer("heads", 1), 1);
      return {sizeOf(shape(0)[1]), sizeOf(shape(1)[1]), sizeOf(shape(0)[2] / heads),
              sizeOf(shape(0)[0] * heads, kRows)};
    }
    case StageKind::recurrence:  // x: batch, time, channels; the recurrent weights: gates x hidden
      return {sizeOf(shape(0)[0]), sizeOf(shape(2)[1]), sizeOf(shape(0)[2], 0.7), sizeOf(shape(0)[1], kRows)};
    default:
      return {kBytes * std::log2(std::max(cost.read + cost.written, 1.0))};
  }
}

// The operation's own reading and writing, each tensor once: as it is joined with others.
StageCost costOf(const Compiled& compiled, int index) {
  const Program& program = compiled.program;
  const Operation& operation = program.operations[static_cast<std::size_t>(index)];
  const FusedOutput& fused = compiled.fusion.outputs[static_cast<std::size_t>(index)];
  StageCost cost{
      .op = operation.op->name, .kernel = {}, .origin = operation.origin, .kind = kindOf(operation.op->name)};
  bool half = false;
  const auto moves = [&](double& bytes, TensorId id) {
    bytes += bytesOfTensor(program, id);
    half |= id != kNoTensor && program.tensor(id).type == DataType::bf16;
  };
  for (const TensorId id : operation.inputs) moves(cost.read, id);
  for (const TensorId id : {fused.addend, fused.mask}) moves(cost.read, id);
  for (std::size_t k = 0; k < operation.outputs.size(); ++k)
    moves(cost.written, k == 0 && fused.output != kNoTensor ? fused.output : operation.outputs[k]);
  for (const int place : updatedInputs(*operation.op, operation.inputs.size(), operation.attributes))
    cost.written += bytesOfTensor(program, operation.inputs[static_cast<std::size_t>(place)]);
  if (operation.op->multiplyAdds != nullptr)
    cost.operations = 2 * operation.op->multiplyAdds(program.wideSpecs(operation.inputs),
                                                     program.wideSpecs(operation.outputs), operation.attributes);
  const bool multiplies = cost.kind != StageKind::memory && cost.kind != StageKind::update;
  cost.factors = half || (multiplies && compiled.bf16) ? DataType::bf16 : DataType::f32;
  cost.sizes = sizesOf(program, operation, cost);
  return cost;
}

StageCost conversion(const Stage& stage) {
  return {.op = stage.kernel,
          .kernel = stage.kernel,
          .origin = stage.origin,
          .kind = StageKind::memory,
          .read = stage.moved / 2,
          .written = stage.moved / 2,
          .sizes = {kBytes * std::log2(std::max(stage.moved, 1.0))}};
}

}  // namespace

std::vector<StageCost> costsOf(const Compiled& compiled) {
  std::vector<StageCost> costs;
  const auto measured = [&](std::size_t stage) {
    return stage < compiled.measured.size() ? compiled.measured[stage] : 0.0;
  };
  if (!compiled.packs.empty()) {
    double elements = 0;
    for (const Plan::Pack& pack : compiled.packs) elements += static_cast<double>(pack.elements);
    const double wide = elements * sizeof(float);
    costs.push_back({.op = "pack weights",
                     .kernel = "pack weights",
                     .origin = {},
                     .factors = compiled.bf16 ? DataType::bf16 : DataType::f32,
                     .read = wide,
                     .written = compiled.bf16 ? wide / 2 : wide,
                     .sizes = {kBytes * std::log2(std::max(wide, 1.0))},
                     .measured = measured(compiled.stages.size())});
  }
  std::map<int, std::size_t> places;
  for (std::size_t i = 0; i < compiled.stages.size(); ++i) {
    const Stage& stage = compiled.stages[i];
    if (stage.moved > 0) {
      costs.push_back(conversion(stage));
      costs.back().measured = measured(i);
      continue;
    }
    const auto [place, isNew] = places.emplace(stage.operation, costs.size());
    if (isNew) {
      costs.push_back(costOf(compiled, stage.operation));
      costs.back().kernel = stage.kernel;
      costs.back().calls = 0;
    }
    StageCost& cost = costs[place->second];
    ++cost.calls;
    cost.measured += measured(i);
  }
  return costs;
}

}  // namespace loom::cpu
