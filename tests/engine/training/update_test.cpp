#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <span>

#include "engine/base/error.h"
#include "engine/optimizers/optimizer.h"
#include "engine/passes/differentiate.h"
#include "engine/program/builder.h"
#include "engine/training/parameter_update.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A program with parameters of the given sizes, all of which lead to the loss.
Program programOf(const std::vector<Parameter>& parameters) {
  ProgramBuilder builder(1, 1, true);
  TensorId sum = kNoTensor;
  for (const Parameter& parameter : parameters) {
    const TensorId squared =
        builder.add("unary", {builder.parameter(parameter)}, {{"function", std::string("square")}});
    const TensorId total =
        builder.add("reduce", {squared},
                    {{"function", std::string("sum")}, {"axes", std::vector<std::int64_t>{0}}, {"keep", false}});
    sum = sum == kNoTensor ? total : builder.add("binary", {sum, total}, {{"function", std::string("add")}});
  }
  builder.result("loss", ResultKind::loss, sum);
  differentiate(builder);
  return builder.take();
}

Parameter parameter(const char* name, std::int64_t count, ParameterKind kind = ParameterKind::weight) {
  return {.name = name, .shape = Shape{count}, .kind = kind, .initializer = {.kind = InitializerKind::ones}};
}

UpdateSpec specOf(Json optimizer) {
  UpdateSpec spec;
  spec.optimizer = std::move(optimizer);
  return spec;
}

TEST(ParameterUpdate, DecaysWeightsAndLeavesOutBiasesAndNormalisation) {
  const Program program =
      programOf({parameter("fc/weight", 3), parameter("fc/bias", 2, ParameterKind::bias),
                 parameter("bn/gamma", 2, ParameterKind::normalisation), parameter("head/weight", 1)});
  ParameterStore store(1);
  store.ensure(program.parameters);
  UpdateSpec spec = specOf({{"name", "SGD"}, {"learning_rate", 0.5}, {"weight_decay", 0.1}});
  ParameterUpdate update(spec, 0, program, store, cpuBackend());
  EXPECT_THAT(update.undecayed(), ElementsAre("fc/bias", "bn/gamma"));
  update.apply({.learningRate = 0.5});  // gradients are zero: decay alone moves
  EXPECT_NEAR(store.at("fc/weight").value.host()[0], 0.95, 1e-7);
  EXPECT_EQ(store.at("fc/bias").value.host()[0], 1);
  EXPECT_EQ(store.at("bn/gamma").value.host()[1], 1);
  spec.decayExclude = {"head/*", "normalisation"};
  EXPECT_THAT(ParameterUpdate(spec, 0, program, store, cpuBackend()).undecayed(),
              ElementsAre("bn/gamma", "head/weight"));
}

TEST(ParameterUpdate, ClipsByTheNormOfAllTensorsTogether) {
  const Program program = programOf({parameter("a", 1), parameter("b", 20000)});  // several pieces
  ParameterStore store(1);
  store.ensure(program.parameters);
  ParameterUpdate update(specOf({{"name", "SGD"}}), 0, program, store, cpuBackend());
  store.at("a").gradient.host()[0] = 3;
  store.at("b").gradient.host()[19999] = 4;
  const ApplyOutcome outcome = update.apply({.learningRate = 1, .clipNorm = 1.0});
  EXPECT_NEAR(outcome.gradientNorm, 5, 1e-12);
  EXPECT_NEAR(store.at("a").value.host()[0], 1 - 3 / (5 + 1e-6), 1e-6);
  EXPECT_NEAR(store.at("b").value.host()[19999], 1 - 4 / (5 + 1e-6), 1e-6);
  EXPECT_EQ(store.at("b").value.host()[0], 1);
  const ApplyOutcome loose = update.apply({.learningRate = 1, .clipNorm = 10.0});
  EXPECT_NEAR(loose.gradientNorm, 5, 1e-12);
  EXPECT_NEAR(store.at("a").value.host()[0], 1 - 3 / (5 + 1e-6) - 3, 1e-6) << "a short gradient stays as it is";
  EXPECT_EQ(update.count(), 2);
}

