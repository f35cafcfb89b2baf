// Units and repeats written out, against the same network drawn by hand without them.
#include "engine/network/flatten.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "tests/engine/network/networks.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

Project project(const std::string& networks, const std::string& units) {
  const ReadProject read =
      readProject(R"({"loom": 1, "networks": {)" + networks + R"(}, "units": {)" + units + "}}", "p.loom");
  EXPECT_THAT(messages(read.problems), IsEmpty());
  return read.project;
}

std::vector<std::string> ids(const Network& network) {
  std::vector<std::string> all;
  for (const Node& node : network.nodes) all.push_back(node.id);
  return all;
}

std::vector<std::string> wires(const Network& network) {
  std::vector<std::string> all;
  for (const Edge& edge : network.edges)
    all.push_back(edge.from.node + " > " + edge.to.node + (edge.to.port == "input" ? "" : "." + edge.to.port));
  return all;
}

const char* const kResidual = R"("Residual": {"arguments": {"channels": 16, "stride": 1},
  "nodes": [{"id": "in", "layer": "Input"}, {"id": "conv", "layer": "Convolution", "channels": "=channels", "stride": "=stride"},
            {"id": "relu", "layer": "ReLU"}, {"id": "out", "layer": "Output"}],
  "edges": [["in", "conv"], ["conv", "relu"], ["relu", "out"]]})";

TEST(Flatten, OfAPlainNetworkChangesNothing) {
  Project plain;
  for (const Network& network : {leNet(), resNet20(), textClassifier(), characterTransformer()}) {
    plain.networks = {network};
    EXPECT_TRUE(isFlat(network));
    const FlatNetwork flat = flatten(plain, "main");
    EXPECT_EQ(flat.network, network);
    EXPECT_THAT(flat.problems, IsEmpty());
  }
}

TEST(Flatten, WritesUnitsAndRepeatsOut) {
  const Project drawn = project(R"("main": {"nodes": [{"id": "x", "layer": "Input", "shape": [3, 8, 8]},
      {"id": "a", "unit": "Residual", "channels": 8}, {"id": "b", "unit": "Residual", "channels": "=4*i+4", "stride": "=i == 0 ? 2 : 1", "repeat": 3},
      {"id": "pool", "layer": "GlobalAveragePooling"}], "edges": [["x", "a"], ["a", "b"], ["b", "pool"]]})",
                                kResidual);
  const FlatNetwork flat = flatten(drawn, "main");
  EXPECT_THAT(flat.problems, IsEmpty());
  EXPECT_THAT(ids(flat.network), ElementsAre("x", "a/conv", "a/relu", "b/0/conv", "b/0/relu", "b/1/conv", "b/1/relu",
                                             "b/2/conv", "b/2/relu", "pool"));
  EXPECT_THAT(wires(flat.network), ElementsAre("x > a/conv", "a/conv > a/relu", "a/relu > b/0/conv",
                                               "b/0/conv > b/0/relu", "b/0/relu > b/1/conv", "b/1/conv > b/1/relu",
                                               "b/1/relu > b/2/conv", "b/2/conv > b/2/relu", "b/2/relu > pool"));
  const auto values = [&](const char* id) { return flat.network.find(id)->values; };
  EXPECT_EQ(values("a/conv"), (Json{{"channels", 8}, {"stride", 1}}));
  EXPECT_EQ(values("b/0/conv"), (Json{{"channels", 4}, {"stride", 2}}));
  EXPECT_EQ(values("b/2/conv"), (Json{{"channels", 12}, {"stride", 1}}));
  // The way back.
  ASSERT_EQ(flat.origins.size(), flat.network.nodes.size());
  EXPECT_EQ(flat.origins[5]->id, "conv");
  EXPECT_EQ(flat.origins[5].drawing, drawn.unit("Residual"));
  const DrawingUse& use = flat.uses[flat.origins[5].use];
  EXPECT_EQ(use.path, "b/1");
  EXPECT_EQ(use.repeat, 1);
  EXPECT_EQ(use.repeats, 3);
  EXPECT_EQ(use.arguments, (Json{{"channels", 8}, {"stride", 1}}));
  EXPECT_THAT(use.inputs, ElementsAre(Endpoint{"b/0/relu", "output"}));
  EXPECT_THAT(use.outputs, ElementsAre(Endpoint{"b/1/relu", "output"}));
  EXPECT_EQ(flat.first("Residual", "relu"), 2);
  EXPECT_TRUE(analyse(flat.network).sound());
}

