#include "tests/bench/runs/made_runs.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include "engine/base/json.h"

namespace loom::bench {

const char* const kProject = R"({"loom": 1, "networks": {"main": {
  "nodes": [{"id": "x", "layer": "Input", "shape": [2]}, {"id": "y", "layer": "Input", "shape": [1], "type": "label"},
            {"id": "out", "layer": "Linear", "outputs": 2}, {"id": "loss", "layer": "SoftmaxCrossEntropy"},
            {"id": "accuracy", "layer": "Accuracy"}],
  "edges": [["x", "out"], ["out", "loss"], ["y", "loss.target"], ["out", "accuracy"], ["y", "accuracy.target"]]}},
  "datasets": {"training": {"csv": "train.csv"}},
  "training": {"network": "main", "dataset": "training", "epochs": 10, "batch": 2, "seed": 1,
               "optimizer": {"name": "Momentum", "learning_rate": 0.05}}})";

void write(const QString& path, const std::string& text) {
  QDir().mkpath(QFileInfo(path).absolutePath());
  QFile file(path);
  if (!file.open(QIODevice::WriteOnly) || file.write(text.data(), static_cast<qint64>(text.size())) < 0)
    qFatal("%s cannot be written", qPrintable(path));
}

void writeProject(const QString& folder) {
  write(folder + "/p/project.loom", kProject);
  write(folder + "/p/train.csv", "x__0,x__1,y:label\n1,0,0\n0,1,1\n");
}

void writeRun(const QString& folder, int number, int points) {
  Json project = Json::parse(kProject);
  Json& training = project["training"];
  training["seed"] = number % 4 + 1;
  training["batch"] = 2 << (number / 4 % 5);
  training["optimizer"]["learning_rate"] = 0.01 * (1 + number / 20);
  write(folder + "/run.json",
        Json{{"run", 1}, {"project", project}, {"settings", {{"epochs", 10}, {"seed", number % 4 + 1}}}}.dump());
  const bool stops = number % 40 == 39;
  const int last = stops ? points / 2 : points;
  std::string log;
  int sequence = 0;
  const auto event = [&](const char* kind, int step, Json body) {
    Json line{
        {"v", 1}, {"seq", sequence++}, {"attempt", 1}, {"time", 1.7e9 + number * 60 + step * 0.01}, {"kind", kind}};
    line.update(body);
    log += line.dump() + '\n';
  };
  event("started", 0,
        {{"steps_total", points},
         {"steps_per_epoch", points / 10},
         {"epochs", 10},
         {"samples", 100},
         {"batch", 2},
         {"parameters", 6}});
  for (int step = 1; step <= last; ++step) {
    const double epoch = 10.0 * step / points,
                 loss = 2.3 / (1 + 0.02 * step) + 0.05 * ((step * 7919 + number * 31) % 100) / 100;
    event("step", step,
          {{"step", step},
           {"epoch", epoch},
           {"samples", step * 2},
           {"loss", loss},
           {"metrics", {{"accuracy", 1 - loss / 3}}},
           {"learning_rate", 0.05},
           {"ms", 1.0},
           {"data_ms", 0.1}});
    if (step % std::max(1, points / 10) == 0)
      event("validation", step,
            {{"step", step},
             {"epoch", epoch},
             {"loss", loss},
             {"metrics", {{"accuracy", 1 - loss / 3 - 0.0001 * (number % 97)}}}});
  }
  event("finished", last, {{"reason", stops ? "stopped" : "done"}, {"step", last}});
  write(folder + "/events.jsonl", log);
}

}  // namespace loom::bench
