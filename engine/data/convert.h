#pragma once
// Stored numbers to float32: out[i] = in[i] * scale + shift, multiplied first and rounded, then added (never fused: the
// same bits on every processor). Eight at a time where the processor has AVX2.
#include <cstddef>
#include <cstdint>

namespace loom {

void convertBytes(const std::byte* in, float* out, std::int64_t count, float scale, float shift);
void convertFloats(const std::byte* in, float* out, std::int64_t count, float scale, float shift);
// A scale and a shift for each of `count` numbers.
void convertBytesEach(const std::byte* in, float* out, std::int64_t count, const float* scale, const float* shift);
void convertFloatsEach(const std::byte* in, float* out, std::int64_t count, const float* scale, const float* shift);

}  // namespace loom
