#include "engine/agent/worker.h"

namespace loom {

Worker::~Worker() {
  {
    const std::lock_guard lock(m_mutex);
    m_ending = true;
  }
  m_wake.notify_all();
  if (m_thread.joinable()) m_thread.join();
}

void Worker::add(std::string name, std::function<void()> task) {
  const std::lock_guard lock(m_mutex);
  m_tasks.push_back({std::move(name), std::move(task)});
  if (!m_thread.joinable()) m_thread = std::thread([this] { serve(); });
  m_wake.notify_all();
}

void Worker::drain() {
  std::unique_lock lock(m_mutex);
  m_idle.wait(lock, [this] { return m_tasks.empty(); });
}

void Worker::drop() {
  const std::lock_guard lock(m_mutex);
  while (m_tasks.size() > (m_working ? 1 : 0)) m_tasks.pop_back();
}

std::optional<Worker::Busy> Worker::busy(std::chrono::milliseconds least) const {
  const std::lock_guard lock(m_mutex);
  const auto since = std::chrono::steady_clock::now() - m_begun;
  if (!m_working || since < least) return {};
  return Busy{m_tasks.front().name, std::chrono::duration_cast<std::chrono::seconds>(since), m_tasks.size() - 1};
}

void Worker::serve() {
  std::unique_lock lock(m_mutex);
  for (;;) {
    m_wake.wait(lock, [this] { return m_ending || !m_tasks.empty(); });
    if (m_tasks.empty()) return;
    m_working = true;
    m_begun = std::chrono::steady_clock::now();
    const auto run = std::move(m_tasks.front().run);
    lock.unlock();
    run();
    lock.lock();
    m_working = false;
    m_tasks.pop_front();
    if (m_tasks.empty()) m_idle.notify_all();
  }
}

}  // namespace loom
