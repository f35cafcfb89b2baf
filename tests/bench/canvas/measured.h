#pragma once
// Times of one thing done several times, and the line that is printed of it beside its goal.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace loom::bench {

// Of the clock; with GRADLOOM_BENCH_CPU set, of the processor in this thread alone: what a machine that others use can tell.
double milliseconds(const std::function<void()>& work);

class Measured {
 public:
  void add(double time) { m_times.push_back(time); }
  void time(const std::function<void()>& work) { add(milliseconds(work)); }
  double median() const;
  double worst() const { return m_times.empty() ? 0 : *std::max_element(m_times.begin(), m_times.end()); }

 private:
  std::vector<double> m_times;
};

// "pan at 100 %      4.1 ms  (worst 5.0)   goal 16.7 ms   held". Counts the goals that are missed.
void print(const std::string& what, const Measured& measured, double goal);
int missed();
std::string processor();

// The longest time in which the window's event loop did not come round while `work` ran and until `done` says so.
double longestStall(const std::function<void()>& work, const std::function<bool()>& done);

}  // namespace loom::bench
