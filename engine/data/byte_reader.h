#pragma once
// Numbers out of a file's bytes, never beyond their end.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "engine/data/decode.h"

namespace loom {

class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string_view what) : m_bytes(bytes), m_what(what) {}

  std::size_t at() const { return m_at; }
  std::size_t left() const { return m_bytes.size() - m_at; }
  void seek(std::size_t place) {
    if (place > m_bytes.size()) tooShort(place);
    m_at = place;
  }
  std::span<const std::byte> take(std::size_t count) {
    if (count > left()) tooShort(m_at + count);
    const auto taken = m_bytes.subspan(m_at, count);
    m_at += count;
    return taken;
  }
  std::string_view text(std::size_t count) {
    const auto taken = take(count);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  // Little-endian.
  std::uint16_t u16() { return static_cast<std::uint16_t>(little(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(little(4)); }
  std::int32_t i32() { return static_cast<std::int32_t>(u32()); }
  std::uint32_t u32Big() {
    const auto taken = take(4);
    std::uint32_t value = 0;
    for (const std::byte b : taken) value = value << 8 | std::to_integer<std::uint32_t>(b);
    return value;
  }

 private:
  std::uint64_t little(std::size_t count) {
    const auto taken = take(count);
    std::uint64_t value = 0;
    for (std::size_t i = count; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(taken[i]);
    return value;
  }
  [[noreturn]] void tooShort(std::size_t wanted) const {
    throw DecodeError(fmt::format("the {} ends after {} bytes", m_what, m_bytes.size()),
                      fmt::format("at least {} are needed", wanted), "the file is cut short: write it again");
  }
  std::span<const std::byte> m_bytes;
  std::string_view m_what;
  std::size_t m_at = 0;
};

}  // namespace loom
