#include "engine/data/cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/hash.h"
#include "engine/base/philox.h"
#include "engine/base/samples.h"
#include "engine/base/user_folders.h"
#include "engine/data/prepare_step.h"

namespace loom {
namespace {

constexpr std::string_view kMagic = "LOOMKEY2";

void appendNumber(std::string& out, std::uint64_t number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

struct KeyReader {
  std::string_view text;
  bool good = true;
  std::uint64_t number() {
    std::uint64_t value = 0;
    if (text.size() < sizeof value) {
      good = false;
      return 0;
    }
    std::memcpy(&value, text.data(), sizeof value);
    text.remove_prefix(sizeof value);
    return value;
  }
  std::string_view string() {
    const std::uint64_t size = number();
    if (size > text.size()) {
      good = false;
      return {};
    }
    const std::string_view value = text.substr(0, size);
    text.remove_prefix(size);
    return value;
  }
};

void appendFacts(std::string& out, std::string_view path, const FileFacts& facts) {
  appendNumber(out, path.size());
  out += path;
  appendNumber(out, static_cast<std::uint64_t>(facts.size));
  appendNumber(out, static_cast<std::uint64_t>(facts.time));
  appendNumber(out, static_cast<std::uint64_t>(facts.changed));
  appendNumber(out, facts.node);
  appendNumber(out, facts.hash);
}

std::int64_t nanoseconds(const struct timespec& time) {
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// XXH64 of a file, opened relative to `folder`; nothing where it cannot be read.
std::optional<std::uint64_t> hashOf(int folder, const char* path) {
  const int file = ::openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return {};
  Hash64 hash;
  std::vector<std::byte> piece(std::size_t{1} << 18);
  ssize_t got = 0;
  while ((got = ::read(file, piece.data(), piece.size())) > 0 || (got < 0 && errno == EINTR))
    if (got > 0) hash.add(piece.data(), static_cast<std::size_t>(got));
  ::close(file);
  if (got < 0) return {};
  return hash.value();
}

enum class Freshness { stale, fresh, renewed };  // renewed: the same content in another file
Freshness freshnessOf(int folder, const char* path, FileFacts& facts) {
  struct stat status {};
  if (::fstatat(folder, path, &status, 0) != 0) return Freshness::stale;
  FileFacts now = factsOf({}, status);
  if (now.size != facts.size || now.time != facts.time) return Freshness::stale;
  if (now.changed == facts.changed && now.node == facts.node) return Freshness::fresh;
  if (hashOf(folder, path) != facts.hash) return Freshness::stale;
  facts.changed = now.changed;
  facts.node = now.node;
  return Freshness::renewed;
}

}  // namespace

std::vector<CachePlace> cachePlaces(const std::filesystem::path& csv, const OpenOptions& options,
                                    const std::string& made) {
  const std::string file = csv.filename().string();
  std::error_code ignored;
  const std::string whole = std::filesystem::weakly_canonical(std::filesystem::absolute(csv), ignored).string();
  const std::string way = made.empty() ? std::string() : fmt::format("-{:016x}", hashName(made));
  const std::string apart = fmt::format("{}-{:016x}{}", file, hashName(whole), way);
  if (!options.cacheFolder.empty()) return {{options.cacheFolder, apart, made}};
  if (liesAmongSamples(csv)) return {{userCacheFolder() / "data", apart, made}};
  return {{csv.parent_path() / ".gradloom-cache", file + way, made}, {userCacheFolder() / "data", apart, made}};
}

FileFacts factsOf(const std::filesystem::path& csv) {
  struct stat status {};
  if (::stat(csv.c_str(), &status) != 0) throwErrno(errno, "read", csv);
  return factsOf(csv.filename().string(), status);
}

FileFacts factsOf(std::string path, const struct stat& status) {
  return {.path = std::move(path),
          .size = status.st_size,
          .time = nanoseconds(status.st_mtim),
          .changed = nanoseconds(status.st_ctim),
          .node = static_cast<std::uint64_t>(status.st_ino)};
}

CacheKey::CacheKey(const std::filesystem::path& csv, const FileFacts& facts, const std::string& made) : m_text(kMagic) {
  appendNumber(m_text, 0);  // size of the pack
  appendNumber(m_text, 0);  // number of files
  FileFacts whole = facts;
  whole.hash = hashOf(AT_FDCWD, csv.c_str()).value_or(0);
  appendFacts(m_text, csv.filename().string() + made, whole);
}

void CacheKey::add(const std::vector<FileFacts>& files) {
  for (const FileFacts& file : files) appendFacts(m_text, file.path, file);
  m_files += files.size();
}

std::string CacheKey::finish(std::uint64_t packBytes) {
  std::memcpy(m_text.data() + kMagic.size(), &packBytes, sizeof packBytes);
  std::memcpy(m_text.data() + kMagic.size() + sizeof packBytes, &m_files, sizeof m_files);
  return std::move(m_text);
}

bool isFresh(const std::filesystem::path& csv, const CachePlace& place, int threads) {
  struct stat packStatus {};
  if (::stat(place.pack().c_str(), &packStatus) != 0) return false;
  std::string text;
  try {
    text = readFile(place.key(), std::size_t{1} << 34);
  } catch (const Error&) {
    return false;
  }
  KeyReader key{text};
  if (!text.starts_with(kMagic)) return false;
  key.text.remove_prefix(kMagic.size());
  if (key.number() != static_cast<std::uint64_t>(packStatus.st_size)) return false;
  const std::uint64_t count = key.number();
  struct Entry {
    std::string_view path;
    FileFacts facts;
  };
  const auto take = [&key] {
    Entry entry{.path = key.string(), .facts = {}};
    entry.facts.size = static_cast<std::int64_t>(key.number());
    entry.facts.time = static_cast<std::int64_t>(key.number());
    entry.facts.changed = static_cast<std::int64_t>(key.number());
    entry.facts.node = key.number();
    entry.facts.hash = key.number();
    return entry;
  };
  Entry own = take();
  if (!key.good || own.path != csv.filename().string() + place.made || count > key.text.size()) return false;
  std::atomic<bool> fresh{true}, renewed{false};
  const auto judge = [&](int folder, const char* path, FileFacts& facts) {
    const Freshness found = freshnessOf(folder, path, facts);
    if (found == Freshness::stale) fresh = false;
    if (found == Freshness::renewed) renewed = true;
  };
  judge(AT_FDCWD, csv.c_str(), own.facts);
  if (!fresh) return false;
  std::vector<Entry> entries;
  entries.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    entries.push_back(take());
    if (!key.good) return false;
  }
  // Paths are looked up relative to the CSV's folder, which the kernel then need not walk to anew for every file.
  const std::filesystem::path parent = csv.has_parent_path() ? csv.parent_path() : ".";
  const int folder = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  const auto look = [&](std::size_t begin, std::size_t end) {
    std::string path;
    for (std::size_t i = begin; i < end && fresh.load(std::memory_order_relaxed); ++i) {
      path = entries[i].path;
      judge(folder, path.c_str(), entries[i].facts);
    }
  };
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t used = entries.size() < 2000 ? 1
                           : threads > 0         ? static_cast<std::size_t>(threads)
                                                 : std::min<std::size_t>(cores, 16);
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < used; ++t)
    others.emplace_back(look, entries.size() * t / used, entries.size() * (t + 1) / used);
  look(0, entries.size() / used);
  for (std::thread& other : others) other.join();
  ::close(folder);
  if (!fresh || !renewed) return fresh;
  std::string again = text.substr(0, kMagic.size() + 2 * sizeof(std::uint64_t));
  appendFacts(again, own.path, own.facts);
  for (const Entry& entry : entries) appendFacts(again, entry.path, entry.facts);
  try {
    writeFileAtomically(place.key(), again);
  } catch (const Error&) {
    // A folder that may only be read: looked into again next time.
  }
  return true;
}

BuilderLock::BuilderLock(const std::filesystem::path& file, const std::function<bool()>& keepWaiting) {
  m_file = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (m_file < 0) throwErrno(errno, "write", file);
  while (::flock(m_file, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return;  // a file system without locks: renaming at the end still keeps readers safe
    if (!keepWaiting()) {
      ::close(m_file);
      throwError(ErrorCode::stopped, "stopped while another process prepares the data");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

BuilderLock::~BuilderLock() {
  if (m_file >= 0) ::close(m_file);
}

}  // namespace loom
