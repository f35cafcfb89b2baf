#pragma once
// Whether the engine that a launcher brought here is still all there: a purge of old files or a disk that was full may
// have taken something of it. Beside its folders lies `.complete` with a line of sha256sum for each file.
#include <filesystem>
#include <string>

namespace loom {

enum class EngineLook { isThere, isTheSame };  // the latter reads every file
// What is wrong with the first file that is not as it should be, as a sentence; empty = nothing, or nobody brought it.
std::string engineFault(const std::filesystem::path& engine, EngineLook look);
// The folder of the program that runs now.
std::filesystem::path ownEngine();

}  // namespace loom
