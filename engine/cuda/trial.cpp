// Stages that are tried out before their program has memory: in blocks of their own, captured and timed as a step is.
#include <algorithm>
#include <map>
#include <utility>

#include "engine/cuda/device_memory.h"
#include "engine/cuda/plan.h"

namespace loom::cuda {
namespace {

constexpr unsigned char kPattern = 0x2c;  // small finite numbers in every type

}  // namespace

double Plan::secondsOf(const std::function<void(Plan&)>& emit, const Device::Timing& timing) {
  BufferPlan::Mark mark = m_buffers.mark();
  const std::size_t stages = m_stages.size(), constants = m_constants.size(), guards = m_guards.size(),
                    weights = m_weights.size(), undelivered = m_undelivered.size();
  const int conversions = m_conversions;
  std::map<std::byte* const*, std::unique_ptr<DeviceBlock>> blocks;
  const auto forget = [&] {
    for (const auto& [slot, block] : blocks) m_buffers.lend(slot, nullptr);
    m_stages.resize(stages);
    m_constants.resize(constants);
    m_guards.resize(guards);
    m_weights.resize(weights);
    m_undelivered.resize(undelivered);
    m_conversions = conversions;
    m_buffers.takeBack(std::move(mark));
  };
  bool captures = false;
  try {
    emit(*this);
    std::map<std::byte* const*, std::size_t> reach;
    for (std::size_t k = stages; k < m_stages.size(); ++k)
      for (const auto* operands : {&m_stages[k].reads, &m_stages[k].writes})
        for (const Operand& one : *operands)
          if (one) {
            std::size_t& bytes = reach[one.at.slot];
            bytes = std::max(bytes, static_cast<std::size_t>(one.at.offset) + one.bytes);
          }
    const std::shared_ptr<Device> device(std::shared_ptr<void>(), &m_device);  // outlives this
    for (const auto& [slot, bytes] : reach) {
      blocks[slot] = std::make_unique<DeviceBlock>(device, bytes, "what is timed");
      std::byte* const at = blocks[slot]->data();
      m_buffers.lend(slot, at);
      const Access whole[] = {{at, bytes, true}};
      m_device.enqueue(Stream::compute, FillCall{at, bytes, kPattern}, whole, "");
    }
    const auto enqueue = [&] {
      for (std::size_t k = stages; k < m_stages.size(); ++k)
        m_device.enqueue(Stream::compute, m_stages[k].call, m_stages[k].accesses, m_stages[k].origin);
    };
    for (std::size_t k = stages; k < m_stages.size(); ++k) m_stages[k].settle();
    enqueue();  // loads kernels and plans, which no capture allows
    m_device.synchronise(Stream::compute);
    m_device.beginCapture(Stream::compute);
    captures = true;
    enqueue();
    captures = false;
    const std::unique_ptr<Graph> graph = m_device.endCapture(Stream::compute);
    const double seconds = timing.seconds(*graph);
    m_device.synchronise(Stream::compute);
    forget();
    return seconds;
  } catch (...) {
    try {
      if (captures) m_device.endCapture(Stream::compute);
      m_device.synchronise(Stream::compute);
    } catch (const std::exception&) {
      // The first failure is the one that is told.
    }
    forget();
    throw;
  }
}

}  // namespace loom::cuda
