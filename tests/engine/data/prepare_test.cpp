// Steps of `prepare`, conversion, and the numbers measured for them.

#include "engine/data/prepare.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "engine/base/philox.h"
#include "engine/data/convert.h"
#include "engine/data/stats.h"
#include "tests/engine/data/data_files.h"
#include "tests/engine/data/pictures.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The prepared sample, computed again the slow way: step after step on whole arrays.
TEST(Prepare, EqualsTheStepsOneByOne) {
  const Philox random(5, "prepare test");
  std::uint64_t draw = 0;
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1), draw++));
  };
  for (int trial = 0; trial < 300; ++trial) {
    const std::int64_t channels = pick(1, 3);
    std::int64_t height = pick(2, 9), width = pick(2, 9);
    const Pictures dataset(3, channels, height, width, trial % 2 ? DataType::u8 : DataType::f32);
    std::vector<Json> steps;
    std::vector<double> image;  // of row 1
    Shape shape;
    const auto raw = dataset.read(1, 0, &shape);
    for (std::size_t i = 0; i < static_cast<std::size_t>(shape.elements()); ++i)
      image.push_back(trial % 2 ? std::to_integer<int>(raw[i]) : reinterpret_cast<const float*>(raw.data())[i]);
    for (int count = static_cast<int>(pick(0, 5)); count > 0; --count) {
      switch (pick(0, 4)) {
        case 0: {
          steps.push_back({{"step", "Scale"}, {"by", 0.5}, {"add", 3.0}});
          for (double& value : image) value = value * 0.5 + 3;
          break;
        }
        case 1: {
          Json means = Json::array(), deviations = Json::array();
          for (std::int64_t c = 0; c < channels; ++c) {
            means.push_back(10.0 * static_cast<double>(c) + 1);
            deviations.push_back(2.0 + static_cast<double>(c));
          }
          for (std::size_t i = 0; i < image.size(); ++i) {
            const auto c = static_cast<double>(static_cast<std::int64_t>(i) / (height * width));
            image[i] = (image[i] - (10 * c + 1)) / (2 + c);
          }
          steps.push_back({{"step", "Normalise"}, {"mean", means}, {"deviation", deviations}});
          break;
        }
        case 2: {
          const std::int64_t py = pick(0, 2), px = pick(0, 2);
          steps.push_back({{"step", "Pad"}, {"by", {py, px}}, {"value", 7.5}});
          std::vector<double> padded(static_cast<std::size_t>(channels * (height + 2 * py) * (width + 2 * px)), 7.5);
          for (std::int64_t c = 0; c < channels; ++c)
            for (std::int64_t y = 0; y < height; ++y)
              for (std::int64_t x = 0; x < width; ++x)
                padded[static_cast<std::size_t>((c * (height + 2 * py) + y + py) * (width + 2 * px) + x + px)] =
                    image[static_cast<std::size_t>((c * height + y) * width + x)];
          image = padded;
          height += 2 * py;
          width += 2 * px;
          break;
        }
        case 3: {
          const std::int64_t h = pick(1, height), w = pick(1, width);
          const bool start = pick(0, 1) == 0;
          steps.push_back({{"step", "Crop"}, {"size", {h, w}}, {"position", start ? "start" : "centre"}});
          const std::int64_t top = start ? 0 : (height - h) / 2, left = start ? 0 : (width - w) / 2;
          std::vector<double> cut;
          for (std::int64_t c = 0; c < channels; ++c)
            for (std::int64_t y = 0; y < h; ++y)
              for (std::int64_t x = 0; x < w; ++x)
                cut.push_back(image[static_cast<std::size_t>((c * height + y + top) * width + x + left)]);
          image = cut;
          height = h;
          width = w;
          break;
        }
        default: {
          steps.push_back({{"step", "Flip"}, {"probability", 1.0}});
          for (std::int64_t row = 0; row < channels * height; ++row)
            std::reverse(image.begin() + row * width, image.begin() + (row + 1) * width);
        }
      }
    }
    const Preparation preparation(dataset.schema().variables[0], steps, true, 1);
    ASSERT_EQ(preparation.shape(), (Shape{channels, height, width}));
    std::vector<float> out(image.size(), -1e9f);
    preparation.apply(raw, shape, 1, 0, out);
    for (std::size_t i = 0; i < out.size(); ++i)
      ASSERT_NEAR(out[i], image[i], 1e-4) << "trial " << trial << ", " << Json(steps).dump();
  }
}

