#pragma once
// Runs that stand in the window's store and tell what a test makes them tell.
#include <QFileInfo>
#include <map>

#include "app/workspace.h"
#include "tests/app/opened_window.h"

namespace loom {

inline const char* const kToldProject = R"({
  "loom": 1,
  "networks": { "main": {
    "nodes": [ {"id": "x", "layer": "Input", "shape": [2], "at": [0, 0]},
               {"id": "y", "layer": "Input", "shape": [1], "type": "label", "at": [260, 120]},
               {"id": "out", "layer": "Linear", "outputs": 2, "at": [0, 60]},
               {"id": "loss", "layer": "SoftmaxCrossEntropy", "at": [0, 120]} ],
    "edges": [ ["x", "out"], ["out", "loss"], ["y", "loss.target"] ] } },
  "datasets": { "training": {"csv": "train.csv"} },
  "training": { "network": "main", "dataset": "training", "epochs": 2, "batch": 2,
                "optimizer": {"name": "Momentum", "learning_rate": 0.05} } })";

class ToldRuns {
 public:
  explicit ToldRuns(OpenedWindow& open) : m_open(open) {}

  QString add(const Json& settings = Json::object(), RunState state = RunState::finished) {
    const QString name = QString("run-%1").arg(++m_count);
    RunRecord run;
    run.id = run.name = name;
    run.folder = QFileInfo(m_open.write("p/runs/" + name + "/log.txt", "")).absolutePath();
    run.project = m_open.workspace().document()->path();
    run.state = state;
    run.settings = settings;
    run.created = m_count;
    return m_open.workspace().store().add(run);
  }
  void tell(const QString& id, const std::string& kind, const Json& body) {
    Event event;
    event.sequence = ++m_told[id];
    event.time = 1e9 + static_cast<double>(event.sequence);
    event.kind = kind;
    event.body = body;
    event.body.update({{"v", 1}, {"seq", event.sequence}, {"time", event.time}, {"attempt", 1}, {"kind", kind}});
    std::vector<Event> events{event};
    m_open.workspace().store().append(id, toBatch(std::move(events)));
  }

 private:
  OpenedWindow& m_open;
  int m_count = 0;
  std::map<QString, std::int64_t> m_told;
};

int testLargeBatch(int argc, char** argv);
int testRunWords(int argc, char** argv);

}  // namespace loom
