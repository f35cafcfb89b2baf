#pragma once
// The memory of an executable.
#include <cstddef>

namespace loom::cpu {

// One anonymous mapping, touched once, given back at the end.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();
  // Throws Error(device) naming the size when there is not enough memory.
  std::byte* allocate(std::size_t bytes);

 private:
  std::byte* m_data = nullptr;
  std::size_t m_bytes = 0;
};

}  // namespace loom::cpu
