// Rules that are programs, and those that average their own steps: the published definitions' numbers, computed in
// double (../shared/reference/rules_since_2019.md), and what goes to whom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/base/error.h"
#include "engine/passes/differentiate.h"
#include "engine/planner/plan.h"
#include "engine/program/builder.h"
#include "engine/training/parameter_update.h"
#include "tests/engine/training/fixture.h"

namespace loom::product_rules_test {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::Pointwise;
using Numbers = std::vector<float>;

// Parameters of these shapes, all of which lead to the loss; the last one is the last weight.
Program programOf(const std::vector<std::pair<std::string, Shape>>& shapes) {
  ProgramBuilder builder(1, 1, true);
  TensorId sum = kNoTensor;
  for (const auto& [name, shape] : shapes) {
    const ParameterKind kind = name.ends_with("bias") ? ParameterKind::bias : ParameterKind::weight;
    const TensorId weight =
        builder.parameter({.name = name, .shape = shape, .kind = kind, .initializer = {.kind = InitializerKind::ones}});
    const TensorId total = builder.add(
        "reduce", {builder.add("unary", {weight}, {{"function", std::string("square")}})}, {{"function", "sum"}});
    sum = sum == kNoTensor ? total : builder.add("binary", {sum, total}, {{"function", "add"}});
  }
  builder.result("loss", ResultKind::loss, sum);
  differentiate(builder);
  return builder.take();
}

UpdateSpec specOf(Json optimizer) {
  UpdateSpec spec;
  spec.optimizer = std::move(optimizer);
  return spec;
}

struct Trained {
  Program program;
  ParameterStore store{1};
  explicit Trained(const std::vector<std::pair<std::string, Shape>>& shapes) : program(programOf(shapes)) {
    store.ensure(program.parameters);
  }
  void set(const std::string& name, const Numbers& weight, const Numbers& gradient) {
    store.at(name).value.write(weight);
    store.at(name).gradient.write(gradient);
  }
  Numbers values(const std::string& name) const { return store.at(name).value.values(); }
};

const Numbers kG{0.1f, -0.2f, 0.3f, 0.05f, 0.4f, -0.1f}, kW{1, 2, 3, 4, 5, 6};
const Numbers kGTransposed{0.1f, 0.05f, -0.2f, 0.4f, 0.3f, -0.1f}, kWTransposed{1, 4, 2, 5, 3, 6};

Json muon(const Json& more = Json::object()) {
  Json all = {{"name", "Muon"}, {"learning_rate", 0.02}, {"weight_decay", 0.1}};
  all.update(more);
  return all;
}

TEST(Muon, HasTheNumbersOfItsDefinition) {
  const auto reference = makeReferenceBackend();
  for (Backend* backend : {&cpuBackend(), reference.get()}) {
    Trained trained({{"w", {2, 3}}, {"head", {2, 2}}});
    ParameterUpdate update(specOf(muon()), 0, trained.program, trained.store, *backend);
    const Numbers after[] = {
        {0.989516445794f, 1.995766386741f, 2.977149698218f, 3.985710517936f, 4.974085586833f, 5.983378242456f},
        {0.979053858697f, 1.991541240708f, 2.954345097041f, 3.971449614837f, 4.948223002491f, 5.966789728428f}};
    trained.set("w", kW, kG);
    for (const Numbers& expected : after) {
      update.apply({.learningRate = 0.02});
      EXPECT_THAT(trained.values("w"), Pointwise(FloatNear(3e-6f), expected)) << backend->name();
    }
    EXPECT_EQ(trained.store.at("w").slots.size(), 1u) << "no state of AdamW";
  }
}

// NS(Gᵀ) = NS(G)ᵀ, and the length is that of the larger side; a convolution's weight is outputs × the rest.
TEST(Muon, StepsTallMatricesAndConvolutionsAlike) {
  const auto stepOf = [](const Shape& shape, const Numbers& w, const Numbers& g, const std::string& adjust) {
    Trained trained({{"w", shape}, {"head", {2, 2}}});
    ParameterUpdate update(specOf(muon({{"adjust", adjust}, {"weight_decay", 0.0}, {"nesterov", false}})), 0,
                           trained.program, trained.store, cpuBackend());
    trained.set("w", w, g);
    update.apply({.learningRate = 0.02});
    Numbers step;
    for (std::size_t i = 0; i < w.size(); ++i) step.push_back((w[i] - trained.values("w")[i]) / 0.02f);
    return step;
  };
  const Numbers wide{0.424177710281f, 0.011680662974f, 0.842515089075f,
                     0.314474103181f, 0.795720658372f, 0.231087877175f};
  const Numbers tall{wide[0], wide[3], wide[1], wide[4], wide[2], wide[5]};
  const auto times = [](Numbers values, double factor) {
    for (float& value : values) value *= static_cast<float>(factor);
    return values;
  };
  EXPECT_THAT(stepOf({2, 3}, kW, kG, "original"), Pointwise(FloatNear(1e-4f), wide));
  EXPECT_THAT(stepOf({2, 3, 1, 1}, kW, kG, "original"), Pointwise(FloatNear(1e-4f), wide));
  EXPECT_THAT(stepOf({3, 2}, kWTransposed, kGTransposed, "original"),
              Pointwise(FloatNear(1e-4f), times(tall, std::sqrt(1.5))));
  EXPECT_THAT(stepOf({2, 3}, kW, kG, "match_rms_adamw"), Pointwise(FloatNear(1e-4f), times(wide, 0.2 * std::sqrt(3))));
  EXPECT_THAT(stepOf({2, 3}, kW, kG, "spectral"), Pointwise(FloatNear(1e-4f), times(wide, std::sqrt(2.0 / 3))));
}

TEST(Muon, LeavesVectorsAndTheLastWeightToAdamW) {
  const std::vector<std::pair<std::string, Shape>> shapes{{"a", {2, 3}},   {"a/bias", {3}},  {"named", {3, 2}},
                                                          {"vector", {4}}, {"flat", {1, 6}}, {"head", {2, 3}}};
  Trained trained(shapes), plain(shapes);
  ParameterUpdate update(specOf(muon({{"adamw_rate", 0.005}, {"left_to_adamw", {"last", "name*"}}})), 0,
                         trained.program, trained.store, cpuBackend()),
      adam(specOf({{"name", "AdamW"}, {"weight_decay", 0.1}}), 0, plain.program, plain.store, cpuBackend());
  for (Trained* each : {&trained, &plain})
    for (const auto& [name, shape] : shapes)
      for (StoredTensor* tensor : {&each->store.at(name).value, &each->store.at(name).gradient}) {
        Numbers values(static_cast<std::size_t>(shape.elements()));
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(3 * i + name.size()));
        tensor->write(values);
      }
  for (int step = 0; step < 3; ++step) {
    update.apply({.learningRate = 0.02});
    adam.apply({.learningRate = 0.005});
  }
  for (const auto& [name, shape] : shapes) {
    if (name == "a")
      EXPECT_NE(trained.values(name), plain.values(name));
    else
      EXPECT_EQ(trained.values(name), plain.values(name)) << name;
  }
}

