#include "engine/base/hash.h"

#include <xxhash.h>

#include <new>

namespace loom {

Hash64::Hash64() : m_state(XXH64_createState()) {
  if (!m_state) throw std::bad_alloc();
  XXH64_reset(m_state.get(), 0);
}

void Hash64::Free::operator()(XXH64_state_s* state) const {
  XXH64_freeState(state);
}

void Hash64::add(const void* data, std::size_t bytes) {
  if (bytes > 0) XXH64_update(m_state.get(), data, bytes);
}

std::uint64_t Hash64::value() const {
  return XXH64_digest(m_state.get());
}

std::uint64_t Hash64::of(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH64(bytes.data(), bytes.size(), seed);
}

}  // namespace loom
