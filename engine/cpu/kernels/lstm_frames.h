#pragma once
// The elementwise part of a frame of an LSTM in f32 whose products are columns (lowerings/halved_frames.h): of all
// samples, for a thread's units.
//
// What a thread keeps from frame to frame stands in sixteens of units, so that it is one piece of memory, in a copy of
// its own of which it uses its units: a core looks ahead along rows and strides, beyond its own units, and would fetch
// lines that another one is about to write. Rows of state, y and da hold the units of all threads in turn. What is
// written to them goes past the caches for the same reason, and so does whatever else another thread is to read: lines
// come from the cache of a core that shares none at a tenth of a microsecond each, 50 us for a frame's h.
#include <cstdint>

#include "engine/cpu/kernels/gemm.h"

namespace loom::cpu {

// Unit u of a sample in sixteens: sixteen of the first sample, the same of the second one ..., and room for one sample
// more, without which all sixteens would want the same places of the level-1 cache.
struct Sixteens {
  std::int64_t batch;
  std::int64_t each() const { return (batch + 1) * 16; }
  std::int64_t floats(std::int64_t units) const { return units / 16 * each(); }
  std::int64_t at(std::int64_t unit, std::int64_t sample) const { return unit / 16 * each() + sample * 16 + unit % 16; }
  // Units x samples, for whoever reads whole sixteens.
  MatrixView columns(const float* from) const { return {from, batch + 1, 16}; }
};

// Samples and hidden units are in sixteens; of these a thread has [first, last).
struct FramePart {
  std::int64_t batch, hidden, first, last;
};

// columns: h U' of the frame before (4 hidden x batch), or null: 0. state: rows of 5 hidden; in: the gates' input side
// (i, f, g, o), out: gates and cell. c: cells of the frame before, then of this one. h: as y, in sixteens. y: rows of
// hidden. Pointers to rows are multiples of 64 bytes.
void lstmFrame(const FramePart& part, const float* columns, float* state, float* c, float* h, float* y);

// Rows of hidden, `stride` apart; null: 0.
struct HiddenRows {
  const float* at = nullptr;
  std::int64_t stride = 0;
};
// dh: what comes back from the next frame, in sixteens; null: nothing. dc: likewise, updated to that of the frame
// before. da: rows of 4 hidden, and the same in sixteens.
void lstmFrameGradient(const FramePart& part, const float* state, const HiddenRows& cBefore, const HiddenRows& dy,
                       const float* dh, float* dc, float* da, float* daInSixteens);

// to = the columns (hidden x batch), or added to it, in sixteens; and from there to rows of hidden.
void addToSixteens(const FramePart& part, const float* columns, float* to, bool add);
void rowsFromSixteens(const FramePart& part, const float* from, float* to);
// What another thread is to read, of multiples of 16 and at one of 64 bytes.
void copyPastCaches(const float* from, std::int64_t count, float* to);
// What was written past the caches by this thread is seen by others after this.
void finishStreams();

}  // namespace loom::cpu
