#include "engine/data/import_images.h"

#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/data/text.h"

namespace loom {

void makeFolder(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throwErrno(failed.value(), "make the folder", folder);
  if (!std::filesystem::is_directory(folder))
    throwError(ErrorCode::badArgument, "{} is no folder; name another place to import to", folder.string());
}

std::string csvCell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos && !text.starts_with('"')) return text;
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? "\"\"" : std::string(1, c);
  return cell + '"';
}

std::vector<std::byte> readPlainOrGzip(const std::filesystem::path& path) {
  constexpr std::size_t kMost = std::size_t{8} << 30;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throwError(ErrorCode::badData, "{} is a folder; name the file in it", path.string());
  errno = 0;
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file) throwErrno(errno ? errno : ENOMEM, "read", path);
  struct Closer {
    gzFile file;
    ~Closer() { gzclose(file); }
  } closer{file};
  gzbuffer(file, 1 << 18);
  std::vector<std::byte> bytes;
  for (;;) {
    const std::size_t have = bytes.size();
    bytes.resize(have + (std::size_t{4} << 20));
    const int got = gzread(file, bytes.data() + have, static_cast<unsigned>(bytes.size() - have));
    int code = Z_OK;
    const char* message = gzerror(file, &code);
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END))
      throwError(ErrorCode::badData, "{} cannot be unpacked ({}); it was cut short or damaged: fetch it again",
                 path.string(), message && *message ? message : "unexpected end of file");
    bytes.resize(have + static_cast<std::size_t>(got));
    if (got == 0) break;
    if (bytes.size() > kMost)
      throwError(ErrorCode::badData, "{} unpacks to more than {}", path.string(), sizeText(kMost));
  }
  return bytes;
}

ImportResult importImages(const ImageSource& source, const std::filesystem::path& out, std::vector<std::string> classes,
                          const ImportOptions& options) {
  makeFolder(out);
  // A CSV of an earlier import must not name images that are being replaced.
  std::error_code ignored;
  std::filesystem::remove(out / "index.csv", ignored);
  const auto folderOf = [](std::int64_t i) { return fmt::format("data/{:02d}", i / 1000); };
  const auto fileOf = [&](std::int64_t i) { return fmt::format("{}/{:06d}.png", folderOf(i), i); };
  for (std::int64_t i = 0; i < source.count; i += 1000) makeFolder(out / folderOf(i));

  std::atomic<std::int64_t> next{0}, done{0};
  std::atomic<bool> ending{false};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&](bool tells) {
    auto told = std::chrono::steady_clock::now();
    try {
      for (std::int64_t begin; !ending && (begin = next.fetch_add(64)) < source.count;) {
        const std::int64_t end = std::min(begin + 64, source.count);
        for (std::int64_t i = begin; i < end; ++i) writePng(out / fileOf(i), source.image(i), source.shape);
        done += end - begin;
        const auto now = std::chrono::steady_clock::now();
        if (!tells || !options.progress || now - told < std::chrono::milliseconds(100)) continue;
        told = now;
        if (!options.progress(done, source.count))
          throwError(ErrorCode::stopped, "stopped while {} was written", out.string());
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      ending = true;
    }
  };
  const int threads =
      options.threads > 0 ? options.threads : std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 16);
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(work, false);
  work(true);
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);

  std::string csv = source.header + "\n";
  for (std::int64_t i = 0; i < source.count; ++i) csv += fileOf(i) + "," + source.cells(i) + "\n";
  if (!classes.empty()) {
    std::string names;
    for (const std::string& name : classes) names += name + "\n";
    writeFileAtomically(out / "classes.txt", names);
  }
  writeFileAtomically(out / "index.csv", csv);
  if (options.progress) options.progress(source.count, source.count);
  return {out / "index.csv", source.count, std::move(classes)};
}

}  // namespace loom
