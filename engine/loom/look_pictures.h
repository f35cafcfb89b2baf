#pragma once
// A look at a sample as PNG files.
#include <filesystem>

#include "engine/program/tensor_summary.h"
#include "engine/run/sample_look.h"

namespace loom {

// The sample in grey, and over it what speaks for the value in red, what speaks against it in blue: the stronger, the
// further from 0. Enlarged to some 256 pixels. Throws Error(badArgument) where there is no map; as writePng().
void writeMap(const std::filesystem::path& file, const SampleLook& look);
// The channels side by side, black the least of all their values, white the greatest. Throws Error(badArgument) for a
// layer without pictures.
void writeTiles(const std::filesystem::path& file, const TensorSummary& layer);

}  // namespace loom