TEST(Flatten, NestsUnitsAndPassesArgumentsOn) {
  const Project drawn = project(
      R"("main": {"nodes": [{"id": "x", "layer": "Input", "shape": [2, 8, 8]}, {"id": "s", "unit": "Stage", "width": 6}], "edges": [["x", "s"]]})",
      std::string(kResidual) +
          R"(, "Stage": {"arguments": {"width": 2, "half": "=width//2", "blocks": "=half-1", "padding": "same", "bias": true},
        "nodes": [{"id": "in", "layer": "Input"}, {"id": "first", "unit": "Residual", "channels": "=half"},
          {"id": "more", "unit": "Residual", "channels": "=width", "repeat": "=blocks"},
          {"id": "last", "layer": "Convolution", "channels": 1, "padding": "=padding", "bias": "=bias", "kernel": ["=half", 1]},
          {"id": "out", "layer": "Output"}],
        "edges": [["in", "first"], ["first", "more"], ["more", "last"], ["last", "out"]]})");
  const FlatNetwork flat = flatten(drawn, "main");
  EXPECT_THAT(flat.problems, IsEmpty());
  EXPECT_THAT(ids(flat.network), ElementsAre("x", "s/first/conv", "s/first/relu", "s/more/0/conv", "s/more/0/relu",
                                             "s/more/1/conv", "s/more/1/relu", "s/last"));
  EXPECT_EQ(flat.network.find("s/first/conv")->values["channels"], 3);
  EXPECT_EQ(flat.network.find("s/more/1/conv")->values["channels"], 6);
  EXPECT_EQ(flat.network.find("s/last")->values,
            (Json{{"channels", 1}, {"kernel", {3, 1}}, {"padding", "same"}, {"bias", true}}));
}

TEST(Flatten, LeadsSeveralPinsThroughRepeats) {
  // The first Output leads to the first Input of the next repeat; the mask, a further Input, is the same for all.
  const Project drawn = project(
      R"("main": {"nodes": [{"id": "x", "layer": "Input", "shape": [4]}, {"id": "m", "layer": "Input", "shape": [4]},
        {"id": "u", "unit": "Masked", "repeat": 2}, {"id": "sum", "layer": "Add"}], "edges": [["x", "u"], ["m", "u.mask"], ["u", "sum"], ["m", "sum"]]})",
      R"("Masked": {"nodes": [{"id": "in", "layer": "Input"}, {"id": "mask", "layer": "Input"}, {"id": "both", "layer": "Multiply"},
        {"id": "out", "layer": "Output"}], "edges": [["in", "both"], ["mask", "both"], ["both", "out"]]})");
  EXPECT_THAT(wires(flatten(drawn, "main").network), ElementsAre("x > u/0/both", "m > u/0/both", "u/0/both > u/1/both",
                                                                 "m > u/1/both", "u/1/both > sum", "m > sum"));
}

TEST(Flatten, OfNoneOrOneRepeatNumbersNothing) {
  const auto flat = [](const std::string& repeat) {
    return flatten(
               project(
                   R"("main": {"nodes": [{"id": "x", "layer": "Input", "shape": [3, 8, 8]}, {"id": "u", "unit": "Residual", "repeat": )" +
                       repeat +
                       R"(}, {"id": "pool", "layer": "GlobalAveragePooling"}], "edges": [["x", "u"], ["u", "pool"]]})",
                   kResidual),
               "main")
        .network;
  };
  EXPECT_THAT(wires(flat("0")), ElementsAre("x > pool"));
  EXPECT_THAT(wires(flat("\"=3-3\"")), ElementsAre("x > pool"));
  EXPECT_THAT(ids(flat("\"=1\"")), ElementsAre("x", "u/conv", "u/relu", "pool"));
}

