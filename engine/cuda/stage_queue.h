#pragma once
// A step's stages on their streams. Those between ranks go, one after another, to the stream of exchanges: one order on
// all ranks, whatever computes beside them. Each begins when what was enqueued before it is there; sums of gradients
// run beside what follows. Where ranks have no streams in common the host takes part in the midst of the step.
#include <memory>
#include <vector>

#include "engine/cuda/device_memory.h"
#include "engine/cuda/plan.h"

namespace loom::cuda {

class StageQueue {
 public:
  // `stages` must outlive it.
  StageQueue(std::shared_ptr<Device> device, const std::vector<Stage>& stages);

  // Whether the host takes part: enqueue() then waits for the device, and nothing can be captured.
  bool needsHost() const { return m_hostBytes != 0; }
  bool exchanges() const { return m_exchanges; }  // any, on streams
  // All of them; the compute stream is behind them. `gradients`: their sums, too.
  void enqueue(bool gradients);

 private:
  void begin(const Stage& stage);
  void join();
  void throughHost(const Stage& stage);

  std::shared_ptr<Device> m_device;
  const std::vector<Stage>& m_stages;
  bool m_exchanges = false;
  std::size_t m_hostBytes = 0;  // of the larger side of an exchange through the host
  std::unique_ptr<PinnedBlock> m_sent, m_received;
  std::unique_ptr<Event> m_ready, m_through;
};

}  // namespace loom::cuda
