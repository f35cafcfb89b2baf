#include "engine/comm/rank_group.h"

#include <algorithm>

namespace loom {

CommunicatorGroup::CommunicatorGroup(Communicator& communicator, std::string name, Trace* trace,
                                     std::shared_ptr<StreamRanks> streams)
    : m_communicator(communicator),
      m_name(std::move(name)),
      m_subject(communicator.activity().lasting("group '" + m_name + "'")),
      m_trace(trace),
      m_streams(std::move(streams)) {}

template <class Call>
void CommunicatorGroup::traced(const char* what, std::size_t floats, const Call& call) {
  const auto begin = Trace::Clock::now();
  m_communicator.activity().subject.store(m_subject, std::memory_order_relaxed);
  call();
  if (m_trace)
    m_trace->add(Trace::Lane::communication, what, m_subject, begin, Trace::Clock::now(),
                 static_cast<std::int64_t>(floats * sizeof(float)));
}

void CommunicatorGroup::allGather(std::span<const float> mine, std::span<float> all) {
  traced("all-gather", all.size(), [&] { m_communicator.allGather(std::as_bytes(mine), std::as_writable_bytes(all)); });
}

void CommunicatorGroup::reduceScatter(std::span<const float> data, std::span<float> part) {
  traced("reduce-scatter", data.size(), [&] { m_communicator.reduceScatter(data, part); });
}

void CommunicatorGroup::broadcast(std::span<float> data, int root) {
  traced("broadcast", data.size(), [&] { m_communicator.broadcast(std::as_writable_bytes(data), root); });
}

// The seam has no sum for one rank alone, and libraries make theirs of the same messages: summed for all, kept by one.
void CommunicatorGroup::reduce(std::span<float> data, int root) {
  traced("reduce", data.size(), [&] { m_communicator.allReduce(data); });
  if (rank() != root) std::fill(data.begin(), data.end(), 0.0f);
}

void CommunicatorGroup::send(std::span<const float> data, int to, int bucket) {
  traced("send", data.size(), [&] { m_communicator.send(std::as_bytes(data), to, bucket); });
}

void CommunicatorGroup::receive(std::span<float> data, int from, int bucket) {
  traced("receive", data.size(), [&] { m_communicator.receive(std::as_writable_bytes(data), from, bucket); });
}

}  // namespace loom
