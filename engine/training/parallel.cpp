#include "engine/training/parallel.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/comm/reductions/shards.h"

namespace loom {

Parallel::Parallel(Communicator& communicator, const TrainSettings& settings, Trace* trace)
    : communicator(communicator), deterministic(settings.deterministic), passes(settings.accumulate), trace(trace) {
  logical = static_cast<int>(settings.virtualRanks);
  if (deterministic) {
    if (logical == 0) logical = kDeterministicShards;
    passes = 1;
  }
  if (logical == 0) logical = ranks();
  if (logical < ranks())
    throwError(ErrorCode::badProject,
               "training: {} {} cannot be shared by {} ranks; start at most {} ranks, or set virtual_ranks to {}",
               logical, deterministic ? "shards of a deterministic step" : "virtual ranks", ranks(), logical, ranks());
  // Virtual ranks stand for a run on as many.
  for (const int count : {ranks(), static_cast<int>(std::max<std::int64_t>(settings.virtualRanks, 1))})
    if (const auto refusal = refusalOf(settings.reduction, count, settings.wire, deterministic))
      throwError(ErrorCode::badProject, "training: {}", refusal->text);
  if (settings.statistics == BatchStatistics::synchronised && (logical > ranks() || passes > 1))
    throwError(ErrorCode::badProject,
               "training: synchronised batch statistics need all samples of a step at once, but {} {} compute one "
               "after another; set "
               "batch_statistics to per_shard, or train without {}",
               passes > 1 ? passes : logical, passes > 1 ? "accumulation passes" : "virtual ranks",
               passes > 1      ? "accumulation"
               : deterministic ? "deterministic"
                               : "virtual ranks");
}

const std::shared_ptr<StreamRanks>& Parallel::streams() const {
  if (!m_streams) m_streams = ranks() > 1 && connect ? connect(communicator) : nullptr;
  return *m_streams;
}

std::int64_t Parallel::shardSize(std::int64_t batch) const {
  const std::int64_t share = (batch + logical - 1) / logical;
  return std::max<std::int64_t>((share + passes - 1) / passes, 1);
}

template <class Visit>
void Parallel::visit(std::int64_t size, std::int64_t batch, int firstRank, int lastRank, const Visit& visit) const {
  const std::int64_t most = shardSize(batch);
  for (int l = firstLogical(firstRank); l < firstLogical(lastRank); ++l) {
    const std::int64_t begin = firstRow(size, l), end = firstRow(size, l + 1);
    for (std::int64_t first = begin; first < end; first += most) {
      const std::int64_t count = std::min(most, end - first);
      visit(
          Shard{.logical = l, .first = first, .count = count, .opens = first == begin, .closes = first + count == end});
    }
  }
}

void Parallel::shards(std::int64_t size, std::int64_t batch, std::vector<Shard>& to) const {
  to.clear();
  visit(size, batch, communicator.rank(), communicator.rank() + 1, [&to](const Shard& shard) { to.push_back(shard); });
}

std::int64_t Parallel::shardsOfAll(std::int64_t size, std::int64_t batch) const {
  std::int64_t count = 0;
  visit(size, batch, 0, ranks(), [&count](const Shard&) { ++count; });
  return count;
}

}  // namespace loom