TEST(Flatten, RepeatsTheChainInAGroup) {
  const Project drawn = project(
      R"("main": {"nodes": [{"id": "x", "layer": "Input", "shape": [5]}, {"id": "fc", "layer": "Linear", "outputs": 5, "group": "g"},
      {"id": "drop", "layer": "Dropout", "probability": "=0.1*n+0.1", "group": "inner"}, {"id": "sum", "layer": "Add", "group": "g"},
      {"id": "end", "layer": "Tanh"}], "edges": [["x", "fc"], ["x", "sum"], ["fc", "drop"], ["drop", "sum"], ["sum", "end"]],
      "groups": [{"id": "g", "repeat": 2, "counter": "n"}, {"id": "inner", "parent": "g", "title": "just a frame"}]})",
      "");
  const FlatNetwork flat = flatten(drawn, "main");
  EXPECT_THAT(flat.problems, IsEmpty());
  EXPECT_THAT(ids(flat.network),
              ElementsAre("x", "g/0/fc", "g/0/drop", "g/0/sum", "g/1/fc", "g/1/drop", "g/1/sum", "end"));
  EXPECT_THAT(wires(flat.network),
              ElementsAre("x > g/0/fc", "g/0/fc > g/0/drop", "x > g/0/sum", "g/0/drop > g/0/sum", "g/0/sum > g/1/fc",
                          "g/1/fc > g/1/drop", "g/0/sum > g/1/sum", "g/1/drop > g/1/sum", "g/1/sum > end"));
  EXPECT_EQ(flat.network.find("g/0/drop")->values["probability"], 0.1);
  EXPECT_EQ(flat.network.find("g/1/drop")->values["probability"], 0.2);
}

TEST(Flatten, RepeatsGroupsInGroups) {
  const Project drawn = project(
      R"("main": {"nodes": [{"id": "x", "layer": "Input", "shape": [5]}, {"id": "a", "layer": "Tanh", "group": "outer"},
      {"id": "b", "layer": "ReLU", "group": "inner"}, {"id": "end", "layer": "Tanh"}], "edges": [["x", "a"], ["a", "b"], ["b", "end"]],
      "groups": [{"id": "inner", "parent": "outer", "repeat": 2}, {"id": "outer", "repeat": 2}]})",
      "");
  const FlatNetwork flat = flatten(drawn, "main");
  EXPECT_THAT(flat.problems, IsEmpty());
  EXPECT_THAT(wires(flat.network),
              ElementsAre("x > outer/0/a", "outer/0/a > outer/0/inner/0/b", "outer/0/inner/0/b > outer/0/inner/1/b",
                          "outer/0/inner/1/b > outer/1/a", "outer/1/a > outer/1/inner/0/b",
                          "outer/1/inner/0/b > outer/1/inner/1/b", "outer/1/inner/1/b > end"));
}

TEST(Flatten, FindsShapesInTheirOrder) {
  const Project drawn = project(
      R"("main": {"nodes": [{"id": "late", "layer": "Linear", "outputs": "=x[0]+half[0]"}, {"id": "x", "layer": "Input", "shape": [12]},
        {"id": "half", "layer": "Linear", "outputs": "=Input[0]/2"}, {"id": "u", "unit": "Shrink", "by": "=Input[-1]//3", "repeat": 2},
        {"id": "y", "layer": "Input", "shape": ["=half[0]"]}, {"id": "loss", "layer": "MeanSquaredError"}],
        "edges": [["x", "half"], ["half", "late"], ["late", "u"], ["u", "loss"], ["y", "loss.target"]]})",
      R"("Shrink": {"arguments": {"by": 1}, "nodes": [{"id": "in", "layer": "Input"}, {"id": "fc", "layer": "Linear", "outputs": "=in[0]-by"},
        {"id": "out", "layer": "Output"}], "edges": [["in", "fc"], ["fc", "out"]]})");
  const FlatNetwork flat = flatten(drawn, "main");
  EXPECT_THAT(messages(flat.problems), IsEmpty());
  const auto outputs = [&](const char* id) { return flat.network.find(id)->values["outputs"]; };
  EXPECT_EQ(outputs("half"), 6);
  EXPECT_EQ(outputs("late"), 18);
  EXPECT_EQ(outputs("u/0/fc"), 12);  // 18 - 18//3
  EXPECT_EQ(outputs("u/1/fc"), 8);   // 12 - 12//3
  EXPECT_EQ(flat.network.find("y")->values["shape"], (Json{6}));
  EXPECT_EQ(flat.uses[2].arguments["by"], 4);
}

