// Curves of 20,000 and of a million points: the first picture, and how quick they move.
#include <QElapsedTimer>
#include <QScrollBar>

#include "tests/bench/runs/made_runs.h"
#include "tests/bench/runs/opened.h"
#include "widgets/chart/line_chart.h"
#include "widgets/chart/x_axis_model.h"

namespace loom::bench {

namespace {

constexpr int kLong = 1000, kLongPoints = 20000, kLongest = 50, kLongestPoints = 1000000, kNoise = 8, kMoves = 100;
constexpr std::size_t kMostDrawn = 100;  // lines, the best

bool allDrawn(const LineChart& chart, std::size_t lines) {
  return chart.lines().size() >= lines && std::all_of(chart.lines().begin(), chart.lines().end(),
                                                      [](const PanelLine& line) { return line.drawn.points > 0; });
}

bool picture(Opened& open, std::size_t lines) {
  return until([&] { return allDrawn(open.page().lossChart(), lines) && allDrawn(open.page().metricChart(), lines); },
               60000);
}

// In from all of it to a thousandth, along it, and out again. Between the frames what was asked for is read.
Longest move(Opened& open) {
  Longest frames;
  LineChart* const charts[] = {&open.page().metricChart(), &open.page().lossChart()};
  XAxisModel& axis = *charts[0]->axis();
  axis.follow();
  open.settle();
  for (int i = 0; i < kMoves; ++i) {
    frames.time([&] {
      const double middle = (axis.visible().low + axis.visible().high) / 2;
      if (i < 25)
        axis.zoom(0.76, middle);
      else if (i < 75)
        axis.pan(axis.visible().span() * (i < 50 ? 0.2 : -0.3));
      else
        axis.zoom(1 / 0.76, middle);
      for (LineChart* each : charts)
        if (each->isVisible()) each->drawNow(), each->repaint();
    });
    forMs(8);
  }
  axis.follow();
  open.settle();
  return frames;
}

}  // namespace

void makeLong(const Part& part) {
  writeProject(part.folder);
  QElapsedTimer clock;
  clock.start();
  double bytes = storeRuns(part.folder, "run",
                           {.runs = part.of(kLong),
                            .points = part.scale < 1 ? part.of(kLongPoints) : kLongPoints,
                            .noise = kNoise,
                            .bestFrom = 0.5,
                            .bestTo = 0.9});
  bytes += storeRuns(part.folder, "longest",
                     {.runs = part.of(kLongest),
                      .points = part.of(kLongestPoints),
                      .noise = kNoise,
                      .measured = 200,
                      .bestFrom = 0.9,
                      .bestTo = 0.99});
  tell("curves in the store", bytes / 1e9, "GB");
  tell("written in", static_cast<double>(clock.elapsed()) / 1000, "s");
}

void measureLong(const Part& part, Theme& theme) {
  Stalls stalls;
  Opened open(part.folder, theme);
  open.openProject(part.folder);
  open.settle();
  const std::size_t all =
      std::min<std::size_t>(kMostDrawn, static_cast<std::size_t>(part.of(kLong) + part.of(kLongest)));
  stalls.take();
  QElapsedTimer clock;
  clock.start();
  open.window.showPage("runs");
  picture(open, all);
  tell("first picture of runs of 20000 and 1000000 points; the file in the system's cache",
       static_cast<double>(clock.elapsed()) / 1000, "s", 2);
  open.settle();
  tell("longest stall until then", stalls.take(), "ms", kStallMs);
  tell("points that the charts stand for", static_cast<double>(open.page().lossChart().shownPoints()) / 1e6, "million");
  tell("a frame of all moved and zoomed", move(open).ms(), "ms", kFrameOfManyMs);
  tell("longest stall of it", stalls.take(), "ms", kStallMs);
  RunRows& rows = open.page().rows();
  open.page().table().setAllChecked(false);
  // Ten of a million points, the newest, and ten of twenty thousand.
  const int longest = part.of(kLongest);
  for (int i = 0; i < 10; ++i)
    for (const int row : {std::min(i, longest - 1), longest + i})
      rows.setData(rows.index(row, RunsModel::shown), Qt::Checked, Qt::CheckStateRole);
  open.settle();
  const std::size_t twenty = open.page().lossChart().lines().size();
  picture(open, twenty);
  stalls.take();
  tell("lines shown", static_cast<double>(twenty), "lines");
  tell("a frame of 20 shown moved and zoomed", move(open).ms(), "ms", kFrameMs);
  tell("longest stall of it", stalls.take(), "ms", kStallMs);
  clock.restart();
  open.page().lossChart().axis()->setUnit(XUnit::epoch);
  open.settle();
  tell("the same over epochs after", static_cast<double>(clock.elapsed()) / 1000, "s", 2);
  tell("a frame of 20 shown over epochs", move(open).ms(), "ms", kFrameMs);
  tell("most memory with them all", memoryMiB("VmHWM:"), "MiB", 1024);
  if (!part.pictures.isEmpty()) open.window.grab().save(part.pictures + "/long.png");
}

}  // namespace loom::bench
