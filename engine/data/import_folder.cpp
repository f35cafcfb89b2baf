#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/words.h"
#include "engine/data/import_images.h"
#include "engine/data/sample_files.h"
#include "engine/data/text.h"

namespace loom {
namespace {

namespace fs = std::filesystem;

// "9" before "10", "img2.png" before "img10.png", otherwise by bytes.
bool naturally(const std::string& a, const std::string& b) {
  std::size_t i = 0, k = 0;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  while (i < a.size() && k < b.size()) {
    if (digit(a[i]) && digit(b[k])) {
      const std::size_t beginA = i = std::min(a.find_first_not_of('0', i), a.size()),
                        beginB = k = std::min(b.find_first_not_of('0', k), b.size());
      while (i < a.size() && digit(a[i])) ++i;
      while (k < b.size() && digit(b[k])) ++k;
      if (i - beginA != k - beginB) return i - beginA < k - beginB;
      if (const int order = a.compare(beginA, i - beginA, b, beginB, k - beginB); order != 0) return order < 0;
    } else {
      if (a[i] != b[k]) return a[i] < b[k];
      ++i;
      ++k;
    }
  }
  return a.size() - i != b.size() - k ? a.size() - i < b.size() - k : a < b;
}

std::string endingOf(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

std::string_view kindOf(const fs::path& path) {
  const SampleEnding* const known = sampleEndingOf(path.native());
  if (!known) return {};
  return known->kind == SampleFileKind::picture ? "image" : known->kind == SampleFileKind::sound ? "sound" : "array";
}

std::vector<fs::directory_entry> sorted(const fs::path& folder) {
  std::error_code failed;
  std::vector<fs::directory_entry> entries;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (!entry.path().filename().string().starts_with('.')) entries.push_back(entry);
  }
  if (failed) throwErrno(failed.value(), "read the folder", folder);
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return naturally(a.path().filename().string(), b.path().filename().string());
  });
  return entries;
}

}  // namespace

ImportResult importFolder(const fs::path& folder, const fs::path& out, const ImportOptions& options) {
  if (!fs::is_directory(folder))
    throwError(ErrorCode::missingFile, "{} is no folder; name one whose sub-folders are the classes", folder.string());
  struct File {
    fs::path path;
    std::size_t label;
  };
  std::vector<File> files;
  std::vector<std::string> classes;
  std::string_view kind;
  fs::path firstOfKind;
  ImportResult result;
  std::int64_t others = 0;
  for (const auto& entry : sorted(folder)) {
    if (!entry.is_directory()) {
      result.beside += !kindOf(entry.path()).empty();
      continue;
    }
    std::vector<File> own;
    for (const auto& inner : sorted(entry.path())) {
      const std::string_view its = inner.is_regular_file() ? kindOf(inner.path()) : std::string_view{};
      if (its.empty()) {
        ++others;
        if (inner.is_regular_file()) ++result.leftOut[endingOf(inner.path())];
        result.deeper += inner.is_directory();
        continue;
      }
      if (kind.empty()) {
        kind = its;
        firstOfKind = inner.path();
      }
      if (its != kind)
        throwError(ErrorCode::badData,
                   "{} is of the kind {}, but {} is of the kind {}; a dataset has one kind: put the others elsewhere",
                   inner.path().string(), its, firstOfKind.string(), kind);
      own.push_back({inner.path(), classes.size()});
    }
    if (own.empty()) {  // "out/data" of an earlier import, empty folders
      result.noClasses.push_back(entry.path().filename().string());
      continue;
    }
    classes.push_back(entry.path().filename().string());
    files.insert(files.end(), own.begin(), own.end());
    if (options.progress && !options.progress(static_cast<std::int64_t>(files.size()), 0))
      throwError(ErrorCode::stopped, "stopped while {} was read", folder.string());
  }
  if (files.empty())
    throwError(ErrorCode::badData,
               "{} has no sub-folder with images, sounds or arrays ({} other files were seen); each class needs a "
               "sub-folder with its files",
               folder.string(), others);
  makeFolder(out);
  const fs::path from = fs::weakly_canonical(fs::absolute(out));
  const fs::path home = options.project.empty() ? fs::path() : fs::weakly_canonical(fs::absolute(options.project));
  std::string csv = fmt::format("x:{},y:label\n", kind);
  for (const File& file : files) {
    const fs::path whole = fs::weakly_canonical(fs::absolute(file.path));
    const bool inside = home.empty() || *whole.lexically_relative(home).begin() != "..";
    const std::string path = (inside ? whole.lexically_relative(from) : whole).generic_string();
    if (path.find('\\') != std::string::npos || findNonUtf8(path) != std::string::npos)
      throwError(ErrorCode::badData,
                 "the name {} cannot stand in a CSV ('\\' means '/' there, and names are UTF-8); rename the file",
                 quotedText(path));
    csv += csvCell(path) + "," + std::to_string(file.label) + "\n";
  }
  std::string names;
  for (const std::string& name : classes) names += name + "\n";
  writeFileAtomically(out / "classes.txt", names);
  writeFileAtomically(out / "index.csv", csv);
  result.csv = out / "index.csv";
  result.rows = static_cast<std::int64_t>(files.size());
  result.classes = std::move(classes);
  return result;
}

std::string leftOutText(const ImportResult& result) {
  std::vector<std::string> said;
  std::int64_t files = 0;
  std::string endings;
  for (const auto& [ending, count] : result.leftOut) {
    files += count;
    endings += (endings.empty() ? "" : ", ") + (ending.empty() ? "names without an ending" : ending);
  }
  const auto were = [](std::int64_t count) { return count == 1 ? "was" : "were"; };
  if (files > 0)
    said.push_back(fmt::format(
        "{} {} left out ({} {} not read): save those that are samples as PNG, JPEG, WAV or .npy and import again",
        counted(files, "files"), were(files), endings, result.leftOut.size() == 1 ? "is" : "are"));
  if (result.deeper > 0)
    said.push_back(fmt::format("{} within the class folders {} not looked into: move what they hold up one folder",
                               counted(result.deeper, "folders"), were(result.deeper)));
  if (result.beside > 0)
    said.push_back(fmt::format("{} in no class folder {} left out: move them into that of their class",
                               counted(result.beside, "samples"), were(result.beside)));
  if (!result.noClasses.empty())
    said.push_back(fmt::format("{} {} no class, since nothing of {} is read", fmt::join(result.noClasses, ", "),
                               result.noClasses.size() == 1 ? "is" : "are",
                               result.noClasses.size() == 1 ? "it" : "them"));
  return fmt::format("{}", fmt::join(said, "; "));
}

}  // namespace loom
