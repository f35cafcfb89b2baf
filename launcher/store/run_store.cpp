#include "launcher/store/run_store.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSet>
#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/words.h"
#include "launcher/store/database.h"
#include "launcher/store/disk_work.h"

namespace loom {
namespace {

constexpr int kFlushMs = 700;
constexpr int kLastPatienceMs = 1000;  // with another window that writes, when this one closes

double now() {
  return static_cast<double>(QDateTime::currentMSecsSinceEpoch()) / 1000;
}

}  // namespace

RunStore::RunStore(const QString& folder, QObject* parent)
    : QObject(parent), m_folder(folder), m_file(folder + "/runs.db"), m_marks(folder + "/marks.jsonl") {
  if (!QDir().mkpath(folder))
    throwError(ErrorCode::inputOutput, "{} cannot be made: it is to hold the list of runs", folder.toStdString());
  m_flush.setSingleShot(true);
  m_flush.setInterval(kFlushMs);
  connect(&m_flush, &QTimer::timeout, this, &RunStore::flushSome);
  m_lock = std::make_unique<FileLock>(folder + "/runs.lock", FileLock::Kind::shared);
  readFolders();
  try {
    try {
      open();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::newerVersion) throw;
      m_file = m_folder + "/runs-of-older.db";
      open();
    }
    loadRuns();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::badData) throw;
    rebuild(QString::fromStdString(error.message()));
    return;
  }
  if (m_isNew && !m_folders.isEmpty())
    m_notice = tr("The list of runs was gone. It is read again from %1.")
                   .arg(QString::fromStdString(counted(m_folders.size(), "run folders")));
}

RunStore::~RunStore() {
  try {
    if (m_database) m_database->setPatience(kLastPatienceMs);
    flush();
  } catch (const std::exception&) {
    // The run folders have it all; the next start reads on from the last flush.
  }
  waitForDisk();
}

bool RunStore::guarded(const std::function<void()>& work) {
  if (!m_database) return false;
  try {
    work();
    return true;
  } catch (const DatabaseBusy&) {
    m_flush.start();  // what is to be written is written then
    return false;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::badData)
      rebuild(QString::fromStdString(error.message())), Q_EMIT builtAnew();
    else
      m_notice = QString::fromStdString(error.what());
    Q_EMIT noticeRaised(m_notice);
    return false;
  }
}

// Another window may have the same file open: what is taken from under it would be lost with all it still writes.
void RunStore::rebuild(const QString& why) {
  waitForDisk();  // which has the file open
  m_database.reset();
  m_dirty.clear();
  m_byId.clear();
  m_byFolder.clear();
  m_colours.clear();
  m_bytes = 0;
  m_entries.clear();
  readFolders();
  if (m_lock->tryExclusive()) {
    const QString when = m_file + ".damaged-" + QDateTime::currentDateTime().toString("yyyyMMdd-HHmmss");
    QString kept = when;
    for (int again = 2; QFile::exists(kept); ++again) kept = QStringLiteral("%1-%2").arg(when).arg(again);
    for (const char* each : {"", "-wal", "-shm"}) QFile::rename(m_file + each, kept + each);
    open();
    m_lock->backToShared();
    m_notice =
        tr("The list of runs could not be read (%1). It is built again from %2; the damaged file is kept as %3.")
            .arg(why, QString::fromStdString(counted(m_folders.size(), "run folders")), QFileInfo(kept).fileName());
  } else {
    m_file = ":memory:";
    open();
    m_notice = tr("The list of runs could not be read (%1), and another Gradloom has it open. This window reads %2 for "
                  "itself; close both to have the list built again.")
                   .arg(why, QString::fromStdString(counted(m_folders.size(), "run folders")));
  }
}

RunStore::Entry* RunStore::entry(const QString& id) const {
  return m_byId.value(id);
}

QList<RunRecord> RunStore::runs(const QString& project, Deleted deleted) const {
  QList<RunRecord> runs;
  forEachRun(
      project, [&](const RunRecord& run) { runs << run; }, deleted);
  return runs;
}

void RunStore::forEachRun(const QString& project, const std::function<void(const RunRecord&)>& look,
                          Deleted deleted) const {
  for (const auto& each : m_entries) {
    if (deleted == Deleted::leaveOut && each->record.deleted > 0) continue;
    if (project.isEmpty() || each->record.project == project) look(each->record);
  }
}

const RunRecord* RunStore::find(const QString& id) const {
  const Entry* const found = entry(id);
  return found ? &found->record : nullptr;
}

std::int64_t RunStore::placeOf(const QString& id) const {
  const Entry* const found = entry(id);
  return found ? found->place : -1;
}

QString RunStore::freeName(const QString& project, const QString& wanted) const {
  QSet<QString> taken;
  forEachRun(
      project, [&](const RunRecord& each) { taken.insert(each.name); }, Deleted::include);
  for (int number = 1;; ++number)
    if (const QString name = wanted + '-' + QString::number(number); !taken.contains(name)) return name;
}

