#pragma once
// The group of all ranks of this test program.
#include "engine/comm/communicator.h"

namespace loom {

Communicator& world();

}  // namespace loom
