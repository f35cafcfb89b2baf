// Programs of several ranks on the fake device, on its streams and through the host: values beside the CPU's, graphs,
// order, faults. All ranks are in this process (echo_ranks.h); those of several are in ranks_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/base/error.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/passes/differentiate.h"
#include "engine/passes/passes.h"
#include "tests/engine/cpu/networks.h"
#include "tests/engine/cuda/fake/echo_ranks.h"
#include "tests/engine/cuda/forgetful_device.h"
#include "tests/engine/ops/op_cases.h"

namespace loom::cuda::fake {
namespace {

using Way = EchoRanks::Way;
constexpr int kRanks = 3;

// Statistics over all ranks, gradients in four buckets and more.
Program normalised() {
  Program program = networks::residualNetwork(2);
  setBatchStatistics(program, BatchStatistics::synchronised);
  return program;
}
Program normalisedAndSummed() {
  Program program = normalised();
  exchangeGradients(program, planBuckets(program, 1 << 12));
  return program;
}

// Everything that ranks can do with each other, forward and backward.
Program ofEveryOp() {
  ProgramBuilder b(1, 1, true);
  const std::int64_t ranks = kRanks;
  const auto multiply = [&](TensorId x, TensorId y) { return b.add("binary", {x, y}, {{"function", "multiply"}}); };
  const TensorId w = b.parameter({.name = "w", .shape = {3, 5}, .initializer = {InitializerKind::normal, 1.0}}),
                 v = b.parameter({.name = "v", .shape = {3, 5}, .initializer = {InitializerKind::normal, 1.0}});
  const TensorId all = b.add("all_gather", {w}, {{"ranks", ranks}});
  const TensorId part =
      b.add("reduce_scatter", {multiply(all, b.input("k", {9, 5}, DataType::f32))}, {{"ranks", ranks}});
  const TensorId root = b.add("broadcast_from", {v}, {{"ranks", ranks}, {"root", ranks - 1}});
  const TensorId product = multiply(b.add("unary", {part}, {{"function", "tanh"}}), root);
  const TensorId here = b.add("reduce_to", {product}, {{"ranks", ranks}, {"root", std::int64_t{0}}}),
                 there = b.add("reduce_to", {product}, {{"ranks", ranks}, {"root", std::int64_t{1}}});
  b.add("send", {b.add("scale", {b.input("m", {4}, DataType::f32)}, {{"factor", 2.0}})},
        {{"to", std::int64_t{1}}, {"ranks", ranks}, {"bucket", std::int64_t{7}}});
  b.result("message", ResultKind::output,
           b.add("receive", {},
                 {{"from", std::int64_t{2}},
                  {"ranks", ranks},
                  {"bucket", std::int64_t{7}},
                  {"shape", std::vector<std::int64_t>{4}}}));
  b.result("elsewhere", ResultKind::output, there);
  b.result("loss", ResultKind::loss,
           b.add("reduce", {b.add("binary", {here, there}, {{"function", "add"}})}, {{"function", "sum"}}));
  differentiate(b);
  return b.take();
}

// A device, ranks and a program on them.
struct Machine {
  Machine(const Program& program, std::shared_ptr<Device> device, Way way, DataType precision = DataType::f32)
      : backend(makeCudaBackend(std::move(device))), ranks(kRanks, way), store(11, backend->makeMemory()) {
    store.ensure(program.parameters);
    executable = backend->compile(program, store, {.precision = precision, .collectives = &ranks});
  }
  void run(StepOptions options) {
    networks::fill(*executable, networks::kClasses);
    options.everywhere = true;
    executable->run(options);
  }
  networks::Outcome outcome() const {
    networks::Outcome found = networks::collect(*executable, store);
    for (const NamedResult& result : executable->program().results) {
      std::vector<float>& values = found[result.name];
      values.resize(static_cast<std::size_t>(executable->program().tensor(result.tensor).shape.elements()));
      executable->readResult(result.name, values);
    }
    return found;
  }
  std::unique_ptr<Backend> backend;
  EchoRanks ranks;
  ParameterStore store;
  std::unique_ptr<Executable> executable;
};

networks::Outcome onCpu(const Program& program, int steps) {
  static const auto cpu = makeCpuBackend(1);
  EchoRanks ranks(kRanks, Way::host);
  ParameterStore store(11);
  store.ensure(program.parameters);
  const auto executable = cpu->compile(program, store, {.collectives = &ranks});
  networks::Outcome found;
  for (int k = 0; k < steps; ++k) {
    networks::fill(*executable, networks::kClasses);
    executable->run({.step = k});
  }
  found = networks::collect(*executable, store);
  for (const NamedResult& result : program.results) {
    std::vector<float>& values = found[result.name];
    values.resize(static_cast<std::size_t>(program.tensor(result.tensor).shape.elements()));
    executable->readResult(result.name, values);
  }
  return found;
}

class CudaRanks : public testing::TestWithParam<Way> {
 protected:
  // Steps on a fake device; on its streams they are replayed from a graph, through the host each is begun anew.
  void expectNear(const Program& program) {
    constexpr int kSteps = 4;
    const auto expected = onCpu(program, kSteps);
    for (std::uint64_t seed = 1; seed < 4; ++seed) {
      const auto device = std::make_shared<FakeDevice>(FakeOptions{.seed = seed, .checkedCalls = seed == 1 ? -1 : 0});
      Machine machine(program, device, GetParam());
      for (int k = 0; k < kSteps; ++k) machine.run({.step = k});
      const auto found = machine.outcome();
      ASSERT_EQ(found.size(), expected.size());
      for (const auto& [name, values] : expected)
        EXPECT_LT(cases::relativeDistance(found.at(name), values), 3e-5) << name << ", seed " << seed;
      EXPECT_EQ(device->launches(), GetParam() == Way::streams ? kSteps - 1 : 0);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, CudaRanks, testing::Values(Way::streams, Way::host),
                         [](const auto& info) { return info.param == Way::streams ? "Streams" : "Host"; });

TEST_P(CudaRanks, OpsBetweenThemAreThoseOfTheCpu) {
  expectNear(ofEveryOp());
}

TEST_P(CudaRanks, SynchronisedStatisticsAreThoseOfTheCpu) {
  expectNear(normalised());
}

TEST_P(CudaRanks, StatisticsStayIn32BitsWhereActivationsDoNot) {
  Machine machine(normalised(), std::make_shared<FakeDevice>(FakeOptions{.checkedCalls = 0}), GetParam(),
                  DataType::bf16);
  machine.run({});
  const auto expected = onCpu(normalised(), 1), found = machine.outcome();
  for (const auto& [name, values] : expected)
    if (name.ends_with("/mean") || name.ends_with("/variance"))
      EXPECT_LT(cases::relativeDistance(found.at(name), values), 0.02) << name;
}

// All ranks as one another: the sum is so many times what one has, in steps that exchange alone.
TEST(CudaGradients, AreSummedInTheStepsThatExchangeThem) {
  const Program program = normalisedAndSummed();
  const auto alone = onCpu(normalised(), 1);
  for (std::uint64_t seed = 1; seed < 4; ++seed) {
    const auto device = std::make_shared<FakeDevice>(FakeOptions{.seed = seed, .checkedCalls = 0});
    Machine machine(program, device, Way::streams);
    for (int k = 0; k < 8; ++k) {
      const bool exchange = k % 3 != 0;
      machine.run({.exchange = exchange});
      const auto found = machine.outcome();
      for (auto [name, values] : alone) {
        if (!name.starts_with("gradient")) continue;
        for (float& one : values) one *= exchange ? kRanks : 1;
        EXPECT_LT(cases::relativeDistance(found.at(name), values), 3e-5) << name << " in step " << k;
      }
    }
    EXPECT_EQ(device->launches(), 6) << "either kind of step was begun once and replayed then";
  }
}

// A bucket's sum runs while the backward part goes on: it may come late.
TEST(CudaGradients, LeaveWhileTheBackwardPartRuns) {
  std::set<int> begun;
  for (std::uint64_t seed = 1; seed < 30; ++seed) {
    const auto device = std::make_shared<FakeDevice>(FakeOptions{.seed = seed, .checkedCalls = 0, .computes = true});
    Machine machine(normalisedAndSummed(), device, Way::streams);
    int first = 0;
    machine.ranks.streams->begun = [&](const RankExchange& what, const FakeLaunch&) {
      if (what.kind == RankExchange::Kind::allReduce && first == 0) first = device->calls();
    };
    machine.run({.exchange = true});
    machine.outcome();
    begun.insert(first);
  }
  EXPECT_GT(begun.size(), 2u) << "it always came when all before it was done";
}

// Where ranks compute other shapes than this one nothing may be captured: they would not capture with it.
TEST(CudaGradients, AreCapturedOnAllRanksOrOnNone) {
  const auto device = std::make_shared<FakeDevice>(FakeOptions{.checkedCalls = 0});
  Machine machine(normalisedAndSummed(), device, Way::streams);
  std::vector<int> graphs;
  machine.ranks.streams->begun = [&](const RankExchange& what, const FakeLaunch& launch) {
    if (what.kind == RankExchange::Kind::allReduce && (graphs.empty() || graphs.back() != launch.graph))
      graphs.push_back(launch.graph);
  };
  for (int k = 0; k < 5; ++k) {
    networks::fill(*machine.executable, networks::kClasses);
    machine.executable->run({.exchange = true, .everywhere = k > 2});
  }
  machine.outcome();
  EXPECT_EQ(device->launches(), 1);
  EXPECT_THAT(graphs, testing::ElementsAre(0, 1));
}

// --- What a queue might forget

struct Trial {
  std::string fault;
  int waits;
};
Trial train(std::uint64_t seed, const std::function<void(ForgetfulDevice&)>& mutate) {
  const auto device = std::make_shared<ForgetfulDevice>(FakeOptions{.seed = seed, .checkedCalls = 0});
  mutate(*device);
  try {
    Machine machine(normalisedAndSummed(), device, Way::streams);
    for (int k = 0; k < 3; ++k) machine.run({.step = k, .exchange = true});
    machine.outcome();
  } catch (const Error&) {
  }
  return {device->inner().takeFault().value_or(""), device->asked().waits};
}

// Around every exchange, enqueued and captured.
TEST(Mutations, EveryWaitAroundAnExchangeThatIsForgottenIsFound) {
  const Trial whole = train(1, [](ForgetfulDevice&) {});
  ASSERT_EQ(whole.fault, "");
  ASSERT_GT(whole.waits, 60);
  for (int wait = 0; wait < whole.waits; ++wait)
    EXPECT_THAT(train(1, [&](ForgetfulDevice& device) { device.forgetWait(wait); }).fault,
                testing::AnyOf(testing::HasSubstr("nothing orders them"), testing::HasSubstr("does not come back"),
                               testing::HasSubstr("during a capture"), testing::HasSubstr("outside of the capture")))
        << "wait " << wait;
}

// --- Faults

TEST(CudaRanksFaults, WhatTheOtherRanksSayComesToWhoeverWaits) {
  const auto device = std::make_shared<FakeDevice>(FakeOptions{.checkedCalls = 0});
  {
    Machine machine(normalised(), device, Way::streams);
    machine.ranks.streams->begun = [times = 0](const RankExchange&, const FakeLaunch&) mutable {
      if (++times == 8) throwError(ErrorCode::communication, "the wire is cut");
    };
    std::string said;
    ErrorCode code = ErrorCode::internal;
    try {
      for (int k = 0; k < 3; ++k) machine.run({.step = k});
      machine.outcome();
    } catch (const Error& error) {
      said = error.what();
      code = error.code();
    }
    EXPECT_EQ(code, ErrorCode::communication);
    EXPECT_THAT(said, testing::HasSubstr("the wire is cut"));
  }
  EXPECT_THAT(device->takeFault().value_or(""), testing::HasSubstr("the wire is cut"));
  EXPECT_EQ(device->usedBytes(), 0u);
}

// Every call of a step that exchanges, the exchanges among them.
TEST(CudaRanksFaults, AFailureOfAnyCallIsTold) {
  int calls = 0;
  {
    const auto device = std::make_shared<FakeDevice>(FakeOptions{.computes = false});
    Machine machine(normalisedAndSummed(), device, Way::streams);
    machine.run({.exchange = true});
    machine.outcome();
    calls = device->calls();
  }
  ASSERT_GT(calls, 100);
  for (int nth = 1; nth < calls; nth += 7) {
    const auto device = std::make_shared<FakeDevice>(FakeOptions{.computes = false});
    device->failCall(nth);
    ErrorCode code = ErrorCode::internal;
    try {
      Machine machine(normalisedAndSummed(), device, Way::streams);
      machine.run({.exchange = true});
      machine.outcome();
    } catch (const Error& error) {
      code = error.code();
    }
    EXPECT_EQ(code, ErrorCode::device) << "call " << nth;
    EXPECT_TRUE(device->takeFault()) << "call " << nth;
    EXPECT_EQ(device->usedBytes(), 0u) << "call " << nth;
  }
}

}  // namespace
}  // namespace loom::cuda::fake
