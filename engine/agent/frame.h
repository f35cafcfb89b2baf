#pragma once
// What travels between a launcher and `loom agent`: frames of a JSON object and bytes that belong to it.
//   4 bytes "LMF1", 4 bytes length of the JSON, 4 bytes length of the bytes (both little-endian), JSON, bytes
// Before its first frame the agent prints kStartMarker on a line of its own: whatever a login shell, a banner or a
// module system printed before that is passed over. After it anything that is no frame is an error: two programs that
// no longer understand each other must not go on.
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/json_fwd.h"

namespace loom {

inline constexpr std::string_view kStartMarker = "GRADLOOM-AGENT-1\n";
inline constexpr std::size_t kLongestHeader = std::size_t{4} << 20;
inline constexpr std::size_t kLongestBytes = std::size_t{8} << 20;
inline constexpr std::size_t kMostBeforeMarker = std::size_t{256} << 10;

std::string encodeFrame(const Json& header, std::string_view bytes = {});

// Takes bytes as they come, in pieces of any size.
class FrameDecoder {
 public:
  enum class Start { atOnce, afterMarker };
  explicit FrameDecoder(Start start);
  ~FrameDecoder();

  void feed(std::string_view bytes) { m_buffer.append(bytes); }
  // Whether a frame stands ready in header() and bytes(). Throws Error(communication) for what is no frame, quoting it.
  bool next();
  bool started() const { return !m_waiting; }
  const Json& header() const;
  const std::string& bytes() const { return m_bytes; }
  // What came before the marker so far: what a shell said when the agent could not be started.
  std::string preamble() const { return m_waiting ? m_buffer : std::string(); }

 private:
  bool findMarker();
  bool m_waiting;
  std::string m_buffer, m_bytes;
  std::unique_ptr<Json> m_header;
};

}  // namespace loom
