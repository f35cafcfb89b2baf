#include "tests/engine/data/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

// AddressSanitizer has an operator new of its own and refuses a mixture.
#if defined(__SANITIZE_ADDRESS__)
namespace loom {
std::int64_t allocationsSoFar() {
  return -1;
}
}  // namespace loom
#else
namespace {
std::atomic<std::int64_t> count{0};
}

void* operator new(std::size_t bytes) {
  ++count;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace loom {
std::int64_t allocationsSoFar() {
  return count;
}
}  // namespace loom
#endif
