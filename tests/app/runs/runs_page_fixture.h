#pragma once
// What the tests of the Runs page share.
#include <QMenu>
#include <QTest>
#include <QTimer>
#include <cmath>
#include <memory>

#include "app/attempt.h"
#include "app/pages/runs/runs_model.h"
#include "app/pages/runs/runs_page.h"
#include "app/pages/training/training_page.h"
#include "launcher/job.h"
#include "tests/app/menu_and_dialogue.h"
#include "tests/app/opened_window.h"
#include "widgets/table/data_table.h"

namespace loom {

inline constexpr int kPatience = 60000;  // ms: a machine may be busy; a quiet one needs a second

inline constexpr const char* kProject = R"({
  "loom": 1,
  "networks": { "main": {
    "nodes": [ {"id": "x", "layer": "Input", "shape": [2], "at": [0, 0]},
               {"id": "y", "layer": "Input", "shape": [1], "type": "label", "at": [260, 120]},
               {"id": "out", "layer": "Linear", "outputs": 2, "at": [0, 60]},
               {"id": "loss", "layer": "SoftmaxCrossEntropy", "at": [0, 120]},
               {"id": "score", "layer": "Accuracy", "at": [260, 240]} ],
    "edges": [ ["x", "out"], ["out", "loss"], ["y", "loss.target"], ["out", "score"], ["y", "score.target"] ] } },
  "datasets": { "training": {"csv": "train.csv"} },
  "training": { "network": "main", "dataset": "training", "epochs": 2, "batch": 2, "seed": 7,
                "optimizer": {"name": "Momentum", "learning_rate": 0.05} } })";

// The window on a small project, and runs as their folders and the store have them.
class RunsPageFixture : public QObject {
 protected:
  std::unique_ptr<OpenedWindow> m_open;

  Workspace& workspace() { return m_open->workspace(); }
  RunStore& store() { return workspace().store(); }
  RunsPage& page() { return *static_cast<RunsPage*>(m_open->window().page("runs")); }
  TrainingPage& training() { return *static_cast<TrainingPage*>(m_open->window().page("training")); }
  DataTable& table() { return page().table(); }
  void showPage(const QString& id) {
    m_open->window().showPage(id);
    QTRY_VERIFY(m_open->window().settled());
  }
  // A run as its folder and the store have it: `optimizer` as the project gave it.
  QString addRun(const QString& name, const Json& optimizer, const Json& network = {}, int seed = 7) {
    const QString folder = QFileInfo(m_open->write("p/runs/" + name + "/log.txt", "")).absolutePath();
    Json project = Json::parse(kProject);
    project["training"]["optimizer"] = optimizer;
    project["training"]["seed"] = seed;
    if (!network.is_null()) project["networks"]["main"]["nodes"] = network;
    m_open->write("p/runs/" + name + "/run.json",
                  QByteArray::fromStdString(
                      Json{{"run", 1}, {"project", project}, {"settings", {{"epochs", 2}, {"seed", seed}}}}.dump()));
    RunRecord run;
    run.id = run.name = name;
    run.folder = folder;
    run.project = workspace().document()->path();
    run.state = RunState::finished;
    readRunFile(folder, run);
    return store().add(run);
  }
  void addEvents(const QString& id, int steps, std::int64_t first = 1, const std::string& metric = "score",
                 double best = 0.875) {
    std::vector<Event> events;
    std::int64_t sequence = first;
    const auto event = [&](const char* kind, Json body) {
      Event each;
      each.sequence = sequence++;
      each.attempt = 1;
      each.time = 1e9 + static_cast<double>(sequence);
      each.kind = kind;
      body["step"] = sequence;
      each.body = std::move(body);
      events.push_back(each);
    };
    for (int i = 0; i < steps; ++i)
      event("step", {{"loss", 1.0 / static_cast<double>(sequence)},
                     {"epoch", 0.1 * static_cast<double>(sequence)},
                     {"learning_rate", 0.00106000001536}});
    event("validation", {{"loss", 0.5}, {"epoch", 0.1 * static_cast<double>(sequence)}, {"metrics", {{metric, best}}}});
    store().append(id, toBatch(std::move(events)));
  }
  // Steps with what a trainer writes beside the loss.
  void addSteps(const QString& id, int steps, double scale = 1) {
    std::vector<Event> events;
    for (int i = 1; i <= steps; ++i) {
      Event each;
      each.sequence = 5000 + i;
      each.attempt = 1;
      each.time = 1e9 + i;
      each.kind = "step";
      each.body = {{"step", i},
                   {"loss", scale / i},
                   {"epoch", 0.1 * i},
                   {"learning_rate", 0.1},
                   {"gradient_norm", scale * i},
                   {"ms", 20.0 * scale},
                   {"trust_ratio_least", 0.5}};
      events.push_back(each);
    }
    store().append(id, toBatch(std::move(events)));
  }
  // A line of the menu that a click opens.
  void pick(QAbstractButton* button, const QStringList& words) { pickFromMenu(button, words); }
  int row(const QString& id) {
    for (int i = 0; i < table().model()->rowCount(); ++i)
      if (table().model()->index(i, 0).data(RunsModel::idRole) == id) return i;
    return -1;
  }
  QString cell(const QString& id, int column) { return table().model()->index(row(id), column).data().toString(); }
  int columnOf(const QString& title) {
    for (int i = 0; i < table().model()->columnCount(); ++i)
      if (table().model()->headerData(i, Qt::Horizontal).toString() == title) return i;
    return -1;
  }
  void choose(const QString& id) {
    table().setFocus();
    table().setCurrentIndex(table().model()->index(row(id), RunsModel::name));
    table().selectRow(row(id));
  }
  // The right button on a cell, then an entry of the menu that opens.
  void pressInMenu(const QString& id, int column, const QString& entry) {
    QTableView* const part = column <= RunsModel::name ? table().frozenPart() : &table();
    const QPoint at = part->visualRect(table().model()->index(row(id), column)).center();
    bool pressed = false;
    QTest::mouseClick(part->viewport(), Qt::RightButton, {}, at);
    QTimer::singleShot(0, this, [&] {
      auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
      if (!menu) return;
      for (QAction* each : menu->actions())
        if (each->text() == entry) {
          pressed = true;
          menu->setActiveAction(each);
          return QTest::keyClick(menu, Qt::Key_Return);
        }
      menu->close();
    });
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, part->viewport()->mapToGlobal(at));
    QApplication::sendEvent(part->viewport(), &event);
    QVERIFY2(pressed, qPrintable(entry));
  }
  QStringList overridesOf(const QString& id) {
    RunRecord read;
    JobFile job;
    readJobFile(store().find(id)->folder, read, job);
    return job.overrides;
  }
  QStringList seeds() {
    QStringList seeds;
    for (const RunRecord& each : workspace().runs()) seeds << overridesOf(each.id).filter("seed");
    return seeds;
  }
};

}  // namespace loom
