// Networks of every kind, trained for 50 steps on a device beside the CPU: the same losses; a run that was stopped
// equals one that never was; checkpoints go on on the other machine; 16 bits stay within their own distance. On the
// fake device here, on a real one in tests/gpu/cuda (trained_device.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "engine/run/control.h"
#include "tests/engine/cuda/trained_device.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr int kSteps = 8;  // ten times as slow
#else
constexpr int kSteps = 50;
#endif

struct Net {
  const char* name;
  int columns;   // of x
  bool symbols;  // x holds whole numbers below 8
  const char* nodes;
  const char* edges;  // "a b, b c": from x to the classifier "fc"
  double rate;
};
const Net kNets[] = {
    {"lenet", 100, false,
     R"({"id": "x", "layer": "Input", "shape": [1, 10, 10]},
        {"id": "conv1", "layer": "Convolution", "channels": 4, "kernel": [3, 3], "bias": false}, {"id": "bn1", "layer": "BatchNormalization"},
        {"id": "relu1", "layer": "ReLU"}, {"id": "pool1", "layer": "MaxPooling", "kernel": [2, 2]},
        {"id": "conv2", "layer": "Convolution", "channels": 6, "kernel": [3, 3], "bias": false}, {"id": "bn2", "layer": "BatchNormalization"},
        {"id": "relu2", "layer": "ReLU"}, {"id": "pool2", "layer": "MaxPooling", "kernel": [2, 2]}, {"id": "flat", "layer": "Flatten"},
        {"id": "fc1", "layer": "Linear", "outputs": 12}, {"id": "relu3", "layer": "ReLU"})",
     "x conv1, conv1 bn1, bn1 relu1, relu1 pool1, pool1 conv2, conv2 bn2, bn2 relu2, relu2 pool2, pool2 flat, flat "
     "fc1, fc1 relu3, "
     "relu3 fc",
     0.03},
    {"resnet", 64, false,
     R"({"id": "x", "layer": "Input", "shape": [1, 8, 8]},
        {"id": "conv", "layer": "Convolution", "channels": 4, "kernel": [3, 3], "bias": false}, {"id": "bn", "layer": "BatchNormalization"},
        {"id": "relu", "layer": "ReLU"},
        {"id": "conv1", "layer": "Convolution", "channels": 8, "kernel": [3, 3], "stride": [2, 2], "bias": false},
        {"id": "bn1", "layer": "BatchNormalization"}, {"id": "relu1", "layer": "ReLU"},
        {"id": "conv2", "layer": "Convolution", "channels": 8, "kernel": [3, 3], "bias": false}, {"id": "bn2", "layer": "BatchNormalization"},
        {"id": "short", "layer": "Convolution", "channels": 8, "kernel": [1, 1], "stride": [2, 2], "bias": false},
        {"id": "bn3", "layer": "BatchNormalization"}, {"id": "sum", "layer": "Add"}, {"id": "relu2", "layer": "ReLU"},
        {"id": "mean", "layer": "GlobalAveragePooling"})",
     "x conv, conv bn, bn relu, relu conv1, conv1 bn1, bn1 relu1, relu1 conv2, conv2 bn2, bn2 sum, relu short, short "
     "bn3, "
     "bn3 sum, sum relu2, relu2 mean, mean fc",
     0.03},
    {"lstm", 20, false,
     R"({"id": "x", "layer": "Input", "shape": [5, 4]}, {"id": "lstm", "layer": "LSTM", "units": 8},
        {"id": "last", "layer": "LSTM", "units": 6, "returns": "last"})",
     "x lstm, lstm last, last fc", 0.3},
    {"transformer", 6, true,
     R"({"id": "x", "layer": "Input", "shape": [6], "type": "index"}, {"id": "words", "layer": "Embedding", "vocabulary": 8, "channels": 8},
        {"id": "places", "layer": "PositionEmbedding"}, {"id": "norm1", "layer": "LayerNormalization"},
        {"id": "look", "layer": "MultiHeadAttention", "heads": 2, "causal": true}, {"id": "sum1", "layer": "Add"},
        {"id": "norm2", "layer": "LayerNormalization"}, {"id": "wide", "layer": "Linear", "outputs": 16, "base_axis": 1}, {"id": "gelu", "layer": "GELU"},
        {"id": "narrow", "layer": "Linear", "outputs": 8, "base_axis": 1}, {"id": "sum2", "layer": "Add"}, {"id": "flat", "layer": "Flatten"})",
     "x words, words places, places norm1, norm1 look, look sum1, places sum1, sum1 norm2, norm2 wide, wide gelu, gelu "
     "narrow, "
     "narrow sum2, sum1 sum2, sum2 flat, flat fc",
     0.03}};

void PrintTo(const Net& net, std::ostream* to) {
  *to << net.name;
}

// Three classes: where numbers are higher, or which symbol comes most.
std::string rowsOf(const Net& net, int rows) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 0.5);
  std::string text;
  for (int i = 0; i < net.columns; ++i) text += fmt::format("x__{},", i);
  text += "y:label\n";
  for (int row = 0; row < rows; ++row) {
    const int label = static_cast<int>(random() % 3);
    for (int i = 0; i < net.columns; ++i)
      text += net.symbols ? fmt::format("{},", random() % 2 == 0 ? label : static_cast<int>(random() % 8))
                          : fmt::format("{:.4f},", (i / 3 % 3 == label) + noise(random));
    text += fmt::format("{}\n", label);
  }
  return text;
}

