#include "tests/engine/ops/op_cases.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "engine/base/error.h"
#include "engine/base/philox.h"
#include "engine/passes/differentiate.h"
#include "engine/program/builder.h"
#include "tests/engine/ops/case_families.h"

namespace loom::cases {
namespace {

std::string nameOf(std::size_t input) {
  return "in" + std::to_string(input);
}

TensorId declare(ProgramBuilder& builder, const InputCase& input, std::size_t k) {
  const Parameter parameter{.name = nameOf(k), .shape = input.shape};
  switch (input.kind) {
    case InputKind::values:
      return builder.parameter(parameter);
    case InputKind::state:
      return builder.state(parameter);
    case InputKind::given:
      return builder.input(nameOf(k), input.shape, DataType::f32);
    case InputKind::labels:
      return builder.input(nameOf(k), input.shape, DataType::i32);
    case InputKind::bytes:
      return builder.input(nameOf(k), input.shape, DataType::u8);
    case InputKind::samples:
      return builder.input(nameOf(k), input.shape, DataType::i64);
    case InputKind::squares:
      return builder.input(nameOf(k), input.shape, DataType::f64);
    case InputKind::learningRate:
      return builder.scalar(kLearningRateScalar);
    case InputKind::updateCount:
      return builder.scalar(kUpdateCountScalar);
    case InputKind::clipNorm:
      return builder.scalar(kClipNormScalar);
    case InputKind::step:
      return builder.scalar(kStepScalar);
    case InputKind::firstSample:
      return builder.scalar(kFirstSampleScalar);
    case InputKind::absent:
      return kNoTensor;
  }
  return kNoTensor;
}

template <class T>
void write(std::span<std::byte> to, const std::vector<double>& values) {
  const std::vector<T> converted(values.begin(), values.end());
  std::memcpy(to.data(), converted.data(), converted.size() * sizeof(T));
}

}  // namespace

const std::vector<OpCase>& opCases() {
  static const std::vector<OpCase> all = [] {
    std::vector<OpCase> cases;
    for (const auto& family : {convolutionCases(), productCases(), normalizationCases(), elementwiseCases(),
                               shapeCases(), sequenceCases(), lossCases(), updateCases(), imageCases()})
      cases.insert(cases.end(), family.begin(), family.end());
    return cases;
  }();
  return all;
}

std::vector<OpCase> insideOf(const std::vector<OpCase>& cases) {
  std::vector<OpCase> inside;
  for (const OpCase& one : cases) {
    const OpDefinition& op = findOp(one.op);
    if (op.communicates || op.updatesOf != nullptr) continue;
    inside.push_back(one);
    inside.back().name += "_inside";
    inside.back().inside = true;
  }
  return inside;
}

Program programOf(const OpCase& opCase, bool backward) {
  ProgramBuilder builder(1, 1, true);
  builder.setOrigin(opCase.name);
  std::vector<TensorId> inputs;
  for (std::size_t k = 0; k < opCase.inputs.size(); ++k) {
    inputs.push_back(declare(builder, opCase.inputs[k], k));
    const InputKind kind = opCase.inputs[k].kind;
    if (opCase.inside && (kind == InputKind::values || kind == InputKind::given))
      inputs.back() = builder.add("scale", {inputs.back()}, {{"factor", 0.5}});
  }
  TensorId y = builder.add(opCase.op, inputs, opCase.attributes);
  if (opCase.inside && builder.tensor(y).type == DataType::f32) y = builder.add("scale", {y}, {{"factor", 2.0}});
  const TensorId projection = builder.input("projection", builder.shape(y), DataType::f32);
  const TensorId product = builder.tensor(y).type != DataType::f32
                               ? projection
                               : builder.add("binary", {y, projection}, {{"function", "multiply"}});
  builder.result("y", ResultKind::output, y);
  builder.result("loss", ResultKind::loss, builder.add("reduce", {product}, {{"function", "sum"}}));
  if (backward) differentiate(builder);
  return builder.take();
}

std::vector<double> valuesOf(const OpCase& opCase, std::size_t input, std::int64_t elements) {
  const InputCase& spec = opCase.inputs[input];
  const Philox random(17, opCase.name + "/" + nameOf(input));
  std::vector<double> values(static_cast<std::size_t>(elements));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (spec.kind == InputKind::labels || spec.kind == InputKind::bytes || spec.kind == InputKind::samples)
      values[i] = static_cast<double>(random.below(static_cast<std::uint64_t>(spec.high), i));
    else
      values[i] = static_cast<float>(spec.low + (spec.high - spec.low) * random.uniform(i));
  }
  return values;
}

