#pragma once
#include <cstddef>
#include <string>

#include "engine/base/error.h"

namespace loom {

// A machine's memory does not hold what was asked of it. `asked` and `free` are in bytes, of all that was asked for
// together and before any of it was given.
class OutOfMemory : public Error {
 public:
  OutOfMemory(std::string message, std::size_t asked, std::size_t free)
      : Error(ErrorCode::device, std::move(message)), asked(asked), free(free) {}
  std::size_t asked, free;
};

}  // namespace loom
