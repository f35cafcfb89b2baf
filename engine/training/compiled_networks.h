#pragma once
// Executables by (network, phase, batch, update), made when first asked for and kept: a smaller last batch, validation,
// or a batch that changes costs one compilation and nothing afterwards.
#include <functional>
#include <map>
#include <memory>
#include <tuple>

#include "engine/network/network.h"
#include "engine/passes/passes.h"
#include "engine/program/backend.h"
#include "engine/program/out_of_memory.h"

namespace loom {

class Feed;

enum class Phase {
  training,
  evaluation,
  statistics,  // forwards as in training: batch statistics become those of one batch
};

struct CompileRequest {
  const Network* network = nullptr;  // kept by address: must outlive the cache
  Phase phase = Phase::training;
  std::int64_t batch = 1;
  int update = 0;                                // which update's gradients; tells requests of one network apart
  std::function<bool(const Parameter&)> wanted;  // training: parameters that get a gradient; null = all
  const std::vector<std::vector<std::string>>* buckets =
      nullptr;  // training: gradients that are exchanged with other ranks
  Collectives* collectives = nullptr;
  bool averagesStates = false;  // training: a step has several shards, or ranks, whose running statistics are averaged
  const Feed* feed = nullptr;   // what the inputs come from: its images as bytes where the machine prepares them
  std::int64_t passes = 1;  // of a step, as the settings have it: more of them make a batch that does not fit smaller
};

class CompiledNetworks {
 public:
  CompiledNetworks(Backend& backend, ParameterStore& store, const CompileOptions& options, std::uint64_t seed,
                   BatchStatistics statistics = BatchStatistics::perShard)
      : m_backend(backend), m_store(store), m_options(options), m_seed(seed), m_statistics(statistics) {}

  // The program of a request as it is compiled. Throws Error(badProject).
  Program program(const CompileRequest& request) const;
  // Throws what lowering and the backend throw, with the network's name; where memory does not hold the batch,
  // Error(device) with what was asked, what is free, and the most samples that would fit.
  Executable& get(const CompileRequest& request);
  std::size_t size() const { return m_made.size(); }

 private:
  CompileOptions optionsOf(const CompileRequest& request) const;
  [[noreturn]] void refuse(const CompileRequest& request, const OutOfMemory& error) const;

  using Key = std::tuple<const Network*, Phase, std::int64_t, int>;
  Backend& m_backend;
  ParameterStore& m_store;
  CompileOptions m_options;
  std::uint64_t m_seed;
  BatchStatistics m_statistics;
  std::map<Key, std::unique_ptr<Executable>> m_made;
};

}  // namespace loom
