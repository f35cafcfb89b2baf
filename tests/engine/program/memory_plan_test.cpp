// The memory plan: nothing that lives is overwritten, and little is wasted.
#include "engine/program/memory_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/base/philox.h"
#include "engine/passes/differentiate.h"
#include "engine/program/builder.h"
#include "engine/program/evaluator.h"
#include "tests/engine/ops/op_cases.h"

namespace loom {
namespace {

bool apart(const ArenaItem& a, std::size_t offsetA, const ArenaItem& b, std::size_t offsetB) {
  const bool together = a.first <= b.last && b.first <= a.last;
  return !together || offsetA + a.bytes <= offsetB || offsetB + b.bytes <= offsetA;
}

TEST(Arena, ItemsThatLiveTogetherNeverOverlap) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Philox random(seed, "arena");
    std::vector<ArenaItem> items;
    const std::uint64_t count = 1 + random.below(120, 0);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto first = static_cast<std::int32_t>(random.below(60, 3 * i + 1));
      items.push_back(
          {random.below(5000, 3 * i + 2), first, first + static_cast<std::int32_t>(random.below(20, 3 * i + 3))});
    }
    const ArenaLayout layout = layOutArena(items);
    ASSERT_GE(layout.bytes, layout.peak);
    EXPECT_LE(static_cast<double>(layout.bytes), 1.35 * static_cast<double>(layout.peak)) << "seed " << seed;
    for (std::size_t a = 0; a < items.size(); ++a) {
      EXPECT_EQ(layout.offsets[a] % 64, 0u);
      EXPECT_LE(layout.offsets[a] + items[a].bytes, layout.bytes);
      for (std::size_t b = a + 1; b < items.size(); ++b)
        ASSERT_TRUE(apart(items[a], layout.offsets[a], items[b], layout.offsets[b]))
            << "seed " << seed << ": " << a << ", " << b;
    }
  }
}

TEST(Arena, ReusesWhatIsFree) {
  // Each lives for two operations, so two places suffice for ten items.
  std::vector<ArenaItem> items;
  for (std::int32_t i = 0; i < 10; ++i) items.push_back({1024, i, i + 1});
  EXPECT_EQ(layOutArena(items).bytes, 2048u);
  EXPECT_EQ(layOutArena({}).bytes, 0u);
  EXPECT_THROW(layOutArena(items, 48), Error);
}

// Runs a program in the planned arena: every operation's outputs go where the plan says, and reads come from there.
std::vector<double> runInArena(const Program& program, const MemoryPlan& plan, Evaluator& filled) {
  std::vector<double> arena(plan.arenaBytes / sizeof(float), -12345.0);
  const auto view = [&](TensorId id) {
    const Placement& place = plan.tensors[static_cast<std::size_t>(id)];
    const Shape& shape = program.tensor(id).shape;
    if (!place.inArena) return ReferenceTensor{shape, filled.value(place.root).values};
    const auto begin = arena.begin() + static_cast<std::ptrdiff_t>(place.offset / sizeof(float));
    return ReferenceTensor{shape, std::vector<double>(begin, begin + shape.elements())};
  };
  for (const Operation& operation : program.operations) {
    std::vector<ReferenceTensor> inputs;
    std::vector<const ReferenceTensor*> pointers;
    for (TensorId id : operation.inputs) inputs.push_back(id == kNoTensor ? ReferenceTensor{} : view(id));
    for (std::size_t i = 0; i < inputs.size(); ++i)
      pointers.push_back(operation.inputs[i] == kNoTensor ? nullptr : &inputs[i]);
    std::vector<ReferenceTensor> outputs;
    for (TensorId id : operation.outputs)
      outputs.push_back({program.tensor(id).shape,
                         std::vector<double>(static_cast<std::size_t>(program.tensor(id).shape.elements()))});
    for (int updated : updatedInputs(*operation.op, inputs.size(), operation.attributes))
      outputs.push_back(inputs[static_cast<std::size_t>(updated)]);
    operation.op->reference(pointers, outputs, operation.attributes);
    for (std::size_t i = 0; i < operation.outputs.size(); ++i) {
      const Placement& place = plan.tensors[static_cast<std::size_t>(operation.outputs[i])];
      if (place.inArena)
        std::copy(outputs[i].values.begin(), outputs[i].values.end(),
                  arena.begin() + static_cast<std::ptrdiff_t>(place.offset / sizeof(float)));
      else
        filled.value(operation.outputs[i]).values = outputs[i].values;
    }
  }
  std::vector<double> all;
  const auto append = [&](TensorId id) {
    const ReferenceTensor tensor = view(id);
    all.insert(all.end(), tensor.values.begin(), tensor.values.end());
  };
  for (const NamedResult& result : program.results) append(result.tensor);
  for (std::size_t id = 0; id < program.tensors.size(); ++id)
    if (program.tensors[id].role == TensorRole::parameterGradient) append(static_cast<TensorId>(id));
  return all;
}

