#pragma once
// What the figures of the Runs page are measured with, and how they are told. Window's thread.
#include <QString>
#include <QTimer>
#include <functional>

namespace loom::bench {

constexpr double kFrameMs = 1000.0 / 60, kFrameOfManyMs = 1000.0 / 20, kStallMs = 50;

// Milliseconds that the processor gave this thread.
double cpuMs();
// A clock that stands while this thread waits for a processor that others have: what it says of a piece of work is its
// own, waiting for disks and locks counted in.
double ownMs();
double memoryMiB(const char* field);  // of this process, "VmRSS:" or "VmHWM:"

// The longest time for which the event loop did not come round, by ownMs().
class Stalls {
 public:
  Stalls();
  double take();  // since the last call

 private:
  QTimer m_tick;
  double m_last = 0, m_worst = 0;
};

// The largest of several times: of 100 frames the one that is seen.
class Longest {
 public:
  void add(double ms) { m_most = ms > m_most ? ms : m_most; }
  void time(const std::function<void()>& work);
  double ms() const { return m_most; }

 private:
  double m_most = 0;
};

// "what,value,unit,held": a line of this process' output. Held is what is not above `goal`; 0 = there is none.
void tell(const QString& what, double value, const char* unit, double goal = 0);
// Events come and go until then; false where it took longer.
bool until(const std::function<bool()>& done, int ms);
void forMs(int ms);

}  // namespace loom::bench
