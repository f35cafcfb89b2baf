// Ways to compute the same (a graph with its bias and without, attention by tiles and by products) are timed once on a
// device, the fastest is taken and kept, and nothing of a trial is left behind.
#include "engine/cuda/lowerings/ways.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/engine_choice.h"
#include "engine/program/builder.h"
#include "tests/engine/cpu/networks.h"
#include "tests/engine/cuda/fake/fake_device.h"
#include "tests/engine/ops/op_cases.h"

namespace loom::cuda {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

// Which of the ways that are timed one after another is the faster.
enum class Faster { earlier, second, later };

class CudaWays : public testing::Test {
 protected:
  CudaWays() {
    std::string name = (std::filesystem::temp_directory_path() / "gradloom-ways-XXXXXX").string();
    m_folder = mkdtemp(name.data());
  }
  ~CudaWays() override { std::filesystem::remove_all(m_folder); }

  // As each process that uses the device has it: with what others have kept.
  struct Timed {
    Timed(const std::filesystem::path& file, Faster faster)
        : choice("a device", {.times = true, .file = file}), timing{choice, [this, faster](const Graph&) {
                                                                      ++graphs;
                                                                      return faster == Faster::earlier ? graphs
                                                                             : faster == Faster::later ? 1.0 / graphs
                                                                             : graphs == 2             ? 1.0
                                                                                                       : 2.0;
                                                                    }} {}
    EngineChoice choice;
    int graphs = 0;
    Device::Timing timing;
  };
  Timed timed(Faster faster) const { return Timed(m_folder / "engines.json", faster); }

  struct Compiled {
    std::vector<std::string> kernels;
    networks::Outcome outcome;
    std::size_t bytes = 0;  // of the device
    int conversions = 0;
  };
  static Compiled compiled(const Program& program, const Device::Timing* timing, DataType precision) {
    const auto device = std::make_shared<fake::FakeDevice>(fake::FakeOptions{.timing = timing});
    const auto backend = makeCudaBackend(device);
    ParameterStore store(11, backend->makeMemory());
    store.ensure(program.parameters);
    const auto executable = backend->compile(program, store, {.precision = precision});
    Compiled made;
    const Json facts = executable->describe();
    for (const Json& operation : facts["operations"]) made.kernels.push_back(operation["kernel"].get<std::string>());
    made.bytes = device->usedBytes();
    made.conversions = facts["reorders"].get<int>();
    networks::fill(*executable, networks::kClasses);
    for (int step = 0; step < 3; ++step) executable->run({.step = step});  // the last from its graph
    made.outcome = networks::collect(*executable, store);
    return made;
  }
  static void expectNear(const networks::Outcome& found, const networks::Outcome& expected, double distance) {
    ASSERT_EQ(found.size(), expected.size());
    for (const auto& [name, values] : expected)
      EXPECT_LT(cases::relativeDistance(found.at(name), values), distance) << name;
  }

