#pragma once
// Small networks, trained by all ranks together and by one alone, in a folder of theirs.
#include <fmt/core.h>

#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/engine/ranks/ranks.h"
#include "tests/engine/training/fixture.h"

namespace loom::on_ranks {

using Tensors = std::map<std::string, std::vector<float>>;

inline int rank() {
  return world().rank();
}
inline int size() {
  return world().size();
}

// One folder for all ranks, made and removed by the first.
class Shared {
 public:
  explicit Shared(const std::string& name) {
    if (rank() == 0) {
      m_own.emplace("ranks-" + name + "-" + std::to_string(size()));
      m_path = m_own->path();
      std::mt19937 random(3);
      std::normal_distribution<double> noise;
      std::string text =
          "x__0,x__1,x__2,x__3,x__4,x__5,x__6,x__7,x__8,x__9,x__10,x__11,x__12,x__13,x__14,x__15,y:label\n";
      for (int row = 0; row < 46; ++row) {
        const int label = static_cast<int>(random() % 3);
        for (int i = 0; i < 16; ++i) text += fmt::format("{:.5f},", (i % 3 == label) + noise(random));
        text += fmt::format("{}\n", label);
      }
      Workshop(Workshop::SharedFolder{m_path}).write("train.csv", text);
      Workshop(Workshop::SharedFolder{m_path}).write("val.csv", text);
    }
    m_path = broadcastText(world(), m_path.string());
  }
  ~Shared() { broadcastText(world(), "all are done"); }
  const std::filesystem::path& path() const { return m_path; }

 private:
  std::optional<TestFolder> m_own;
  std::filesystem::path m_path;
};

inline Workshop workshopOf(const Shared& shared) {
  return Workshop(Workshop::SharedFolder{shared.path()});
}

struct Net {
  const char* name;
  const char* nodes;
  const char* chain;  // from x to the logits
  bool statistics;
  const char* units = nullptr;
};
inline const Net kNets[] = {
    {"perceptron",
     R"({"id": "x", "layer": "Input", "shape": [16]}, {"id": "a", "layer": "Linear", "outputs": 9}, {"id": "b", "layer": "ReLU"},
                      {"id": "c", "layer": "Dropout"})",
     "x a b c", false},
    {"convolution",
     R"({"id": "x", "layer": "Input", "shape": [1, 4, 4]}, {"id": "a", "layer": "Convolution", "channels": 5, "kernel": [3, 3]},
                       {"id": "b", "layer": "BatchNormalization"}, {"id": "c", "layer": "ReLU"}, {"id": "d", "layer": "GlobalAveragePooling"})",
     "x a b c d", true},
    {"images",
     R"({"id": "x", "layer": "Input", "shape": [1, 4, 4]}, {"id": "a", "layer": "MeanSubtraction"},
        {"id": "b", "layer": "ImageAugmentation", "distortion": 0.4, "angle": 10},
        {"id": "c", "layer": "RandomErase", "probability": 0.7, "min_area": 0.2, "patches": 2})",
     "x a b c", true},
    {"lstm",
     R"({"id": "x", "layer": "Input", "shape": [4, 4]}, {"id": "a", "layer": "LSTM", "units": 6, "returns": "last"})",
     "x a", false},
    {"attention",
     R"({"id": "x", "layer": "Input", "shape": [4, 4]}, {"id": "a", "layer": "MultiHeadAttention", "heads": 2}, {"id": "b", "layer": "LayerNormalization"},
                     {"id": "c", "layer": "Flatten"})",
     "x a b c", false},
    {"units",
     R"({"id": "x", "layer": "Input", "shape": [16]}, {"id": "a", "unit": "Dense", "width": 9, "repeat": 2}, {"id": "b", "unit": "Dense"})",
     "x a b", false,
     R"({"Dense": {"arguments": {"width": "=Input[0]/3"}, "nodes": [{"id": "in", "layer": "Input"}, {"id": "fc", "layer": "Linear", "outputs": "=width"},
        {"id": "relu", "layer": "ReLU"}, {"id": "out", "layer": "Output"}], "edges": [["in", "fc"], ["fc", "relu"], ["relu", "out"]]}})"}};

inline Json projectOf(const Net& net, const Json& settings) {
  Json nodes = parseJson("[" + std::string(net.nodes) + R"(, {"id": "fc", "layer": "Linear", "outputs": 3},
      {"id": "y", "layer": "Input", "shape": [1], "type": "label"}, {"id": "loss", "layer": "SoftmaxCrossEntropy"},
      {"id": "accuracy", "layer": "Accuracy"}])",
                         "nodes");
  Json edges = Json::array();
  std::string before;
  for (const char* at = net.chain; *at; ++at) {
    if (*at == ' ') continue;
    if (!before.empty()) edges.push_back({before, std::string(1, *at)});
    before = *at;
  }
  for (const auto& edge : std::vector<std::pair<std::string, std::string>>{
           {before, "fc"}, {"fc", "loss"}, {"y", "loss.target"}, {"fc", "accuracy"}, {"y", "accuracy.target"}})
    edges.push_back({edge.first, edge.second});
  Json training = {{"network", "main"},
                   {"dataset", "training"},
                   {"validation", "validation"},
                   {"epochs", 2},
                   {"batch", 17},
                   {"seed", 5},
                   {"fusion", 0.0005},
                   {"optimizer", {{"name", "Momentum"}, {"learning_rate", 0.1}}}};
  training.update(settings);
  Json project = {{"loom", 1},
                  {"networks", {{"main", {{"nodes", nodes}, {"edges", edges}}}}},
                  {"datasets", {{"training", {{"csv", "train.csv"}}}, {"validation", {{"csv", "val.csv"}}}}},
                  {"training", training}};
  if (net.units) project["units"] = parseJson(net.units, "units");
  return project;
}

// By all ranks together; the first answers what the run left.
struct Outcome {
  Tensors tensors;
  std::vector<double> losses, validation;
};
inline Outcome outcomeOf(const Workshop::Run& run) {
  return {run.tensors(), run.series("step", "loss"), run.series("validation", "loss")};
}
inline Workshop::Run runOnAll(const Shared& shared, const Json& project, const std::string& name, bool resume = false,
                              Backend* backend = nullptr) {
  if (rank() == 0) std::filesystem::create_directories(shared.path() / name);
  return workshopOf(shared).train(project, name,
                                  {.resume = resume, .backend = backend, .changed = resume, .communicator = &world()});
}
inline Outcome onAll(const Shared& shared, const Json& project, const std::string& name, bool resume = false) {
  const Workshop::Run run = runOnAll(shared, project, name, resume);
  return rank() == 0 ? outcomeOf(run) : Outcome{};
}
inline Outcome alone(const Shared& shared, const Json& project, const std::string& name) {
  std::filesystem::create_directories(shared.path() / name);
  return outcomeOf(workshopOf(shared).train(project, name));
}

}  // namespace loom::on_ranks
