// What a plan moves many of at once: gradients into the store, weights into the type and order in which they are read.
#include <algorithm>
#include <utility>

#include "engine/cuda/lowerings/pieces.h"
#include "engine/cuda/plan.h"

namespace loom::cuda {

// In the form in which it was written, whatever that is; with those that follow, in one launch.
void Plan::deliver(TensorId id) {
  const BufferPlan::Version from = m_buffers.versions(id).front();
  const Operand to = inStore(id);
  m_pending.push_back(
      {convertArguments(shape(id), from.layout, from.type, plainLayout(shape(id).rank()), DataType::f32), from, to});
  m_pendingBytes += to.bytes;
}

// Not all at the end: ranks exchange the first while the last are computed, and memory is free again. Before the next
// operation is lowered, which may take their place.
bool Plan::isDeliveryDue() const {
  constexpr std::size_t kMostTensors = 32, kMostBytes = std::size_t{8} << 20;
  return m_pending.size() >= kMostTensors || m_pendingBytes >= kMostBytes;
}

// What the store holds is overwritten or, in a later pass of the same step, added to: the step's words say which, so
// that a captured step serves both.
void Plan::deliverPending() {
  if (m_pending.empty()) return;
  const std::vector<Moved> moved = std::exchange(m_pending, {});
  m_pendingBytes = 0;
  const Operand words = deliveryWords(), guard = lossGuard();
  const MovedTable table = tableOf(moved);
  std::vector<Operand> reads = table.reads, writes;
  reads.insert(reads.end(), {words, guard});
  for (const Moved& one : moved) {
    reads.push_back(one.to.moving(0));  // only what is added to is read
    writes.push_back(one.to);
  }
  kernel("deliver_all", table.launch, std::move(reads), std::move(writes), [=] {
    return DeliverAllArguments{table.tensors.address<const MovedTensor>(), table.pieces.address<const Piece>(),
                               words.address<const DeliveryWords>(), guard.address<const float>()};
  });
  ofManyLayers("deliver");
}

// All of them in one launch, before anything else: there are many, and most are small.
void Plan::convertWeights() {
  if (m_weights.empty()) return;
  m_buffers.setNow(0);
  const MovedTable table = tableOf(m_weights);
  std::vector<Operand> writes;
  for (const Moved& one : m_weights) {
    m_buffers.use(one.buffer);
    writes.push_back(one.to);
  }
  kernel("convert_all", table.launch, table.reads, std::move(writes), [=] {
    return ConvertAllArguments{table.tensors.address<const MovedTensor>(), table.pieces.address<const Piece>()};
  });
  ofManyLayers("convert");
  std::rotate(m_stages.begin(), m_stages.end() - 1, m_stages.end());
  m_buffers.setNow(static_cast<int>(m_program.operations.size()));
}

// What the last stage is told as, which is of no one operation.
void Plan::ofManyLayers(const char* op) {
  m_stages.back().op = op;
  m_stages.back().origin.clear();
  m_stages.back().kind = StageKind::memory;
}

Plan::MovedTable Plan::tableOf(const std::vector<Moved>& moved) {
  std::vector<std::int64_t> elements;
  std::vector<Operand> from;
  for (const Moved& one : moved) {
    elements.push_back(one.how.count);
    from.push_back(operand(one.from));
    from.back().bytes = static_cast<std::size_t>(one.how.count) * bytesOf(one.from.type);
  }
  const Cut cut = cutOf(elements);
  MovedTable table{.tensors = constant(moved.size() * sizeof(MovedTensor),
                                       [moved, from, cut] {
                                         std::vector<MovedTensor> all;
                                         for (std::size_t k = 0; k < moved.size(); ++k) {
                                           all.push_back({moved[k].how, cut.tensors[k]});
                                           all.back().how.from = from[k].address();
                                           all.back().how.to = moved[k].to.address();
                                         }
                                         return bytesOfTable(all);
                                       }),
                   .pieces = constant(bytesOfTable(cut.pieces)),
                   .launch = overPieces(cut),
                   .reads = from};
  table.reads.insert(table.reads.end(), {table.tensors, table.pieces});
  return table;
}

}  // namespace loom::cuda
