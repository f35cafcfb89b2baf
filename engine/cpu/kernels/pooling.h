#pragma once
// Pooling of channels-last images: one window at a time, all channels of a place together. A call covers whole samples.
#include "engine/ops/pooling_geometry.h"

namespace loom::cpu {

void maxPooling(const PoolingGeometry& g, const float* x, float* y, std::int64_t firstSample, std::int64_t lastSample);
// The first maximum of each window gets dy. `positiveOnly`: and only where x > 0 (x is a ReLU's output, whose gradient
// is taken in the same pass).
void maxPoolingGradient(const PoolingGeometry& g, const float* x, const float* y, const float* dy, float* dx,
                        bool positiveOnly, std::int64_t firstSample, std::int64_t lastSample);
void averagePooling(const PoolingGeometry& g, bool includePadding, const float* x, float* y, std::int64_t firstSample,
                    std::int64_t lastSample);
void averagePoolingGradient(const PoolingGeometry& g, bool includePadding, const float* dy, float* dx,
                            std::int64_t firstSample, std::int64_t lastSample);

}  // namespace loom::cpu
