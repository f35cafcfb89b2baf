#pragma once
// Pooling of channels-last images: one window at a time, all channels of a place together. A call covers whole samples.
#include "engine/cpu/kernels/stored.h"
#include "engine/ops/pooling_geometry.h"

namespace loom::cpu {

void maxPooling(const PoolingGeometry& g, Stored x, Stored y, std::int64_t firstSample, std::int64_t lastSample);
// The first maximum of each window gets dy. `positiveOnly`: and only where x > 0 (x is a ReLU's output, whose gradient
// is taken in the same pass). dx in bf16: only where windowsTile(), for sums are not rounded on the way.
void maxPoolingGradient(const PoolingGeometry& g, Stored x, Stored y, Stored dy, Stored dx, bool positiveOnly,
                        std::int64_t firstSample, std::int64_t lastSample);
// Every element lies in exactly one window.
bool windowsTile(const PoolingGeometry& g);
void averagePooling(const PoolingGeometry& g, bool includePadding, Stored x, Stored y, std::int64_t firstSample,
                    std::int64_t lastSample);
// dx in bf16: as above.
void averagePoolingGradient(const PoolingGeometry& g, bool includePadding, Stored dy, Stored dx,
                            std::int64_t firstSample, std::int64_t lastSample);

}  // namespace loom::cpu
