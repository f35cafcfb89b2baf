// Loops along an axis: what is drawn between RecurrentInput and RecurrentOutput, written out step by step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/network/flatten.h"
#include "engine/program/evaluator.h"
#include "tests/engine/network/networks.h"

namespace loom {
namespace loops_test {

using testing::HasSubstr;

Project project(const std::string& text) {
  Project made;
  made.networks.push_back(drawn(text));
  made.training.updates.push_back(defaultUpdate());
  return made;
}

std::vector<std::string> faults(const Project& made) {
  return messages(analyseDrawing(made, made.networks[0]).problems);
}

// h(t) = tanh(W [x(t), h(t - 1)] + b), drawn by hand.
constexpr const char* kCell = R"(
x Input shape=[4,2]
step RecurrentInput length=4 <- x
state Delay shape=[3] <- bend
both Concatenate <- step, state
mix Linear outputs=3 <- both
bend Tanh <- mix
all RecurrentOutput <- bend
)";

std::vector<double> run(const Network& flat, const std::map<std::string, std::vector<double>>& inputs,
                        const std::map<std::string, std::vector<double>>& parameters, const std::string& result) {
  const Program program = lowerForPrediction(flat, {.batch = 1});
  Evaluator evaluator(program);
  for (const auto& [name, values] : inputs) evaluator.value(name, TensorRole::input).values = values;
  for (const auto& [name, values] : parameters) evaluator.value(name, TensorRole::parameter).values = values;
  evaluator.run();
  for (const NamedResult& each : program.results)
    if (each.name == result) return evaluator.value(each.tensor).values;
  return {};
}

const std::vector<double> kX = {0.5, -1, 0.25, 2, -0.75, 1, 1.5, -0.5};
const std::vector<double> kWeight = {0.1, -0.2, 0.3, 0.4, -0.5, 0.6, -0.7, 0.8, 0.9, -0.1, 0.2, -0.3, 0.5, 0.4, 0.25};
const std::vector<double> kBias = {0.05, -0.1, 0.2};

// The same by hand; `first` is the state before the first step.
std::vector<double> cell(std::vector<double> state) {
  std::vector<double> all;
  for (int t = 0; t < 4; ++t) {
    std::vector<double> next(3);
    for (std::size_t o = 0; o < 3; ++o) {
      double sum = kBias[o] + kWeight[o * 5] * kX[static_cast<std::size_t>(2 * t)] +
                   kWeight[o * 5 + 1] * kX[static_cast<std::size_t>(2 * t + 1)];
      for (std::size_t i = 0; i < 3; ++i) sum += kWeight[o * 5 + 2 + i] * state[i];
      next[o] = std::tanh(sum);
    }
    state = next;
    all.insert(all.end(), state.begin(), state.end());
  }
  return all;
}

void expectNear(const std::vector<double>& values, const std::vector<double>& wanted) {
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], wanted[i], 1e-9) << "element " << i;
}

TEST(Loops, ACellGivesWhatItsFormulaSays) {
  const Project made = project(kCell);
  EXPECT_THAT(faults(made), testing::IsEmpty());
  const Network flat = flatNetwork(made, "main");
  // One set of weights, under the name that is drawn.
  std::vector<std::string> names;
  for (const Parameter& parameter : lowerForPrediction(flat, {}).parameters) names.push_back(parameter.name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("mix/weight", "mix/bias"));
  expectNear(run(flat, {{"x", kX}}, {{"mix/weight", kWeight}, {"mix/bias", kBias}}, "all"), cell({0, 0, 0}));
}

TEST(Loops, TheFirstStateMayBeANumberOrCalculated) {
  Project made = project(kCell);
  made.networks[0].find("state")->values["value"] = 0.5;
  expectNear(run(flatNetwork(made, "main"), {{"x", kX}}, {{"mix/weight", kWeight}, {"mix/bias", kBias}}, "all"),
             cell({0.5, 0.5, 0.5}));
  made = project(std::string(kCell) + "first Input shape=[3]\n");
  made.networks[0].edges.push_back({{"first", "output"}, {"state", "initial"}});
  EXPECT_THAT(faults(made), testing::IsEmpty());
  expectNear(run(flatNetwork(made, "main"), {{"x", kX}, {"first", {1, -1, 0.25}}},
                 {{"mix/weight", kWeight}, {"mix/bias", kBias}}, "all"),
             cell({1, -1, 0.25}));
}

// Along another axis, two sequences side by side, and what comes from outside the same at every step.
TEST(Loops, SeveralSequencesAndAnyAxis) {
  const Project made = project(R"(
a Input shape=[2,3]
b Input shape=[3]
c Input shape=[2]
left RecurrentInput axis=1 length=3 <- a
right RecurrentInput length=3 <- b
sum Add <- left, right, c
all RecurrentOutput axis=1 <- sum
)");
  EXPECT_THAT(faults(made), testing::IsEmpty());
  expectNear(
      run(flatNetwork(made, "main"), {{"a", {1, 2, 3, 4, 5, 6}}, {"b", {10, 20, 30}}, {"c", {100, 200}}}, {}, "all"),
      {111, 122, 133, 214, 225, 236});
}

