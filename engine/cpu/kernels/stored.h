#pragma once
// Numbers as a tensor is stored: in f32 or, where a program in 16 bits keeps it so, in bf16. Kernels that are bound by
// memory take either and compute in f32.
#include <cstddef>
#include <cstdint>

#include "engine/base/bf16.h"

namespace loom::cpu {

struct Stored {
  std::byte* at = nullptr;
  bool bf16 = false;

  explicit operator bool() const { return at != nullptr; }
  Stored from(std::int64_t number) const { return at == nullptr ? *this : Stored{at + number * (bf16 ? 2 : 4), bf16}; }
};

inline Stored inF32(const float* at) {
  return {reinterpret_cast<std::byte*>(const_cast<float*>(at)), false};
}

// to = a (+ b), then max(., 0) when `relu`, then 0 where `mask` is not positive. b and mask may be absent; `to` may be
// one of the others.
void addStored(Stored a, Stored b, Stored mask, bool relu, Stored to, std::int64_t count);
// `count` numbers in f32.
void widen(Stored from, float* to, std::int64_t count);
inline float numberAt(Stored from, std::int64_t at) {
  return from.bf16 ? fromBf16(reinterpret_cast<const std::uint16_t*>(from.at)[at])
                   : reinterpret_cast<const float*>(from.at)[at];
}
// Its first number, everywhere.
void fillStored(Stored number, Stored to, std::int64_t count);
// As they are where both are of one type, else widened or rounded.
void copyStored(Stored from, Stored to, std::int64_t count);

}  // namespace loom::cpu