TEST(Flatten, SharesParametersByPath) {
  const Project drawn = project(
      R"("main": {"nodes": [{"id": "x", "layer": "Input", "shape": [4, 8, 8]}, {"id": "a", "unit": "Tied", "repeat": 2},
      {"id": "b", "unit": "Tied", "repeat": 2, "shares": "a"}, {"id": "c", "layer": "Convolution", "channels": 4, "shares": "a/1/conv"},
      {"id": "d", "layer": "Convolution", "channels": 4, "group": "g", "shares": "g/0/d"}], "edges": [["x", "a"], ["a", "b"], ["b", "c"], ["c", "d"]],
      "groups": [{"id": "g", "repeat": 2}]})",
      R"("Tied": {"nodes": [{"id": "in", "layer": "Input"}, {"id": "conv", "layer": "Convolution", "channels": 4},
      {"id": "again", "layer": "Convolution", "channels": 4, "shares": "conv"}, {"id": "out", "layer": "Output"}],
      "edges": [["in", "conv"], ["conv", "again"], ["again", "out"]]})");
  const FlatNetwork flat = flatten(drawn, "main");
  const auto shares = [&](const char* id) { return flat.network.find(id)->shares; };
  EXPECT_EQ(shares("a/0/conv"), "");
  EXPECT_EQ(shares("a/0/again"), "a/0/conv");
  EXPECT_EQ(shares("a/1/again"), "a/1/conv");
  EXPECT_EQ(shares("b/1/conv"), "a/1/conv");
  EXPECT_EQ(shares("b/1/again"), "a/1/conv");
  EXPECT_EQ(shares("c"), "a/1/conv");
  EXPECT_EQ(shares("g/0/d"), "g/0/d");
  EXPECT_EQ(shares("g/1/d"), "g/0/d");
  const Analysis analysis = analyse(flat.network);
  EXPECT_THAT(messages(analysis.problems), IsEmpty());
  EXPECT_EQ(analysis.parameters, 3 * (4 * 4 * 9 + 4));  // a/0/conv, a/1/conv and g/0/d
  std::vector<std::string> faults;
  for (const Problem& problem : checkProject(drawn))
    if (problem.field == "shares") faults.push_back(problem.message);
  EXPECT_THAT(faults, IsEmpty());
}

TEST(Flatten, GivesTheProgramOfTheNetworkDrawnFlat) {
  const Project drawn = project(
      R"("main": {"nodes": [{"id": "x", "layer": "Input", "shape": [3, 8, 8]}, {"id": "b", "unit": "Residual", "channels": 4, "repeat": 2},
      {"id": "fc", "layer": "Linear", "outputs": 3}, {"id": "y", "layer": "Input", "shape": [1], "type": "label"}, {"id": "loss", "layer": "SoftmaxCrossEntropy"}],
      "edges": [["x", "b"], ["b", "fc"], ["fc", "loss"], ["y", "loss.target"]]})",
      kResidual);
  Network byHand = loom::drawn(R"(
    x Input shape=[3,8,8]
    c0 Convolution channels=4 <- x
    r0 ReLU <- c0
    c1 Convolution channels=4 <- r0
    r1 ReLU <- c1
    fc Linear outputs=3 <- r1
    y Input shape=[1] type="label"
    loss SoftmaxCrossEntropy <- fc; target: y)");
  const std::map<std::string, std::string> names{
      {"c0", "b/0/conv"}, {"r0", "b/0/relu"}, {"c1", "b/1/conv"}, {"r1", "b/1/relu"}};
  const auto renamed = [&](std::string& id) {
    if (const auto found = names.find(id); found != names.end()) id = found->second;
  };
  for (Node& node : byHand.nodes) renamed(node.id);
  for (Edge& edge : byHand.edges) renamed(edge.from.node), renamed(edge.to.node);
  const LowerOptions options{.batch = 4, .training = true};
  EXPECT_EQ(lower(flatNetwork(drawn, "main"), options).toString(), lower(byHand, options).toString());
}

