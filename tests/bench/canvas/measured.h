#pragma once
// Times of one thing done several times, and the line that is printed of it beside its goal. Beside what the clock says
// stands the time that the processor gave this thread: on a machine that others use, that one says what the work costs.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace loom::bench {

struct Took {
  double wall = 0, cpu = 0;  // milliseconds
};
Took taken(const std::function<void()>& work);
inline double milliseconds(const std::function<void()>& work) {
  return taken(work).wall;
}

class Measured {
 public:
  void add(Took took) {
    m_wall.push_back(took.wall);
    m_cpu.push_back(took.cpu);
  }
  void time(const std::function<void()>& work) { add(taken(work)); }
  Took median() const { return {middle(m_wall), middle(m_cpu)}; }
  Took worst() const { return {largest(m_wall), largest(m_cpu)}; }

 private:
  static double middle(std::vector<double> times);
  static double largest(const std::vector<double>& times) {
    return times.empty() ? 0 : *std::max_element(times.begin(), times.end());
  }
  std::vector<double> m_wall, m_cpu;
};

// "pan at 100 %      4.1 ms  (worst 5.0)   cpu 3.9 (4.4)   goal 16.7 ms   held". Counts the goals that are missed by
// the clock.
void print(const std::string& what, const Measured& measured, double goal);
int missed();
std::string processor();

// The longest time in which the window's event loop did not come round while `work` ran and until `done` says so.
Took longestStall(const std::function<void()>& work, const std::function<bool()>& done);

}  // namespace loom::bench
