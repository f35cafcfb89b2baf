// Steps that compute pixels, pictures of several sizes, and pictures turned by EXIF, beside what Pillow makes of them.
#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "engine/data/colour.h"
#include "engine/data/orientation.h"
#include "engine/data/prepare.h"
#include "engine/data/resample.h"
#include "engine/data/stats.h"
#include "engine/data/write_png.h"
#include "tests/engine/data/data_files.h"
#include "tests/engine/data/picture_values.h"
#include "tests/engine/data/pictures.h"
#include "tests/engine/data/sample_files.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Picture pictureOf(std::int64_t channels, std::int64_t rows, std::int64_t columns, DataType type = DataType::u8) {
  Picture picture;
  picture.make(type, channels, rows, columns);
  std::size_t i = 0;
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t y = 0; y < rows; ++y)
      for (std::int64_t x = 0; x < columns; ++x, ++i) {
        if (type == DataType::u8)
          picture.bytes[i] = static_cast<std::byte>(pixelAt(y, x, c));
        else
          reinterpret_cast<float*>(picture.bytes.data())[i] = static_cast<float>(pixelAt(y, x, c));
      }
  return picture;
}

// `most`: by how much a pixel may differ from Pillow's.
void expectIs(const Picture& picture, const PictureValues& wanted, double most) {
  ASSERT_EQ((Shape{picture.channels, picture.rows, picture.columns}), wanted.shape);
  for (std::size_t i = 0; i < wanted.planes.size(); ++i) {
    const double value = picture.type == DataType::u8 ? std::to_integer<int>(picture.bytes[i])
                                                      : reinterpret_cast<const float*>(picture.bytes.data())[i];
    ASSERT_LE(std::fabs(value - wanted.planes[i]), most) << "pixel " << i << ": " << value;
  }
}

TEST(PictureSteps, ResizeToThePixelAsPillowDoes) {
  for (const DataType type : {DataType::u8, DataType::f32}) {
    const double most = type == DataType::u8 ? 0 : 1;  // floats are not rounded between the two passes
    Picture out;
    resample(pictureOf(3, 9, 13, type).view(), {.rows = 9, .columns = 13}, 4, 6, out);
    expectIs(out, kSmaller, most);
    resample(pictureOf(1, 9, 13, type).view(), {.rows = 9, .columns = 13}, 12, 17, out);
    expectIs(out, kLarger, most);
    resample(pictureOf(3, 9, 13, type).view(), {.top = 1, .left = 2, .rows = 7, .columns = 9}, 5, 5, out);
    expectIs(out, kPiece, most);
    const Picture same = pictureOf(3, 9, 13, type);
    resample(same.view(), {.rows = 9, .columns = 13}, 9, 13, out);
    EXPECT_EQ(out.bytes, same.bytes) << "the size that it has changes nothing";
  }
}

TEST(PictureSteps, ChangeColoursAsPillowDoes) {
  const auto changed = [](DataType type, auto&& change) {
    Picture picture = pictureOf(3, 5, 7, type);
    change(picture);
    return picture;
  };
  for (const DataType type : {DataType::u8, DataType::f32}) {
    const bool bytes = type == DataType::u8;
    expectIs(changed(type, [](Picture& p) { brighten(p, 1.4); }), kBrighter, bytes ? 0 : 1);
    expectIs(changed(type, [](Picture& p) { brighten(p, 0.3); }), kDarker, bytes ? 0 : 1);
    expectIs(changed(type, [](Picture& p) { contrast(p, 1.7); }), kContrast, bytes ? 0 : 2);
    expectIs(changed(type, [](Picture& p) { saturate(p, 0.25); }), kPaler, bytes ? 0 : 2);
    // Pillow holds hues as bytes, cut off twice: two 255ths of the circle, 6 of 255 levels each. Floats are finer.
    expectIs(changed(type, [](Picture& p) { turnHue(p, 0.3); }), kHue, bytes ? 0 : 12);
    expectIs(changed(type, [](Picture& p) { turnHue(p, -0.12); }), kHueBack, bytes ? 0 : 12);
    Picture grey;
    toGrey(pictureOf(3, 5, 7, type).view(), grey);
    expectIs(grey, kGrey, bytes ? 0 : 1);
  }
  Picture grey = pictureOf(1, 5, 7), as = grey;
  saturate(grey, 3);
  turnHue(grey, 0.2);
  EXPECT_EQ(grey.bytes, as.bytes);
}

