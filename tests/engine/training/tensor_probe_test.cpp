// What flows along a wire: values of networks whose values are known, inside units and repeats too; what is said where
// there are none; and that a second look computes nothing.
#include "engine/training/tensor_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Eight numbers as two channels of 2 x 2, and what a ReLU leaves of them.
Json plain() {
  return parseJson(R"({"loom": 1, "networks": {"main": {"nodes": [
      {"id": "x", "layer": "Input", "shape": [2, 2, 2]}, {"id": "relu", "layer": "ReLU"},
      {"id": "flat", "layer": "Flatten"}, {"id": "fc", "layer": "Linear", "outputs": 3},
      {"id": "y", "layer": "Input", "shape": [1], "type": "label"}, {"id": "loss", "layer": "SoftmaxCrossEntropy"}],
      "edges": [["x", "relu"], ["relu", "flat"], ["flat", "fc"], ["fc", "loss"], ["y", "loss.target"]]}},
      "datasets": {"training": {"csv": "table.csv"}}, "training": {"epochs": 1}})",
                   "plain");
}

constexpr const char* kTable =
    "x__0,x__1,x__2,x__3,x__4,x__5,x__6,x__7,y:label\n"
    "1,-2,3,-4,5,-6,7,-8,2\n"
    "9,9,9,9,9,9,9,9,0\n"
    "8,8,8,8,8,8,8,8,1\n";

DrawnPin pin(const std::string& node, const std::string& drawing = "main") {
  return {.drawing = drawing, .from = {node, "output"}};
}

