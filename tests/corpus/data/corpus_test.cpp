// Broken datasets, by hand and by mutation. Each ends in an error that names the file or in a dataset of finite
// numbers, and checkDataset() agrees with openDataset() on which of the two it is: never a crash, a hang, or garbage.
#include <gmock/gmock.h>
#include <png.h>

#include <cmath>
#include <cstring>

#include "engine/base/philox.h"
#include "engine/data/check.h"
#include "engine/data/dataset.h"
#include "tests/engine/data/data_files.h"
#include "tests/engine/data/sample_files.h"

namespace loom {
namespace {

using namespace std::string_view_literals;
using files::Bytes;

struct Broken {
  const char* name;
  std::string_view text;
  const char* told;  // stands in the message
};

// "good.png" (2 x 2), "other.png" (3 x 3), "clip.wav", "wide.csv" and "cut.png" lie beside each.
const Broken kBroken[] = {
    {"empty", ""sv, "is empty"},
    {"only a byte order mark", "\xef\xbb\xbf"sv, "empty"},
    {"only a line break", "\n"sv, "header"},
    {"header alone", "x,y\n"sv, "no samples"},
    {"header without a line break", "x,y"sv, "no samples"},
    {"blank lines below the header", "x,y\n\n\r\n\n"sv, "no samples"},
    {"comma at the header's end", "x,y,\n1,2,\n"sv, "column c3: the cell is empty"},
    {"label without a name", ":label\n1\n"sv, "names no variable"},
    {"index without a name", "__0\n1\n"sv, "names no variable"},
    {"index that is text", "x__a\n1\n"sv, "an index 0, 1, 2 ..."},
    {"index that is negative", "x__-1\n1\n"sv, "an index 0, 1, 2 ..."},
    {"index that is empty", "x__\n1\n"sv, "an index 0, 1, 2 ..."},
    {"index beyond all numbers", "x__99999999999999999999\n1\n"sv, "an index 0, 1, 2 ..."},
    {"index with a fraction", "x__1.5\n1\n"sv, "an index 0, 1, 2 ..."},
    {"index that stands twice", "x__0,x__1,x__0\n1,2,3\n"sv, "x__0 stands twice"},
    {"name with and without an index", "x,x__0\n1,2\n"sv, "several columns"},
    {"all columns left out", "#a,#b\n1,2\n"sv, "names no variable"},
    {"number among percents", "x,y\n12 %,1\n5,2\n7 %,3\n"sv, "the column's numbers are percents"},
    {"percent among numbers", "x,y\n1,1\n5,2\n7 %,3\n"sv, "'7 %', but a number"},
    {"CR alone", "x,y\r1,2\r3,4\r"sv, "CR alone"},
    {"NUL in the header", "x\0,y\n1,2\n"sv, "no UTF-8"},
    {"UTF-16, little end first", "\xff\xfex\0,\0y\0\n\0"sv, "no samples"},
    {"UTF-16, big end first", "\xfe\xff\0x\0,\0y"sv, "no samples"},
    {"a PNG image", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR"sv, "a PNG image"},
    {"a JPEG image", "\xff\xd8\xff\xe0\0\x10JFIF"sv, "a JPEG image"},
    {"an Excel file", "PK\x03\x04\x14\0\x06\0xl/"sv, "Excel"},
    {"an old Excel file", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "Office"},
    {"a gzip file", "\x1f\x8b\x08\0\0\0\0\0"sv, "gzip"},
    {"an HTML page", "<!DOCTYPE html><html>"sv, "HTML"},
    {"a NumPy array", "\x93NUMPY\x01\0"sv, "NumPy"},
    {"a Parquet file", "PAR1\x15\x04"sv, "Parquet"},
    {"a PDF", "%PDF-1.7\n"sv, "PDF"},
    {"quote in the header never closed", "\"x,y\n1,2\n3,4\n"sv, "never closed"},
    {"quote in a row never closed", "x,y\n1,2\n\"3,4\n5,6\n"sv, "never closed"},
    {"too few cells", "x,y,z\n1,2,3\n4,5\n"sv, "2 cells, but the header has 3"},
    {"too many cells", "x,y\n1,2\n4,5,6\n"sv, "3 cells, but the header has 2"},
    {"too few in the first row", "x,y\n1\n2,3\n"sv, "1 cells, but the header has 2"},
    {"comma at a row's end", "x,y\n1,2,\n"sv, "3 cells"},
    {"decimal comma", "x,y\n1.5,0\n\"2,5\",1\n"sv, "with a point"},
    {"decimal comma that splits a cell", "x,y\n1,5,0\n"sv, "3 cells"},
    {"empty cell", "x,y\n1,2\n3,\n"sv, "the cell is empty"},
    {"empty cell in the first row", "x,y\n,2\n3,4\n"sv, "the cell is empty"},
    {"blank cell", "x,y\n1,2\n  ,4\n"sv, "the cell is empty"},
    {"text among numbers", "x,y\n1,2\n3,four\n"sv, "'four'"},
    {"text class", "x,y:label\n1,cat\n2,dog\n"sv, "write classes as 0, 1, 2"},
    {"number with a unit", "x,y\n1,2\n3 cm,4\n"sv, "'3 cm'"},
    {"two points", "x,y\n1,2\n1.2.3,4\n"sv, "'1.2.3'"},
    {"hexadecimal", "x,y\n1,2\n0x1F,4\n"sv, "'0x1F'"},
    {"bare exponent", "x,y\n1,2\n1e,4\n"sv, "'1e'"},
    {"a formula", "x,y\n1,2\n=A1+1,4\n"sv, "'=A1+1'"},
    {"Excel's error", "x,y\n1,2\n#DIV/0!,4\n"sv, "'#DIV/0!'"},
    {"true and false", "x,y\n1,2\nTRUE,4\n"sv, "'TRUE'"},
    {"a date", "x,y\n1,2\n2024-01-31,4\n"sv, "'2024-01-31'"},
    {"NaN", "x,y\n1,2\nNaN,4\n"sv, "finite"},
    {"NaN in the first row", "x,y\nnan,2\n"sv, "finite"},
    {"NA", "x,y\n1,2\nNA,4\n"sv, "'NA'"},
    {"infinity", "x,y\n1,2\n-Infinity,4\n"sv, "finite"},
    {"beyond float32", "x,y\n1,2\n3.5e38,4\n"sv, "float32"},
    {"beyond float64", "x,y\n1,2\n1e400,4\n"sv, "float32"},
    {"NUL in a number", "x,y\n1,2\n3\0,4\n"sv, "'3\\x00'"},
    {"NUL in a path", "x,y\ngood\0.png,2\n"sv, "UTF-8 without line breaks"},
    {"Latin-1 path", "x,y\nbl\xfc.png,2\n"sv, "there is no file"},
    {"escape codes", "x,y\n1,2\n\x1b[31m,4\n"sv, "\\x1b[31m"},
    {"full-width digits", "x,y\n1,2\n\xef\xbc\x91,4\n"sv, "a number is needed"},
    {"missing image", "x,y\nnone.png,2\n"sv, "there is no file"},
    {"missing image in a later row", "x,y\ngood.png,2\nnone.png,3\n"sv, "line 3, column x"},
    {"address", "x,y\nhttps://example.org/a.png,2\n"sv, "download it"},
    {"folder", "x,y\n.,2\n"sv, "folder or a device"},
    {"device", "x,y\n/dev/zero,2\n"sv, "folder or a device"},
    {"truncated image", "x,y\ncut.png,2\n"sv, "is broken"},
    {"image, then sound", "x,y\ngood.png,2\nclip.wav,2\n"sv, "a wave"},
    {"image, then number", "x,y\ngood.png,2\n7,2\n"sv, "the rows before name files"},
    {"number, then image", "x,y\n7,2\n./good.png,2\n"sv, "all numbers"},
    {"unknown ending", "x,y\ntext.txt,2\n"sv, "end in .png"},
    {"no ending", "x,y\n./plain,2\n"sv, "no ending"},
    {"text that is called PNG", "x,y\ntext.png,2\n"sv, "a PNG image is needed"},
    {"image that is called WAV", "x,y\nimage.wav,2\n"sv, "a WAV sound is needed"},
    {"empty image", "x,y\nempty.png,2\n"sv, "the file is empty"},
    {"data CSV with a header", "x,y\nheader.csv,2\n"sv, "remove the header line"},
    {"data CSV of another width", "x,y\nwide.csv,2\nnarrow.csv,2\n"sv, "only the first extent may differ"},
};

class Corpus : public testing::Test {
 protected:
  void SetUp() override {
    folder.write("good.png", files::png(2, 2, 8, PNG_COLOR_TYPE_GRAY, {1, 2, 3, 4}));
    folder.write("other.png", files::png(3, 3, 8, PNG_COLOR_TYPE_GRAY, Bytes(9, 5)));
    const Bytes cut = files::png(9, 9, 8, PNG_COLOR_TYPE_GRAY, Bytes(81, 5));
    folder.write("cut.png", Bytes(cut.begin(), cut.end() - 20));
    folder.write("clip.wav", files::wav(1, 1, 16, {0, 0, 1, 0}));
    folder.write("image.wav", files::png(2, 2, 8, PNG_COLOR_TYPE_GRAY, {1, 2, 3, 4}));
    folder.write("wide.csv", "1,2,3\n4,5,6\n");
    folder.write("narrow.csv", "1,2\n");
    folder.write("header.csv", "a,b\n1,2\n");
    folder.write("text.txt", "text");
    folder.write("text.png", "text");
    folder.write("plain", "text");
    folder.write("empty.png", "");
  }

  // Opens and checks; answers the error, or nothing for a dataset that holds finite numbers. Both must agree.
  std::string outcome(const std::filesystem::path& csv) {
    std::string message;
    try {
      const auto dataset = openDataset(csv, {.threads = 1});
      EXPECT_GT(dataset->size(), 0);
      for (std::int64_t row = 0; row < dataset->size(); ++row) {
        for (std::size_t v = 0; v < dataset->schema().variables.size(); ++v) {
          const auto raw = dataset->read(row, v);
          EXPECT_GT(raw.size(), 0u);
          if (dataset->schema().variables[v].type != DataType::f32) continue;
          for (std::size_t i = 0; i < raw.size() / 4; ++i) {
            float value;
            std::memcpy(&value, raw.data() + 4 * i, 4);
            EXPECT_TRUE(std::isfinite(value));
          }
        }
      }
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::badData || error.code() == ErrorCode::missingFile) << error.what();
      EXPECT_GT(std::strlen(error.what()), 20u);
      EXPECT_EQ(std::string_view(error.what()).find('\0'), std::string_view::npos);
      message = error.what();
      EXPECT_FALSE(message.empty());
    }
    CheckOptions options;
    options.threads = 1;
    const CheckReport report = checkDataset(csv, options);
    // A label that is no class stops no reading: only the network knows what is a label.
    EXPECT_EQ(report.errors - report.count(FaultKind::label) > 0, !message.empty())
        << message << report.toJson().dump(2);
    EXPECT_NO_THROW(report.toJson().dump());
    return message;
  }

  // A copy with some bytes changed, taken out, put in or repeated; a function of (kind, number).
  static Bytes mutated(Bytes bytes, std::string_view kind, std::uint64_t number) {
    const Philox random(21, kind);
    std::uint64_t draw = number * 64;
    const auto below = [&](std::size_t bound) {
      return static_cast<std::size_t>(random.below(std::max<std::size_t>(bound, 1), draw++));
    };
    for (std::size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
      const std::size_t at = below(bytes.size());
      const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
      switch (below(7)) {
        case 0:
          *place ^= static_cast<unsigned char>(1u << below(8));
          break;
        case 1:
          *place = static_cast<unsigned char>(below(256));
          break;
        case 2:
          bytes.resize(at);
          break;
        case 3:
          bytes.erase(place, place + static_cast<std::ptrdiff_t>(std::min(below(9), bytes.size() - at)));
          break;
        case 4:
          bytes.insert(place, 1 + below(5), static_cast<unsigned char>(",\"\n\r\0e-.9#\xff"[below(11)]));
          break;
        case 5: {
          const Bytes piece(place, place + static_cast<std::ptrdiff_t>(std::min(below(30), bytes.size() - at)));
          bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size())), piece.begin(), piece.end());
          break;
        }
        default:  // numbers that sizes are made of
          for (std::size_t i = 0; i < 4 && at + i < bytes.size(); ++i) bytes[at + i] = below(2) ? 0xff : 0;
      }
    }
    return bytes;
  }

  // Mutates a cell's file, with a good one in the row before.
  void mutateFile(const Bytes& good, const std::string& extension, int count) {
    int refused = 0;
    folder.write("reference" + extension, good);
    for (int i = 0; i < count; ++i) {
      SCOPED_TRACE(fmt::format("{} mutation {}", extension, i));
      folder.write("cell" + extension, mutated(good, extension, static_cast<std::uint64_t>(i)));
      refused += !outcome(folder.write("m.csv", fmt::format("x,y\nreference{0},1\ncell{0},2\n", extension))).empty();
    }
    EXPECT_GT(refused, count / 10);
  }

  ScratchFolder folder;
};