TEST(Flatten, AnswersForWhatIsDrawn) {
  const Project drawn = project(
      R"("main": {"nodes": [{"id": "x", "layer": "Input", "shape": [3, 8, 8]}, {"id": "b", "unit": "Residual", "channels": 4, "stride": "=i == 0 ? 2 : 1", "repeat": 2},
      {"id": "pool", "layer": "GlobalAveragePooling"}], "edges": [["x", "b"], ["b", "pool"]]})",
      kResidual);
  const Analysis main = analyseDrawing(drawn, *drawn.network("main"));
  EXPECT_THAT(main.order, ElementsAre("x", "b", "pool"));
  const NodeFacts& b = main.nodes.at("b");
  EXPECT_THAT(b.inputs, ElementsAre(Shape{3, 8, 8}));
  EXPECT_THAT(b.outputs, ElementsAre(Shape{4, 4, 4}));
  EXPECT_TRUE(b.known);
  EXPECT_EQ(b.parameters, (4 * 3 * 9 + 4) + (4 * 4 * 9 + 4));
  EXPECT_EQ(main.parameters, b.parameters);
  EXPECT_GT(b.multiplyAdds, 0);
  // The unit's own tab: as in its first use.
  const Analysis unit = analyseDrawing(drawn, *drawn.unit("Residual"));
  EXPECT_THAT(unit.order, ElementsAre("in", "conv", "relu", "out"));
  EXPECT_THAT(unit.nodes.at("in").outputs, ElementsAre(Shape{3, 8, 8}));
  EXPECT_THAT(unit.nodes.at("conv").outputs, ElementsAre(Shape{4, 4, 4}));
  EXPECT_THAT(unit.nodes.at("out").inputs, ElementsAre(Shape{4, 4, 4}));
  EXPECT_EQ(unit.parameters, 4 * 3 * 9 + 4);
  EXPECT_THAT(unit.problems, IsEmpty());
}

TEST(Flatten, AnswersForAUnitThatNothingUses) {
  Project drawn = project(R"("main": {"nodes": [], "edges": []})", kResidual);
  Analysis unit = analyseDrawing(drawn, drawn.units[0]);
  EXPECT_THAT(messages(unit.problems), IsEmpty());  // no shape is known, and nothing is wrong
  EXPECT_FALSE(unit.nodes.at("conv").known);
  drawn.units[0].find("in")->values["shape"] = {2, 6, 6};
  unit = analyseDrawing(drawn, drawn.units[0]);
  EXPECT_THAT(unit.nodes.at("conv").outputs, ElementsAre(Shape{16, 6, 6}));  // with its defaults
  drawn.units[0].find("conv")->values["stride"] = "=stride-1";
  std::vector<std::string> found = messages(checkProject(drawn));
  EXPECT_THAT(found, testing::Contains(HasSubstr("conv: 'stride' is 0")));
}

// One line of faults a drawing: network or unit, node, field, message.
std::vector<std::string> faults(const Project& drawn) {
  std::vector<std::string> all;
  for (const Problem& problem : checkProject(drawn))
    if (!problem.network.empty() && problem.message.find("has no loss") == std::string::npos)
      all.push_back(problem.network + "|" + problem.node + "|" + problem.field + "|" + problem.message);
  return all;
}

Project withNode(const std::string& node, const std::string& edges = R"(["x", "u"])",
                 const std::string& units = kResidual) {
  return project(R"("main": {"nodes": [{"id": "x", "layer": "Input", "shape": [3, 8, 8]}, )" + node +
                     R"(], "edges": [)" + edges + "]}",
                 units);
}