std::vector<double> runFreely(const Program& program, Evaluator& evaluator) {
  evaluator.run();
  std::vector<double> all;
  const auto append = [&](TensorId id) {
    all.insert(all.end(), evaluator.value(id).values.begin(), evaluator.value(id).values.end());
  };
  for (const NamedResult& result : program.results) append(result.tensor);
  for (std::size_t id = 0; id < program.tensors.size(); ++id)
    if (program.tensors[id].role == TensorRole::parameterGradient) append(static_cast<TensorId>(id));
  return all;
}

class PlannedCase : public testing::TestWithParam<cases::OpCase> {};

TEST_P(PlannedCase, ComputesTheSameInTheArena) {
  const Program program = cases::programOf(GetParam(), true);
  for (const bool inPlace : {true, false}) {
    const MemoryPlan plan = planMemory(program, {.inPlace = inPlace, .views = inPlace});
    EXPECT_LE(plan.arenaBytes, plan.sumBytes);
    Evaluator free(program), planned(program);
    cases::prepare(GetParam(), free);
    cases::prepare(GetParam(), planned);
    EXPECT_EQ(runInArena(program, plan, planned), runFreely(program, free));
  }
}

INSTANTIATE_TEST_SUITE_P(Table, PlannedCase, testing::ValuesIn(cases::opCases()),
                         [](const auto& info) { return info.param.name; });

Program deepNetwork(int layers) {
  ProgramBuilder builder(8, 1, true);
  TensorId x = builder.input("x", {8, 64}, DataType::f32);
  for (int i = 0; i < layers; ++i) {
    const std::string id = "fc" + std::to_string(i);
    const TensorId w = builder.parameter(
        {.name = id + "/weight", .shape = {64, 64}, .initializer = {.kind = InitializerKind::normal, .scale = 0.2}});
    const TensorId y = builder.add("unary", {builder.add("matmul", {x, w})}, {{"function", "relu"}});
    x = i % 2 == 1 ? builder.add("binary", {y, x}, {{"function", "add"}}) : y;
  }
  const TensorId flat = builder.add("reshape", {x}, {{"shape", std::vector<std::int64_t>{512}}});
  builder.result(
      "loss", ResultKind::loss,
      builder.add("reduce", {builder.add("unary", {flat}, {{"function", "square"}})}, {{"function", "mean"}}));
  differentiate(builder);
  return builder.take();
}

TEST(MemoryPlan, DeepNetworkComputesTheSameAndSavesMemory) {
  const Program program = deepNetwork(6);
  const MemoryPlan plan = planMemory(program);
  const MemoryPlan copies = planMemory(program, {.inPlace = false, .views = false});
  EXPECT_LT(plan.arenaBytes, copies.arenaBytes);
  EXPECT_LT(plan.arenaBytes * 2, plan.sumBytes);
  EXPECT_LE(static_cast<double>(plan.arenaBytes), 1.05 * static_cast<double>(plan.peakBytes));
  Evaluator free(program), planned(program);
  for (Evaluator* evaluator : {&free, &planned})
    for (std::size_t id = 0; id < program.tensors.size(); ++id) {
      const Tensor& tensor = program.tensors[id];
      if (tensor.role != TensorRole::parameter && tensor.role != TensorRole::input) continue;
      std::vector<double>& values = evaluator->value(static_cast<TensorId>(id)).values;
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.2 * Philox(1, tensor.name).normal(i);
    }
  EXPECT_EQ(runInArena(program, plan, planned), runFreely(program, free));
}

