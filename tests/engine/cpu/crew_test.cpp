#include "engine/cpu/crew.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace loom {
namespace {

using cpu::Crew;

// Jobs of a crew on a machine that is told, for a number of threads, how long a job takes, to an earlier one of 10 ms,
// and how long threads wait for a core.
class Machine {
 public:
  struct At {
    double time, waited;
  };
  using Model = std::function<At(int)>;

  explicit Machine(int threads, double earlier = 0.01) : m_crew(threads), m_earlier(earlier) {}

  // For so many seconds; answers the share of them with `size` threads. Times scatter by `noise` to either side.
  double run(double seconds, const Model& model, int size, double noise = 0.2) {
    double all = 0, with = 0;
    while (all < seconds) {
      // One draw for some jobs: what disturbs them lasts for longer than a job.
      const double factor = 1 + noise * std::uniform_real_distribution(-1.0, 1.0)(m_random);
      for (int job = 0; job < 5 && all < seconds; ++job) {
        const At at = model(m_crew.size());
        const double took = m_earlier * at.time * factor;
        all += took;
        if (m_crew.size() == size) with += took;
        if (m_crew.add(took, m_earlier)) m_crew.decide(at.waited);
      }
    }
    return with / all;
  }
  int size() const { return m_crew.size(); }

 private:
  Crew m_crew;
  double m_earlier;
  std::mt19937 m_random{1};
};

Machine::At quiet(int threads) {
  return {0.7 / threads, threads > 1 ? 0.01 : 0.0};
}
// As measured beside a build on two cores.
Machine::At besideABuild(int threads) {
  return threads == 2 ? Machine::At{1.35, 0.6} : Machine::At{0.95, 0.0};
}

TEST(Crew, staysTogetherOnAQuietMachine) {
  for (int threads : {1, 2, 8, 64}) {
    Machine machine(threads);
    EXPECT_EQ(machine.run(300, quiet, threads, 0.6), 1.0) << threads;
  }
}

TEST(Crew, isSmallerWhereThreadsThatWaitForCoresGetLessDone) {
  Machine machine(2);
  EXPECT_GT(machine.run(120, besideABuild, 1), 0.8);
}

// Whenever that is: more threads are tried every 12 seconds by then.
TEST(Crew, comesBackWithinSecondsWhenTheOthersAreGone) {
  for (int seconds = 100; seconds < 112; ++seconds) {
    Machine machine(2);
    machine.run(seconds, besideABuild, 1);
    machine.run(2.5, quiet, 2, 0.02);
    EXPECT_EQ(machine.size(), 2) << seconds;
    EXPECT_EQ(machine.run(100, quiet, 2), 1.0);
  }
}

TEST(Crew, triesSeldomWhereAllOfThemAreFasterThoughTheyWait) {
  Machine machine(2);
  const auto busy = [](int threads) { return threads == 2 ? Machine::At{1.0, 0.3} : Machine::At{1.5, 0.0}; };
  EXPECT_GT(machine.run(120, busy, 2), 0.85);
}

TEST(Crew, findsTheBestOfManySizes) {
  const auto best = [](int at) {
    return [at](int threads) {
      const double off = std::log2(static_cast<double>(threads) / at);
      return Machine::At{1 + 0.4 * std::abs(off), threads > 1 ? 0.4 : 0.0};
    };
  };
  for (int size : {16, 4, 1}) {
    Machine machine(16);
    EXPECT_GT(machine.run(200, best(size), size), 0.7) << size;
  }
  Machine machine(6);  // 6, 3, 1, 2, 4: whatever is tried stays between 1 and all of them
  EXPECT_GT(machine.run(200, best(3), 3), 0.5);
}

TEST(Crew, asksForADecisionEveryQuarterOfASecondOrAfterALongJob) {
  Crew crew(2);
  for (int job = 0; job < 24; ++job) EXPECT_FALSE(crew.add(0.01, 0.01));
  EXPECT_TRUE(crew.add(0.0101, 0.01));
  crew.decide(0);
  EXPECT_TRUE(crew.add(2.0, 2.0));
  EXPECT_EQ(crew.seconds(), 2.0);
  crew.decide(0);
  EXPECT_EQ(crew.seconds(), 0.0);
  Crew alone(1);
  EXPECT_FALSE(alone.add(100.0, 100.0));
}

// Of two seconds each, as ResNet-50's.
TEST(Crew, takesNoMoreThanSomeLongJobsToDecide) {
  Machine machine(2, 2.0);
  EXPECT_GT(machine.run(2.0 * 60, besideABuild, 1, 0.05), 0.75);
  machine.run(2.0 * 8, quiet, 2, 0.05);
  EXPECT_EQ(machine.size(), 2);
}

}  // namespace
}  // namespace loom
