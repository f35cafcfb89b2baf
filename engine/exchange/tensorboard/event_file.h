#pragma once
// TensorBoard's event files: records of TFRecord's framing (length and content, each with its masked CRC32C), every
// record a protobuf message `Event` (tensorflow/core/util/event.proto), as far as scalars need it. Little endian.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace loom {

// Castagnoli's CRC as TFRecord stores it.
std::uint32_t crc32c(std::string_view bytes);
std::uint32_t maskedCrc(std::string_view bytes);

// Writes beside `file` and puts it in its place with close(): who looks meanwhile sees the old file or the new one.
class EventFile {
 public:
  // Throws Error(inputOutput, diskFull, ...) as all here do. `wallTime`: seconds since 1970, of the file's first
  // record.
  EventFile(std::filesystem::path file, double wallTime);
  ~EventFile();  // without close(): nothing is left
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  // One record: values at a step, under their tags. A value is rounded to the nearest float, which is all that the
  // format has for a scalar; NaN and infinities stay what they are.
  void add(double wallTime, std::int64_t step, const std::vector<std::pair<std::string, double>>& scalars);
  void close();

 private:
  void record(const std::string& message);
  std::filesystem::path m_file, m_part;
  std::ofstream m_out;
  bool m_closed = false;
};

}  // namespace loom
