#pragma once
// A bench on which a test plays the trainings of a search.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "engine/search/driver.h"

namespace loom {

// Trains by writing events: `steps` of a hundred with each tick.
class PlayedBench : public TrialBench {
 public:
  explicit PlayedBench(std::filesystem::path runs) : m_runs(std::move(runs)) {}
  std::filesystem::path place(const SearchPlan& plan, int number) override {
    const std::filesystem::path folder = m_runs / (plan.name + "-" + std::to_string(number));
    std::filesystem::create_directories(folder);
    return folder;
  }
  void start(TrialRun& run, bool goesOn) override {
    const int number = run.file().number;
    ++starts[number];
    EXPECT_EQ(goesOn, starts[number] > 1);
    alive[number] = true;
    const RunFolder folder{run.folder()};
    const auto last = lastEvent(folder);
    EventWriter(folder, starts[number])
        .write("started",
               {{"attempt", starts[number]}, {"resumed_from", goesOn ? step[number] : 0}, {"steps_total", 100}});
    folders[number] = folder;
  }
  bool lives(const TrialRun& run) override { return alive[run.file().number]; }
  void stop(const TrialRun& run) override {
    stopped.push_back(run.file().number);
    finish(run.file().number, "stopped");
  }
  std::string lastWords(const TrialRun&) override { return "killed"; }

  void finish(int number, const char* reason) {
    EventWriter(folders[number], starts[number])
        .write("finished", {{"reason", reason}, {"step", step[number]}, {"message", ""}});
    alive[number] = false;
  }
  void tick() {
    for (auto& [number, lives] : alive) {
      if (!lives) continue;
      step[number] += 25;
      const double loss = value ? value(number, step[number]) : 1.0 / number;
      EventWriter(folders[number], starts[number])
          .write("validation",
                 {{"step", step[number]}, {"epoch", 1}, {"loss", numberToJson(loss)}, {"metrics", Json::object()}});
      if (step[number] >= 100) finish(number, "done");
    }
  }
  std::map<int, bool> alive;
  std::map<int, int> starts, step;
  std::map<int, RunFolder> folders;
  std::vector<int> stopped;
  std::function<double(int number, int step)> value;

 private:
  std::filesystem::path m_runs;
};

inline void drive(SearchDriver& driver, PlayedBench& bench, int most = 100000) {
  while (driver.step() && most-- > 0) bench.tick();
}

}  // namespace loom
