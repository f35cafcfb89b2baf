#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <optional>
#include <set>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/data/cache.h"
#include "engine/data/columns/resolve.h"
#include "engine/data/columns/row_split.h"
#include "engine/data/csv_rows.h"
#include "engine/data/pack.h"
#include "engine/data/prepare_step.h"

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

// Each preparation that was ever tried has a pack of its own: the newest few are kept.
void removeOldPreparations(const CachePlace& place) {
  constexpr std::size_t kKept = 4;
  if (place.made.empty()) return;
  std::error_code failed;
  const std::string plain = place.name.substr(0, place.name.size() - 16);
  std::vector<std::pair<std::filesystem::file_time_type, std::filesystem::path>> packs;
  for (const auto& entry : std::filesystem::directory_iterator(place.folder, failed)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(plain) && name.size() == plain.size() + 21 && name.ends_with(".pack") &&
        name != place.name + ".pack")
      packs.emplace_back(entry.last_write_time(failed), entry.path());
  }
  std::sort(packs.begin(), packs.end(), std::greater<>());
  for (std::size_t i = kKept; i < packs.size(); ++i)
    for (const char* ending : {".pack", ".key", ".lock"})
      std::filesystem::remove(std::filesystem::path(packs[i].second).replace_extension(ending), failed);
}

// How the samples are made of the CSV: its format and the column steps, with all that they need measured.
struct Making {
  CsvSource source;
  RowChoice rows;
  std::string packing;  // what is done to pictures and sounds before they are stored (packingKey())
  // What tells one way from another; empty for a plain CSV without steps.
  std::string made() const {
    if (source.plain() && packing.empty()) return {};
    Json how = {{"format", source.format.text()},
                {"steps", source.steps},
                {"needed", source.needed},
                {"every_row", source.everyRow}};
    if (source.marksHeldOut) how["rows"] = toJson(rows);
    if (!packing.empty()) how["packing"] = packing;
    return how.dump();
  }
  static Json toJson(const RowChoice& rows) {
    Json json = {{"first", rows.first}, {"count", rows.count}};
    if (const auto& how = rows.holdOut)
      json["hold_out"] = {how->share, how->shuffled, how->by, how->group, how->order, how->seed};
    return json;
  }
};

// What was measured before, on the file as it is, or nothing.
std::optional<ResolvedColumns> rememberedSteps(const std::filesystem::path& file, const std::string& key) {
  std::error_code none;
  if (!std::filesystem::exists(file, none)) return std::nullopt;
  try {
    const Json json = parseJson(readFile(file, std::size_t{1} << 28), file.string());
    if (json.at("key") != key) return std::nullopt;
    return ResolvedColumns{json.at("steps").get<std::vector<Json>>(),
                           json.at("warnings").get<std::vector<std::string>>()};
  } catch (const std::exception&) {
    return std::nullopt;  // damaged: measured again
  }
}

// `mayMeasure` false: nothing where the steps would have to be measured first.
std::optional<Making> makingOf(const std::filesystem::path& csv, const OpenOptions& options, bool mayMeasure) {
  if (const std::string problem = orderProblem(options.prepare); !problem.empty())
    throwError(ErrorCode::badProject, "prepare: {}", problem);
  Making making{.source = {.format = recogniseCsv(csv, options.format),
                           .steps = columnStepsOf(options.prepare),
                           .needed = options.needed,
                           .everyRow = options.everyRow,
                           .heldOut = {}},
                .rows = options.rows,
                .packing = packingKey(sampleStepsOf(options.prepare))};
  CsvSource& source = making.source;
  source.marksHeldOut = options.rows.holdOut && !source.plain();
  if (!needsResolving(source.steps)) return making;
  const FileFacts facts = factsOf(csv);
  const std::string key = Json({{"size", facts.size},
                                {"time", facts.time},
                                {"format", source.format.text()},
                                {"steps", source.steps},
                                {"rows", Making::toJson(options.rows)}})
                              .dump();
  const auto places = cachePlaces(csv, options, Json(source.steps).dump());
  const auto warn = [&](const ResolvedColumns& resolved) {
    for (const std::string& warning : resolved.warnings)
      if (options.warn) options.warn(warning);
    source.steps = resolved.steps;
  };
  for (const CachePlace& place : places)
    if (const auto known = rememberedSteps(place.steps(), key)) {
      warn(*known);
      return making;
    }
  if (!mayMeasure) return std::nullopt;
  const ResolvedColumns resolved = resolveColumns(
      {.csv = csv,
       .format = source.format,
       .steps = source.steps,
       .rows = options.rows,
       .threads = options.threads,
       .progress = [&](std::int64_t, std::int64_t) { return !options.progress || options.progress({}); }});
  for (const CachePlace& place : places) {
    if (!writable(place)) continue;
    writeFileAtomically(place.steps(),
                        Json({{"key", key}, {"steps", resolved.steps}, {"warnings", resolved.warnings}}).dump());
    break;
  }
  warn(resolved);
  return making;
}