TEST(FlattenProblems, NameTheNodeAndTheRemedy) {
  const auto only = [](const Project& drawn) {
    const std::vector<std::string> all = faults(drawn);
    EXPECT_EQ(all.size(), 1u) << testing::PrintToString(all);
    return all.empty() ? std::string() : all[0];
  };
  EXPECT_THAT(only(withNode(R"({"id": "u", "unit": "Residul"})")),
              HasSubstr("main|u|unit|u: there is no unit 'Residul': did you mean 'Residual'?"));
  EXPECT_THAT(only(withNode(R"({"id": "u", "unit": "Residual", "chanels": 3})")),
              HasSubstr("main|u|chanels|u: unknown key 'chanels': did you mean 'channels'?"));
  EXPECT_THAT(only(withNode(R"({"id": "u", "unit": "Residual", "channels": "many"})")),
              HasSubstr("main|u|channels|u: 'channels' is \"many\", but a number is wanted"));
  EXPECT_THAT(only(withNode(R"({"id": "u", "unit": "Residual"})", "")),
              HasSubstr("main|u||u: nothing is wired to in, an Input of the unit Residual"));
  EXPECT_THAT(only(withNode(R"({"id": "u", "unit": "Residual"})", R"(["x", "u"], ["x", "u.mask"])")),
              HasSubstr("main|u||u: the unit Residual has no Input 'mask'; it has in"));
  EXPECT_THAT(only(withNode(R"({"id": "u", "unit": "Residual"}, {"id": "t", "layer": "Tanh"})",
                            R"(["x", "u"], ["u.ot", "t"])")),
              HasSubstr("main|u||u: the unit Residual has no Output 'ot': did you mean 'out'?"));
  EXPECT_THAT(only(withNode(R"({"id": "u", "unit": "Residual"})", R"(["x", "u"], ["x", "u"])")),
              HasSubstr("u: in takes one wire, but several lead to it"));
  EXPECT_THAT(only(withNode(R"({"id": "u", "unit": "Residual", "repeat": 2.5})")),
              HasSubstr("main|u|repeat|u: 'repeat' is 2.5, but a whole number from 0"));
  EXPECT_THAT(only(withNode(R"({"id": "u", "unit": "Residual", "repeat": "=2/4"})")),
              HasSubstr("main|u|repeat|u: 'repeat' is \"=2/4\", which is 0.5, but a whole number"));
  EXPECT_THAT(only(withNode(R"({"id": "u", "unit": "Residual", "repeat": 100000})")),
              HasSubstr("main|u|repeat|u: 'repeat' is 100000, but a whole number from 0 to 10000"));
  EXPECT_THAT(only(withNode(R"({"id": "u", "unit": "Residual", "repeat": "=Input[0]"})")),
              HasSubstr("shapes are known only when the repeats are"));
  EXPECT_THAT(
      only(withNode(
          R"({"id": "u", "unit": "Must"})", R"(["x", "u"])",
          R"("Must": {"arguments": {"n": {"help": "How many."}}, "nodes": [{"id": "in", "layer": "Input"}, {"id": "fc", "layer": "Linear", "outputs": "=n"}, {"id": "out", "layer": "Output"}],
                                        "edges": [["in", "fc"], ["fc", "out"]]})")),
      HasSubstr("main|u|n|u: 'n' is missing: the unit Must has no default for it: How many."));
}

TEST(FlattenProblems, TellExpressionsWithTheirPlace) {
  const auto only = [](const std::string& outputs) {
    const std::vector<std::string> all =
        faults(withNode(R"({"id": "u", "layer": "Linear", "outputs": ")" + outputs + "\"}", R"(["x", "u"])", ""));
    EXPECT_EQ(all.size(), 1u) << outputs << testing::PrintToString(all);
    return all.empty() ? std::string() : all[0];
  };
  EXPECT_THAT(only("=2*"),
              HasSubstr("main|u|outputs|u: 'outputs' is \"=2*\", character 4: a number is missing at the end"));
  EXPECT_THAT(only("=2+chanels"), HasSubstr("character 4: there is no 'chanels'; there are shapes such as Input[0]"));
  EXPECT_THAT(only("=Input[0]/2"),
              HasSubstr("it is 1.5, but a whole number is wanted: floor(...) or ceil(...) rounds it"));
  EXPECT_THAT(only("=Input[3]"), HasSubstr("'Input' is 3×8×8, whose axes are 0 to 2, but 3 is asked for"));
  EXPECT_THAT(only("=Input"), HasSubstr("'Input' is a shape, of which an axis is wanted, such as Input[0]"));
  EXPECT_THAT(only("=8/(Input[0]-3)"), HasSubstr("division by zero; Input[0] is 3"));
  EXPECT_THAT(only("=10^99"), HasSubstr("more than a whole number can be here"));
  EXPECT_THAT(only("=u[0]"), HasSubstr("follows from this node, or from a circle of wires"));
  EXPECT_THAT(only("=y[0]"), HasSubstr("there is no input and no node 'y'"));
  EXPECT_THAT(only("=0"), HasSubstr("u: 'outputs' is 0, but"));
}

