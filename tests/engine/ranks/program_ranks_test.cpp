// Operations between ranks in a program, forward and backward, against one program that holds the parts of all ranks
// and knows nothing of them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "engine/base/error.h"
#include "engine/base/philox.h"
#include "engine/comm/gradient_exchange.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/passes/differentiate.h"
#include "engine/program/builder.h"
#include "engine/program/evaluator.h"
#include "tests/engine/ranks/ranks.h"

namespace loom {
namespace {

using testing::HasSubstr;

int rank() {
  return world().rank();
}
int size() {
  return world().size();
}

const Shape kPart{3, 5};

std::vector<double> valuesOf(const std::string& name, int ofRank, const Shape& shape) {
  const Philox random(23, fmt::format("{}@{}", name, ofRank));
  std::vector<double> values(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(2 * random.uniform(i) - 1);
  return values;
}

TensorId multiply(ProgramBuilder& builder, TensorId a, TensorId b) {
  return builder.add("binary", {a, b}, {{"function", "multiply"}});
}
TensorId add(ProgramBuilder& builder, TensorId a, TensorId b) {
  return builder.add("binary", {a, b}, {{"function", "add"}});
}
TensorId sum(ProgramBuilder& builder, TensorId x) {
  return builder.add("reduce", {x}, {{"function", "sum"}});
}

Shape wholeOf(int ranks) {
  return Shape{kPart[0] * ranks, kPart[1]};
}

// One rank: all-gather, reduce-scatter, broadcast from the last, sum on the middle one.
Program programOfOne(int ranks) {
  const std::int64_t p = ranks;
  ProgramBuilder builder(1, 1, true);
  const TensorId w = builder.parameter({.name = "w", .shape = kPart}),
                 v = builder.parameter({.name = "v", .shape = kPart});
  const TensorId all = builder.add("all_gather", {w}, {{"ranks", p}, {"bucket", 0}, {"group", "data"}});
  const TensorId mixed = multiply(builder, all, builder.input("k", wholeOf(ranks), DataType::f32));
  const TensorId part = builder.add("reduce_scatter", {mixed}, {{"ranks", p}, {"bucket", 1}});
  const TensorId bent = builder.add("unary", {part}, {{"function", "tanh"}});
  const TensorId last = builder.add("broadcast_from", {v}, {{"ranks", p}, {"root", p - 1}, {"bucket", 2}});
  const TensorId total =
      builder.add("reduce_to", {multiply(builder, bent, last)}, {{"ranks", p}, {"root", p / 2}, {"bucket", 3}});
  builder.result("y", ResultKind::output, total);
  const TensorId projected = multiply(builder, total, builder.input("projection", kPart, DataType::f32));
  builder.result("loss", ResultKind::loss, sum(builder, projected));
  differentiate(builder);
  return builder.take();
}

// All of them: parameters "w@0", "w@1", ...
Program programOfAll(int ranks) {
  ProgramBuilder builder(1, 1, true);
  std::vector<TensorId> w, v, bent;
  for (int r = 0; r < ranks; ++r) {
    w.push_back(builder.parameter({.name = fmt::format("w@{}", r), .shape = kPart}));
    v.push_back(builder.parameter({.name = fmt::format("v@{}", r), .shape = kPart}));
  }
  const TensorId all = builder.add("concatenate", w, {{"axis", 0}});
  TensorId mixed = kNoTensor, total = kNoTensor;
  for (int r = 0; r < ranks; ++r) {
    const TensorId own = multiply(builder, all, builder.input(fmt::format("k@{}", r), wholeOf(ranks), DataType::f32));
    mixed = r == 0 ? own : add(builder, mixed, own);
  }
  for (std::int64_t r = 0; r < ranks; ++r) {
    const TensorId part =
        builder.add("slice", {mixed}, {{"axis", 0}, {"start", r * kPart[0]}, {"length", kPart[0]}, {"step", 1}});
    const TensorId own = multiply(builder, builder.add("unary", {part}, {{"function", "tanh"}}), v.back());
    total = r == 0 ? own : add(builder, total, own);
  }
  builder.result("y", ResultKind::output, total);
  // The losses of the other ranks are sums of zeros.
  const TensorId projection = builder.input(fmt::format("projection@{}", ranks / 2), kPart, DataType::f32);
  builder.result("loss", ResultKind::loss, sum(builder, multiply(builder, total, projection)));
  differentiate(builder);
  return builder.take();
}

void write(std::span<std::byte> to, const std::vector<double>& values) {
  const std::vector<float> rounded(values.begin(), values.end());
  ASSERT_EQ(to.size(), rounded.size() * sizeof(float));
  std::memcpy(to.data(), rounded.data(), to.size());
}

TEST(ProgramOverRanks, ComputesWhatOneProgramOfAllComputes) {
  Evaluator whole(programOfAll(size()));
  for (std::size_t id = 0; id < whole.program().tensors.size(); ++id) {
    const Tensor& tensor = whole.program().tensors[id];
    if (tensor.role != TensorRole::parameter && tensor.role != TensorRole::input) continue;
    const std::size_t at = tensor.name.find('@');
    whole.value(static_cast<TensorId>(id)).values =
        valuesOf(tensor.name.substr(0, at), std::stoi(tensor.name.substr(at + 1)), tensor.shape);
  }
  whole.run();

  GradientExchange exchange(world(), {});
  const auto backend = makeCpuBackend(2);
  ParameterStore store(1);
  const auto executable = backend->compile(programOfOne(size()), store, {.collectives = &exchange});
  for (const char* name : {"w", "v"}) {
    const std::vector<double> values = valuesOf(name, rank(), kPart);
    std::copy(values.begin(), values.end(), store.at(name).value.host().begin());
  }
  write(executable->input("k"), valuesOf("k", rank(), wholeOf(size())));
  write(executable->input("projection"), valuesOf("projection", rank(), kPart));
  for (int step = 0; step < 5; ++step) {
    executable->run({.step = step});
    std::vector<float> y(static_cast<std::size_t>(kPart.elements()));
    executable->readResult("y", y);
    const bool root = rank() == size() / 2;
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_NEAR(y[i], root ? whole.value(whole.program().results[0].tensor).values[i] : 0.0, 1e-5) << i;
    EXPECT_NEAR(executable->scalarResult("loss"), root ? whole.result("loss") : 0.0, 1e-4);
    for (const char* name : {"w", "v"}) {
      const std::string known = fmt::format("{}@{}", name, rank());
      const TensorId gradient = whole.program().findTensor(known, TensorRole::parameterGradient);
      for (std::size_t i = 0; i < y.size(); ++i)
        ASSERT_NEAR(store.at(name).gradient.host()[i], gradient == kNoTensor ? 0.0 : whole.value(gradient).values[i],
                    1e-4)
            << known << " " << i;
    }
  }
}

// Stages of a pipeline: each rank multiplies what it receives by its own number. Larger than what MPI takes in advance.
TEST(ProgramOverRanks, PassesTensorsFromRankToRank) {
  if (size() == 1) GTEST_SKIP() << "a message needs two ranks";
  const Shape shape{300, 257};
  const std::int64_t p = size();
  const bool first = rank() == 0, last = rank() == size() - 1;
  ProgramBuilder builder(1, 1, false);
  TensorId x =
      first
          ? builder.input("x", shape, DataType::f32)
          : builder.add("receive", {},
                        {{"from", std::int64_t{rank() - 1}}, {"ranks", p}, {"bucket", 7}, {"shape", shape.extents()}});
  x = builder.add("scale", {x}, {{"factor", 1.0 + rank()}, {"offset", 0.0}});
  if (last)
    builder.result("y", ResultKind::output, x);
  else
    builder.add("send", {x}, {{"to", std::int64_t{rank() + 1}}, {"ranks", p}, {"bucket", 7}});
  GradientExchange exchange(world(), {});
  ParameterStore store(1);
  const auto backend = makeCpuBackend(1);
  const auto executable = backend->compile(builder.take(), store, {.collectives = &exchange});
  const std::vector<double> values = valuesOf("x", 0, shape);
  if (first) write(executable->input("x"), values);
  for (int step = 0; step < 3; ++step) executable->run({.step = step});
  if (!last) return;
  double factor = 1;
  for (int r = 0; r < size(); ++r) factor *= 1 + r;
  std::vector<float> y(values.size());
  executable->readResult("y", y);
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], factor * values[i], factor * 1e-6) << i;
}

Program gatherIn(const char* group, int ranks) {
  ProgramBuilder builder(1, 1, false);
  const TensorId x = builder.input("x", Shape{1}, DataType::f32);
  builder.result("y", ResultKind::output,
                 builder.add("all_gather", {x}, {{"ranks", std::int64_t{ranks}}, {"group", std::string(group)}}));
  return builder.take();
}

TEST(ProgramOverRanks, NamesItsGroups) {
  GradientExchange exchange(world(), {});
  exchange.addGroup("pair", world().split(rank() / 2, rank()));
  const int pair = exchange.group("pair")->ranks();
  EXPECT_EQ(pair, rank() / 2 * 2 + 1 < size() ? 2 : 1);
  ParameterStore store(1);
  const auto backend = makeCpuBackend(1);
  const auto executable = backend->compile(gatherIn("pair", pair), store, {.collectives = &exchange});
  write(executable->input("x"), {static_cast<double>(rank())});
  executable->run({});
  std::vector<float> y(static_cast<std::size_t>(pair));
  executable->readResult("y", y);
  for (int r = 0; r < pair; ++r) EXPECT_EQ(y[static_cast<std::size_t>(r)], rank() / 2 * 2 + r);

  const auto refusal = [&](const char* group, int ranks) -> std::string {
    try {
      backend->compile(gatherIn(group, ranks), store, {.collectives = &exchange});
      return "no error";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(refusal("model", 1), HasSubstr("the group 'model', which this run does not have"));
  EXPECT_THAT(refusal("data", size() + 1),
              HasSubstr(fmt::format("'data' of {} ranks, but here it has {}", size() + 1, size())));
}

}  // namespace
}  // namespace loom
