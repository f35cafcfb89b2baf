// What a network sees in one sample: slopes against finite differences, Grad-CAM of a network whose sums are done by
// hand, occlusion against its definition.
#include "engine/training/sample_lens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "engine/network/flatten.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Convolution, normalisation, pooling, a tanh and two linear layers over two channels: no kink but the pooling's.
constexpr const char* kConvolved = R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "shape": [2, 6, 6]}, {"id": "conv", "layer": "Convolution", "channels": 3, "kernel": [3, 3]},
    {"id": "norm", "layer": "BatchNormalization"}, {"id": "tanh", "layer": "Tanh"}, {"id": "pool", "layer": "AveragePooling"},
    {"id": "fc", "layer": "Linear", "outputs": 3},
    {"id": "y", "layer": "Input", "shape": [1], "type": "label"}, {"id": "loss", "layer": "SoftmaxCrossEntropy"}],
    "edges": [["x", "conv"], ["conv", "norm"], ["norm", "tanh"], ["tanh", "pool"], ["pool", "fc"], ["fc", "loss"], ["y", "loss.target"]]}}})";

// A convolution of one place makes two channels of x; what is said is a sum over both with weights that are given.
constexpr const char* kTwoChannels = R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "shape": [1, 2, 2]}, {"id": "conv", "layer": "Convolution", "channels": 2, "kernel": [1, 1]},
    {"id": "flat", "layer": "Flatten"}, {"id": "fc", "layer": "Linear", "outputs": 2},
    {"id": "y", "layer": "Input", "shape": [1], "type": "label"}, {"id": "loss", "layer": "SoftmaxCrossEntropy"}],
    "edges": [["x", "conv"], ["conv", "flat"], ["flat", "fc"], ["fc", "loss"], ["y", "loss.target"]]}}})";

struct Eye {
  explicit Eye(const char* project, Backend& backend)
      : network(flatNetwork(readProject(project, "test").project, "main")),
        store(7, backend.makeMemory()),
        lens(backend, store, network, "fc", 7, 2) {}
  void see(const std::vector<float>& values) {
    const std::span<std::byte> to = lens.input("x");
    ASSERT_EQ(to.size(), values.size() * sizeof(float));
    std::memcpy(to.data(), values.data(), to.size());
  }
  void set(const char* parameter, const std::vector<float>& values) {
    StoredTensor& tensor = store.at(parameter).value;
    ASSERT_EQ(tensor.elements(), static_cast<std::int64_t>(values.size())) << parameter;
    tensor.write(values);
    tensor.changed();
    lens.changed();
  }
  Network network;
  ParameterStore store;
  SampleLens lens;
};

std::vector<float> someNumbers(std::size_t count, unsigned seed) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(static_cast<int>((i * 37 + seed * 17) % 64) - 32) / 32.0F);
  return values;
}

std::string faultOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(SampleLens, SlopesAreThoseOfFiniteDifferences) {
  const auto exact = makeReferenceBackend();
  Eye eye(kConvolved, *exact), fast(kConvolved, cpuBackend());
  const std::vector<float> sample = someNumbers(72, 3);
  constexpr float kStep = 1.0F / 64;
  for (const std::int64_t value : {0, 2}) {
    eye.see(sample);
    fast.see(sample);
    const std::vector<float> slopes = eye.lens.slopes({value}), onCpu = fast.lens.slopes({value});
    ASSERT_EQ(slopes.size(), sample.size());
    float greatest = 0;
    for (std::size_t i = 0; i < sample.size(); ++i) {
      std::vector<float> more = sample, less = sample;
      more[i] += kStep;
      less[i] -= kStep;
      eye.see(more);
      const double above = eye.lens.output()[static_cast<std::size_t>(value)];
      eye.see(less);
      const double below = eye.lens.output()[static_cast<std::size_t>(value)];
      EXPECT_NEAR(slopes[i], (above - below) / (2 * kStep), 2e-4) << "place " << i << " of value " << value;
      EXPECT_NEAR(onCpu[i], slopes[i], 1e-5);
      greatest = std::max(greatest, std::abs(slopes[i]));
    }
    EXPECT_GT(greatest, 0.02) << "slopes of nothing prove nothing";
    // The map: of both channels the greater magnitude.
    eye.see(sample);
    const SampleMap map = eye.lens.gradient({value});
    EXPECT_EQ(map.height, 6);
    EXPECT_EQ(map.width, 6);
    for (std::size_t i = 0; i < 36; ++i)
      EXPECT_FLOAT_EQ(map.values[i], std::max(std::abs(slopes[i]), std::abs(slopes[36 + i])));
  }
}

