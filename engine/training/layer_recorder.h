#pragma once
// What a step does to each layer, recorded at some steps (setting `record_layers`; engine/run/layer_record.h): before
// such a step its batch goes through each network once more, at the weights of before it, in a program whose every
// layer leaves its values and the loss's slopes by them; behind the step weights are compared with those of before. So
// steps themselves are the same with and without. Costs about a step more at each step that is recorded, the values of
// all layers in memory, a copy of the weights, and nothing at the others.
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/network/network.h"
#include "engine/run/layer_record.h"
#include "engine/training/feed.h"
#include "engine/training/parallel.h"
#include "engine/training/update_runner.h"

namespace loom {

class LayerRecorder {
 public:
  // Keeps references. Feeds that have not been started take the columns that it reads: before start().
  LayerRecorder(Backend& backend, ParameterStore& store, const TrainSettings& settings, const Parallel& parallel,
                const std::vector<std::unique_ptr<UpdateRunner>>& updates);
  ~LayerRecorder();

  bool due(std::int64_t step) const { return step % m_every == 0; }  // of a step, counted from 0
  // Before each update of a step that is due; its feed's batch is current and no step is under way. All ranks.
  void look(const UpdateRunner& update, std::int64_t step);
  // Behind the step, when its figures were read: the event's fields but "step"; rank 0's. What `look` was called for.
  Json recorded();
  // Why nothing is recorded any more, once; empty: all is well. All ranks learn it with the same look().
  std::string takeFailure() { return std::exchange(m_failure, {}); }

 private:
  struct Part;  // of an update
  void run(Part& part, const UpdateRunner& update, const Shard& shard, std::int64_t size, std::int64_t step);
  void readLayers(Part& part, const Executable& executable);
  void keepWeights(Part& part, const UpdateRunner& update);
  void addNorms(Part& part);
  Backend& m_backend;
  ParameterStore& m_store;
  const TrainSettings& m_settings;
  const Parallel& m_parallel;
  std::int64_t m_every;
  std::vector<std::unique_ptr<Part>> m_parts;  // by update
  std::vector<std::size_t> m_looked;           // updates of this step
  std::chrono::duration<double> m_took{};
  std::string m_failure;
  bool m_ended = false;  // it failed
};

// As the executable of a record: forwards as in training, but running statistics stay as they are; "NODE" is what a
// layer gives, "NODE slope" the gradient of the losses by it. `feed`: images as bytes where the machine prepares them.
Program recordingProgram(const Network& network, std::int64_t batch, std::uint64_t seed, const Feed* feed = nullptr);
// The part of a network that leads to its losses.
Network trainedPart(const Network& network);

}  // namespace loom