std::vector<double> projectionOf(const OpCase& opCase, std::int64_t elements) {
  const Philox random(18, opCase.name);
  std::vector<double> values(static_cast<std::size_t>(elements));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(2 * random.uniform(i) - 1);
  return values;
}

void prepare(const OpCase& opCase, Evaluator& evaluator) {
  const Program& program = evaluator.program();
  for (std::size_t id = 0; id < program.tensors.size(); ++id) {
    const Tensor& tensor = program.tensors[id];
    ReferenceTensor& value = evaluator.value(static_cast<TensorId>(id));
    for (std::size_t k = 0; k < opCase.inputs.size(); ++k)
      if (tensor.name == nameOf(k) && tensor.role != TensorRole::parameterGradient)
        value.values = valuesOf(opCase, k, tensor.shape.elements());
    if (tensor.name == "projection") value.values = projectionOf(opCase, tensor.shape.elements());
    if (tensor.name == kStepScalar) value.values = {kStep};
    if (tensor.name == kFirstSampleScalar) value.values = {kFirstSample};
    if (tensor.name == kLearningRateScalar) value.values = {kLearningRate};
    if (tensor.name == kUpdateCountScalar) value.values = {kUpdateCount};
    if (tensor.name == kClipNormScalar) value.values = {kClipNorm};
  }
}

Outcome runCase(const OpCase& opCase, Backend& backend, const CompileOptions& options, bool backward) {
  return runProgram(opCase, programOf(opCase, backward), backend, options);
}

Outcome runProgram(const OpCase& opCase, const Program& program, Backend& backend, const CompileOptions& options) {
  ParameterStore store(1, backend.makeMemory());
  store.ensure(program.parameters);
  const std::unique_ptr<Executable> executable = backend.compile(program, store, options);
  for (std::size_t k = 0; k < opCase.inputs.size(); ++k) {
    const InputCase& input = opCase.inputs[k];
    const std::vector<double> values = valuesOf(opCase, k, input.shape.elements());
    if (store.has(nameOf(k)))
      store.at(nameOf(k)).value.write(std::vector<float>(values.begin(), values.end()));
    else if (input.kind == InputKind::given)
      write<float>(executable->input(nameOf(k)), values);
    else if (input.kind == InputKind::squares)
      write<double>(executable->input(nameOf(k)), values);
    else if (input.kind == InputKind::bytes)
      write<std::uint8_t>(executable->input(nameOf(k)), values);
    else if (input.kind == InputKind::samples)
      write<std::int64_t>(executable->input(nameOf(k)), values);
    else if (input.kind == InputKind::labels)
      write<std::int32_t>(executable->input(nameOf(k)), values);
  }
  const Shape projection = program.tensor(program.findTensor("projection", TensorRole::input)).shape;
  write<float>(executable->input("projection"), projectionOf(opCase, projection.elements()));
  executable->run({.step = kStep,
                   .firstSample = kFirstSample,
                   .learningRate = kLearningRate,
                   .updateCount = kUpdateCount,
                   .clipNorm = kClipNorm});

  Outcome outcome;
  for (const NamedResult& result : program.results) {
    outcome[result.name].resize(static_cast<std::size_t>(program.tensor(result.tensor).shape.elements()));
    executable->readResult(result.name, outcome[result.name]);
  }
  for (const auto& entry : store.entries()) {
    outcome[(entry->parameter.isState ? "state " : "gradient of ") + entry->parameter.name] =
        (entry->parameter.isState ? entry->value : entry->gradient).values();
  }
  return outcome;
}

double magnitudeOf(const OpCase& opCase, const std::vector<float>& y) {
  const Program program = programOf(opCase, false);
  const std::vector<double> projection = projectionOf(opCase, static_cast<std::int64_t>(y.size()));
  const bool projected = program.tensor(program.results[0].tensor).type == DataType::f32;
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += std::abs(projection[i] * (projected ? double{y[i]} : 1));
  return sum;
}

double relativeDistance(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(a[i]) != std::isfinite(b[i])) return std::numeric_limits<double>::infinity();
    if (!std::isfinite(a[i])) continue;
    difference += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    norm += double{b[i]} * b[i];
  }
  return std::sqrt(difference) / std::max(std::sqrt(norm), 1e-6 * std::sqrt(static_cast<double>(a.size())));
}

}  // namespace loom::cases
