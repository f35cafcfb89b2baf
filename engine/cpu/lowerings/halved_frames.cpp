#include "engine/cpu/lowerings/halved_frames.h"

#include <algorithm>

#include "engine/cpu/kernels/lstm_frames.h"
#include "engine/cpu/kernels/simd.h"
#include "engine/cpu/kernels/strassen_rows.h"

namespace loom::cpu {
namespace {

// Steps that are multiplied together: the sums of as many of 16 samples are half of the level-1 cache.
constexpr std::int64_t kStepsTogether = 256;

template <class F>
void eachSteps(std::int64_t first, std::int64_t last, F f) {
  const std::int64_t units = (last - first) / kLanes, blocks = (last - first + kStepsTogether - 1) / kStepsTogether;
  for (std::int64_t block = 0; block < blocks; ++block)
    f(HalvedSteps{first + units * block / blocks * kLanes, first + units * (block + 1) / blocks * kLanes});
}

// Parts of the product that a thread computes: rows and steps of the halves of A, with B's steps of the same.
template <class F>
void eachPart(const RecurrentShape& s, const Worker& worker, F f) {
  const auto [first, last] = unitsOf(worker, s);
  eachSteps(0, s.hidden / 2, [&](const HalvedSteps& steps) {
    // The upper half of the gates' rows.
    for (std::int64_t gate = 0; gate < s.gates / 2; ++gate)
      f(HalvedRows{gate * s.hidden + first, gate * s.hidden + last}, steps);
  });
}
template <class F>
void eachPartBack(const RecurrentShape& s, const Worker& worker, F f) {
  const auto [first, last] = unitsOf(worker, s);
  for (std::int64_t gate = 0; gate < s.gates / 2; ++gate) {
    eachSteps(gate * s.hidden + first, gate * s.hidden + last, [&](const HalvedSteps& steps) {
      f(HalvedRows{0, s.hidden / 2}, steps);
    });
  }
}

struct Room {
  std::int64_t weights = 0, sums = 0;
};
// For the thread with most units, in each thread.
template <class EachPart>
Room roomFor(const RecurrentShape& s, int threads, EachPart each) {
  Room most;
  for (int thread = 0; thread < threads; ++thread) {
    Room room;
    each(s, Worker{thread, threads}, [&](const HalvedRows& rows, const HalvedSteps& steps) {
      room.weights += halvedRowsFloats(rows, steps);
      room.sums = std::max(room.sums, halvedFloats(steps, s.batch));
    });
    most = {std::max(most.weights, room.weights), std::max(most.sums, room.sums)};
  }
  return most;
}

// A thread packs what it multiplies.
template <class EachPart>
Ref<float> packParts(Plan& plan, const RecurrentShape& s, TensorId wHidden, std::int64_t room, std::int64_t m,
                     std::int64_t k, std::int64_t rowStride, std::int64_t columnStride, EachPart each) {
  const auto weights = plan.read(wHidden);
  return plan.packInStep(wHidden, room * plan.threads(), kHalvedName, [=](const Ref<float>& packed) {
    return [=](const Worker& worker) {
      float* to = packed.get() + worker.index * room;
      each(s, worker, [&](const HalvedRows& rows, const HalvedSteps& steps) {
        packHalvedRows(to, {weights.get(), rowStride, columnStride}, m, k, rows, steps);
        to += halvedRowsFloats(rows, steps);
      });
    };
  });
}

// While which what is read next is fetched: all rows of the last part of a frame's product.
Ahead* during(bool isLast, const RecurrentShape& s, const HalvedRows& rows, Ahead* ahead) {
  if (!isLast || ahead == nullptr || rows.first == rows.last) return nullptr;
  ahead->spread(halvedTiles(rows, s.batch));
  return ahead;
}

constexpr auto kEachPart = [](const RecurrentShape& s, const Worker& worker, auto f) { eachPart(s, worker, f); };
constexpr auto kEachPartBack = [](const RecurrentShape& s, const Worker& worker, auto f) {
  eachPartBack(s, worker, f);
};

}  // namespace

// Unless a thread has too few units: on the way back it multiplies as many steps of each gate, with all of dh.
bool halvesFrames(const Plan& plan, const RecurrentShape& s) {
  const bool isFaster = s.hidden >= 256 && s.hidden >= 128 * plan.threads() && s.time >= 8;
  return !s.bf16 && s.gates % 2 == 0 && canHalveRows(s.gates * s.hidden, s.batch, s.hidden) &&
         canHalveRows(s.hidden, s.batch, s.gates * s.hidden) && mayHalve(plan, isFaster);
}

HalvedFrames::HalvedFrames(Plan& plan, const RecurrentShape& s, TensorId wHidden) : m_shape(s) {
  const Room room = roomFor(s, plan.threads(), kEachPart);
  m_roomForWeights = room.weights;
  m_weights = packParts(plan, s, wHidden, room.weights, s.gates * s.hidden, s.hidden, s.hidden, 1, kEachPart);
  m_sums = plan.scratchOfThreads(room.sums);
  m_columns = plan.scratchOfThreads(s.gates * s.hidden * s.batch);
}

void HalvedFrames::multiply(const Worker& worker, const MatrixView& before, Ahead* ahead) const {
  const RecurrentShape& s = m_shape;
  const float* weights = m_weights.get() + worker.index * m_roomForWeights;
  float* const sums = m_sums.of(worker.index);
  std::int64_t packed = -1;
  eachPart(s, worker, [&](const HalvedRows& rows, const HalvedSteps& steps) {
    if (packed != steps.first) packHalvedColumns(sums, before, s.hidden, s.batch, steps);
    packed = steps.first;
    multiplyHalvedRows(
        {.m = s.gates * s.hidden,
         .n = s.batch,
         .k = s.hidden,
         .a = {weights},
         .packed = sums,
         .c = m_columns.of(worker.index),
         .ldc = s.batch,
         .accumulate = steps.first > 0,
         .ahead = during(rows.first >= (s.gates / 2 - 1) * s.hidden && steps.last == s.hidden / 2, s, rows, ahead)},
        rows, steps);
    weights += halvedRowsFloats(rows, steps);
  });
}

HalvedFramesBack::HalvedFramesBack(Plan& plan, const RecurrentShape& s, TensorId wHidden) : m_shape(s) {
  const Room room = roomFor(s, plan.threads(), kEachPartBack);
  m_roomForWeights = room.weights;
  m_weights = packParts(plan, s, wHidden, room.weights, s.hidden, s.gates * s.hidden, 1, s.hidden, kEachPartBack);
  m_sums = plan.scratchOfThreads(room.sums);
  m_parts = plan.scratchOfThreads(s.hidden * s.batch);
  m_handedOver = plan.scratchOfThreads(2 * s.hidden * s.batch);
}

float* HalvedFramesBack::handedOver(int phase, int thread) const {
  return m_handedOver.of(thread) + phase % 2 * m_shape.hidden * m_shape.batch;
}

const float* HalvedFramesBack::columns(const Worker& worker, int thread) const {
  return thread == worker.index ? m_parts.of(thread) : handedOver(worker.phase + 1, thread);
}

void HalvedFramesBack::multiply(const Worker& worker, const MatrixView& da, Ahead* ahead) const {
  const RecurrentShape& s = m_shape;
  const std::int64_t width = s.gates * s.hidden;
  const float* weights = m_weights.get() + worker.index * m_roomForWeights;
  float* const sums = m_sums.of(worker.index);
  float* const to = m_parts.of(worker.index);
  bool isFirst = true;
  eachPartBack(s, worker, [&](const HalvedRows& rows, const HalvedSteps& steps) {
    packHalvedColumns(sums, da, width, s.batch, steps);
    multiplyHalvedRows({.m = s.hidden,
                        .n = s.batch,
                        .k = width,
                        .a = {weights},
                        .packed = sums,
                        .c = to,
                        .ldc = s.batch,
                        .accumulate = !isFirst,
                        .ahead = during(steps.first >= width / 2 - s.hidden, s, rows, ahead)},
                       rows, steps);
    weights += halvedRowsFloats(rows, steps);
    isFirst = false;
  });
  if (isFirst) std::fill_n(to, s.hidden * s.batch, 0.0f);  // more threads than there is work for
  const auto [first, last] = unitsOf(worker, s);
  const auto handOver = [&](std::int64_t from, std::int64_t end) {
    if (from < end)
      copyPastCaches(to + from * s.batch, (end - from) * s.batch,
                     handedOver(worker.phase, worker.index) + from * s.batch);
  };
  handOver(0, first);
  handOver(last, s.hidden);
}

}  // namespace loom::cpu