TEST(Muon, ClipsAveragesAndRefusesAsOthersDo) {
  Trained trained({{"w", {2, 3}}, {"head", {2, 2}}}), clipped({{"w", {2, 3}}, {"head", {2, 2}}});
  const ParameterUpdate::Options options{.averageDecay = 0.9, .clipNorm = 0.1};
  ParameterUpdate update(specOf(muon()), 0, clipped.program, clipped.store, cpuBackend(), options);
  clipped.set("w", kW, kG);
  clipped.store.slot("w", "average").write(Numbers{2, 2, 2, 2, 2, 2});
  const double norm = update.apply({.learningRate = 0.02, .clipNorm = 0.1}).gradientNorm;
  EXPECT_NEAR(norm, std::sqrt(0.3125), 1e-6);
  const Numbers buffer = clipped.store.slot("w", "momentum").values();
  for (std::size_t i = 0; i < kG.size(); ++i) EXPECT_NEAR(buffer[i], kG[i] * 0.1 / (norm + 1e-6), 1e-6);
  const Numbers after = clipped.values("w"), average = clipped.store.slot("w", "average").values();
  for (std::size_t i = 0; i < kG.size(); ++i) EXPECT_NEAR(average[i], 0.1 * 2 + 0.9 * after[i], 1e-6);
  Numbers lost = kG;
  lost[3] = std::nanf("");
  clipped.store.at("w").gradient.write(lost);
  EXPECT_EQ(update.apply({.learningRate = 0.02, .clipNorm = 0.1}).notFinite, "w");
  EXPECT_EQ(clipped.values("w"), after);
  EXPECT_EQ(clipped.store.slot("w", "momentum").values(), buffer);
  EXPECT_EQ(clipped.store.slot("w", "average").values(), average);
}

