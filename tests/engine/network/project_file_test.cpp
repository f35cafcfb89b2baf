#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "tests/engine/network/networks.h"

namespace loom {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Project readWhole(const std::string& text) {
  const ReadProject read = readProject(text, "p.loom");
  EXPECT_THAT(messages(read.problems), IsEmpty());
  EXPECT_TRUE(read.readable);
  return read.project;
}

TEST(ProjectFile, ReadsTheExampleOfTheFormat) {
  const Project project = readWhole(exampleProject());
  ASSERT_EQ(project.networks.size(), 1u);
  const Network& network = project.networks[0];
  EXPECT_EQ(network.nodes.size(), 6u);
  EXPECT_TRUE(network.find("x")->placed);
  EXPECT_FALSE(network.find("fc")->placed);
  EXPECT_EQ(network.find("conv1")->values, (Json{{"channels", 32}}));  // 3×3 is the default
  EXPECT_EQ(network.edges[4], (Edge{{"y", "output"}, {"loss", "target"}}));
  EXPECT_EQ(network.edges[3], (Edge{{"fc", "output"}, {"loss", "input"}}));
  EXPECT_EQ(project.dataset("training")->prepare.size(), 1u);
  EXPECT_TRUE(project.dataset("training")->ownPrepare);
  EXPECT_FALSE(project.dataset("validation")->ownPrepare);
  ASSERT_EQ(project.training.updates.size(), 1u);
  EXPECT_EQ(project.training.validation, "validation");
  EXPECT_EQ(project.training.updates[0].optimizer["name"], "Momentum");
  EXPECT_EQ(project.training.updates[0].warmup["epochs"], 1);
  EXPECT_EQ(Values(settingsEntry(), project.training.settings).integer("batch"), 128);
  EXPECT_FALSE(project.training.settings.contains("seed"));  // the default
  EXPECT_THAT(messages(checkProject(project)), IsEmpty());
}

TEST(ProjectFile, WritesTheSameBytesAgain) {
  for (const std::string& text : {exampleProject(), ganProject()}) {
    const std::string once = writeProject(readWhole(text));
    EXPECT_EQ(writeProject(readWhole(once)), once);
  }
  EXPECT_EQ(writeProject(readWhole(ganProject())), ganProject());  // it is written as the program writes
}

TEST(ProjectFile, LeavesOutWhatIsDefaultAndKeepsTheOrder) {
  const std::string text = writeProject(
      readWhole(R"({"loom": 1, "training": {"schedule": {"name": "constant"}, "optimizer": {"name": "adam"}, "seed": 1,
    "batch": 64, "epochs": 3}, "networks": {"main": {"edges": [["a.output", "b.input"]], "nodes": [
      {"at": [120.004, -60.5], "layer": "dense", "bias": true, "outputs": 10, "id": "a"}, {"id": "b", "layer": "ReLU"}]}}})"));
  EXPECT_EQ(text,
            "{\n"
            "  \"loom\": 1,\n"
            "  \"networks\": {\n"
            "    \"main\": {\n"
            "      \"nodes\": [\n"
            "        {\"id\": \"a\", \"layer\": \"Linear\", \"outputs\": 10, \"at\": [120, -60.5]},\n"
            "        {\"id\": \"b\", \"layer\": \"ReLU\"}\n"
            "      ],\n"
            "      \"edges\": [[\"a\", \"b\"]]\n"
            "    }\n"
            "  },\n"
            "  \"training\": {\"epochs\": 3}\n"
            "}\n");
}

TEST(ProjectFile, OfAnEmptyProjectIsSmall) {
  const std::string text = writeProject(Project{});
  EXPECT_EQ(readWhole(text).training.updates.size(), 1u);
  EXPECT_EQ(readWhole(text).training.updates[0].optimizer, (Json{{"name", "Adam"}}));
  EXPECT_EQ(writeProject(readWhole(text)), text);
}

