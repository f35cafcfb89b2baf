#include "engine/agent/frame.h"

#include "engine/base/error.h"
#include "engine/base/foreign.h"
#include "engine/base/json.h"

namespace loom {
namespace {

constexpr std::string_view kMagic = "LMF1";
constexpr std::size_t kFixed = 12;
constexpr std::size_t kQuoted = 120;

std::string quotedFrom(std::string_view bytes) {
  return shownText(bytes, kQuoted, ShownLines::one);
}

void putLength(std::string& into, std::size_t length) {
  for (int shift = 0; shift < 32; shift += 8) into += static_cast<char>(length >> shift & 0xFF);
}

std::size_t lengthAt(const std::string& buffer, std::size_t at) {
  std::size_t length = 0;
  for (int i = 3; i >= 0; --i)
    length = length << 8 | static_cast<unsigned char>(buffer[at + static_cast<std::size_t>(i)]);
  return length;
}

}  // namespace

std::string encodeFrame(const Json& header, std::string_view bytes) {
  // File names of other systems need not be UTF-8: what is not is replaced rather than thrown at the caller.
  const std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string frame;
  frame.reserve(kFixed + text.size() + bytes.size());
  frame += kMagic;
  putLength(frame, text.size());
  putLength(frame, bytes.size());
  frame += text;
  frame += bytes;
  return frame;
}

FrameDecoder::FrameDecoder(Start start) : m_waiting(start == Start::afterMarker), m_header(std::make_unique<Json>()) {}
FrameDecoder::~FrameDecoder() = default;
const Json& FrameDecoder::header() const {
  return *m_header;
}

bool FrameDecoder::findMarker() {
  const auto at = m_buffer.find(kStartMarker);
  if (at == std::string::npos) {
    if (m_buffer.size() > kMostBeforeMarker)
      throwError(
          ErrorCode::communication,
          "the host printed {} bytes and no sign of `loom agent` among them; its login shell seems to run a program "
          "of its own: it began with \"{}\"",
          m_buffer.size(), quotedFrom(m_buffer));
    return false;
  }
  m_buffer.erase(0, at + kStartMarker.size());
  m_waiting = false;
  return true;
}

bool FrameDecoder::next() {
  if (m_waiting && !findMarker()) return false;
  const std::string_view begin = std::string_view(m_buffer).substr(0, kMagic.size());
  if (!kMagic.starts_with(begin))
    throwError(ErrorCode::communication, "the stream holds what is no message of loom: \"{}\"", quotedFrom(m_buffer));
  if (m_buffer.size() < kFixed) return false;
  const std::size_t header = lengthAt(m_buffer, 4), bytes = lengthAt(m_buffer, 8);
  if (header > kLongestHeader || bytes > kLongestBytes)
    throwError(ErrorCode::communication,
               "a message of {} and {} bytes is announced, but {} and {} are the most there may be", header, bytes,
               kLongestHeader, kLongestBytes);
  if (m_buffer.size() < kFixed + header + bytes) return false;
  // Read as strictly as a file: values that are nested a million deep would be walked and destroyed recursively.
  Json parsed;
  const std::string_view text = std::string_view(m_buffer).substr(kFixed, header);
  try {
    parsed = parseJson(text, "the message");
  } catch (const Error& error) {
    throwError(ErrorCode::communication, "a message is no JSON object ({}): \"{}\"", error.message(), quotedFrom(text));
  }
  if (!parsed.is_object())
    throwError(ErrorCode::communication, "a message is no JSON object: \"{}\"", quotedFrom(text));
  *m_header = std::move(parsed);
  m_bytes.assign(m_buffer, kFixed + header, bytes);
  m_buffer.erase(0, kFixed + header + bytes);
  return true;
}

}  // namespace loom
