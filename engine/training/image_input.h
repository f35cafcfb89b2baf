#pragma once
// Images go to a machine as the bytes that the dataset holds, a quarter of f32's, and are prepared by the program.
#include "engine/data/prepare.h"
#include "engine/program/program.h"

namespace loom {

// The input, N x 2 in i64, that tells each sample's row of the dataset and its epoch: what is random follows from them.
inline constexpr const char* kSamplesInput = "#samples";

// Whether the preparation of this variable is one that `prepare_images` knows: of u8 images of one size.
bool comesAsBytes(const Variable& variable);

// Makes `input`, an f32 input of the program, what `prepare_images` computes of an input of the same name in u8.
// `seed`: the preparation's.
void takeBytes(Program& program, TensorId input, const Variable& variable, const Preparation& preparation,
               std::uint64_t seed);

}  // namespace loom
