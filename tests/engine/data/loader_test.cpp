// From rows to batches: order, resumption, preparation, conversion.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <gmock/gmock.h>

#include "engine/base/philox.h"
#include "engine/data/convert.h"
#include "engine/data/loader.h"
#include "engine/data/prepare.h"
#include "engine/data/shuffle.h"
#include "engine/data/stats.h"
#include "tests/engine/data/allocations.h"
#include "tests/engine/data/data_files.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Images whose pixels say where they are: row * 16 + y * width + x, one channel or more (plus 100 a channel).
class Pictures : public Dataset {
 public:
  Pictures(std::int64_t rows, std::int64_t channels, std::int64_t height, std::int64_t width, DataType type = DataType::u8) : m_rows(rows) {
    m_schema.variables = {{.name = "x", .kind = VariableKind::image, .shape = {channels, height, width}, .type = type, .shortest = channels}, {.name = "y", .shape = {1}, .shortest = 1}};
    for (std::int64_t row = 0; row < rows; ++row) {
      m_labels.push_back(static_cast<float>(row));
      for (std::int64_t c = 0; c < channels; ++c) {
        for (std::int64_t i = 0; i < height * width; ++i) m_pixels.push_back(static_cast<std::byte>((row * 16 + c * 100 + i) & 255));
      }
    }
    m_floats.resize(m_pixels.size());
    for (std::size_t i = 0; i < m_pixels.size(); ++i) m_floats[i] = std::to_integer<std::uint8_t>(m_pixels[i]);
  }
  const Schema& schema() const override { return m_schema; }
  std::int64_t size() const override { return m_rows; }
  std::span<const std::byte> read(std::int64_t row, std::size_t variable, Shape* shape) const override {
    if (row == failingRow) throw Error(ErrorCode::badData, "row 7 is broken");
    const auto at = static_cast<std::size_t>(row);
    if (shape) *shape = m_schema.variables[variable].shape;
    if (variable == 1) return std::as_bytes(std::span(m_labels)).subspan(at * 4, 4);
    const auto bytes = m_schema.variables[0].type == DataType::u8 ? std::span<const std::byte>(m_pixels) : std::as_bytes(std::span(m_floats));
    return bytes.subspan(at * bytes.size() / static_cast<std::size_t>(m_rows), bytes.size() / static_cast<std::size_t>(m_rows));
  }
  std::int64_t failingRow = -1;

 private:
  Schema m_schema;
  std::int64_t m_rows;
  std::vector<std::byte> m_pixels;
  std::vector<float> m_floats, m_labels;
};

LoaderOptions optionsFor(const Dataset& dataset, std::int64_t batch) {
  LoaderOptions options;
  for (const Variable& variable : dataset.schema().variables)
    options.columns.push_back({variable.name, variable.shape, variable.name == "y" ? DataType::i32 : DataType::f32});
  options.batch = batch;
  return options;
}

// All rows of `batches` batches, with the epoch in front of each.
std::vector<std::pair<std::int64_t, std::int64_t>> take(Loader& loader, int batches) {
  std::vector<std::pair<std::int64_t, std::int64_t>> rows;
  for (int i = 0; i < batches; ++i) {
    const Batch& batch = loader.next();
    for (const std::int64_t row : batch.rows) rows.emplace_back(batch.epoch, row);
  }
  return rows;
}

std::span<const float> floats(const Batch& batch, std::size_t column) {
  return {reinterpret_cast<const float*>(batch.columns[column].data()), batch.columns[column].size() / 4};
}

TEST(Shuffle, IsAPermutationOfEveryEpochAndFairToEveryPlace) {
  for (const std::int64_t count : {1, 2, 3, 5, 10, 100, 101, 4096, 10007}) {
    for (std::int64_t epoch : {0, 1}) {
      const EpochOrder order(count, true, 7, epoch);
      std::set<std::int64_t> rows;
      for (std::int64_t i = 0; i < count; ++i) rows.insert(order[i]);
      ASSERT_EQ(static_cast<std::int64_t>(rows.size()), count);
      EXPECT_EQ(*rows.begin(), 0);
      EXPECT_EQ(*rows.rbegin(), count - 1);
    }
  }
  // Chi-squared over (place, row) of 20,000 epochs: 6 x 6 cells with 25 degrees of freedom; 60 would be one chance in 10,000.
  constexpr int kCount = 6, kEpochs = 20000;
  std::vector<int> seen(kCount * kCount);
  std::map<std::vector<std::int64_t>, int> orders;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    const EpochOrder order(kCount, true, 1, epoch);
    std::vector<std::int64_t> whole;
    for (int place = 0; place < kCount; ++place) {
      whole.push_back(order[place]);
      ++seen[static_cast<std::size_t>(place * kCount + order[place])];
    }
    ++orders[whole];
  }
  double chi = 0;
  for (const int count : seen) chi += (count - kEpochs / 6.0) * (count - kEpochs / 6.0) / (kEpochs / 6.0);
  EXPECT_LT(chi, 60);
  EXPECT_GT(orders.size(), 350u) << "of 720 orders";
  // Neighbours of the file stay no neighbours.
  const EpochOrder order(10000, true, 1, 3);
  int near = 0;
  for (int place = 1; place < 10000; ++place) near += std::abs(order[place] - order[place - 1]) < 10;
  EXPECT_LT(near, 60) << "20 are to be expected";
}

