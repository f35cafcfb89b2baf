// Who begins when: runs wait in order, exclusive ones first, and a shared run gives way to an exclusive one.
#include <algorithm>
#include <tuple>

#include "engine/base/error.h"
#include "launcher/launcher.h"

namespace loom {

Priority Launcher::priority(const QString& id) const {
  if (const auto known = m_priorities.find(id); known != m_priorities.end()) return *known;
  const RunRecord* const run = m_store.find(id);
  RunRecord read;
  JobFile file;
  if (run) readJobFile(run->folder, read, file);
  return m_priorities.insert(id, file.priority).value();
}

void Launcher::setPriority(const QString& id, Priority priority) {
  const RunRecord* const run = m_store.find(id);
  if (!run || this->priority(id) == priority) return;
  if (!isLive(run->state) && run->state != RunState::queued)
    throwError(ErrorCode::badArgument, "{} is {}: only runs that wait or go have a priority", run->name.toStdString(),
               toKey(run->state));
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

// Behind all that wait with its priority; runs of an earlier session come back to the places that their folders
// remember.
void Launcher::enqueue(const QString& id) {
  if (m_queue.contains(id)) return;
  const RunRecord* const run = m_store.find(id);
  m_waiting.insert(id, run ? orderOf(*run).file : JobFile());
  m_queue << id;
  if (m_waiting[id].place <= 0) {
    int last = 0;
    for (const JobFile& each : std::as_const(m_waiting)) last = std::max(last, each.place);
    saveJob(id, [last](JobFile& job) { job.place = last + 1; });
  }
  sortQueue();
}

void Launcher::dequeue(const QString& id) {
  m_queue.removeAll(id);
  m_waiting.remove(id);
}

// Numbers that grow in the order of now; only those that change are written.
void Launcher::keepPlaces() {
  int place = 0;
  for (const QString& id : std::as_const(m_queue)) {
    ++place;
    if (m_waiting.value(id).place == place) continue;
    saveJob(id, [place](JobFile& job) { job.place = place; });
  }
}

void Launcher::sortQueue() {
  QHash<QString, std::tuple<Priority, int, double>> keys;
  for (const QString& id : std::as_const(m_queue))
    if (const RunRecord* const run = m_store.find(id))
      keys.insert(id, {priority(id), m_waiting.value(id).place, run->created});
  std::stable_sort(m_queue.begin(), m_queue.end(),
                   [&](const QString& one, const QString& other) { return keys.value(one) < keys.value(other); });
}

void Launcher::startNext() {
  if (!m_rediscovered.isEmpty()) return;
  QHash<const Executor*, int> active, ahead;
  for (const Active& each : std::as_const(m_active)) ++active[each.executor];
  for (qsizetype i = 0; i < m_queue.size();) {
    const QString id = m_queue[i];
    try {
      Executor& executor = executorOf(m_waiting.value(id).host);
      // One that was resumed before its last attempt was quite gone waits as well.
      const bool goes = m_active.contains(id);
      if (goes || active.value(&executor) >= executor.atOnce()) {
        if (!goes && priority(id) == Priority::exclusive) giveWay(executor, id, ahead[&executor]++);
        ++i;
        continue;
      }
      dequeue(id);
      start(id, executor);
      active[&executor] += m_active.contains(id);
    } catch (const Error& error) {
      dequeue(id);
      m_active.remove(id);
      m_store.setState(id, RunState::failed, QString::fromStdString(error.what()));
      saveJob(id, [](JobFile& job) { job.queued = false; });
    }
  }
}

// As many shared runs as there are exclusive ones that wait for this host are asked to stop with a checkpoint; `ahead`
// of them wait before this one.
void Launcher::giveWay(const Executor& executor, const QString& to, int ahead) {
  QString leaves;
  int leaving = 0;
  for (auto each = m_active.begin(); each != m_active.end(); ++each) {
    const RunRecord* const run = each->executor == &executor ? m_store.find(each.key()) : nullptr;
    if (!run) continue;
    leaving += run->state == RunState::stopping;
    if (leaves.isEmpty() && priority(each.key()) == Priority::shared && may(run->state, RunAction::stop))
      leaves = each.key();
  }
  if (leaving > ahead || leaves.isEmpty()) return;
  saveJob(leaves, [](JobFile& job) { job.gaveWay = true; });
  const RunRecord* const other = m_store.find(to);
  stop(leaves);
  m_store.change(leaves, [name = other ? other->name : to](RunRecord& record) {
    record.message = tr("Gives way to %1 and goes on when the host is idle.").arg(name);
  });
}

bool Launcher::goesOnLater(const QString& id) {
  const RunRecord* const run = m_store.find(id);
  RunRecord read;
  JobFile file;
  if (!run || run->state != RunState::stopped || !readJobFile(run->folder, read, file) || !file.gaveWay) return false;
  saveJob(id, [](JobFile& job) {
    job.queued = job.resume = true;
    job.gaveWay = false;
    job.place = 1;  // before shared runs that never began
  });
  m_store.setState(id, RunState::queued,
                   tr("Gave way at step %1; goes on from there when the host is idle.").arg(run->step));
  enqueue(id);
  keepPlaces();
  return true;
}

}  // namespace loom
