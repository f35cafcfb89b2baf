// What is computed again to keep a budget: the same numbers, less memory, no more than is needed.
#include "engine/passes/recomputation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "engine/base/error.h"
#include "engine/passes/differentiate.h"
#include "engine/passes/passes.h"
#include "engine/passes/precision.h"
#include "engine/passes/repetition.h"
#include "engine/program/builder.h"
#include "engine/program/memory_plan.h"
#include "tests/engine/ops/repeated_cases.h"

namespace loom {
namespace {

using testing::HasSubstr;

Joins noJoins(const Operation&) {
  return {};
}
Joins allJoins(const Operation& operation) {
  if (operation.op->name == "binary") return {.relu = true};
  return operation.op->name.starts_with("batch_normalization") ? Joins{.addend = true, .relu = true} : Joins{};
}
std::size_t arenaOf(const Program& program) {
  return planMemory(program).arenaBytes;
}
RecomputationRequest within(std::size_t budget) {
  return {.budget = budget, .joinsOf = noJoins, .arenaOf = arenaOf};
}
std::size_t count(const Program& program, const char* op) {
  return static_cast<std::size_t>(
      std::ranges::count_if(program.operations, [&](const Operation& one) { return one.op->name == op; }));
}

// `depth` products with a ReLU behind each, all of one size.
Program chain(int depth) {
  ProgramBuilder builder(64, 1, true);
  TensorId x = builder.input("x", {64, 32}, DataType::f32);
  for (int i = 0; i < depth; ++i) {
    const TensorId w = builder.parameter({.name = "w" + std::to_string(i), .shape = {32, 32}});
    x = builder.add("unary", {builder.add("matmul", {x, w})}, {{"function", "relu"}});
  }
  const TensorId squares = builder.add("unary", {x}, {{"function", "square"}});
  builder.result("loss", ResultKind::loss, builder.add("reduce", {squares}, {{"function", "sum"}}));
  differentiate(builder);
  return builder.take();
}

// Blocks as a transformer's second half: x + W2 gelu(W1 x), four times as wide inside.
Program wideBlocks(int depth) {
  ProgramBuilder builder(64, 1, true);
  TensorId x = builder.input("x", {64, 16}, DataType::f32);
  for (int i = 0; i < depth; ++i) {
    const auto weight = [&](const char* name, Shape shape) {
      return builder.parameter({.name = name + std::to_string(i), .shape = std::move(shape)});
    };
    const TensorId wide =
        builder.add("unary", {builder.add("matmul", {x, weight("in", {16, 64})})}, {{"function", "gelu"}});
    const TensorId narrow = builder.add("matmul", {wide, weight("out", {64, 16})});
    x = i == 0 ? narrow : builder.add("binary", {x, narrow}, {{"function", "add"}});
  }
  const TensorId squares = builder.add("unary", {x}, {{"function", "square"}});
  builder.result("loss", ResultKind::loss, builder.add("reduce", {squares}, {{"function", "sum"}}));
  differentiate(builder);
  return builder.take();
}

// A residual sum of two normalisations, behind it a ReLU, and what reads all of it in the backward part.
struct Residual {
  ProgramBuilder builder{4, 1, true};
  TensorId x = builder.input("x", {4, 3, 5, 5}, DataType::f32);
  TensorId normalised(const std::string& name, TensorId from) {
    const auto weight = [&](const char* part) { return builder.parameter({.name = name + part, .shape = {3}}); };
    const auto state = [&](const char* part) {
      return builder.state({.name = name + part, .shape = {3}, .isState = true});
    };
    return builder.add("batch_normalization",
                       {from, weight("/gamma"), weight("/beta"), state("/mean"), state("/variance")},
                       {{"epsilon", 1e-3}, {"momentum", 0.75}, {"axis", std::int64_t{1}}});
  }
  TensorId unary(const char* function, TensorId from) {
    return builder.add("unary", {from}, {{"function", std::string(function)}});
  }
  TensorId sum(TensorId a, TensorId b) { return builder.add("binary", {a, b}, {{"function", "add"}}); }
  Program finish(TensorId y) {
    builder.result("loss", ResultKind::loss, builder.add("reduce", {unary("square", y)}, {{"function", "sum"}}));
    differentiate(builder);
    return builder.take();
  }
};

TEST(Recomputation, EveryCaseOfTheOpTableComputesTheSame) {
  std::set<std::string> again;
  std::vector<cases::OpCase> all = cases::opCases();
  for (const cases::OpCase& opCase : cases::opCases()) {
    all.push_back(opCase);
    all.back().inside = true;
  }
  for (const cases::OpCase& opCase : all) {
    std::optional<Program> program = cases::learnedProgramOf(opCase);
    if (!program) continue;
    SCOPED_TRACE(opCase.name);
    simplify(*program);
    Program repeated = cases::withEverythingAgain(*program, noJoins);
    const std::size_t operations = repeated.operations.size();
    simplify(repeated);
    EXPECT_EQ(operations, repeated.operations.size())
        << "what is computed again is never merged with what was computed first";
    for (const Operation& operation : repeated.operations)
      if (repetitionOf(operation) != 0) again.insert(operation.op->name);
    Evaluator before(*program), after(repeated);
    for (Evaluator* evaluator : {&before, &after}) {
      cases::prepare(opCase, *evaluator);
      evaluator->run();
    }
    EXPECT_EQ(before.result("loss"), after.result("loss"));
    for (std::size_t id = 0; id < program->tensors.size(); ++id) {
      const Tensor& tensor = program->tensors[id];
      if (tensor.role != TensorRole::parameterGradient && tensor.role != TensorRole::state) continue;
      EXPECT_EQ(before.value(static_cast<TensorId>(id)).values, after.value(static_cast<TensorId>(id)).values)
          << tensor.name;
    }
  }
  for (const OpDefinition* op : opTable()) {
    // What updates a state and has no second form is computed once.
    if (!op->gradient || op->communicates || (!op->updates.empty() && op->again == nullptr)) continue;
    EXPECT_TRUE(again.contains(op->again != nullptr ? op->again : op->name)) << op->name << " was not computed again";
  }
}

TEST(Recomputation, WhatFitsStaysAsItIs) {
  Program program = chain(12);
  const std::string before = program.toString();
  const std::size_t bytes = arenaOf(program);
  const Recomputation told = recomputeWithin(program, within(bytes));
  EXPECT_EQ(program.toString(), before);
  EXPECT_EQ(told.without, bytes);
  EXPECT_EQ(told.with, bytes);
  EXPECT_EQ(told.operations, 0);
}

TEST(Recomputation, AnyBudgetDownToTheLeastIsKept) {
  const Program program = chain(40);
  const std::size_t without = arenaOf(program);
  double work = 0;
  for (const double share : {0.9, 0.6, 0.35}) {
    Program kept = program;
    const auto budget = static_cast<std::size_t>(share * static_cast<double>(without));
    const Recomputation told = recomputeWithin(kept, within(budget));
    EXPECT_LE(arenaOf(kept), budget);
    EXPECT_EQ(told.with, arenaOf(kept));
    EXPECT_EQ(told.without, without);
    EXPECT_GT(told.operations, 0);
    EXPECT_GE(told.multiplyAdds, work) << "more work for less memory";
    EXPECT_DOUBLE_EQ(kept.multiplyAdds(true) - program.multiplyAdds(true), told.multiplyAdds);
    EXPECT_LE(told.multiplyAdds, program.multiplyAdds(false)) << "nothing is computed a third time";
    work = told.multiplyAdds;
  }
}

// Of 40 equal activations the square root, twice, is enough: that many segments, and one of them again.
TEST(Recomputation, SegmentsNeedTheSquareRootOfTheDepth) {
  const Program program = chain(40);
  constexpr std::size_t kActivation = 64 * 32 * sizeof(float);
  Program kept = program;
  recomputeWithin(kept, within(16 * kActivation));
  EXPECT_LE(arenaOf(kept), 16 * kActivation);
  EXPECT_GT(arenaOf(program), 40 * kActivation);
}

// Segments alone leave 28 narrow activations.
TEST(Recomputation, SingleUnitsLowerWhatSegmentsLeave) {
  constexpr std::size_t kNarrow = 64 * 16 * sizeof(float);
  const Program program = wideBlocks(16);
  Program kept = program;
  recomputeWithin(kept, within(25 * kNarrow));
  EXPECT_LE(arenaOf(kept), 25 * kNarrow);
  EXPECT_GT(arenaOf(program), 140 * kNarrow);
}

TEST(Recomputation, ABudgetThatCannotBeKeptNamesTheLeast) {
  Program program = chain(20);
  const std::string before = program.toString();
  double least = 0;
  try {
    recomputeWithin(program, within(1000));
    FAIL() << "1000 bytes were enough";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::badProject);
    EXPECT_THAT(error.what(), HasSubstr("memory_budget is 0.001 MiB: set it to "));
    const std::string text = error.what();
    least = std::stod(text.substr(text.find("set it to ") + 10));
  }
  EXPECT_EQ(program.toString(), before);
  const auto budget = static_cast<std::size_t>(std::ceil(least * (1 << 20)));
  recomputeWithin(program, within(budget));
  EXPECT_LE(arenaOf(program), budget);
}

TEST(Recomputation, WhatHasNoBackwardPartIsLeftAlone) {
  ProgramBuilder builder(64, 1, false);
  const TensorId x = builder.input("x", {64, 32}, DataType::f32);
  builder.result("y", ResultKind::output, builder.add("unary", {x}, {{"function", "exp"}}));
  Program program = builder.take();
  EXPECT_EQ(recomputeWithin(program, within(1)).operations, 0);
}

TEST(Recomputation, ANormalisationUpdatesItsStatisticsOnce) {
  Residual net;
  const Program program = net.finish(net.unary("exp", net.normalised("bn", net.unary("exp", net.x))));
  const Program again = cases::withEverythingAgain(program, noJoins);
  EXPECT_EQ(count(again, "batch_normalization"), 1u);
  EXPECT_EQ(count(again, "batch_normalization_again"), 1u);
  for (const Operation& operation : again.operations)
    EXPECT_TRUE(repetitionOf(operation) == 0 || operation.op->isPure()) << operation.op->name;
}

TEST(Recomputation, WhatAResultOrAStateThatChangesIsMadeOfIsKept) {
  Residual net;
  const TensorId shown = net.unary("exp", net.x);
  net.builder.result("shown", ResultKind::output, shown);
  const TensorId y = net.normalised("bn", shown);
  const Program program =
      net.finish(net.sum(y, net.builder.add("batch_normalization_inference",
                                            {shown, kNoTensor, kNoTensor, net.builder.program().operations[1].inputs[3],
                                             net.builder.program().operations[1].inputs[4]})));
  const Program again = cases::withEverythingAgain(program, noJoins);
  EXPECT_EQ(count(again, "batch_normalization_inference"), 1u) << "it reads statistics that have changed since";
  for (const Operation& operation : again.operations)
    EXPECT_FALSE(repetitionOf(operation) != 0 && operation.op->name == "unary" && operation.inputs[0] == net.x);
}

// Two layers of an LSTM: their states, five times the sequence, are most of what is kept.
Program twoLayers() {
  ProgramBuilder builder(4, 1, true);
  TensorId x = builder.input("x", {4, 32, 8}, DataType::f32);
  for (int layer = 0; layer < 2; ++layer) {
    const std::string name = "lstm" + std::to_string(layer);
    const TensorId input = builder.parameter({.name = name + "/input", .shape = {4 * 16, layer == 0 ? 8 : 16}}),
                   hidden = builder.parameter({.name = name + "/hidden", .shape = {4 * 16, 16}});
    x = builder.emit("lstm", {x, input, hidden, kNoTensor, kNoTensor, kNoTensor}, {})[0];
  }
  const TensorId squares = builder.add("unary", {x}, {{"function", "square"}});
  builder.result("loss", ResultKind::loss, builder.add("reduce", {squares}, {{"function", "sum"}}));
  differentiate(builder);
  return builder.take();
}

TEST(Recomputation, WhatIsKeptInSixteenBitsIsWeighedByRulesThatKnowNoneOfThem) {
  Program program = twoLayers();
  keepInSixteenBits(program, DataType::bf16, [](const Operation& operation) {
    return SixteenBits{.inputs = {0, 3}, .outputs = operation.op->name == "lstm" ? 1 : 0};
  });
  ASSERT_TRUE(std::ranges::any_of(program.tensors, [](const Tensor& one) { return one.type == DataType::bf16; }));
  const std::size_t without = arenaOf(program);
  const Recomputation told = recomputeWithin(program, within(without * 9 / 10));
  EXPECT_LT(told.with, without);
  EXPECT_GT(told.multiplyAdds, 0);
}

// The layer behind reads the sequence before the gates are wanted: were both repeated there, the gates of both layers
// would be there at once, as without.
TEST(Recomputation, ALayersGatesAreComputedAgainBehindTheGradientOfTheNext) {
  Program program = twoLayers();
  recomputeWithin(program, within(arenaOf(program) * 9 / 10));
  ASSERT_EQ(count(program, "lstm"), 3u);
  std::vector<std::string> order;
  for (const Operation& operation : program.operations)
    if (operation.op->name.starts_with("lstm")) order.push_back(operation.op->name);
  EXPECT_THAT(order, testing::ElementsAre("lstm", "lstm", "lstm_gradient", "lstm", "lstm_gradient"));
}

// In 16 bits it matters where a number is rounded: what was one pass is one pass again, and what was two is two.
TEST(Recomputation, IsJoinedAsItWasTheFirstTime) {
  Residual net;
  const TensorId first = net.normalised("first", net.x), second = net.normalised("second", net.x);
  const TensorId y = net.unary("relu", net.sum(first, second));
  const Program program = net.finish(net.unary("exp", y));
  const Program again = cases::withEverythingAgain(program, allJoins);
  const Fusion fusion = planFusion(again, allJoins);
  std::vector<std::string> passes;
  for (std::size_t i = 0; i < again.operations.size(); ++i) {
    if (repetitionOf(again.operations[i]) == 0) continue;
    EXPECT_EQ(repetitionOf(again.operations[static_cast<std::size_t>(fusion.computedBy[i])]),
              repetitionOf(again.operations[i]));
    if (!fusion.outputs[i].skip)
      passes.push_back(again.operations[i].op->name + (fusion.outputs[i].addend != kNoTensor ? " + add" : "") +
                       (fusion.outputs[i].relu ? " + relu" : ""));
  }
  EXPECT_THAT(passes,
              testing::ElementsAre("batch_normalization_again", "batch_normalization_again + add + relu", "unary"));
}

TEST(Recomputation, IsNotJoinedWhereItWasNotTheFirstTime) {
  Residual net;
  const TensorId n = net.normalised("bn", net.x), s = net.sum(n, net.x);
  net.builder.result("also", ResultKind::output,
                     net.builder.add("reduce", {n}, {{"function", "sum"}}));  // so it is not joined
  const Program program = net.finish(net.unary("exp", s));
  ASSERT_EQ(planFusion(program, allJoins).outputs[0].addend, kNoTensor);
  const Program again = cases::withEverythingAgain(program, allJoins);
  const Fusion fusion = planFusion(again, allJoins);
  int sums = 0;
  for (std::size_t i = 0; i < again.operations.size(); ++i) {
    if (repetitionOf(again.operations[i]) == 0) continue;
    EXPECT_EQ(fusion.outputs[i].addend, kNoTensor);
    sums += again.operations[i].op->name == "binary";
  }
  EXPECT_EQ(sums, 1);
}

}  // namespace
}  // namespace loom
