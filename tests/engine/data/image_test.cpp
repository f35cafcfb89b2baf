// Images take shorter ways than libpng's and libjpeg's own: the same bytes as theirs, over kinds, sizes and damage.
#include <gmock/gmock.h>
#include <png.h>

#include <random>

#include "engine/data/decode.h"
#include "engine/data/plain_png.h"
#include "engine/data/planes.h"
#include "engine/data/png_rows.h"
#include "tests/engine/data/data_files.h"
#include "tests/engine/data/sample_files.h"

namespace loom {
namespace {

using files::Bytes;

std::span<const std::byte> view(const Bytes& file) {
  return std::as_bytes(std::span(file));
}

// Smooth enough for every filter to be chosen somewhere.
Bytes picture(std::size_t width, std::size_t height, std::size_t each, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes pixels(width * height * each);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<unsigned char>(i / each * 3 + i / (width * each) * 7 + random() % (i % 5 == 0 ? 256 : 4));
  return pixels;
}

struct Outcome {
  std::string error = "no error";
  Shape shape;
  std::vector<std::byte> bytes;
  bool operator==(const Outcome&) const = default;
};

void PrintTo(const Outcome& outcome, std::ostream* out) {
  *out << outcome.error << ", " << outcome.shape.toString();
}

Outcome outcomeOf(void (*decode)(std::span<const std::byte>, Sample&), const Bytes& file) {
  Sample sample;
  Outcome outcome;
  outcome.error = messageOf([&] { decode(view(file), sample); });
  if (outcome.error == "no error") {
    outcome.shape = sample.shape;
    outcome.bytes = sample.bytes;
  }
  return outcome;
}

struct PngKind {
  int colorType;
  std::size_t each;
};
constexpr PngKind kPngKinds[] = {{PNG_COLOR_TYPE_GRAY, 1},
                                 {PNG_COLOR_TYPE_GRAY_ALPHA, 2},
                                 {PNG_COLOR_TYPE_RGB, 3},
                                 {PNG_COLOR_TYPE_RGB_ALPHA, 4},
                                 {PNG_COLOR_TYPE_PALETTE, 1}};

TEST(PlainPng, IsWhatLibpngReads) {
  for (const PngKind kind : kPngKinds) {
    for (const std::uint32_t width : {1, 2, 5, 15, 16, 17, 31, 32, 33, 61}) {
      for (const int filters :
           {PNG_FILTER_NONE, PNG_FILTER_SUB, PNG_FILTER_UP, PNG_FILTER_AVG, PNG_FILTER_PAETH, PNG_ALL_FILTERS}) {
        const std::uint32_t height = 1 + width % 7;
        const Bytes file =
            files::png(width, height, 8, kind.colorType, picture(width, height, kind.each, width),
                       {.filters = filters, .chunk = filters == PNG_ALL_FILTERS ? 7u : 8192u, .colours = 256});
        Sample sample;
        ASSERT_TRUE(decodePlainPng(view(file), sample)) << kind.colorType << " " << width << " " << filters;
        const Outcome library = outcomeOf(decodeAnyPng, file);
        EXPECT_EQ(sample.shape, library.shape);
        EXPECT_EQ(sample.bytes, library.bytes) << kind.colorType << " " << width << " " << filters;
      }
    }
  }
}

TEST(PlainPng, LeavesTheRestToLibpng) {
  Sample sample;
  const auto plain = [&](const Bytes& file) { return decodePlainPng(view(file), sample); };
  const Bytes pixels = picture(9, 9, 1, 3);
  EXPECT_TRUE(plain(files::png(9, 9, 8, PNG_COLOR_TYPE_GRAY, pixels)));
  EXPECT_FALSE(plain(files::png(9, 9, 8, PNG_COLOR_TYPE_GRAY, pixels, {.interlaced = true})));
  EXPECT_FALSE(plain(files::png(9, 9, 8, PNG_COLOR_TYPE_GRAY, pixels, {.transparent = true})));
  EXPECT_FALSE(plain(files::png(9, 9, 16, PNG_COLOR_TYPE_GRAY, picture(9, 9, 2, 3))));
  EXPECT_FALSE(plain(files::png(8, 9, 4, PNG_COLOR_TYPE_GRAY, picture(4, 9, 1, 3))));
  // Indices beyond the palette.
  EXPECT_FALSE(plain(files::png(9, 9, 8, PNG_COLOR_TYPE_PALETTE, pixels)));
  EXPECT_FALSE(plain(files::png(9, 9, 8, PNG_COLOR_TYPE_PALETTE, Bytes(81, 0), {.transparent = true})));
  EXPECT_FALSE(plain(files::pngHeader(65000, 65000)));
  EXPECT_FALSE(plain(files::pngHeader(3000, 3000))) << "no memory for more pixels than so few bytes can hold";
  EXPECT_LT(sample.work.size(), 1u << 20);
  EXPECT_FALSE(plain({}));
}

// Any byte changed, any end: the outcome is libpng's, with the chunks' checks as they were and as they would have to
// be.
TEST(PlainPng, DamageEndsAsWithLibpng) {
  int plain = 0;
  std::mt19937_64 random(11);
  for (const PngKind kind : kPngKinds) {
    const Bytes whole = files::png(21, 6, 8, kind.colorType, picture(21, 6, kind.each, 5),
                                   {.filters = PNG_ALL_FILTERS, .chunk = 40, .colours = 256});
    for (std::size_t at = 0; at < whole.size(); ++at) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at));
      EXPECT_EQ(outcomeOf(decodePng, cut), outcomeOf(decodeAnyPng, cut)) << kind.colorType << " cut at " << at;
      for (int i = 0; i < 4; ++i) {
        Bytes changed = whole;
        changed[at] = static_cast<unsigned char>(i < 2 ? changed[at] ^ 1u << random() % 8 : random());
        if (i > 0) files::mendPngChecks(changed);
        Sample sample;
        plain += decodePlainPng(view(changed), sample);
        const Outcome library = outcomeOf(decodeAnyPng, changed);
        if (library.error.find("invalid bit length repeat") != std::string::npos) continue;  // see plain_png.h
        EXPECT_EQ(outcomeOf(decodePng, changed), library)
            << kind.colorType << " changed at " << at << " to " << int(changed[at]);
      }
    }
  }
  EXPECT_GT(plain, 100) << "too few of them took the short way";
}

