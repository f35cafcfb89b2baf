#include "engine/cpu/kernels/lstm_frames.h"

#include <algorithm>

#include "engine/cpu/kernels/native.h"
#include "engine/cpu/kernels/recurrent.h"

namespace loom::cpu {
namespace {

// Past the caches, at a multiple of a register's size.
LOOM_INLINE void stream(float* p, Two v) {
  asm("vmovntps %1, %0" : "=m"(*reinterpret_cast<float(*)[8]>(p)) : "x"(v.low));
  asm("vmovntps %1, %0" : "=m"(*reinterpret_cast<float(*)[8]>(p + 8)) : "x"(v.high));
}
LOOM_INLINE void stream(float* p, Vec v) {
  __builtin_ia32_movntps(p, __builtin_shufflevector(v, v, 0, 1, 2, 3));
  __builtin_ia32_movntps(p + 4, __builtin_shufflevector(v, v, 4, 5, 6, 7));
  __builtin_ia32_movntps(p + 8, __builtin_shufflevector(v, v, 8, 9, 10, 11));
  __builtin_ia32_movntps(p + 12, __builtin_shufflevector(v, v, 12, 13, 14, 15));
}

// Into the level-2 cache. The processor looks ahead along a row, but from the end of a thread's units on it would have
// to jump to the next one.
LOOM_INLINE void fetch(const float* p) {
  __builtin_prefetch(p, 0, 2);
}
constexpr std::int64_t kRowsAhead = 2;

constexpr std::int64_t kSamples = 16, kUnits = 64;  // at a time: their gates are half of the level-1 cache

LOOM_INLINE void fetchRows(const float* p, std::int64_t row) {
  for (std::int64_t r = 0; r < kSamples; ++r) fetch(p + r * row);
}

// Each nonlinearity is a pass of its own: the processor looks ahead far enough for several vectors of one, not for all
// five of a cell, of which the last waits for the first.
template <Level kNative>
LOOM_INLINE void lstmFrameOfBody(const FramePart& part, const float* columns, float* state, float* c, float* h,
                                 float* y) {
  typedef VecFor<kNative> V;
  const std::int64_t row = 5 * part.hidden;
  const Sixteens sixteens{part.batch};
  alignas(64) float gates[4][kSamples * kUnits];
  for (std::int64_t first = 0; first < part.batch; first += kSamples) {
    for (std::int64_t unit = part.first; unit < part.last; unit += kUnits) {
      const std::int64_t units = std::min(kUnits, part.last - unit);
      for (std::int64_t gate = 0; gate < 4; ++gate) {
        const std::int64_t at = gate * part.hidden + unit;
        float* const rows = state + first * row + at;
        float* const to = gates[gate];
        for (std::int64_t u = 0; u < units; u += 8) {
          if (u % kLanes == 0) fetchRows(rows + kSamples * row + u, row);
          for (std::int64_t sample = 0; sample < kSamples; sample += 8) {
            const auto put = [=](int r, Vec8 v) __attribute__((always_inline)) {
              store8(to + (sample + r) * kUnits + u, load8(rows + (sample + r) * row + u) + v);
            };
            if (columns != nullptr) {
              transposed8(columns + (at + u) * part.batch + first + sample, part.batch, put);
            } else {
              for (int r = 0; r < 8; ++r) put(r, Vec8{});
            }
          }
        }
        for (std::int64_t r = 0; r < kSamples; ++r) {
          for (std::int64_t u = 0; u < units; u += kLanes) {
            const V x = loadOf<V>(to + r * kUnits + u), value = gate == 2 ? tanhAs<kNative>(x) : sigmoidAs<kNative>(x);
            store(to + r * kUnits + u, value);
            stream(rows + r * row + u, value);
          }
        }
      }
      for (std::int64_t r = 0; r < kSamples; ++r) {
        const std::int64_t sample = first + r;
        for (std::int64_t u = 0; u < units; u += kLanes) {
          const std::int64_t at = r * kUnits + u, place = sixteens.at(unit + u, sample);
          const V cell =
              loadOf<V>(gates[1] + at) * loadOf<V>(c + place) + loadOf<V>(gates[0] + at) * loadOf<V>(gates[2] + at);
          store(c + place, cell);
          stream(state + sample * row + 4 * part.hidden + unit + u, cell);
          const V value = loadOf<V>(gates[3] + at) * tanhAs<kNative>(cell);
          store(h + place, value);
          stream(y + sample * part.hidden + unit + u, value);
        }
      }
    }
  }
}
LOOM_CPU_KERNEL_HALVES(void, lstmFrameOf,
                       (const FramePart& part, const float* columns, float* state, float* c, float* h, float* y),
                       (part, columns, state, c, h, y))

template <Level kNative>
LOOM_INLINE VecFor<kNative> loadRow(const HiddenRows& rows, std::int64_t sample, std::int64_t unit) {
  return rows.at == nullptr ? VecFor<kNative>{} : loadOf<VecFor<kNative>>(rows.at + sample * rows.stride + unit);
}

template <Level kNative>
LOOM_INLINE void lstmFrameGradientOfBody(const FramePart& part, const float* state, const HiddenRows& cBefore,
                                         const HiddenRows& dy, const float* dh, float* dc, float* da,
                                         float* daInSixteens) {
  typedef VecFor<kNative> V;
  const Sixteens sixteens{part.batch};
  const std::int64_t gate = sixteens.floats(part.hidden);
  for (std::int64_t n = 0; n < part.batch; ++n) {
    const float* const gates = state + n * 5 * part.hidden;
    for (std::int64_t u = part.first; u < part.last; u += kLanes) {
      const std::int64_t place = sixteens.at(u, n);
      for (int k = 0; k < 5; ++k) fetch(gates + (5 * kRowsAhead + k) * part.hidden + u);
      if (cBefore.at != nullptr) fetch(cBefore.at + (n + kRowsAhead) * cBefore.stride + u);
      if (dy.at != nullptr) fetch(dy.at + (n + kRowsAhead) * dy.stride + u);
      const V i = loadOf<V>(gates + u), f = loadOf<V>(gates + part.hidden + u);
      const V g = loadOf<V>(gates + 2 * part.hidden + u), o = loadOf<V>(gates + 3 * part.hidden + u);
      const V t = tanhAs<kNative>(loadOf<V>(gates + 4 * part.hidden + u));
      const V dhHere = (dh == nullptr ? V{} : loadOf<V>(dh + place)) + loadRow<kNative>(dy, n, u);
      const V dcHere = loadOf<V>(dc + place) + dhHere * o * (1.0f - t * t);
      const V of[4] = {dcHere * g * i * (1.0f - i), dcHere * loadRow<kNative>(cBefore, n, u) * f * (1.0f - f),
                       dcHere * i * (1.0f - g * g), dhHere * t * o * (1.0f - o)};
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        stream(da + (4 * n + k) * part.hidden + u, of[k]);
        store(daInSixteens + k * gate + place, of[k]);
      }
      store(dc + place, dcHere * f);
    }
  }
}
LOOM_CPU_KERNEL_HALVES(void, lstmFrameGradientOf,
                       (const FramePart& part, const float* state, const HiddenRows& cBefore, const HiddenRows& dy,
                        const float* dh, float* dc, float* da, float* daInSixteens),
                       (part, state, cBefore, dy, dh, dc, da, daInSixteens))

template <Level kNative>
LOOM_INLINE void copyPastCachesOfBody(const float* from, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; i += kLanes) stream(to + i, loadOf<VecFor<kNative>>(from + i));
}
LOOM_CPU_KERNEL_HALVES(void, copyPastCachesOf, (const float* from, std::int64_t count, float* to), (from, count, to))

}  // namespace