TEST(FlattenProblems, OfAUnitAreToldOnceAndWithTheUseWhereItMatters) {
  // Wrong wherever it is used: told at the drawing, with its remedy.
  Project drawn = withNode(R"({"id": "u", "unit": "Residual", "repeat": 3}, {"id": "v", "unit": "Residual"})",
                           R"(["x", "u"], ["u", "v"])");
  drawn.units[0].find("relu")->values["slope"] = 1;
  EXPECT_THAT(faults(drawn), ElementsAre(HasSubstr("Residual|relu|slope|relu: unknown key 'slope'")));
  Problem problem = checkProject(drawn)[0];
  EXPECT_EQ(problem.user, "main");
  EXPECT_EQ(problem.use, "u/0");
  EXPECT_EQ(problem.remedy.kind, Remedy::Kind::removeField);
  // Wrong in one repeat: told with it, and no remedy that would change the others.
  drawn.units[0].find("relu")->values.erase("slope");
  drawn.networks[0].find("u")->values["channels"] = "=2-i";
  EXPECT_THAT(faults(drawn), ElementsAre(HasSubstr("Residual|conv|channels|conv: 'channels' is 0, but")));
  problem = checkProject(drawn)[0];
  EXPECT_THAT(problem.message, HasSubstr("(in u (Residual), at repeat 2)"));
  EXPECT_EQ(problem.use, "u/2");
  EXPECT_EQ(problem.remedy.kind, Remedy::Kind::none);
  // The argument itself: at the unit's node.
  drawn.networks[0].find("u")->values["channels"] = "=4/(1-i)";
  EXPECT_THAT(
      faults(drawn),
      ElementsAre(HasSubstr("main|u|channels|u: 'channels' is \"=4/(1-i)\", at repeat 1: division by zero; i is 1"),
                  HasSubstr("'channels' is -4")));
}

TEST(FlattenProblems, RefuseWhatHasNoEnd) {
  const std::string recursive =
      R"("A": {"nodes": [{"id": "in", "layer": "Input"}, {"id": "b", "unit": "B"}, {"id": "out", "layer": "Output"}], "edges": [["in", "b"], ["b", "out"]]},
     "B": {"nodes": [{"id": "in", "layer": "Input"}, {"id": "a", "unit": "A"}, {"id": "out", "layer": "Output"}], "edges": [["in", "a"], ["a", "out"]]})";
  EXPECT_THAT(faults(withNode(R"({"id": "u", "unit": "A"})", R"(["x", "u"])", recursive)),
              ElementsAre(HasSubstr("B|a|unit|a: the unit A uses itself: A → B → A")));
  EXPECT_THAT(faults(withNode(R"({"id": "t", "layer": "Tanh"})", R"(["x", "t"])", recursive)),
              testing::SizeIs(1));  // used by nothing
  // A thousand times a thousand times a thousand.
  const auto nest = [](const std::string& name, const std::string& inner) {
    return "\"" + name + R"(": {"nodes": [{"id": "in", "layer": "Input"}, )" + inner +
           R"(, {"id": "out", "layer": "Output"}], "edges": [["in", "n"], ["n", "out"]]})";
  };
  const Project huge = withNode(R"({"id": "u", "unit": "C", "repeat": 1000})", R"(["x", "u"])",
                                nest("C", R"({"id": "n", "unit": "D", "repeat": 1000})") + "," +
                                    nest("D", R"({"id": "n", "unit": "E", "repeat": 1000})") + "," +
                                    nest("E", R"({"id": "n", "layer": "Tanh"})"));
  EXPECT_THAT(faults(huge), testing::Contains(HasSubstr("the network has more than 200000 nodes: repeat less")));
  // Units that hold nothing and feed themselves.
  const Project empty = withNode(
      R"({"id": "u", "unit": "F"}, {"id": "v", "unit": "F"}, {"id": "t", "layer": "Tanh"})",
      R"(["u", "v"], ["v", "u"], ["v", "t"])",
      R"("F": {"nodes": [{"id": "in", "layer": "Input"}, {"id": "out", "layer": "Output"}], "edges": [["in", "out"]]})");
  EXPECT_THAT(faults(empty), testing::Contains(HasSubstr("the wires go in a circle through units and repeats")));
  // Ten thousand empty repeats one behind the other need no stack.
  const Project far = withNode(
      R"({"id": "u", "unit": "F", "repeat": 10000}, {"id": "t", "layer": "Tanh"})", R"(["x", "u"], ["u", "t"])",
      R"("F": {"nodes": [{"id": "in", "layer": "Input"}, {"id": "out", "layer": "Output"}], "edges": [["in", "out"]]})");
  EXPECT_THAT(wires(flatten(far, "main").network), ElementsAre("x > t"));
}