TEST_F(Corpus, EveryBrokenFileIsRefusedWithItsReason) {
  static_assert(std::size(kBroken) >= 80);
  for (const Broken& broken : kBroken) {
    SCOPED_TRACE(broken.name);
    EXPECT_THAT(outcome(folder.write("broken.csv", broken.text)), testing::HasSubstr(broken.told));
  }
}

// Signs and encodings of other countries are no faults.
TEST_F(Corpus, OtherFormatsAreRead) {
  for (const std::string_view text :
       {"x__0;x__1;y\n1;2;3\n"sv, "x__0\tx__1\n1\t2\n"sv, "gr\xf6\xdf\x65,y\n1,2\n"sv, "x,y\n1,2\n\"1,000,000\",4\n"sv})
    EXPECT_EQ(outcome(folder.write("other.csv", text)), "") << text;
}

TEST_F(Corpus, MutatedCsv) {
  std::string good = "x__0,x__1,#note,y:label\r\n";
  for (int i = 0; i < 12; ++i) good += fmt::format("{:.3f},\"{:e}\",a \"\"b,{}\n", i * 0.7, i * 1e3, i % 3);
  const Bytes bytes(good.begin(), good.end());
  ASSERT_EQ(outcome(folder.write("m.csv", bytes)), "");
  int refused = 0;
  for (int i = 0; i < 600; ++i) {
    SCOPED_TRACE(fmt::format("mutation {}", i));
    refused += !outcome(folder.write("m.csv", mutated(bytes, "csv", static_cast<std::uint64_t>(i)))).empty();
  }
  EXPECT_GT(refused, 200);
  EXPECT_LT(refused, 600) << "some mutations stay valid";
}