const RunRecord* RunStore::findFolder(const QString& folder) const {
  const Entry* const found = m_byFolder.value(folder);
  return found ? &found->record : nullptr;
}

void RunStore::countColour(const RunRecord& run, int by) {
  if (run.deleted > 0) return;
  QHash<int, int>& taken = m_colours[run.project];
  if ((taken[run.colour] += by) <= 0) taken.remove(run.colour);
}

int RunStore::freeColour(const QString& project) const {
  const QHash<int, int> taken = m_colours.value(project);
  int colour = 0;
  while (taken.contains(colour)) ++colour;
  return colour;
}

QString RunStore::add(RunRecord record, OnDisk onDisk) {
  if (const Entry* known = entry(record.id)) return known->record.id;
  if (const RunRecord* known = findFolder(record.folder)) return known->id;
  auto fresh = std::make_unique<Entry>();
  const RunMark* const mark = m_marks.find(record.folder);
  record.colour = mark ? mark->colour : freeColour(record.project);
  if (record.created == 0) record.created = now();
  const QString id = record.id, folder = record.folder;
  fresh->record = std::move(record);
  fresh->data = std::make_unique<RunData>();
  fresh->place = std::ssize(m_entries);
  Entry& added = *m_entries.emplace_back(std::move(fresh));
  m_byId.insert(id, &added);
  m_byFolder.insert(folder, &added);
  countColour(added.record, 1);
  noteFolder(added.record);
  noteMark(added.record);
  markDirty(added);
  if (onDisk == OnDisk::now) flush(id);
  if (entry(id)) Q_EMIT runAdded(id);
  return id;
}

void RunStore::markDirty(Entry& entry) {
  if (!entry.dirty) m_dirty.push_back(&entry);
  entry.dirty = true;
  if (!m_flush.isActive()) m_flush.start();
}

void RunStore::change(const QString& id, const std::function<void(RunRecord&)>& change) {
  Entry* const found = entry(id);
  if (!found) return;
  countColour(found->record, -1);
  change(found->record);
  countColour(found->record, 1);
  if (noteMark(found->record)) saveNotes();
  markDirty(*found);
  Q_EMIT runChanged(id);
}

void RunStore::setState(const QString& id, RunState state, const QString& message) {
  const Entry* const found = entry(id);
  if (!found || (found->record.state == state && found->record.message == message)) return;
  change(id, [&](RunRecord& record) {
    record.state = state;
    record.message = message;
    if (state >= RunState::finished) record.ended = record.lastTime > 0 ? record.lastTime : now();
  });
  flush(id);
}

void RunStore::flush(const QString& id) {
  Entry* const found = entry(id);
  if (!found) return;
  if (!found->row) saveNotes();
  save({found}, std::numeric_limits<qint64>::max());
}

void RunStore::remove(const QString& id) {
  change(id, [](RunRecord& record) { record.deleted = now(); });
  if (const RunRecord* const run = find(id)) noteFolder(*run);
  flush();
  Q_EMIT runRemoved(id);
}

void RunStore::restore(const QString& id) {
  change(id, [](RunRecord& record) { record.deleted = 0; });
  if (const RunRecord* const run = find(id)) noteFolder(*run);
  flush();
  Q_EMIT runAdded(id);
}

void RunStore::setArchived(const QStringList& ids, bool archived) {
  QStringList changed;
  for (const QString& id : ids) {
    Entry* const found = entry(id);
    if (!found || found->record.archived == archived) continue;
    found->record.archived = archived;
    noteMark(found->record);
    markDirty(*found);
    changed << id;
  }
  saveNotes();
  for (const QString& id : std::as_const(changed)) Q_EMIT runChanged(id);
}

std::int64_t RunStore::logOffset(const QString& id) const {
  const Entry* const found = entry(id);
  return found ? found->offset : 0;
}

const std::string& RunStore::logMark(const QString& id) const {
  static const std::string none;
  const Entry* const found = entry(id);
  return found ? found->mark : none;
}

void RunStore::forgetLog(const QString& id) {
  Entry* const found = entry(id);
  if (!found) return;
  const bool gone = guarded([&] {
    Transaction transaction(*m_database);
    for (const char* sql : {"DELETE FROM blocks WHERE series IN (SELECT id FROM series WHERE run = ?)",
                            "DELETE FROM series WHERE run = ?", "DELETE FROM attempts WHERE run = ?",
                            "DELETE FROM events WHERE run = ?"}) {
      Statement statement(*m_database, sql);
      statement.with(found->row).run();
    }
    transaction.commit();
  });
  if (!gone || !entry(id)) return;
  found->data = std::make_unique<RunData>();
  found->pending.clear();
  found->offset = 0;
  found->mark.clear();
  RunRecord& run = found->record;
  run.attempt = run.step = 0;
  run.epoch = run.lastTime = run.duration = 0;
  run.loss = run.best = run.bestEpoch = run.last = std::nan("");
  run.bestStep = -1;
  run.metric.clear();
  markDirty(*found);
  flush();
  Q_EMIT pointsAdded(id);
  Q_EMIT runChanged(id);
}

}  // namespace loom
