#pragma once
// A small training of several ranks, whatever they compute on, beside that of one rank on the CPU. Every rank calls the
// same; the first one's outcome counts.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/engine/ranks/ranks.h"
#include "tests/engine/training/fixture.h"

namespace loom::ranks {

inline int rank() {
  return world().rank();
}

// One folder for all ranks, made and removed by the first.
class Shared {
 public:
  explicit Shared(const std::string& name) {
    if (rank() == 0) {
      m_own.emplace(fmt::format("cuda-ranks-{}-{}", name, world().size()));
      m_path = m_own->path();
      std::mt19937 random(3);
      std::normal_distribution<double> noise(0, 0.5);
      std::string text;
      for (int i = 0; i < 16; ++i) text += fmt::format("x__{},", i);
      text += "y:label\n";
      for (int row = 0; row < 46; ++row) {
        const int label = static_cast<int>(random() % 3);
        for (int i = 0; i < 16; ++i) text += fmt::format("{:.4f},", (i % 3 == label) + noise(random));
        text += fmt::format("{}\n", label);
      }
      workshop().write("train.csv", text);
    }
    m_path = broadcastText(world(), m_path.string());
  }
  ~Shared() { broadcastText(world(), "all are done"); }
  Workshop workshop() const { return Workshop(Workshop::SharedFolder{m_path}); }
  void make(const std::string& run) const {
    if (rank() == 0) std::filesystem::create_directories(m_path / run);
  }

 private:
  std::optional<TestFolder> m_own;
  std::filesystem::path m_path;
};

// 46 samples in batches of 16: 16, 16, 14, the last of which 4 ranks share unevenly.
inline Json projectOf(const Json& settings) {
  Json project = parseJson(R"({"loom": 1, "networks": {"main": {
      "nodes": [{"id": "x", "layer": "Input", "shape": [1, 4, 4]},
                {"id": "conv", "layer": "Convolution", "channels": 5, "kernel": [3, 3], "bias": false},
                {"id": "bn", "layer": "BatchNormalization"}, {"id": "relu", "layer": "ReLU"}, {"id": "flat", "layer": "Flatten"},
                {"id": "fc", "layer": "Linear", "outputs": 3}, {"id": "y", "layer": "Input", "shape": [1], "type": "label"},
                {"id": "loss", "layer": "SoftmaxCrossEntropy"}],
      "edges": [["x", "conv"], ["conv", "bn"], ["bn", "relu"], ["relu", "flat"], ["flat", "fc"], ["fc", "loss"], ["y", "loss.target"]]}},
    "datasets": {"training": {"csv": "train.csv"}},
    "training": {"network": "main", "dataset": "training", "epochs": 4, "batch": 16, "seed": 5, "fusion": 0.0002,
                 "optimizer": {"name": "Momentum", "learning_rate": 0.05}}})",
                           "ranks");
  project["training"].update(settings);
  return project;
}

struct Outcome {
  std::map<std::string, std::vector<float>> tensors;
  std::vector<double> losses;
};
inline Outcome outcomeOf(const Workshop::Run& run) {
  return {run.tensors(), run.series("step", "loss")};
}

inline Outcome onCpu(const Shared& shared, const Json& project, const std::string& name) {
  shared.make(name);
  return outcomeOf(shared.workshop().train(project, name));
}

inline void expectNear(const Outcome& found, const Outcome& expected) {
  ASSERT_EQ(found.losses.size(), expected.losses.size());
  for (std::size_t k = 0; k < expected.losses.size(); ++k)
    EXPECT_NEAR(found.losses[k], expected.losses[k], 1e-4) << "step " << k;
  for (const auto& [name, values] : expected.tensors)
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(found.tensors.at(name)[i], values[i], 1e-3) << name << "[" << i << "]";
}

}  // namespace loom::ranks