TEST(Loader, GivesEverySampleOnceAnEpochAndTheSameOrderForAnyNumberOfThreads) {
  const auto dataset = std::make_shared<Pictures>(103, 1, 3, 3);
  std::vector<std::pair<std::int64_t, std::int64_t>> first;
  for (const int threads : {1, 4}) {
    LoaderOptions options = optionsFor(*dataset, 10);
    options.threads = threads;
    const auto loader = makeLoader(dataset, options);
    const auto rows = take(*loader, 22);
    if (first.empty()) first = rows;
    EXPECT_EQ(rows, first);
  }
  EXPECT_EQ(first.size(), 206u);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 206u);
  std::vector<std::int64_t> a, b;
  for (const auto& [epoch, row] : first) (epoch == 0 ? a : b).push_back(row);
  EXPECT_EQ(a.size(), 103u);
  EXPECT_NE(a, b) << "another order in another epoch";
}

TEST(Loader, SaysWhereItIs) {
  const auto dataset = std::make_shared<Pictures>(25, 1, 2, 2);
  LoaderOptions options = optionsFor(*dataset, 10);
  options.shuffle = false;
  auto loader = makeLoader(dataset, options);
  for (const auto& [epoch, firstSample, size, last] : std::vector<std::array<std::int64_t, 4>>{{0, 0, 10, 0}, {0, 10, 10, 0}, {0, 20, 5, 1}, {1, 0, 10, 0}}) {
    const Batch& batch = loader->next();
    EXPECT_EQ(batch.epoch, epoch);
    EXPECT_EQ(batch.first, firstSample);
    EXPECT_EQ(batch.size, size);
    EXPECT_EQ(batch.lastOfEpoch, last == 1);
    EXPECT_EQ(batch.columns[0].size(), static_cast<std::size_t>(size) * 4 * 4);
    EXPECT_EQ(reinterpret_cast<const std::int32_t*>(batch.columns[1].data())[0], static_cast<std::int32_t>(firstSample));
    EXPECT_EQ(floats(batch, 0)[1], static_cast<float>((firstSample * 16 + 1) & 255));
  }
  options.dropLast = true;
  loader = makeLoader(dataset, options);
  loader->next();
  EXPECT_TRUE(loader->next().lastOfEpoch);
  EXPECT_EQ(loader->next().epoch, 1);
}

TEST(Loader, ResumesAtAnyPlaceAndChangesItsBatch) {
  const auto dataset = std::make_shared<Pictures>(47, 1, 2, 2);
  LoaderOptions options = optionsFor(*dataset, 5);
  const auto whole = take(*makeLoader(dataset, options), 30);
  for (const std::size_t used : {5u, 40u, 45u, 47u, 52u}) {
    LoaderOptions later = options;
    later.epoch = static_cast<std::int64_t>(used) / 47;
    later.sample = static_cast<std::int64_t>(used) % 47;
    const auto rest = take(*makeLoader(dataset, later), 12);
    const std::size_t count = std::min(rest.size(), whole.size() - used);
    EXPECT_TRUE(std::equal(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(count), whole.begin() + static_cast<std::ptrdiff_t>(used))) << used;
  }
  // Another batch in the middle: the samples go on without a gap, and what was handed out stays valid.
  auto loader = makeLoader(dataset, options);
  std::vector<std::pair<std::int64_t, std::int64_t>> changed;
  std::int64_t size = 5;
  for (int i = 0; i < 20; ++i) {
    const Batch& batch = loader->next();
    EXPECT_LE(batch.size, size);
    const std::vector<std::byte> before(batch.columns[0].begin(), batch.columns[0].end());
    if (i % 3 == 2) loader->setBatch(size = 1 + (i * 7) % 19);
    EXPECT_TRUE(std::equal(before.begin(), before.end(), batch.columns[0].begin()));
    for (const std::int64_t row : batch.rows) changed.emplace_back(batch.epoch, row);
  }
  const std::size_t count = std::min(changed.size(), whole.size());
  EXPECT_TRUE(std::equal(changed.begin(), changed.begin() + static_cast<std::ptrdiff_t>(count), whole.begin()));
}

