#include "launcher/store/run_store.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QScopedValueRollback>
#include <QSet>
#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/words.h"
#include "launcher/store/database.h"

namespace loom {
namespace {

constexpr int kFlushMs = 700;
constexpr int kReadPatienceMs = 3000;
constexpr int kLastPatienceMs = 1000;       // with another window that writes, when this one closes
constexpr std::size_t kMemory = 96u << 20;  // of loaded curves; what is above goes, least recently used first

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

template <class Answer, class Question>
Answer RunStore::answer(const QString& id, Answer otherwise, const Question& question) const {
  Entry* const found = entry(id);
  if (!found) return otherwise;
  try {
    Answer said = question(data(*found));
    trim(*found);
    return said;
  } catch (const DatabaseBusy&) {
    return otherwise;
  } catch (const Error& error) {
    QMetaObject::invokeMethod(
        const_cast<RunStore*>(this),
        [self = const_cast<RunStore*>(this), error] { self->guarded([&] { throw error; }); }, Qt::QueuedConnection);
    return otherwise;
  }
}

// Another window may have the same file open: what is taken from under it would be lost with all it still writes.
void RunStore::rebuild(const QString& why) {
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

// Later lines hold: a folder that was removed may have come back.
void RunStore::readFolders() {
  m_folders.clear();
  m_there.clear();
  m_removed.clear();
  QFile list(m_folder + "/folders.txt");
  if (!list.open(QIODevice::ReadOnly)) return;
  for (const QString& line : QString::fromUtf8(list.readAll()).split('\n', Qt::SkipEmptyParts))
    takeFolder(line.startsWith('-') ? line.mid(1) : line, line.startsWith('-') ? Folder::removed : Folder::there);
}

bool RunStore::takeFolder(const QString& folder, Folder what) {
  QSet<QString>&into = what == Folder::removed ? m_removed : m_there,
  &from = what == Folder::removed ? m_there : m_removed;
  if (into.contains(folder)) return false;
  into.insert(folder);
  from.remove(folder);
  if (what == Folder::removed)
    m_folders.removeAll(folder);
  else
    m_folders.append(folder);
  return true;
}

void RunStore::noteFolder(const RunRecord& run) {
  const Folder what = run.deleted > 0 ? Folder::removed : Folder::there;
  if (takeFolder(run.folder, what))
    m_unsavedFolders += (what == Folder::removed ? "-" : "") + run.folder.toUtf8() + '\n';
}

void RunStore::saveNotes() {
  if (!m_unsavedFolders.isEmpty() && appendLines(m_folder + "/folders.txt", m_unsavedFolders)) m_unsavedFolders.clear();
  m_marks.save();
}

QStringList RunStore::foldersToRead() const {
  QSet<QString> known;
  for (const auto& each : m_entries) known.insert(each->record.folder);
  QStringList lost;
  for (const QString& folder : m_folders)
    if (!known.contains(folder)) lost << folder;
  return lost;
}

bool RunStore::noteMark(const RunRecord& run) {
  const RunMark* const known = m_marks.find(run.folder);
  return m_marks.note(run.folder, {.project = run.project,
                                   .name = run.name,
                                   .note = run.note,
                                   .host = known ? known->host : std::nullopt,
                                   .tags = run.tags,
                                   .colour = run.colour,
                                   .archived = run.archived});
}

void RunStore::setHost(const QString& id, const QString& host) {
  const RunRecord* const run = find(id);
  const RunMark* const known = run ? m_marks.find(run->folder) : nullptr;
  if (!known) return;
  RunMark mark = *known;
  mark.host = host;
  m_marks.note(run->folder, mark);
  m_marks.save();
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

void RunStore::append(const QString& id, const EventBatch& batch) {
  Entry* const found = entry(id);
  if (!found) return;
  RunData* curves = nullptr;
  if (m_database) m_database->setPatience(kReadPatienceMs);  // events that are not taken now are not offered again
  guarded([&] {
    curves = &data(*found);
    m_database->setPatience(kPatienceMs);
  });
  if (!curves || !entry(id)) return;  // the store was built anew: the folder is read from its beginning
  const RunData::Taken taken = curves->take(batch);
  RunRecord& record = found->record;
  for (const Event* event : taken.events) {
    takeEvent(*found, *event);
    found->pending.push_back(*event);
  }
  if (taken.lastStep) {
    record.step = taken.lastStep->step;
    record.lastTime = std::max(record.lastTime, taken.lastStep->time);
    for (std::uint32_t i = taken.lastStep->begin; i < taken.lastStep->end; ++i) {
      const auto& [name, value] = batch.cells[i];
      if (batch.names[name] == series::kLoss) record.loss = value;
      if (batch.names[name] == series::kEpochAxis) record.epoch = value;
    }
  }
  record.duration = curves->duration();
  if (taken.measured) measure(*found);
  if (batch.from <= found->offset && batch.to > found->offset) {  // else there is a hole before it
    found->offset = batch.to;
    found->mark = batch.mark;
  }
  markDirty(*found);
  if (taken.rows > 0) Q_EMIT pointsAdded(id);
  if (!taken.events.empty()) Q_EMIT eventsAdded(id);
  if (taken.rows > 0 || !taken.events.empty()) Q_EMIT runChanged(id);
  if (Entry* const still = entry(id)) trim(*still);
}

// Curves.

std::vector<std::string> RunStore::seriesNames(const QString& id) const {
  return answer(id, std::vector<std::string>(), [](const RunData& data) { return data.names(); });
}

SeriesView RunStore::view(const QString& id, const std::string& name, Axis axis, SeriesRange range, int width) const {
  return answer(id, SeriesView(), [&](const RunData& data) { return data.view(name, axis, range, width); });
}

std::vector<SeriesPoint> RunStore::points(const QString& id, const std::string& name) const {
  return answer(id, std::vector<SeriesPoint>(), [&](const RunData& data) { return data.points(name); });
}

std::optional<SeriesPoint> RunStore::pointNear(const QString& id, const std::string& name, std::int64_t step) const {
  return answer(id, std::optional<SeriesPoint>(), [&](const RunData& data) { return data.pointNear(name, step); });
}

std::optional<double> RunStore::lastValue(const QString& id, const std::string& name) const {
  return answer(id, std::optional<double>(), [&](const RunData& data) { return data.lastValue(name); });
}

double RunStore::xOf(const QString& id, Axis axis, std::int64_t step) const {
  return answer(id, 0.0, [&](const RunData& data) { return data.xOf(axis, step); });
}

std::int64_t RunStore::stepOf(const QString& id, Axis axis, double x) const {
  return answer(id, std::int64_t{0}, [&](const RunData& data) { return data.stepOf(axis, x); });
}

void RunStore::ask(const QString& id, const CurveQuestion& question) const {
  answer(id, false, [&](const RunData& data) { return question(data), true; });
}

bool RunStore::askMemory(const QString& id, const CurveQuestion& question) const {
  Entry* const found = entry(id);
  if (!found) {
    question({});
    return true;
  }
  const QScopedValueRollback<bool> memoryAlone(m_memoryAlone, true);
  try {
    question(data(*found));
    return true;
  } catch (const NotInMemory&) {
    return false;
  }
}

std::function<void(const CurveQuestion&)> RunStore::reading(const QString& id) const {
  const Entry* const found = entry(id);
  if (!found || found->row == 0 || !m_reader) return {};
  return [reader = m_reader, row = found->row, version = found->version](const CurveQuestion& question) {
    reader->ask(row, version, question);
  };
}

std::int64_t RunStore::savedVersion(const QString& id) const {
  const Entry* const found = entry(id);
  return found ? found->version : 0;
}

bool RunStore::allSaved(const QString& id) const {
  const Entry* const found = entry(id);
  return !found || !found->dirty;
}

// What all have is known from what each had when it was touched last; all are counted only where that is too much.
void RunStore::trim(Entry& touched) const {
  const auto count = [this](Entry& entry) {
    m_bytes -= entry.bytes;
    entry.bytes = entry.data ? entry.data->bytes() : 0;
    m_bytes += entry.bytes;
  };
  count(touched);
  if (m_bytes <= kMemory) return;
  std::vector<Entry*> loaded;
  for (const auto& each : m_entries) {
    if (!each->data) continue;
    count(*each);
    loaded.push_back(each.get());
  }
  std::sort(loaded.begin(), loaded.end(), [](const Entry* a, const Entry* b) { return a->used < b->used; });
  for (Entry* each : loaded) {
    if (m_bytes <= kMemory / 2) break;
    each->data->dropClean();
    count(*each);
  }
}

}  // namespace loom