// A rectangle about any pixel, in what the image is at that step: what comes behind moves it along.
TEST(Prepare, CutsARectangleOutOfTheImageAndOfNoBorder) {
  const Pictures dataset(120, 2, 6, 7);
  const Variable& x = dataset.schema().variables[0];
  const Json cutout = {{"step", "Cutout"}, {"size", {3, 2}}, {"value", -7.0}};
  const std::vector<Json> steps{cutout, {{"step", "Pad"}, {"by", {1, 2}}, {"value", 300.0}}, {{"step", "Flip"}}};
  const Preparation training(x, steps, true, 1), validation(x, steps, false, 1);
  ASSERT_EQ(training.shape(), (Shape{2, 8, 11}));
  std::vector<float> out(2 * 8 * 11), other(out.size());
  std::set<std::pair<std::int64_t, std::int64_t>> corners;
  int whole = 0;
  for (std::int64_t row = 0; row < 120; ++row) {
    training.apply(dataset.read(row, 0, nullptr), x.shape, row, 3, out);
    std::int64_t top = 8, left = 11, bottom = -1, right = -1, count = 0;
    for (std::int64_t i = 0; i < 88; ++i) {
      const std::int64_t y = i / 11, at = i % 11;
      const bool border = y < 1 || y >= 7 || at < 2 || at >= 9;
      const float value = out[static_cast<std::size_t>(i)];
      ASSERT_EQ(value == 300, border) << "no border is cut";
      ASSERT_EQ(value == -7, out[static_cast<std::size_t>(88 + i)] == -7) << "the same place in every channel";
      if (value != -7) continue;
      ++count;
      top = std::min(top, y), bottom = std::max(bottom, y), left = std::min(left, at), right = std::max(right, at);
    }
    ASSERT_GE(count, 1) << "its middle lies in the image";
    ASSERT_EQ(count, (bottom - top + 1) * (right - left + 1)) << "one rectangle";
    ASSERT_TRUE(bottom - top < 3 && right - left < 2);
    whole += count == 6;
    corners.insert({top, left});
    validation.apply(dataset.read(row, 0, nullptr), x.shape, row, 3, other);
    EXPECT_EQ(std::count(other.begin(), other.end(), -7.0f), 0) << "left out in validation";
  }
  EXPECT_GT(corners.size(), 20u);
  EXPECT_GT(whole, 40);
  EXPECT_LT(whole, 110) << "a part may fall outside";
}

TEST(Prepare, DrawsRandomStepsAnewInEveryEpochAndLeavesThemOutInValidation) {
  const Pictures dataset(200, 1, 6, 6);
  const std::vector<Json> steps{{{"step", "Crop"}, {"size", 4}}, {{"step", "Flip"}}};
  const Variable& x = dataset.schema().variables[0];
  const Preparation training(x, steps, true, 1), validation(x, steps, false, 1);
  std::vector<float> a(16), b(16);
  int same = 0, mirrored = 0;
  std::set<float> corners;
  for (std::int64_t row = 0; row < 200; ++row) {
    const auto raw = dataset.read(row, 0, nullptr);
    training.apply(raw, x.shape, row, 0, a);
    training.apply(raw, x.shape, row, 0, b);
    EXPECT_EQ(a, b) << "a function of seed, epoch and row";
    training.apply(raw, x.shape, row, 1, b);
    same += a == b;
    const float base = std::min(a[0], a[3]);
    mirrored += a[0] > a[3];
    corners.insert(base - static_cast<float>(row * 16 % 256));
    validation.apply(raw, x.shape, row, 1, b);
    EXPECT_EQ(static_cast<int>(b[0]), (row * 16 + 7) % 256) << "the centre, not mirrored";
  }
  EXPECT_LT(same, 40);
  EXPECT_NEAR(mirrored, 100, 35);
  EXPECT_GE(corners.size(), 9u) << "every one of the nine places comes up";
}

