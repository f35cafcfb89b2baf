#pragma once
// XXH64 of libxxhash: 64 bits over a stream of bytes, several GB/s, the same on every machine. No secret, no signature:
// it tells contents apart that differ by accident.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

struct XXH64_state_s;

namespace loom {

class Hash64 {
 public:
  Hash64();
  void add(const void* data, std::size_t bytes);
  std::uint64_t value() const;  // of what was added so far

  static std::uint64_t of(std::span<const std::byte> bytes, std::uint64_t seed = 0);

 private:
  struct Free {
    void operator()(XXH64_state_s* state) const;
  };
  std::unique_ptr<XXH64_state_s, Free> m_state;
};

}  // namespace loom