TEST(PictureSteps, RotateAsPillowDoes) {
  Picture out;
  rotate(pictureOf(1, 8, 7).view(), 30, 9, out);
  expectIs(out, kTurned, 1);
}

TEST(Orientation, TurnsAsViewersDo) {
  const PictureValues* const wanted[] = {&kUpright2, &kUpright3, &kUpright4, &kUpright5,
                                         &kUpright6, &kUpright7, &kUpright8};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    for (const DataType type : {DataType::u8, DataType::f32}) {
      Sample sample{.kind = VariableKind::image, .shape = {1, 2, 3}, .type = type, .bytes = {}, .work = {}};
      sample.bytes.resize(6 * bytesOf(type));
      std::vector<int> values;
      for (int i = 0; i < 6; ++i) {
        if (type == DataType::u8)
          sample.bytes[static_cast<std::size_t>(i)] = static_cast<std::byte>(i + 1);
        else
          reinterpret_cast<float*>(sample.bytes.data())[i] = static_cast<float>(i + 1);
      }
      turnUpright(sample, orientation);
      for (int i = 0; i < 6; ++i)
        values.push_back(type == DataType::u8
                             ? std::to_integer<int>(sample.bytes[static_cast<std::size_t>(i)])
                             : static_cast<int>(reinterpret_cast<const float*>(sample.bytes.data())[i]));
      if (orientation == 1) {
        EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5, 6));
        continue;
      }
      EXPECT_EQ(sample.shape, wanted[orientation - 2]->shape) << orientation;
      EXPECT_EQ(values, wanted[orientation - 2]->planes) << orientation;
    }
  }
}

// "Exif", a TIFF header, one directory of one entry.
files::Bytes withOrientation(const files::Bytes& jpeg, bool big, unsigned char value) {
  const std::string little("Exif\0\0II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x01\0\0\0\0\0\0\0", 32);
  const std::string large("Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x01\0\0\0\0\0\0", 32);
  std::string exif = big ? large : little;
  exif[big ? 25 : 24] = static_cast<char>(value);
  files::Bytes all(jpeg.begin(), jpeg.begin() + 2);
  all.insert(all.end(), {0xff, 0xe1, 0, static_cast<unsigned char>(exif.size() + 2)});
  all.insert(all.end(), exif.begin(), exif.end());
  all.insert(all.end(), jpeg.begin() + 2, jpeg.end());
  return all;
}

Sample jpegOf(const files::Bytes& file) {
  Sample sample;
  decodeBytes(std::as_bytes(std::span(file)), ".jpg", sample);
  return sample;
}

// PNGs of 8 bits are read by our own code, others by libpng.
TEST(Orientation, OfAPngIsFollowed) {
  const std::string little("II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0", 26);
  for (const int bits : {8, 16}) {
    files::Bytes pixels(static_cast<std::size_t>(4 * 2 * bits / 8), 0);
    pixels.back() = pixels[pixels.size() - static_cast<std::size_t>(bits / 8)] = 255;  // below, at the right
    const auto decodedWith = [&](const files::Bytes& exif) {
      const files::Bytes file = files::png(4, 2, bits, 0, pixels, {.exif = exif});
      Sample sample;
      decodeBytes(std::as_bytes(std::span(file)), ".png", sample);
      return sample;
    };
    EXPECT_EQ(decodedWith({}).shape, (Shape{1, 2, 4}));
    const Sample turned = decodedWith({little.begin(), little.end()});
    EXPECT_EQ(turned.shape, (Shape{1, 4, 2})) << bits;
    // Turned by a quarter to the right, what was below at the right is below at the left.
    const std::size_t at = 6;
    if (bits == 8)
      EXPECT_EQ(std::to_integer<int>(turned.bytes[at]), 255);
    else
      EXPECT_EQ(reinterpret_cast<const float*>(turned.bytes.data())[at], 255);
    EXPECT_EQ(decodedWith({1, 2, 3}).shape, (Shape{1, 2, 4})) << "damaged";
  }
}