TEST(Prepare, MakesClipsOfUnequalLengthEqual) {
  ScratchFolder folder;
  folder.write("a.csv", "1,2\n3,4\n5,6\n7,8\n9,10\n");
  folder.write("b.csv", "-1,-2\n-3,-4\n");
  const auto dataset = openDataset(folder.write("clips.csv", "x,y\na.csv,0\nb.csv,1\n"));
  const Variable& x = dataset->schema().variables[0];
  EXPECT_THAT(messageOf([&] { preparedShape(x, {}); }),
              HasSubstr("differs in length from sample to sample (2 to 5 steps)"));
  EXPECT_THAT(messageOf([&] {
                preparedShape(x, {{{"step", "Crop"}, {"size", 3}}});
              }),
              HasSubstr("the shortest sample has 2; put a Pad to 3 before it"));
  const std::vector<Json> steps{{{"step", "Pad"}, {"to", 3}, {"position", "start"}, {"value", 50}},
                                {{"step", "Crop"}, {"size", 3}, {"position", "start"}},
                                {{"step", "Normalise"}, {"mean", {0, 100}}, {"deviation", {1, 10}}}};
  EXPECT_EQ(preparedShape(x, steps), (Shape{3, 2}));
  const Preparation preparation(x, steps, true, 1);
  std::vector<float> out(6);
  Shape shape;
  auto raw = dataset->read(0, 0, &shape);
  preparation.apply(raw, shape, 0, 0, out);
  EXPECT_THAT(out, ElementsAre(1, testing::FloatNear(-9.8f, 1e-5f), 3, testing::FloatNear(-9.6f, 1e-5f), 5,
                               testing::FloatNear(-9.4f, 1e-5f)));
  raw = dataset->read(1, 0, &shape);
  preparation.apply(raw, shape, 1, 0, out);
  EXPECT_THAT(out, ElementsAre(-1, testing::FloatNear(-10.2f, 1e-5f), -3, testing::FloatNear(-10.4f, 1e-5f), 50, -5));
}

TEST(Prepare, LeavesLabelsAloneUnlessNamed) {
  const Pictures dataset(3, 1, 2, 2);
  const std::vector<Json> steps{{{"step", "Scale"}, {"by", 2.0}}, {{"step", "scale"}, {"by", 10.0}, {"variable", "y"}}};
  std::vector<float> out(1);
  Preparation(dataset.schema().variables[1], steps, true, 1).apply(dataset.read(2, 1, nullptr), {1}, 2, 0, out);
  EXPECT_EQ(out[0], 20);
}

