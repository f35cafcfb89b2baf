#include "engine/data/text.h"

#include <fmt/core.h>

#include <cstdint>

namespace loom {

std::string quotedText(std::string_view cell) {
  constexpr std::size_t kShown = 60;
  std::string out = "'";
  const std::string_view shown = cell.substr(0, kShown);
  const bool text = findNonUtf8(shown) == std::string_view::npos;
  for (const char c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !text)) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  out += '\'';
  if (cell.size() > kShown) out += fmt::format(" ({} more bytes)", cell.size() - kShown);
  return out;
}

std::string toldText(std::string_view cell) {
  constexpr std::size_t kMost = 40;
  return cell.size() > kMost ? fmt::format("a text of {} bytes", cell.size()) : quotedText(cell);
}

std::size_t findNonUtf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char lead = bytes[i];
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || i + length > text.size()) return i;
    std::uint32_t code = lead & (0xff >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) {
      if ((bytes[i + k] & 0xc0) != 0x80) return i;
      code = code << 6 | (bytes[i + k] & 0x3f);
    }
    if ((length == 3 && code < 0x800) || (length == 4 && (code < 0x10000 || code > 0x10ffff)) ||
        (code >= 0xd800 && code < 0xe000))
      return i;
    i += length;
  }
  return std::string_view::npos;
}

std::string_view kindByContent(std::string_view start) {
  using namespace std::string_view_literals;
  struct Kind {
    std::string_view begin, name;
  };
  static constexpr Kind kinds[] = {
      {"\x89PNG"sv, "a PNG image"},
      {"\xff\xd8\xff"sv, "a JPEG image"},
      {"BM"sv, "a BMP image"},
      {"GIF8"sv, "a GIF image"},
      {"II*\0"sv, "a TIFF image"},
      {"MM\0*"sv, "a TIFF image"},
      {"\x93NUMPY"sv, "a NumPy array"},
      {"fLaC"sv, "a FLAC sound"},
      {"OggS"sv, "an OGG sound"},
      {"PK\x03\x04"sv, "a ZIP or Excel file"},
      {"\x1f\x8b"sv, "a gzip file"},
      {"%PDF"sv, "a PDF document"},
      {"\x89HDF"sv, "an HDF5 file"},
      {"PAR1"sv, "a Parquet file"},
      {"\xff\xfe"sv, "UTF-16 text"},
      {"\xfe\xff"sv, "UTF-16 text"},
      {"\xd0\xcf\x11\xe0"sv, "an old Office file"},
      {"ARROW1"sv, "an Arrow file"},
      {"SQLite"sv, "an SQLite database"},
      {"\x7f\x45LF"sv, "a program"},
      {"<!DOCTYPE"sv, "an HTML page"},
      {"<html"sv, "an HTML page"},
      {"version https://git-lfs.github.com/"sv, "a pointer of Git LFS"},
  };
  if (start.size() >= 12 && start.substr(0, 4) == "RIFF") {
    if (start.substr(8, 4) == "WAVE") return "a WAV sound";
    if (start.substr(8, 4) == "WEBP") return "a WebP image";
  }
  if (start.size() >= 12 && start.substr(4, 4) == "ftyp") {
    const std::string_view brand = start.substr(8, 4);
    if (brand == "avif" || brand == "avis") return "an AVIF image";
    for (const std::string_view known : {"heic"sv, "heix"sv, "hevc"sv, "heim"sv, "heis"sv, "mif1"sv, "msf1"sv})
      if (brand == known) return "a HEIF image";
  }
  for (const Kind& kind : kinds) {
    if (start.substr(0, kind.begin.size()) == kind.begin) return kind.name;
  }
  return {};
}

std::string sizeText(std::uintmax_t bytes) {
  if (bytes < 10'000) return fmt::format("{} bytes", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.0f} KB", static_cast<double>(bytes) / 1e3);
  if (bytes < 10'000'000'000) return fmt::format("{:.0f} MB", static_cast<double>(bytes) / 1e6);
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

}  // namespace loom
