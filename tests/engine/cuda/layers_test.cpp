// What no op case reaches: normalisations, sums, ReLUs and poolings in one pass, maxima of numbers that 16 bits tell
// apart, means far from zero, and what a GPU refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/philox.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/passes/differentiate.h"
#include "engine/passes/passes.h"
#include "engine/program/builder.h"
#include "engine/program/collectives.h"
#include "tests/engine/cpu/networks.h"
#include "tests/engine/cuda/fake/fake_device.h"
#include "tests/engine/ops/op_cases.h"

namespace loom::cuda {
namespace {

using Integers = std::vector<std::int64_t>;

std::unique_ptr<Backend> fakeBackend() {
  return makeCudaBackend(std::make_shared<fake::FakeDevice>());
}

std::vector<std::string> kernelsOf(const Executable& executable) {
  std::vector<std::string> kernels;
  const Json facts = executable.describe();
  for (const Json& one : facts["operations"]) kernels.push_back(one["kernel"]);
  return kernels;
}

// Every parameter through a scale by 1/2, so that what stands between may be kept in 16 bits.
struct Drawing {
  TensorId image(const std::string& name, Shape shape) {
    return b.add("scale", {b.parameter({.name = name, .shape = std::move(shape)})}, {{"factor", 0.5}});
  }
  TensorId normalise(const std::string& name, TensorId x) {
    const Shape channels{b.shape(x)[1]};
    const auto vector = [&](const char* part, double value) {
      return b.parameter({.name = name + part, .shape = channels, .initializer = {InitializerKind::constant, value}});
    };
    const auto state = [&](const char* part) {
      return b.state({.name = name + part, .shape = channels, .isState = true});
    };
    return b.add("batch_normalization",
                 {x, vector("/gamma", 1.25), vector("/beta", -0.5), state("/mean"), state("/variance")},
                 {{"epsilon", 1e-3}, {"momentum", 0.8}, {"axis", std::int64_t{1}}});
  }
  TensorId relu(TensorId x) { return b.add("unary", {x}, {{"function", "relu"}}); }
  TensorId sum(TensorId x, TensorId y) { return b.add("binary", {x, y}, {{"function", "add"}}); }
  TensorId maxPool(TensorId x, Integers kernel, Integers strides, Integers padding) {
    return b.add("max_pooling", {x},
                 {{"kernel", std::move(kernel)}, {"strides", std::move(strides)}, {"padding", std::move(padding)}});
  }
  // The loss: y's sum, each element times a number from the input.
  Program finish(TensorId y) {
    const TensorId projection = b.input("projection", b.shape(y), DataType::f32);
    const TensorId product =
        b.add("binary", {b.add("scale", {y}, {{"factor", 2.0}}), projection}, {{"function", "multiply"}});
    b.result("loss", ResultKind::loss, b.add("reduce", {product}, {{"function", "sum"}}));
    differentiate(b);
    return b.take();
  }
  ProgramBuilder b{1, 1, true};
};

// Element i of a parameter with three and more axes; others stand as they were made.
using Content = float (*)(std::size_t i);

networks::Outcome step(Backend& backend, const Program& program, DataType precision, Content content,
                       std::vector<std::string>* kernels = nullptr) {
  ParameterStore store(11, backend.makeMemory());
  store.ensure(program.parameters);
  const auto executable = backend.compile(program, store, {.precision = precision});
  for (const Parameter& parameter : program.parameters) {
    if (parameter.shape.rank() < 3) continue;
    std::vector<float> values(static_cast<std::size_t>(parameter.shape.elements()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = content(i + parameter.name.size());
    store.at(parameter.name).value.write(values);
  }
  networks::fill(*executable, networks::kClasses);
  executable->run({});
  if (kernels != nullptr) *kernels = kernelsOf(*executable);
  return networks::collect(*executable, store);
}

void expectNear(const Program& program, Content content, DataType precision, double distance,
                std::vector<std::string>* kernels = nullptr) {
  SCOPED_TRACE(std::string(toString(precision)));
  const auto backend = fakeBackend(), reference = makeReferenceBackend();
  const auto found = step(*backend, program, precision, content, kernels);
  const auto expected = step(*reference, program, DataType::f32, content);
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, values] : expected) {
    if (name == "loss") continue;  // may cancel
    EXPECT_LT(cases::relativeDistance(found.at(name), values), distance) << name;
  }
}

// Integers below 256, which bf16 holds exactly; a window of 17 x 17 or less of neighbours has few equal ones.
float distinct(std::size_t i) {
  return static_cast<float>(i * 73 % 251) - 100;
}

TEST(CudaLayers, aResidualBlockIsNormalisedAddedAndCutInOnePass) {
  for (const std::int64_t channels : {5, 8}) {
    Drawing d;
    const Shape shape{6, channels, 8, 8};
    TensorId y = d.relu(d.sum(d.normalise("first", d.image("x", shape)), d.image("shortcut", shape)));
    y = d.maxPool(y, {3, 3}, {2, 2}, {1, 1, 1, 1});
    const Program program = d.finish(d.relu(d.normalise("second", y)));
    std::vector<std::string> kernels;
    const auto wave = [](std::size_t i) {
      return static_cast<float>(std::sin(0.37 * static_cast<double>(i * i % 1000)));
    };
    expectNear(program, wave, DataType::f32, 2e-5, &kernels);
    // All of it in the passes of the normalisations and the pooling.
    using testing::Contains, testing::Not, testing::StartsWith;
    EXPECT_THAT(kernels, Not(Contains(StartsWith("unary"))));
    EXPECT_THAT(kernels, Contains(StartsWith("normalise.")).Times(2));
    EXPECT_THAT(kernels, Contains(StartsWith("max_pooling_gradient.")).Times(1));
    EXPECT_THAT(kernels, Contains(StartsWith("max_pooling.")).Times(1)) << "maxima are found once";
    // Numbers near a ReLU's kink or near each other fall to the other side.
    expectNear(program, wave, DataType::bf16, 0.1, &kernels);
    EXPECT_THAT(kernels, testing::IsSupersetOf({"normalise.bf16", "batch_gradient.bf16", "max_pooling_gradient.bf16"}));
    expectNear(program, wave, DataType::f16, 0.02);
  }
}

// Numbers that are the same after rounding, so that each type has the same maxima.
TEST(CudaLayers, maximaOfDistinctNumbersGoWhereTheReferencesGo) {
  struct Case {
    Shape shape;
    Integers kernel, strides, padding;
  };
  const Case cases[] = {{{2, 16, 9, 9}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
                        {{2, 3, 9, 8}, {2, 2}, {2, 2}, {0, 0, 0, 0}},
                        {{1, 8, 20, 18}, {17, 17}, {2, 1}, {0, 0, 0, 0}},  // more places than a byte tells apart
                        {{1, 8, 7, 7}, {3, 2}, {1, 3}, {2, 0, 1, 1}}};
  for (const Case& one : cases)
    for (const bool relu : {false, true}) {
      Drawing d;
      TensorId x = d.image("x", one.shape);
      if (relu) x = d.relu(x);
      const Program program = d.finish(d.maxPool(x, one.kernel, one.strides, one.padding));
      expectNear(program, distinct, DataType::f32, 1e-6);
      std::vector<std::string> kernels;
      expectNear(program, distinct, DataType::bf16, 8e-3, &kernels);
      EXPECT_THAT(kernels, testing::IsSupersetOf({"max_pooling.bf16", "max_pooling_gradient.bf16"}));
      expectNear(program, distinct, DataType::f16, 1e-3);
    }
}

TEST(CudaLayers, aMeanFarFromZeroCostsNoDigits) {
  const auto far = [](std::size_t i) {
    return 40 + static_cast<float>(i * 7919 % 1000) / 500;
  };  // 20 +- 0.3 behind the scale
  Drawing d;
  const Program program = d.finish(d.normalise("bn", d.image("x", {60, 3, 7, 5})));
  expectNear(program, far, DataType::f32, 1e-5);
}

TEST(CudaLayers, aNaNIsNotHidden) {
  const auto withNaN = [](std::size_t i) { return i == 40 ? std::nanf("") : distinct(i); };
  Drawing d;
  const Program program =
      d.finish(d.relu(d.normalise("bn", d.maxPool(d.image("x", {2, 8, 4, 4}), {2, 2}, {2, 2}, {0, 0, 0, 0}))));
  const auto backend = fakeBackend();
  EXPECT_TRUE(std::isnan(step(*backend, program, DataType::f32, withNaN).at("loss")[0]));
  EXPECT_TRUE(std::isfinite(step(*backend, program, DataType::f32, distinct).at("loss")[0]));
}

// Two ranks, of which nobody is ever asked anything.
struct TwoRanks final : Collectives, RankGroup {
  int ranks() const override { return 2; }
  int rank() const override { return 0; }
  void post(int) override { FAIL(); }
  void gather(std::span<const double>, std::span<double>) override { FAIL(); }
  RankGroup* group(std::string_view name) override { return name == "data" ? this : nullptr; }
  void allGather(std::span<const float>, std::span<float>) override { FAIL(); }
  void reduceScatter(std::span<const float>, std::span<float>) override { FAIL(); }
  void broadcast(std::span<float>, int) override { FAIL(); }
  void reduce(std::span<float>, int) override { FAIL(); }
  void send(std::span<const float>, int, int) override { FAIL(); }
  void receive(std::span<float>, int, int) override { FAIL(); }
};

std::string refusalOf(const Program& program) {
  TwoRanks ranks;
  const auto backend = fakeBackend();
  ParameterStore store(1, backend->makeMemory());
  store.ensure(program.parameters);
  try {
    backend->compile(program, store, {.collectives = &ranks});
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

// The trainer sends them when the step is over; nothing is posted meanwhile.
TEST(CudaLayers, gradientsOfSeveralRanksAreThereForTheTrainer) {
  Drawing d;
  Program program = d.finish(d.normalise("bn", d.image("x", {6, 3, 2, 2})));
  exchangeGradients(program, planBuckets(program, 1));
  TwoRanks ranks;
  const auto backend = fakeBackend();
  ParameterStore store(1, backend->makeMemory());
  store.ensure(program.parameters);
  const auto executable = backend->compile(program, store, {.collectives = &ranks});
  store.at("x").value.write(std::vector<float>(72, 1.5f));
  networks::fill(*executable, networks::kClasses);
  for (int k = 0; k < 3; ++k) executable->run({.exchange = true});
  const auto found = networks::collect(*executable, store);
  const std::vector<float> projection = [] {
    const Philox random(3, "projection");
    std::vector<float> values(72);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(random.normal(i));
    return values;
  }();
  std::vector<float> dbeta(3);  // y's scale by 2, and N x C x 2 x 2
  for (std::size_t i = 0; i < projection.size(); ++i) dbeta[i / 4 % 3] += 2 * projection[i];
  EXPECT_LT(cases::relativeDistance(found.at("gradient of bn/beta"), dbeta), 1e-6);
}

TEST(CudaLayers, groupsThatARunDoesNotHaveAreRefused) {
  for (cases::OpCase one : cases::partnerCases()) {
    EXPECT_EQ(refusalOf(cases::programOf(one, false)), "accepted") << one.name;
    one.attributes.set("group", std::string("model"));
    EXPECT_THAT(refusalOf(cases::programOf(one, false)),
                testing::HasSubstr(one.op + " is for the group 'model', which this run does not have"));
    one.attributes.set("group", std::string("data"));
    one.attributes.set("ranks", std::int64_t{3});
    if (one.op == "reduce_scatter") one.inputs[0].shape = {6, 4};
    EXPECT_THAT(refusalOf(cases::programOf(one, false)),
                testing::HasSubstr(one.op + " is for a group 'data' of 3 ranks, but here it has 2"));
  }
}

}  // namespace
}  // namespace loom::cuda
