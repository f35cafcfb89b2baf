// From rows to batches: order, resumption, preparation, conversion.
#include "engine/data/loader.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/data/shuffle.h"
#include "tests/engine/data/allocations.h"
#include "tests/engine/data/data_files.h"
#include "tests/engine/data/pictures.h"

namespace loom {
namespace {

using testing::HasSubstr;

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

using testing::AllOf;

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
  // Chi-squared over (place, row) of 20,000 epochs: 6 x 6 cells with 25 degrees of freedom; 60 would be one chance in
  // 10,000.
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
  for (const auto& [epoch, firstSample, size, last] :
       std::vector<std::array<std::int64_t, 4>>{{0, 0, 10, 0}, {0, 10, 10, 0}, {0, 20, 5, 1}, {1, 0, 10, 0}}) {
    const Batch& batch = loader->next();
    EXPECT_EQ(batch.epoch, epoch);
    EXPECT_EQ(batch.first, firstSample);
    EXPECT_EQ(batch.size, size);
    EXPECT_EQ(batch.lastOfEpoch, last == 1);
    EXPECT_EQ(batch.columns[0].size(), static_cast<std::size_t>(size) * 4 * 4);
    EXPECT_EQ(reinterpret_cast<const std::int32_t*>(batch.columns[1].data())[0],
              static_cast<std::int32_t>(firstSample));
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
    EXPECT_TRUE(std::equal(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(count),
                           whole.begin() + static_cast<std::ptrdiff_t>(used)))
        << used;
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

TEST(Loader, WhatWasDroppedStaysDroppedWhenTheBatchChanges) {
  const auto dataset = std::make_shared<Pictures>(50, 1, 2, 2);
  LoaderOptions options = optionsFor(*dataset, 16);
  options.dropLast = true;
  const auto loader = makeLoader(dataset, options);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(loader->next().lastOfEpoch, i == 2);
  loader->setBatch(2);
  const Batch& next = loader->next();
  EXPECT_EQ(next.epoch, 1);
  EXPECT_EQ(next.first, 0);
  EXPECT_THAT(messageOf([&] { loader->setBatch(51); }), HasSubstr("no batch is left"));
}

TEST(Loader, RefusesIndicesThatF32CannotTellApart) {
  ScratchFolder folder;
  const auto dataset = std::shared_ptr(openDataset(folder.write("t.csv", "y\n16777215\n16777217\n")));
  LoaderOptions options = optionsFor(*dataset, 1);
  options.columns = {{"y", {1}, DataType::i32}};
  options.shuffle = false;
  const auto loader = makeLoader(dataset, options);
  EXPECT_EQ(reinterpret_cast<const std::int32_t*>(loader->next().columns[0].data())[0], 16777215);
  EXPECT_THAT(messageOf([&] { loader->next(); }),
              AllOf(HasSubstr("row 2 of the data, column y"), HasSubstr("below 16777216")));
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
  EXPECT_THAT(messageOf([&] { makeLoader(dataset, options); }),
              HasSubstr("the network wants the variable 'z', but the dataset has x, y"));
  options = optionsFor(*dataset, 5);
  options.columns[0].shape = {1, 3, 3};
  EXPECT_THAT(messageOf([&] { makeLoader(dataset, options); }),
              HasSubstr("1×3×3 (9 numbers), but the dataset gives 1×2×2 (4 numbers)"));
  options = optionsFor(*dataset, 0);
  EXPECT_THAT(messageOf([&] { makeLoader(dataset, options); }), HasSubstr("at least 1"));
  options = optionsFor(*dataset, 21);
  options.dropLast = true;
  EXPECT_THAT(messageOf([&] { makeLoader(dataset, options); }), HasSubstr("no batch is left"));
  ScratchFolder folder;
  options = optionsFor(*dataset, 1);
  options.columns = {{"y", {1}, DataType::i32}};
  const auto loader = makeLoader(openDataset(folder.write("t.csv", "y\n2.5\n")), options);
  EXPECT_THAT(messageOf([&] { loader->next(); }),
              HasSubstr("row 1 of the data, column y: the value is 2.5, but a whole number is needed"));
}

TEST(Loader, GivesBytesAsTheyAreStored) {
  const auto dataset = std::make_shared<Pictures>(10, 3, 4, 5);
  LoaderOptions options = optionsFor(*dataset, 4);
  options.columns[0].type = DataType::u8;
  options.prepare = {Json::parse(R"({"step": "Scale"})"), Json::parse(R"({"step": "Crop", "size": [2, 2]})")};
  const auto loader = makeLoader(dataset, options);
  for (int i = 0; i < 5; ++i) {
    const Batch& batch = loader->next();
    ASSERT_EQ(batch.columns[0].size(), batch.rows.size() * 60);
    for (std::size_t k = 0; k < batch.rows.size(); ++k) {
      const auto stored = dataset->read(batch.rows[k], 0, nullptr);
      EXPECT_TRUE(
          std::equal(stored.begin(), stored.end(), batch.columns[0].begin() + static_cast<std::ptrdiff_t>(k * 60)));
    }
  }
  const auto floats = std::make_shared<Pictures>(10, 3, 4, 5, DataType::f32);
  EXPECT_THAT(messageOf([&] { makeLoader(floats, options); }), HasSubstr("not stored as bytes"));
}

// AddressSanitizer allocates in its own way, which cannot be counted.
#if !defined(__SANITIZE_ADDRESS__)
TEST(Loader, AllocatesNothingOnceItRuns) {
  const auto dataset = std::make_shared<Pictures>(500, 3, 8, 8);
  LoaderOptions options = optionsFor(*dataset, 20);
  options.threads = 2;
  options.prepare = {Json::parse(R"({"step": "Scale"})"), Json::parse(R"({"step": "Pad", "by": [1, 1]})"),
                     Json::parse(R"({"step": "Crop", "size": [8, 8]})"), Json::parse(R"({"step": "Flip"})")};
  const auto loader = makeLoader(dataset, options);
  for (int i = 0; i < 30; ++i) loader->next();
  const std::int64_t before = allocationsSoFar();
  for (int i = 0; i < 200; ++i) loader->next();
  EXPECT_EQ(allocationsSoFar() - before, 0);
}
#endif

}  // namespace
}  // namespace loom
