#include "engine/exchange/tensorboard/event_file.h"

#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/base/files.h"

namespace loom {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // Castagnoli, reflected
constexpr std::uint32_t kMask = 0xa282ead8;

constexpr std::array<std::uint32_t, 256> kTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) ? kPolynomial : 0);
    table[byte] = value;
  }
  return table;
}();

template <class Number>
void appendFixed(std::string& to, Number number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) to += static_cast<char>((number >> (8 * i)) & 0xff);
}

void appendVarint(std::string& to, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) to += static_cast<char>((number & 0x7f) | 0x80);
  to += static_cast<char>(number);
}

// Wire types of protobuf: what follows a field's number.
enum Wire { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

void appendKey(std::string& to, int field, Wire wire) {
  appendVarint(to, static_cast<std::uint64_t>(field) << 3 | wire);
}

void appendBytes(std::string& to, int field, std::string_view content) {
  appendKey(to, field, bytes);
  appendVarint(to, content.size());
  to += content;
}

// A double beyond float's range is undefined to convert: it becomes the infinity of its sign.
float asFloat(double value) {
  const double most = std::numeric_limits<float>::max();
  if (value > most) return std::numeric_limits<float>::infinity();
  if (value < -most) return -std::numeric_limits<float>::infinity();
  return static_cast<float>(value);
}

std::string begun(double wallTime, std::int64_t step) {
  std::string event;
  appendKey(event, 1, fixed64);
  appendFixed(event, std::bit_cast<std::uint64_t>(wallTime));
  appendKey(event, 2, varint);
  appendVarint(event, static_cast<std::uint64_t>(step));
  return event;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char each : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(each)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

std::uint32_t maskedCrc(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + kMask;
}

EventFile::EventFile(std::filesystem::path file, double wallTime)
    : m_file(std::move(file)), m_part(m_file.string() + ".part"), m_out(m_part, std::ios::binary | std::ios::trunc) {
  if (!m_out) throwErrno(errno, "write", m_part);
  std::string first = begun(wallTime, 0);
  appendBytes(first, 3, "brain.Event:2");
  record(first);
}

EventFile::~EventFile() {
  if (m_closed) return;
  m_out.close();
  std::error_code ignored;
  std::filesystem::remove(m_part, ignored);
}

void EventFile::add(double wallTime, std::int64_t step, const std::vector<std::pair<std::string, double>>& scalars) {
  if (scalars.empty()) return;
  std::string summary;
  for (const auto& [tag, value] : scalars) {
    std::string each;
    appendBytes(each, 1, tag);
    appendKey(each, 2, fixed32);
    appendFixed(each, std::bit_cast<std::uint32_t>(asFloat(value)));
    appendBytes(summary, 1, each);
  }
  std::string event = begun(wallTime, step);
  appendBytes(event, 5, summary);
  record(event);
}

void EventFile::record(const std::string& message) {
  std::string length;
  appendFixed(length, static_cast<std::uint64_t>(message.size()));
  std::string framed = length;
  appendFixed(framed, maskedCrc(length));
  framed += message;
  appendFixed(framed, maskedCrc(message));
  errno = 0;
  if (!m_out.write(framed.data(), static_cast<std::streamsize>(framed.size()))) throwErrno(errno, "write", m_part);
}

void EventFile::close() {
  errno = 0;
  m_out.close();
  if (!m_out) throwErrno(errno, "write", m_part);
  std::error_code code;
  std::filesystem::rename(m_part, m_file, code);
  if (code) throwErrno(code.value(), "write", m_file);
  m_closed = true;
}

}  // namespace loom
