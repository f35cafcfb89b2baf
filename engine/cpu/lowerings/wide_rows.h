#pragma once
// Rows of tensors in either type for kernels that know f32 alone: each thread has room for one row of each tensor, into
// which what is in bf16 is widened, and out of which it is rounded. A row in f32 is read and written where it stands.
#include <algorithm>
#include <initializer_list>

#include "engine/cpu/kernels/in_blocks.h"
#include "engine/cpu/plan.h"

namespace loom::cpu {

class WideRows {
 public:
  WideRows(Plan& plan, std::int64_t length, std::initializer_list<StoredRef> tensors)
      : m_length(length), m_each((length + 15) / 16 * 16) {
    if (std::any_of(tensors.begin(), tensors.end(), [](const StoredRef& tensor) { return tensor.bf16; }))
      m_room = plan.scratchOfThreads(m_each * static_cast<std::int64_t>(tensors.size()));
  }
  const float* read(const Worker& worker, std::int64_t tensor, Stored row) const {
    return wideOf(row, of(worker, tensor), m_length);
  }
  // Where the row is to be written; put() then brings it to its place.
  float* room(const Worker& worker, std::int64_t tensor, Stored row) const {
    return row.bf16 ? of(worker, tensor) : wideNumbers(row);
  }
  void put(const float* written, Stored row) const {
    if (row.bf16) copyStored(inF32(written), row, m_length);
  }

 private:
  float* of(const Worker& worker, std::int64_t tensor) const {
    return m_room ? m_room.of(worker.thread) + tensor * m_each : nullptr;
  }
  std::int64_t m_length, m_each;
  Rooms m_room;
};

}  // namespace loom::cpu
