#include "tests/bench/runs/figures.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QFile>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <utility>

namespace loom::bench {

double cpuMs() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

// The second number of schedstat are the nanoseconds in which it could have run and had no processor.
double ownMs() {
  const double now =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
  QFile file("/proc/thread-self/schedstat");
  if (!file.open(QIODevice::ReadOnly | QIODevice::Unbuffered)) return now;
  const QList<QByteArray> numbers = file.read(200).split(' ');
  return numbers.size() < 2 ? now : now - numbers[1].toDouble() / 1e6;
}

double memoryMiB(const char* field) {
  QFile status("/proc/self/status");
  if (!status.open(QIODevice::ReadOnly)) return 0;
  for (const QByteArray& line : status.readAll().split('\n'))
    if (line.startsWith(field))
      return line.mid(static_cast<int>(qstrlen(field)) + 1).simplified().split(' ')[0].toDouble() / 1024;
  return 0;
}

Stalls::Stalls() {
  m_tick.setTimerType(Qt::PreciseTimer);
  QObject::connect(&m_tick, &QTimer::timeout, &m_tick, [this] {
    const double now = ownMs();
    if (m_last > 0) m_worst = std::max(m_worst, now - m_last);
    m_last = now;
  });
  m_tick.start(1);
}

double Stalls::take() {
  if (m_last > 0) m_worst = std::max(m_worst, ownMs() - m_last);
  m_last = ownMs();
  return std::exchange(m_worst, 0.0);
}

void Longest::time(const std::function<void()>& work) {
  const double began = cpuMs();
  work();
  add(cpuMs() - began);
}

void tell(const QString& what, double value, const char* unit, double goal) {
  std::printf("%s,%.3g,%s,%s\n", qPrintable(what), value, unit, goal == 0 ? "" : value <= goal ? "held" : "missed");
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

void forMs(int ms) {
  until([] { return false; }, ms);
}

}  // namespace loom::bench
