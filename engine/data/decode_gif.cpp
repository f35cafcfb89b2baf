#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "engine/data/decode.h"

namespace loom {
namespace {

[[noreturn]] void refuseGif(std::string found, std::string wanted, std::string remedy = "write the file again") {
  throw DecodeError("the GIF image " + std::move(found), std::move(wanted), std::move(remedy));
}

struct GifSource {
  std::span<const std::byte> bytes;
  std::size_t at = 0;
};

int readGifBytes(GifFileType* gif, GifByteType* to, int count) {
  auto& source = *static_cast<GifSource*>(gif->UserData);
  const std::size_t size = std::min(static_cast<std::size_t>(std::max(count, 0)), source.bytes.size() - source.at);
  if (size == 0) return 0;
  std::memcpy(to, source.bytes.data() + source.at, size);
  source.at += size;
  return static_cast<int>(size);
}

struct GifCloser {
  void operator()(GifFileType* gif) const { DGifCloseFile(gif, nullptr); }
};

[[noreturn]] void refuseBrokenGif(const GifFileType& gif) {
  const char* const why = GifErrorString(gif.Error);
  refuseGif(fmt::format("is broken ({})", why ? why : "it ends too early"), "a whole image is needed");
}

// Goes on to the next picture; false where the file ends as it should.
bool nextGifPicture(GifFileType& gif) {
  for (;;) {
    GifRecordType record = UNDEFINED_RECORD_TYPE;
    if (DGifGetRecordType(&gif, &record) == GIF_ERROR) refuseBrokenGif(gif);
    if (record == TERMINATE_RECORD_TYPE) return false;
    if (record == IMAGE_DESC_RECORD_TYPE) return true;
    if (record != EXTENSION_RECORD_TYPE) continue;
    int code = 0;
    GifByteType* block = nullptr;
    if (DGifGetExtension(&gif, &code, &block) == GIF_ERROR) refuseBrokenGif(gif);
    while (block) {
      if (DGifGetExtensionNext(&gif, &block) == GIF_ERROR) refuseBrokenGif(gif);
    }
  }
}

// The picture's colours by index, row by row; the rows of an interlaced one come in four passes.
void readGifIndices(GifFileType& gif, std::vector<std::byte>& indices) {
  const GifImageDesc& picture = gif.Image;
  const std::size_t width = static_cast<std::size_t>(picture.Width);
  indices.resize(std::max(indices.size(), width * static_cast<std::size_t>(picture.Height)));
  const auto readRow = [&](int y) {
    auto* const row = reinterpret_cast<GifPixelType*>(indices.data()) + static_cast<std::size_t>(y) * width;
    if (DGifGetLine(&gif, row, picture.Width) == GIF_ERROR) refuseBrokenGif(gif);
  };
  constexpr std::array<std::pair<int, int>, 4> kPasses{{{0, 8}, {4, 8}, {2, 4}, {1, 2}}};
  if (!picture.Interlace) {
    for (int y = 0; y < picture.Height; ++y) readRow(y);
    return;
  }
  for (const auto& [first, step] : kPasses)
    for (int y = first; y < picture.Height; y += step) readRow(y);
}

bool isGreyMap(const ColorMapObject& map) {
  return std::all_of(map.Colors, map.Colors + map.ColorCount,
                     [](const GifColorType& c) { return c.Red == c.Green && c.Green == c.Blue; });
}

}  // namespace

void decodeGif(std::span<const std::byte> file, Sample& sample) {
  GifSource source{file};
  int error = 0;
  const std::unique_ptr<GifFileType, GifCloser> gif(DGifOpen(&source, readGifBytes, &error));
  if (!gif) refuseGif("is broken (its head)", "a whole image is needed");
  if (!nextGifPicture(*gif)) refuseGif("holds no picture", "one is needed");
  if (DGifGetImageDesc(gif.get()) == GIF_ERROR) refuseBrokenGif(*gif);
  const GifImageDesc picture = gif->Image;
  // A picture that covers a part of the screen would show a background that no viewer agrees about.
  if (picture.Left != 0 || picture.Top != 0 || picture.Width != gif->SWidth || picture.Height != gif->SHeight)
    refuseGif(fmt::format("covers {} x {} of {} x {}", picture.Width, picture.Height, gif->SWidth, gif->SHeight),
              "a picture of the whole is needed", "save it again as PNG");
  const ColorMapObject* const map = picture.ColorMap ? picture.ColorMap : gif->SColorMap;
  if (!map) refuseGif("has no palette", "one is needed", "save it again as PNG");
  const std::int64_t channels = isGreyMap(*map) ? 1 : 3;
  sample.kind = VariableKind::image;
  sample.type = DataType::u8;
  sample.shape = Shape{channels, picture.Height, picture.Width};
  checkSampleSize(sample.shape, sample.type, "the image");
  readGifIndices(*gif, sample.work);
  const std::size_t pixels = static_cast<std::size_t>(picture.Width) * static_cast<std::size_t>(picture.Height);
  sample.bytes.resize(pixels * static_cast<std::size_t>(channels));
  for (std::size_t i = 0; i < pixels; ++i) {
    const int index = std::to_integer<int>(sample.work[i]);
    if (index >= map->ColorCount)
      refuseGif(fmt::format("uses colour {}", index), fmt::format("its palette has {}", map->ColorCount));
    const GifColorType& colour = map->Colors[index];
    const GifByteType parts[] = {colour.Red, colour.Green, colour.Blue};
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c)
      sample.bytes[c * pixels + i] = static_cast<std::byte>(parts[c]);
  }
  if (nextGifPicture(*gif))
    refuseGif("is an animation", "a single picture is needed", "save the picture that is meant as a file of its own");
}

}  // namespace loom