// A list of columns is each of them by itself; one text is a list of one.
TEST(Prepare, NormalisesSeveralColumnsEachByItsOwnNumbers) {
  ScratchFolder folder;
  const auto dataset = openDataset(folder.write("t.csv", "a,b,y\n1,100,7\n3,300,8\n"));
  const std::vector<Json> steps =
      measurePrepare(*dataset, {{{"step", "Normalise"}, {"variable", Json::array({"a", "b"})}}});
  ASSERT_EQ(steps.size(), 2u);
  const auto prepared = [&](std::size_t variable, std::int64_t row) {
    std::vector<float> out(1);
    Preparation(dataset->schema().variables[variable], steps, true, 1)
        .apply(dataset->read(row, variable), {1}, row, 0, out);
    return out[0];
  };
  for (const std::size_t variable : {0, 1}) {
    EXPECT_FLOAT_EQ(prepared(variable, 0), -1);
    EXPECT_FLOAT_EQ(prepared(variable, 1), 1);
  }
  EXPECT_FLOAT_EQ(prepared(2, 0), 7);
  const Json one = {{"step", "Normalise"}, {"variable", "b"}}, none = {{"step", "Normalise"}};
  EXPECT_TRUE(normalises(one, dataset->schema().variables[1]));
  EXPECT_FALSE(normalises(one, dataset->schema().variables[0]));
  EXPECT_FALSE(normalises(none, dataset->schema().variables[0]));
  EXPECT_FALSE(normalises({{"step", "Scale"}}, dataset->schema().variables[0]));
}

TEST(Prepare, TellsWhatIsWrong) {
  const Pictures dataset(3, 3, 4, 4);
  const Variable& x = dataset.schema().variables[0];
  const auto told = [&](Json step) { return messageOf([&] { preparedShape(x, {std::move(step)}); }); };
  EXPECT_THAT(told({{"step", "Scael"}}), HasSubstr("unknown step 'Scael' of prepare: did you mean 'Scale'?"));
  EXPECT_THAT(told({{"by", 2}}), HasSubstr("\"step\""));
  EXPECT_THAT(told("Scale"), HasSubstr("an object such as"));
  EXPECT_THAT(told({{"step", "Scale"}, {"factor", 2}}), HasSubstr("unknown key 'factor'"));
  EXPECT_THAT(told({{"step", "Normalise"}, {"mean", {1.0, 2.0}}, {"deviation", {1.0}}}),
              HasSubstr("2 means and 1 deviations are given, but there are 3 channels"));
  EXPECT_THAT(told({{"step", "Normalise"}, {"mean", {1.0}}, {"deviation", {0.0}}}), HasSubstr("deviation"));
  EXPECT_THAT(told({{"step", "Crop"}, {"size", {5, 4}}}),
              HasSubstr("5 is to be cut out, but the sample has 4; put a Pad to 5 before it"));
  EXPECT_THAT(told({{"step", "Pad"}, {"by", 1}, {"to", 9}}), HasSubstr("either 'by' or 'to'"));
  EXPECT_THAT(messageOf([&] {
                preparedShape(dataset.schema().variables[1], {{{"step", "Flip"}, {"variable", "y"}}});
              }),
              HasSubstr("it needs an image or a clip, but y is a scalar"));
}

TEST(Convert, IsTheSameForEveryLengthAndAlignment) {
  std::vector<std::byte> bytes(300);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 37);
  for (std::size_t offset : {0u, 1u, 3u}) {
    for (std::int64_t count : {0, 1, 7, 8, 9, 31, 32, 33, 255}) {
      std::vector<float> out(300, -1);
      convertBytes(bytes.data() + offset, out.data(), count, 0.3f, 1.7f);
      for (std::int64_t i = 0; i < 300; ++i) {
        volatile float product =
            static_cast<float>(std::to_integer<int>(bytes[(offset + static_cast<std::size_t>(i)) % 300])) * 0.3f;
        ASSERT_EQ(out[static_cast<std::size_t>(i)], i < count ? product + 1.7f : -1.0f) << i;
      }
    }
  }
}