TEST(FlattenProblems, OfGroups) {
  const auto only = [](const std::string& edges, const std::string& groups) {
    const Project drawn = project(
        R"("main": {"nodes": [{"id": "x", "layer": "Input", "shape": [4]}, {"id": "z", "layer": "Input", "shape": [4]},
        {"id": "a", "layer": "Tanh", "group": "g"}, {"id": "b", "layer": "Add", "group": "g"}, {"id": "c", "layer": "Tanh"}], "edges": [)" +
            edges + R"(], "groups": [)" + groups + "]}",
        "");
    std::vector<std::string> all;
    for (const Problem& problem : checkProject(drawn))
      if (problem.field == "groups" || problem.field == "group") all.push_back(problem.message);
    EXPECT_EQ(all.size(), 1u) << testing::PrintToString(all);
    return all.empty() ? std::string() : all[0];
  };
  const std::string twice = R"({"id": "g", "repeat": 2})";
  EXPECT_THAT(
      only(R"(["x", "a"], ["z", "b"], ["a", "b"], ["b", "c"])", twice),
      HasSubstr("the group 'g' repeats, so it has one entry and one exit, but wires come in from both x and z"));
  EXPECT_THAT(only(R"(["x", "a"], ["x", "b"], ["a", "b"], ["b", "c"], ["a", "c"])", twice),
              HasSubstr("wires leave both b and a"));
  EXPECT_THAT(only(R"(["a", "b"], ["b", "c"])", twice), HasSubstr("no wire leads into it"));
  EXPECT_THAT(only(R"(["x", "a"], ["x", "b"])", twice), HasSubstr("both a and b lead nowhere"));
  EXPECT_THAT(only(R"(["x", "a"], ["x", "b"], ["a", "b"])", R"({"id": "g", "parent": "g"})"),
              HasSubstr("the group 'g' stands in itself"));
  EXPECT_THAT(only(R"(["x", "a"], ["x", "b"], ["a", "b"])", R"({"id": "g", "parent": "h"})"),
              HasSubstr("the group 'g' stands in 'h', but there is no such group"));
  EXPECT_THAT(only(R"(["x", "a"], ["x", "b"], ["a", "b"])", R"({"id": "g", "repeat": 2, "counter": "1st"})"),
              HasSubstr("the group 'g': '1st' is no name for a counter"));
  EXPECT_THAT(only(R"(["x", "a"], ["x", "b"], ["a", "b"])", R"({"id": "g", "repeat": "=two"})"),
              HasSubstr("the group 'g': 'repeat' is \"=two\", character 2: there is no 'two'"));
}

// Work that grows with the square of the repeats would not end in the time that a test has.
TEST(Flatten, WritesOutFiveThousandRepeats) {
  const Project drawn = withNode(R"({"id": "u", "unit": "Residual", "channels": "=i+1", "repeat": 5000})");
  const FlatNetwork flat = flatten(drawn, "main");
  EXPECT_EQ(flat.network.nodes.size(), 10001u);
  EXPECT_EQ(flat.network.find("u/4999/conv")->values["channels"], 5000);
}

}  // namespace
}  // namespace loom