TEST(Shampoo, HasTheNumbersOfItsDefinition) {
  const auto reference = makeReferenceBackend();
  for (Backend* backend : {&cpuBackend(), reference.get()}) {
    Trained trained({{"w", {2, 3}}});
    ParameterUpdate update(specOf({{"name", "Shampoo"},
                                   {"beta1", 0.0},
                                   {"statistics", 1.0},
                                   {"graft", "none"},
                                   {"precondition_every", 1},
                                   {"precondition_from", 1},
                                   {"damping", 1e-6},
                                   {"ridge", 0.0}}),
                           0, trained.program, trained.store, *backend);
    const Numbers swapped{kG[3], kG[4], kG[5], kG[0], kG[1], kG[2]};
    trained.set("w", kW, kG);
    update.apply({.learningRate = 0.1});
    EXPECT_THAT(trained.values("w"),
                Pointwise(FloatNear(1e-5f), Numbers{0.959726666727f, 2.018280559572f, 2.910313053667f, 3.972450701581f,
                                                    4.904137826594f, 5.992832489864f}))
        << backend->name();
    trained.store.at("w").gradient.write(swapped);
    update.apply({.learningRate = 0.1});
    EXPECT_THAT(trained.values("w"),
                Pointwise(FloatNear(1e-5f), Numbers{0.939870794528f, 1.948326306829f, 2.905578435642f, 3.944850864247f,
                                                    4.916255160531f, 5.931574148229f}))
        << backend->name();
    EXPECT_TRUE(trained.store.at("w").slots.empty()) << "no state of Adam";
  }
}

// What product_values.py trains: cosines, by gradients that differ in every step.
Numbers trainedBy(Backend& backend, const Json& optimizer, const Shape& shape, int steps) {
  Trained trained({{"w", shape}});
  ParameterUpdate update(specOf(optimizer), 0, trained.program, trained.store, backend);
  Numbers values(static_cast<std::size_t>(shape.elements()));
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(std::cos(static_cast<double>(k)));
  trained.store.at("w").value.write(values);
  for (int t = 1; t <= steps; ++t) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto k = static_cast<double>(i);
      values[i] = static_cast<float>(std::sin(0.7 * k * k + 1.3 * t) * (1 + 0.1 * k));
    }
    trained.store.at("w").gradient.write(values);
    update.apply({.learningRate = 0.05});
  }
  return trained.values("w");
}