TEST(Stats, AreThoseOfTheNumbers) {
  ScratchFolder folder;
  const auto dataset = openDataset(folder.write("t.csv", "x__0,x__1,y:label\n1,100,0\n3,100,2\n8,106,2\n"));
  for (const int threads : {1, 3}) {
    const auto stats = measure(*dataset, {.threads = threads});
    ASSERT_EQ(stats.size(), 2u);
    EXPECT_EQ(stats[0].channels.size(), 2u);
    EXPECT_DOUBLE_EQ(stats[0].channels[0].mean, 4);
    EXPECT_NEAR(stats[0].channels[0].deviation, std::sqrt(26.0 / 3), 1e-12);
    EXPECT_NEAR(stats[0].channels[1].deviation, std::sqrt(8.0), 1e-12);
    EXPECT_DOUBLE_EQ(stats[0].all.low, 1);
    EXPECT_DOUBLE_EQ(stats[0].all.high, 106);
    EXPECT_EQ(stats[0].all.count, 6);
    EXPECT_TRUE(stats[0].classes.empty());
    EXPECT_THAT(stats[1].classes, ElementsAre(1, 0, 2));
    EXPECT_EQ(std::accumulate(stats[0].histogram.begin(), stats[0].histogram.end(), std::int64_t{0}), 6);
  }
  EXPECT_EQ(classCount(*dataset, 1), 3);
  EXPECT_EQ(classCount(*dataset, 0), 0);
}

// Of unlike numbers each has its own range: 34 rows spread evenly are two a bin, whatever stands beside them.
TEST(Stats, EachNumberOfAVectorHasAHistogramOfItsOwn) {
  ScratchFolder folder;
  std::string csv = "x__0,x__1,x__2,y\n";
  for (int i = 0; i < 34; ++i) csv += fmt::format("{},{},7,{}\n", 1000 * i, i == 33 ? 1.0 : 0.0, 0.5 * i);
  const auto dataset = openDataset(folder.write("t.csv", csv));
  for (const int threads : {1, 3}) {
    const auto stats = measure(*dataset, {.threads = threads});
    ASSERT_EQ(stats[0].elements.size(), 3u);
    EXPECT_THAT(stats[0].elements[0], testing::Each(2));
    EXPECT_EQ(stats[0].elements[1].front(), 33);
    EXPECT_EQ(stats[0].elements[1].back(), 1);
    EXPECT_EQ(stats[0].elements[2].front(), 34);  // always the same
    ASSERT_EQ(stats[1].elements.size(), 1u);
    EXPECT_THAT(stats[1].elements[0], testing::Each(2));
    EXPECT_EQ(toJson(stats[0])["channels"][0]["histogram"].size(), 17u);
  }
}

TEST(Stats, GiveNormaliseItsNumbersBehindTheStepsBefore) {
  ScratchFolder folder;
  const auto dataset = openDataset(folder.write("t.csv", "x__0,x__1,y\n1,100,5\n3,100,7\n8,100,9\n"));
  const auto steps = measurePrepare(*dataset, {{{"step", "Scale"}, {"by", -2.0}, {"add", 1.0}},
                                               {{"step", "Normalise"}},
                                               {{"step", "Normalise"}, {"variable", "y"}}});
  ASSERT_EQ(steps.size(), 3u);
  std::vector<double> sums(2), squares(2);
  double ySum = 0, ySquares = 0;
  const Preparation x(dataset->schema().variables[0], steps, true, 1),
      y(dataset->schema().variables[1], steps, true, 1);
  for (std::int64_t row = 0; row < 3; ++row) {
    std::vector<float> out(2), target(1);
    x.apply(dataset->read(row, 0), {2}, row, 0, out);
    y.apply(dataset->read(row, 1), {1}, row, 0, target);
    for (std::size_t c = 0; c < 2; ++c) {
      sums[c] += out[c];
      squares[c] += out[c] * out[c];
    }
    ySum += target[0];
    ySquares += target[0] * target[0];
  }
  EXPECT_NEAR(sums[0], 0, 1e-5);
  EXPECT_NEAR(squares[0] / 3, 1, 1e-5);
  EXPECT_NEAR(squares[1], 0, 1e-5) << "a constant becomes 0";
  EXPECT_NEAR(ySum, 0, 1e-5);
  EXPECT_NEAR(ySquares / 3, 1, 1e-5);
}

}  // namespace
}  // namespace loom
