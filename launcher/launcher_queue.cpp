// Who begins when: runs wait in order, exclusive ones first, and a shared run gives way to an exclusive one.
#include <algorithm>
#include <tuple>

#include "engine/base/error.h"
#include "launcher/launcher.h"

namespace loom {

Priority Launcher::priority(const QString& id) const {
  if (const auto known = m_priorities.find(id); known != m_priorities.end()) return *known;
  const RunRecord* const run = m_store.find(id);
  return m_priorities.insert(id, run ? orderOf(*run).file.priority : Priority::exclusive).value();
}

void Launcher::setPriority(const QString& id, Priority priority) {
  const RunRecord* const run = m_store.find(id);
  if (!run || this->priority(id) == priority) return;
  if (!isLive(run->state) && run->state != RunState::queued)
    throwError(ErrorCode::badArgument, "{} is {}: only runs that wait or go have a priority", run->name.toStdString(), toKey(run->state));
  saveJob(id, [priority](JobFile& job) { job.priority = priority; });
  m_priorities.insert(id, priority);
  sortQueue();
  startNext();
  m_store.change(id, [](RunRecord&) {});
  Q_EMIT countsChanged();
}

void Launcher::moveInQueue(const QString& id, int by) {
  const qsizetype from = m_queue.indexOf(id);
  if (from < 0) return;
  const qsizetype to = std::clamp<qsizetype>(from + by, 0, m_queue.size() - 1);
  m_queue.move(from, to);
  keepPlaces();
  sortQueue();  // never across the border between the priorities
  Q_EMIT countsChanged();
}

// Behind all that wait with its priority; runs of an earlier session come back to the places that their folders remember.
void Launcher::enqueue(const QString& id) {
  if (m_queue.contains(id)) return;
  const RunRecord* const run = m_store.find(id);
  const int remembered = run ? orderOf(*run).file.place : 0;
  m_queue << id;
  if (remembered > 0) sortQueue();
  else keepPlaces(), sortQueue();
}

// Numbers from 1, in the order of now.
void Launcher::keepPlaces() {
  for (qsizetype i = 0; i < m_queue.size(); ++i)
    saveJob(m_queue[i], [place = static_cast<int>(i) + 1](JobFile& job) { job.place = place; });
}

void Launcher::sortQueue() {
  QHash<QString, std::tuple<Priority, int, double>> keys;
  for (const QString& id : std::as_const(m_queue))
    if (const RunRecord* const run = m_store.find(id)) keys.insert(id, {priority(id), orderOf(*run).file.place, run->created});
  std::stable_sort(m_queue.begin(), m_queue.end(), [&](const QString& one, const QString& other) { return keys.value(one) < keys.value(other); });
}

void Launcher::startNext() {
  for (qsizetype i = 0; i < m_queue.size();) {
    const QString id = m_queue[i];
    const RunRecord* const run = m_store.find(id);
    try {
      Executor& executor = executorOf(run ? orderOf(*run).file.host : QString());
      // One that was resumed before its last attempt was quite gone waits as well.
      if (m_active.contains(id) || activeOn(executor) >= executor.atOnce()) {
        if (!m_active.contains(id) && priority(id) == Priority::exclusive) giveWay(executor, id);
        ++i;
        continue;
      }
      m_queue.removeAt(i);
      start(id, executor);
    } catch (const Error& error) {
      m_queue.removeAll(id);
      m_active.remove(id);
      m_store.setState(id, RunState::failed, QString::fromStdString(error.what()));
      saveJob(id, [](JobFile& job) { job.queued = false; });
    }
  }
}

// As many shared runs as there are exclusive ones that wait for this host are asked to stop with a checkpoint.
void Launcher::giveWay(const Executor& executor, const QString& to) {
  int leaving = 0, ahead = 0;
  for (auto each = m_active.begin(); each != m_active.end(); ++each)
    if (each->executor == &executor && m_store.find(each.key()) && m_store.find(each.key())->state == RunState::stopping) ++leaving;
  for (const QString& id : std::as_const(m_queue)) {
    if (id == to) break;
    const RunRecord* const run = m_store.find(id);
    ahead += run && priority(id) == Priority::exclusive && !m_active.contains(id) && &executorOf(orderOf(*run).file.host) == &executor;
  }
  if (leaving > ahead) return;
  for (auto each = m_active.begin(); each != m_active.end(); ++each) {
    const QString id = each.key();
    const RunRecord* const run = m_store.find(id);
    if (each->executor != &executor || !run || priority(id) != Priority::shared || !may(run->state, RunAction::stop)) continue;
    saveJob(id, [](JobFile& job) { job.gaveWay = true; });
    const RunRecord* const other = m_store.find(to);
    stop(id);
    m_store.change(id, [name = other ? other->name : to](RunRecord& record) {
      record.message = tr("Gives way to %1 and goes on when the host is idle.").arg(name);
    });
    return;
  }
}

bool Launcher::goesOnLater(const QString& id) {
  const RunRecord* const run = m_store.find(id);
  if (!run || run->state != RunState::stopped || !orderOf(*run).file.gaveWay) return false;
  saveJob(id, [](JobFile& job) {
    job.queued = job.resume = true;
    job.gaveWay = false;
    job.place = 1;  // before shared runs that never began
  });
  m_store.setState(id, RunState::queued, tr("Gave way at step %1; goes on from there when the host is idle.").arg(run->step));
  enqueue(id);
  keepPlaces();
  return true;
}

}  // namespace loom
