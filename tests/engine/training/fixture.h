#pragma once
// Small projects in a folder of their own, trained in this process.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/training/trained_network.h"
#include "engine/training/trainer.h"
#include "tests/engine/run/folder.h"

namespace loom {

// Three clusters in three dimensions: columns x__0..x__2 and y:label.
std::string clusters(int rows, unsigned seed);
// A perceptron (3 -> 8 -> 3, ReLU, softmax cross entropy, accuracy) over train.csv and, with `validation`, val.csv.
Json perceptron(bool validation = true);

class Workshop {
 public:
  explicit Workshop(const std::string& name, int rows = 50);
  // A folder that is somebody else's to make and remove: of several ranks, say.
  struct SharedFolder {
    std::filesystem::path path;
  };
  explicit Workshop(SharedFolder shared) : m_path(std::move(shared.path)) {}
  const std::filesystem::path& path() const { return m_path; }
  void write(const std::string& file, const std::string& text) const;

  struct Run {
    TrainResult result;
    std::vector<Event> events;
    RunFolder folder;
    std::vector<double> series(const std::string& kind, const std::string& field) const;
    std::vector<Event> of(const std::string& kind) const;
    std::map<std::string, std::vector<float>> tensors() const;  // of the last checkpoint
  };
  struct Ways {
    bool resume = false;
    std::function<void(const Event&, const RunFolder&)> watch;  // after each event
    const std::atomic<bool>* stop = nullptr;
    Backend* backend = nullptr;  // the CPU's by default
    double checkpointSeconds = 1e9, longEpochSeconds = 180;
    bool changed = false;
    Communicator* communicator = nullptr;  // of several ranks: all train into the same run
    ConnectStreams connect = nullptr;      // of their devices
    std::function<double(const StageCost&)> predictedSeconds = nullptr;
  };
  Run train(const Json& project, const std::string& run, const Ways& ways) const;
  Run train(const Json& project, const std::string& run) const { return train(project, run, Ways()); }
  // The same, for a training that must fail: the error, and the events so far in `events`.
  Error failure(const Json& project, const std::string& run, std::vector<Event>* events, const Ways& ways) const;
  Error failure(const Json& project, const std::string& run, std::vector<Event>* events = nullptr) const {
    return failure(project, run, events, Ways());
  }

 private:
  std::optional<TestFolder> m_folder;
  std::filesystem::path m_path;
};

// One backend for all tests of the process: two threads.
Backend& cpuBackend();

// A backend, watched: told of each program that is compiled and of each run of one.
class WatchedBackend final : public Backend {
 public:
  explicit WatchedBackend(Backend& inner = cpuBackend()) : m_watched(inner) {}
  std::function<void(ParameterStore&)> compiled, ran;
  std::vector<DataType> precisions;  // of what was compiled
  std::string name() const override { return m_watched.name(); }
  std::unique_ptr<TensorMemory> makeMemory() override { return m_watched.makeMemory(); }
  std::unique_ptr<Executable> compile(Program program, ParameterStore& store, const CompileOptions& options) override {
    precisions.push_back(options.precision);
    auto made = m_watched.compile(std::move(program), store, options);
    if (compiled) compiled(store);
    if (ran) made = std::make_unique<Watched>(std::move(made), [this, &store] { ran(store); });
    return made;
  }
  BufferPlan::Extent measure(Program program, const CompileOptions& options) override {
    return m_watched.measure(std::move(program), options);
  }

 private:
  Backend& m_watched;
  class Watched final : public Executable {
   public:
    Watched(std::unique_ptr<Executable> inner, std::function<void()> ran)
        : m_inner(std::move(inner)), m_ran(std::move(ran)) {}
    std::span<std::byte> input(std::string_view name) override { return m_inner->input(name); }
    StepNumber run(const StepOptions& options) override {
      const StepNumber step = m_inner->run(options);
      m_ran();
      return step;
    }
    int resultsKept() const override { return m_inner->resultsKept(); }
    double scalarResult(std::string_view name, StepNumber step) const override {
      return m_inner->scalarResult(name, step);
    }
    void readResult(std::string_view name, std::span<float> to, StepNumber step) const override {
      m_inner->readResult(name, to, step);
    }
    void readResult(std::string_view name, std::span<double> to, StepNumber step) const override {
      m_inner->readResult(name, to, step);
    }
    const Program& program() const override { return m_inner->program(); }
    Json describe() const override { return m_inner->describe(); }

   private:
    std::unique_ptr<Executable> m_inner;
    std::function<void()> m_ran;
  };
};

}  // namespace loom
