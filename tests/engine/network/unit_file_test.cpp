// Units, repeats, groups and comments in the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "tests/engine/network/networks.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// As the program writes it.
const char* const kWhole = R"({
  "loom": 1,
  "networks": {
    "main": {
      "nodes": [
        {"id": "x", "layer": "Input", "shape": [3, 8, 8]},
        {"id": "stage1", "unit": "Residual", "channels": 32, "repeat": 3, "group": "body", "at": [0, 90]},
        {"id": "stage2", "unit": "Residual", "shares": "stage1", "channels": "=16*2", "stride": 2, "repeat": "=1+1"},
        {"id": "both", "unit": "Pair"},
        {"id": "relu", "layer": "ReLU", "group": "inner"}
      ],
      "edges": [
        ["x", "stage1"],
        ["stage1", "stage2"],
        ["stage2", "both"],
        ["x", "both.right"],
        ["both", "relu"],
        ["both.second", "relu"]
      ],
      "groups": [
        {"id": "body", "title": "The body", "colour": "blue"},
        {"id": "inner", "parent": "body", "folded": true, "repeat": "=2", "counter": "k"}
      ],
      "comments": [
        {"id": "note", "text": "look\nhere", "colour": "#ffcc00", "at": [10, -20.5], "size": [240, 60]},
        {"id": "bare", "at": [0, 0]}
      ]
    }
  },
  "units": {
    "Residual": {
      "arguments": {
        "channels": 16,
        "stride": {"default": 1, "label": "Stride", "help": "Of the first convolution."},
        "kernel": [3, 3],
        "must": null
      },
      "nodes": [
        {"id": "in", "layer": "Input"},
        {
          "id": "conv",
          "layer": "Convolution",
          "channels": "=channels*4",
          "kernel": "=kernel",
          "stride": ["=stride", 1]
        },
        {"id": "out", "layer": "Output"}
      ],
      "edges": [["in", "conv"], ["conv", "out"]]
    },
    "Pair": {
      "nodes": [
        {"id": "left", "layer": "Input"},
        {"id": "right", "layer": "Input", "shape": ["=1+2", 8]},
        {"id": "first", "layer": "Output"},
        {"id": "second", "layer": "Output"}
      ],
      "edges": [["left", "first"], ["right", "second"]]
    }
  }
}
)";

TEST(UnitFile, IsWrittenAsItWasRead) {
  const ReadProject read = readProject(kWhole, "p.loom");
  EXPECT_THAT(messages(read.problems), IsEmpty());
  EXPECT_EQ(writeProject(read.project), kWhole);
}

TEST(UnitFile, HoldsEveryPartInMemory) {
  const Project project = readProject(kWhole, "p.loom").project;
  ASSERT_EQ(project.units.size(), 2u);
  const Network& main = project.networks[0];
  const Node& stage = *main.find("stage1");
  EXPECT_EQ(stage.unit, "Residual");
  EXPECT_EQ(stage.layer, "");
  EXPECT_EQ(stage.values, (Json{{"channels", 32}}));
  EXPECT_EQ(stage.repeat, 3);
  EXPECT_EQ(stage.group, "body");
  EXPECT_EQ(main.find("stage2")->repeat, "=1+1");
  EXPECT_TRUE(main.find("both")->repeat.is_null());
  // A wire that names no pin takes the first Input and the first Output, though the units stand further down.
  EXPECT_EQ(main.edges[1], (Edge{{"stage1", "out"}, {"stage2", "in"}}));
  EXPECT_EQ(main.edges[3], (Edge{{"x", "output"}, {"both", "right"}}));
  EXPECT_EQ(main.edges[4], (Edge{{"both", "first"}, {"relu", "input"}}));
  EXPECT_EQ(main.groups[1], (Group{.id = "inner", .parent = "body", .folded = true, .repeat = "=2", .counter = "k"}));
  EXPECT_EQ(
      main.comments[0],
      (Comment{
          .id = "note", .text = "look\nhere", .x = 10, .y = -20.5, .width = 240, .height = 60, .colour = "#ffcc00"}));
  const Network& unit = *project.unit("Residual");
  EXPECT_EQ(unit.arguments[0], (Argument{.name = "channels", .defaultValue = 16}));
  EXPECT_EQ(unit.arguments[1],
            (Argument{.name = "stride", .defaultValue = 1, .label = "Stride", .help = "Of the first convolution."}));
  EXPECT_TRUE(unit.argument("must")->defaultValue.is_null());
  EXPECT_EQ(project.drawing("Residual"), &unit);
  EXPECT_EQ(project.drawing("main"), &main);
  EXPECT_EQ(project.drawing("Basic"), nullptr);
}

TEST(UnitFile, LeavesOutWhatIsDefault) {
  Project project = readProject(kWhole, "p.loom").project;
  Node& stage = *project.networks[0].find("stage1");
  stage.values["channels"] = 16;  // the unit's default
  stage.values["stride"] = 1;
  stage.repeat = 1;
  project.networks[0].comments[0].width = Comment().width;
  project.networks[0].comments[0].height = Comment().height;
  project.networks[0].groups[1].repeat = 1;
  const std::string text = writeProject(project);
  EXPECT_THAT(text, HasSubstr(R"({"id": "stage1", "unit": "Residual", "group": "body", "at": [0, 90]})"));
  EXPECT_THAT(text, HasSubstr(R"("at": [10, -20.5]})"));
  EXPECT_THAT(text, HasSubstr(R"({"id": "inner", "parent": "body", "folded": true, "counter": "k"})"));
  EXPECT_EQ(writeProject(readProject(text, "p.loom").project), text);
}

