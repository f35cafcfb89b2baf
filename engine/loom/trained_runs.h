#pragma once
// Trained networks that stay ready: asked again about the same run, nothing is read or compiled anew. What changed on
// the disk meanwhile (a newer checkpoint, another CSV) is read again. One thread.
#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "engine/training/trained_network.h"

namespace loom {

class Backend;

class TrainedRuns {
 public:
  // `stop`: calls off whatever is computed; outlives this.
  explicit TrainedRuns(const std::atomic<bool>& stop) : m_stop(stop) {}
  ~TrainedRuns();
  // Valid until the next call but one. `device`: as makeBackend(). Throws what TrainedNetwork() throws.
  TrainedNetwork& get(const std::filesystem::path& run, Which which, const std::string& device);
  int made() const { return m_count; }  // networks so far

 private:
  struct Kept {
    std::string key;
    std::unique_ptr<TrainedNetwork> network;
  };
  const std::atomic<bool>& m_stop;
  std::map<std::string, std::unique_ptr<Backend>> m_backends;
  std::list<Kept> m_kept;  // the newest first
  int m_count = 0;
};

}  // namespace loom
