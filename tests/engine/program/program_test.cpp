// ProgramBuilder, Program, Evaluator, the reference backend and the parameter store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/philox.h"
#include "engine/passes/differentiate.h"
#include "engine/program/absent_store.h"
#include "engine/program/backend.h"
#include "engine/program/builder.h"

namespace loom {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

Parameter uniform(const char* name, Shape shape) {
  return {.name = name, .shape = std::move(shape), .initializer = {.kind = InitializerKind::uniform, .scale = 0.5}};
}

TEST(ProgramBuilder, SharesByNameAndRefusesOtherShapes) {
  ProgramBuilder builder(2, 1, false);
  EXPECT_EQ(builder.parameter(uniform("w", {3})), builder.parameter(uniform("w", {3})));
  EXPECT_EQ(builder.input("x", {2, 3}, DataType::f32), builder.input("x", {2, 3}, DataType::f32));
  EXPECT_EQ(builder.scalar("step"), builder.scalar("step"));
  const Parameter shared{.name = "w#1/weight", .shape = {2}};
  EXPECT_EQ(builder.slot(shared, "momentum@1"), builder.slot(shared, "momentum@1"));
  EXPECT_EQ(builder.gradient(shared), builder.gradient(shared));
  const std::string slot = slotName(shared.name, "momentum@1");
  EXPECT_EQ(slot, "w#1/weight#momentum@1");
  EXPECT_EQ(parameterAndSlot(slot), (std::pair<std::string, std::string>(shared.name, "momentum@1")));
  EXPECT_EQ(builder.constant(1, {3}), builder.constant(1, {3}));
  EXPECT_NE(builder.constant(1, {3}), builder.constant(1, {2}));
  EXPECT_EQ(builder.program().parameters.size(), 1u);
  try {
    builder.parameter(uniform("w", {4}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'w' is used as f32 4 here, but as f32 3 elsewhere"));
  }
  EXPECT_THROW(builder.input("x", {2, 3}, DataType::i32), Error);
}

TEST(ProgramBuilder, PadsOptionalInputsAndNamesTheLayerOfAFault) {
  ProgramBuilder builder(2, 1, false);
  builder.setOrigin("conv1");
  const TensorId x = builder.input("x", {2, 3, 5, 5}, DataType::f32),
                 w = builder.parameter(uniform("conv1/weight", {4, 3, 3, 3}));
  const TensorId y = builder.add("convolution", {x, w});
  EXPECT_EQ(builder.shape(y), (Shape{2, 4, 3, 3}));
  EXPECT_EQ(builder.tensor(y).name, "conv1");
  EXPECT_THAT(builder.program().operations[0].inputs, ElementsAre(x, w, kNoTensor));
  EXPECT_EQ(builder.program().multiplyAdds(false), 2.0 * 4 * 3 * 3 * 3 * 9);
  try {
    builder.add("matmul", {x, w});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("in layer 'conv1': "));
  }
}

TEST(Program, PrintsOneOperationALine) {
  ProgramBuilder builder(2, 7, false);
  builder.setOrigin("fc");
  const TensorId x = builder.input("x", {2, 3}, DataType::f32), w = builder.parameter(uniform("fc/weight", {4, 3}));
  builder.result("fc", ResultKind::output, builder.add("matmul", {x, w}, {{"transpose_b", true}}));
  EXPECT_EQ(builder.program().toString(),
            "program: batch 2, seed 7, evaluation\n"
            "%2: f32 2×4 = matmul(%0 (input x), %1 (parameter fc/weight), -) {transpose_b=true}  # fc\n"
            "output 'fc' is %2: f32 2×4\n");
  EXPECT_EQ(builder.program().findTensor("x", TensorRole::input), x);
  EXPECT_EQ(builder.program().findTensor("x", TensorRole::parameter), kNoTensor);
}

TEST(ParameterStore, InitialisesByNameAndNeverMoves) {
  ParameterStore store(3), other(3), reseeded(4);
  store.ensure({uniform("a", {5, 3})});
  float* address = store.at("a").value.host().data();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(address) % 64, 0u);
  store.ensure({uniform("b", {1000}), uniform("a", {5, 3}), {.name = "mean", .shape = {4}, .isState = true}});
  for (int i = 0; i < 100; ++i) store.ensure({uniform(("more" + std::to_string(i)).c_str(), {7})});
  EXPECT_EQ(store.at("a").value.host().data(), address);

  other.ensure({uniform("b", {1000}), uniform("a", {5, 3})});  // in another order
  reseeded.ensure({uniform("b", {1000})});
  EXPECT_THAT(store.at("b").value.values(), testing::ElementsAreArray(other.at("b").value.host()));
  EXPECT_NE(store.at("b").value.host()[0], reseeded.at("b").value.host()[0]);
  const Philox philox(3, "b");
  for (std::uint64_t i : {0u, 999u})
    EXPECT_EQ(store.at("b").value.host()[i], static_cast<float>(0.5 * (2 * philox.uniform(i) - 1)));
  EXPECT_THAT(store.at("b").value.host(), Each(testing::AllOf(testing::Ge(-0.5f), testing::Lt(0.5f))));

  EXPECT_TRUE(store.at("mean").gradient.empty());
  EXPECT_EQ(store.parameterCount(), 15 + 1000 + 700);
}

TEST(ParameterStore, KeepsSlotsAndBeginsWithoutGradients) {
  ParameterStore store(1);
  store.ensure({uniform("w", {3})});
  const std::span<float> momentum = store.slot("w", "momentum").host();
  EXPECT_THAT(momentum, ElementsAre(0, 0, 0));
  momentum[1] = 4;
  EXPECT_EQ(store.slot("w", "momentum").host().data(), momentum.data());
  EXPECT_THAT(store.at("w").gradient.host(), ElementsAre(0, 0, 0));
  EXPECT_EQ(momentum[1], 4);
  EXPECT_THROW(store.slot("v", "momentum"), Error);
  try {
    store.ensure({uniform("w", {4})});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::badProject);
    EXPECT_THAT(error.what(), HasSubstr("'w' is 4 here, but the store holds it as 3"));
  }
}