// The norm is summed in double: a million values of 1e-4 and squares near 1e-8 would drift in float.
TEST(ParameterUpdate, NormIsExactForManySmallValues) {
  const Program program = programOf({parameter("a", 1000003)});
  ParameterStore store(1);
  store.ensure(program.parameters);
  ParameterUpdate update(specOf({{"name", "SGD"}}), 0, program, store, cpuBackend());
  std::fill(store.at("a").gradient.host().begin(), store.at("a").gradient.host().end(), 1e-4f);
  EXPECT_NEAR(update.apply({.learningRate = 0}).gradientNorm, static_cast<double>(1e-4f) * std::sqrt(1000003.0), 1e-12);
}

TEST(ParameterUpdate, NamesTheTensorWhoseGradientIsNotFinite) {
  const Program program = programOf({parameter("a", 5), parameter("b", 30000), parameter("c", 3)});
  ParameterStore store(1);
  store.ensure(program.parameters);
  ParameterUpdate update(specOf({{"name", "SGD"}}), 0, program, store, cpuBackend());
  store.at("b").gradient.host()[29000] = INFINITY;
  store.at("c").gradient.host()[1] = NAN;
  EXPECT_EQ(update.apply({.learningRate = 1}).notFinite, "b");
  EXPECT_EQ(update.apply({.learningRate = 1, .clipNorm = 1.0}).notFinite, "b");
  EXPECT_TRUE(std::isfinite(store.at("b").value.host()[29000]));
  store.at("b").gradient.host()[29000] = 3e38f;  // its square is beyond float, but it is finite
  store.at("c").gradient.host()[1] = 0;
  EXPECT_EQ(update.apply({.learningRate = 0}).notFinite, "");
}

// Tensors of one piece, of several, and of so many that each thread has its part of them; one without weight decay and
// trust ratio; with some numbers in them.
struct Trained {
  Program program;
  ParameterStore store{1};
  explicit Trained(std::int64_t largest)
      : program(programOf({parameter("a/weight", 5), parameter("a/bias", 3, ParameterKind::bias),
                           parameter("b/weight", 30000), parameter("c/weight", 8192), parameter("d/weight", 1),
                           parameter("e/weight", largest)})) {
    store.ensure(program.parameters);
    fillGradients(0);
    for (const auto& entry : store.entries()) {
      const std::span<float> value = entry->value.host();
      repeat(waves<1009>(1, 0.3f), value);
    }
  }
  void fillGradients(int step) {
    const auto wave = waves<1013>(0.01f, 0.5f * std::numbers::pi_v<float> + 0.7f * static_cast<float>(step));
    for (const auto& entry : store.entries()) repeat(wave, entry->gradient.host());
  }
  template <std::size_t kCount>
  static std::array<float, kCount> waves(float height, float start) {
    std::array<float, kCount> wave;
    for (std::size_t i = 0; i < kCount; ++i) wave[i] = height * std::sin(start + static_cast<float>(i));
    return wave;
  }
  static void repeat(std::span<const float> wave, std::span<float> to) {
    for (std::size_t at = 0; at < to.size(); at += wave.size())
      std::copy_n(wave.begin(), std::min(wave.size(), to.size() - at), to.begin() + static_cast<std::ptrdiff_t>(at));
  }
  // Weights and slots by name.
  std::map<std::string, std::vector<float>> all() const {
    std::map<std::string, std::vector<float>> all;
    for (const auto& entry : store.entries()) {
      const std::string& name = entry->parameter.name;
      all[name] = entry->value.values();
      for (const auto& [slot, tensor] : entry->slots) all[slotName(name, slot)] = tensor.values();
    }
    return all;
  }
  // Three steps at once; answers the last one's norm.
  double train(const Json& optimizer, Backend& backend, std::optional<double> clip, std::vector<double>* ratios) {
    UpdateSpec spec = specOf(optimizer);
    ParameterUpdate update(spec, 0, program, store, backend);
    double norm = 0;
    for (int step = 0; step < 3; ++step) {
      fillGradients(step);
      norm = update.apply({.learningRate = 0.05, .clipNorm = clip}).gradientNorm;
    }
    *ratios = update.trustRatios();
    return norm;
  }
};

