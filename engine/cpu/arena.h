#pragma once
// The memory of executables.
#include <cstddef>

namespace loom::cpu {

// One anonymous mapping of zeros, touched once, given back at the end.
class Arena {
 public:
  // Throws Error(device) naming the size when there is not enough memory.
  explicit Arena(std::size_t bytes);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();
  std::byte* data() const { return m_data; }
  std::size_t bytes() const { return m_bytes; }

 private:
  std::byte* m_data = nullptr;
  std::size_t m_bytes = 0;
};

}  // namespace loom::cpu
