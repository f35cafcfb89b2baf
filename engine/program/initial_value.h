#pragma once
#include <cstdint>

#include "engine/base/philox.h"
#include "engine/program/program.h"

namespace loom {

// Element i of a new parameter: a function of (seed, name) = `random` and i alone, so that any thread may ask for any
// part.
inline double initialValue(const Initializer& initializer, const Philox& random, std::uint64_t i) {
  switch (initializer.kind) {
    case InitializerKind::zeros:
      return 0;
    case InitializerKind::ones:
      return 1;
    case InitializerKind::constant:
      return initializer.scale;
    case InitializerKind::normal:
      return initializer.scale * random.normal(i);
    case InitializerKind::uniform:
      return initializer.scale * (2 * random.uniform(i) - 1);
    case InitializerKind::given:
      return (*initializer.values)[i];
  }
  return 0;
}

}  // namespace loom
