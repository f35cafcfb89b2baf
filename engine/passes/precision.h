#pragma once
// Which tensors of a program are kept in 16 bits between its operations: activations and their gradients, where all
// that write and read them say that they can. Sums, statistics, weights and their gradients, losses and results stay
// f32.
#include <functional>

#include "engine/program/program.h"

namespace loom {

// What a backend's kernels take and give in 16 bits; places beyond these stay f32.
struct SixteenBits {
  std::vector<int> inputs;
  int outputs = 0;  // the first so many
  int like = -1;    // the first only where this input is kept in 16 bits: it is found in it again, bit for bit
  // The first only where all inputs are kept in 16 bits: a sum with a number in f32 is in f32, so a stream to which
  // layer after layer adds its part is rounded by none of them where it began in f32 (as PyTorch's autocast has it).
  bool promotes = false;
};

// Changes the type of intermediate f32 tensors to `type` (bf16, f16). Run last: shape rules are not asked again.
void keepInSixteenBits(Program& program, DataType type, const std::function<SixteenBits(const Operation&)>& may);

}  // namespace loom
