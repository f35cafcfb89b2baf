// Whole networks on the fake device: beside the references, the same bits in whatever order, replayed from a graph, on
// several shapes, and through all that can fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <ostream>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/cuda/cuda_backend.h"
#include "tests/engine/cpu/networks.h"
#include "tests/engine/cuda/fake/fake_device.h"
#include "tests/engine/ops/op_cases.h"

namespace loom::cuda {
namespace {

struct Network {
  const char* name;
  Program (*make)(std::int64_t batch);
  bool hasKinks = false;  // numbers so near a ReLU's kink that 16 bits move them to its other side
};
void PrintTo(const Network& network, std::ostream* to) {
  *to << network.name;
}
const Network kNetworks[] = {{"smallCnn", networks::smallCnn},
                             {"residualNetwork", networks::residualNetwork, true},
                             {"stackedLstm", networks::stackedLstm},
                             {"gatedRecurrent", networks::gatedRecurrent},
                             {"transformer", networks::transformerBlock},
                             {"perceptron", networks::perceptron}};

struct Bound {
  DataType type;
  double distance;
};
// Differences of single ops add up through a network.
constexpr Bound kBounds[] = {{DataType::f32, 3e-5}, {DataType::bf16, 0.08}, {DataType::f16, 0.01}};
constexpr double kBoundWithKinks = 0.2;  // in 16 bits

// One executable on a device and a store of its own.
struct Machine {
  explicit Machine(const Program& program, const fake::FakeOptions& options = {}, DataType precision = DataType::f32)
      : device(std::make_shared<fake::FakeDevice>(options)),
        backend(makeCudaBackend(device)),
        store(11, backend->makeMemory()) {
    store.ensure(program.parameters);
    executable = backend->compile(program, store, {.precision = precision});
    networks::fill(*executable, networks::kClasses);
  }
  networks::Outcome outcome() const { return networks::collect(*executable, store); }

