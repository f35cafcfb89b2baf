#include "tests/engine/training/fixture.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "engine/base/error.h"
#include "engine/run/safetensors.h"

namespace loom {

std::string clusters(int rows, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise;
  std::string text = "x__0,x__1,x__2,y:label\n";
  for (int row = 0; row < rows; ++row) {
    const int label = static_cast<int>(random() % 3);
    for (int i = 0; i < 3; ++i) text += fmt::format("{:.5f},", 2 * (i == label) + noise(random));
    text += fmt::format("{}\n", label);
  }
  return text;
}

Json perceptron(bool validation) {
  Json project = parseJson(R"({"loom": 1, "networks": {"main": {
      "nodes": [{"id": "x", "layer": "Input", "shape": [3]}, {"id": "fc1", "layer": "Linear", "outputs": 8}, {"id": "relu", "layer": "ReLU"},
                {"id": "fc2", "layer": "Linear", "outputs": 3}, {"id": "y", "layer": "Input", "shape": [1], "type": "label"},
                {"id": "loss", "layer": "SoftmaxCrossEntropy"}, {"id": "accuracy", "layer": "Accuracy"}],
      "edges": [["x", "fc1"], ["fc1", "relu"], ["relu", "fc2"], ["fc2", "loss"], ["y", "loss.target"], ["fc2", "accuracy"], ["y", "accuracy.target"]]}},
    "datasets": {"training": {"csv": "train.csv"}, "validation": {"csv": "val.csv"}},
    "training": {"network": "main", "dataset": "training", "validation": "validation", "epochs": 3, "batch": 16, "seed": 4,
                 "optimizer": {"name": "Momentum", "learning_rate": 0.05}}})",
                           "perceptron");
  if (!validation) project["training"].erase("validation");
  return project;
}

Backend& cpuBackend() {
  static const std::unique_ptr<Backend> backend = makeCpuBackend(2);
  return *backend;
}

Workshop::Workshop(const std::string& name, int rows) : m_folder(std::in_place, name), m_path(m_folder->path()) {
  write("train.csv", clusters(rows, 1));
  write("val.csv", clusters(21, 2));
}

void Workshop::write(const std::string& file, const std::string& text) const {
  std::ofstream(path() / file, std::ios::binary) << text;
}

Workshop::Run Workshop::train(const Json& json, const std::string& run, const Ways& ways) const {
  ReadProject read = readProject(json.dump(), "test.loom");
  for (const Problem& problem : read.problems)
    if (problem.severity == Severity::error) throw Error(ErrorCode::badProject, problem.message);
  Run trained{.folder = {path() / run}};
  trained.result =
      loom::train(ways.backend ? *ways.backend : cpuBackend(), {.project = std::move(read.project),
                                                                .folder = path(),
                                                                .run = trained.folder,
                                                                .resume = ways.resume,
                                                                .changed = ways.changed,
                                                                .observer =
                                                                    [&](const Event& event) {
                                                                      if (ways.watch) ways.watch(event, trained.folder);
                                                                    },
                                                                .stop = ways.stop,
                                                                .checkpointSeconds = ways.checkpointSeconds,
                                                                .longEpochSeconds = ways.longEpochSeconds,
                                                                .communicator = ways.communicator,
                                                                .connect = ways.connect,
                                                                .predictedSeconds = ways.predictedSeconds,
                                                                .predictedFrom = "from a test"});
  trained.events = EventReader(trained.folder.eventsFile()).read();
  return trained;
}

Error Workshop::failure(const Json& project, const std::string& run, std::vector<Event>* events,
                        const Ways& ways) const {
  try {
    train(project, run, ways);
  } catch (const Error& error) {
    if (events) *events = EventReader(path() / run / "events.jsonl").read();
    return error;
  }
  ADD_FAILURE() << "the training did not fail";
  return Error(ErrorCode::internal, "no error");
}

std::vector<Event> Workshop::Run::of(const std::string& kind) const {
  std::vector<Event> chosen;
  for (const Event& event : events)
    if (event.kind == kind) chosen.push_back(event);
  return chosen;
}

std::vector<double> Workshop::Run::series(const std::string& kind, const std::string& field) const {
  std::vector<double> values;
  for (const Event& event : of(kind))
    values.push_back(numberFromJson(event.body.contains(field) ? event.body[field] : event.body["metrics"][field]));
  return values;
}

std::map<std::string, std::vector<float>> Workshop::Run::tensors() const {
  std::map<std::string, std::vector<float>> all;
  const TensorFile file(result.lastCheckpoint);
  for (const TensorFile::Tensor& tensor : file.tensors())
    all[tensor.name] = {tensor.values.begin(), tensor.values.end()};
  return all;
}

}  // namespace loom
