#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/network/pattern.h"
#include "tests/engine/network/networks.h"

namespace loom {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Project example() {
  return readProject(exampleProject(), "p.loom").project;
}

Project gan() {
  return readProject(ganProject(), "p.loom").project;
}

TEST(CheckProject, FindsNothingInSoundOnes) {
  EXPECT_THAT(messages(checkProject(example())), IsEmpty());
  EXPECT_THAT(messages(checkProject(gan())), IsEmpty());
}

struct Case {
  const char* name;
  void (*spoil)(Project& project);
  const char* field;
  const char* message;
  const char* remedy = "";
};

class Spoiled : public testing::TestWithParam<Case> {};

TEST_P(Spoiled, IsToldWithItsPlace) {
  Project project = example();
  GetParam().spoil(project);
  const std::vector<Problem> problems = checkProject(project);
  ASSERT_EQ(problems.size(), 1u) << testing::PrintToString(messages(problems));
  EXPECT_EQ(problems[0].field, GetParam().field);
  EXPECT_THAT(problems[0].message, HasSubstr(GetParam().message));
  EXPECT_EQ(problems[0].remedy.label, GetParam().remedy);
}

INSTANTIATE_TEST_SUITE_P(
    All, Spoiled,
    testing::Values(
        Case{"Optimizer",
             [](Project& p) {
               p.training.updates[0].optimizer = {{"name", "Adma"}};
             },
             "training.optimizer.name", "there is no optimizer 'Adma': did you mean 'Adam'?", "Set it to Adam"},
        Case{"Relative",
             [](Project& p) {
               p.training.updates[0].optimizer = {{"name", "LARC"}};
             },
             "training.optimizer.name", "LARC is LARS whose ratio is clipped"},
        Case{"NullRate", [](Project& p) { p.training.updates[0].optimizer["learning_rate"] = nullptr; },
             "training.optimizer.learning_rate",
             "'learning_rate' is null, but a number is wanted; without the key it is", "Set learning_rate to 0.01"},
        Case{"OptimizerField", [](Project& p) { p.training.updates[0].optimizer["learning_rat"] = 1; },
             "training.optimizer.learning_rat", "unknown key 'learning_rat': did you mean 'learning_rate'?",
             "Remove learning_rat"},
        Case{"NegativeRate", [](Project& p) { p.training.updates[0].optimizer["learning_rate"] = -1; },
             "training.optimizer.learning_rate", "is -1, but", "Set learning_rate to 0"},
        Case{"OptimizerText", [](Project& p) { p.training.updates[0].optimizer = "Adam"; }, "training.optimizer",
             "an object with a name is wanted"},
        Case{"Schedule",
             [](Project& p) {
               p.training.updates[0].schedule = {{"name", "Cosinus"}};
             },
             "training.schedule.name", "there is no schedule 'Cosinus': did you mean 'Cosine'?", "Set it to Cosine"},
        Case{"Warmup",
             [](Project& p) {
               p.training.updates[0].warmup = {{"epochs", -1}};
             },
             "training.warmup.epochs", "'epochs' is -1", "Set epochs to 0"},
        Case{"WarmupTooLong",
             [](Project& p) {
               p.training.updates[0].warmup = {{"epochs", 20}};
             },
             "training.warmup.epochs", "is 20, but the run has only 10 epochs"},
        Case{"Network", [](Project& p) { p.training.updates[0].network = "mian"; }, "training.network",
             "there is no network 'mian': did you mean 'main'?", "Set it to main"},
        Case{"Dataset", [](Project& p) { p.training.updates[0].dataset = "trainning"; }, "training.dataset",
             "there is no dataset 'trainning': did you mean 'training'?", "Set it to training"},
        Case{"Validation", [](Project& p) { p.training.validation = "test"; }, "training.validation",
             "there is no dataset 'test'; known are training, validation"},
        Case{"ValidationNetwork", [](Project& p) { p.training.validationNetwork = "other"; },
             "training.validation_network", "there is no network 'other'; known are main", "Set it to main"},
        Case{"Batch", [](Project& p) { p.training.settings["batch"] = 0; }, "training.batch",
             "'batch' is 0, but 1 to 1000000000 samples", "Set batch to 1"},
        Case{"Accumulate", [](Project& p) { p.training.settings["accumulate"] = 100; }, "training.accumulate",
             "'accumulate' is 100; usual is 1 to 64 passes", "Set accumulate to 64"},
        Case{"Precision", [](Project& p) { p.training.settings["precision"] = "fp32"; }, "training.precision",
             "one of f32, bf16, f16", "Set precision to \"f32\""},
        Case{"Monitor", [](Project& p) { p.training.settings["monitor"] = "acuracy"; }, "training.monitor",
             "there is no loss or metric 'acuracy'", "Set it to loss"},
        Case{"Csv", [](Project& p) { p.datasets[0].csv.clear(); }, "datasets.training.csv", "'csv' is missing"},
        Case{"Rows", [](Project& p) { p.datasets[0].extra["rows"] = 0; }, "datasets.training.rows",
             "'rows' is 0, but 1 to", "Set rows to 1"},
        Case{"PrepareStep", [](Project& p) { p.datasets[0].prepare[0]["step"] = "Scael"; },
             "datasets.training.prepare[0].step", "there is no step 'Scael': did you mean 'Scale'?", "Set it to Scale"},
        Case{"PrepareField", [](Project& p) { p.datasets[0].prepare[0]["by"] = "x"; },
             "datasets.training.prepare[0].by", "but a number is wanted"},
        Case{"Every", [](Project& p) { p.training.updates[0].every = 0; }, "training.every", "is 0, but at least 1",
             "Set it to 1"},
        Case{"Pattern",
             [](Project& p) {
               p.training.updates[0].parameters = {"conv1/*", "conv9/*"};
             },
             "training.parameters",
             "the pattern 'conv9/*' matches no weight of network 'main', whose weights are called conv1/weight"},
        Case{"DecayPattern",
             [](Project& p) {
               p.training.updates[0].decayExclude = {"bias", "embed*"};
             },
             "training.decay_exclude", "the pattern 'embed*' matches no weight"},
        Case{"NoWeights",
             [](Project& p) {
               p.networks[0] = drawn("x Input shape=[3]\ny Input shape=[3]\nl MeanSquaredError <- x; target: y");
             },
             "training.network", "has no weights to train"},
        Case{"NoLoss", [](Project& p) { p.networks[0] = drawn("x Input shape=[3]\nfc Linear <- x"); }, "",
             "network 'main' has no loss to make smaller: add one", "Add SoftmaxCrossEntropy"},
        Case{"SharesNothing", [](Project& p) { p.networks[0].find("fc")->shares = "fc9"; }, "shares",
             "shares the parameters of 'fc9', but there is no such node: did you mean 'fc'?"},
        Case{"SharesAnotherLayer", [](Project& p) { p.networks[0].find("fc")->shares = "relu1"; }, "shares",
             "is a Linear, but shares the parameters of 'relu1', a ReLU"}),
    [](const auto& info) { return info.param.name; });

TEST(CheckProject, AccumulationCannotExceedTheBatch) {
  Project project = example();
  project.training.settings = {{"batch", 8}, {"accumulate", 16}};
  EXPECT_THAT(messages(checkProject(project)),
              ElementsAre("training.accumulate: is 16, but a batch of 8 can be split into at most 8 passes"));
}

TEST(CheckProject, StagesOfTheBatchGoTogether) {
  Project project = example();
  project.training.settings = {{"batch_at", {2, 5}}, {"batch_then", {128}}};
  EXPECT_THAT(messages(checkProject(project)),
              ElementsAre("training.batch_at: and batch_then make no stages: the batch changes at 2 epochs (batch_at), "
                          "but to 1 values (batch_then); give one for each"));
  project.training.settings["batch_then"] = {128, 256};
  EXPECT_THAT(messages(checkProject(project)), testing::IsEmpty());
}

TEST(CheckProject, NetworksShareByNameAndMustAgree) {
  Project project = gan();
  project.networks[1].find("g1")->values["outputs"] = 9;
  const std::vector<Problem> problems = checkProject(project);
  ASSERT_EQ(problems.size(), 2u) << testing::PrintToString(messages(problems));
  EXPECT_THAT(
      problems[0].message,
      HasSubstr("g1: its parameter 'g1/weight' is 9×4, but g1 in network 'discriminate' uses the same one as 8×4"));
  EXPECT_THAT(problems[1].message, HasSubstr("g2: its parameter 'g2/weight' is 2×9"));
}

TEST(CheckProject, AChainOfSharingIsAFault) {
  Project project = gan();
  project.networks[0].find("d2_fake")->shares = "d1_fake";
  EXPECT_THAT(messages(checkProject(project)), Contains(HasSubstr("has none of its own: it shares those of 'd1'")));
}

TEST(CheckProject, OfAListNamesTheUpdate) {
  Project project = gan();
  project.training.updates[1].network = "generator";
  project.training.updates[1].parameters.clear();
  EXPECT_THAT(messages(checkProject(project)),
              ElementsAre(HasSubstr("training[1].network: there is no network 'generator'")));
}

KnownColumns digits() {
  return {.dataset = "training", .shapes = {{"x", {1, 28, 28}}, {"y", {1}}}, .classes = {{"y", 10}}};
}

TEST(CheckProject, AgreesWithColumnsThatFit) {
  EXPECT_THAT(messages(checkProject(example(), {digits()})), IsEmpty());
  KnownColumns flat = digits();
  flat.shapes["x"] = {784};  // the same number of values
  EXPECT_THAT(messages(checkProject(example(), {flat})), IsEmpty());
}

TEST(CheckProject, NamesAMissingVariableAndTheOneThatFits) {
  KnownColumns columns = digits();
  columns.shapes = {{"image", {1, 28, 28}}, {"y", {1}}};
  const std::vector<Problem> problems = checkProject(example(), {columns});
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].message, "x: dataset 'training' has no variable 'x'; it has image, y");
  EXPECT_EQ(problems[0].remedy.field, "variable");
  EXPECT_EQ(problems[0].remedy.value, "image");
}