  std::shared_ptr<fake::FakeDevice> device;
  std::unique_ptr<Backend> backend;
  ParameterStore store;
  std::unique_ptr<Executable> executable;
};

// As a training does it: in f16 with gradients scaled on their way.
networks::Outcome step(const Program& program, const fake::FakeOptions& options, DataType precision) {
  Machine machine(program, options, precision);
  machine.executable->run(
      {.step = 4, .firstSample = 2, .lossScale = 1.5, .gradientScale = precision == DataType::f16 ? 1024.0 : 1});
  return machine.outcome();
}

class CudaNetwork : public testing::TestWithParam<Network> {};

TEST_P(CudaNetwork, hasTheReferencesGradients) {
  const Program program = GetParam().make(4);
  const auto reference = makeReferenceBackend();
  const auto expected = networks::step(*reference, program);
  for (const Bound& bound : kBounds) {
    SCOPED_TRACE(std::string(toString(bound.type)));
    const auto found = step(program, {}, bound.type);
    ASSERT_EQ(found.size(), expected.size());
    const double distance = GetParam().hasKinks && bound.type != DataType::f32 ? kBoundWithKinks : bound.distance;
    for (const auto& [name, values] : expected)
      EXPECT_LT(cases::relativeDistance(found.at(name), values), distance) << name;
    for (std::uint64_t seed = 2; seed < 5; ++seed)
      EXPECT_EQ(step(program, {.seed = seed, .checkedCalls = 0}, bound.type), found) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(All, CudaNetwork, testing::ValuesIn(kNetworks),
                         [](const testing::TestParamInfo<Network>& info) { return std::string(info.param.name); });

// Other inputs, another step.
void begin(Executable& executable, int step) {
  networks::fill(executable, networks::kClasses);
  for (const Tensor& tensor : executable.program().tensors) {
    if (tensor.role != TensorRole::input || tensor.type != DataType::f32) continue;
    const auto bytes = executable.input(tensor.name);
    const std::span numbers(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float));
    for (float& one : numbers) one += 0.125f * static_cast<float>(step);
  }
  executable.run({.step = step, .firstSample = 8 * step, .lossScale = 1.0 / (1 + step)});
}

TEST(CudaExecutable, AStepFromTheGraphIsTheSameAsAFirstOne) {
  const Program program = networks::smallCnn(3);  // with dropout, which asks for step and sample
  for (const DataType type : {DataType::f32, DataType::bf16}) {
    Machine machine(program, {}, type);
    for (int k = 0; k < 5; ++k) {
      begin(*machine.executable, k);
      Machine fresh(program, {.seed = 9, .checkedCalls = 0}, type);
      begin(*fresh.executable, k);
      EXPECT_EQ(machine.outcome(), fresh.outcome()) << "step " << k;
      EXPECT_EQ(fresh.device->launches(), 0);
    }
    EXPECT_EQ(machine.device->launches(), 4);
  }
}

// The host runs ahead by as much as it may; nothing of a step is overwritten by the next.
TEST(CudaExecutable, ADeviceThatCapturesNothingIsAskedForEachCall) {
  const Program program = networks::smallCnn(3);
  Machine apart(program, {.captures = false}), replayed(program);
  for (int k = 0; k < 3; ++k) {
    begin(*apart.executable, k);
    begin(*replayed.executable, k);
    EXPECT_EQ(apart.outcome(), replayed.outcome()) << "step " << k;
  }
  EXPECT_EQ(apart.device->launches(), 0);
  EXPECT_EQ(replayed.device->launches(), 2);
}

// Beside a tensor that is larger than they are, and a multiple of 64 bytes alone: the fake refuses workspaces that are
// not aligned as cuBLASLt demands, and which small networks do not have.
TEST(CudaExecutable, WorkspacesAreAlignedAsLibrariesDemand) {
  ProgramBuilder builder(1, 1, false);
  const TensorId wide = builder.input("wide", {1, (1 << 18) + 16}, DataType::f32);
  const TensorId x = builder.input("x", {3, 5}, DataType::f32);
  const TensorId weight = builder.parameter({.name = "w", .shape = {5, 4}});
  const TensorId early = builder.add("unary", {wide}, {{"function", std::string("exp")}});
  builder.result("y", ResultKind::output, builder.add("matmul", {x, weight}));
  builder.result("late", ResultKind::output, builder.add("reduce", {early}, {{"function", std::string("sum")}}));
  const Program program = builder.take();
  Machine machine(program, {.checkedCalls = 0});
  machine.executable->run({});
  std::vector<float> y(12);
  machine.executable->readResult("y", y);
  EXPECT_TRUE(std::isfinite(y[0]));
}

TEST(CudaExecutable, StepsThatNobodyWaitsForDoNotDisturbEachOther) {
  const Program program = networks::perceptron(3);
  Machine fresh(program);
  begin(*fresh.executable, 6);
  for (std::uint64_t seed = 1; seed < 9; ++seed) {
    Machine machine(program, {.seed = seed, .checkedCalls = 0});
    for (int k = 0; k < 7; ++k) begin(*machine.executable, k);
    EXPECT_EQ(machine.outcome(), fresh.outcome()) << "seed " << seed;
  }
}

TEST(CudaExecutable, AStepAllocatesNothing) {
  Machine machine(networks::smallCnn(2));
  const int before = machine.device->allocations();
  for (int k = 0; k < 4; ++k) begin(*machine.executable, k);
  EXPECT_EQ(machine.executable->scalarResult("loss"), machine.executable->scalarResult("loss"));
  EXPECT_EQ(machine.device->allocations(), before);
}

TEST(CudaExecutable, AddsGradientsWhenAccumulating) {
  Machine machine(networks::perceptron(4));
  machine.executable->run({});
  const auto once = machine.outcome();
  for (const int times : {2, 3}) {  // the second from the graph
    networks::fill(*machine.executable, networks::kClasses);
    machine.executable->run({.accumulate = true});
    for (const auto& [name, values] : machine.outcome())
      for (std::size_t i = 0; i < values.size() && name != "loss"; ++i)
        EXPECT_FLOAT_EQ(values[i], static_cast<float>(times) * once.at(name)[i]) << name;
  }
}

// A power of two on the way, and none of it in the store.
TEST(CudaExecutable, GradientsAreScaledOnTheirWayAlone) {
  const Program program = networks::perceptron(4);
  Machine plain(program), scaled(program);
  plain.executable->run({});
  scaled.executable->run({.gradientScale = 1024});
  auto expected = plain.outcome(), found = scaled.outcome();
  EXPECT_EQ(found, expected);
  // In f16 small gradients vanish without it.
  Machine half(program, {}, DataType::f16), halfScaled(program, {}, DataType::f16);
  half.executable->run({.lossScale = 1e-7});
  halfScaled.executable->run({.lossScale = 1e-7, .gradientScale = 65536});
  networks::fill(*plain.executable, networks::kClasses);  // two steps have two places for their inputs
  plain.executable->run({.lossScale = 1e-7});
  expected = plain.outcome();
  const auto distance = [&](const Machine& machine) {
    const std::string name = "gradient of linear0/weight";
    const auto mine = machine.outcome().at(name), theirs = expected.at(name);
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      difference += std::pow(double{mine[i]} - theirs[i], 2);
      norm += std::pow(theirs[i], 2);
    }
    return std::sqrt(difference / norm);
  };
  EXPECT_GT(distance(half), 0.2);
  EXPECT_LT(distance(halfScaled), 0.03);
}

TEST(CudaExecutable, SeveralShapesShareAStoreAndAnArena) {
  const auto device = std::make_shared<fake::FakeDevice>();
  const auto backend = makeCudaBackend(device), reference = makeReferenceBackend();
  ParameterStore store(11, backend->makeMemory()), expected(11);
  std::vector<std::unique_ptr<Executable>> mine, theirs;
  for (const std::int64_t batch : {2, 5, 3}) {  // the second wants a larger arena
    mine.push_back(backend->compile(networks::residualNetwork(batch), store, {}));
    theirs.push_back(reference->compile(networks::residualNetwork(batch), expected, {}));
  }
  for (const std::size_t k : {0u, 1u, 2u, 1u, 0u, 0u, 2u}) {
    for (Executable* one : {mine[k].get(), theirs[k].get()}) {
      networks::fill(*one, networks::kClasses);
      one->run({});
    }
    const auto found = networks::collect(*mine[k], store), wanted = networks::collect(*theirs[k], expected);
    for (const auto& [name, values] : wanted)
      EXPECT_LT(cases::relativeDistance(found.at(name), values), 1e-4) << name << " of executable " << k;
  }
}

TEST(CudaExecutable, TakesWhatWasMeasured) {
  for (const Network& network : kNetworks) {
    const Program program = network.make(3);
    const auto device = std::make_shared<fake::FakeDevice>();
    const auto backend = makeCudaBackend(device);
    const BufferPlan::Extent extent = backend->measure(program, {.precision = DataType::bf16});
    EXPECT_EQ(device->allocations(), 0) << network.name;
    ParameterStore store(11, backend->makeMemory());
    store.ensure(program.parameters);
    const std::size_t before = device->usedBytes();
    const auto executable = backend->compile(program, store, {.precision = DataType::bf16});
    EXPECT_EQ(device->usedBytes() - before, extent.shared + extent.lasting) << network.name;
    EXPECT_EQ(executable->describe()["arena_bytes"], extent.shared + extent.lasting) << network.name;
  }
}

TEST(CudaExecutable, LabelsOutOfRangeAreRefusedBeforeAnythingIsSent) {
  Machine machine(networks::perceptron(3));
  const auto y = machine.executable->input("y");
  const std::int32_t wrong = networks::kClasses;
  std::memcpy(y.data() + sizeof(wrong), &wrong, sizeof(wrong));
  const int before = machine.device->calls();
  try {
    machine.executable->run({});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::badData) << error.what();
  }
  machine.device->synchronise(Stream::compute);
  EXPECT_LE(machine.device->calls() - before, 64) << "only what was under way";
  networks::fill(*machine.executable, networks::kClasses);
  machine.executable->run({});
  EXPECT_GT(machine.executable->scalarResult("loss"), 0);
}

TEST(CudaExecutable, RefusesPrecisionsThatGpusDoNotHaveAndNamesThatItDoesNotKnow) {
  const auto backend = makeCudaBackend(std::make_shared<fake::FakeDevice>());
  ParameterStore store(1, backend->makeMemory());
  EXPECT_THROW(backend->compile(networks::perceptron(2), store, {.precision = DataType::u8}), Error);
  const auto executable = backend->compile(networks::perceptron(2), store, {});
  EXPECT_THROW(executable->input("no such"), Error);
  EXPECT_THROW(executable->scalarResult("loss"), Error) << "before the first step";
  networks::fill(*executable, networks::kClasses);
  executable->run({});
  EXPECT_THROW(executable->scalarResult("no such"), Error);
}

TEST(CudaExecutable, ResultsOfTheStepBeforeStayWhileTheNextIsUnderWay) {
  Machine machine(networks::perceptron(3)), alone(networks::perceptron(3));
  const auto run = [](Machine& on, float first) {
    networks::fill(*on.executable, networks::kClasses);
    reinterpret_cast<float*>(on.executable->input("x").data())[0] = first;
    return on.executable->run({});
  };
  std::vector<double> losses;
  for (const float first : {1.0f, 5.0f, 9.0f}) {
    run(alone, first);
    losses.push_back(alone.executable->scalarResult("loss"));
  }
  const StepNumber one = run(machine, 1), two = run(machine, 5);
  EXPECT_EQ(machine.executable->scalarResult("loss", one), losses[0]);
  const StepNumber three = run(machine, 9);
  EXPECT_EQ(machine.executable->scalarResult("loss", two), losses[1]);
  EXPECT_EQ(machine.executable->scalarResult("loss", three), losses[2]);
  EXPECT_NE(losses[1], losses[2]);
  for (const StepNumber gone : {one, three + 1}) EXPECT_THROW(machine.executable->scalarResult("loss", gone), Error);
}

// --- What fails

TEST(CudaFaults, EveryAllocationThatFailsIsToldAndLeavesNothingBehind) {
  const Program program = networks::perceptron(3);
  int failures = 0;
  for (int nth = 1;; ++nth) {
    const auto device = std::make_shared<fake::FakeDevice>();  // complains of what is not given back
    device->failAllocation(nth);
    try {
      const auto backend = makeCudaBackend(device);
      ParameterStore store(11, backend->makeMemory());
      store.ensure(program.parameters);
      const auto executable = backend->compile(program, store, {});
      networks::fill(*executable, networks::kClasses);
      executable->run({});
      networks::collect(*executable, store);
      break;  // more than there are
    } catch (const Error& error) {
      ++failures;
      EXPECT_EQ(error.code(), ErrorCode::device) << error.what();
      EXPECT_THAT(error.what(), testing::HasSubstr("there is no room"));
    }
  }
  EXPECT_GT(failures, 10);
}

TEST(CudaFaults, EveryCallThatFailsIsToldByAStepOrItsResults) {
  const Program program = networks::perceptron(3);
  int failures = 0;
  for (int nth = 1;; nth += 3) {
    const auto device = std::make_shared<fake::FakeDevice>();
    bool failed = false;
    {
      const auto backend = makeCudaBackend(device);
      ParameterStore store(11, backend->makeMemory());
      store.ensure(program.parameters);
      const auto executable = backend->compile(program, store, {});
      device->failCall(nth);
      try {
        for (int k = 0; k < 3; ++k) begin(*executable, k);
        networks::collect(*executable, store);
      } catch (const Error& error) {
        failed = true;
        EXPECT_EQ(error.code(), ErrorCode::device) << error.what();
        EXPECT_THAT(error.what(), testing::HasSubstr("an illegal memory access was encountered"));
      }
    }
    device->takeFault();
    if (!failed) break;
    ++failures;
  }
  EXPECT_GT(failures, 20);
}

}  // namespace
}  // namespace loom::cuda
