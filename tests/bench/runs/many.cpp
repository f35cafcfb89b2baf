// Five thousand runs with fifty metrics: opened, sorted, filtered, scrolled.
#include <QElapsedTimer>
#include <QScrollBar>

#include "tests/bench/runs/made_runs.h"
#include "tests/bench/runs/opened.h"
#include "widgets/chart/line_chart.h"
#include "widgets/controls/search_field.h"

namespace loom::bench {

namespace {

constexpr int kMany = 5000, kMetrics = 50, kScrolls = 100;

// What is to be painted is painted.
void painted() {
  QCoreApplication::sendPostedEvents();
  QCoreApplication::processEvents();
}

}  // namespace

void makeMany(const Part& part) {
  writeProject(part.folder);
  storeRuns(part.folder, "many",
            {.runs = part.of(kMany), .points = 50, .metrics = kMetrics, .bestFrom = 0.5, .bestTo = 0.99});
}

void measureOpening(const Part& part, Theme& theme) {
  QElapsedTimer clock;
  clock.start();
  Opened open(part.folder, theme);
  painted();
  tell("window with the list of 5000 runs", static_cast<double>(clock.elapsed()) / 1000, "s", 2);
  open.settle();
  Stalls stalls;
  forMs(50);
  stalls.take();
  clock.restart();
  open.openProject(part.folder);
  open.settle();
  tell("longest stall while a project of 5000 runs opens", stalls.take(), "ms", kStallMs);
  clock.restart();
  open.window.showPage("runs");
  painted();
  tell("its Runs page is there", static_cast<double>(clock.elapsed()) / 1000, "s", 0.5);
  until([&] { return open.page().lossChart().shownPoints() > 0; }, 60000);
  tell("its curves are drawn", static_cast<double>(clock.elapsed()) / 1000, "s", 2);
  open.settle();
  tell("longest stall while the page comes", stalls.take(), "ms", kStallMs);
  tell("most memory with 5000 runs", memoryMiB("VmHWM:"), "MiB", 1024);
}

void measureMany(const Part& part, Theme& theme) {
  Opened open(part.folder, theme);
  open.openProject(part.folder);
  open.window.showPage("runs");
  open.settle();
  DataTable& table = open.page().table();
  RunRows& rows = open.page().rows();
  auto* search = open.page().findChild<SearchField*>();
  tell("rows of the table", rows.rowCount(), "rows");
  Longest sorting, filtering, scrolling, ticking, grouping;
  Stalls stalls;
  const auto rest = [&] { open.settle(); };
  for (int i = 0; i < 12; ++i) {
    constexpr int kColumns[] = {
        RunsModel::best,    RunsModel::name, RunsModel::loss, RunsModel::fixedColumns, RunsModel::fixedColumns + 1,
        RunsModel::duration};
    sorting.time([&] {
      table.sortByColumn(kColumns[i % 6], i < 6 ? Qt::DescendingOrder : Qt::AscendingOrder);
      painted();
    });
    rest();
  }
  const double sortStall = stalls.take();
  const QString typed = "learning_rate > 0.1 and not batch in (2, 4)";
  for (int i = 1; i <= typed.size(); ++i)
    filtering.time([&] {
      search->setText(typed.left(i));
      painted();
    });
  rest();
  filtering.time([&] {
    search->clear();
    painted();
  });
  rest();
  const double filterStall = stalls.take();
  QScrollBar* const bar = table.verticalScrollBar();
  for (int i = 0; i < kScrolls; ++i)
    scrolling.time([&] {
      bar->setValue(bar->maximum() * (i * 37 % kScrolls) / kScrolls + i);
      table.viewport()->repaint();
      painted();
    });
  for (const bool on : {false, true}) {
    ticking.time([&] {
      table.setAllChecked(on);
      painted();
    });
    rest();
  }
  for (const bool on : {true, false}) {
    grouping.time([&] {
      rows.setGrouped(on);
      painted();
    });
    rest();
  }
  tell("5000 runs sorted with its paint", sorting.ms(), "ms", kFrameMs);
  tell("a letter of a filter with its paint", filtering.ms(), "ms", kFrameMs);
  tell("a paint of the table scrolled", scrolling.ms(), "ms", kFrameMs);
  tell("all ticks off or on with their paint", ticking.ms(), "ms", kFrameMs);
  tell("groups or none with their paint", grouping.ms(), "ms", kStallMs);
  tell("longest stall of sorting and what is drawn after it", sortStall, "ms", kStallMs);
  tell("longest stall of filtering and what is drawn after it", filterStall, "ms", kStallMs);
  tell("longest stall of ticking and grouping and what is drawn after it", stalls.take(), "ms", kStallMs);
}

}  // namespace loom::bench
