#include "engine/cpu/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "engine/base/error.h"

namespace loom::cpu {

Arena::~Arena() {
  munmap(m_data, m_bytes);
}

Arena::Arena(std::size_t bytes) : m_bytes(std::max<std::size_t>(bytes, 4096)) {
  void* data = mmap(nullptr, m_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    throwError(
        ErrorCode::device,
        "a step needs {:.1f} MiB of memory for activations, which this machine does not give: use a smaller batch",
        static_cast<double>(bytes) / (1 << 20));
  }
  m_data = static_cast<std::byte*>(data);
  // Products stream through tens of MiB: in pages of 4 KiB their addresses are looked up again and again.
  constexpr std::size_t kHugePage = 2 << 20;
  if (m_bytes >= 2 * kHugePage) madvise(m_data, m_bytes, MADV_HUGEPAGE);  // where the system cannot, nothing is lost
  std::memset(m_data, 0, m_bytes);  // touched here and never again for the first time
}

}  // namespace loom::cpu