void build(const std::filesystem::path& csv, const CachePlace& place, const OpenOptions& options, Making making,
           const std::set<std::string>& sizes) {
  const FileFacts before = factsOf(csv);
  if (making.source.marksHeldOut)
    making.source.heldOut =
        splitLines({csv, making.source.format, options.threads, {}}, making.source.steps, making.rows).heldOut;
  CacheKey key(csv, before, place.made);
  std::error_code ignored;
  std::filesystem::remove(place.key(), ignored);  // from here on the old pack counts for nothing
  std::uint64_t packBytes = 0;
  writeFileAtomically(place.pack(), [&](const Append& append) {
    std::optional<PackWriter> writer;
    const auto begin = Clock::now();
    auto told = begin;
    RowConsumer consumer;
    consumer.start = [&](const CsvHeader&, const RowParser& parser) {
      writer.emplace(append, parser.schema(), parser.plan(), making.source.steps);
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
    readRows({.csv = csv,
              .source = making.source,
              .threads = options.threads,
              .prepare = sampleStepsOf(options.prepare),
              .sizes = sizes},
             consumer);
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
  try {
    const auto making = makingOf(csv, options, false);
    if (!making) return false;
    for (const CachePlace& place : cachePlaces(csv, options, making->made())) {
      if (isFresh(csv, place, options.threads)) return true;
    }
  } catch (const Error&) {
    // Not there, or no CSV: whoever opens it is told.
  }
  return false;
}

std::filesystem::path cachePath(const std::filesystem::path& csv, const OpenOptions& options) {
  const auto making = makingOf(csv, options, true);
  const auto places = cachePlaces(csv, options, making->made());
  for (const CachePlace& place : places) {
    if (isFresh(csv, place, options.threads)) return place.pack();
  }
  return places.front().pack();
}

std::unique_ptr<Dataset> openDataset(const std::filesystem::path& csv, const OpenOptions& options) {
  if (csv.extension() == ".pack") {
    auto pack = openPack(csv, options.prepare);
    if (!columnStepsOf(options.prepare).empty() && pack->columnSteps().empty())
      throwError(ErrorCode::badProject,
                 "{} was packed without the steps of preparation on columns; name the CSV, or remove these steps",
                 csv.string());
    return pack;
  }
  factsOf(csv);  // a missing file is told before any folder is made
  const Making making = *makingOf(csv, options, true);
  const auto places = cachePlaces(csv, options, making.made());
  const auto tryOpen = [&](const CachePlace& place) -> std::unique_ptr<Dataset> {
    if (!isFresh(csv, place, options.threads)) return nullptr;
    try {
      return openPack(place.pack(), options.prepare);
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
        build(csv, place, options, making, sizes);
        break;
      } catch (const SizesDiffer& found) {
        sizes.insert(found.variable);
      }
    }
    removeOldPreparations(place);
    return openPack(place.pack(), options.prepare);
  }
  throwError(ErrorCode::internal, "no place for the data cache of {}", csv.string());
}

}  // namespace loom
