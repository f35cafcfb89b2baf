// Each decoder against files written byte by byte here, or by libpng and libjpeg themselves.
#include "engine/data/decode.h"

#include <gmock/gmock.h>
#include <png.h>
#include <sndfile.h>

#include <cmath>
#include <cstring>

#include "engine/data/write_png.h"
#include "tests/engine/data/data_files.h"
#include "tests/engine/data/sample_files.h"

namespace loom {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

Sample decoded(const std::vector<unsigned char>& file, std::string_view extension) {
  Sample sample;
  decodeBytes(std::as_bytes(std::span(file)), extension, sample);
  return sample;
}

std::vector<int> bytesOfSample(const Sample& sample) {
  std::vector<int> values;
  for (const std::byte b : sample.bytes) values.push_back(std::to_integer<int>(b));
  return values;
}

std::vector<float> floatsOf(const Sample& sample) {
  const auto* values = reinterpret_cast<const float*>(sample.bytes.data());
  return {values, values + sample.bytes.size() / sizeof(float)};
}

std::string errorOf(const std::vector<unsigned char>& file, std::string_view extension) {
  return messageOf([&] { decoded(file, extension); });
}

TEST(DecodePng, GreyAndColour) {
  const Sample grey = decoded(files::png(3, 2, 8, PNG_COLOR_TYPE_GRAY, {1, 2, 3, 4, 5, 6}), ".png");
  EXPECT_EQ(grey.shape, (Shape{1, 2, 3}));
  EXPECT_EQ(grey.type, DataType::u8);
  EXPECT_THAT(bytesOfSample(grey), ElementsAre(1, 2, 3, 4, 5, 6));
  const Sample rgb = decoded(files::png(2, 1, 8, PNG_COLOR_TYPE_RGB, {1, 2, 3, 4, 5, 6}), ".png");
  EXPECT_EQ(rgb.shape, (Shape{3, 1, 2}));
  EXPECT_THAT(bytesOfSample(rgb), ElementsAre(1, 4, 2, 5, 3, 6)) << "channels first";
  EXPECT_EQ(decoded(files::png(1, 1, 8, PNG_COLOR_TYPE_RGB_ALPHA, {1, 2, 3, 4}), ".png").shape, (Shape{4, 1, 1}));
}

TEST(DecodePng, FewBitsManyBitsAndPalettes) {
  EXPECT_THAT(bytesOfSample(decoded(files::png(4, 1, 2, PNG_COLOR_TYPE_GRAY, {0b00011011}), ".png")),
              ElementsAre(0, 85, 170, 255));
  EXPECT_THAT(bytesOfSample(decoded(files::png(3, 1, 1, PNG_COLOR_TYPE_GRAY, {0b10100000}), ".png")),
              ElementsAre(255, 0, 255));
  const Sample deep = decoded(files::png(2, 1, 16, PNG_COLOR_TYPE_GRAY, {0xff, 0xff, 0x01, 0x01}), ".png");
  EXPECT_EQ(deep.type, DataType::f32);
  EXPECT_THAT(floatsOf(deep), ElementsAre(255, 1)) << "in the scale of 8 bits";
  const Sample palette = decoded(files::png(2, 1, 8, PNG_COLOR_TYPE_PALETTE, {1, 0}), ".png");
  EXPECT_EQ(palette.shape, (Shape{3, 1, 2}));
  EXPECT_THAT(bytesOfSample(palette), ElementsAre(40, 10, 50, 20, 60, 30));
}

TEST(DecodePng, ReadsBackWhatWritePngWrote) {
  ScratchFolder folder;
  for (const std::int64_t channels : {1, 2, 3, 4}) {
    std::vector<std::byte> image(static_cast<std::size_t>(channels * 5 * 7));
    for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<std::byte>(i * 13);
    writePng(folder.path() / "a.png", image, Shape{channels, 5, 7});
    Sample sample;
    std::vector<std::byte> scratch;
    decodeFile(folder.path() / "a.png", sample, scratch);
    EXPECT_EQ(sample.shape, (Shape{channels, 5, 7}));
    EXPECT_EQ(sample.bytes, image);
  }
}

TEST(DecodePng, RefusesBrokenOnes) {
  const auto whole = files::png(9, 9, 8, PNG_COLOR_TYPE_GRAY, std::vector<unsigned char>(81, 7));
  for (std::size_t size = 8; size < whole.size() - 12; ++size)
    EXPECT_THAT(errorOf({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, ".png"),
                HasSubstr("the PNG image is broken"))
        << size;
  auto damaged = whole;
  damaged[whole.size() - 20] ^= 0x55;
  EXPECT_THAT(errorOf(damaged, ".png"), HasSubstr("is broken"));
  // 65000 x 65000 pixels in 60 bytes, and more pixels than PNG allows here.
  EXPECT_THAT(errorOf(files::pngHeader(65000, 65000), ".png"), HasSubstr("one sample may take at most 268 MB"));
  EXPECT_THAT(errorOf(files::pngHeader(2000000, 2), ".png"), HasSubstr("is broken"));
  EXPECT_THAT(errorOf({}, ".png"), HasSubstr("the file is empty"));
  EXPECT_THAT(errorOf({'<', 'h', 't', 'm', 'l', '>'}, ".png"), HasSubstr("an HTML page"));
}

TEST(DecodeJpeg, IsWhatLibjpegWroteWithinItsLoss) {
  std::vector<unsigned char> pixels;
  for (int i = 0; i < 16 * 16; ++i)
    pixels.insert(pixels.end(), {static_cast<unsigned char>(i), static_cast<unsigned char>(255 - i), 100});
  const Sample rgb = decoded(files::jpeg(16, 16, 3, pixels, 100, false), ".jpg");
  EXPECT_EQ(rgb.shape, (Shape{3, 16, 16}));
  for (std::size_t i = 0; i < 256; ++i) {
    EXPECT_NEAR(std::to_integer<int>(rgb.bytes[i]), static_cast<int>(i), 24) << "red plane first";
    EXPECT_NEAR(std::to_integer<int>(rgb.bytes[512 + i]), 100, 24);
  }
  const Sample grey = decoded(files::jpeg(8, 4, 1, std::vector<unsigned char>(32, 77), 95, true), ".JPEG");
  EXPECT_EQ(grey.shape, (Shape{1, 4, 8}));
  EXPECT_EQ(std::to_integer<int>(grey.bytes[5]), 77);
  // A JPEG under another image's name is read as what it is.
  EXPECT_EQ(decoded(files::jpeg(8, 4, 1, std::vector<unsigned char>(32, 77), 95, false), ".png").shape,
            (Shape{1, 4, 8}));
}

TEST(DecodeJpeg, RefusesBrokenOnes) {
  const auto whole = files::jpeg(32, 32, 3, std::vector<unsigned char>(3072, 90), 90, false);
  for (std::size_t size = 3; size < whole.size() - 2; size += 7)
    EXPECT_THAT(errorOf({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, ".jpg"),
                HasSubstr("the JPEG image is broken"))
        << size;
  auto huge = whole;
  for (std::size_t i = 0; i + 8 < huge.size(); ++i) {  // the frame header's height and width
    if (huge[i] == 0xff && huge[i + 1] == 0xc0) huge[i + 5] = huge[i + 6] = huge[i + 7] = huge[i + 8] = 0xff;
  }
  EXPECT_THAT(errorOf(huge, ".jpg"), testing::AnyOf(HasSubstr("one sample may take"), HasSubstr("is broken")));
  EXPECT_THAT(errorOf(files::jpeg(8, 8, 4, std::vector<unsigned char>(256, 9), 90, false), ".jpg"),
              HasSubstr("convert the image to RGB"));
}

TEST(DecodeBmp, EveryDepth) {
  const Sample rgb = decoded(files::bmp(2, 2, 24, {3, 2, 1, 6, 5, 4, 0, 0, 9, 8, 7, 12, 11, 10, 0, 0}), ".bmp");
  EXPECT_EQ(rgb.shape, (Shape{3, 2, 2}));
  EXPECT_THAT(bytesOfSample(rgb), ElementsAre(7, 10, 1, 4, 8, 11, 2, 5, 9, 12, 3, 6))
      << "the last row stands first in the file";
  EXPECT_THAT(bytesOfSample(decoded(files::bmp(2, -1, 24, {3, 2, 1, 6, 5, 4, 0, 0}), ".bmp")),
              ElementsAre(1, 4, 2, 5, 3, 6))
      << "a negative height: from the top";
  EXPECT_THAT(bytesOfSample(decoded(files::bmp(2, 1, 8, {1, 0, 0, 0}, {{10, 10, 10}, {200, 200, 200}}), ".bmp")),
              ElementsAre(200, 10))
      << "greys give one channel";
  EXPECT_THAT(bytesOfSample(decoded(files::bmp(2, 1, 4, {0x10, 0, 0, 0}, {{1, 2, 3}, {4, 5, 6}}), ".bmp")),
              ElementsAre(4, 1, 5, 2, 6, 3));
  EXPECT_THAT(bytesOfSample(decoded(files::bmp(3, 1, 1, {0b01000000, 0, 0, 0}, {{0, 0, 0}, {255, 255, 255}}), ".bmp")),
              ElementsAre(0, 255, 0));
  EXPECT_THAT(bytesOfSample(decoded(files::bmp(1, 1, 16, {0xff, 0x7f, 0, 0}), ".bmp")), ElementsAre(255, 255, 255));
  EXPECT_THAT(bytesOfSample(decoded(files::bmp(1, 1, 32, {3, 2, 1, 0}), ".bmp")), ElementsAre(1, 2, 3));
}

TEST(DecodeBmp, RefusesBrokenOnes) {
  const auto whole = files::bmp(2, 2, 24, {3, 2, 1, 6, 5, 4, 0, 0, 9, 8, 7, 12, 11, 10, 0, 0});
  for (std::size_t size = 2; size < whole.size(); ++size)
    EXPECT_THAT(errorOf({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, ".bmp"),
                HasSubstr("the file is cut short"))
        << size;
  EXPECT_THAT(errorOf(files::bmp(60000, 60000, 24, {}), ".bmp"), HasSubstr("one sample may take at most"));
  EXPECT_THAT(errorOf(files::bmp(0, 1, 24, {}), ".bmp"), HasSubstr("at least 1"));
  EXPECT_THAT(errorOf(files::bmp(1, 1, 7, {0, 0, 0, 0}), ".bmp"), HasSubstr("has 7 bits a pixel"));
  EXPECT_THAT(errorOf(files::bmp(2, 1, 8, {5, 0, 0, 0}, {{1, 1, 1}}), ".bmp"),
              HasSubstr("uses colour 5, but its palette has 1"));
  auto packed = whole;
  packed[30] = 1;
  EXPECT_THAT(errorOf(packed, ".bmp"), HasSubstr("is compressed"));
}

TEST(DecodeNpy, EveryTypeAndOrder) {
  const Sample bytes = decoded(files::npy("|u1", false, "(2, 3)", {1, 2, 3, 4, 5, 6}), ".npy");
  EXPECT_EQ(bytes.type, DataType::u8);
  EXPECT_EQ(bytes.shape, (Shape{2, 3}));
  EXPECT_THAT(bytesOfSample(decoded(files::npy("|u1", true, "(2, 3)", {1, 4, 2, 5, 3, 6}), ".npy")),
              ElementsAre(1, 2, 3, 4, 5, 6))
      << "column-major";
  EXPECT_THAT(floatsOf(decoded(files::npy("<f4", false, "(2,)", {0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}), ".npy")),
              ElementsAre(1, -2));
  EXPECT_THAT(floatsOf(decoded(files::npy(">f4", false, "(1,)", {0xc0, 0, 0, 0}), ".npy")), ElementsAre(-2));
  EXPECT_THAT(floatsOf(decoded(files::npy("<f8", false, "(1,)", {0, 0, 0, 0, 0, 0, 0xf8, 0x3f}), ".npy")),
              ElementsAre(1.5f));
  EXPECT_THAT(
      floatsOf(decoded(files::npy("<f2", false, "(4,)", {0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0xff, 0x7b}), ".npy")),
      ElementsAre(1, -2, 5.9604645e-8f, 65504));
  EXPECT_THAT(floatsOf(decoded(files::npy("<i2", false, "(2,)", {0xff, 0xff, 0x2c, 0x01}), ".npy")),
              ElementsAre(-1, 300));
  EXPECT_THAT(floatsOf(decoded(files::npy("|i1", false, "(2,)", {0x80, 0x7f}), ".npy")), ElementsAre(-128, 127));
  EXPECT_THAT(
      floatsOf(decoded(files::npy("<i8", false, "(1,)", {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}), ".npy")),
      ElementsAre(-2));
  EXPECT_THAT(floatsOf(decoded(files::npy(">u4", false, "(1,)", {0, 0, 1, 2}), ".npy")), ElementsAre(258));
  EXPECT_THAT(floatsOf(decoded(files::npy("|b1", false, "()", {1}), ".npy")), ElementsAre(1));
  EXPECT_THAT(
      floatsOf(decoded(files::npy("<i2", true, "(2, 2, 2)", {0, 0, 4, 0, 2, 0, 6, 0, 1, 0, 5, 0, 3, 0, 7, 0}), ".npy")),
      ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(DecodeNpy, RefusesBrokenOnes) {
  const auto whole = files::npy("<f4", false, "(2,)", {0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0});
  for (std::size_t size = 6; size < whole.size(); ++size)
    EXPECT_NE(errorOf({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, ".npy"), "no error") << size;
  EXPECT_THAT(errorOf(files::npy("<f4", false, "(3,)", {0, 0, 0, 0}), ".npy"), HasSubstr("cut short"));
  EXPECT_THAT(errorOf(files::npy("<f4", false, "(99999999999, 99999999)", {0}), ".npy"),
              HasSubstr("one sample may take at most"));
  EXPECT_THAT(errorOf(files::npy("<f4", false, "(-1,)", {0}), ".npy"), HasSubstr("at least 1"));
  EXPECT_THAT(errorOf(files::npy("<f4", false, "(1,1,1,1,1,1,1,1,1,1)", {0}), ".npy"), HasSubstr("at most 6"));
  EXPECT_THAT(errorOf(files::npy("|O", false, "(1,)", {0}), ".npy"), HasSubstr("astype('float32')"));
  EXPECT_THAT(errorOf(files::npy("<c8", false, "(1,)", {0}), ".npy"), HasSubstr("has elements of type '<c8'"));
  EXPECT_THAT(errorOf(files::npy("<f4", false, "(1,)", {0, 0, 0xc0, 0x7f}), ".npy"), HasSubstr("value 0 of 1 is NaN"));
}

TEST(DecodeWav, EveryFormat) {
  const Sample stereo = decoded(files::wav(1, 2, 16, {0x00, 0x40, 0x00, 0x80, 0xff, 0x7f, 0x00, 0x00}), ".wav");
  EXPECT_EQ(stereo.kind, VariableKind::wave);
  EXPECT_EQ(stereo.shape, (Shape{2, 2}));
  EXPECT_THAT(floatsOf(stereo), ElementsAre(0.5f, -1, 32767 / 32768.0f, 0));
  EXPECT_THAT(floatsOf(decoded(files::wav(1, 1, 8, {0, 128, 192}), ".wav")), ElementsAre(-1, 0, 0.5f));
  EXPECT_THAT(floatsOf(decoded(files::wav(1, 1, 24, {0, 0, 0x40, 0, 0, 0x80}), ".wav")), ElementsAre(0.5f, -1));
  EXPECT_THAT(floatsOf(decoded(files::wav(1, 1, 32, {0, 0, 0, 0xc0}), ".wav")), ElementsAre(-0.5f));
  EXPECT_THAT(floatsOf(decoded(files::wav(3, 1, 32, {0, 0, 0x80, 0x3f}), ".wav")), ElementsAre(1));
  EXPECT_THAT(floatsOf(decoded(files::wav(3, 1, 64, {0, 0, 0, 0, 0, 0, 0xe0, 0x3f}), ".wav")), ElementsAre(0.5f));
}

// Written into a pipe, which cannot be gone back in (ffmpeg, sox): the length is that of the file.
TEST(DecodeWav, WithoutALengthReadsToTheEnd) {
  for (const std::uint32_t length : {0xffffffffU, 0x7ffff000U}) {
    auto file = files::wav(1, 1, 16, {0x00, 0x40, 0x00, 0x80, 0x00});  // and half a number
    for (int byte = 0; byte < 4; ++byte)
      file[static_cast<std::size_t>(40 + byte)] = static_cast<unsigned char>(length >> 8 * byte);
    EXPECT_THAT(floatsOf(decoded(file, ".wav")), ElementsAre(0.5f, -1)) << length;
  }
}

TEST(DecodeWav, RefusesBrokenOnes) {
  const auto whole = files::wav(1, 2, 16, {0x00, 0x40, 0x00, 0x80});
  for (std::size_t size = 12; size < whole.size(); ++size)
    EXPECT_THAT(errorOf({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, ".wav"),
                HasSubstr("cut short"))
        << size;
  EXPECT_THAT(errorOf(files::wav(1, 1, 12, {0, 0}), ".wav"), HasSubstr("format 1 with 12 bits"));
  EXPECT_THAT(errorOf(files::wav(85, 1, 16, {0, 0}), ".wav"), HasSubstr("format 85"));
  EXPECT_THAT(errorOf(files::wav(1, 0, 16, {0, 0}), ".wav"), HasSubstr("has 0 channels"));
  EXPECT_THAT(errorOf(files::wav(1, 1, 16, {0, 0}, 0), ".wav"), HasSubstr("has 0 samples a second"));
  EXPECT_THAT(errorOf(files::wav(1, 1, 16, {}), ".wav"), HasSubstr("at least 1"));
}

TEST(DecodeSound, ReadsFlac) {
  const std::vector<float> values{0.5f, -1, 32767 / 32768.0f, 0};
  const auto file = files::sound(SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 2, values);
  const Sample stereo = decoded(file, ".flac");
  EXPECT_EQ(stereo.kind, VariableKind::wave);
  EXPECT_EQ(stereo.shape, (Shape{2, 2}));
  EXPECT_THAT(floatsOf(stereo), ElementsAreArray(values));
  EXPECT_THAT(floatsOf(decoded(file, ".wav")), ElementsAreArray(values)) << "by content, as of images";
  EXPECT_THAT(floatsOf(decoded(files::sound(SF_FORMAT_FLAC | SF_FORMAT_PCM_24, 1, {0.25f, -0.75f}), ".flac")),
              ElementsAre(0.25f, -0.75f));
}

TEST(DecodeSound, ReadsOgg) {
  std::vector<float> values(4000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.5f * std::sin(0.2f * static_cast<float>(i));
  const Sample tone = decoded(files::sound(SF_FORMAT_OGG | SF_FORMAT_VORBIS, 1, values), ".ogg");
  EXPECT_EQ(tone.kind, VariableKind::wave);
  ASSERT_EQ(tone.shape, (Shape{4000, 1}));
  const std::vector<float> read = floatsOf(tone);
  double difference = 0;
  for (std::size_t i = 0; i < values.size(); ++i) difference += std::abs(read[i] - values[i]);
  EXPECT_LT(difference / 4000, 0.02);
}

// libsndfile would read what is left as a shorter sound.
TEST(DecodeSound, RefusesWhatWasCutShort) {
  std::vector<float> values(9000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.5f * std::sin(0.01f * static_cast<float>(i * i % 977));
  for (const auto& [file, ending, kind] :
       {std::tuple{files::sound(SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 1, values), ".flac", "FLAC"},
        std::tuple{files::sound(SF_FORMAT_OGG | SF_FORMAT_VORBIS, 1, values), ".ogg", "OGG"}}) {
    for (std::size_t size = 5; size < file.size(); size += 31)
      EXPECT_THAT(errorOf({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)}, ending),
                  AllOf(HasSubstr(kind), HasSubstr("but "), HasSubstr(" it again")))
          << size << " of " << file.size();
    EXPECT_EQ(errorOf(file, ending), "no error");
  }
}

// A byte in the midst: never another sound without a word.
TEST(DecodeSound, RefusesWhatIsDamaged) {
  std::vector<float> values(9000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.5f * std::sin(0.01f * static_cast<float>(i * i % 977));
  for (const auto& [file, ending] : {std::pair{files::sound(SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 1, values), ".flac"},
                                     std::pair{files::sound(SF_FORMAT_OGG | SF_FORMAT_VORBIS, 1, values), ".ogg"}}) {
    const Sample whole = decoded(file, ending);
    int refused = 0;
    for (std::size_t at = file.size() / 2; at < file.size(); at += 97) {
      auto changed = file;
      changed[at] ^= 0x10;
      if (errorOf(changed, ending) == "no error") {
        EXPECT_EQ(floatsOf(decoded(changed, ending)), floatsOf(whole)) << ending << " byte " << at;
      } else {
        ++refused;
      }
    }
    EXPECT_GT(refused, 10) << ending;
  }
}

TEST(DecodeMatrix, ReadsNumbersAndTellsTheLine) {
  const auto text = [](std::string_view t) { return std::vector<unsigned char>(t.begin(), t.end()); };
  const Sample sample = decoded(text("\xef\xbb\xbf"
                                     "1,2.5\r\n\r\n-3e1,\"4\""),
                                ".csv");
  EXPECT_EQ(sample.shape, (Shape{2, 2}));
  EXPECT_THAT(floatsOf(sample), ElementsAre(1, 2.5f, -30, 4));
  EXPECT_THAT(errorOf(text("1,2\n3,cat\n"), ".csv"), HasSubstr("line 2, cell 2 of this data CSV is 'cat'"));
  EXPECT_THAT(errorOf(text("a,b\n3,4\n"), ".csv"), HasSubstr("remove the header line"));
  EXPECT_THAT(errorOf(text("1,2\n\n3\n"), ".csv"),
              HasSubstr("line 3 of this data CSV has 1 cells, but the lines before have 2"));
  EXPECT_THAT(errorOf(text("\n\n"), ".csv"), HasSubstr("holds no numbers"));
  EXPECT_THAT(errorOf(text("1,nan\n"), ".csv"), HasSubstr("'nan'"));
}

}  // namespace
}  // namespace loom