  std::filesystem::path m_folder;
};

TEST_F(CudaWays, ABiasGoesApartWhereThatIsFaster) {
  const Program program = networks::smallCnn(4);
  const Compiled plain = compiled(program, nullptr, DataType::f32);
  EXPECT_THAT(plain.kernels, Contains("convolution + bias + relu"));
  Timed later = timed(Faster::later);
  const Compiled apart = compiled(program, &later.timing, DataType::f32);
  EXPECT_GT(later.graphs, 0);
  EXPECT_EQ(later.graphs % 2, 0) << "both ways of each";
  EXPECT_THAT(apart.kernels, Contains("add_bias.f32"));
  EXPECT_THAT(apart.kernels, Each(Not(HasSubstr("convolution + bias"))));
  expectNear(apart.outcome, plain.outcome, 3e-5);
  // Another process finds it in the file, whatever it would measure itself.
  Timed kept = timed(Faster::earlier);
  EXPECT_EQ(compiled(program, &kept.timing, DataType::f32).kernels, apart.kernels);
  EXPECT_EQ(kept.graphs, 0);
}

TEST_F(CudaWays, TrialsLeaveNoBufferAndNoStageBehind) {
  for (const auto make : {networks::smallCnn, networks::transformerBlock})
    for (const DataType type : {DataType::f32, DataType::bf16}) {
      const Program program = make(3);
      std::filesystem::remove_all(m_folder / "engines.json");
      Timed earlier = timed(Faster::earlier);
      const Compiled found = compiled(program, &earlier.timing, type), plain = compiled(program, nullptr, type);
      EXPECT_EQ(found.kernels, plain.kernels);
      EXPECT_EQ(found.bytes, plain.bytes);
      EXPECT_EQ(found.conversions, plain.conversions);
      EXPECT_EQ(found.outcome, plain.outcome) << "to the bit";
    }
}

// Nor the constant that cuDNN's attention reads, where another way is taken.
TEST_F(CudaWays, TrialsLeaveNoConstantBehind) {
  ProgramBuilder builder(2, 1, false);
  const TensorId x = builder.input("x", {2, 9, 24}, DataType::f32);
  builder.result("y", ResultKind::output, builder.add("attention", {x, x, x}, {{"heads", std::int64_t{3}}}));
  const Program program = builder.take();
  const auto bytesOf = [&](const Device::Timing* timing) {
    const auto device = std::make_shared<fake::FakeDevice>(fake::FakeOptions{.timing = timing});
    const auto backend = makeCudaBackend(device);
    ParameterStore store(1, backend->makeMemory());
    const auto executable = backend->compile(program, store, {.precision = DataType::bf16});
    return device->usedBytes();
  };
  Timed earlier = timed(Faster::earlier);
  EXPECT_EQ(bytesOf(&earlier.timing), bytesOf(nullptr));
  EXPECT_EQ(earlier.graphs, 3);
}

TEST_F(CudaWays, AttentionIsComputedByTilesOrByProducts) {
  const Program program = networks::transformerBlock(3);
  for (const auto& [type, distance] : {std::pair{DataType::f32, 3e-5}, {DataType::bf16, 0.05}}) {
    std::filesystem::remove_all(m_folder / "engines.json");
    const Compiled tiles = compiled(program, nullptr, type);
    EXPECT_THAT(tiles.kernels, Contains(HasSubstr("attention_forward")));
    EXPECT_THAT(tiles.kernels, Contains(HasSubstr("attention_to_keys")));
    EXPECT_THAT(tiles.kernels, Each(Not(HasSubstr("attention_softmax"))));
    Timed later = timed(Faster::later);
    const Compiled products = compiled(program, &later.timing, type);
    EXPECT_THAT(products.kernels, Contains(HasSubstr("attention_softmax")));
    EXPECT_THAT(products.kernels, Each(Not(HasSubstr("attention_forward"))));
    expectNear(products.outcome, tiles.outcome, distance);
  }
}

// Tiles of f32 round nothing, and tensor cores, which may, are faster; what was timed for the one is not taken for the
// other.
TEST_F(CudaWays, AttentionThatMayBeRoundedGoesByProductsUnlessTilesAreFaster) {
  const auto kernelsOf = [&](const Device::Timing* timing, bool tf32) {
    const auto backend = makeCudaBackend(std::make_shared<fake::FakeDevice>(fake::FakeOptions{.timing = timing}));
    ParameterStore store(11, backend->makeMemory());
    const Program program = networks::transformerBlock(3);
    store.ensure(program.parameters);
    std::vector<std::string> kernels;
    const Json facts = backend->compile(program, store, {.tf32 = tf32})->describe();
    for (const Json& operation : facts["operations"]) kernels.push_back(operation["kernel"].get<std::string>());
    return kernels;
  };
  EXPECT_THAT(kernelsOf(nullptr, true), Contains("attention_softmax.f32"));
  EXPECT_THAT(kernelsOf(nullptr, false), Each(Not(HasSubstr("attention_softmax"))));
  Timed rounded = timed(Faster::later);
  EXPECT_THAT(kernelsOf(&rounded.timing, true), Each(Not(HasSubstr("attention_softmax"))));
  Timed exact = timed(Faster::later);
  EXPECT_THAT(kernelsOf(&exact.timing, false), Contains("attention_softmax.f32"));
  EXPECT_GT(exact.graphs, 0);
}

// cuDNN has attention without a mask, of heads of multiples of eight channels, where it has an engine for it.
TEST_F(CudaWays, AttentionIsComputedByCudnnWhereItCanAndThatIsFaster) {
  const auto runCase = [&](const cases::OpCase& opCase, const Device::Timing* timing, DataType type,
                           std::function<bool(const DnnGraph&)> refuses = nullptr) {
    const auto backend = makeCudaBackend(
        std::make_shared<fake::FakeDevice>(fake::FakeOptions{.refuses = std::move(refuses), .timing = timing}));
    return cases::runCase(opCase, *backend, {.precision = type}, false);
  };
  cases::OpCase opCase{.name = "whole_heads",
                       .op = "attention",
                       .inputs = {{{2, 9, 24}}, {{2, 70, 24}}, {{2, 70, 24}}},
                       .attributes = {{"heads", std::int64_t{3}}, {"causal", false}}};
  const auto expected = cases::runCase(opCase, *makeReferenceBackend(), {}, false);
  for (const auto& [type, distance] : {std::pair{DataType::bf16, 2e-2}, std::pair{DataType::f16, 2.5e-3}}) {
    std::filesystem::remove_all(m_folder / "engines.json");
    Timed second = timed(Faster::second);
    const auto found = runCase(opCase, &second.timing, type);
    EXPECT_EQ(second.graphs, 3);
    EXPECT_LT(cases::relativeDistance(found.at("y"), expected.at("y")), distance);
    const Json kept = parseJson(readFile(m_folder / "engines.json"), "kept");
    const Json& ways = kept["machines"]["a device"];
    ASSERT_EQ(ways.size(), 1U);
    EXPECT_THAT(ways.begin().value()["engine"].get<std::string>(), testing::StartsWith("cudnn "));
    EXPECT_EQ(ways.begin().value()["microseconds"].size(), 3U);
    // A device without an engine for it, heads of five channels, a mask, f32: two ways.
    std::filesystem::remove_all(m_folder / "engines.json");
    Timed refused = timed(Faster::second);
    runCase(opCase, &refused.timing, type, [](const DnnGraph&) { return true; });
    EXPECT_EQ(refused.graphs, 2);
  }
  const auto graphsOf = [&](std::int64_t channels, bool causal, DataType type) {
    std::filesystem::remove_all(m_folder / "engines.json");
    Timed any = timed(Faster::earlier);
    cases::OpCase other = opCase;
    for (cases::InputCase& input : other.inputs) input.shape = {2, 9, channels};
    other.attributes = {{"heads", std::int64_t{3}}, {"causal", causal}};
    runCase(other, &any.timing, type);
    return any.graphs;
  };
  EXPECT_EQ(graphsOf(24, false, DataType::bf16), 3);
  EXPECT_EQ(graphsOf(15, false, DataType::bf16), 2);
  EXPECT_EQ(graphsOf(24, true, DataType::bf16), 2);
  EXPECT_EQ(graphsOf(24, false, DataType::f32), 2);
  EXPECT_EQ(graphsOf(3 * 136, true, DataType::bf16), 0) << "one way is not timed";
}

// Wherever a trial finds no room, the way is passed over; where none does, the first is taken.
TEST_F(CudaWays, WhatCannotBeTriedIsPassedOver) {
  const Program program = networks::smallCnn(2);
  bool failed = true;
  for (int nth = 1; failed; ++nth) {
    ASSERT_LT(nth, 500);
    std::filesystem::remove_all(m_folder / "engines.json");
    Timed earlier = timed(Faster::earlier);
    const auto device = std::make_shared<fake::FakeDevice>(fake::FakeOptions{.timing = &earlier.timing});
    const auto backend = makeCudaBackend(device);
    ParameterStore store(11, backend->makeMemory());
    store.ensure(program.parameters);
    const int before = device->allocations();
    device->failAllocation(nth);
    try {
      const auto executable = backend->compile(program, store, {});
      failed = device->allocations() - before >= nth;
      networks::fill(*executable, networks::kClasses);
      executable->run({});
      EXPECT_TRUE(std::isfinite(executable->scalarResult("loss")));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::device) << error.what();
      EXPECT_THAT(error.what(), Not(HasSubstr("what is timed")));
    }
  }
}

