// The real trainer on the fake device, beside the same training on the CPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/cuda/cuda_backend.h"
#include "tests/engine/cuda/fake/fake_device.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

// Bars, upright or not, in noise: 36 numbers a row, 6 x 6 to the network.
std::string bars(int rows, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 0.3);
  std::string text;
  for (int i = 0; i < 36; ++i) text += fmt::format("x__{},", i);
  text += "y:label\n";
  for (int row = 0; row < rows; ++row) {
    const int label = static_cast<int>(random() % 2), place = static_cast<int>(random() % 6);
    for (int i = 0; i < 36; ++i)
      text += fmt::format("{:.5f},", ((label == 0 ? i / 6 : i % 6) == place) + noise(random));
    text += fmt::format("{}\n", label);
  }
  return text;
}

Json barProject() {
  return parseJson(R"({"loom": 1, "networks": {"main": {
      "nodes": [{"id": "x", "layer": "Input", "shape": [1, 6, 6]},
                {"id": "conv", "layer": "Convolution", "channels": 4, "kernel": [3, 3], "bias": false},
                {"id": "bn", "layer": "BatchNormalization"}, {"id": "relu", "layer": "ReLU"},
                {"id": "pool", "layer": "MaxPooling", "kernel": [2, 2]}, {"id": "flat", "layer": "Flatten"},
                {"id": "drop", "layer": "Dropout", "probability": 0.1},
                {"id": "fc", "layer": "Linear", "outputs": 2}, {"id": "y", "layer": "Input", "shape": [1], "type": "label"},
                {"id": "loss", "layer": "SoftmaxCrossEntropy"}],
      "edges": [["x", "conv"], ["conv", "bn"], ["bn", "relu"], ["relu", "pool"], ["pool", "flat"], ["flat", "drop"], ["drop", "fc"],
                ["fc", "loss"], ["y", "loss.target"]]}},
    "datasets": {"training": {"csv": "bars.csv"}},
    "training": {"network": "main", "dataset": "training", "epochs": 3, "batch": 16, "seed": 4, "clip_norm": 1.0,
                 "optimizer": {"name": "Adam", "learning_rate": 0.02}}})",
                   "bars");
}

struct Way {
  const char* precision;
  int accumulate;
  double loss;     // how far losses may be apart, of 1 and of themselves
  double weights;  // and weights at the end, of the largest
};
// f32: sums in another order, over some tens of steps. bf16 on both sides; f16 beside f32.
const Way kWays[] = {{"f32", 1, 1e-4, 1e-3},
                     {"f32", 2, 1e-4, 1e-3},
                     {"bf16", 1, 0.03, 0.1},
                     {"f16", 1, 0.01, 0.05},
                     {"f16", 2, 0.01, 0.05}};

void PrintTo(const Way& way, std::ostream* to) {
  *to << way.precision;
}

class CudaTraining : public testing::TestWithParam<Way> {
 protected:
  Workshop::Run train(const Workshop& workshop, Json project, const std::string& run, Backend* backend) {
    project["training"]["precision"] =
        backend == nullptr && std::string(GetParam().precision) == "f16" ? "f32" : GetParam().precision;
    project["training"]["accumulate"] = GetParam().accumulate;
    return workshop.train(project, run, {.backend = backend});
  }

  void expectNear(const Workshop& workshop, const Json& project) {
    const auto expected = train(workshop, project, "cpu", nullptr);
    const auto device = std::make_shared<cuda::fake::FakeDevice>(cuda::fake::FakeOptions{.checkedCalls = 1000});
    const auto backend = makeCudaBackend(device);
    const auto found = train(workshop, project, "fake", backend.get());
    const auto theirs = expected.series("step", "loss"), mine = found.series("step", "loss");
    ASSERT_EQ(mine.size(), theirs.size());
    if (std::string(GetParam().precision) == "f16") {
      const auto scales = found.series("step", "loss_scale");
      ASSERT_EQ(scales.front(), scales.back()) << "steps were skipped, and what follows is not the CPU's";
    }
    for (std::size_t k = 0; k < mine.size(); ++k)
      EXPECT_NEAR(mine[k], theirs[k], GetParam().loss * (1 + theirs[k])) << "step " << k;
    EXPECT_LT(mine.back(), mine.front());
    const auto tensors = found.tensors();
    for (const auto& [name, values] : expected.tensors()) {
      if (name.find('#') != std::string::npos) continue;  // slots: squares of gradients differ by more
      double largest = 0;
      for (const float one : values) largest = std::max(largest, std::abs(double{one}));
      const std::vector<float>& trained = tensors.at(name);
      for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(trained[i], values[i], GetParam().weights * largest) << name << "[" << i << "]";
    }
    EXPECT_GT(device->launches(), 5) << "steps come from the graph";
  }
};

TEST_P(CudaTraining, OfAPerceptronIsThatOfTheCpu) {
  expectNear(Workshop("cuda-perceptron", 48), perceptron());
}

TEST_P(CudaTraining, OfAConvolutionalNetworkIsThatOfTheCpu) {
  const Workshop workshop("cuda-bars");
  workshop.write("bars.csv", bars(64, 3));
  expectNear(workshop, barProject());
}

INSTANTIATE_TEST_SUITE_P(Ways, CudaTraining, testing::ValuesIn(kWays), [](const testing::TestParamInfo<Way>& info) {
  return fmt::format("{}_accumulate_{}", info.param.precision, info.param.accumulate);
});

