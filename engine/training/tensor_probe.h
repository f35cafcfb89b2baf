#pragma once
// What flows along a wire: the tensor of one sample, computed by the network that would run. A network is compiled once
// for what it computes, and run once for a sample and its weights; every further look at it is a copy. One thread.
#include <atomic>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "engine/network/flat_pin.h"
#include "engine/program/tensor_summary.h"
#include "engine/training/project_data.h"

namespace loom {

class Backend;

struct TensorQuestion {
  DrawnPin pin;
  std::filesystem::path
      run;  // folder of the run whose weights are wanted, the best ones or the newest; empty = initial ones
  std::int64_t sample = 0;  // of the dataset, from 0
};

struct TensorAnswer {
  TensorSummary tensor;
  std::string network, pin;  // of the network that runs: "stage1/0/conv_a"
  std::string dataset;
  std::int64_t sample = 0, samples = 0;
  bool trained = false;
  std::int64_t step = 0;                    // of the checkpoint
  std::size_t matched = 0, parameters = 0;  // weights and statistics that the checkpoint has of those that there are
};

struct ProbeWatch {
  const std::atomic<bool>* stop = nullptr;                                         // Error(stopped)
  std::function<void(const std::string& dataset, const CacheProgress&)> progress;  // while a dataset is read first
};

class TensorProbe {
 public:
  explicit TensorProbe(Backend& backend);
  ~TensorProbe();

  // The project that further questions are about. `folder`: where relative paths begin. Throws Error(badProject).
  void setProject(std::string_view text, const std::filesystem::path& folder);
  // Throws Error with place and remedy: a fault of the drawing before the wire, no dataset, a file that is not there.
  TensorAnswer look(const TensorQuestion& question, const ProbeWatch& watch = {});
  int compiled() const { return m_compilations; }  // networks so far
  int runs() const { return m_runs; }

 private:
  struct Compiled;
  struct Data;
  struct Chosen {
    std::string network;  // empty: the drawing by itself
    FlatNetwork flat;
    FlatPin pin;
  };
  Chosen choose(const DrawnPin& drawn) const;
  std::string datasetFor(const std::string& network) const;
  Compiled& compiledFor(const Network& network, bool trained, std::uint64_t seed);
  void load(Compiled& made, const std::filesystem::path& run);
  void run(Compiled& made, const OpenedDataset& opened, std::int64_t sample);

  Backend& m_backend;
  std::filesystem::path m_folder;
  std::unique_ptr<const Project> m_project;
  std::unique_ptr<Data> m_data;
  std::list<std::unique_ptr<Compiled>> m_made;  // the newest first
  const Compiled* m_newest = nullptr;           // whose results stand in the arena that all share
  int m_compilations = 0, m_runs = 0;
};

}  // namespace loom