constexpr std::int64_t kOfAllThreads = 300001, kFew = 9001;

bool sameBits(const std::map<std::string, std::vector<float>>& a, const std::map<std::string, std::vector<float>>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.first == other.first && one.second.size() == other.second.size() &&
           std::memcmp(one.second.data(), other.second.data(), one.second.size() * sizeof(float)) == 0;
  });
}

std::vector<Json> everyOptimizer() {
  std::vector<Json> all;
  for (const OptimizerDefinition* definition : optimizerTable())
    all.push_back({{"name", definition->entry.id}, {"weight_decay", 0.1}});
  all.push_back({{"name", "RMSprop"}, {"momentum", 0.5}});
  return all;
}

TEST(ParameterUpdate, AGradientThatIsNotFiniteChangesNothing) {
  for (const Json& optimizer : everyOptimizer()) {
    for (const std::optional<double> clip : {std::optional<double>(), std::optional<double>(0.5)}) {
      for (const float poison : {INFINITY, -INFINITY, NAN}) {
        Trained trained(kFew);
        ParameterUpdate update(specOf(optimizer), 0, trained.program, trained.store, cpuBackend());
        update.apply({.learningRate = 0.05, .clipNorm = clip});  // slots are no longer zero
        const auto before = trained.all();
        const std::vector<double> ratios = update.trustRatios();
        trained.fillGradients(1);
        trained.store.at("c/weight").gradient.host()[8190] = poison;
        const ApplyOutcome outcome = update.apply({.learningRate = 0.05, .clipNorm = clip});
        EXPECT_EQ(outcome.notFinite, "c/weight") << optimizer;
        EXPECT_FALSE(std::isfinite(outcome.gradientNorm)) << optimizer;
        EXPECT_TRUE(sameBits(trained.all(), before)) << optimizer;
        EXPECT_EQ(update.trustRatios(), ratios);
        EXPECT_EQ(update.count(), 1) << "a step that did nothing does not count";
        trained.fillGradients(1);
        EXPECT_EQ(update.apply({.learningRate = 0.05, .clipNorm = clip}).notFinite, "");
        EXPECT_FALSE(sameBits(trained.all(), before)) << optimizer << ": it goes on from there";
      }
    }
  }
}

TEST(ParameterUpdate, HasTheSameBitsOnAnyNumberOfThreads) {
  const auto one = makeCpuBackend(1), five = makeCpuBackend(5);
  for (const Json& optimizer : everyOptimizer()) {
    Trained alone(kOfAllThreads), shared(kOfAllThreads), many(kOfAllThreads);
    std::vector<double> ratios[3];
    const double norm = alone.train(optimizer, *one, 0.3, &ratios[0]);
    EXPECT_EQ(shared.train(optimizer, cpuBackend(), 0.3, &ratios[1]), norm) << optimizer;
    EXPECT_EQ(many.train(optimizer, *five, 0.3, &ratios[2]), norm) << optimizer;
    EXPECT_TRUE(sameBits(alone.all(), shared.all()) && sameBits(alone.all(), many.all())) << optimizer;
    EXPECT_EQ(ratios[0], ratios[1]);
    EXPECT_EQ(ratios[0], ratios[2]);
  }
}