// What case 11 of strangers was: the bright half of a picture that a camera took upside down belongs above.
TEST(Orientation, OfAJpegIsFollowed) {
  files::Bytes pixels(16 * 8, 0);
  std::fill_n(pixels.begin() + 64, 64, static_cast<unsigned char>(200));
  const files::Bytes plain = files::jpeg(16, 8, 1, pixels, 95, false);
  ASSERT_EQ(std::to_integer<int>(jpegOf(plain).bytes[0]), 0);
  for (const bool big : {false, true}) {
    const Sample turned = jpegOf(withOrientation(plain, big, 3));
    EXPECT_EQ(turned.shape, (Shape{1, 8, 16}));
    EXPECT_EQ(std::to_integer<int>(turned.bytes[0]), 200);
    EXPECT_EQ(std::to_integer<int>(turned.bytes[7 * 16]), 0);
    EXPECT_EQ(jpegOf(withOrientation(plain, big, 6)).shape, (Shape{1, 16, 8}));
    for (const unsigned char none : {0, 1, 9})
      EXPECT_EQ(jpegOf(withOrientation(plain, big, none)).bytes[0], std::byte{0});
  }
  files::Bytes asLong = withOrientation(plain, false, 6);
  asLong[2 + 4 + 18] = 4;  // the type of the number
  EXPECT_EQ(jpegOf(asLong).shape, (Shape{1, 16, 8}));
  // A directory that is cut short, or lies outside, says nothing.
  const files::Bytes whole = withOrientation(plain, false, 3);
  for (std::size_t byte = 12; byte < 38; ++byte) {
    files::Bytes damaged = whole;
    damaged[byte] = 0xff;
    EXPECT_EQ(jpegOf(damaged).shape.elements(), 128);
  }
}

// Some cameras write 0 as the end of the spectrum, which a sequential picture does not use (case 17).
TEST(DecodeJpeg, ReadsWhatCamerasWrite) {
  files::Bytes pixels;
  for (int i = 0; i < 16 * 8; ++i)
    pixels.insert(pixels.end(), {static_cast<unsigned char>(i), static_cast<unsigned char>(200), 50});
  const files::Bytes whole = files::jpeg(16, 8, 3, pixels, 90, false);
  files::Bytes odd = whole;
  for (std::size_t i = 0; i + 12 < odd.size(); ++i)
    if (odd[i] == 0xff && odd[i + 1] == 0xda) {
      ASSERT_EQ(odd[i + 12], 63);
      odd[i + 12] = 0;
      break;
    }
  ASSERT_NE(odd, whole);
  EXPECT_EQ(jpegOf(odd).bytes, jpegOf(whole).bytes);
}

class SeveralSizes : public testing::Test {
 protected:
  // Rows of pictures of channels x rows x columns, and a label.
  std::filesystem::path write(const std::vector<Shape>& shapes) {
    std::string csv = "x:image,y:label\n";
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const Picture picture = pictureOf(shapes[i][0], shapes[i][1], shapes[i][2]);
      writePng(folder.path() / fmt::format("{}.png", i), picture.bytes, shapes[i]);
      csv += fmt::format("{}.png,{}\n", i, i % 2);
    }
    return folder.write("train.csv", csv);
  }
  ScratchFolder folder;
};

std::vector<float> preparedRow(const Dataset& dataset, const std::vector<Json>& steps, std::int64_t row) {
  const Preparation preparation(dataset.schema().variables[0], steps, true, 1);
  std::vector<float> out(static_cast<std::size_t>(preparation.shape().elements()));
  Shape shape;
  const auto raw = dataset.read(row, 0, &shape);
  preparation.apply(raw, shape, row, 0, out);
  return out;
}

