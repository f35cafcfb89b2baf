// Runs that come in from their folders while a page is open, and one that goes on beside them.
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QTest>
#include <atomic>
#include <thread>

#include "app/run_scan.h"
#include "engine/base/json.h"
#include "launcher/event_pump.h"
#include "tests/bench/runs/made_runs.h"
#include "tests/bench/runs/opened.h"
#include "widgets/chart/line_chart.h"

namespace loom::bench {

namespace {

constexpr int kComing = 1000, kComingPoints = 500, kLiveSeconds = 10, kStepsASecond = 1000;

int settledRuns(const RunStore& store) {
  int settled = 0;
  store.forEachRun(
      {}, [&](const RunRecord& run) { settled += run.state == RunState::finished || run.state == RunState::stopped; });
  return settled;
}

// Every run by itself and in groups, light and dark, wide and narrow.
void takePictures(Opened& open, Theme& theme, const QString& folder) {
  RunRows& rows = open.page().rows();
  const auto take = [&](const QString& name) {
    QTest::qWait(2500);
    open.settle();
    open.window.grab().save(folder + '/' + name + ".png");
  };
  rows.setGrouped(true);
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
}

std::string stepLine(int step) {
  const double loss = 2.3 / (1 + 0.002 * step) + 0.0005 * (step * 7919 % 100);
  return Json{{"v", 1},
              {"seq", step},
              {"attempt", 1},
              {"time", 1.8e9 + step * 0.001},
              {"kind", "step"},
              {"step", step},
              {"epoch", step / 1000.0},
              {"samples", step * 2},
              {"loss", loss},
              {"metrics", {{"accuracy", 1 - loss / 3}}},
              {"learning_rate", 0.05},
              {"ms", 1.0},
              {"data_ms", 0.1}}
             .dump() +
         '\n';
}

}  // namespace

void measureIncoming(const Part& part, Theme& theme) {
  const QString& folder = part.folder;
  const int runs = part.of(kComing);
  writeProject(folder);
  for (int i = 0; i < runs; ++i)
    writeRun(QString("%1/made/run-%2").arg(folder).arg(i, 5, 10, QChar('0')), i, kComingPoints);
  Stalls stalls;
  Opened open(folder, theme);
  open.openProject(folder);
  open.window.showPage(part.page);
  open.settle();
  stalls.take();
  // The folders are put where the project looks, and looked for.
  QDir().rename(folder + "/made", folder + "/p/runs");
  RunStore& store = open.workspace.store();
  QElapsedTimer clock;
  clock.start();
  const double cpu = cpuMs();
  RunScan scan(open.workspace.launcher(), folder + "/p/runs", open.workspace.document()->path());
  double halfCpu = 0;
  int half = 0, settled = 0;
  until(
      [&] {
        settled = settledRuns(store);
        if (half == 0 && settled >= runs / 2) half = settled, halfCpu = cpuMs() - cpu;
        return settled >= runs;
      },
      300000);
  const auto ms = static_cast<double>(clock.elapsed());
  const double took = cpuMs() - cpu;
  tell("runs that came in", settled, "runs");
  tell("all in", ms / 1000, "s", 15.0 * runs / kComing);
  tell("window's thread for each of the first half", halfCpu / std::max(1, half), "ms", 5);
  tell("window's thread for each of the second half", (took - halfCpu) / std::max(1, settled - half), "ms", 5);
  tell("longest stall while they came in", stalls.take(), "ms", kStallMs);
  open.settle();
  tell("longest stall afterwards", stalls.take(), "ms", kStallMs);
  tell("most memory with them", memoryMiB("VmHWM:"), "MiB");
  if (!part.pictures.isEmpty()) takePictures(open, theme, part.pictures);
}

// Beside the runs that came in one is trained, a thousand steps a second: its log is read as the launcher reads it.
void measureLive(const Part& part, Theme& theme) {
  Stalls stalls;
  Opened open(part.folder, theme);
  open.openProject(part.folder);
  open.window.showPage("runs");
  open.settle();
  RunStore& store = open.workspace.store();
  const QString folder = part.folder + "/p/runs/live";
  writeRun(folder, 3, 10);
  write(folder + "/events.jsonl", Json{{"v", 1},
                                       {"seq", 0},
                                       {"attempt", 1},
                                       {"time", 1.8e9},
                                       {"kind", "started"},
                                       {"steps_total", kLiveSeconds * kStepsASecond},
                                       {"steps_per_epoch", 1000},
                                       {"epochs", 10},
                                       {"samples", 2000},
                                       {"batch", 2},
                                       {"parameters", 6}}
                                          .dump() +
                                      '\n');
  RunRecord live{.id = "live", .folder = folder, .project = open.workspace.document()->path(), .name = "live"};
  live.state = RunState::running;
  const QString id = store.add(live);
  EventPump pump;
  QObject::connect(&pump, &EventPump::batch, &store, [&](const QString& run, const std::shared_ptr<EventBatch>& batch) {
    store.append(run, *batch);
    pump.taken(run);
  });
  pump.follow(id, folder, 0, {});
  open.settle();
  stalls.take();
  std::atomic<bool> written = false;
  std::thread training([&, path = folder.toStdString() + "/events.jsonl"] {
    QFile log(QString::fromStdString(path));
    if (!log.open(QIODevice::WriteOnly | QIODevice::Append)) qFatal("%s cannot be written", path.c_str());
    const auto began = std::chrono::steady_clock::now();
    for (int step = 1; step <= kLiveSeconds * kStepsASecond; ++step) {
      std::this_thread::sleep_until(began + std::chrono::microseconds(1000000 / kStepsASecond) * step);
      log.write(QByteArray::fromStdString(stepLine(step)));
      log.flush();
    }
    written = true;
  });
  const double cpu = cpuMs();
  const int frames = kLiveSeconds * kStepsASecond;
  until([&] { return store.find(id)->step >= frames && written; }, 60000);
  training.join();
  tell("steps of a live run that came", static_cast<double>(store.find(id)->step), "steps");
  tell("window's thread while it goes on", (cpuMs() - cpu) / (10.0 * kLiveSeconds), "%");
  tell("longest stall of a live run of 1000 steps a second", stalls.take(), "ms", kStallMs);
  pump.unfollow(id);
}

}  // namespace loom::bench
