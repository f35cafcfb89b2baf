#include "engine/agent/held_jobs.h"

#include "engine/agent/scheduler.h"
#include "engine/agent/wall_clock.h"
#include "engine/base/error.h"

namespace loom {
namespace {

// The count is kept before the release is asked for: where it cannot be kept, the job stays held.
bool mayRelease(const JobFolder& job, int start, const JobFolder::Releases& before, const BatchState& state,
                const ReleaseRule& rule) {
  if (before.times >= rule.most || state.asked < before.at + rule.settled || job.killed(start)) return false;
  try {
    job.noteReleases(start, {.times = before.times + 1, .at = wallClock()});
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

BatchLook lookAndRelease(JobFolder job, BatchDesk& desk, ReleaseRule rule) {
  return [job = std::move(job), &desk, rule](const Scheduler& scheduler, const std::string& number, double since) {
    BatchState state = desk.look(scheduler, number, since);
    if (state.phase != JobPhase::queued) return state;
    const int start = job.notedStart();
    JobFolder::Releases releases = job.releases(start);
    const bool recently = state.releasing || state.asked < releases.at + rule.settled;
    if (state.notStarted && !state.releasing && mayRelease(job, start, releases, state, rule)) {
      desk.release(scheduler, number);
      ++releases.times;
    } else if (releases.times == 0 || (state.notStarted && !recently)) {
      return state;
    }
    if (state.notStarted) state.detail = fmt::format("waiting in {}'s queue", scheduler.name());
    state.detail += fmt::format("; {} could not start it and held it: it was released, {} of at most {} times",
                                scheduler.name(), releases.times, rule.most);
    return state;
  };
}

}  // namespace loom
