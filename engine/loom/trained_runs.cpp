#include "engine/loom/trained_runs.h"

#include <algorithm>

#include "engine/loom/verbs.h"
#include "engine/program/backend.h"

namespace loom {
namespace {

constexpr std::size_t kMostKept = 2;  // a run, and the one that it is compared with

// Path, size and time of a file; of one that is not there the path alone.
std::string markOf(const std::filesystem::path& file) {
  std::error_code none;
  const auto time = std::filesystem::last_write_time(file, none);
  const auto size = std::filesystem::file_size(file, none);
  return none ? file.string() : fmt::format("{} {} {}", file.string(), size, time.time_since_epoch().count());
}

std::string keyOf(const TrainedRun& run, const std::string& device) {
  const RunDescription& description = run.description();
  std::string key = device + '\n' + markOf(run.checkpoint()) + '\n' + markOf(run.folder().path / "run.json");
  for (const DatasetSpec& each : description.project.datasets) {
    const std::filesystem::path csv = each.csv;
    key += '\n' + markOf(csv.is_absolute() ? csv : description.folder / csv);
  }
  return key;
}

}  // namespace

TrainedRuns::~TrainedRuns() = default;

TrainedNetwork& TrainedRuns::get(const std::filesystem::path& run, Which which, const std::string& device) {
  const RunFolder folder{std::filesystem::absolute(run)};
  const std::string key = keyOf(TrainedRun(folder, which), device);
  const auto same = std::find_if(m_kept.begin(), m_kept.end(), [&](const Kept& each) { return each.key == key; });
  if (same != m_kept.end()) {
    m_kept.splice(m_kept.begin(), m_kept, same);
    return *m_kept.front().network;
  }
  while (m_kept.size() >= kMostKept) m_kept.pop_back();  // before memory is taken for another one
  std::unique_ptr<Backend>& backend = m_backends[device];
  if (!backend) backend = makeBackend(device, 0);
  m_kept.push_front(
      {key, std::make_unique<TrainedNetwork>(
                *backend, TrainedNetworkOptions{.run = folder, .which = which, .stop = &m_stop, .progress = {}})});
  ++m_count;
  return *m_kept.front().network;
}

}  // namespace loom
