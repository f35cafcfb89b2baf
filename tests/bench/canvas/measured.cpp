#include "tests/bench/canvas/measured.h"

#include <fmt/format.h>
#include <time.h>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QTimer>
#include <chrono>
#include <fstream>

namespace loom::bench {

namespace {
int missedGoals = 0;

double ofThisThread() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

}  // namespace

Took taken(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  const double cpu = ofThisThread();
  work();
  return {std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count(),
          ofThisThread() - cpu};
}

double Measured::middle(std::vector<double> times) {
  if (times.empty()) return 0;
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void print(const std::string& what, const Measured& measured, double goal) {
  const Took median = measured.median(), worst = measured.worst();
  const bool held = median.wall <= goal;
  missedGoals += !held;
  fmt::print("{:<58} {:8.2f} ms  (worst {:7.2f})   cpu {:7.2f} ({:7.2f})   goal {:6.1f} ms   {}\n", what, median.wall,
             worst.wall, median.cpu, worst.cpu, goal,
             held                 ? "held"
             : median.cpu <= goal ? "MISSED by the clock alone"
                                  : "MISSED");
  std::fflush(stdout);
}

int missed() {
  return missedGoals;
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

Took longestStall(const std::function<void()>& work, const std::function<bool()>& done) {
  QElapsedTimer since;
  Took longest;
  double cpu = ofThisThread();
  QTimer heart;
  heart.setInterval(0);
  QObject::connect(&heart, &QTimer::timeout, [&] {
    longest.wall = std::max(longest.wall, static_cast<double>(since.nsecsElapsed()) / 1e6);
    longest.cpu = std::max(longest.cpu, ofThisThread() - cpu);
    since.restart();
    cpu = ofThisThread();
  });
  since.start();
  heart.start();
  work();
  QElapsedTimer limit;
  limit.start();
  while (!done() && limit.elapsed() < 60000) QCoreApplication::processEvents(QEventLoop::AllEvents, 5);
  QCoreApplication::processEvents();
  return longest;
}

}  // namespace loom::bench