TEST(CheckProject, NamesBothShapes) {
  KnownColumns columns = digits();
  columns.shapes["x"] = {3, 32, 32};
  const std::vector<Problem> problems = checkProject(example(), {columns});
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].message,
            "x: the shape is 1×28×28 (784 values), but 'x' of dataset 'training' is 3×32×32 (3072 values)");
  EXPECT_EQ(problems[0].remedy.value, Json::array({3, 32, 32}));
}

TEST(CheckProject, WantsAScoreForEachClass) {
  KnownColumns columns = digits();
  columns.classes["y"] = 26;
  const std::vector<Problem> problems = checkProject(example(), {columns});
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].message,
            "fc: gives 10 scores, but 'y' of dataset 'training' has labels up to 25, which is 26 classes");
  EXPECT_EQ(problems[0].remedy.label, "Set outputs of fc to 26");
}

TEST(CheckProject, WantsASymbolForEachIndex) {
  Project project = example();
  project.networks[0] = textClassifier();
  const KnownColumns columns{
      .dataset = "training", .shapes = {{"words", {12}}, {"y", {1}}}, .classes = {{"words", 200}}};
  const std::vector<Problem> problems = checkProject(project, {columns});
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].remedy.label, "Set vocabulary to 200");
}

TEST(Patterns, MatchAsGlobs) {
  EXPECT_TRUE(matchesPattern("*", ""));
  EXPECT_TRUE(matchesPattern("conv?/*", "conv1/weight"));
  EXPECT_TRUE(matchesPattern("*/bias", "a/b/bias"));
  EXPECT_TRUE(matchesPattern("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(matchesPattern("conv?/*", "conv10/weight"));
  EXPECT_FALSE(matchesPattern("", "a"));
  EXPECT_FALSE(matchesPattern(std::string(2000, '*') + "b", std::string(2000, 'a')));
}

}  // namespace
}  // namespace loom