TEST_F(SeveralSizes, AreStoredEachInItsOwn) {
  const auto csv = write({{3, 9, 13}, {3, 9, 13}, {3, 5, 7}, {3, 12, 4}});
  const auto dataset = openDataset(csv, {.threads = 3});
  const Variable& x = dataset->schema().variables[0];
  EXPECT_TRUE(x.varying());
  EXPECT_EQ(x.shape, (Shape{3, 12, 13}));
  EXPECT_EQ(x.smallest, (Shape{3, 5, 4}));
  Shape shape;
  const auto raw = dataset->read(2, 0, &shape);
  EXPECT_EQ(shape, (Shape{3, 5, 7}));
  const Picture wanted = pictureOf(3, 5, 7);
  EXPECT_TRUE(std::equal(raw.begin(), raw.end(), wanted.bytes.begin(), wanted.bytes.end()));
  EXPECT_EQ(*reinterpret_cast<const float*>(dataset->read(3, 1).data()), 1.0f);
  EXPECT_THAT(messageOf([&] { preparedShape(x, {}); }),
              HasSubstr("x differs in size from sample to sample (5×4 to 12×13 pixels), but a network needs equal "
                        "sizes; add the step Resize to prepare"));
  EXPECT_THAT(messageOf([&] {
                preparedShape(x, {{{"step", "Crop"}, {"size", 5}}});
              }),
              HasSubstr("5 is to be cut out, but the shortest sample has 4"));
  EXPECT_EQ(preparedShape(x, {{{"step", "Crop"}, {"size", 4}}}), (Shape{3, 4, 4}));
}

TEST_F(SeveralSizes, OfOneSizeAreStoredAsEver) {
  const auto csv = write({{1, 5, 4}, {1, 5, 4}});
  const auto dataset = openDataset(csv);
  EXPECT_FALSE(dataset->schema().variables[0].varying());
  EXPECT_EQ(dataset->read(1, 0).data() - dataset->read(0, 0).data(), 20) << "side by side";
}

// The same numbers whether pictures are resized before they are stored or when they are read.
TEST_F(SeveralSizes, AreResizedBeforeTheyAreStoredOrAfterwards) {
  const auto csv = write({{3, 9, 13}, {3, 5, 7}, {1, 8, 7}});
  const std::vector<Json> steps{
      {{"step", "Colours"}, {"to", "rgb"}}, {{"step", "Resize"}, {"size", {4, 6}}}, {{"step", "Scale"}, {"by", 0.5}}};
  const auto native = openDataset(csv), packed = openDataset(csv, {.prepare = steps});
  EXPECT_EQ(packed->schema().variables[0].shape, (Shape{3, 4, 6}));
  EXPECT_FALSE(packed->schema().variables[0].varying());
  EXPECT_FALSE(Preparation(packed->schema().variables[0], steps, true, 1).computes()) << "any machine can do the rest";
  EXPECT_TRUE(Preparation(native->schema().variables[0], steps, true, 1).computes());
  EXPECT_NE(cachePath(csv), cachePath(csv, {.prepare = steps}));
  EXPECT_EQ(cachePath(csv), cachePath(csv, {.prepare = {{{"step", "Scale"}}}}));
  for (std::int64_t row = 0; row < 3; ++row)
    EXPECT_EQ(preparedRow(*native, steps, row), preparedRow(*packed, steps, row));
  const std::vector<float> first = preparedRow(*native, steps, 0);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i], 0.5f * static_cast<float>(kSmaller.planes[i]));
}

TEST_F(SeveralSizes, BecomeEqualByTheShorterSideAndACrop) {
  const auto csv = write({{1, 9, 13}, {1, 20, 7}, {1, 6, 6}});
  const std::vector<Json> steps{{{"step", "Resize"}, {"size", 6}, {"fit", "shorter"}}, {{"step", "Crop"}, {"size", 6}}};
  for (const auto& dataset : {openDataset(csv), openDataset(csv, {.prepare = steps})}) {
    EXPECT_EQ(preparedShape(dataset->schema().variables[0], steps), (Shape{1, 6, 6}));
    EXPECT_EQ(preparedRow(*dataset, steps, 1), preparedRow(*openDataset(csv), steps, 1));
  }
  Shape shape;
  const auto dataset = openDataset(csv, {.prepare = steps});
  dataset->read(0, 0, &shape);
  EXPECT_EQ(shape, (Shape{1, 6, 8}));
  dataset->read(1, 0, &shape);
  EXPECT_EQ(shape, (Shape{1, 17, 6}));
}

