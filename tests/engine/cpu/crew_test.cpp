#include "engine/cpu/crew.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace loom {
namespace {

using cpu::Crew;

// Jobs of a crew on a machine that is told, for a number of threads, how long a job takes, to an earlier one of 10 ms,
// and how many threads wait for a core.
class Machine {
 public:
  struct At {
    double time;
    int waiting;
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
        if (m_crew.add(took, m_earlier)) m_crew.decide(at.waiting);
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
  return {0.62 / threads, 0};
}
// As measured beside a build on two cores.
Machine::At besideABuild(int threads) {
  return threads == 2 ? Machine::At{1.35, 1} : Machine::At{0.95, 0};
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

// Whenever that is: in the midst of a trial, or when trials are far between.
TEST(Crew, comesBackWithinSecondsWhenTheOthersAreGone) {
  int late = 0;
  for (int tenths = 20; tenths < 1200; tenths += 7) {
    Machine machine(2);
    machine.run(0.1 * tenths, besideABuild, 1);
    machine.run(2, quiet, 2, 0.02);
    late += machine.size() == 1 ? 1 : 0;
    machine.run(2.5, quiet, 2, 0.02);
    EXPECT_EQ(machine.size(), 2) << tenths;
    EXPECT_EQ(machine.run(100, quiet, 2), 1.0) << tenths;
  }
  EXPECT_LT(late, 25) << "of 169";
}

TEST(Crew, triesSeldomWhereAllOfThemAreFasterThoughTheyWait) {
  Machine machine(2);
  const auto busy = [](int threads) { return threads == 2 ? Machine::At{1.0, 1} : Machine::At{1.5, 0}; };
  EXPECT_GT(machine.run(300, busy, 2), 0.95);
}

TEST(Crew, findsTheBestOfManySizes) {
  const auto best = [](int at) {
    return [at](int threads) {
      const double off = std::log2(static_cast<double>(threads) / at);
      return Machine::At{1 + 0.4 * std::abs(off), threads - 1};
    };
  };
  for (int size : {16, 4, 1}) {
    Machine machine(16);
    EXPECT_GT(machine.run(200, best(size), size), 0.7) << size;
  }
  Machine machine(6);  // 6, 3, 1, 2, 4: whatever is tried stays between 1 and all of them
  EXPECT_GT(machine.run(200, best(3), 3), 0.5);
}

TEST(Crew, leavesOutAsManyAsWait) {
  const auto besideThree = [](int threads) {
    return threads > 13 ? Machine::At{2.0, threads - 13} : Machine::At{13.0 / threads, 0};
  };
  Machine machine(16);
  EXPECT_GT(machine.run(200, besideThree, 13), 0.8);
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

// Windows of a quarter of a second each.
void windows(Crew& crew, int count, double time, int waiting) {
  for (int window = 0; window < count; ++window) {
    ASSERT_TRUE(crew.add(0.25, 0.25 / time));
    crew.decide(waiting);
  }
}

TEST(Crew, tryingWithFewerBeginsWhenTheSystemHasMovedTheOthers) {
  Crew crew(2);
  windows(crew, 4, 1.35, 1);
  ASSERT_EQ(crew.size(), 1);
  windows(crew, 2, 1.8, 0);
  windows(crew, 2, 0.95, 0);
  windows(crew, 3, 0.95, 0);
  EXPECT_EQ(crew.size(), 1);
}

TEST(Crew, triesNothingWithALoadThatHasJustEnded) {
  Crew crew(2);
  windows(crew, 3, 1.35, 1);
  windows(crew, 20, 0.3, 0);
  windows(crew, 3, 1.35, 1);
  windows(crew, 1, 0.3, 0);
  EXPECT_EQ(crew.size(), 2);
}

TEST(Crew, goesOnAtOnceTheWayThatWins) {
  Crew crew(8);
  for (int size : {4, 2, 1}) {
    windows(crew, 4, size, 2 * size - 1);
    EXPECT_EQ(crew.size(), size);
    windows(crew, 4, 0.5 * size, size - 1);
    EXPECT_EQ(crew.size(), size);
  }
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
