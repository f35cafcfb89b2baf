#pragma once
// The elementwise part of a step of LSTM and GRU, for one sample and units [first, last) of `hidden`. A state row holds
// the gates behind each other, each `hidden` long (see ops/README.md).
#include <cstdint>

#include "engine/cpu/kernels/stored.h"

namespace loom::cpu {

// In: the state row's gates before their nonlinearity (i, f, g, o), to which `product` (null: 0) is still to be added.
// Out: gates, cell (fifth part) and y; the cell also, unrounded, in `c` unless that is null. cBefore may be absent (0)
// and stand where c is to.
void lstmCell(Stored state, const float* product, Stored cBefore, float* c, Stored y, std::int64_t hidden,
              std::int64_t first, std::int64_t last);
// dh: what comes back from the next step (null: nothing), dc likewise, updated to dc of the step before. da: 4 x
// hidden.
void lstmCellGradient(Stored state, Stored cBefore, Stored dy, const float* dh, float* dc, Stored da,
                      std::int64_t hidden, std::int64_t first, std::int64_t last);

// A product that was computed in columns: to[row, unit] = or += from[unit, row], for `rows` and `units` in eights.
void addColumns(const float* from, std::int64_t fromStride, float* to, std::int64_t toStride, std::int64_t rows,
                std::int64_t units, bool add);

// In: r, z, n of the input side with its bias, and in the fourth part the hidden side of n without its bias; the hidden
// sides of r and z are already added. bh: 3 x hidden or null. hBefore may be null (0).
void gruCell(float* state, const float* bh, const float* hBefore, float* y, std::int64_t hidden, std::int64_t first,
             std::int64_t last);
// dhDirect: dh that passes through z, in and out (what comes from the next step, then what goes to the one before);
// dhProduct: U^T k of the next step, null at the last. a, k: 3 x hidden, input and hidden side.
void gruCellGradient(const float* state, const float* hBefore, Stored dy, const float* dhProduct, float* dhDirect,
                     Stored a, Stored k, std::int64_t hidden, std::int64_t first, std::int64_t last);

}  // namespace loom::cpu