// Any backend compiles it: the references in double come to the same.
TEST(ParameterUpdate, IsAProgramThatTheReferenceBackendRunsToo) {
  const auto reference = makeReferenceBackend();
  for (const Json& optimizer : everyOptimizer()) {
    for (const std::optional<double> clip : {std::optional<double>(), std::optional<double>(0.3)}) {
      Trained fast(kFew), slow(kFew);
      std::vector<double> ratios, expectedRatios;
      const double norm = fast.train(optimizer, cpuBackend(), clip, &ratios);
      EXPECT_NEAR(norm, slow.train(optimizer, *reference, clip, &expectedRatios), 1e-9 * norm) << optimizer;
      const auto found = fast.all(), expected = slow.all();
      ASSERT_EQ(found.size(), expected.size());
      for (const auto& [name, values] : expected) {
        double difference = 0, length = 0;
        const float* const expectedValues = values.data();
        const float* const foundValues = found.at(name).data();
        for (std::size_t i = 0; i < values.size(); ++i) {
          const double distance = expectedValues[i] - foundValues[i];
          difference += distance * distance;
          length += static_cast<double>(expectedValues[i]) * expectedValues[i];
        }
        EXPECT_LE(std::sqrt(difference), 2e-6 * std::sqrt(length)) << optimizer << " " << name;
      }
      for (std::size_t i = 0; i < ratios.size(); ++i)
        EXPECT_NEAR(ratios[i], expectedRatios[i], 1e-5 * expectedRatios[i]) << optimizer;
    }
  }
}

// Otherwise a network would go on with the weights that it brought into its kernels' layouts before.
TEST(ParameterUpdate, TellsThatWeightsAndSlotsAreOthersNow) {
  const auto reference = makeReferenceBackend();
  for (Backend* backend : {&cpuBackend(), reference.get()}) {
    Trained trained(kFew);
    ParameterUpdate update(specOf({{"name", "Momentum"}}), 0, trained.program, trained.store, *backend);
    const auto versions = [&] {
      ParameterStore::Entry& entry = trained.store.at("b/weight");
      return std::vector{entry.value.version(), entry.slots.find("momentum")->second.version(),
                         entry.gradient.version()};
    };
    const auto before = versions();
    update.apply({.learningRate = 0.05});
    const auto after = versions();
    EXPECT_GT(after[0], before[0]) << backend->name();
    EXPECT_GT(after[1], before[1]) << backend->name();
    EXPECT_EQ(after[2], before[2]) << backend->name() << ": gradients are only read";
  }
}

TEST(ParameterUpdate, SlotsOfSeveralUpdatesStandApart) {
  const Program program = programOf({parameter("a", 2)});
  ParameterStore store(1);
  store.ensure(program.parameters);
  const ParameterUpdate one(specOf({{"name", "Momentum"}}), 0, program, store, cpuBackend()),
      two(specOf({{"name", "Momentum"}}), 1, program, store, cpuBackend());
  EXPECT_THAT(one.slots(), ElementsAre("momentum"));
  EXPECT_THAT(two.slots(), ElementsAre("momentum@1"));
  EXPECT_EQ(store.at("a").slots.size(), 2u);
}

TEST(ParameterUpdate, RefusesWhatCannotBe) {
  const Program program = programOf({parameter("a/weight", 2)});
  ParameterStore store(1);
  store.ensure(program.parameters);
  const auto message = [&](const Json& optimizer, std::vector<std::string> patterns = {}) -> std::string {
    UpdateSpec spec = specOf(optimizer);
    spec.parameters = std::move(patterns);
    try {
      ProgramBuilder builder(1, 1, true);
      builder.program() = program;
      const ParameterUpdate update(spec, 0, program, store, cpuBackend());
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message({{"name", "Adamm"}}), HasSubstr("did you mean 'Adam'"));
  EXPECT_THAT(message({{"name", "Adam"}, {"learning_rate", -1}}), HasSubstr("learning_rate"));
  EXPECT_THAT(message({{"name", "Adam"}, {"momentum", 0.5}}), HasSubstr("momentum"));
  EXPECT_THAT(message(nullptr), HasSubstr("names no optimizer"));
  ParameterStore empty(1);
  try {
    ParameterUpdate(specOf({{"name", "SGD"}}), 0, Program(), empty, cpuBackend());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("nothing to update"));
  }
}

