#include "launcher/store/database.h"

#include <sqlite3.h>

#include <cmath>

#include "engine/base/error.h"
#include "launcher/store/disk_work.h"

namespace loom {
namespace {

constexpr int kLongLog = 4000;  // pages of 4 KiB

}  // namespace

Statement::Statement(Database& database, const char* sql) : m_database(database) {
  const int code = sqlite3_prepare_v2(database.handle(), sql, -1, &m_statement, nullptr);
  if (code != SQLITE_OK) database.fail(code);
}

Statement::~Statement() {
  sqlite3_finalize(m_statement);
}

bool Statement::step() {
  const int code = sqlite3_step(m_statement);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) {
    sqlite3_reset(m_statement);
    m_database.fail(code);
  }
  return false;
}

void Statement::reset() {
  sqlite3_reset(m_statement);
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(m_statement, column);
}

double Statement::real(int column) const {
  // SQLite has no NaN: it keeps one as NULL.
  return sqlite3_column_type(m_statement, column) == SQLITE_NULL ? std::nan("")
                                                                 : sqlite3_column_double(m_statement, column);
}

QString Statement::text(int column) const {
  const auto* begin = reinterpret_cast<const char*>(sqlite3_column_text(m_statement, column));
  return QString::fromUtf8(begin, sqlite3_column_bytes(m_statement, column));
}

QByteArray Statement::blob(int column) const {
  const auto* begin = static_cast<const char*>(sqlite3_column_blob(m_statement, column));
  return {begin, sqlite3_column_bytes(m_statement, column)};
}

void Statement::bind(int place, std::int64_t value) {
  sqlite3_bind_int64(m_statement, place, value);
}
void Statement::bind(int place, double value) {
  sqlite3_bind_double(m_statement, place, value);
}

void Statement::bind(int place, const QString& value) {
  const QByteArray utf8 = value.toUtf8();
  sqlite3_bind_text(m_statement, place, utf8.constData(), static_cast<int>(utf8.size()), SQLITE_TRANSIENT);
}

void Statement::bind(int place, const QByteArray& value) {
  sqlite3_bind_blob(m_statement, place, value.constData(), static_cast<int>(value.size()), SQLITE_TRANSIENT);
}

Database::Database(const QString& path) : m_path(path) {
  const int code = sqlite3_open_v2(path.toUtf8().constData(), &m_handle,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  try {
    if (code != SQLITE_OK) fail(code);
    sqlite3_extended_result_codes(m_handle, 0);
    setPatience(3000);
    // A crash of the machine may lose the last second; the run folders still have it and it is read again from there.
    run("PRAGMA journal_mode = WAL");
    run("PRAGMA synchronous = NORMAL");
    // In the place of SQLite's own hook, which brings it in at once.
    sqlite3_wal_hook(
        m_handle,
        [](void* self, sqlite3*, const char*, int pages) {
          if (pages >= kLongLog) checkpointSoon(static_cast<Database*>(self)->m_path);
          return SQLITE_OK;
        },
        this);
  } catch (...) {
    sqlite3_close_v2(m_handle);
    throw;
  }
}

Database::~Database() {
  sqlite3_close_v2(m_handle);
}

void Database::run(const char* sql) {
  const int code = sqlite3_exec(m_handle, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

void Database::setPatience(int milliseconds) {
  sqlite3_busy_timeout(m_handle, milliseconds);
}

std::int64_t Database::lastId() const {
  return sqlite3_last_insert_rowid(m_handle);
}

void Database::fail(int code) const {
  const char* text = m_handle ? sqlite3_errmsg(m_handle) : sqlite3_errstr(code);
  const std::string path = m_path.toStdString();
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      throwError(ErrorCode::badData, "{} is damaged ({})", path, text);
    case SQLITE_FULL:
      throwError(ErrorCode::diskFull, "{} cannot grow, the disk is full: free some room and try again", path);
    case SQLITE_CANTOPEN:
      throwError(ErrorCode::missingFile, "{} cannot be opened ({}): check the rights of its folder", path, text);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw DatabaseBusy(ErrorCode::inputOutput, fmt::format("{} is being written by another program", path));
    default:
      throwError(ErrorCode::inputOutput, "{}: {}", path, text);
  }
}

Transaction::~Transaction() {
  if (m_open) sqlite3_exec(m_database.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  m_database.run("COMMIT");
  m_open = false;
}

}  // namespace loom
