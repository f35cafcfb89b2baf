#pragma once
#include <string>

namespace loom {

// This machine's name as it knows itself.
std::string hostName();
// The name of its processor, "AMD EPYC"; "unknown" where the system does not tell.
std::string processorName();

}  // namespace loom