TEST(ProjectFile, KeepsEveryPartThroughMemory) {
  Project project = readWhole(ganProject());
  project.notes = "first line\nsecond \"line\" with ünïcode";
  project.training.updates[0].decayExclude = {"*/bias"};
  project.training.updates[0].warmup = Json{{"steps", 100}, {"from", 0.1}};
  project.training.updates[1].schedule = Json{{"name", "Cosine"}};
  project.training.validation = "held_out";
  project.training.validationNetwork = "generate";
  project.training.settings["clip_norm"] = 1.5;
  project.datasets.push_back({.name = "held_out",
                              .csv = "a b/ä.csv",
                              .prepare = {Json{{"step", "Normalise"}}},
                              .ownPrepare = true,
                              .extra = Json{{"first_row", -5000}, {"rows", 10}}});
  project.datasets.push_back({.name = "bare", .csv = "b.csv", .ownPrepare = true});
  project.networks[0].find("g1")->shares = "g2";
  const Project again = readWhole(writeProject(project));
  EXPECT_EQ(again.notes, project.notes);
  EXPECT_EQ(again.networks, project.networks);
  EXPECT_EQ(again.training.updates[0].decayExclude, project.training.updates[0].decayExclude);
  EXPECT_EQ(again.training.updates[0].warmup, project.training.updates[0].warmup);
  EXPECT_EQ(again.training.updates[1].schedule, project.training.updates[1].schedule);
  EXPECT_EQ(again.training.updates[1].every, 2);
  EXPECT_EQ(again.training.validation, "held_out");
  EXPECT_EQ(again.training.validationNetwork, "generate");
  EXPECT_EQ(again.training.settings, project.training.settings);
  EXPECT_EQ(again.dataset("held_out")->extra, project.dataset("held_out")->extra);
  EXPECT_EQ(again.dataset("held_out")->prepare, project.dataset("held_out")->prepare);
  EXPECT_TRUE(again.dataset("bare")->ownPrepare);
  EXPECT_TRUE(again.dataset("bare")->prepare.empty());
}

TEST(ProjectFile, KeepsWhatItDoesNotUnderstandOfANode) {
  const ReadProject read =
      readProject(R"({"loom": 1, "networks": {"main": {"nodes": [{"id": "a", "layer": "Capsule", "routes": 3},
    {"id": "b", "layer": "ReLU", "slope": 0.1}], "edges": [["a", "b"], ["a.left", "b"]]}}})",
                  "p.loom");
  EXPECT_THAT(messages(read.problems), IsEmpty());
  const std::string text = writeProject(read.project);
  EXPECT_THAT(text, HasSubstr(R"("layer": "Capsule", "routes": 3)"));
  EXPECT_THAT(text, HasSubstr(R"("slope": 0.1)"));
  EXPECT_THAT(text, HasSubstr(R"(["a", "b"], ["a.left", "b"])"));
  EXPECT_THAT(messages(checkProject(read.project)), Contains(HasSubstr("unknown layer 'Capsule'")));
  EXPECT_THAT(messages(checkProject(read.project)), Contains(HasSubstr("unknown key 'slope'")));
}

struct Unread {
  const char* name;
  const char* text;
  const char* message;
};

class Unreadable : public testing::TestWithParam<Unread> {};

TEST_P(Unreadable, SayWhyAndAreRefused) {
  const ReadProject read = readProject(GetParam().text, "p.loom");
  EXPECT_FALSE(read.readable);
  ASSERT_EQ(read.problems.size(), 1u);
  EXPECT_THAT(read.problems[0].message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, Unreadable,
    testing::Values(
        Unread{"Empty", "", "p.loom line 1, column 1"},
        Unread{"Comma", "{\n\"loom\": 1,\n}", "p.loom line 3, column 1"},
        Unread{"List", "[]", "a project is a JSON object, but this is []"},
        Unread{"NoVersion", "{\"networks\": {}}", "the key \"loom\" with the version of the format is missing"},
        Unread{"VersionText", "{\"loom\": \"1\"}", "\"loom\" is \"1\", but the version of the format is wanted"},
        Unread{"Newer", "{\"loom\": 2}",
               "the format's version is 2, but this Gradloom reads up to 1: it was made by a newer one"},
        Unread{"TwiceTheKey", "{\"loom\": 1, \"loom\": 1}", "stands twice"}),
    [](const auto& info) { return info.param.name; });

TEST(ProjectFile, ReportsEveryFaultOfFormWithItsPlace) {
  const ReadProject read = readProject(R"({"loom": 1, "netwroks": {}, "notes": 7,
    "networks": {"main": {"nodes": [{"id": "a", "layer": "ReLU"}, {"id": "a", "layer": "Tanh"}, {"layer": "ELU"}, {"id": "b"}, 5, {"id": 3, "layer": "SELU"},
                                    {"id": "c", "layer": "ReLU", "at": [1]}],
                          "edges": [["a"], "a", ["a", 3], ["a", "b"]], "wires": []}, "2nd": []},
    "datasets": {"training": {"csv": 5, "prepare": [{"stop": "x"}], "cvs": "a"}, "b": 1},
    "training": [{"optimizer": "Adam", "schedule": {}, "warmup": 3, "parameters": "all", "every": 0, "epocs": 3, "validation": 1}, {"epochs": 3}, 7]})",
                                       "p.loom");
  EXPECT_TRUE(read.readable);
  EXPECT_THAT(
      messages(read.problems),
      ElementsAre(
          HasSubstr("unknown key 'netwroks': did you mean 'networks'?"), HasSubstr("notes is 7, but a text is wanted"),
          HasSubstr("networks.main: unknown key 'wires'"),
          HasSubstr(
              "networks.main.nodes[1]: two nodes are called 'a', but names must differ; this one is read as 'a_2'"),
          HasSubstr("networks.main.nodes[2]: the key 'id' is missing"),
          HasSubstr("networks.main.nodes[3]: the key 'layer' is missing"),
          HasSubstr("networks.main.nodes[4] is 5, but an object"),
          HasSubstr("networks.main.nodes[5].id is 3, but a text is wanted"),
          HasSubstr("networks.main.nodes[5]: 'id' is no text"), HasSubstr("networks.main.nodes[6]: 'at' is [1]"),
          HasSubstr("networks.main.edges[0] is [\"a\"], but two names"), HasSubstr("networks.main.edges[1] is \"a\""),
          HasSubstr("networks.main.edges[2] is [\"a\", 3]"), HasSubstr("'2nd' is no name for a network"),
          HasSubstr("networks.2nd is [], but an object"),
          HasSubstr("datasets.training: unknown key 'cvs': did you mean 'csv'?"),
          HasSubstr("datasets.training.csv is 5, but a text"),
          HasSubstr("datasets.training.prepare[0] is {\"stop\":\"x\"}"), HasSubstr("datasets.b is 1"),
          HasSubstr("training[0]: unknown key 'epocs': did you mean 'epochs'?"),
          HasSubstr("training[0].parameters is \"all\", but a list"), HasSubstr("training[0]: 'every' is 0"),
          HasSubstr("training[0].optimizer is \"Adam\", but an object"),
          HasSubstr("training[0].schedule: 'name' is missing"), HasSubstr("training[0].warmup is 3"),
          HasSubstr("training[0].validation is 1"),
          HasSubstr("training[1]: 'epochs' holds for all updates and stands in the first of them"),
          HasSubstr("training[2] is 7")));
  EXPECT_EQ(read.project.networks[0].nodes.size(), 5u);
  EXPECT_EQ(read.project.training.updates.size(), 2u);
}

