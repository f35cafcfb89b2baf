#pragma once
// attention.h's calls in bf16 by AVX512-BF16: eight queries at a time from their scores to what they attend to, in the
// level-1 cache, each as far as it sees. The scale is to be positive, the width of a head and the stride even.
#include "engine/cpu/kernels/attention.h"

namespace loom::cpu {

bool attendsInPairs(const AttentionHead& head);
std::int64_t attentionPairsScratch(const AttentionHead& head);

void attentionPairsForward(const AttentionHead& head, const std::uint16_t* q, const std::uint16_t* k,
                           const std::uint16_t* v, std::uint16_t* y, float* statistics, float* scratch);
void attentionPairsBackward(const AttentionHead& head, const std::uint16_t* q, const std::uint16_t* k,
                            const std::uint16_t* v, const std::uint16_t* y, const float* statistics,
                            const std::uint16_t* dy, std::uint16_t* dq, std::uint16_t* dk, std::uint16_t* dv,
                            float* scratch);

}  // namespace loom::cpu