std::string sentence(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(TensorProbe, TellsTheValuesOfTheFirstSample) {
  const Workshop workshop("probe-values");
  workshop.write("table.csv", kTable);
  TensorProbe probe(cpuBackend());
  probe.setProject(plain().dump(), workshop.path());
  const TensorAnswer x = probe.look({.pin = pin("x")});
  EXPECT_THAT(x.tensor.first, ElementsAre(1, -2, 3, -4, 5, -6, 7, -8));
  EXPECT_EQ(x.tensor.shape, (Shape{2, 2, 2}));
  EXPECT_EQ(x.dataset, "training");
  EXPECT_EQ(x.samples, 3);
  const TensorAnswer relu = probe.look({.pin = pin("relu")});
  EXPECT_THAT(relu.tensor.first, ElementsAre(1, 0, 3, 0, 5, 0, 7, 0));
  EXPECT_EQ(relu.tensor.zeros, 4);
  EXPECT_EQ(relu.tensor.least, 0);
  EXPECT_EQ(relu.tensor.mean, 2);
  EXPECT_EQ(relu.tensor.greatest, 7);
  EXPECT_TRUE(relu.tensor.aboveZero);
  // Two pictures of 2 x 2 on one scale, from 0 to 7.
  EXPECT_EQ(relu.tensor.tiles, 2);
  EXPECT_THAT(relu.tensor.pixels, ElementsAre(36, 0, 109, 0, 181, 0, 254, 0));
  const TensorAnswer label = probe.look({.pin = pin("y")});
  EXPECT_TRUE(label.tensor.whole);
  EXPECT_THAT(label.tensor.first, ElementsAre(2));
  EXPECT_FALSE(label.trained);
  const TensorAnswer second = probe.look({.pin = pin("relu"), .sample = 1});
  EXPECT_THAT(second.tensor.first, testing::Each(9));
}

TEST(TensorProbe, CompilesADrawingOnceAndRunsItOnce) {
  const Workshop workshop("probe-once");
  workshop.write("table.csv", kTable);
  TensorProbe probe(cpuBackend());
  Json project = plain();
  probe.setProject(project.dump(), workshop.path());
  for (const char* node : {"x", "relu", "flat", "fc", "relu"}) probe.look({.pin = pin(node)});
  EXPECT_EQ(probe.compiled(), 1);
  EXPECT_EQ(probe.runs(), 1);
  // Where a card stands changes nothing; a layer in between does.
  project["networks"]["main"]["nodes"][1]["at"] = {480, 480};
  probe.setProject(project.dump(), workshop.path());
  probe.look({.pin = pin("relu")});
  EXPECT_EQ(probe.compiled(), 1);
  project["networks"]["main"]["nodes"][1]["layer"] = "Abs";
  probe.setProject(project.dump(), workshop.path());
  EXPECT_THAT(probe.look({.pin = pin("relu")}).tensor.first, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(probe.compiled(), 2);
}

// The weights of a run: the first layer's output by hand.
TEST(TensorProbe, ComputesWithTheWeightsOfARun) {
  const Workshop workshop("probe-trained");
  Json project = perceptron();
  const auto run = workshop.train(project, "run");
  TensorProbe probe(cpuBackend());
  probe.setProject(project.dump(), workshop.path());
  const TensorAnswer x = probe.look({.pin = pin("x")});
  const TensorAnswer trained = probe.look({.pin = pin("fc1"), .run = run.folder.path});
  const TensorAnswer initial = probe.look({.pin = pin("fc1")});
  EXPECT_TRUE(trained.trained);
  EXPECT_EQ(trained.matched, trained.parameters);
  EXPECT_GT(trained.step, 0);
  const auto tensors = run.tensors();
  const std::vector<float>&weight = tensors.at("fc1/weight"), &bias = tensors.at("fc1/bias");
  ASSERT_EQ(trained.tensor.first.size(), bias.size());
  bool moved = false;
  for (std::size_t o = 0; o < bias.size(); ++o) {
    double sum = bias[o];
    for (std::size_t i = 0; i < 3; ++i) sum += static_cast<double>(weight[o * 3 + i]) * x.tensor.first[i];
    EXPECT_NEAR(trained.tensor.first[o], sum, 1e-5);
    moved |= std::abs(initial.tensor.first[o] - trained.tensor.first[o]) > 1e-3F;
  }
  EXPECT_TRUE(moved);
  // A layer that is wider now begins with random numbers; the others are still those of the run.
  project["networks"]["main"]["nodes"].push_back(
      parseJson(R"({"id": "more", "layer": "Linear", "outputs": 2})", "more"));
  project["networks"]["main"]["edges"].push_back({"fc1", "more"});
  probe.setProject(project.dump(), workshop.path());
  const TensorAnswer wider = probe.look({.pin = pin("more"), .run = run.folder.path});
  EXPECT_EQ(wider.matched + 2, wider.parameters);
  EXPECT_THAT(sentence([&] { probe.look({.pin = pin("fc1"), .run = workshop.path() / "none"}); }),
              HasSubstr("is no run"));
}

TEST(TensorProbe, FindsWiresInsideUnitsAndRepeats) {
  const Workshop workshop("probe-units");
  workshop.write("table.csv", kTable);
  Json project = plain();
  project["networks"]["main"] = parseJson(
      R"({"nodes": [{"id": "x", "layer": "Input", "shape": [2, 2, 2]}, {"id": "add", "unit": "Plus", "by": 10, "repeat": 3},
      {"id": "once", "unit": "Plus", "by": 100}, {"id": "end", "layer": "Identity"}],
      "edges": [["x", "add"], ["add", "once"], ["once", "end"]]})",
      "main");
  project["units"] = parseJson(
      R"({"Plus": {"arguments": {"by": 1}, "nodes": [{"id": "in", "layer": "Input"}, {"id": "sum", "layer": "AddScalar", "value": "=by"},
      {"id": "out", "layer": "Output"}], "edges": [["in", "sum"], ["sum", "out"]]}})",
      "units");
  TensorProbe probe(cpuBackend());
  probe.setProject(project.dump(), workshop.path());
  const auto first = [&](const DrawnPin& at) { return probe.look({.pin = at}).tensor.first.at(0); };
  EXPECT_EQ(first(pin("x")), 1);
  EXPECT_EQ(first({.drawing = "main", .from = {"add", "out"}}), 31);  // behind all three
  EXPECT_EQ(first({.drawing = "main", .from = {"once", "out"}}), 131);
  // In the unit's own tab: its first use; what its Input gives is what that use is given.
  EXPECT_EQ(first(pin("in", "Plus")), 1);
  const TensorAnswer inside = probe.look({.pin = pin("sum", "Plus")});
  EXPECT_EQ(inside.tensor.first.at(0), 11);
  EXPECT_EQ(inside.pin, "add/0/sum");
  // Opened in place at another use.
  DrawnPin other = pin("sum", "Plus");
  other.useDrawing = "main";
  other.useNode = "once";
  EXPECT_EQ(first(other), 131);
  other.from.node = "in";
  EXPECT_EQ(first(other), 31);
  EXPECT_EQ(probe.compiled(), 1);
}

