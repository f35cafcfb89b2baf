#pragma once
// GELU, x Φ(x), and its gradient over numbers in either type, which need not pass through f32 in memory. Outputs may be
// the inputs themselves. Φ is within 2e-7 of the normal distribution's.
#include <cstdint>

#include "engine/cpu/kernels/stored.h"

namespace loom::cpu {

void gelu(Stored x, Stored y, std::int64_t count);
// dx = dy (Φ(x) + x φ(x))
void geluGradient(Stored x, Stored dy, Stored dx, std::int64_t count);

}  // namespace loom::cpu