TEST_F(Corpus, MutatedCsvOfFiles) {
  const std::string good = "x:image,y:label\ngood.png,0\n./good.png,1\n\"good.png\",2\n";
  for (int i = 0; i < 200; ++i) {
    SCOPED_TRACE(fmt::format("mutation {}", i));
    outcome(folder.write("m.csv", mutated(Bytes(good.begin(), good.end()), "files", static_cast<std::uint64_t>(i))));
  }
}

TEST_F(Corpus, MutatedPng) {
  Bytes pixels(16 * 16 * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<unsigned char>(i * i);
  mutateFile(files::png(16, 16, 8, PNG_COLOR_TYPE_RGB, pixels), ".png", 150);
}

TEST_F(Corpus, MutatedJpeg) {
  Bytes pixels(16 * 16 * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<unsigned char>(i * 3);
  mutateFile(files::jpeg(16, 16, 3, pixels, 90, false), ".jpg", 150);
  mutateFile(files::jpeg(16, 16, 3, pixels, 90, true), ".jpeg", 100);
}

TEST_F(Corpus, MutatedBmpNpyAndWav) {
  mutateFile(files::bmp(4, 4, 24, Bytes(48, 9)), ".bmp", 150);
  mutateFile(files::npy("<f4", false, "(2, 2)", Bytes(16, 0)), ".npy", 150);
  mutateFile(files::wav(1, 2, 16, Bytes(40, 3)), ".wav", 150);
}

}  // namespace
}  // namespace loom