TEST(TensorProbe, SaysWhyThereIsNothingToSee) {
  const Workshop workshop("probe-words");
  workshop.write("table.csv", kTable);
  TensorProbe probe(cpuBackend());
  EXPECT_THAT(sentence([&] { probe.setProject("{", workshop.path()); }), HasSubstr("project"));
  Json project = plain();
  project.erase("datasets");
  probe.setProject(project.dump(), workshop.path());
  EXPECT_THAT(sentence([&] { probe.look({.pin = pin("relu")}); }), HasSubstr("no dataset"));
  project = plain();
  project["datasets"]["training"]["csv"] = "gone.csv";
  probe.setProject(project.dump(), workshop.path());
  EXPECT_THAT(sentence([&] { probe.look({.pin = pin("relu")}); }), HasSubstr("gone.csv"));
  project = plain();
  project["networks"]["main"]["nodes"][0]["variable"] = "picture";
  probe.setProject(project.dump(), workshop.path());
  EXPECT_THAT(sentence([&] { probe.look({.pin = pin("relu")}); }), HasSubstr("'picture'"));
  EXPECT_THAT(sentence([&] { probe.look({.pin = pin("gone")}); }), HasSubstr("no node 'gone'"));
  // A fault behind the wire does not stand in its way, one before it does.
  project = plain();
  project["networks"]["main"]["nodes"].push_back(
      parseJson(R"({"id": "bad", "layer": "Reshape", "shape": [7]})", "bad"));
  project["networks"]["main"]["edges"].push_back({"relu", "bad"});
  probe.setProject(project.dump(), workshop.path());
  EXPECT_THAT(probe.look({.pin = pin("relu")}).tensor.first, ElementsAre(1, 0, 3, 0, 5, 0, 7, 0));
  EXPECT_THAT(sentence([&] { probe.look({.pin = pin("bad")}); }), HasSubstr("bad"));
  EXPECT_THAT(sentence([&] { probe.look({.pin = pin("relu"), .sample = 3}); }), HasSubstr("sample 4"));
}

TEST(TensorSummary, CountsWhatIsNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const TensorSummary seen = summarise(Shape{2, 3}, std::vector<float>{1, nan, 3, inf, 5, -inf}, false);
  EXPECT_EQ(seen.nan, 1);
  EXPECT_EQ(seen.infinite, 2);
  EXPECT_EQ(seen.finite(), 3);
  EXPECT_EQ(seen.mean, 3);
  EXPECT_THAT(seen.pixels, ElementsAre(0, 255, 127, 255, 254, 255));
  const TensorSummary back = readTensorSummary(
      toJson(seen), std::string_view(reinterpret_cast<const char*>(seen.pixels.data()), seen.pixels.size()));
  EXPECT_EQ(toJson(back), toJson(seen));
  EXPECT_TRUE(std::isnan(back.first[1]));
}

// A dead layer shows as zeros do beside other values; another constant as neither end of the scale.
TEST(TensorSummary, EqualValuesAreZeroOrTheMiddle) {
  const auto pixels = [](float value) { return summarise(Shape{1, 2, 2}, std::vector<float>(4, value), false).pixels; };
  EXPECT_THAT(pixels(0), testing::Each(0));
  EXPECT_THAT(pixels(-3), testing::Each(127));
  const TensorSummary some = summarise(Shape{1, 2, 2}, std::vector<float>{0, 0, 2, 4}, false);
  EXPECT_THAT(some.pixels, testing::ElementsAre(0, 0, 127, 254));
}

TEST(TensorSummary, IsBoundedWhateverTheTensor) {
  const Shape shape{100, 200, 150};
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 200);
  const TensorSummary seen = summarise(shape, values, false);
  EXPECT_EQ(seen.channels, 100);
  EXPECT_EQ(seen.tiles, 64);
  EXPECT_EQ(seen.pixels.size(), 64u * 64 * 64);
  EXPECT_EQ(seen.first.size(), 64u);
}

// What another process says is believed no further than it can be understood.
TEST(TensorSummary, RefusesWhatIsNone) {
  const TensorSummary seen = summarise(Shape{2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}, false);
  const std::string pixels(reinterpret_cast<const char*>(seen.pixels.data()), seen.pixels.size());
  const Json good = toJson(seen);
  EXPECT_NO_THROW(readTensorSummary(good, pixels));
  EXPECT_THROW(readTensorSummary(good, pixels.substr(1)), Error);
  for (const auto& [key, value] : good.items()) {
    Json bad = good;
    bad.erase(key);
    EXPECT_THROW(readTensorSummary(bad, pixels), Error) << key;
    for (const Json& wrong : {Json(-1), Json("many"), Json(nullptr), Json::object(), Json(1e300), Json::array({"a"})}) {
      bad[key] = wrong;
      if (wrong.is_number_float() && good[key].is_number_float()) continue;
      if (wrong.is_number() && wrong == -1 && good[key].is_number_float()) continue;
      EXPECT_THROW(readTensorSummary(bad, pixels), Error) << key << " " << wrong.dump();
    }
  }
  Json huge = good;
  huge["shape"] = {1LL << 40, 1LL << 40};
  EXPECT_THROW(readTensorSummary(huge, pixels), Error);
  huge = good;
  huge["tiles"] = 1LL << 40;
  EXPECT_THROW(readTensorSummary(huge, pixels), Error);
}

}  // namespace
}  // namespace loom
