// CIFAR-10 as JPEG files behind a CSV: a small convolutional network learns to classify images that it has never seen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/base/files.h"
#include "engine/run/run_folder.h"

namespace loom {
namespace {

namespace fs = std::filesystem;

const fs::path kArchive = fs::path(GRADLOOM_SOURCE_DIR) / "../shared/data/cifar10/cifar10-train-jpeg.tar.gz";

// The folder of train.csv, unpacked once for a build folder.
fs::path unpacked() {
  const fs::path folder = fs::path(GRADLOOM_BINARY_DIR) / "real_data/cifar10", done = folder / ".unpacked";
  if (!fs::exists(done)) {
    fs::create_directories(folder);
    const std::string command = "tar -xzf '" + kArchive.string() + "' -C '" + folder.string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::ofstream(done) << "\n";
  }
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().filename() == "train.csv") return entry.path().parent_path();
  ADD_FAILURE() << "no train.csv in " << kArchive;
  return folder;
}

// Three blocks of convolution, batch normalisation, ReLU, pooling; the last 5,000 rows are held out.
constexpr const char* kProject = R"({
  "loom": 1,
  "networks": {"main": {
    "nodes": [
      {"id": "x", "layer": "Input", "shape": [3, 32, 32]},
      {"id": "conv1", "layer": "Convolution", "channels": 32, "kernel": [3, 3]},
      {"id": "bn1", "layer": "BatchNormalization"}, {"id": "relu1", "layer": "ReLU"}, {"id": "pool1", "layer": "MaxPooling"},
      {"id": "conv2", "layer": "Convolution", "channels": 64, "kernel": [3, 3]},
      {"id": "bn2", "layer": "BatchNormalization"}, {"id": "relu2", "layer": "ReLU"}, {"id": "pool2", "layer": "MaxPooling"},
      {"id": "conv3", "layer": "Convolution", "channels": 128, "kernel": [3, 3]},
      {"id": "bn3", "layer": "BatchNormalization"}, {"id": "relu3", "layer": "ReLU"}, {"id": "pool3", "layer": "MaxPooling"},
      {"id": "fc", "layer": "Linear", "outputs": 10},
      {"id": "y", "layer": "Input", "shape": [1], "type": "label"},
      {"id": "loss", "layer": "SoftmaxCrossEntropy"}, {"id": "accuracy", "layer": "Accuracy"}],
    "edges": [["x", "conv1"], ["conv1", "bn1"], ["bn1", "relu1"], ["relu1", "pool1"], ["pool1", "conv2"], ["conv2", "bn2"],
      ["bn2", "relu2"], ["relu2", "pool2"], ["pool2", "conv3"], ["conv3", "bn3"], ["bn3", "relu3"], ["relu3", "pool3"],
      ["pool3", "fc"], ["fc", "loss"], ["y", "loss.target"], ["fc", "accuracy"], ["y", "accuracy.target"]]}},
  "datasets": {
    "training": {"csv": "FOLDER/train.csv", "rows": 45000,
                 "prepare": [{"step": "Normalise", "variable": "x"}, {"step": "Flip", "variable": "x"}]},
    "validation": {"csv": "FOLDER/train.csv", "first_row": -5000}},
  "training": {"network": "main", "dataset": "training", "validation": "validation", "epochs": 2, "batch": 64,
    "optimizer": {"name": "Nesterov", "learning_rate": 0.05, "momentum": 0.9, "weight_decay": 0.0005},
    "schedule": {"name": "Cosine"}, "warmup": {"epochs": 0.2}}
})";

TEST(RealData, SmallNetworkOnCifarJpegsPassesSixtyFivePercentInTwoEpochs) {
  if (!fs::exists(kArchive)) GTEST_SKIP() << "needs " << kArchive;
  const fs::path data = unpacked(), folder = fs::path(GRADLOOM_BINARY_DIR) / "real_data/cifar10-run";
  fs::remove_all(folder);
  fs::create_directories(folder);
  std::string project = kProject;
  for (std::size_t at; (at = project.find("FOLDER")) != std::string::npos;) project.replace(at, 6, data.string());
  writeFileAtomically(folder / "cifar.loom", project);

  const std::string command = "'" LOOM_PROGRAM "' train '" + (folder / "cifar.loom").string() + "' --run '" +
                              (folder / "run").string() + "' > '" + (folder / "out.txt").string() + "' 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0) << readFile(folder / "out.txt");

  double accuracy = 0, samples = 0;
  std::int64_t steps = 0;
  std::string last;
  EventReader reader(RunFolder{folder / "run"}.eventsFile());
  for (auto events = reader.read(); !events.empty(); events = reader.read()) {
    for (const Event& event : events) {
      if (event.kind == "step") ++steps;
      if (event.kind == "validation")
        accuracy = event.body["metrics"]["accuracy"].get<double>(), samples = event.body["samples"].get<double>();
      last = event.kind;
    }
  }
  EXPECT_EQ(last, "finished");
  EXPECT_EQ(steps, 2 * 704);  // 45,000 = 703 x 64 + 8: the last, smaller batch counts
  EXPECT_EQ(samples, 5000);
  EXPECT_GE(accuracy, 0.65);
  RecordProperty("accuracy", std::to_string(accuracy));
}

}  // namespace
}  // namespace loom