void lstmFrame(const FramePart& part, const float* columns, float* state, float* c, float* h, float* y) {
  lstmFrameOf(part, columns, state, c, h, y);
}
void lstmFrameGradient(const FramePart& part, const float* state, const HiddenRows& cBefore, const HiddenRows& dy,
                       const float* dh, float* dc, float* da, float* daInSixteens) {
  lstmFrameGradientOf(part, state, cBefore, dy, dh, dc, da, daInSixteens);
}

void addToSixteens(const FramePart& part, const float* columns, float* to, bool add) {
  for (std::int64_t unit = part.first; unit < part.last; unit += kLanes)
    addColumns(columns + unit * part.batch, part.batch, to + Sixteens{part.batch}.at(unit, 0), kLanes, part.batch,
               kLanes, add);
}

void rowsFromSixteens(const FramePart& part, const float* from, float* to) {
  const Sixteens sixteens{part.batch};
  for (std::int64_t n = 0; n < part.batch; ++n) {
    for (std::int64_t unit = part.first; unit < part.last; unit += kLanes)
      std::copy_n(from + sixteens.at(unit, n), kLanes, to + n * part.hidden + unit);
  }
}

void copyPastCaches(const float* from, std::int64_t count, float* to) {
  copyPastCachesOf(from, count, to);
}

void finishStreams() {
  __builtin_ia32_sfence();
}

}  // namespace loom::cpu