// A null is no value: a file with one is not trained with the default in silence.
TEST(ProjectFile, KeepsANullUntilSomebodySpeaksOfIt) {
  const ReadProject read = readProject(R"({"loom": 1,
    "networks": {"main": {"nodes": [{"id": "x", "layer": "Input", "shape": [2]}, {"id": "fc", "layer": "Linear", "outputs": 2, "bias": null}], "edges": [["x", "fc"]]}},
    "datasets": {"training": {"csv": "a.csv"}},
    "training": {"epochs": null, "max_steps": null, "optimizer": {"name": "SGD", "learning_rate": null}}})",
                                       "p.loom");
  EXPECT_THAT(read.problems, testing::IsEmpty());
  std::string all;
  for (const Problem& problem : checkProject(read.project))
    if (problem.severity == Severity::error) all += problem.message + "\n";
  EXPECT_THAT(all, AllOf(HasSubstr("'learning_rate' is null, but a number is wanted; without the key it is"),
                         HasSubstr("'epochs' is null"), HasSubstr("'bias' is null"), Not(HasSubstr("max_steps"))));
}

// Whoever writes --set learning_rate=0.1 wants to hear where it stands, not all that may stand where it does not.
TEST(ProjectFile, AnUnknownSettingIsAnsweredWithTheNearest) {
  const auto said = [](const std::string& training) {
    return readProject(R"({"loom": 1, "training": )" + training + "}", "p.loom").problems.at(0).message;
  };
  EXPECT_EQ(said(R"({"lr": 1})"), "training: unknown key 'lr': did you mean 'optimizer.learning_rate'?");
  EXPECT_EQ(said(R"({"learning_rate": 1})"),
            "training: unknown key 'learning_rate': did you mean 'optimizer.learning_rate'?");
  EXPECT_EQ(said(R"({"optimizer": {"name": "Momentum"}, "momentum": 1})"),
            "training: unknown key 'momentum': did you mean 'optimizer.momentum'?");
  EXPECT_EQ(said(R"({"batch_size": 1})"), "training: unknown key 'batch_size': did you mean 'batch'?");
  const std::string foo = said(R"({"frobnicate": 1})");
  EXPECT_THAT(foo, HasSubstr("unknown key 'frobnicate': none of the "));
  EXPECT_LT(foo.size(), 120u) << foo;
}

TEST(LoadProject, ThrowsWithTheKindOfFault) {
  const auto folder = std::filesystem::temp_directory_path() / ("gradloom-project-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto codeOf = [&](const std::string& text) {
    writeFileAtomically(folder / "p.loom", text);
    try {
      loadProject(folder / "p.loom");
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(codeOf("{\"loom\": 7}"), ErrorCode::newerVersion);
  EXPECT_EQ(codeOf("{\"loom\": 1, \"x\": 2}"), ErrorCode::badProject);
  EXPECT_EQ(codeOf("{"), ErrorCode::badProject);
  try {
    loadProject(folder / "missing.loom");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::missingFile);
  }
  const Project project = readWhole(ganProject());
  saveProject(project, folder / "saved.loom");
  EXPECT_EQ(loadProject(folder / "saved.loom").networks, project.networks);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace loom
