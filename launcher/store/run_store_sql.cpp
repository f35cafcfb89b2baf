// The database side of the store: its tables, and how records and curves go in and out.
#include <QElapsedTimer>
#include <QStringList>
#include <algorithm>
#include <iterator>
#include <limits>

#include "engine/base/error.h"
#include "launcher/store/database.h"
#include "launcher/store/run_store.h"

namespace loom {
namespace {

// What leads from a version of the database to the next. A change of the tables is one line more, and never another
// kTables.
constexpr const char* kMigrations[] = {
    "CREATE INDEX events_in_order ON events (run, seq)",  // 1 to 2: the newest events of a run without reading all
    "ALTER TABLE runs ADD COLUMN log_mark TEXT",          // 2 to 3: what stood before log_offset
    "ALTER TABLE runs ADD COLUMN archived INTEGER",       // 3 to 4
};
constexpr qint64 kSaveMs = 8;    // of the window's thread at once
constexpr int kNextSaveMs = 20;  // until the next some, where more is to be saved
constexpr int kSchema = 1 + static_cast<int>(std::size(kMigrations));

// Version 1. Numbers that may be NaN come back as NaN: SQLite keeps one as NULL.
constexpr const char* kTables = R"(
  CREATE TABLE IF NOT EXISTS runs (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, folder TEXT NOT NULL UNIQUE, project TEXT, name TEXT, tags TEXT,
    note TEXT, colour INTEGER, state TEXT, message TEXT, settings TEXT, created REAL, started REAL, ended REAL, deleted REAL,
    host TEXT, device TEXT, attempt INTEGER, steps_total INTEGER, steps_per_epoch INTEGER, samples INTEGER, batch INTEGER,
    parameters INTEGER, epochs REAL, step INTEGER, epoch REAL, loss REAL, last_time REAL, duration REAL, metric TEXT,
    of_validation INTEGER, best REAL, best_epoch REAL, last REAL, best_step INTEGER, log_offset INTEGER);
  CREATE TABLE IF NOT EXISTS attempts (
    run INTEGER, attempt INTEGER, seen TEXT, first_step INTEGER, last_step INTEGER, start_time REAL, last_time REAL,
    PRIMARY KEY (run, attempt)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS series (
    id INTEGER PRIMARY KEY, run INTEGER, attempt INTEGER, name TEXT, count INTEGER, UNIQUE (run, attempt, name));
  CREATE TABLE IF NOT EXISTS blocks (
    series INTEGER, level INTEGER, block INTEGER, data BLOB, PRIMARY KEY (series, level, block)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS events (
    run INTEGER, attempt INTEGER, seq INTEGER, body TEXT, PRIMARY KEY (run, attempt, seq)) WITHOUT ROWID;
)";

constexpr const char* kColumns =
    "id, folder, project, name, tags, note, colour, state, message, settings, created, started, ended, deleted, host, "
    "device, "
    "attempt, steps_total, steps_per_epoch, samples, batch, parameters, epochs, step, epoch, loss, last_time, "
    "duration, metric, "
    "of_validation, best, best_epoch, last, best_step, log_offset, log_mark, archived";

Json readSettings(const QString& text) {
  Json settings = Json::parse(text.toStdString(), nullptr, false);
  return settings.is_object() ? settings : Json::object();
}

}  // namespace

void RunStore::open() {
  m_database = std::make_unique<Database>(m_file);
  const auto version = [this] {
    Statement select(*m_database, "PRAGMA user_version");
    return select.step() ? select.integer(0) : 0;
  };
  if (version() > kSchema)
    throwError(ErrorCode::newerVersion, "{} has version {}, this program knows {}", m_file.toStdString(), version(),
               kSchema);
  m_isNew = version() == 0;
  if (version() < kSchema) {
    Transaction transaction(*m_database);
    std::int64_t found = version();  // as of now that nobody else may change it
    if (found == 0) m_database->run(kTables), found = 1;
    for (; found < kSchema; ++found) m_database->run(kMigrations[found - 1]);
    m_database->run(("PRAGMA user_version = " + std::to_string(kSchema)).c_str());
    transaction.commit();
  }
  m_database->setPatience(kPatienceMs);
  m_reader = m_file == QLatin1String(":memory:") ? nullptr : std::make_shared<CurveReader>(m_file);
}

void RunStore::loadRuns() {
  Statement select(*m_database, (std::string("SELECT row, ") + kColumns + " FROM runs ORDER BY created, row").c_str());
  while (select.step()) {
    auto entry = std::make_unique<Entry>();
    int column = 0;
    const auto integer = [&] { return select.integer(column++); };
    const auto real = [&] { return select.real(column++); };
    const auto text = [&] { return select.text(column++); };
    RunRecord& run = entry->record;
    entry->row = integer();
    run.id = text(), run.folder = text(), run.project = text(), run.name = text();
    run.tags = text().split('\n', Qt::SkipEmptyParts);
    run.note = text();
    run.colour = static_cast<int>(integer());
    run.state = runStateFromKey(text());
    run.message = text();
    run.settings = readSettings(text());
    run.created = real(), run.started = real(), run.ended = real(), run.deleted = real();
    run.host = text(), run.device = text();
    run.attempt = integer(), run.stepsTotal = integer(), run.stepsPerEpoch = integer(), run.samples = integer();
    run.batch = integer(), run.parameters = integer();
    run.epochs = real();
    run.step = integer();
    run.epoch = real(), run.loss = real(), run.lastTime = real(), run.duration = real();
    run.metric = text();
    run.metricOfValidation = integer() != 0;
    run.best = real(), run.bestEpoch = real(), run.last = real();
    run.bestStep = integer();
    entry->offset = integer();
    entry->mark = text().toStdString();
    run.archived = integer() != 0;
    noteMark(run);
    noteFolder(run);
    m_byId.insert(run.id, entry.get());
    m_byFolder.insert(run.folder, entry.get());
    countColour(run, 1);
    entry->place = std::ssize(m_entries);
    m_entries.push_back(std::move(entry));
  }
  saveNotes();
}

void RunStore::saveRecord(Entry& entry) {
  const RunRecord& run = entry.record;
  const std::string marks = [] {
    std::string text = "?1";
    for (int i = 2; i <= 37; ++i) text += ",?" + std::to_string(i);
    return text;
  }();
  // An insert that meets the id or the folder of another window's row takes that row over.
  Statement insert(*m_database, (std::string("INSERT OR REPLACE INTO runs (row, ") + kColumns + ") VALUES (" +
                                 (entry.row ? std::to_string(entry.row) : "(SELECT row FROM runs WHERE id = ?1)") +
                                 "," + marks + ")")
                                    .c_str());
  insert.with(run.id, run.folder, run.project, run.name, run.tags.join('\n'), run.note, run.colour,
              QString::fromLatin1(toKey(run.state)), run.message, QString::fromStdString(run.settings.dump()),
              run.created, run.started, run.ended, run.deleted, run.host, run.device, run.attempt, run.stepsTotal,
              run.stepsPerEpoch, run.samples, run.batch, run.parameters, run.epochs, run.step, run.epoch, run.loss,
              run.lastTime, run.duration, run.metric, run.metricOfValidation ? 1 : 0, run.best, run.bestEpoch, run.last,
              run.bestStep, entry.offset, QString::fromStdString(entry.mark), run.archived ? 1 : 0);
  insert.run();
  if (!entry.row) entry.row = m_database->lastId();
}

RunData& RunStore::data(Entry& entry) const {
  entry.used = ++m_clock;
  if (entry.data) return *entry.data;
  if (m_memoryAlone) throw NotInMemory();
  entry.data = readCurves(*m_database, entry.row, [this](std::int64_t series, int level, std::int64_t index) {
    return block(series, level, index);
  });
  return *entry.data;
}

QByteArray RunStore::block(std::int64_t series, int level, std::int64_t index) const {
  if (m_memoryAlone) throw NotInMemory();
  return readBlock(*m_database, series, level, index);
}

void RunStore::saveCurves(Entry& entry) {
  Statement event(*m_database, "INSERT OR IGNORE INTO events (run, attempt, seq, body) VALUES (?, ?, ?, ?)");
  for (const Event& each : entry.pending) {
    const std::string body = each.body.dump(-1, ' ', false, Json::error_handler_t::replace);
    event.with(entry.row, static_cast<std::int64_t>(each.attempt), each.sequence, QString::fromStdString(body)).run();
  }
  if (!entry.data) return;
  Statement attempts(
      *m_database,
      "INSERT OR REPLACE INTO attempts (run, attempt, seen, first_step, last_step, start_time, last_time) "
      "VALUES (?, ?, ?, ?, ?, ?, ?)");
  Statement series(*m_database,
                   "INSERT INTO series (run, attempt, name, count) VALUES (?, ?, ?, ?) "
                   "ON CONFLICT (run, attempt, name) DO UPDATE SET count = excluded.count RETURNING id");
  Statement block(*m_database, "INSERT OR REPLACE INTO blocks (series, level, block, data) VALUES (?, ?, ?, ?)");
  for (auto& [number, attempt] : entry.data->attempts) {
    if (!attempt.dirty) continue;
    attempts
        .with(entry.row, number, attempt.seen.toText(), attempt.firstStep, attempt.lastStep, attempt.startTime,
              attempt.lastTime)
        .run();
    for (auto& [name, each] : attempt.series) {
      if (!each.dirty()) continue;
      if (!series.with(entry.row, number, QString::fromStdString(name), each.count()).step()) continue;
      const std::int64_t id = series.integer(0);
      series.run();
      each.save(
          [&](int level, std::int64_t index, const QByteArray& data) { block.with(id, level, index, data).run(); });
      each.setLoad([this, id](int level, std::int64_t index) { return this->block(id, level, index); });
    }
    attempt.dirty = false;
  }
}

void RunStore::flush() {
  m_flush.stop();
  saveNotes();
  save(m_dirty, std::numeric_limits<qint64>::max());
}

// Of hundreds of runs that come in at once some are saved, and the window goes on.
void RunStore::flushSome() {
  saveNotes();
  save(m_dirty, kSaveMs);
  if (!m_dirty.empty() && !m_flush.isActive()) m_flush.start(kNextSaveMs);
}

void RunStore::save(std::vector<Entry*> entries, qint64 forMs) {
  std::erase_if(entries, [](const Entry* each) { return !each->dirty; });
  if (entries.empty()) return;
  bool begun = false;
  std::vector<Entry*> fresh;
  std::size_t done = 0;
  QElapsedTimer clock;
  clock.start();
  const bool written = guarded([&] {
    Transaction transaction(*m_database);
    begun = true;
    for (; done < entries.size() && (done == 0 || clock.elapsed() < forMs); ++done) {
      Entry& each = *entries[done];
      if (!each.row) fresh.push_back(&each);
      saveRecord(each);
      saveCurves(each);
    }
    transaction.commit();
  });
  if (!begun || m_dirty.empty()) return;  // empty: the store was built anew, and they are gone
  if (!written)
    for (Entry* const each : fresh) each->row = 0;  // rolled back: the number may be another window's by now
  entries.resize(written ? done : std::min(done + 1, entries.size()));
  for (Entry* const each : entries) {
    if (written) {
      ++each->version;
      each->dirty = false;
      each->pending.clear();
      if (each->data) each->data->dropIdle();  // a run that goes on for days holds what is looked at, and its end
      if (each->data) trim(*each);
    } else if (each->data) {
      each->data->touch();  // rolled back: all of it is written again with the next flush
    }
  }
  std::erase_if(m_dirty, [](const Entry* each) { return !each->dirty; });
}

std::vector<Event> RunStore::events(const QString& id, int limit) {
  std::vector<Event> events;
  const Entry* const found = entry(id);
  if (!found) return events;
  const std::vector<Event> pending = found->pending;  // newer than all in the database, or there already
  guarded([&] {
    Statement select(*m_database, "SELECT body FROM events WHERE run = ? ORDER BY seq DESC LIMIT ?");
    select.with(found->row, limit);
    while (select.step())
      if (auto event = parseEvent(select.text(0).toStdString())) events.push_back(std::move(*event));
  });
  std::reverse(events.begin(), events.end());
  for (const Event& each : pending)
    if (std::none_of(events.begin(), events.end(), [&](const Event& known) {
          return known.sequence == each.sequence && known.attempt == each.attempt;
        }))
      events.push_back(each);
  if (events.size() > static_cast<std::size_t>(limit)) events.erase(events.begin(), events.end() - limit);
  return events;
}

}  // namespace loom
