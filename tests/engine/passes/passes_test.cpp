// Passes keep the meaning of a program.
#include "engine/passes/passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/program/builder.h"
#include "tests/engine/ops/op_cases.h"

namespace loom {
namespace {

using testing::ElementsAre;

std::vector<std::string> names(const Program& program) {
  std::vector<std::string> names;
  for (const Operation& operation : program.operations) names.push_back(operation.op->name);
  return names;
}

TensorId unary(ProgramBuilder& builder, const char* function, TensorId x) {
  return builder.add("unary", {x}, {{"function", std::string(function)}});
}
TensorId transpose(ProgramBuilder& builder, TensorId x, std::vector<std::int64_t> axes) {
  return builder.add("transpose", {x}, {{"axes", axes}});
}

TEST(Simplify, KeepsTheMeaningOfEveryCase) {
  for (const cases::OpCase& opCase : cases::opCases()) {
    const Program program = cases::programOf(opCase, true);
    Program simplified = program;
    simplify(simplified);
    EXPECT_LE(simplified.operations.size(), program.operations.size());
    Evaluator before(program), after(simplified);
    for (Evaluator* evaluator : {&before, &after}) {
      cases::prepare(opCase, *evaluator);
      evaluator->run();
    }
    EXPECT_EQ(before.value(program.results[0].tensor).values, after.value(simplified.results[0].tensor).values)
        << opCase.name;
    for (std::size_t id = 0; id < program.tensors.size(); ++id) {
      if (program.tensors[id].role != TensorRole::parameterGradient) continue;
      EXPECT_EQ(before.value(static_cast<TensorId>(id)).values, after.value(static_cast<TensorId>(id)).values)
          << opCase.name;
    }
  }
}

TEST(Simplify, DropsWhatDoesNothing) {
  ProgramBuilder builder(2, 1, false);
  const TensorId x = builder.input("x", {2, 3, 4}, DataType::f32);
  TensorId y = builder.add("scale", {x}, {{"factor", 1.0}, {"offset", 0.0}});
  y = transpose(builder, transpose(builder, y, {2, 0, 1}), {1, 2, 0});
  y = builder.add("dropout", {y, builder.scalar(kStepScalar), builder.scalar(kFirstSampleScalar)},
                  {{"probability", 0.0}, {"stream", 1}});
  y = builder.add("reshape", {builder.add("reshape", {y}, {{"shape", std::vector<std::int64_t>{2, 12}}})},
                  {{"shape", std::vector<std::int64_t>{2, 3, 4}}});
  builder.result("y", ResultKind::output, unary(builder, "exp", y));
  simplify(builder.program());
  EXPECT_THAT(names(builder.program()), ElementsAre("unary"));
  EXPECT_EQ(builder.program().operations[0].inputs[0], x);
}

TEST(Simplify, KeepsTransposesThatMove) {
  ProgramBuilder builder(2, 1, false);
  const TensorId x = builder.input("x", {2, 3, 4}, DataType::f32);
  builder.result("y", ResultKind::output,
                 unary(builder, "exp", transpose(builder, transpose(builder, x, {2, 0, 1}), {2, 0, 1})));
  simplify(builder.program());
  EXPECT_THAT(names(builder.program()), ElementsAre("transpose", "transpose", "unary"));
}

TEST(Simplify, ComputesOnceWhatIsWrittenTwice) {
  ProgramBuilder builder(2, 1, false);
  const TensorId x = builder.input("x", {2, 3}, DataType::f32);
  const TensorId a = unary(builder, "exp", x), b = unary(builder, "exp", x), c = unary(builder, "tanh", x);
  const TensorId ab = builder.add("binary", {a, b}, {{"function", "multiply"}});
  builder.result("y", ResultKind::output, builder.add("binary", {ab, c}, {{"function", "add"}}));
  simplify(builder.program());
  EXPECT_THAT(names(builder.program()), ElementsAre("unary", "unary", "binary", "binary"));
}

TEST(Simplify, KeepsApartWhatReadsAStateBeforeAndAfterItChanges) {
  ProgramBuilder builder(4, 1, true);
  const TensorId x = builder.input("x", {4, 3}, DataType::f32);
  const TensorId mean = builder.state({.name = "mean", .shape = {3}}),
                 variance = builder.state({.name = "v", .shape = {3}});
  const std::vector<TensorId> inputs{x, kNoTensor, kNoTensor, mean, variance};
  const TensorId before = builder.add("batch_normalization_inference", inputs);
  const TensorId between = builder.add("batch_normalization", inputs);
  const TensorId after = builder.add("batch_normalization_inference", inputs);
  const TensorId all = builder.add("concatenate", {before, between, after}, {{"axis", 1}});
  builder.result("y", ResultKind::output, all);
  simplify(builder.program());
  EXPECT_EQ(builder.program().operations.size(), 4u);
}

TEST(Simplify, KeepsApartWhatReadsAWeightBeforeAndAfterItsUpdate) {
  ProgramBuilder builder(1, 1, true);
  const Parameter weight{.name = "w", .shape = {3}};
  const TensorId w = builder.parameter(weight), g = builder.gradient(weight);
  const TensorId before = unary(builder, "square", w);
  const TensorId squares = builder.add("gradient_squares", {g});
  builder.add("update",
              {builder.scalar(kLearningRateScalar), builder.scalar(kUpdateCountScalar), kNoTensor, squares, w, g},
              {{"rule", std::string("SGD")},
               {"weight_decay", std::vector<double>{0}},
               {"scaled", std::vector<std::int64_t>{1}}});
  const TensorId after = unary(builder, "square", w);
  builder.result("y", ResultKind::output, builder.add("concatenate", {before, after}, {{"axis", 0}}));
  simplify(builder.program());
  EXPECT_EQ(builder.program().operations.size(), 5u);
}

TEST(Simplify, FoldsConstants) {
  ProgramBuilder builder(2, 1, false);
  const TensorId x = builder.input("x", {2, 3}, DataType::f32);
  const TensorId two =
      builder.add("binary", {builder.constant(1, {1, 3}), builder.constant(1, {1, 3})}, {{"function", "add"}});
  const TensorId eight = builder.add("scale", {two}, {{"factor", 4.0}});
  builder.result("y", ResultKind::output, builder.add("binary", {x, eight}, {{"function", "multiply"}}));
  simplify(builder.program());
  EXPECT_THAT(names(builder.program()), ElementsAre("binary"));
  EXPECT_EQ(builder.tensor(builder.program().operations[0].inputs[1]).value, 8);
}

TEST(DeadCode, KeepsResultsGradientsAndStates) {
  ProgramBuilder builder(4, 1, true);
  const TensorId x = builder.input("x", {4, 3}, DataType::f32);
  unary(builder, "exp", unary(builder, "tanh", x));  // leads nowhere
  builder.add("batch_normalization", {x, kNoTensor, kNoTensor, builder.state({.name = "mean", .shape = {3}}),
                                      builder.state({.name = "variance", .shape = {3}})});
  builder.result("y", ResultKind::output, unary(builder, "relu", x));
  const TensorId kept = unary(builder, "square", x);
  eliminateDeadCode(builder.program(), {&kept, 1});
  EXPECT_THAT(names(builder.program()), ElementsAre("batch_normalization", "unary", "unary"));
  eliminateDeadCode(builder.program());
  EXPECT_THAT(names(builder.program()), ElementsAre("batch_normalization", "unary"));
}

}  // namespace
}  // namespace loom