TEST(Shampoo, IsGraftedBeginsLateAndWorksInBlocks) {
  const Json shared = {{"name", "Shampoo"}, {"beta2", 0.99}, {"statistics", 0.9},
                       {"damping", 1e-6},   {"ridge", 1e-3}, {"weight_decay", 0.1}};
  Json adam = shared, blocks = shared;
  adam.update({{"precondition_every", 2}, {"precondition_from", 3}});
  blocks.update({{"precondition_every", 1},
                 {"precondition_from", 1},
                 {"graft", "sgd"},
                 {"largest_block", 3},
                 {"weight_decay", 0.0}});
  const Numbers byAdam{0.864212097f, 0.4391979f,   -0.278474929f, -1.08533574f,  -0.649354402f, 0.254078906f,
                       0.798001184f, 0.874968317f, -0.188758141f, -0.990753847f, -0.859419695f, 0.151336271f,
                       0.695398521f, 0.723301513f, -0.023308145f, -0.825402289f, -0.807503148f, -0.283620295f,
                       0.547736289f, 0.961226489f, 0.484369083f,  -0.574338271f, -1.11751267f,  -0.669330646f},
      inBlocks{0.803377843f, 0.470948616f, -0.214758024f,  -1.22497864f,  -0.701513003f, 0.0996936325f,
               0.770896419f, 0.964069629f, -0.188798312f,  -1.05582518f,  -0.894255139f, 0.220384048f,
               0.650894058f, 0.759554394f, -0.0922988656f, -0.902294204f, -0.774688874f, -0.256555669f,
               0.547311541f, 1.04463795f,  0.58126235f,    -0.606510971f, -1.21856051f,  -0.755160799f};
  const auto reference = makeReferenceBackend();
  for (Backend* backend : {&cpuBackend(), reference.get()})
    for (const Shape& shape : {Shape{4, 6}, Shape{4, 3, 2}}) {
      EXPECT_THAT(trainedBy(*backend, adam, shape, 7), Pointwise(FloatNear(2e-5f), byAdam)) << backend->name();
      EXPECT_THAT(trainedBy(*backend, blocks, shape, 4), Pointwise(FloatNear(2e-5f), inBlocks)) << backend->name();
    }
}

TEST(Soap, HasTheNumbersOfItsDefinition) {
  const Json soap = {{"name", "SOAP"}, {"beta1", 0.9}, {"weight_decay", 0.1}, {"precondition_every", 3}};
  Json left = soap;
  left.update({{"weight_decay", 0.0}, {"precondition_every", 2}, {"largest_side", 5}});
  const Numbers both{0.847500102f, 0.526596847f, -0.329138678f,  -1.00303628f,  -0.751814348f, 0.156231373f,
                     1.05511814f,  0.766251449f, 0.013598838f,   -0.884480368f, -0.681468163f, 0.0982265587f,
                     0.910566152f, 0.661788787f, -0.0633216169f, -0.658708895f},
      rows{0.911393475f, 0.689635912f, -0.374842339f,  -1.03785681f,  -0.798404497f, 0.162654234f,
           1.00020778f,  0.700757682f, -0.091839727f,  -0.862949131f, -0.763587525f, -0.0197458109f,
           0.833330307f, 0.816796015f, 0.00942508818f, -0.714776115f, -0.938933992f, -0.133082897f,
           0.729356212f, 1.14316966f,  0.296064622f,   -0.396467913f, -1.0537163f,   -0.578158457f};
  const auto reference = makeReferenceBackend();
  for (Backend* backend : {&cpuBackend(), reference.get()}) {
    EXPECT_THAT(trainedBy(*backend, soap, {4, 2, 2}, 9), Pointwise(FloatNear(2e-5f), both)) << backend->name();
    EXPECT_THAT(trainedBy(*backend, left, {4, 6}, 6), Pointwise(FloatNear(2e-5f), rows)) << backend->name();
    const Numbers once = trainedBy(*backend, soap, {4, 4}, 1);
    for (std::size_t k = 0; k < once.size(); ++k)
      EXPECT_EQ(once[k], static_cast<float>(std::cos(static_cast<double>(k)))) << "the first gradient makes no step";
  }
}

