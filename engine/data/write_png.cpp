#include "engine/data/write_png.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/files.h"

namespace loom {
namespace {

void appendBig(std::vector<unsigned char>& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<unsigned char>(value >> shift));
}

void appendChunk(std::vector<unsigned char>& out, const char* kind, const unsigned char* data, std::size_t bytes) {
  appendBig(out, static_cast<std::uint32_t>(bytes));
  const std::size_t begin = out.size();
  out.insert(out.end(), kind, kind + 4);
  out.insert(out.end(), data, data + bytes);
  appendBig(out, static_cast<std::uint32_t>(crc32(0, out.data() + begin, static_cast<uInt>(out.size() - begin))));
}

// zlib's state is a quarter of a megabyte to clear: kept and reset, it costs a tenth.
struct Deflater {
  z_stream stream{};
  Deflater() {
    if (deflateInit(&stream, 6) != Z_OK) throwError(ErrorCode::internal, "zlib could not be started");
  }
  ~Deflater() { deflateEnd(&stream); }
};

}  // namespace

void writePng(const std::filesystem::path& path, std::span<const std::byte> image, const Shape& shape) {
  static constexpr unsigned char kColor[] = {0, 0, 4, 2, 6};  // by number of channels
  if (shape.rank() != 3 || shape[0] < 1 || shape[0] > 4 || static_cast<std::size_t>(shape.elements()) != image.size())
    throwError(ErrorCode::internal, "{} bytes of shape {} are no image", image.size(), shape.toString());
  const auto channels = static_cast<std::size_t>(shape[0]), height = static_cast<std::size_t>(shape[1]),
             width = static_cast<std::size_t>(shape[2]);
  thread_local std::vector<unsigned char> rows, packed, file;
  thread_local Deflater deflater;
  const std::size_t stride = width * channels + 1;
  rows.resize(stride * height);
  for (std::size_t y = 0; y < height; ++y) {
    unsigned char* to = rows.data() + y * stride;
    *to++ = 0;  // no filter
    for (std::size_t x = 0; x < width; ++x) {
      for (std::size_t c = 0; c < channels; ++c)
        *to++ = std::to_integer<unsigned char>(image[(c * height + y) * width + x]);
    }
  }
  packed.resize(deflateBound(&deflater.stream, static_cast<uLong>(rows.size())));
  deflateReset(&deflater.stream);
  deflater.stream.next_in = rows.data();
  deflater.stream.avail_in = static_cast<uInt>(rows.size());
  deflater.stream.next_out = packed.data();
  deflater.stream.avail_out = static_cast<uInt>(packed.size());
  if (deflate(&deflater.stream, Z_FINISH) != Z_STREAM_END)
    throwError(ErrorCode::internal, "zlib did not finish an image");

  static constexpr unsigned char kSignature[] = {0x89, 'P', 'N', 'G', 13, 10, 26, 10};
  file.assign(kSignature, kSignature + 8);
  std::vector<unsigned char> header;
  appendBig(header, static_cast<std::uint32_t>(width));
  appendBig(header, static_cast<std::uint32_t>(height));
  header.insert(header.end(), {8, kColor[channels], 0, 0, 0});
  appendChunk(file, "IHDR", header.data(), header.size());
  appendChunk(file, "IDAT", packed.data(), packed.size() - deflater.stream.avail_out);
  appendChunk(file, "IEND", nullptr, 0);

  // Not synced one by one (60,000 of them would take an hour): the CSV that names them is written last.
  const int number = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (number < 0) throwErrno(errno, "write", path);
  std::size_t written = 0;
  while (written < file.size()) {
    const ssize_t now = ::write(number, file.data() + written, file.size() - written);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) {
      const int fault = errno;
      ::close(number);
      throwErrno(fault, "write", path);
    }
    written += static_cast<std::size_t>(now);
  }
  if (::close(number) != 0) throwErrno(errno, "write", path);
}

}  // namespace loom
