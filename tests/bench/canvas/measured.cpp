#include "tests/bench/canvas/measured.h"

#include <time.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QTimer>

#include <fmt/format.h>

namespace loom::bench {

namespace {
int missedGoals = 0;
}

double milliseconds(const std::function<void()>& work) {
  static const bool own = std::getenv("GRADLOOM_BENCH_CPU") != nullptr;
  const auto now = [] {
    if (!own) return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
  };
  const double begin = now();
  work();
  return now() - begin;
}

double Measured::median() const {
  if (m_times.empty()) return 0;
  std::vector<double> sorted = m_times;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

void print(const std::string& what, const Measured& measured, double goal) {
  const bool held = measured.median() <= goal;
  missedGoals += !held;
  fmt::print("{:<66} {:8.2f} ms  (worst {:8.2f})   goal {:7.1f} ms   {}\n", what, measured.median(), measured.worst(), goal, held ? "held" : "MISSED");
  std::fflush(stdout);
}

int missed() { return missedGoals; }

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

double longestStall(const std::function<void()>& work, const std::function<bool()>& done) {
  QElapsedTimer since;
  double longest = 0;
  QTimer heart;
  heart.setInterval(0);
  QObject::connect(&heart, &QTimer::timeout, [&] {
    longest = std::max(longest, static_cast<double>(since.nsecsElapsed()) / 1e6);
    since.restart();
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