TEST(Loader, CarriesWhatABackgroundThreadMet) {
  const auto dataset = std::make_shared<Pictures>(20, 1, 2, 2);
  dataset->failingRow = 7;
  LoaderOptions options = optionsFor(*dataset, 5);
  options.shuffle = false;
  const auto loader = makeLoader(dataset, options);
  EXPECT_NO_THROW(loader->next());
  EXPECT_THAT(messageOf([&] { loader->next(); }), HasSubstr("row 7 is broken"));
  EXPECT_THAT(messageOf([&] { loader->next(); }), HasSubstr("row 7 is broken"));
}

TEST(Loader, TellsWhatDoesNotFitTheNetwork) {
  const auto dataset = std::make_shared<Pictures>(20, 1, 2, 2);
  LoaderOptions options = optionsFor(*dataset, 5);
  options.columns[0].variable = "z";
  EXPECT_THAT(messageOf([&] { makeLoader(dataset, options); }), HasSubstr("the network wants the variable 'z', but the dataset has x, y"));
  options = optionsFor(*dataset, 5);
  options.columns[0].shape = {1, 3, 3};
  EXPECT_THAT(messageOf([&] { makeLoader(dataset, options); }), HasSubstr("1×3×3 (9 numbers), but the dataset gives 1×2×2 (4 numbers)"));
  options = optionsFor(*dataset, 0);
  EXPECT_THAT(messageOf([&] { makeLoader(dataset, options); }), HasSubstr("at least 1"));
  options = optionsFor(*dataset, 21);
  options.dropLast = true;
  EXPECT_THAT(messageOf([&] { makeLoader(dataset, options); }), HasSubstr("no batch is left"));
  ScratchFolder folder;
  options = optionsFor(*dataset, 1);
  options.columns = {{"y", {1}, DataType::i32}};
  const auto loader = makeLoader(openDataset(folder.write("t.csv", "y\n2.5\n")), options);
  EXPECT_THAT(messageOf([&] { loader->next(); }), HasSubstr("row 0 (from 0), column y: the value is 2.5, but a whole number is needed"));
}

TEST(Loader, AllocatesNothingOnceItRuns) {
  const auto dataset = std::make_shared<Pictures>(500, 3, 8, 8);
  LoaderOptions options = optionsFor(*dataset, 20);
  options.threads = 2;
  options.prepare = {Json::parse(R"({"step": "Scale"})"), Json::parse(R"({"step": "Pad", "by": [1, 1]})"), Json::parse(R"({"step": "Crop", "size": [8, 8]})"), Json::parse(R"({"step": "Flip"})")};
  const auto loader = makeLoader(dataset, options);
  for (int i = 0; i < 30; ++i) loader->next();
  const std::int64_t before = allocationsSoFar();
  for (int i = 0; i < 200; ++i) loader->next();
  EXPECT_EQ(allocationsSoFar() - before, 0);
}

