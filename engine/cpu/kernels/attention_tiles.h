#pragma once
// attention.h's calls in f32 by AVX2, where that reaches the peak (peaksAt256Bits()): six queries at a time from their
// scores to what they attend to, in the level-1 cache, each as far as it sees. The scale is to be positive.
#include "engine/cpu/kernels/attention.h"

namespace loom::cpu {

bool attendsInTiles(const AttentionHead& head);
std::int64_t attentionTilesScratch(const AttentionHead& head);

void attentionTilesForward(const AttentionHead& head, const float* q, const float* k, const float* v, float* y,
                           float* statistics, float* scratch);
void attentionTilesBackward(const AttentionHead& head, const float* q, const float* k, const float* v, const float* y,
                            const float* statistics, const float* dy, float* dq, float* dk, float* dv, float* scratch);

}  // namespace loom::cpu
