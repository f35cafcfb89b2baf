// Importers against files written byte by byte; what they write is opened as any dataset.
#include "engine/data/import.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include "engine/data/dataset.h"
#include "tests/engine/data/data_files.h"
#include "tests/engine/data/sample_files.h"

namespace loom {
namespace {

using files::Bytes;
using testing::ElementsAre;
using testing::HasSubstr;

Bytes idx(const std::vector<std::uint32_t>& extents, const Bytes& data, unsigned char type = 8) {
  Bytes out{0, 0, type, static_cast<unsigned char>(extents.size())};
  for (const std::uint32_t extent : extents) {
    for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<unsigned char>(extent >> shift));
  }
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

Bytes counting(std::size_t count) {
  Bytes out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<unsigned char>(i * 7);
  return out;
}

class Import : public testing::Test {
 protected:
  std::filesystem::path out() const { return folder.path() / "out"; }
  static int pixel(const Dataset& dataset, std::int64_t row, std::size_t at) {
    return std::to_integer<int>(dataset.read(row, 0)[at]);
  }
  static float label(const Dataset& dataset, std::int64_t row, std::size_t variable = 1) {
    return *reinterpret_cast<const float*>(dataset.read(row, variable).data());
  }
  ScratchFolder folder;
};

TEST_F(Import, IdxBecomesPngFilesAndACsv) {
  const auto images = folder.write("images", idx({2500, 2, 3}, counting(2500 * 6)));
  Bytes labels(2500);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<unsigned char>(i % 10);
  gzFile packed = gzopen((folder.path() / "labels.gz").c_str(), "wb");
  const Bytes whole = idx({2500}, labels);
  gzwrite(packed, whole.data(), static_cast<unsigned>(whole.size()));
  gzclose(packed);
  std::int64_t last = 0;
  ImportOptions options;
  options.progress = [&](std::int64_t done, std::int64_t total) {
    EXPECT_EQ(total, 2500);
    EXPECT_GE(done, last);
    last = done;
    return true;
  };
  const auto result = importIdx(images, folder.path() / "labels.gz", out(), options);
  EXPECT_EQ(result.rows, 2500);
  EXPECT_EQ(last, 2500);
  EXPECT_THAT(contentOf(result.csv),
              testing::StartsWith("x:image,y:label\ndata/00/000000.png,0\ndata/00/000001.png,1\n"));
  const auto dataset = openDataset(result.csv);
  EXPECT_EQ(dataset->size(), 2500);
  EXPECT_EQ(dataset->schema().variables[0].shape, (Shape{1, 2, 3}));
  EXPECT_EQ(pixel(*dataset, 2001, 4), ((2001 * 6 + 4) * 7) % 256);
  EXPECT_EQ(label(*dataset, 2007), 7);
}

TEST_F(Import, IdxPairsAreFoundByTheirNames) {
  for (const char* name :
       {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", "t10k-images.idx3-ubyte", "t10k-labels.idx1-ubyte",
        "lonely-images-idx3-ubyte", "images.png", "images-idx3-ubyte", "labels-idx1-ubyte"})
    folder.write(name, Bytes{});
  std::vector<std::string> names;
  for (const IdxPair& pair : findIdxPairs(folder.path())) {
    names.push_back(pair.name);
    EXPECT_TRUE(std::filesystem::exists(pair.images) && std::filesystem::exists(pair.labels) &&
                pair.images != pair.labels);
  }
  EXPECT_THAT(names, testing::ElementsAre("data", "t10k", "train"));
  std::filesystem::create_directory(folder.path() / "half");
  folder.write("half/a-images-idx3-ubyte", Bytes{});
  EXPECT_TRUE(findIdxPairs(folder.path() / "half").empty());
  EXPECT_THAT(messageOf([&] { findIdxPairs(folder.path() / "none"); }), HasSubstr("cannot be read"));
}

TEST_F(Import, IdxFaultsAreTold) {
  const auto images = folder.write("images", idx({2, 2, 2}, counting(8))),
             labels = folder.write("labels", idx({2}, {1, 2}));
  const auto told = [&](const Bytes& a, const Bytes& b) {
    return messageOf([&] { importIdx(folder.write("a", a), folder.write("b", b), out()); });
  };
  EXPECT_THAT(messageOf([&] { importIdx(labels, images, out()); }), HasSubstr("the two are exchanged"));
  EXPECT_THAT(messageOf([&] { importIdx(images, images, out()); }), HasSubstr("labels have one"));
  EXPECT_THAT(messageOf([&] { importIdx(images, folder.path() / "none", out()); }), HasSubstr("there is no such file"));
  EXPECT_THAT(messageOf([&] { importIdx(images, folder.path(), out()); }), HasSubstr("is a folder"));
  EXPECT_THAT(told(idx({3, 2, 2}, counting(12)), idx({2}, {1, 2})), HasSubstr("holds 3 images, but"));
  EXPECT_THAT(told(idx({2, 2, 2}, counting(7)), idx({2}, {1, 2})),
              HasSubstr("it holds 7 elements, but its header claims 8"));
  EXPECT_THAT(told(idx({4000000000u, 4000000000u, 4000000000u}, counting(8)), idx({2}, {1, 2})),
              HasSubstr("more elements than can be"));
  EXPECT_THAT(told(idx({2, 2, 2}, counting(8), 0x0d), idx({2}, {1, 2})), HasSubstr("bytes (0x08) are needed"));
  EXPECT_THAT(told({'n', 'o', 'n', 'e', 0, 0}, idx({2}, {1, 2})), HasSubstr("an IDX file begins with two zeros"));
  EXPECT_THAT(told({0, 0}, idx({2}, {1, 2})), HasSubstr("cut short"));
  EXPECT_THAT(told({0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 99, 99, 99}, idx({2}, {1, 2})),
              HasSubstr("cannot be unpacked"));
  EXPECT_FALSE(std::filesystem::exists(out() / "index.csv")) << "nothing is left that looks like a dataset";
  folder.write("file", "x");
  EXPECT_NE(messageOf([&] { importIdx(images, labels, folder.path() / "file"); }), "no error");
}

TEST_F(Import, StopsWhenAsked) {
  const auto images = folder.write("images", idx({3000, 2, 2}, counting(12000))),
             labels = folder.write("labels", idx({3000}, Bytes(3000, 1)));
  ImportOptions options{.threads = 1, .progress = [](std::int64_t done, std::int64_t total) { return done == total; }};
  // Images of four pixels may all be written before the first question; then the import is whole.
  const std::string message = messageOf([&] { importIdx(images, labels, out(), options); });
  EXPECT_EQ(message == "no error", std::filesystem::exists(out() / "index.csv"));
}

TEST_F(Import, CifarTenAndHundred) {
  Bytes ten, hundred;
  for (int record = 0; record < 3; ++record) {
    ten.push_back(static_cast<unsigned char>(record + 4));
    hundred.insert(hundred.end(), {static_cast<unsigned char>(record), static_cast<unsigned char>(90 + record)});
    for (int i = 0; i < 3072; ++i) {
      ten.push_back(static_cast<unsigned char>(record + i / 1024 * 50));
      hundred.push_back(static_cast<unsigned char>(i));
    }
  }
  folder.write("batches.meta.txt", "airplane\nautomobile\n\n");
  const auto first = importCifar({folder.write("1.bin", ten), folder.write("2.bin", ten)}, out());
  EXPECT_EQ(first.rows, 6);
  EXPECT_THAT(first.classes, ElementsAre("airplane", "automobile"));
  auto dataset = openDataset(first.csv);
  EXPECT_EQ(dataset->schema().variables[0].shape, (Shape{3, 32, 32}));
  EXPECT_EQ(label(*dataset, 4), 5);
  EXPECT_EQ(pixel(*dataset, 5, 2048), 102);
  const auto second = importCifar({folder.write("3.bin", hundred)}, folder.path() / "out100");
  dataset = openDataset(second.csv);
  EXPECT_EQ(label(*dataset, 1), 91) << "the fine label";
  EXPECT_EQ(label(*dataset, 1, 2), 1) << "the coarse label";
  ten.pop_back();
  EXPECT_THAT(messageOf([&] { importCifar({folder.write("4.bin", ten)}, out()); }),
              HasSubstr("has 9218 bytes and is no batch of CIFAR-10"));
  ten.push_back(0);
  ten[0] = 10;
  EXPECT_THAT(messageOf([&] { importCifar({folder.write("4.bin", ten)}, out()); }), HasSubstr("labels 0 to 9"));
  EXPECT_THAT(messageOf([&] { importCifar({}, out()); }), HasSubstr("no batch is named"));
}

TEST_F(Import, FolderOfClassFolders) {
  const Bytes image = files::bmp(1, 1, 24, {1, 2, 3, 0});
  for (const char* name :
       {"pets/cat/2.bmp", "pets/cat/10.bmp", "pets/cat/notes.txt", "pets/dog, large/a.bmp", "pets/empty/readme.txt"})
    folder.write(name, image);
  const auto result = importFolder(folder.path() / "pets", folder.path() / "pets");
  EXPECT_EQ(contentOf(result.csv), "x:image,y:label\ncat/2.bmp,0\ncat/10.bmp,0\n\"dog, large/a.bmp\",1\n");
  EXPECT_THAT(result.classes, ElementsAre("cat", "dog, large"));
  EXPECT_EQ(contentOf(folder.path() / "pets/classes.txt"), "cat\ndog, large\n");
  EXPECT_EQ(openDataset(result.csv)->size(), 3);
  const auto elsewhere = importFolder(folder.path() / "pets", out());
  EXPECT_THAT(contentOf(elsewhere.csv), HasSubstr("../pets/cat/2.bmp,0\n"));
  EXPECT_EQ(openDataset(elsewhere.csv)->size(), 3);
  // A project that is moved takes along what lies in it, and finds the rest where it was.
  const auto whole = (folder.path() / "pets/cat/2.bmp").string();
  EXPECT_THAT(contentOf(importFolder(folder.path() / "pets", out(), {.project = out()}).csv),
              HasSubstr(whole + ",0\n"));
  EXPECT_THAT(contentOf(importFolder(folder.path() / "pets", out(), {.project = folder.path()}).csv),
              HasSubstr("../pets/cat/2.bmp,0\n"));
  folder.write("pets/dog, large/b.wav", files::wav(1, 1, 16, {0, 0}));
  EXPECT_THAT(messageOf([&] { importFolder(folder.path() / "pets", out()); }), HasSubstr("is of the kind sound, but"));
  EXPECT_THAT(messageOf([&] { importFolder(folder.path() / "none", out()); }), HasSubstr("is no folder"));
  EXPECT_THAT(messageOf([&] { importFolder(folder.path() / "pets/cat", out()); }),
              HasSubstr("each class needs a sub-folder"));
}

// Nothing of a folder goes without a word, with what can be done about it.
TEST_F(Import, WhatClassFoldersHoldBesidesIsCountedAndHasARemedy) {
  const Bytes image = files::bmp(1, 1, 24, {1, 2, 3, 0});
  for (const char* name : {"pets/cat/1.bmp", "pets/cat/notes.txt", "pets/cat/Thumbs.DB", "pets/cat/README",
                           "pets/dog/1.BMP", "pets/dog/2.txt"})
    folder.write(name, image);
  EXPECT_EQ(leftOutText(importFolder(folder.path() / "pets", out())),
            "4 files were left out (names without an ending, .db, .txt are not read): save those that are samples as "
            "PNG, JPEG, WAV or .npy and import again");
  for (const char* name : {"pets/cat/more/3.bmp", "pets/stray.bmp", "pets/fox/only.psd"}) folder.write(name, image);
  const auto result = importFolder(folder.path() / "pets", out());
  EXPECT_EQ(result.rows, 2);
  EXPECT_THAT(result.classes, ElementsAre("cat", "dog"));
  const std::string said = leftOutText(result);
  EXPECT_THAT(said, HasSubstr("5 files were left out"));
  EXPECT_THAT(said, HasSubstr("1 folder within the class folders was not looked into: move"));
  EXPECT_THAT(said, HasSubstr("1 sample in no class folder was left out: move"));
  EXPECT_THAT(said, HasSubstr("fox is no class"));
  folder.write("whole/cat/1.bmp", image);
  folder.write("whole/cat/.hidden", image);
  EXPECT_EQ(leftOutText(importFolder(folder.path() / "whole", out())), "");
}

TEST_F(Import, FolderOfSoundsGivesClipsAndOrdersClassesByNumber) {
  folder.write("words/10/a.wav", files::wav(1, 1, 16, {0, 0, 1, 0}));
  folder.write("words/9/b.wav", files::wav(1, 1, 16, {0, 0}));
  const auto result = importFolder(folder.path() / "words", out());
  EXPECT_THAT(result.classes, ElementsAre("9", "10"));
  const auto dataset = openDataset(result.csv);
  EXPECT_EQ(dataset->schema().variables[0].kind, VariableKind::wave);
  EXPECT_TRUE(dataset->schema().variables[0].varying());
}

}  // namespace
}  // namespace loom