// Second moments that overflow: the run ends with what may help.
TEST(Shampoo, SaysWhichMomentsAreNotFinite) {
  for (const char* name : {"Shampoo", "SOAP"}) {
    Json optimizer = {{"name", name}};
    if (name == std::string("Shampoo")) optimizer["precondition_from"] = 1;
    Trained trained({{"w", {2, 3}}});
    ParameterUpdate update(specOf(optimizer), 0, trained.program, trained.store, cpuBackend());
    trained.set("w", kW, Numbers{1e30f, 0, 0, 0, 1e30f, 0});
    try {
      update.apply({.learningRate = 0.1});
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::diverged);
      EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("'w'"), testing::HasSubstr("'left'"),
                                               testing::HasSubstr("clip_norm")));
    }
  }
}

// f = ½ ‖y‖², from [3, 4]: the gradient is y.
std::vector<std::vector<double>> evaluatedOn(Backend& backend, const Json& optimizer, const std::vector<double>& rates,
                                             Numbers* y = nullptr) {
  Trained trained({{"w", {2}}});
  trained.store.at("w").value.write(Numbers{3, 4});
  ParameterUpdate update(specOf(optimizer), 0, trained.program, trained.store, backend);
  trained.store.slot("w", "z").copyFrom(trained.store.at("w").value);
  EXPECT_THAT(update.copies(), ElementsAre("z"));
  const EvaluatedFrom from = *update.evaluated();
  std::vector<std::vector<double>> all;
  for (const double rate : rates) {
    trained.store.at("w").gradient.copyFrom(trained.store.at("w").value);
    update.apply({.learningRate = rate});
    const Numbers weight = trained.values("w"), z = trained.store.slot("w", from.slot).values();
    all.emplace_back();
    for (std::size_t i = 0; i < z.size(); ++i) all.back().push_back(from.ofWeight * weight[i] + from.ofSlot * z[i]);
  }
  if (y) *y = trained.values("w");
  return all;
}

TEST(ScheduleFree, HasTheNumbersOfItsDefinition) {
  const auto reference = makeReferenceBackend();
  for (Backend* backend : {&cpuBackend(), reference.get()}) {
    Numbers y;
    const auto sgd = evaluatedOn(*backend, {{"name", "ScheduleFreeSGD"}}, {0.1, 0.1, 0.1}, &y);
    const std::vector<std::vector<double>> expected{{2.7, 3.6}, {2.565, 3.42}, {2.43495, 3.2466}};
    const auto adam = evaluatedOn(*backend, {{"name", "ScheduleFreeAdamW"}}, {0.05, 0.1, 0.1});
    const std::vector<std::vector<double>> expectedAdam{
        {2.950000000167, 3.950000000125}, {2.870674736670, 3.870504467094}, {2.818494622478, 3.818031703335}};
    for (std::size_t step = 0; step < 3; ++step)
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_NEAR(sgd[step][i], expected[step][i], 2e-6) << backend->name() << step;
        EXPECT_NEAR(adam[step][i], expectedAdam[step][i], 2e-6) << backend->name() << step;
      }
    EXPECT_THAT(y, Pointwise(FloatNear(1e-6f), {2.40894f, 3.21192f})) << "where the fourth gradient is taken";
  }
}

// What is refused is no step of the average either.
TEST(ScheduleFree, AStepThatIsRefusedHasNoShare) {
  Trained trained({{"w", {2}}});
  ParameterUpdate update(specOf({{"name", "ScheduleFreeSGD"}}), 0, trained.program, trained.store, cpuBackend());
  trained.set("w", {3, 4}, {3, 4});
  update.apply({.learningRate = 0.1});
  EXPECT_NEAR(update.stepWeights().sum, 0.01, 1e-12);
  trained.store.at("w").gradient.write(Numbers{INFINITY, 1});
  EXPECT_EQ(update.apply({.learningRate = 7}).notFinite, "w");
  EXPECT_NEAR(update.stepWeights().sum, 0.01, 1e-12);
  EXPECT_EQ(update.stepWeights().most, 0.1);
}

}  // namespace
}  // namespace loom::product_rules_test