TEST(UnitFile, SaysWhatItIsAndWhatItsArgumentsTake) {
  const std::string text = R"({
  "loom": 1,
  "networks": {
    "main": {
      "nodes": [{"id": "x", "layer": "Input", "shape": [4]}, {"id": "u", "unit": "Wide", "width": 600, "scale": 0.5}],
      "edges": [["x", "u"]]
    }
  },
  "units": {
    "Wide": {
      "help": "A Linear. As wide as one likes.",
      "icon": "linear",
      "origin": "Broad",
      "arguments": {"width": {"default": 8, "help": "how many", "range": [1, 512]}, "scale": {"default": 1, "range": [null, 2]}, "free": 1},
      "nodes": [
        {"id": "input", "layer": "Input"},
        {"id": "fc", "layer": "Linear", "outputs": "=width"},
        {"id": "output", "layer": "Output"}
      ],
      "edges": [["input", "fc"], ["fc", "output"]]
    }
  }
})";
  const ReadProject read = readProject(text, "p");
  EXPECT_THAT(read.problems, IsEmpty());
  const Network& unit = *read.project.unit("Wide");
  EXPECT_EQ(unit.words, (UnitWords{"A Linear. As wide as one likes.", "linear", "Broad"}));
  EXPECT_EQ(unit.argument("width")->range, Json::array({1, 512}));
  EXPECT_EQ(unit.argument("free")->range, Json());
  const ReadProject again = readProject(writeProject(read.project), "p");
  EXPECT_THAT(again.problems, IsEmpty());
  EXPECT_TRUE(*again.project.unit("Wide") == unit);
  // What lies outside is a fault of the use, with both numbers and the way back.
  const std::vector<Problem> problems = checkProject(read.project);
  const auto found =
      std::find_if(problems.begin(), problems.end(), [](const Problem& each) { return each.field == "width"; });
  ASSERT_NE(found, problems.end());
  EXPECT_THAT(found->message, testing::AllOf(HasSubstr("600"), HasSubstr("1 to 512")));
  EXPECT_EQ(found->remedy.kind, Remedy::Kind::removeField);
  EXPECT_TRUE(
      std::none_of(problems.begin(), problems.end(), [](const Problem& each) { return each.field == "scale"; }));
}

TEST(UnitFile, TellsEveryFaultOfFormWithItsPlace) {
  const ReadProject read = readProject(R"({"loom": 1,
    "networks": {"main": {"arguments": {}, "nodes": [{"id": "a", "unit": 3}, {"id": "b", "unit": "U", "layer": "ReLU"}, {"id": "c", "unit": ""},
                                    {"id": "d", "layer": "ReLU", "group": 4}],
                          "groups": [{"id": "d"}, {"title": 5}, 7, {"id": "g", "repaet": 3, "folded": 1}],
                          "comments": [{"id": "g", "at": [1, 2]}, {"id": "k", "at": "here", "size": [0, 4]}], "edges": []}},
    "units": {"U": {"arguments": {"id": 3, "c": {"defualt": 3}, "1st": 2, "list": []}, "nodes": [], "edges": []}, "V": 3}})",
                                       "p.loom");
  EXPECT_TRUE(read.readable);
  EXPECT_THAT(
      messages(read.problems),
      ElementsAre(
          HasSubstr("units.U.arguments: 'id' is no name for an argument"),
          HasSubstr("units.U.arguments.c: unknown key 'defualt': did you mean 'default'?"),
          HasSubstr("units.U.arguments: '1st' is no name for an argument"),
          HasSubstr("units.U.arguments.list is [], but a number"), HasSubstr("networks.main: unknown key 'arguments'"),
          HasSubstr("networks.main.nodes[0].unit is 3, but a text is wanted"),
          HasSubstr("networks.main.nodes[1]: has both 'layer' and 'unit'"),
          HasSubstr("networks.main.nodes[2]: 'unit' is empty"),
          HasSubstr("networks.main.nodes[3].group is 4, but a text is wanted"),
          HasSubstr("networks.main.groups[0]: 'd' is taken already, but names must differ; this one is read as 'd2'"),
          HasSubstr("networks.main.groups[1]: the key 'id' is missing; it is read as 'group'"),
          HasSubstr("networks.main.groups[1].title is 5, but a text is wanted"),
          HasSubstr("networks.main.groups[2] is 7, but an object with an id"),
          HasSubstr("networks.main.groups[3]: unknown key 'repaet': did you mean 'repeat'?"),
          HasSubstr("networks.main.groups[3].folded is 1, but true or false is wanted"),
          HasSubstr("networks.main.comments[0]: 'g' is taken already"),
          HasSubstr("networks.main.comments[1]: 'at' is \"here\", but the place of its centre"),
          HasSubstr("networks.main.comments[1]: 'size' is [0, 4]"),
          HasSubstr("units.V is 3, but an object with nodes and edges")));
}

}  // namespace
}  // namespace loom