// What was made of a tensor is known to be old by its version.
TEST(ParameterStore, EveryChangeIsSeenByTheVersion) {
  ParameterStore store(1);
  store.ensure({uniform("w", {3}), uniform("v", {3}), uniform("u", {2})});
  StoredTensor& w = store.at("w").value;
  std::uint64_t before = w.version();
  w.values();
  w.host();
  EXPECT_EQ(w.version(), before);
  const std::vector<float> numbers{1, 2, 3};
  w.write(numbers);
  EXPECT_THAT(w.values(), ElementsAre(1, 2, 3));
  EXPECT_NE(w.version(), std::exchange(before, w.version()));
  w.copyFrom(store.at("v").value);
  EXPECT_EQ(w.values(), store.at("v").value.values());
  EXPECT_NE(w.version(), std::exchange(before, w.version()));
  EXPECT_THROW(w.write(std::vector<float>(4)), Error);
  EXPECT_THROW(w.copyFrom(store.at("u").value), Error);
  EXPECT_EQ(w.version(), before);
}

// Large tensors are filled by several threads, which must not show.
TEST(ParameterStore, LargeTensorsAreFilledToTheLast) {
  ParameterStore store(5);
  store.ensure({uniform("w", {1031, 1033})});
  const Philox philox(5, "w");
  const std::span<const float> values = store.at("w").value.host();
  for (std::uint64_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(values[i], static_cast<float>(0.5 * (2 * philox.uniform(i) - 1))) << i;
}

// No memory holds the numbers of this one.
TEST(ParameterStore, ThatIsOnlyMeasuredDrawsNoNumbers) {
  Program program;
  program.parameters = {uniform("w", {std::int64_t{1} << 19, std::int64_t{1} << 19}), uniform("b", {7})};
  const auto store = absentStoreOf(program);
  EXPECT_EQ(store->at("w").value.elements(), std::int64_t{1} << 38);
  EXPECT_NE(store->at("w").value.address(), store->at("w").gradient.address());
  EXPECT_THAT(store->at("b").value.values(), Each(0));
}

TEST(ParameterStore, RefusesWhatNoMemoryHolds) {
  ParameterStore store(1);
  try {
    store.ensure({{.name = "w", .shape = {std::int64_t{1} << 31, std::int64_t{1} << 31}}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device);
    EXPECT_THAT(error.what(), HasSubstr("4611686018427387904 values"));
  }
  EXPECT_FALSE(store.has("w"));
}

TEST(ParameterStore, NormalHasItsDeviation) {
  ParameterStore store(1);
  store.ensure({{.name = "w", .shape = {100, 100}, .initializer = {.kind = InitializerKind::normal, .scale = 0.2}}});
  double mean = 0, square = 0;
  for (float value : store.at("w").value.host()) mean += value / 1e4, square += double{value} * value / 1e4;
  EXPECT_NEAR(mean, 0, 0.01);
  EXPECT_NEAR(square, 0.04, 0.003);
}

void fill(std::span<std::byte> to, const std::vector<float>& values) {
  ASSERT_EQ(to.size(), values.size() * sizeof(float));
  std::memcpy(to.data(), values.data(), to.size());
}

Program regression(std::int64_t batch) {
  ProgramBuilder builder(batch, 1, true);
  const TensorId x = builder.input("x", {batch, 2}, DataType::f32), t = builder.input("t", {batch, 1}, DataType::f32);
  const TensorId y = builder.add("matmul", {x, builder.parameter(uniform("w", {2, 1}))});
  builder.result("fc", ResultKind::output, y);
  builder.result("loss", ResultKind::loss, builder.add("mean_squared_error", {y, t}));
  differentiate(builder);
  return builder.take();
}

TEST(ReferenceBackend, RunsAStepOnAStore) {
  const std::unique_ptr<Backend> backend = makeReferenceBackend();
  ParameterStore store(1);
  const std::unique_ptr<Executable> executable = backend->compile(regression(2), store, {});
  store.at("w").value.host()[0] = 1;
  store.at("w").value.host()[1] = -1;
  fill(executable->input("x"), {1, 2, 3, 4});
  fill(executable->input("t"), {0, 1});
  executable->run({});
  EXPECT_DOUBLE_EQ(executable->scalarResult("loss"), 2.5);  // y = -1, -1
  std::vector<float> y(2);
  executable->readResult("fc", y);
  EXPECT_THAT(y, ElementsAre(-1, -1));
  EXPECT_THAT(store.at("w").gradient.host(), ElementsAre(-7, -10));
  executable->run({.lossScale = 0.5, .accumulate = true});
  EXPECT_THAT(store.at("w").gradient.host(), ElementsAre(-10.5, -15));
  executable->run({});
  EXPECT_THAT(store.at("w").gradient.host(), ElementsAre(-7, -10)) << "overwritten when not told to add";
  EXPECT_THROW(executable->input("z"), Error);
  EXPECT_EQ(executable->describe()["operations"].size(), executable->program().operations.size());
}

// Two executables of different batch, one store: what a last partial batch needs.
TEST(ReferenceBackend, TwoBatchSizesShareOneStore) {
  const std::unique_ptr<Backend> backend = makeReferenceBackend();
  ParameterStore store(1);
  const std::unique_ptr<Executable> whole = backend->compile(regression(3), store, {}),
                                    part = backend->compile(regression(1), store, {});
  fill(whole->input("x"), {1, 2, 3, 4, 5, 6});
  fill(whole->input("t"), {0, 1, 2});
  whole->run({});
  const std::vector<float> wanted = store.at("w").gradient.values();
  for (int row = 0; row < 3; ++row) {
    fill(part->input("x"), {1.0f + 2 * row, 2.0f + 2 * row});
    fill(part->input("t"), {static_cast<float>(row)});
    part->run({.firstSample = row, .lossScale = 1.0 / 3, .accumulate = row > 0});
  }
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(store.at("w").gradient.host()[i], wanted[i], 1e-5);
}

TEST(ReferenceBackend, WritesStatesBack) {
  ProgramBuilder builder(4, 1, true);
  const TensorId x = builder.input("x", {4, 1}, DataType::f32);
  const TensorId mean = builder.state({.name = "bn/mean", .shape = {1}});
  const TensorId variance =
      builder.state({.name = "bn/variance", .shape = {1}, .initializer = {.kind = InitializerKind::ones}});
  builder.result("y", ResultKind::output,
                 builder.add("batch_normalization", {x, kNoTensor, kNoTensor, mean, variance}, {{"momentum", 0.5}}));
  const std::unique_ptr<Backend> backend = makeReferenceBackend();
  ParameterStore store(1);
  const std::unique_ptr<Executable> executable = backend->compile(builder.take(), store, {});
  fill(executable->input("x"), {1, 2, 3, 6});
  executable->run({});
  EXPECT_FLOAT_EQ(store.at("bn/mean").value.host()[0], 1.5);
  EXPECT_FLOAT_EQ(store.at("bn/variance").value.host()[0], 0.5f + 0.5f * 14 / 3);
  executable->run({.accumulate = true});
  EXPECT_FLOAT_EQ(store.at("bn/mean").value.host()[0], 2.25) << "gradients accumulate, states do not";
}

TEST(ReferenceBackend, ErrorsOfAStepNameTheLayer) {
  ProgramBuilder builder(1, 1, false);
  builder.setOrigin("loss");
  const TensorId logits = builder.parameter(uniform("w", {1, 3})), labels = builder.input("y", {1}, DataType::i32);
  builder.result("loss", ResultKind::loss, builder.add("softmax_cross_entropy", {logits, labels}));
  ParameterStore store(1);
  const std::unique_ptr<Executable> executable = makeReferenceBackend()->compile(builder.take(), store, {});
  const std::int32_t label = 3;
  std::memcpy(executable->input("y").data(), &label, sizeof label);
  try {
    executable->run({});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::badData);
    EXPECT_THAT(error.what(), HasSubstr("in layer 'loss': row 0 of the batch has the label 3"));
  }
}

}  // namespace
}  // namespace loom