// One pass over a batch and several passes over its parts: the same step.
TEST(Accumulation, EqualsTheWholeBatch) {
  const Workshop workshop("accumulate", 50);
  Json project = perceptron(false);
  project["training"]["batch"] = 24;  // 24, 24 and 2: the last step has one shard only
  project["training"]["clip_norm"] = 0.5;
  const auto whole = workshop.train(project, "whole");
  for (const int passes : {2, 3, 5, 24}) {  // 5 does not divide 24: shards of 5 and one of 4
    project["training"]["accumulate"] = passes;
    const auto parts = workshop.train(project, "parts" + std::to_string(passes));
    const auto a = whole.series("step", "loss"), b = parts.series("step", "loss");
    const auto c = whole.series("step", "gradient_norm"), d = parts.series("step", "gradient_norm");
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_NEAR(a[i], b[i], 1e-6 * (1 + a[i])) << passes;
      EXPECT_NEAR(c[i], d[i], 2e-6 * (1 + c[i])) << passes;
    }
    double norm = 0, difference = 0;
    const auto one = whole.tensors(), other = parts.tensors();
    for (const auto& [name, values] : one) {
      const std::vector<float>& others = other.at(name);
      for (std::size_t i = 0; i < values.size(); ++i) {
        norm += values[i] * values[i];
        difference += std::pow(values[i] - others[i], 2);
      }
    }
    EXPECT_LT(std::sqrt(difference / norm), 1e-6) << passes;
  }
}

TEST(Accumulation, MorePassesThanSamplesIsAnError) {
  const Workshop workshop("accumulate-many");
  Json project = perceptron(false);
  project["training"]["accumulate"] = 17;
  EXPECT_THAT(workshop.failure(project, "run").what(), HasSubstr("16"));
}

// A tensor of several pieces has one ratio; a bias has none.
TEST(ParameterUpdate, TakesOneTrustRatioForATensor) {
  constexpr std::int64_t kCount = 20000;
  const Program program = programOf({parameter("fc/weight", kCount), parameter("fc/bias", 3, ParameterKind::bias)});
  ParameterStore store(1);
  store.ensure(program.parameters);
  const UpdateSpec spec =
      specOf({{"name", "LARS"}, {"learning_rate", 1.0}, {"coefficient", 0.01}, {"weight_decay", 0.1}});
  for (const std::optional<double> clip : {std::optional<double>(), std::optional<double>(1e9)}) {
    ParameterUpdate update(spec, 0, program, store, cpuBackend());
    for (const char* name : {"fc/weight", "fc/bias"})
      for (float& g : store.at(name).gradient.host()) g = 0.5f;
    store.at("fc/weight").value.host()[7] = 3;
    double squares = 0;
    for (const float w : store.at("fc/weight").value.host()) squares += static_cast<double>(w) * w;
    const double weight = std::sqrt(squares), ratio = 0.01 * weight / (0.5 * std::sqrt(kCount) + 0.1 * weight);
    const float before = store.at("fc/weight").value.host()[7], bias = store.at("fc/bias").value.host()[0];
    for (const char* name : {"fc/weight", "fc/bias"})
      for (float& v : store.slot(name, "momentum").host()) v = 0;
    update.apply({.learningRate = 1, .clipNorm = clip});
    EXPECT_NEAR(update.trustRatios()[0], ratio, 1e-9);
    EXPECT_EQ(update.trustRatios()[1], 1);
    EXPECT_NEAR(store.at("fc/weight").value.host()[7], before - ratio * (0.5 + 0.1 * before), 1e-6);
    EXPECT_EQ(store.at("fc/bias").value.host()[0], bias - 0.5f);
  }
}

}  // namespace
}  // namespace loom