TEST(SampleLens, GradCamIsWhatIsSummedByHand) {
  Eye eye(kTwoChannels, cpuBackend());
  eye.set("conv/weight", {1, -2});
  eye.set("conv/bias", {0, 1});
  eye.set("fc/weight", {1, 2, 3, 2, /**/ -1, 1, 0, 4, /* of the other value */ 1, 1, 1, 1, /**/ 3, 3, 3, 3});
  eye.set("fc/bias", {0, 0});
  eye.see({1, 2, -3, 0.5});
  // The channels: x, and 1 - 2x.
  EXPECT_THAT(eye.lens.valuesOf("conv"), ElementsAre(1, 2, -3, 0.5, -1, -3, 7, 0));
  EXPECT_FLOAT_EQ(eye.lens.output()[0], 1 + 4 - 9 + 1 + 1 - 3 + 0 + 0);
  // Their weights for value 0: the means of 1, 2, 3, 2 and of -1, 1, 0, 4. So 2x + 1 - 2x = 1 everywhere.
  const SampleMap first = eye.lens.gradCam({0}, "conv");
  EXPECT_EQ(first.height, 2);
  EXPECT_EQ(first.width, 2);
  EXPECT_THAT(first.values, ElementsAre(1, 1, 1, 1));
  // For value 1: 1 and 3, so x + 3 - 6x = 3 - 5x, and nothing below 0.
  EXPECT_THAT(eye.lens.gradCam({1}, "conv").values, ElementsAre(0, 0, 18, 0.5));
  EXPECT_EQ(eye.lens.lastWithPlaces().name, "conv");
  EXPECT_THAT(faultOf([&] { eye.lens.gradCam({0}, "flat"); }), HasSubstr("'flat' is 8"));
  EXPECT_THAT(faultOf([&] { eye.lens.gradCam({0}, "cnov"); }), HasSubstr("there are x, conv, flat, fc"));
  EXPECT_THAT(faultOf([&] { eye.lens.gradient({2}); }), HasSubstr("has 2"));
}

TEST(SampleLens, OcclusionIsItsDefinition) {
  Eye eye(kConvolved, cpuBackend());
  const std::vector<float> sample = someNumbers(72, 5);
  // Windows of 2 x 2 every 3 places, and the last one at the edge.
  constexpr std::int64_t kStarts[] = {0, 3, 4};
  std::vector<double> sums(36, 0), counts(36, 0);
  eye.see(sample);
  const double whole = eye.lens.output()[1];
  for (const std::int64_t top : kStarts)
    for (const std::int64_t left : kStarts) {
      std::vector<float> hidden = sample;
      for (std::int64_t y = top; y < top + 2; ++y)
        for (std::int64_t x = left; x < left + 2; ++x)
          hidden[static_cast<std::size_t>(y * 6 + x)] = hidden[static_cast<std::size_t>(36 + y * 6 + x)] = 0;
      eye.see(hidden);
      const double less = whole - eye.lens.output()[1];
      for (std::int64_t y = top; y < top + 2; ++y)
        for (std::int64_t x = left; x < left + 2; ++x)
          sums[static_cast<std::size_t>(y * 6 + x)] += less, counts[static_cast<std::size_t>(y * 6 + x)] += 1;
    }
  eye.see(sample);
  const SampleMap map = eye.lens.occlusion({1}, {.window = 2, .stride = 3});
  ASSERT_EQ(map.values.size(), 36u);
  double greatest = 0;
  for (std::size_t i = 0; i < 36; ++i) {
    EXPECT_NEAR(map.values[i], counts[i] > 0 ? sums[i] / counts[i] : 0, 1e-5) << "place " << i;
    greatest = std::max(greatest, std::abs(static_cast<double>(map.values[i])));
  }
  EXPECT_GT(greatest, 0.02);
  EXPECT_EQ(map.values[2], 0) << "no window covers the third column of the first row";
  // The sample stays as it was, and so does what is said of it.
  EXPECT_NEAR(eye.lens.output()[1], whole, 1e-6);
  std::atomic<bool> stop{true};
  EXPECT_THAT(faultOf([&] { eye.lens.occlusion({1}, {.stopped = [&] { return stop.load(); }}); }),
              HasSubstr("stopped"));
}