TEST(PngRows, VectorsAreTheBytes) {
  std::mt19937_64 random(7);
  for (std::size_t each = 1; each <= 4; ++each) {
    for (std::size_t pixels = 1; pixels < 40; ++pixels) {
      const std::size_t bytes = each * pixels, room = bytes + kPngRowSlack;
      std::vector<std::byte> filtered(room), above(room), row(room), expected(room);
      for (int filter = 1; filter <= 4; ++filter) {
        if (filter == 2) continue;
        for (std::size_t i = 0; i < room; ++i) {
          filtered[i] = static_cast<std::byte>(random());
          above[i] = static_cast<std::byte>(random() % 2 ? random() : random() % 3);
        }
        ASSERT_TRUE(undoPngFilter(filter, each, filtered.data(), above.data(), row.data(), bytes));
        undoPngFilterByBytes(filter, each, filtered.data(), above.data(), expected.data(), bytes);
        EXPECT_TRUE(std::equal(row.begin(), row.end() - kPngRowSlack, expected.begin()))
            << "filter " << filter << ", " << pixels << " pixels of " << each;
      }
      EXPECT_FALSE(undoPngFilter(5, each, filtered.data(), above.data(), row.data(), bytes));
    }
  }
}

TEST(Planes, NothingBesideThem) {
  for (const auto& [each, channels] : {std::pair{1, 1}, {2, 2}, {3, 3}, {4, 3}, {4, 4}}) {
    for (std::size_t count = 1; count < 70; ++count) {
      const auto e = static_cast<std::size_t>(each), planes = static_cast<std::size_t>(channels), plane = count + 3;
      // As long as the pixels are, so that a sanitizer sees what reads behind them.
      std::vector<std::byte> packed(e * count), out(planes * plane, std::byte{77});
      for (std::size_t i = 0; i < packed.size(); ++i) packed[i] = static_cast<std::byte>(i * 5 + 1);
      partPlanes(packed.data(), count, e, planes, out.data(), plane);
      for (std::size_t c = 0; c < planes; ++c) {
        for (std::size_t i = 0; i < plane; ++i)
          ASSERT_EQ(out[c * plane + i], i < count ? packed[i * e + c] : std::byte{77})
              << each << " " << count << " " << i;
      }
    }
  }
}

TEST(DecodeJpeg, IsWhatLibjpegReads) {
  for (const int channels : {1, 3}) {
    for (const unsigned width : {1, 2, 7, 15, 16, 17, 31, 33, 64, 131}) {
      for (const bool progressive : {false, true}) {
        const unsigned height = 1 + width % 19;
        const auto each = static_cast<std::size_t>(channels), pixels = std::size_t{width} * height;
        const Bytes file = files::jpeg(width, height, channels, picture(width, height, each, width), 80, progressive);
        const Bytes packed = files::readJpeg(file);
        const Outcome ours = outcomeOf(decodeJpeg, file);
        ASSERT_EQ(ours.shape, (Shape{channels, height, width}));
        for (std::size_t c = 0; c < each; ++c) {
          for (std::size_t i = 0; i < pixels; ++i)
            ASSERT_EQ(std::to_integer<int>(ours.bytes[c * pixels + i]), packed[i * each + c]) << width << " " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace loom