TEST(MemoryPlan, ReluTakesTheMemoryOfItsInput) {
  ProgramBuilder builder(2, 1, true);
  const TensorId x = builder.input("x", {2, 8}, DataType::f32), w = builder.parameter({.name = "w", .shape = {8, 16}});
  const TensorId product = builder.add("matmul", {x, w}),
                 active = builder.add("unary", {product}, {{"function", "relu"}});
  builder.result("loss", ResultKind::loss, builder.add("reduce", {active}, {{"function", "sum"}}));
  differentiate(builder);
  const MemoryPlan plan = planMemory(builder.program());
  EXPECT_TRUE(plan.tensors[static_cast<std::size_t>(product)].inArena);
  EXPECT_EQ(plan.tensors[static_cast<std::size_t>(product)].offset,
            plan.tensors[static_cast<std::size_t>(active)].offset)
      << "its gradient needs y alone, so x is dead";
}

TEST(MemoryPlan, ViewsShareAndResultsStay) {
  ProgramBuilder builder(2, 1, false);
  const TensorId x = builder.input("x", {2, 6}, DataType::f32);
  const TensorId view = builder.add("reshape", {x}, {{"shape", std::vector<std::int64_t>{12}}});
  const TensorId y = builder.add("unary", {view}, {{"function", "exp"}});
  const TensorId z = builder.add("unary", {y}, {{"function", "log"}});
  builder.result("y", ResultKind::output, y);
  builder.result("z", ResultKind::output, z);
  const MemoryPlan plan = planMemory(builder.program());
  const auto place = [&](TensorId id) { return plan.tensors[static_cast<std::size_t>(id)]; };
  EXPECT_EQ(place(view).root, x);
  EXPECT_FALSE(place(view).inArena);
  EXPECT_NE(place(y).offset, place(z).offset) << "y is a result, so z may not take its memory";
  EXPECT_EQ(place(y).last, 3);
}

TEST(MemoryPlan, RefusesWhatNoMemoryHolds) {
  ProgramBuilder builder(1, 1, false);
  const TensorId x = builder.parameter({.name = "w", .shape = {std::int64_t{1} << 31, 1}});
  builder.setOrigin("wide");
  builder.result("y", ResultKind::output,
                 builder.add("broadcast", {x},
                             {{"shape", std::vector<std::int64_t>{std::int64_t{1} << 31, std::int64_t{1} << 31}}}));
  try {
    planMemory(builder.program());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("'wide' is 2147483648×2147483648"));
  }
}

TEST(MemoryPlan, TakesTheBackendsSizesAndScratch) {
  ProgramBuilder builder(2, 1, false);
  const TensorId x = builder.input("x", {2, 6}, DataType::f32);
  const TensorId y = builder.add("unary", {x}, {{"function", "exp"}}),
                 z = builder.add("unary", {y}, {{"function", "exp"}});
  builder.result("z", ResultKind::output, z);
  const MemoryPlan plan = planMemory(
      builder.program(), {.bytes = [](TensorId) { return std::size_t{1000}; },
                          .scratch = [](std::size_t operation) { return operation == 1 ? std::size_t{5000} : 0; },
                          .mayReuse = [](std::size_t, TensorId) { return false; }});
  EXPECT_EQ(plan.arenaBytes, 1024u + 1024u + 5056u);
  EXPECT_EQ(plan.peakBytes, plan.arenaBytes);
}

}  // namespace
}  // namespace loom
