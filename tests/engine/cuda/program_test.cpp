// Small programs whose operations meet: joined ones, layouts that are not plain, checks of labels and indices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/passes/differentiate.h"
#include "engine/program/builder.h"
#include "tests/engine/cuda/fake/fake_device.h"
#include "tests/engine/ops/op_cases.h"

namespace loom::cuda {
namespace {

using Integers = std::vector<std::int64_t>;

TensorId weight(ProgramBuilder& builder, const std::string& name, Shape shape) {
  return builder.parameter({.name = name, .shape = std::move(shape), .initializer = {InitializerKind::normal, 1.0}});
}
TensorId unary(ProgramBuilder& builder, const char* function, TensorId x) {
  return builder.add("unary", {x}, {{"function", std::string(function)}});
}
TensorId sum(ProgramBuilder& builder, TensorId a, TensorId b) {
  return builder.add("binary", {a, b}, {{"function", "add"}});
}
TensorId half(ProgramBuilder& builder, TensorId x) {
  return builder.add("scale", {x}, {{"factor", 0.5}});
}
// Numbers that stand channels-last, as a convolution leaves them.
TensorId image(ProgramBuilder& builder, const std::string& name, std::int64_t channels) {
  return builder.add("transpose", {weight(builder, name, {2, 3, 5, channels})}, {{"axes", Integers{0, 3, 1, 2}}});
}

cases::Outcome runProgram(Backend& backend, const Program& program, DataType precision,
                          std::vector<std::int32_t> labels = {}, std::vector<std::string>* kernels = nullptr) {
  ParameterStore store(1, backend.makeMemory());
  const auto executable = backend.compile(program, store, {.precision = precision});
  if (kernels != nullptr) {
    kernels->clear();
    const Json description = executable->describe();
    for (const Json& stage : description.at("operations")) kernels->push_back(stage.at("kernel").get<std::string>());
  }
  if (!labels.empty())
    std::memcpy(executable->input("labels").data(), labels.data(), labels.size() * sizeof(std::int32_t));
  executable->run({.step = 3, .firstSample = 5});
  cases::Outcome outcome;
  for (const NamedResult& result : program.results) {
    outcome[result.name].resize(static_cast<std::size_t>(program.tensor(result.tensor).shape.elements()));
    executable->readResult(result.name, outcome[result.name]);
  }
  for (const Parameter& parameter : program.parameters)
    if (program.training) outcome["gradient of " + parameter.name] = store.at(parameter.name).gradient.values();
  return outcome;
}

// In all types, in several orders. Answers the kernels of the step in f32.
std::vector<std::string> expectAsReference(const Program& program) {
  std::vector<std::string> kernels, others;
  const auto reference = makeReferenceBackend();
  const cases::Outcome expected = runProgram(*reference, program, DataType::f32);
  for (const auto& [type, bound] :
       {std::pair(DataType::f32, 1e-5), std::pair(DataType::bf16, 1.5e-2), std::pair(DataType::f16, 2e-3)})
    for (const std::uint64_t seed : {1, 2}) {
      SCOPED_TRACE(std::string(toString(type)));
      const auto device = std::make_shared<fake::FakeDevice>(fake::FakeOptions{.seed = seed});
      const cases::Outcome found =
          runProgram(*makeCudaBackend(device), program, type, {}, type == DataType::f32 ? &kernels : &others);
      for (const auto& [name, values] : expected)
        EXPECT_LT(cases::relativeDistance(found.at(name), values), bound) << name;
    }
  return kernels;
}

// relu(y + y / 2) with y = relu(x): the second ReLU is taken where the sum is written, and the mask of the first where
// the sum of the gradients that come back to it is.
TEST(CudaProgram, reluAndMaskAreJoinedToSums) {
  ProgramBuilder builder(2, 1, true);
  const TensorId y = unary(builder, "relu", image(builder, "x", 7));
  const TensorId z =
      unary(builder, "relu", sum(builder, sum(builder, y, half(builder, y)), image(builder, "other", 7)));
  const TensorId product = builder.add("binary", {z, image(builder, "weights", 7)}, {{"function", "multiply"}});
  builder.result("loss", ResultKind::loss, builder.add("reduce", {product}, {{"function", "sum"}}));
  differentiate(builder);
  const Program program = builder.take();
  const std::vector<std::string> kernels = expectAsReference(program);
  EXPECT_EQ(std::ranges::count(kernels, "unary.f32"), 1);
  EXPECT_EQ(std::ranges::count(kernels, "unary_gradient.f32"), 1);
}

TEST(CudaProgram, dropoutDrawsTheSameMaskInAnyLayout) {
  for (const std::int64_t channels : {7, 16}) {
    ProgramBuilder builder(2, 1, false);
    const TensorId x = half(builder, image(builder, "x", channels));
    const TensorId y = builder.add("dropout", {x, builder.scalar(kStepScalar), builder.scalar(kFirstSampleScalar)},
                                   {{"probability", 0.4}, {"stream", std::int64_t{99}}, {"seed", std::int64_t{3}}});
    builder.result("y", ResultKind::output, half(builder, y));
    expectAsReference(builder.take());
  }
}

TEST(CudaProgram, dropoutDrawsTheSameMaskWhereSamplesAreNotOutermost) {
  ProgramBuilder builder(4, 1, false);
  const TensorId x = builder.add("transpose", {weight(builder, "x", {5, 4, 3})}, {{"axes", Integers{1, 0, 2}}});
  const TensorId y =
      builder.add("dropout", {half(builder, x), builder.scalar(kStepScalar), builder.scalar(kFirstSampleScalar)},
                  {{"probability", 0.4}, {"stream", std::int64_t{99}}});
  builder.result("y", ResultKind::output, half(builder, y));
  expectAsReference(builder.take());
}

// Each kind of product, of factors that TF32 cannot hold: x and w are 1 + 2^-12 everywhere. What reaches the device is
// the compute type that was asked for; what comes back tells it.
TEST(CudaProgram, tf32RoundsFactorsWhereItIsAskedForAndNowhereElse) {
  constexpr double kFactor = 1 + 0x1p-12;
  const auto full = [](ProgramBuilder& builder, const char* name, Shape shape) {
    return builder.parameter(
        {.name = name, .shape = std::move(shape), .initializer = {InitializerKind::constant, kFactor}});
  };
  ProgramBuilder builder(2, 1, true);
  const TensorId y =
      builder.add("convolution", {full(builder, "image", {2, 4, 3, 3}), full(builder, "kernel", {5, 4, 1, 1})});
  const TensorId z = builder.add("matmul", {full(builder, "a", {3, 8}), full(builder, "b", {8, 6})});
  builder.result("y", ResultKind::output, y);
  builder.result("z", ResultKind::output, z);
  const auto sumOf = [&](TensorId x) { return builder.add("reduce", {x}, {{"function", "sum"}}); };
  builder.result("loss", ResultKind::loss, sum(builder, sumOf(y), sumOf(z)));
  differentiate(builder);
  const Program program = builder.take();
  const auto found = [&](bool tf32) {
    const auto backend = makeCudaBackend(std::make_shared<fake::FakeDevice>());
    ParameterStore store(1, backend->makeMemory());
    const auto executable = backend->compile(program, store, {.tf32 = tf32});
    executable->run({});
    cases::Outcome outcome;
    outcome["y"].resize(2 * 5 * 9);
    outcome["z"].resize(18);
    for (const char* name : {"y", "z"}) executable->readResult(name, outcome[name]);
    for (const char* name : {"image", "kernel", "a", "b"}) outcome[name] = store.at(name).gradient.values();
    return outcome;
  };
  cases::Outcome exact = found(false), rounded = found(true);
  const auto expectAll = [](const std::vector<float>& values, double expected, const std::string& what) {
    for (const float one : values) ASSERT_NEAR(one, expected, 1e-6 * expected) << what;
  };
  // Terms of each sum; gradients have one factor that is 1.
  for (const auto& [name, terms, factors] :
       {std::tuple("y", 4, 2), {"z", 8, 2}, {"image", 5, 1}, {"kernel", 18, 1}, {"a", 6, 1}, {"b", 3, 1}}) {
    expectAll(exact[name], terms * std::pow(kFactor, factors), name);
    expectAll(rounded[name], terms, name);
  }
}

TEST(CudaProgram, everythingElementwiseKeepsTheLayout) {
  ProgramBuilder builder(2, 1, true);
  const TensorId x = image(builder, "x", 16);
  const TensorId gate = builder.add("reduce", {x}, {{"function", "mean"}, {"axes", Integers{2, 3}}, {"keep", true}});
  TensorId y =
      builder.add("binary", {unary(builder, "silu", x), unary(builder, "sigmoid", gate)}, {{"function", "multiply"}});
  y = builder.add("concatenate", {y, builder.add("softmax", {x}, {{"axis", 1}})}, {{"axis", 1}});
  y = builder.add("slice", {y}, {{"axis", 1}, {"start", 8}, {"length", 16}, {"step", 1}});
  builder.result("y", ResultKind::output, y);
  const TensorId product = builder.add("binary", {y, image(builder, "weights", 16)}, {{"function", "multiply"}});
  builder.result("loss", ResultKind::loss, builder.add("reduce", {product}, {{"function", "sum"}}));
  differentiate(builder);
  expectAsReference(builder.take());
}

// --- What is wrong with labels is told before a step, as on the CPU.

// The second of two columns of labels, and logits that depend on nothing else.
Program classifier() {
  ProgramBuilder builder(3, 1, true);
  const TensorId both = builder.input("labels", {3, 2}, DataType::i32);
  builder.setOrigin("loss");
  const TensorId labels = builder.add("slice", {both}, {{"axis", 1}, {"start", 1}, {"length", 1}, {"step", 1}});
  builder.result("loss", ResultKind::loss,
                 builder.add("softmax_cross_entropy", {weight(builder, "logits", {3, 5}), labels}));
  differentiate(builder);
  return builder.take();
}

Program tokens(std::int64_t rows) {
  ProgramBuilder builder(2, 1, true);
  builder.setOrigin("tokens");
  const TensorId y =
      builder.add("embedding", {builder.input("labels", {2, 9}, DataType::i32), weight(builder, "w", {rows, 4})});
  builder.result("loss", ResultKind::loss, builder.add("reduce", {y}, {{"function", "sum"}}));
  differentiate(builder);
  return builder.take();
}

std::string faultOf(Backend& backend, const Program& program, const std::vector<std::int32_t>& labels) {
  try {
    runProgram(backend, program, DataType::f32, labels);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::badData);
    return error.what();
  }
  return "";
}

TEST(CudaProgram, labelsOutOfRangeAreToldAsOnTheCpu) {
  const auto cpu = makeCpuBackend(2);
  const auto device = std::make_shared<fake::FakeDevice>();
  const auto cuda = makeCudaBackend(device);
  const Program program = classifier();
  EXPECT_EQ(faultOf(*cuda, program, {9, 0, -7, 4, 99, 1}), "");  // of the first column nobody asks
  for (const std::vector<std::int32_t>& labels :
       {std::vector<std::int32_t>{0, 0, 0, 5, 0, 0}, std::vector<std::int32_t>{0, 0, 0, 4, 0, -1}}) {
    const std::string fault = faultOf(*cuda, program, labels);
    EXPECT_THAT(fault, testing::AllOf(testing::HasSubstr(labels[3] == 5 ? "row 1" : "row 2"),
                                      testing::HasSubstr("in layer 'loss'")));
    EXPECT_EQ(fault, faultOf(*cpu, program, labels));
  }
}

TEST(CudaProgram, indicesOutOfRangeAreToldAsOnTheCpu) {
  const auto cpu = makeCpuBackend(2);
  const auto device = std::make_shared<fake::FakeDevice>();
  const auto cuda = makeCudaBackend(device);
  std::vector<std::int32_t> indices(18, 2);
  EXPECT_EQ(faultOf(*cuda, tokens(3), indices), "");
  indices[9 + 7] = 3;
  const std::string fault = faultOf(*cuda, tokens(3), indices);
  EXPECT_THAT(fault, testing::AllOf(testing::HasSubstr("row 1"), testing::HasSubstr("place 7"),
                                    testing::HasSubstr("index 3"), testing::HasSubstr("0 to 2")));
  EXPECT_EQ(fault, faultOf(*cpu, tokens(3), indices));
}

}  // namespace
}  // namespace loom::cuda