Json projectOf(const Net& net) {
  const Json nodes = parseJson("[" + std::string(net.nodes) + R"(, {"id": "fc", "layer": "Linear", "outputs": 3},
      {"id": "y", "layer": "Input", "shape": [1], "type": "label"}, {"id": "loss", "layer": "SoftmaxCrossEntropy"}])",
                               net.name);
  Json edges = Json::array({{"fc", "loss"}, {"y", "loss.target"}});
  std::istringstream all(net.edges);
  for (std::string from, to; all >> from >> to;) {
    if (to.ends_with(',')) to.pop_back();
    edges.push_back({from, to});
  }
  return {{"loom", 1},
          {"networks", {{"main", {{"nodes", nodes}, {"edges", edges}}}}},
          {"datasets", {{"training", {{"csv", "rows.csv"}}}}},
          {"training",
           {{"network", "main"},
            {"dataset", "training"},
            {"epochs", 100},
            {"max_steps", kSteps},
            {"batch", 8},
            {"seed", 3},
            {"optimizer", {{"name", "Momentum"}, {"learning_rate", net.rate}}}}}};
}

class CudaNetworkTraining : public testing::TestWithParam<Net> {
 protected:
  CudaNetworkTraining() : m_workshop(std::string("cuda-net-") + GetParam().name), m_project(projectOf(GetParam())) {
    m_workshop.write("rows.csv", rowsOf(GetParam(), 60));  // batches of 8, and one of 4
  }

  void SetUp() override {
    if (const std::string reason = cuda::lackingTrainedDevice(); !reason.empty()) GTEST_SKIP() << reason;
  }
  Workshop::Run train(const std::string& run, Backend& backend, const Json& settings = Json::object()) const {
    Json project = m_project;
    project["training"].update(settings);
    return m_workshop.train(project, run, {.backend = &backend});
  }
  // A run of so many steps on one machine that goes on to the end on another.
  Workshop::Run trainInParts(const std::string& run, Backend& first, int steps, Backend& second) const {
    const auto begun = m_workshop.train(m_project, run,
                                        {.watch =
                                             [&](const Event& event, const RunFolder& folder) {
                                               if (event.kind == "step" && event.body["step"] == steps)
                                                 appendControl(folder, {{"command", "stop"}});
                                             },
                                         .backend = &first});
    EXPECT_TRUE(begun.result.stopped);
    EXPECT_THAT(begun.result.step, testing::AnyOf(steps, steps + 1)) << "one step may be under way";
    return m_workshop.train(m_project, run, {.resume = true, .backend = &second});
  }
  static void expectNear(const Workshop::Run& found, const Workshop::Run& expected, const std::string& what) {
    const auto mine = found.series("step", "loss"), theirs = expected.series("step", "loss");
    ASSERT_EQ(mine.size(), static_cast<std::size_t>(kSteps)) << what;
    ASSERT_EQ(theirs.size(), mine.size()) << what;
    for (std::size_t k = 0; k < mine.size(); ++k) EXPECT_NEAR(mine[k], theirs[k], 1e-4) << what << ", step " << k;
  }

  const Workshop m_workshop;
  const Json m_project;
};

TEST_P(CudaNetworkTraining, IsThatOfTheCpuWhereverItGoesOn) {
  const auto device = cuda::trainedBackend(150);
  const auto cpu = train("cpu", cpuBackend()), whole = train("device", *device);
  expectNear(whole, cpu, "whole");
  const auto losses = cpu.series("epoch", "loss");
  EXPECT_LT(losses.back(), kSteps < 50 ? losses.front() + 0.1 : 0.7 * losses.front()) << "it learns";

  const int half = kSteps / 2 + 1;
  const auto resumed = trainInParts("resumed", *cuda::trainedBackend(), half, *cuda::trainedBackend());
  EXPECT_EQ(resumed.series("step", "loss"), whole.series("step", "loss")) << "as if it had never stopped";
  EXPECT_EQ(resumed.tensors(), whole.tensors());
  expectNear(trainInParts("to_cpu", *cuda::trainedBackend(), half, cpuBackend()), cpu, "from the device to the CPU");
  expectNear(trainInParts("to_device", cpuBackend(), half, *cuda::trainedBackend()), cpu, "from the CPU to the device");
}

// As far from f32 as the CPU's own bf16 is, which rounds in other places; f16, with a scale that follows the gradients,
// is nearer. It learns in either.
TEST_P(CudaNetworkTraining, SixteenBitsStayWithinTheirOwnDistance) {
  const int steps = std::min(kSteps, cuda::trainedSteps());
  const auto lossesOf = [&](const std::string& run, Backend& backend, const char* precision) {
    const auto losses = train(run, backend, {{"precision", precision}, {"max_steps", steps}}).series("step", "loss");
    EXPECT_EQ(losses.size(), static_cast<std::size_t>(steps)) << run;
    return losses;
  };
  const auto furthest = [](const std::vector<double>& a, const std::vector<double>& b) {
    double most = 0;
    for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) most = std::max(most, std::abs(a[k] - b[k]));
    return most;
  };
  const auto exact = lossesOf("f32", cpuBackend(), "f32"), rounded = lossesOf("cpu-bf16", cpuBackend(), "bf16");
  const double own = furthest(rounded, exact);
  EXPECT_LT(furthest(lossesOf("bf16", *cuda::trainedBackend(), "bf16"), exact), 3 * own + 0.02);
  EXPECT_LT(furthest(lossesOf("f16", *cuda::trainedBackend(), "f16"), exact), own + 0.02);
}

INSTANTIATE_TEST_SUITE_P(All, CudaNetworkTraining, testing::ValuesIn(kNets),
                         [](const testing::TestParamInfo<Net>& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace loom
