// Thousands of runs on the Runs page: how fast they come in from their folders while the page is open, what one more
// costs the window's thread, how long the page then takes to open, and the memory. Makes the folders itself; prints
// CSV.
//
//   runs_bench [--runs 1000] [--points 500] [--page runs|start]
#include <QApplication>
#include <QCommandLineParser>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <cstdio>
#include <ctime>
#include <string>

#include "app/main_window.h"
#include "app/pages/runs/run_rows.h"
#include "app/pages/runs/runs_model.h"
#include "app/pages/runs/runs_page.h"
#include "app/preferences.h"
#include "app/run_scan.h"
#include "engine/base/json.h"
#include "widgets/chart/line_chart.h"
#include "widgets/controls/search_field.h"
#include "widgets/table/data_table.h"
#include "widgets/theme/theme.h"

using namespace loom;

namespace {

const char* const kProject = R"({"loom": 1, "networks": {"main": {
  "nodes": [{"id": "x", "layer": "Input", "shape": [2]}, {"id": "y", "layer": "Input", "shape": [1], "type": "label"},
            {"id": "out", "layer": "Linear", "outputs": 2}, {"id": "loss", "layer": "SoftmaxCrossEntropy"},
            {"id": "accuracy", "layer": "Accuracy"}],
  "edges": [["x", "out"], ["out", "loss"], ["y", "loss.target"], ["out", "accuracy"], ["y", "accuracy.target"]]}},
  "datasets": {"training": {"csv": "train.csv"}},
  "training": {"network": "main", "dataset": "training", "epochs": 10, "batch": 2, "seed": 1,
               "optimizer": {"name": "Momentum", "learning_rate": 0.05}}})";

double cpuMs() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

double memoryMiB(const char* field) {
  QFile status("/proc/self/status");
  if (!status.open(QIODevice::ReadOnly)) return 0;
  for (const QByteArray& line : status.readAll().split('\n'))
    if (line.startsWith(field))
      return line.mid(static_cast<int>(qstrlen(field)) + 1).simplified().split(' ')[0].toDouble() / 1024;
  return 0;
}

void write(const QString& path, const std::string& text) {
  QDir().mkpath(QFileInfo(path).absolutePath());
  QFile file(path);
  if (!file.open(QIODevice::WriteOnly) || file.write(text.data(), static_cast<qint64>(text.size())) < 0)
    qFatal("%s cannot be written", qPrintable(path));
}

// Four seeds of each pair of rate and batch; a run in 40 stops early.
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
    if (step % (points / 10) == 0)
      event("validation", step,
            {{"step", step},
             {"epoch", epoch},
             {"loss", loss},
             {"metrics", {{"accuracy", 1 - loss / 3 - 0.0001 * (number % 97)}}}});
  }
  event("finished", last, {{"reason", stops ? "stopped" : "done"}, {"step", last}});
  write(folder + "/events.jsonl", log);
}

// The longest piece of work that the window's thread did without looking at events, by the time that the processor gave
// it: what else the machine does is no stall of ours.
class Stalls {
 public:
  Stalls() {
    m_tick.setTimerType(Qt::PreciseTimer);
    QObject::connect(&m_tick, &QTimer::timeout, &m_tick, [this] {
      const double now = cpuMs();
      if (m_last > 0) m_worst = std::max(m_worst, now - m_last);
      m_last = now;
    });
    m_tick.start(1);
  }
  double take() {
    m_last = 0;
    return std::exchange(m_worst, 0.0);
  }

 private:
  QTimer m_tick;
  double m_last = 0, m_worst = 0;
};

void print(const char* what, double value, const char* unit, double goal = 0) {
  std::printf("%s,%.3g,%s,%s\n", what, value, unit, goal == 0 ? "" : value <= goal ? "held" : "missed");
  std::fflush(stdout);
}

bool until(const std::function<bool()>& done, int ms) {
  QElapsedTimer clock;
  clock.start();
  while (!done()) {
    if (clock.elapsed() > ms) return false;
    QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents | QEventLoop::AllEvents, 50);
  }
  return true;
}