TEST_F(SeveralSizes, AreNormalisedByWhatTheNetworkSees) {
  const auto dataset = openDataset(write({{3, 9, 13}, {1, 5, 7}}));
  const auto steps = measurePrepare(*dataset, {{{"step", "Colours"}, {"to", "grey"}},
                                               {{"step", "Resize"}, {"size", 5}},
                                               {{"step", "Scale"}, {"by", 0.1}},
                                               {{"step", "Normalise"}}});
  double sum = 0, squares = 0;
  for (std::int64_t row = 0; row < 2; ++row)
    for (const float value : preparedRow(*dataset, steps, row)) {
      sum += value;
      squares += value * value;
    }
  EXPECT_NEAR(sum / 50, 0, 1e-5);
  EXPECT_NEAR(squares / 50, 1, 1e-4);
}

TEST_F(SeveralSizes, TellWhatIsWrong) {
  const auto dataset = openDataset(write({{3, 9, 13}, {1, 9, 13}}));
  const Variable& x = dataset->schema().variables[0];
  const auto told = [&](const std::vector<Json>& steps) { return messageOf([&] { preparedShape(x, steps); }); };
  EXPECT_THAT(told({}), HasSubstr("x differs in channels from sample to sample (1 to 3)"));
  EXPECT_THAT(told({{{"step", "Scale"}}, {{"step", "Resize"}, {"size", 4}}}),
              HasSubstr("move it before Scale and Normalise"));
  EXPECT_THAT(told({{{"step", "Resize"}, {"size", {4, 5}}, {"fit", "shorter"}}}), HasSubstr("one number"));
  EXPECT_THAT(told({{{"step", "RandomResizedCrop"}, {"size", 4}, {"area", {0.9, 0.1}}}}),
              HasSubstr("the smaller number stands first"));
}

// Random steps: functions of seed, epoch and row; left out, or the middle, where nothing is to be random.
TEST(PictureSteps, DrawAnewInEveryEpochAndNotInValidation) {
  const Pictures dataset(40, 3, 12, 16);
  const Variable& x = dataset.schema().variables[0];
  for (const Json& step :
       {Json{{"step", "RandomResizedCrop"}, {"size", {5, 7}}}, Json{{"step", "Rotate"}, {"degrees", 90}},
        Json{{"step", "ColourJitter"}, {"brightness", 0.5}, {"contrast", 0.5}, {"saturation", 0.5}, {"hue", 0.2}}}) {
    const std::vector<Json> steps{{{"step", "Flip"}}, step, {{"step", "Scale"}, {"by", 1.0}}};
    const Preparation training(x, steps, true, 7), validation(x, steps, false, 7);
    ASSERT_EQ(training.shape(), validation.shape());
    const auto size = static_cast<std::size_t>(training.shape().elements());
    std::vector<float> a(size), b(size), c(size);
    int same = 0;
    for (std::int64_t row = 0; row < 40; ++row) {
      const auto raw = dataset.read(row, 0, nullptr);
      training.apply(raw, x.shape, row, 0, a);
      training.apply(raw, x.shape, row, 0, b);
      EXPECT_EQ(a, b);
      training.apply(raw, x.shape, row, 1, b);
      same += a == b;
      validation.apply(raw, x.shape, row, 0, b);
      validation.apply(raw, x.shape, row, 1, c);
      EXPECT_EQ(b, c);
    }
    EXPECT_LT(same, 4) << step.dump();
    EXPECT_EQ(validation.computes(), step["step"] == "RandomResizedCrop");
  }
}

}  // namespace
}  // namespace loom
