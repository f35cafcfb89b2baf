#pragma once
// Libraries that may be missing are linked by modules of their own, which are opened at run time.
#include <filesystem>

namespace loom {

// Where the module "loom_mpi.so" is: `variable` of the environment, else beside the program or in ../lib/gradloom.
std::filesystem::path moduleNamed(const char* name, const char* variable);

}  // namespace loom
