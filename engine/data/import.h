#pragma once
// From other formats to a folder with a CSV dataset in NNC's convention: OUT/index.csv beside OUT/data/. Images become
// PNG files, so what was imported can be looked at, corrected and opened by other programs. Every function throws Error
// (missingFile, badData, diskFull, badArgument) and writes index.csv last: a folder without it was not imported to the
// end.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace loom {

struct ImportOptions {
  int threads = 0;                                                      // 0 = cores
  std::function<bool(std::int64_t done, std::int64_t total)> progress;  // called now and then; false cancels
  // Files in it are named relative to the CSV and move with it, others by their whole path; empty: all relative.
  std::filesystem::path project = {};
};

struct ImportResult {
  std::filesystem::path csv;
  std::int64_t rows = 0;
  std::vector<std::string> classes;             // names, where the source has some; also in OUT/classes.txt, one a line
  std::map<std::string, std::int64_t> leftOut;  // files that are not read, by the ending of their names
  std::int64_t deeper = 0, beside = 0;          // folders within class folders; samples in no class folder
  std::vector<std::string> noClasses;           // folders of which nothing was read
};

// IDX (MNIST and its relatives), plain or gzip: images of u8, N x H x W or N x C x H x W, and N labels of u8.
ImportResult importIdx(const std::filesystem::path& images, const std::filesystem::path& labels,
                       const std::filesystem::path& out, const ImportOptions& options = {});

// The pairs of IDX files in a folder, by name: NAME-images-idx3-ubyte[.gz] beside NAME-labels-idx1-ubyte[.gz], as MNIST
// and its relatives are published ("." and "_" may stand for "-"). In the order of their names. Throws
// Error(missingFile).
struct IdxPair {
  std::string name;  // "train", "t10k"
  std::filesystem::path images, labels;
};
std::vector<IdxPair> findIdxPairs(const std::filesystem::path& folder);

// CIFAR-10 and CIFAR-100 binary batches (records of 3073 or 3074 bytes), in the order given; plain or gzip. Of
// CIFAR-100 the fine label becomes y, the coarse one `coarse`.
ImportResult importCifar(const std::vector<std::filesystem::path>& batches, const std::filesystem::path& out,
                         const ImportOptions& options = {});

// A folder whose sub-folders are the classes, in alphabetical order (numbers by value); files that openDataset() can
// read, all of one kind. The CSV stands in `out` and names the files where they are; nothing is copied. `out` may be
// the folder itself.
ImportResult importFolder(const std::filesystem::path& folder, const std::filesystem::path& out,
                          const ImportOptions& options = {});

// "2 files were left out (.docx, .txt are not read): save those that are samples as ..." and what else of a folder was
// not taken; empty where all was.
std::string leftOutText(const ImportResult& result);

}  // namespace loom
