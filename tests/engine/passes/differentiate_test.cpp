// differentiate(): what it computes, in which order, and what it leaves out.
#include "engine/passes/differentiate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/program/builder.h"
#include "engine/program/evaluator.h"
#include "tests/engine/program/gradient_check.h"

namespace loom {
namespace {

using testing::ElementsAre;

Parameter weight(const char* name, Shape shape) {
  return {.name = name, .shape = std::move(shape)};
}

TensorId product(ProgramBuilder& builder, TensorId a, TensorId b) {
  return builder.add("binary", {a, b}, {{"function", "multiply"}});
}
TensorId sum(ProgramBuilder& builder, TensorId a, TensorId b) {
  return builder.add("binary", {a, b}, {{"function", "add"}});
}
TensorId total(ProgramBuilder& builder, TensorId x) {
  return builder.add("reduce", {x}, {{"function", "sum"}});
}

std::vector<std::string> backwardOps(const Program& program) {
  std::vector<std::string> names;
  for (const Operation& operation : program.operations)
    if (operation.backward) names.push_back(operation.op->name);
  return names;
}

std::vector<double> gradientOf(Evaluator& evaluator, const char* name) {
  return evaluator.value(name, TensorRole::parameterGradient).values;
}

TEST(Differentiate, GivesEveryWantedParameterATensorOfItsShape) {
  ProgramBuilder builder(3, 1, true);
  const TensorId x = builder.input("x", {3, 4}, DataType::f32);
  const TensorId w = builder.parameter(weight("fc/weight", {2, 4})), b = builder.parameter(weight("fc/bias", {2}));
  builder.setOrigin("fc");
  const TensorId y = builder.add("matmul", {x, w, b}, {{"transpose_b", true}});
  builder.setOrigin("loss");
  builder.result("loss", ResultKind::loss,
                 builder.add("mean_squared_error", {y, builder.input("t", {3, 2}, DataType::f32)}));
  differentiate(builder);
  const Program program = builder.take();
  for (const Parameter& parameter : program.parameters) {
    const TensorId gradient = program.findTensor(parameter.name, TensorRole::parameterGradient);
    ASSERT_NE(gradient, kNoTensor) << parameter.name;
    EXPECT_EQ(program.tensor(gradient).shape, parameter.shape);
  }
  EXPECT_THAT(backwardOps(program), ElementsAre("mean_squared_error_gradient", "bias_gradient", "matmul"))
      << "no gradient of the input";
  EXPECT_EQ(program.operations.back().origin, "fc");
  EXPECT_TRUE(program.training);
}

TEST(Differentiate, SumsTheContributionsOfSharedWeights) {
  ProgramBuilder builder(1, 1, true);
  const TensorId w = builder.parameter(weight("w", {2}));
  EXPECT_EQ(builder.parameter(weight("w", {2})), w);
  // w^3 + w: d = 3 w^2 + 1
  builder.result("loss", ResultKind::loss,
                 total(builder, sum(builder, product(builder, product(builder, w, w), w), w)));
  differentiate(builder);
  Evaluator evaluator(builder.take());
  evaluator.value("w", TensorRole::parameter).values = {2, -3};
  evaluator.run();
  EXPECT_THAT(gradientOf(evaluator, "w"), ElementsAre(13, 28));
}

TEST(Differentiate, TwoLossesAddAndTheLossScaleMultiplies) {
  ProgramBuilder builder(1, 1, true);
  const TensorId w = builder.parameter(weight("w", {1}));
  builder.result("a", ResultKind::loss, total(builder, builder.add("unary", {w}, {{"function", "square"}})));
  builder.result("b", ResultKind::loss, total(builder, builder.add("scale", {w}, {{"factor", 5.0}})));
  builder.result("accuracy", ResultKind::metric, total(builder, builder.add("scale", {w}, {{"factor", 100.0}})));
  differentiate(builder);
  Evaluator evaluator(builder.take());
  evaluator.value("w", TensorRole::parameter).values = {3};
  evaluator.run();
  EXPECT_THAT(gradientOf(evaluator, "w"), ElementsAre(11)) << "a metric is no loss";
  evaluator.value(kLossScaleScalar, TensorRole::scalar).values = {0.5};
  evaluator.run();
  EXPECT_THAT(gradientOf(evaluator, "w"), ElementsAre(5.5));
}

TEST(Differentiate, OneGradientForTwoParametersIsCopied) {
  ProgramBuilder builder(1, 1, true);
  const TensorId a = builder.parameter(weight("a", {3})), b = builder.parameter(weight("b", {3}));
  builder.result("loss", ResultKind::loss, total(builder, sum(builder, a, b)));
  differentiate(builder);
  const Program program = builder.take();
  const TensorId da = program.findTensor("a", TensorRole::parameterGradient),
                 db = program.findTensor("b", TensorRole::parameterGradient);
  ASSERT_NE(da, kNoTensor);
  ASSERT_NE(db, kNoTensor);
  EXPECT_NE(da, db);
  Evaluator evaluator(program);
  evaluator.run();
  EXPECT_THAT(gradientOf(evaluator, "a"), ElementsAre(1, 1, 1));
  EXPECT_THAT(gradientOf(evaluator, "b"), ElementsAre(1, 1, 1));
}

// A backend may add into a parameter gradient (accumulation), so nothing may read one.
TEST(Differentiate, NoOperationReadsAParameterGradient) {
  ProgramBuilder builder(2, 1, true);
  const TensorId x = builder.input("x", {2, 4}, DataType::f32);
  const TensorId w = builder.parameter(weight("w", {4, 3})), bias = builder.parameter(weight("bias", {2, 3}));
  // d bias is dy itself, which the gradient of w reads.
  const TensorId shifted = sum(builder, builder.add("matmul", {x, w}), bias);
  builder.result("loss", ResultKind::loss, total(builder, builder.add("unary", {shifted}, {{"function", "tanh"}})));
  differentiate(builder);
  const Program program = builder.take();
  for (const Operation& operation : program.operations)
    for (TensorId id : operation.inputs)
      EXPECT_TRUE(id == kNoTensor || program.tensor(id).role != TensorRole::parameterGradient) << program.toString();
  Evaluator evaluator(program);
  evaluator.run();
  EXPECT_THAT(gradientOf(evaluator, "bias"), testing::Each(1)) << "tanh' of 0";
}

// A GAN's second update: the generator feeds the discriminator, but only the discriminator is wanted.
TEST(Differentiate, StopsWhereNothingIsWanted) {
  ProgramBuilder builder(4, 1, true);
  const TensorId noise = builder.input("noise", {4, 3}, DataType::f32);
  builder.setOrigin("generator");
  const TensorId g = builder.parameter(weight("generator/weight", {5, 3}));
  const TensorId fake =
      builder.add("unary", {builder.add("matmul", {noise, g}, {{"transpose_b", true}})}, {{"function", "tanh"}});
  builder.setOrigin("discriminator");
  const TensorId d = builder.parameter(weight("discriminator/weight", {1, 5}));
  const TensorId verdict = builder.add("matmul", {fake, d}, {{"transpose_b", true}});
  builder.result("loss", ResultKind::loss,
                 builder.add("binary_cross_entropy", {verdict, builder.constant(1, {4, 1})}, {{"from_logits", true}}));

  ProgramBuilder both(builder.program()), one(builder.program()), generator(builder.program());
  differentiate(both);
  differentiate(one, [](const Parameter& parameter) { return parameter.name.starts_with("discriminator"); });
  differentiate(generator, [](const Parameter& parameter) { return parameter.name.starts_with("generator"); });

  EXPECT_THAT(backwardOps(one.program()), ElementsAre("binary_cross_entropy_gradient", "matmul"));
  for (const Operation& operation : one.program().operations)
    EXPECT_TRUE(!operation.backward || operation.origin == "discriminator") << operation.origin;
  EXPECT_EQ(one.program().findTensor("generator/weight", TensorRole::parameterGradient), kNoTensor);
  EXPECT_THAT(backwardOps(generator.program()),
              ElementsAre("binary_cross_entropy_gradient", "matmul", "unary_gradient", "matmul"))
      << "the gradient flows through the discriminator, whose weights get none";
  EXPECT_LT(one.program().multiplyAdds(true), both.program().multiplyAdds(true));
}

// What a layer read is free before its own gradient takes memory.
TEST(Differentiate, AWeightsGradientComesBeforeThatOfItsInput) {
  ProgramBuilder products(3, 1, true);
  const TensorId first =
      products.add("matmul", {products.input("x", {3, 4}, DataType::f32), products.parameter(weight("first", {4, 5}))});
  products.setOrigin("second");
  products.result("loss", ResultKind::loss,
                  total(products, products.add("matmul", {first, products.parameter(weight("second", {5, 2}))})));
  differentiate(products);
  std::vector<bool> readsItsInput;
  for (const Operation& operation : products.program().operations)
    if (operation.backward && operation.origin == "second" && operation.op->name == std::string("matmul"))
      readsItsInput.push_back(std::ranges::count(operation.inputs, first) > 0);
  EXPECT_THAT(readsItsInput, ElementsAre(true, false));

  ProgramBuilder images(2, 1, true);
  TensorId y = images.input("x", {2, 3, 4, 4}, DataType::f32);
  y = images.add("convolution", {y, images.parameter(weight("first", {5, 3, 3, 3}))});
  y = images.add("convolution", {y, images.parameter(weight("second", {2, 5, 1, 1}))});
  images.result("loss", ResultKind::loss, total(images, y));
  differentiate(images);
  std::vector<std::string> convolutions;
  for (const std::string& name : backwardOps(images.program()))
    if (name.starts_with("convolution")) convolutions.push_back(name);
  EXPECT_THAT(convolutions,
              ElementsAre("convolution_weight_gradient", "convolution_input_gradient", "convolution_weight_gradient"));
}

TEST(Differentiate, NothingWantedAddsNothing) {
  ProgramBuilder builder(1, 1, true);
  builder.result("loss", ResultKind::loss, total(builder, builder.parameter(weight("w", {2}))));
  const std::size_t before = builder.program().operations.size();
  differentiate(builder, [](const Parameter&) { return false; });
  EXPECT_EQ(builder.program().operations.size(), before);
}

TEST(Differentiate, RefusesALossThatIsNoNumber) {
  ProgramBuilder builder(1, 1, true);
  builder.result("loss", ResultKind::loss,
                 builder.add("unary", {builder.parameter(weight("w", {2}))}, {{"function", "square"}}));
  try {
    differentiate(builder);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("'loss' must be one number, but is 2"));
  }
}

// A zero in the place of a derivative that is not there would train something else, silently.
TEST(Differentiate, RefusesWhatHasNoDerivativeYet) {
  ProgramBuilder builder(1, 1, true);
  builder.setOrigin("soft");
  const TensorId x = builder.parameter(weight("x", {1, 3}));
  const TensorId p = builder.add("softmax", {x}, {{"axis", std::int64_t{-1}}});
  builder.result("loss", ResultKind::loss, total(builder, product(builder, p, p)));
  const TensorId target[] = {x};
  const TensorId gradient = gradientsOf(builder, target)[0];
  builder.program().results.clear();
  builder.result("penalty", ResultKind::loss, total(builder, product(builder, gradient, gradient)));
  try {
    differentiate(builder);
    FAIL() << "the derivative of a softmax's gradient is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::badProject);
    EXPECT_THAT(error.what(), testing::HasSubstr("softmax_gradient, which has no derivative yet"));
  }
}

// An accuracy is flat: as a part of the loss it counts and moves nothing.
TEST(Differentiate, NothingFlowsThroughWhatIsFlat) {
  ProgramBuilder builder(2, 1, true);
  const TensorId x = builder.parameter(weight("x", {2}));
  const TensorId share = builder.add("binary_accuracy", {x, builder.constant(1, {2})});
  builder.result("loss", ResultKind::loss, sum(builder, share, total(builder, product(builder, x, x))));
  differentiate(builder);
  EXPECT_NE(builder.program().findTensor("x", TensorRole::parameterGradient), kNoTensor);
}

// The order of a sum decides its last bit: the same drawing must always give the same program.
TEST(Differentiate, IsDeterministic) {
  const auto make = [] {
    ProgramBuilder builder(2, 1, true);
    const TensorId x = builder.parameter(weight("x", {2, 3}));
    TensorId y = x;
    for (int i = 0; i < 4; ++i) y = sum(builder, product(builder, y, x), x);
    builder.result("loss", ResultKind::loss, total(builder, y));
    differentiate(builder);
    return builder.take().toString();
  };
  EXPECT_EQ(make(), make());
}

// A residual network in small: normalisation, branches, a state that is updated, labels, dropout.
TEST(Differentiate, WholeNetworkAgreesWithFiniteDifferences) {
  ProgramBuilder builder(4, 1, true);
  const TensorId x = builder.input("x", {4, 2, 6, 5}, DataType::f32),
                 labels = builder.input("y", {4, 1}, DataType::i32);
  const TensorId step = builder.scalar(kStepScalar), first = builder.scalar(kFirstSampleScalar);
  const Attributes same{{"padding", std::vector<std::int64_t>{1, 1, 1, 1}}};
  const TensorId stem = builder.add("convolution", {x, builder.parameter(weight("stem/weight", {3, 2, 3, 3}))}, same);
  const auto normalise = [&](TensorId t, const std::string& id) {
    const Initializer ones{.kind = InitializerKind::ones};
    return builder.add(
        "batch_normalization",
        {t, builder.parameter(weight((id + "/gamma").c_str(), {3})),
         builder.parameter(weight((id + "/beta").c_str(), {3})), builder.state({.name = id + "/mean", .shape = {3}}),
         builder.state({.name = id + "/variance", .shape = {3}, .initializer = ones})});
  };
  const TensorId active = builder.add("unary", {normalise(stem, "bn1")}, {{"function", "relu"}});
  const TensorId branch = normalise(
      builder.add("convolution", {active, builder.parameter(weight("conv/weight", {3, 3, 3, 3}))}, same), "bn2");
  const TensorId joined = builder.add("unary", {sum(builder, branch, active)}, {{"function", "gelu"}});
  const TensorId pooled = builder.add("max_pooling", {joined}, {{"kernel", std::vector<std::int64_t>{2, 2}}});
  const TensorId flat = builder.add("reshape", {pooled}, {{"shape", std::vector<std::int64_t>{4, 18}}});
  const TensorId dropped = builder.add("dropout", {flat, step, first}, {{"probability", 0.3}, {"stream", 77}});
  const TensorId logits = builder.add(
      "matmul", {dropped, builder.parameter(weight("fc/weight", {5, 18})), builder.parameter(weight("fc/bias", {5}))},
      {{"transpose_b", true}});
  builder.result("loss", ResultKind::loss,
                 builder.add("softmax_cross_entropy", {logits, labels}, {{"smoothing", 0.1}}));
  const GradientCheck check = checkGradients(builder.program(), [](Evaluator& evaluator) {
    evaluator.value("y", TensorRole::input).values = {0, 4, 2, 2};
  });
  EXPECT_TRUE(check.passed) << check.message;
  EXPECT_EQ(check.flowing, 9);
  EXPECT_GT(check.checked, 200);
}

// The check itself must be able to fail: an op whose gradient is wrong by a factor.
TEST(GradientCheck, FindsAWrongGradient) {
  static OpDefinition wrong = findOp("scale");
  wrong.name = "wrong_scale";
  wrong.gradient = [](ProgramBuilder&, const GradientArguments& arguments) {
    return std::vector<TensorId>{arguments.outputGradients[0]};
  };
  ProgramBuilder builder(1, 1, true);
  const TensorId y = builder.add("scale", {builder.parameter(weight("w", {3}))}, {{"factor", 1.001}});
  builder.result("y", ResultKind::output, y);
  EXPECT_TRUE(checkGradients(builder.program()).passed);
  builder.program().operations[0].op = &wrong;
  const GradientCheck check = checkGradients(builder.program());
  EXPECT_FALSE(check.passed);
  EXPECT_NEAR(check.worst, 1e-3, 1e-4);
  EXPECT_THAT(check.message, testing::HasSubstr("parameter 'w' (3) element"));
}

TEST(GradientCheck, LeavesOutKinks) {
  ProgramBuilder builder(1, 1, true);
  builder.result("y", ResultKind::output,
                 builder.add("unary", {builder.parameter(weight("w", {2}))}, {{"function", "relu"}}));
  const GradientCheck check = checkGradients(builder.program(), [](Evaluator& evaluator) {
    evaluator.value("w", TensorRole::parameter).values = {1e-7, 1};
  });
  EXPECT_TRUE(check.passed) << check.message;
  EXPECT_EQ(check.kinks, 1);
  EXPECT_EQ(check.checked, 1);
}

}  // namespace
}  // namespace loom
