#include "engine/agent/batch_desk.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"

namespace loom {
namespace {

void releaseOne(const Scheduler& scheduler, const std::string& number) {
  try {
    scheduler.release(number);
  } catch (const Error&) {  // then its state says that it is still held
  }
}

}  // namespace

BatchDesk::~BatchDesk() {
  {
    const std::lock_guard lock(m_mutex);
    m_ending = true;
  }
  m_wake.notify_all();
  if (m_thread.joinable()) m_thread.join();
}

BatchState BatchDesk::look(const Scheduler& scheduler, const std::string& number, double since) {
  const std::lock_guard lock(m_mutex);
  Entry& entry = m_jobs[&scheduler][number];
  entry.looked = Clock::now();
  entry.wanted = std::max(entry.wanted, since);
  if (entry.fresh || (entry.wanted > entry.served && entry.wanted > entry.state.asked)) {
    wake();
  }
  BatchState state = entry.state;
  state.releasing = entry.releasing;
  return state;
}

void BatchDesk::wake() {
  m_urgent = true;
  if (!m_thread.joinable()) m_thread = std::thread([this] { serve(); });
  m_wake.notify_all();
}

BatchState BatchDesk::ask(const Scheduler& scheduler, const std::string& number) {
  BatchState state = scheduler.query({number}).at(number);
  const std::lock_guard lock(m_mutex);
  const auto jobs = m_jobs.find(&scheduler);
  if (jobs != m_jobs.end())
    if (const auto found = jobs->second.find(number); found != jobs->second.end()) {
      found->second.fresh = false;
      found->second.served = found->second.wanted;
      take(found->second, state);
    }
  return state;
}

void BatchDesk::touch(const Scheduler& scheduler, const std::string& number) {
  const std::lock_guard lock(m_mutex);
  const auto jobs = m_jobs.find(&scheduler);
  if (jobs == m_jobs.end()) return;
  if (const auto found = jobs->second.find(number); found != jobs->second.end()) {
    found->second.fresh = true;
    wake();
  }
}

void BatchDesk::release(const Scheduler& scheduler, const std::string& number) {
  const std::lock_guard lock(m_mutex);
  Entry& entry = m_jobs[&scheduler][number];
  entry.looked = Clock::now();
  entry.release = entry.releasing = entry.fresh = true;
  wake();
}

bool BatchDesk::take(Entry& entry, BatchState state) {
  if (state.asked < entry.state.asked) return false;  // an older answer that took longer
  // A system that does not answer for a while has not forgotten what it said before.
  if (state.phase == JobPhase::unknown && !state.forgotten && entry.state.asked > 0 &&
      entry.state.phase != JobPhase::unknown) {
    entry.state.detail = state.detail;
    return false;
  }
  const bool changed = entry.state.phase != state.phase || entry.state.asked == 0;
  entry.over = state.phase == JobPhase::ended || state.forgotten;
  entry.state = std::move(state);
  return changed;
}

void BatchDesk::serve() {
  std::unique_lock lock(m_mutex);
  auto pause = m_pace.least;
  Clock::time_point last{};
  while (!m_ending) {
    const auto due = [&] { return m_ending || m_urgent; };
    if (last != Clock::time_point{}) {
      m_wake.wait_until(lock, last + pause, due);
      // Those that come together are asked for together.
      m_wake.wait_until(lock, last + m_pace.soon, [&] { return m_ending; });
    }
    if (m_ending) return;
    m_urgent = false;
    bool changed = false;
    for (auto& [scheduler, jobs] : m_jobs) {
      std::vector<std::string> numbers, held;
      for (auto each = jobs.begin(); each != jobs.end();) {
        Entry& entry = each->second;
        if (Clock::now() - entry.looked > m_pace.forget) {
          each = jobs.erase(each);
          continue;
        }
        if (std::exchange(entry.release, false)) held.push_back(each->first);
        if (!entry.over || entry.fresh || entry.wanted > entry.served) numbers.push_back(each->first);
        entry.fresh = false;
        entry.served = entry.wanted;
        ++each;
      }
      if (numbers.empty()) continue;
      lock.unlock();
      for (const std::string& each : held) releaseOne(*scheduler, each);
      auto states = scheduler->query(numbers);
      lock.lock();
      for (auto& [number, state] : states)
        if (const auto found = jobs.find(number); found != jobs.end()) {
          found->second.releasing = found->second.release;  // asked for once more meanwhile
          changed |= take(found->second, std::move(state));
        }
    }
    last = Clock::now();
    pause = changed ? m_pace.least : std::min(m_pace.most, pause * 2);
  }
}

}  // namespace loom