// Running sums of running sums: a loop over rows with a loop over columns in it, each with its own state.
TEST(Loops, StandInEachOther) {
  const Project made = project(R"(
x Input shape=[2,3]
row RecurrentInput length=2 <- x
column RecurrentInput length=3 <- row
before Delay <- sum
sum Add <- column, before
sums RecurrentOutput <- flat
flat Identity <- sum
above Delay shape=[3,1] <- total
total Add <- sums, above
all RecurrentOutput <- total
)");
  EXPECT_THAT(faults(made), testing::IsEmpty());
  expectNear(run(flatNetwork(made, "main"), {{"x", {1, 2, 3, 10, 20, 30}}}, {}, "all"), {1, 3, 6, 11, 33, 66});
}

TEST(Loops, OfOneStepAndWithExpressions) {
  Project made = project(R"(
x Input shape=[1,2]
step RecurrentInput length=1 <- x
wide Linear outputs="=Input[0]*2" <- step
all RecurrentOutput <- wide
)");
  EXPECT_THAT(faults(made), testing::IsEmpty());
  made.networks[0].find("x")->values["shape"] = {3, 2};
  made.networks[0].find("step")->values["length"] = 3;
  EXPECT_THAT(faults(made), testing::IsEmpty());
  EXPECT_EQ(analyseDrawing(made, made.networks[0]).nodes["all"].outputs.at(0), (Shape{3, 4}));
}

// In a unit whose argument says how long, used twice: each use has its own weights.
TEST(Loops, StandInUnits) {
  Project made = project("x Input shape=[4,2]\nfirst Input shape=[1]\n");
  Network unit = drawn(R"(
in Input
step RecurrentInput length="=steps" <- in
state Delay shape=[3] <- bend
both Concatenate <- step, state
mix Linear outputs=3 <- both
bend Tanh <- mix
all RecurrentOutput <- bend
out Output <- all
)",
                       "Cell");
  unit.arguments.push_back({.name = "steps", .defaultValue = 4});
  made.units.push_back(unit);
  Network& network = made.networks[0];
  network.nodes.pop_back();
  network.nodes.push_back({.id = "one", .unit = "Cell"});
  network.nodes.push_back({.id = "two", .unit = "Cell"});
  network.edges.push_back({{"x", "output"}, {"one", "in"}});
  network.edges.push_back({{"one", "out"}, {"two", "in"}});
  EXPECT_THAT(faults(made), testing::IsEmpty());
  std::vector<std::string> names;
  for (const Parameter& parameter : lowerForPrediction(flatNetwork(made, "main"), {}).parameters)
    names.push_back(parameter.name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("one/mix/weight", "one/mix/bias", "two/mix/weight", "two/mix/bias"));
}

TEST(Loops, FaultsAreToldWhereTheyAreDrawn) {
  const auto said = [](const std::string& from, const std::string& to) {
    std::string text = kCell;
    text.replace(text.find(from), from.size(), to);
    return fmt::format("{}", fmt::join(faults(project(text)), "\n"));
  };
  EXPECT_THAT(said("length=4", "length=5"), HasSubstr("'length' is 5, but axis 0 of 4×2 has 4 steps"));
  EXPECT_THAT(said("shape=[3] <- bend", "shape=[2] <- bend"), HasSubstr("'shape' is 2, but what is led to it is 3"));
  EXPECT_THAT(said("shape=[3] <- bend", "shape=[3]"), HasSubstr("nothing to carry"));
  EXPECT_THAT(said("length=4", "length=\"=Input[0]\""), HasSubstr("must be known before shapes"));
  EXPECT_THAT(said("<- step, state", "<- x, state"), HasSubstr("begins"));
  const Project twice = project(
      "x Input shape=[3]\na RecurrentInput length=3 <- x\nb RecurrentInput length=2 <- x\ns Add <- a, b\no "
      "RecurrentOutput <- s\n");
  EXPECT_THAT(fmt::format("{}", fmt::join(faults(twice), "\n")),
              HasSubstr("another RecurrentInput of the same loop has 3"));
  // So many steps that nobody meant it.
  const Project huge = project(
      "x Input shape=[10000,10000]\na RecurrentInput length=10000 <- x\nb RecurrentInput length=10000 <- a\nc Identity "
      "<- b\n");
  EXPECT_THAT(fmt::format("{}", fmt::join(faults(huge), "\n")), HasSubstr("more than 200000 layers"));
}

}  // namespace loops_test
}  // namespace loom