// One look at a trained run: in the words of its classes, and of a row of a file as of a sample of its own data.
TEST(SampleLens, ARunIsLookedAtInTheWordsOfItsClasses) {
  const Workshop workshop("looked", 300);
  workshop.write("train.y.classes.txt", "red\ngreen\nblue\n");
  Json project = perceptron();
  project["training"]["epochs"] = 6;
  const auto run = workshop.train(project, "run");
  WatchedBackend backend;
  TrainedNetwork trained(backend, {.run = run.folder});
  const Predictions said = trained.predict({.keep = 4, .dataset = trained.usualDataset()});
  const std::size_t before = backend.precisions.size();
  const LookAnswer answer = trained.look({.sample = 3, .method = LookMethod::gradient});
  EXPECT_EQ(answer.look.samples, 21);
  EXPECT_EQ(answer.look.step, trained.step());
  EXPECT_EQ(answer.look.input, "x");
  EXPECT_EQ(answer.look.map.height, 1);
  EXPECT_EQ(answer.look.map.width, 3);
  ASSERT_EQ(answer.look.said.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(answer.look.said[i], said.kept[3].outputs[0].values[i], 1e-5);
  EXPECT_EQ(answer.look.value,
            std::max_element(answer.look.said.begin(), answer.look.said.end()) - answer.look.said.begin());
  const std::size_t compiled = backend.precisions.size();
  EXPECT_EQ(compiled, before + 1);
  const LookAnswer green = trained.look({.sample = 3, .of = "green", .method = LookMethod::gradient});
  EXPECT_EQ(green.look.value, 1);
  EXPECT_EQ(backend.precisions.size(), compiled) << "the second look compiles nothing";
  // What is said less without a column is a share.
  const LookAnswer hidden =
      trained.look({.file = workshop.path() / "val.csv", .sample = 3, .of = "green", .method = LookMethod::occlusion});
  for (const float each : hidden.look.map.values) EXPECT_LE(std::abs(each), 1);
  EXPECT_EQ(hidden.look.said, green.look.said) << "the same row from its file";
  EXPECT_EQ(trained.look({.sample = 3, .layer = "fc1"}).layer.shape, Shape{8});
  EXPECT_THAT(faultOf([&] { trained.look({.of = "yellow"}); }), HasSubstr("3 classes"));
  EXPECT_THAT(faultOf([&] { trained.look({.sample = 21}); }), HasSubstr("has 21"));
  EXPECT_THAT(faultOf([&] { trained.look({.method = LookMethod::gradCam}); }), HasSubstr("take the gradient"));
  EXPECT_THAT(faultOf([&] { lookMethod("magic"); }), HasSubstr("grad-cam"));
  // As the other program reads it.
  const SampleLook read = sampleLookFromJson(parseJson(toJson(hidden.look).dump(), "look"));
  EXPECT_EQ(read.map.values, hidden.look.map.values);
  EXPECT_EQ(read.output.classes, hidden.look.output.classes);
  EXPECT_EQ(fromDigits(toDigits(std::string("\0\x7f\xff", 3))), std::string("\0\x7f\xff", 3));
  EXPECT_THROW(sampleLookFromJson(parseJson(R"({"map": 3})", "look")), Error);
}

TEST(SampleLens, AMapIsAsLargeAsAPictureWants) {
  const SampleMap map{1, 2, {0, 1}};
  EXPECT_THAT(resized(map, 1, 4).values, ElementsAre(0, 0.25, 0.75, 1));
  EXPECT_THAT(resized(map, 2, 2).values, ElementsAre(0, 1, 0, 1));
}

}  // namespace
}  // namespace loom
