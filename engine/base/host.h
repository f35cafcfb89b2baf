#pragma once
#include <string>

namespace loom {

// This machine's name as it knows itself.
std::string hostName();

}  // namespace loom
