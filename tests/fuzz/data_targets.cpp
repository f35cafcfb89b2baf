// Files of data: cells of a CSV, the CSV itself, collections that are imported.
#include <zlib.h>

#include "engine/data/dataset.h"
#include "engine/data/decode.h"
#include "engine/data/import.h"
#include "engine/data/plain_png.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace loom;

void decode(std::string_view bytes, void (*decoder)(std::span<const std::byte>, Sample&)) {
  Sample sample;
  try {
    decoder(fuzz::asBytes(bytes), sample);
  } catch (const Error&) {
    return;
  }
  // What was decoded is as large as it says.
  if (static_cast<std::int64_t>(sample.bytes.size()) <
      sample.shape.elements() * static_cast<std::int64_t>(bytesOf(sample.type)))
    std::abort();
}

}  // namespace

// Also with the checks of its chunks as they must be, which a changed file would else never get past. What the short
// way reads, libpng reads as the same bytes.
LOOM_FUZZ(png) {
  decode(bytes, decodePng);
  std::string mended(bytes);
  for (std::size_t at = 8; mended.size() >= at + 12;) {
    const auto number = [&](std::size_t place) {
      return static_cast<std::size_t>(static_cast<unsigned char>(mended[place]));
    };
    const std::size_t size = number(at) << 24 | number(at + 1) << 16 | number(at + 2) << 8 | number(at + 3);
    if (size > mended.size() - at - 12) break;
    const auto check = crc32(0, reinterpret_cast<const Bytef*>(mended.data()) + at + 4, static_cast<uInt>(size + 4));
    at += size + 12;
    for (std::size_t i = 0; i < 4; ++i) mended[at - 4 + i] = static_cast<char>(check >> (24 - 8 * i));
  }
  decode(mended, decodePng);
  Sample plain, library;
  if (!decodePlainPng(fuzz::asBytes(mended), plain)) return;
  try {
    decodeAnyPng(fuzz::asBytes(mended), library);
  } catch (const Error&) {
    return;
  }
  if (plain.shape != library.shape || plain.bytes != library.bytes) std::abort();
}
LOOM_FUZZ(jpeg) {
  decode(bytes, decodeJpeg);
}
LOOM_FUZZ(bmp) {
  decode(bytes, decodeBmp);
}
LOOM_FUZZ(webp) {
  decode(bytes, decodeWebp);
}
LOOM_FUZZ(gif) {
  decode(bytes, decodeGif);
}
LOOM_FUZZ(tiff) {
  decode(bytes, decodeTiff);
}
LOOM_FUZZ(wav) {
  decode(bytes, decodeSound);
}
LOOM_FUZZ(npy) {
  decode(bytes, decodeNpy);
}
LOOM_FUZZ(matrix) {
  decode(bytes, decodeMatrix);
}

LOOM_FUZZ(csv) {
  const fuzz::Folder folder;
  const auto file = folder.write("data.csv", bytes);
  try {
    (void)peekSchema(file);
  } catch (const Error&) {
  }
  try {
    const auto dataset = openDataset(file, {.cacheFolder = folder.path("cache")});
    if (dataset->size() < 1) std::abort();
  } catch (const Error&) {
  }
}

LOOM_FUZZ(idx) {
  // The first byte says how much of the rest is the labels' file.
  const fuzz::Folder folder;
  const std::size_t labels =
      bytes.empty() ? 0 : std::min<std::size_t>(static_cast<unsigned char>(bytes[0]), bytes.size() - 1);
  const std::string_view rest = bytes.empty() ? bytes : bytes.substr(1);
  const auto images = folder.write("train-images-idx3-ubyte", rest.substr(labels));
  const auto names = folder.write("train-labels-idx1-ubyte", rest.substr(0, labels));
  try {
    (void)importIdx(images, names, folder.path("out"));
  } catch (const Error&) {
  }
}

LOOM_FUZZ(cifar) {
  const fuzz::Folder folder;
  try {
    (void)importCifar({folder.write("data_batch_1.bin", bytes)}, folder.path("out"));
  } catch (const Error&) {
  }
}
