#pragma once
// What verbs about a trained run have in common: which run and which samples are meant, the network that is asked, and
// where the answer is said.
#include <optional>
#include <string>
#include <string_view>

#include "engine/loom/trained_runs.h"
#include "engine/loom/verbs.h"

namespace loom {

struct RunArguments {
  std::string run, dataset, part, data, device = "auto", which = "best";
  bool json = false;

  void declare(CLI::App& verb);  // RUN, --checkpoint, --device
  // --dataset, --part, --data, of which one may be given. `data`: what the last one is for.
  void declareSamples(CLI::App& verb, const char* data);
  // The dataset that --part or --dataset names; empty = the usual one.
  std::string datasetOf(const TrainedNetwork& trained) const;
};

class Desk {
 public:
  explicit Desk(Session& session) : m_session(session) {}
  TrainedNetwork& network(const RunArguments& given, const std::string& run);
  void say(std::string_view text);

 private:
  Session& m_session;
  std::optional<TrainedRuns> m_own;  // where nobody keeps them
};

// "3 98.20 %, 8 1.10 %, 5 0.40 %", or the numbers themselves.
std::string saidOf(const PredictedOutput& output, const std::vector<float>& values, std::size_t most);

}  // namespace loom
