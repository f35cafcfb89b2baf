#include "engine/cuda/stage_queue.h"

#include <algorithm>

#include "engine/program/collectives.h"

namespace loom::cuda {
namespace {

using Kind = RankExchange::Kind;

const CollectiveCall& exchangeOf(const Stage& stage) {
  return std::get<CollectiveCall>(stage.call);
}

// The bytes that a rank gives and gets.
struct Sides {
  std::size_t sent = 0, received = 0;
};
Sides sidesOf(const RankExchange& what, int ranks) {
  const std::size_t part = what.parts[0].bytes, all = part * static_cast<std::size_t>(ranks);
  switch (what.kind) {
    case Kind::allGather:
      return {part, all};
    case Kind::reduceScatter:
      return {all, part};
    case Kind::send:
      return {part, 0};
    case Kind::receive:
      return {0, part};
    default:
      return {part, part};
  }
}

std::span<float> floatsIn(const PinnedBlock& block, std::size_t bytes) {
  return {reinterpret_cast<float*>(block.data()), bytes / sizeof(float)};
}

}  // namespace

StageQueue::StageQueue(std::shared_ptr<Device> device, const std::vector<Stage>& stages)
    : m_device(std::move(device)), m_stages(stages) {
  for (const Stage& stage : m_stages) {
    if (stage.exchange == Stage::Exchange::none) continue;
    if (exchangeOf(stage).ranks) {
      m_exchanges = true;
      continue;
    }
    const Sides sides = sidesOf(exchangeOf(stage).what, stage.group->ranks());
    m_hostBytes = std::max({m_hostBytes, sides.sent, sides.received});
  }
  if (needsHost()) {
    m_sent = std::make_unique<PinnedBlock>(m_device, m_hostBytes);
    m_received = std::make_unique<PinnedBlock>(m_device, m_hostBytes);
  }
  if (m_exchanges) {
    m_ready = m_device->makeEvent();
    m_through = m_device->makeEvent();
  }
}

void StageQueue::enqueue(bool gradients) {
  bool apart = false;  // the stream of exchanges has what the compute stream is not behind
  for (const Stage& stage : m_stages) {
    switch (stage.exchange) {
      case Stage::Exchange::none:
        m_device->enqueue(Stream::compute, stage.call, stage.accesses, stage.origin);
        break;
      case Stage::Exchange::gradients:
        if (!gradients) break;
        begin(stage);
        apart = true;
        break;
      case Stage::Exchange::awaited:
        if (!exchangeOf(stage).ranks) {
          throughHost(stage);
          break;
        }
        begin(stage);
        join();
        apart = false;
        break;
    }
  }
  if (apart) join();
}

void StageQueue::begin(const Stage& stage) {
  m_device->record(Stream::compute, *m_ready);
  m_device->wait(Stream::exchange, *m_ready);
  m_device->enqueue(Stream::exchange, stage.call, stage.accesses, stage.origin);
}

void StageQueue::join() {
  m_device->record(Stream::exchange, *m_through);
  m_device->wait(Stream::compute, *m_through);
}

void StageQueue::throughHost(const Stage& stage) {
  const RankExchange& what = exchangeOf(stage).what;
  RankGroup& group = *stage.group;
  const RankExchange::Part& part = what.parts[0];
  const Sides sides = sidesOf(what, group.ranks());
  if (sides.sent != 0) m_device->download(Stream::compute, part.from, m_sent->data(), sides.sent);
  m_device->synchronise(Stream::compute);  // behind the last upload, too
  const std::span<float> mine = floatsIn(*m_sent, sides.sent), theirs = floatsIn(*m_received, sides.received);
  if (mine.size() == theirs.size()) std::copy(mine.begin(), mine.end(), theirs.begin());
  switch (what.kind) {
    case Kind::allGather:
      group.allGather(mine, theirs);
      break;
    case Kind::reduceScatter:
      group.reduceScatter(mine, theirs);
      break;
    case Kind::broadcast:
      group.broadcast(theirs, what.partner);
      break;
    case Kind::reduce:
      group.reduce(theirs, what.partner);
      break;
    case Kind::send:
      group.send(mine, what.partner, what.tag);
      break;
    case Kind::receive:
      group.receive(theirs, what.partner, what.tag);
      break;
    case Kind::allReduce:  // of gradients alone, which leave through the host when the step is over
      break;
  }
  if (sides.received != 0) m_device->upload(Stream::compute, m_received->data(), part.to, sides.received);
}

}  // namespace loom::cuda