// Not so a way that breaks the device: it is named, and nothing else is tried.
TEST_F(CudaWays, AWayThatBreaksTheDeviceIsNamed) {
  for (const bool inTheTimedLaunch : {false, true}) {
    std::shared_ptr<fake::FakeDevice> device;
    EngineChoice choice("a device", {.times = true, .file = m_folder / "engines.json"});
    const Device::Timing timing{choice, [&](const Graph& graph) {
                                  if (inTheTimedLaunch) device->failCall(1);
                                  device->launch(graph, Stream::compute);
                                  device->synchronise(Stream::compute);
                                  return 1.0;
                                }};
    device = std::make_shared<fake::FakeDevice>(fake::FakeOptions{.timing = &timing});
    const auto backend = makeCudaBackend(device);
    const Program program = networks::smallCnn(2);
    ParameterStore store(11, backend->makeMemory());
    store.ensure(program.parameters);
    device->synchronise(Stream::compute);
    if (!inTheTimedLaunch) device->failCall(3);  // of the first that are tried
    try {
      backend->compile(program, store, {});
      FAIL() << "it goes on";
    } catch (const Error& error) {
      EXPECT_NE(dynamic_cast<const DeviceLost*>(&error), nullptr) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("the GPU was lost while engine '"));
      EXPECT_THAT(error.what(), HasSubstr("an illegal memory access"));
    }
    device->takeFault();
  }
}

}  // namespace
}  // namespace loom::cuda
