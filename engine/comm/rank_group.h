#pragma once
// A group of ranks for the operations of a program, over a communicator.
#include "engine/comm/communicator.h"
#include "engine/program/collectives.h"
#include "engine/program/stream_ranks.h"
#include "engine/program/trace.h"

namespace loom {

class CommunicatorGroup final : public RankGroup {
 public:
  // `communicator`, which nobody else may use meanwhile, and `trace` must outlive it. `name` is what the supervisor and
  // the trace call it.
  // `streams`: the same ranks for their devices' streams, if they have some.
  CommunicatorGroup(Communicator& communicator, std::string name, Trace* trace = nullptr,
                    std::shared_ptr<StreamRanks> streams = nullptr);

  int rank() const override { return m_communicator.rank(); }
  int ranks() const override { return m_communicator.size(); }
  void allGather(std::span<const float> mine, std::span<float> all) override;
  void reduceScatter(std::span<const float> data, std::span<float> part) override;
  void broadcast(std::span<float> data, int root) override;
  void reduce(std::span<float> data, int root) override;
  void send(std::span<const float> data, int to, int bucket) override;
  void receive(std::span<float> data, int from, int bucket) override;
  std::shared_ptr<StreamRanks> onStreams() override { return m_streams; }
  const std::string& name() const { return m_name; }

 private:
  template <class Call>
  void traced(const char* what, std::size_t floats, const Call& call);

  Communicator& m_communicator;
  std::string m_name;
  const char* m_subject;  // "group 'data'", lasting
  Trace* m_trace;
  std::shared_ptr<StreamRanks> m_streams;
};

}  // namespace loom
