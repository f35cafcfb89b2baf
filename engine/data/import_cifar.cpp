#include <algorithm>
#include <fstream>

#include "engine/base/error.h"
#include "engine/data/import_images.h"

namespace loom {
namespace {

constexpr std::size_t kImage = 3 * 32 * 32;

// Names beside the batches, as the archives bring them: batches.meta.txt or fine_label_names.txt.
std::vector<std::string> classNames(const std::filesystem::path& folder, bool fine) {
  std::ifstream file(folder / (fine ? "fine_label_names.txt" : "batches.meta.txt"));
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line) && names.size() < 1000;) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) names.push_back(line);
  }
  return names;
}

}  // namespace

ImportResult importCifar(const std::vector<std::filesystem::path>& batches, const std::filesystem::path& out,
                         const ImportOptions& options) {
  if (batches.empty()) throwError(ErrorCode::badArgument, "no batch is named; name data_batch_1.bin and its fellows");
  std::vector<std::vector<std::byte>> files;
  for (const auto& path : batches) files.push_back(readPlainOrGzip(path));
  // Records are one label and an image, or two labels and an image. Sizes that fit both are told apart by the label
  // itself: coarse labels of CIFAR-100 stay under 20, fine ones under 100, labels of CIFAR-10 under 10.
  const auto fits = [&](std::size_t labels) {
    const std::size_t record = kImage + labels;
    return std::all_of(files.begin(), files.end(), [&](const auto& file) {
      if (file.empty() || file.size() % record != 0) return false;
      for (std::size_t at = 0; at < file.size(); at += record) {
        if (std::to_integer<int>(file[at]) >= (labels == 1 ? 10 : 20) ||
            std::to_integer<int>(file[at + labels - 1]) >= (labels == 1 ? 10 : 100))
          return false;
      }
      return true;
    });
  };
  const std::size_t labels = fits(1) ? 1 : fits(2) ? 2 : 0;
  if (labels == 0) {
    const auto odd = std::find_if(files.begin(), files.end(), [](const auto& file) {
      return file.empty() || (file.size() % (kImage + 1) != 0 && file.size() % (kImage + 2) != 0);
    });
    const std::size_t which = static_cast<std::size_t>((odd == files.end() ? files.begin() : odd) - files.begin());
    throwError(ErrorCode::badData,
               "{} has {} bytes and is no batch of CIFAR-10 (records of 3073 bytes, labels 0 to 9) or CIFAR-100 (3074 "
               "bytes, labels 0 to 19 and 0 to 99); it was cut short, "
               "or is of the Python or Matlab version: take the binary version",
               batches[which].string(), files[which].size());
  }
  const std::size_t record = kImage + labels;
  std::vector<std::int64_t> starts{0};
  for (const auto& file : files) starts.push_back(starts.back() + static_cast<std::int64_t>(file.size() / record));
  const auto at = [&](std::int64_t i) {
    const auto which = static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), i) - starts.begin() - 1);
    return std::span<const std::byte>(files[which])
        .subspan(static_cast<std::size_t>(i - starts[which]) * record, record);
  };
  return importImages({.count = starts.back(),
                       .shape = Shape{3, 32, 32},
                       .header = labels == 2 ? "x:image,y:label,coarse:label" : "x:image,y:label",
                       .image = [&](std::int64_t i) { return at(i).subspan(labels); },
                       .cells =
                           [&](std::int64_t i) {
                             const auto one = at(i);
                             const int first = std::to_integer<int>(one[0]);
                             return labels == 2 ? fmt::format("{},{}", std::to_integer<int>(one[1]), first)
                                                : std::to_string(first);
                           }},
                      out, classNames(batches[0].parent_path(), labels == 2), options);
}

}  // namespace loom
