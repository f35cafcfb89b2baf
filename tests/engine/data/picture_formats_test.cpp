// WebP, GIF, TIFF, HEIC and AVIF as Pillow and tifffile wrote them (pictures/make.py): the pixels that were written,
// and what is refused.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "engine/data/decode.h"
#include "engine/data/sample_files.h"
#include "tests/engine/data/data_files.h"

namespace loom {
namespace {

constexpr int kWidth = 13, kHeight = 9;

Sample decoded(const std::string& name) {
  Sample sample;
  std::vector<std::byte> scratch;
  decodeFile(std::filesystem::path(GRADLOOM_SOURCE_DIR) / "tests/engine/data/pictures" / name, sample, scratch);
  return sample;
}

std::string fault(const std::string& name) {
  return messageOf([&] { decoded(name); });
}

// The picture of make.py: red, green, blue, alpha at (x, y).
int written(int channel, int x, int y) {
  switch (channel) {
    case 0:
      return x * 17 + y;
    case 1:
      return 255 - y * 20 - x;
    case 2:
      return x * y * 3 % 256;
    default:
      return 40 + x * 10 + y * 5;
  }
}
int writtenGrey(int x, int y) {
  return x * 15 + y * 7;
}

int at(const Sample& sample, std::int64_t channel, std::int64_t x, std::int64_t y) {
  const std::int64_t place = (channel * sample.shape[1] + y) * sample.shape[2] + x;
  return std::to_integer<int>(sample.bytes[static_cast<std::size_t>(place)]);
}
float floatAt(const Sample& sample, int x, int y) {
  return reinterpret_cast<const float*>(sample.bytes.data())[y * kWidth + x];
}

class LosslessColour : public testing::TestWithParam<const char*> {};

TEST_P(LosslessColour, IsReadAsItWasWritten) {
  const Sample sample = decoded(GetParam());
  ASSERT_EQ(sample.type, DataType::u8);
  const bool alpha = std::string(GetParam()).starts_with("alpha");
  ASSERT_EQ(sample.shape, (Shape{alpha ? 4 : 3, kHeight, kWidth}));
  for (int c = 0; c < sample.shape[0]; ++c)
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) ASSERT_EQ(at(sample, c, x, y), written(c, x, y)) << c << " " << x << " " << y;
}

INSTANTIATE_TEST_SUITE_P(PictureFormats, LosslessColour,
                         testing::Values("colour.webp", "alpha.webp", "colour.gif", "lzw.tif", "alpha.tif",
                                         "palette.tif", "cmyk.tif", "planes.tif", "tiled.tif"),
                         [](const auto& info) {
                           std::string name = info.param;
                           name[name.find('.')] = '_';
                           return name;
                         });

TEST(PictureFormats, GreysGiveOneChannel) {
  for (const char* name : {"grey.gif", "interlaced.gif"}) {
    const Sample sample = decoded(name);
    ASSERT_EQ(sample.shape, (Shape{1, kHeight, kWidth})) << name;
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) ASSERT_EQ(at(sample, 0, x, y), writtenGrey(x, y)) << name;
  }
}

TEST(PictureFormats, TiffsOfSixteenBitsAndOfFloatsKeepTheirNumbers) {
  const Sample sixteen = decoded("sixteen.tif"), real = decoded("float.tif");
  ASSERT_EQ(sixteen.type, DataType::f32);
  ASSERT_EQ(real.shape, (Shape{1, kHeight, kWidth}));
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      EXPECT_FLOAT_EQ(floatAt(sixteen, x, y), static_cast<float>(writtenGrey(x, y) * 257 + 3) / 257.0f);
      EXPECT_FLOAT_EQ(floatAt(real, x, y), static_cast<float>(writtenGrey(x, y)) / 7.0f - 3.0f);
    }
  }
}

// Orientation 6: the file's left column is the picture's upper row, from right to left.
TEST(PictureFormats, AreTurnedAsTheyWereHeld) {
  for (const char* name : {"turned.webp", "turned.tif"}) {
    const Sample sample = decoded(name);
    ASSERT_EQ(sample.shape, (Shape{3, kWidth, kHeight})) << name;
    for (int y = 0; y < kWidth; ++y)
      for (int x = 0; x < kHeight; ++x) ASSERT_EQ(at(sample, 0, x, y), written(0, y, kHeight - 1 - x)) << name;
  }
}

TEST(PictureFormats, SeveralPicturesInOneFileAreRefused) {
  EXPECT_EQ(
      fault("moving.webp"),
      "the WebP image is an animation, but a single picture is needed; save the picture that is meant as a file of "
      "its own");
  EXPECT_EQ(
      fault("moving.gif"),
      "the GIF image is an animation, but a single picture is needed; save the picture that is meant as a file of "
      "its own");
  EXPECT_EQ(fault("pages.tif"),
            "the TIFF image has several pages, but a single picture is needed; save each page as a file of its own");
}

// Each pixel of make.py's picture stands as 8 x 8 here, and the codecs lose a little of it.
TEST(PictureFormats, WhatTelephonesWriteIsRead) {
  for (const char* name : {"phone.heic", "new.avif"}) {
    SCOPED_TRACE(name);
    Sample sample;
    try {
      sample = decoded(name);
    } catch (const DecodeError& error) {
      if (error.remedy().starts_with("install")) GTEST_SKIP() << error.what();
      FAIL() << error.what();
    }
    ASSERT_EQ(sample.shape, (Shape{3, 8 * kHeight, 8 * kWidth}));
    double difference = 0;
    for (int c = 0; c < 3; ++c)
      for (int y = 0; y < 8 * kHeight; ++y)
        for (int x = 0; x < 8 * kWidth; ++x) difference += std::abs(at(sample, c, x, y) - written(c, x / 8, y / 8));
    EXPECT_LT(difference / static_cast<double>(sample.shape.elements()), 4.0);
  }
}

TEST(PictureFormats, CutFilesAreRefused) {
  for (const char* name : {"colour.webp", "colour.gif", "lzw.tif", "sixteen.tif", "tiled.tif", "phone.heic"}) {
    std::ifstream in(std::filesystem::path(GRADLOOM_SOURCE_DIR) / "tests/engine/data/pictures" / name,
                     std::ios::binary);
    const std::string whole((std::istreambuf_iterator<char>(in)), {});
    for (const double share : {0.1, 0.5, 0.9}) {
      const auto size = static_cast<std::size_t>(static_cast<double>(whole.size()) * share);
      Sample sample;
      EXPECT_THROW(decodeBytes(std::as_bytes(std::span(whole.data(), size)),
                               std::filesystem::path(name).extension().native(), sample),
                   Error)
          << name << " " << share;
    }
  }
}

TEST(PictureFormats, APointerOfGitLfsIsToldAsOne) {
  const std::string_view text = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
  Sample sample;
  EXPECT_EQ(
      messageOf([&] { decodeBytes(std::as_bytes(std::span(text)), ".png", sample); }),
      "this is a pointer of Git LFS, not the file itself, but a PNG image is needed; run git lfs pull in its folder");
}

TEST(PictureFormats, EndingsAreKnownInAnyLetters) {
  ASSERT_NE(sampleEndingOf("a/IMG_1.HEIC"), nullptr);
  EXPECT_EQ(sampleEndingOf("a/IMG_1.HEIC")->kind, SampleFileKind::picture);
  EXPECT_EQ(sampleEndingOf("b.Wav")->kind, SampleFileKind::sound);
  EXPECT_EQ(sampleEndingOf("png"), nullptr);
  EXPECT_EQ(sampleEndingOf("x.csv"), nullptr);
}

}  // namespace
}  // namespace loom