struct Opened {
  Preferences preferences;
  Workspace workspace;
  MainWindow window;
  Opened(const QString& folder, Theme& theme)
      : preferences(folder + "/gradloom.ini"),
        workspace(WorkspaceOptions{.dataFolder = folder + "/data", .program = "/bin/true", .line = {}}, theme,
                  preferences),
        window(workspace) {
    window.resize(1440, 900);
    window.show();
  }
  RunsPage& page() { return *static_cast<RunsPage*>(window.page("runs")); }
};

// Every run by itself and in groups, light and dark, wide and narrow.
void takePictures(Opened& open, Theme& theme, const QString& folder) {
  RunRows& rows = open.page().rows();
  const auto take = [&](const QString& name) {
    QTest::qWait(2500);
    until([&] { return open.window.settled(); }, 20000);
    open.window.grab().save(folder + '/' + name + ".png");
  };
  rows.setOpen(rows.index(1, 0).data(RunRows::groupRole).toString(), true);
  rows.setOpen(rows.index(0, 0).data(RunRows::groupRole).toString(), true);
  // The first groups alone are drawn.
  open.page().table().setAllChecked(false);
  for (int row = 0; row < std::min(rows.rowCount(), 18); ++row)
    if (rows.index(row, 0).data(RunRows::groupRole).isValid())
      rows.setData(rows.index(row, RunsModel::shown), Qt::Checked, Qt::CheckStateRole);
  take("groups");
  theme.setMode(ThemeMode::dark);
  take("groups-dark");
  open.window.resize(1024, 700);
  take("groups-dark-1024");
  theme.setMode(ThemeMode::light);
  take("groups-1024");
  open.window.resize(1440, 900);
  open.page().table().setAllChecked(true);
  rows.setGrouped(false);
  take("all");
  rows.setGrouped(true);
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QCommandLineParser line;
  line.addOptions({{"runs", "Runs that come in.", "n", "1000"},
                   {"points", "Steps of each.", "n", "500"},
                   {"page", "Page that is open meanwhile.", "id", "runs"},
                   {"pictures", "Also takes pictures into it.", "folder"}});
  line.process(application);
  const int runs = line.value("runs").toInt(), points = line.value("points").toInt();
  QTemporaryDir place;
  const QString folder = place.path();
  write(folder + "/p/project.loom", kProject);
  write(folder + "/p/train.csv", "x__0,x__1,y:label\n1,0,0\n0,1,1\n");
  for (int i = 0; i < runs; ++i) writeRun(QString("%1/made/run-%2").arg(folder).arg(i, 5, 10, QChar('0')), i, points);
  Theme theme(application, ThemeOptions{.mode = ThemeMode::light, .reducedMotion = true});
  Stalls stalls;
  std::printf("what,value,unit,goal\n");
  {
    Opened open(folder, theme);
    open.window.openProject(folder + "/p/project.loom");
    if (!until([&] { return open.workspace.document() != nullptr; }, 10000)) return 1;
    open.window.showPage(line.value("page"));
    until([&] { return open.window.settled(); }, 5000);
    stalls.take();
    // The folders are put where the project looks, and the project is opened: its scan finds them.
    QDir().rename(folder + "/made", folder + "/p/runs");
    RunStore& store = open.workspace.store();
    Launcher& launcher = open.workspace.launcher();
    int settled = 0;
    const auto count = [&] {
      settled = 0;
      store.forEachRun({}, [&](const RunRecord& run) {
        settled += run.state == RunState::finished || run.state == RunState::stopped;
      });
      return settled;
    };
    QElapsedTimer clock;
    clock.start();
    const double cpu = cpuMs();
    RunScan scan(launcher, folder + "/p/runs", open.workspace.document()->path());
    double halfCpu = 0, halfMs = 0;
    int half = 0;
    until(
        [&] {
          if (half == 0 && count() >= runs / 2)
            half = settled, halfCpu = cpuMs() - cpu, halfMs = static_cast<double>(clock.elapsed());
          return (half > 0 && count() >= runs);
        },
        300000);
    const auto ms = static_cast<double>(clock.elapsed());
    const double took = cpuMs() - cpu;
    print("runs that came in", settled, "runs");
    print("all in", ms / 1000, "s", 15.0 * runs / 1000);
    print("window's thread for each of the first half", half > 0 ? halfCpu / half : 0, "ms", 5);
    print("window's thread for each of the second half",
          half > 0 && settled > half ? (took - halfCpu) / (settled - half) : 0, "ms", 5);
    print("longest stall while they came in", stalls.take(), "ms", 50);
    clock.restart();
    until([&] { return open.window.settled(); }, 60000);
    print("settled after", static_cast<double>(clock.elapsed()) / 1000, "s");
    print("memory", memoryMiB("VmRSS:"), "MiB");
    print("longest stall afterwards", stalls.take(), "ms");
    open.window.showPage("runs");
    // One run that writes on, beside all others.
    const QString live = store.runs().front().id;
    store.setState(live, RunState::running);
    QTest::qWait(3000);
    stalls.take();
    const double before = cpuMs();
    constexpr int kEvents = 100;
    for (int i = 0; i < kEvents; ++i) {
      Event event;
      event.sequence = 100000 + i;
      event.attempt = 1;
      event.time = 1.8e9 + i;
      event.kind = "step";
      event.body = {{"step", points + 1 + i}, {"epoch", 10.0}, {"loss", 0.1}};
      store.append(live, toBatch({event}));
    }
    print("an event of a live run", (cpuMs() - before) / kEvents, "ms", 5);
    QTest::qWait(2000);
    print("longest stall of a live run", stalls.take(), "ms", 50);
    if (line.value("page") == "runs") {
      auto* search = open.page().findChild<SearchField*>();
      const auto timed = [&](const char* what, const std::function<void()>& work, double goal) {
        const double began = cpuMs();
        work();
        QCoreApplication::processEvents();
        print(what, cpuMs() - began, "ms", goal);
      };
      timed(
          "a filter", [&] { search->setText("learning_rate > 0.1 and not batch in (2, 4)"); }, 50);
      timed(
          "no filter", [&] { search->clear(); }, 50);
      timed(
          "sorted by best", [&] { open.page().table().sortByColumn(RunsModel::best, Qt::DescendingOrder); }, 50);
      timed(
          "groups", [&] { open.page().rows().setGrouped(true); }, 50);
      if (line.isSet("pictures")) takePictures(open, theme, line.value("pictures"));
      timed(
          "all ticks off", [&] { open.page().table().setAllChecked(false); }, 50);
      timed(
          "all ticks on", [&] { open.page().table().setAllChecked(true); }, 50);
      timed(
          "no groups", [&] { open.page().rows().setGrouped(false); }, 50);
      QTest::qWait(1500);
      timed(
          "a paint of the table", [&] { open.page().table().viewport()->grab(); }, 16.7);
      timed(
          "a frame of the accuracy", [&] { open.page().metricChart().drawNow(); }, 50);
      timed(
          "a frame of the loss", [&] { open.page().lossChart().drawNow(); }, 50);
    }
  }
  {
    Opened open(folder, theme);
    open.window.openProject(folder + "/p/project.loom");
    if (!until([&] { return open.workspace.document() != nullptr; }, 30000)) return 1;
    stalls.take();
    QElapsedTimer clock;
    clock.start();
    open.window.showPage("runs");
    QCoreApplication::processEvents();
    print("page with all runs is there", static_cast<double>(clock.elapsed()) / 1000, "s", 1);
    until([&] { return open.window.settled() && open.page().lossChart().shownPoints() > 0; }, 60000);
    QTest::qWait(100);
    until([&] { return open.window.settled(); }, 60000);
    print("and has settled", static_cast<double>(clock.elapsed()) / 1000, "s", 2);
    QTest::qWait(1000);
    print("longest stall of it", stalls.take(), "ms", 50);
    print("memory", memoryMiB("VmRSS:"), "MiB");
  }
  return 0;
}