// A field of the settings like any other: off when absent, told in the run's description, ignored by the processor.
TEST(CudaTrainings, Tf32IsRoundedOnADeviceAndNotOnTheProcessor) {
  const Workshop workshop("cuda-tf32", 48);
  Json plain = perceptron(false), rounded = plain;
  rounded["training"]["tf32"] = true;
  EXPECT_EQ(workshop.train(rounded, "cpu-rounded").tensors(), workshop.train(plain, "cpu").tensors());
  const auto backend =
      makeCudaBackend(std::make_shared<cuda::fake::FakeDevice>(cuda::fake::FakeOptions{.checkedCalls = 0}));
  const auto exact = workshop.train(plain, "exact", {.backend = backend.get()}),
             found = workshop.train(rounded, "rounded", {.backend = backend.get()});
  const auto losses = exact.series("step", "loss"), others = found.series("step", "loss");
  ASSERT_EQ(losses.size(), others.size());
  EXPECT_NE(losses, others);
  for (std::size_t k = 0; k < losses.size(); ++k) EXPECT_NEAR(others[k], losses[k], 5e-3 * (1 + losses[k]));
  // Evaluated as it was trained.
  const auto loss = [](Backend& machine, const Workshop::Run& run) {
    return TrainedNetwork(machine, {.run = run.folder, .which = Which::last}).evaluate("training").loss;
  };
  EXPECT_NEAR(loss(*backend, exact), loss(cpuBackend(), exact), 1e-6);
  EXPECT_GT(std::abs(loss(*backend, found) - loss(cpuBackend(), found)), 1e-6);
}

TEST(CudaTrainings, HaveTheSameBitsInWhateverOrderAndAfterAResume) {
  const Workshop workshop("cuda-order");
  std::map<std::string, std::vector<float>> first;
  for (std::uint64_t seed = 1; seed < 4; ++seed) {
    const auto backend = makeCudaBackend(
        std::make_shared<cuda::fake::FakeDevice>(cuda::fake::FakeOptions{.seed = seed, .checkedCalls = 0}));
    const auto tensors = workshop.train(perceptron(), fmt::format("run{}", seed), {.backend = backend.get()}).tensors();
    if (seed == 1) first = tensors;
    EXPECT_EQ(tensors, first);
  }
}

// Gradients that 16 bits cannot hold at the first scale.
Json overflowing(const char* rate) {
  Json project = perceptron(false);
  Json& layer = project["networks"]["main"]["nodes"][3];  // fc2
  layer["initializer"] = "normal";
  layer["deviation"] = 100;
  project["training"]["optimizer"] = Json::parse(fmt::format(R"({{"name": "SGD", "learning_rate": {}}})", rate));
  project["training"]["precision"] = "f16";
  return project;
}

TEST(CudaTrainings, AStepWhoseGradientsOverflowChangesNothingAndTheScaleHalves) {
  const Workshop workshop("cuda-overflow");
  const auto backend = makeCudaBackend(std::make_shared<cuda::fake::FakeDevice>());
  Json project = overflowing("0.001");
  const auto run = workshop.train(project, "run", {.backend = backend.get()});
  const auto scales = run.series("step", "loss_scale");
  ASSERT_GT(scales.size(), 4u);
  EXPECT_EQ(scales[0], 65536);
  EXPECT_EQ(scales[1], 32768) << "the first step overflowed";
  EXPECT_EQ(scales.back(), scales[scales.size() - 2]) << "and none in the end";
  for (const auto& [name, values] : run.tensors())
    for (const float one : values) ASSERT_TRUE(std::isfinite(one)) << name;
  // One step alone: the weights are those that no step has touched.
  project["training"]["epochs"] = 1;
  project["training"]["batch"] = 50;
  const auto skipped = workshop.train(project, "skipped", {.backend = backend.get()});
  EXPECT_THAT(skipped.series("step", "loss_scale"), testing::ElementsAre(65536));
  Json still = overflowing("0");
  still["training"]["epochs"] = 1;
  still["training"]["batch"] = 50;
  EXPECT_EQ(skipped.tensors(), workshop.train(still, "still", {.backend = backend.get()}).tensors());
}

// The remedy that is named is one: the batch in so many passes, or as many samples at once as are told, and the rest.
TEST(CudaTrainings, ABatchThatMemoryDoesNotHoldIsToldWithWhatWouldFit) {
  const Workshop workshop("memory");
  workshop.write("bars.csv", bars(64, 3));
  Json project = barProject();
  project["training"]["epochs"] = 1;
  const auto failureOf = [&](std::size_t bytes, std::int64_t batch, std::int64_t passes) -> std::string {
    static int run = 0;
    const auto backend = makeCudaBackend(
        std::make_shared<cuda::fake::FakeDevice>(cuda::fake::FakeOptions{.memoryBytes = bytes, .checkedCalls = 0}));
    project["training"]["batch"] = batch;
    project["training"]["accumulate"] = passes;
    try {
      workshop.train(project, fmt::format("run{}", ++run), {.backend = backend.get()});
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::device);
      return error.what();
    }
  };
  constexpr std::size_t kPiece = 64 << 10;
  std::size_t memory = 1 << 20;
  std::string refusal;
  for (; memory < 64 * kPiece * 4 && refusal.find("would fit: set") == refusal.npos; memory += kPiece)
    refusal = failureOf(memory + kPiece, 60, 1);
  EXPECT_THAT(refusal, testing::AllOf(testing::HasSubstr("in network 'main': 60 samples at once take "),
                                      testing::HasSubstr("MiB are free")));
  int fits = 0, passes = 0;
  const std::string remedy = refusal.substr(refusal.find("free. ") + 6);
  ASSERT_EQ(std::sscanf(remedy.c_str(), "%d would fit: set \"accumulate\" to %d", &fits, &passes), 2) << refusal;
  EXPECT_EQ(passes, (60 + fits - 1) / fits);
  EXPECT_EQ(failureOf(memory, 60, passes), "");
  EXPECT_EQ(failureOf(memory, fits, 1), "");
}

}  // namespace
}  // namespace loom