// The prepared sample, computed again the slow way: step after step on whole arrays.
TEST(Prepare, EqualsTheStepsOneByOne) {
  const Philox random(5, "prepare test");
  std::uint64_t draw = 0;
  const auto pick = [&](std::int64_t low, std::int64_t high) { return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1), draw++)); };
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
                padded[static_cast<std::size_t>((c * (height + 2 * py) + y + py) * (width + 2 * px) + x + px)] = image[static_cast<std::size_t>((c * height + y) * width + x)];
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
              for (std::int64_t x = 0; x < w; ++x) cut.push_back(image[static_cast<std::size_t>((c * height + y + top) * width + x + left)]);
          image = cut;
          height = h;
          width = w;
          break;
        }
        default: {
          steps.push_back({{"step", "Flip"}, {"probability", 1.0}});
          for (std::int64_t row = 0; row < channels * height; ++row) std::reverse(image.begin() + row * width, image.begin() + (row + 1) * width);
        }
      }
    }
    const Preparation preparation(dataset.schema().variables[0], steps, true, 1);
    ASSERT_EQ(preparation.shape(), (Shape{channels, height, width}));
    std::vector<float> out(image.size(), -1e9f);
    preparation.apply(raw, shape, 1, 0, out);
    for (std::size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], image[i], 1e-4) << "trial " << trial << ", " << Json(steps).dump();
  }
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
  EXPECT_THAT(messageOf([&] { preparedShape(x, {}); }), HasSubstr("differs in length from sample to sample (2 to 5 steps)"));
  EXPECT_THAT(messageOf([&] { preparedShape(x, {{{"step", "Crop"}, {"size", 3}}}); }), HasSubstr("the shortest sample has 2; put a Pad to 3 before it"));
  const std::vector<Json> steps{{{"step", "Pad"}, {"to", 3}, {"position", "start"}, {"value", 50}}, {{"step", "Crop"}, {"size", 3}, {"position", "start"}},
                                {{"step", "Normalise"}, {"mean", {0, 100}}, {"deviation", {1, 10}}}};
  EXPECT_EQ(preparedShape(x, steps), (Shape{3, 2}));
  const Preparation preparation(x, steps, true, 1);
  std::vector<float> out(6);
  Shape shape;
  auto raw = dataset->read(0, 0, &shape);
  preparation.apply(raw, shape, 0, 0, out);
  EXPECT_THAT(out, ElementsAre(1, testing::FloatNear(-9.8f, 1e-5f), 3, testing::FloatNear(-9.6f, 1e-5f), 5, testing::FloatNear(-9.4f, 1e-5f)));
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

TEST(Prepare, TellsWhatIsWrong) {
  const Pictures dataset(3, 3, 4, 4);
  const Variable& x = dataset.schema().variables[0];
  const auto told = [&](Json step) { return messageOf([&] { preparedShape(x, {std::move(step)}); }); };
  EXPECT_THAT(told({{"step", "Scael"}}), HasSubstr("unknown step 'Scael' of prepare: did you mean 'Scale'?"));
  EXPECT_THAT(told({{"by", 2}}), HasSubstr("\"step\""));
  EXPECT_THAT(told("Scale"), HasSubstr("an object such as"));
  EXPECT_THAT(told({{"step", "Scale"}, {"factor", 2}}), HasSubstr("unknown key 'factor'"));
  EXPECT_THAT(told({{"step", "Normalise"}, {"mean", {1.0, 2.0}}, {"deviation", {1.0}}}), HasSubstr("2 means and 1 deviations are given, but there are 3 channels"));
  EXPECT_THAT(told({{"step", "Normalise"}, {"mean", {1.0}}, {"deviation", {0.0}}}), HasSubstr("deviation"));
  EXPECT_THAT(told({{"step", "Crop"}, {"size", {5, 4}}}), HasSubstr("5 is to be cut out, but the sample has 4; put a Pad to 5 before it"));
  EXPECT_THAT(told({{"step", "Pad"}, {"by", 1}, {"to", 9}}), HasSubstr("either 'by' or 'to'"));
  EXPECT_THAT(messageOf([&] { preparedShape(dataset.schema().variables[1], {{{"step", "Flip"}, {"variable", "y"}}}); }), HasSubstr("it needs an image or a clip, but y is a scalar"));
}

TEST(Convert, IsTheSameForEveryLengthAndAlignment) {
  std::vector<std::byte> bytes(300);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 37);
  for (std::size_t offset : {0u, 1u, 3u}) {
    for (std::int64_t count : {0, 1, 7, 8, 9, 31, 32, 33, 255}) {
      std::vector<float> out(300, -1);
      convertBytes(bytes.data() + offset, out.data(), count, 0.3f, 1.7f);
      for (std::int64_t i = 0; i < 300; ++i) {
        volatile float product = static_cast<float>(std::to_integer<int>(bytes[(offset + static_cast<std::size_t>(i)) % 300])) * 0.3f;
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

TEST(Stats, GiveNormaliseItsNumbersBehindTheStepsBefore) {
  ScratchFolder folder;
  const auto dataset = openDataset(folder.write("t.csv", "x__0,x__1,y\n1,100,5\n3,100,7\n8,100,9\n"));
  const auto steps = measurePrepare(*dataset, {{{"step", "Scale"}, {"by", -2.0}, {"add", 1.0}}, {{"step", "Normalise"}}, {{"step", "Normalise"}, {"variable", "y"}}});
  ASSERT_EQ(steps.size(), 3u);
  std::vector<double> sums(2), squares(2);
  double ySum = 0, ySquares = 0;
  const Preparation x(dataset->schema().variables[0], steps, true, 1), y(dataset->schema().variables[1], steps, true, 1);
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
