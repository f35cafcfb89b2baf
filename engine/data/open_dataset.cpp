#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <exception>
#include <optional>
#include <set>

#include "engine/base/error.h"
#include "engine/data/cache.h"
#include "engine/data/csv_rows.h"
#include "engine/data/pack.h"

namespace loom {
namespace {

using Clock = std::chrono::steady_clock;

// Whether files can be written there; makes the folder.
bool writable(const CachePlace& place) {
  std::error_code failed;
  std::filesystem::create_directories(place.folder, failed);
  return ::access(place.folder.c_str(), W_OK | X_OK) == 0;
}

// What killed builders left behind. Only under the lock: nobody else writes now.
void removeLeftovers(const CachePlace& place) {
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(place.folder, failed)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(place.name + ".pack.partial-") || name.starts_with(place.name + ".key.partial-"))
      std::filesystem::remove(entry.path(), failed);
  }
}

void build(const std::filesystem::path& csv, const CachePlace& place, const OpenOptions& options,
           const std::set<std::string>& sizes) {
  const FileFacts before = factsOf(csv);
  CacheKey key(csv, before);
  std::error_code ignored;
  std::filesystem::remove(place.key(), ignored);  // from here on the old pack counts for nothing
  std::uint64_t packBytes = 0;
  writeFileAtomically(place.pack(), [&](const Append& append) {
    std::optional<PackWriter> writer;
    const auto begin = Clock::now();
    auto told = begin;
    RowConsumer consumer;
    consumer.start = [&](const CsvHeader&, const RowParser& parser) {
      writer.emplace(append, parser.schema(), parser.plan());
    };
    consumer.rows = [&](RowChunk& chunk, RowFaults&, std::int64_t done, std::int64_t total) {
      writer->add(chunk);
      key.add(chunk.files);
      const auto now = Clock::now();
      if (!options.progress || (now - told < std::chrono::milliseconds(100) && done < total)) return;
      told = now;
      const double seconds = std::chrono::duration<double>(now - begin).count();
      const std::int64_t rows = writer->rows();
      const std::int64_t estimate =
          done >= total ? rows
                        : static_cast<std::int64_t>(static_cast<double>(rows) * static_cast<double>(total) /
                                                    static_cast<double>(std::max<std::int64_t>(done, 1)));
      if (!options.progress({rows, std::max(rows, estimate), seconds > 0 ? static_cast<double>(rows) / seconds : 0}))
        throwError(ErrorCode::stopped, "stopped while {} was prepared", csv.filename().string());
    };
    readRows({.csv = csv, .threads = options.threads, .prepare = options.prepare, .sizes = sizes}, consumer);
    if (!writer || writer->rows() == 0)
      throwError(ErrorCode::badData, "{} has a header but no samples; add a line for each sample",
                 csv.filename().string());
    writer->finish();
    packBytes = writer->bytes();
    const FileFacts after = factsOf(csv);
    if (after.size != before.size || after.time != before.time || after.changed != before.changed)
      throwError(ErrorCode::badData, "{} was changed while it was read; wait until it is written and try again",
                 csv.filename().string());
  });
  writeFileAtomically(place.key(), key.finish(packBytes));
}

}  // namespace

bool cacheIsFresh(const std::filesystem::path& csv, const OpenOptions& options) {
  for (const CachePlace& place : cachePlaces(csv, options)) {
    if (isFresh(csv, place, options.threads)) return true;
  }
  return false;
}

std::filesystem::path cachePath(const std::filesystem::path& csv, const OpenOptions& options) {
  const auto places = cachePlaces(csv, options);
  for (const CachePlace& place : places) {
    if (isFresh(csv, place, options.threads)) return place.pack();
  }
  return places.front().pack();
}

std::unique_ptr<Dataset> openDataset(const std::filesystem::path& csv, const OpenOptions& options) {
  if (csv.extension() == ".pack") return openPack(csv);
  factsOf(csv);  // a missing file is told before any folder is made
  const auto places = cachePlaces(csv, options);
  const auto tryOpen = [&](const CachePlace& place) -> std::unique_ptr<Dataset> {
    if (!isFresh(csv, place, options.threads)) return nullptr;
    try {
      return openPack(place.pack());
    } catch (const Error& error) {
      if (error.code() != ErrorCode::badData && error.code() != ErrorCode::missingFile) throw;
      return nullptr;  // damaged, of an older format, or gone in this moment: it is built anew
    }
  };
  for (const CachePlace& place : places) {
    if (auto dataset = tryOpen(place)) return dataset;
  }
  for (const CachePlace& place : places) {
    if (!writable(place)) {
      if (&place != &places.back()) continue;
      throwErrno(errno, "write the data cache in", place.folder);
    }
    const BuilderLock lock(place.lock(), [&] { return !options.progress || options.progress({}); });
    if (auto dataset = tryOpen(place)) return dataset;  // another process built it while this one waited
    removeLeftovers(place);
    // Pictures are stored side by side until one differs in size: then from the beginning, each in its own.
    for (std::set<std::string> sizes;;) {
      try {
        build(csv, place, options, sizes);
        break;
      } catch (const SizesDiffer& found) {
        sizes.insert(found.variable);
      }
    }
    return openPack(place.pack());
  }
  throwError(ErrorCode::internal, "no place for the data cache of {}", csv.string());
}

}  // namespace loom
