#pragma once
// SQLite with errors as Error(inputOutput), or Error(badData) when the file is no sound database (the store then builds
// it anew).
#include <QByteArray>
#include <QString>
#include <string>

#include "engine/base/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace loom {

class Database;

// Another program writes at this moment: nothing was done, and it is worth another try soon.
class DatabaseBusy : public Error {
 public:
  using Error::Error;
};

// A prepared statement: bind in order, then step() row by row; read columns in order. Reset by bind(1, ...) or reset().
class Statement {
 public:
  Statement(Database& database, const char* sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  template <class... Values>
  Statement& with(const Values&... values) {
    reset();
    int place = 0;
    (bind(++place, values), ...);
    return *this;
  }
  bool step();  // true = a row stands ready
  void run() {
    while (step()) {
    }
    reset();
  }
  void reset();

  std::int64_t integer(int column) const;
  double real(int column) const;
  QString text(int column) const;
  QByteArray blob(int column) const;

 private:
  void bind(int place, std::int64_t value);
  void bind(int place, int value) { bind(place, static_cast<std::int64_t>(value)); }
  void bind(int place, double value);
  void bind(int place, const QString& value);
  void bind(int place, const QByteArray& value);

  Database& m_database;
  sqlite3_stmt* m_statement = nullptr;
};

class Database {
 public:
  // Makes the file where it is missing. What is written stands in a write-ahead log; where that is long, it is brought
  // into the file beside this thread (checkpointSoon), which waits for the disk.
  explicit Database(const QString& path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void run(const char* sql);
  void setPatience(int milliseconds);  // for another program that writes; then DatabaseBusy
  std::int64_t lastId() const;
  [[noreturn]] void fail(int code) const;
  sqlite3* handle() const { return m_handle; }

 private:
  sqlite3* m_handle = nullptr;
  QString m_path;
};

// Rolled back unless commit() was reached.
class Transaction {
 public:
  explicit Transaction(Database& database) : m_database(database) { m_database.run("BEGIN IMMEDIATE"); }
  ~Transaction();
  void commit();

 private:
  Database& m_database;
  bool m_open = true;
};

}  // namespace loom
