#pragma once
// Curves as they stand in the database. RunStore reads them on the window's thread; CurveReader answers beside it, over
// a connection of its own, so that no painting waits for a disk.
#include <QString>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "launcher/store/run_data.h"

namespace loom {

class Database;

using CurveQuestion = std::function<void(const RunData& curves)>;

// The curves of the run in this row; a block of a series is asked of `block` when it is touched. Throws Error.
std::unique_ptr<RunData> readCurves(
    Database& database, std::int64_t row,
    const std::function<QByteArray(std::int64_t series, int level, std::int64_t block)>& block);
QByteArray readBlock(Database& database, std::int64_t series, int level, std::int64_t block);

// Any thread, one question at a time.
class CurveReader {
 public:
  explicit CurveReader(QString file);
  ~CurveReader();
  // `version` changes when more of the run was saved. Throws Error, DatabaseBusy after three seconds.
  void ask(std::int64_t row, std::int64_t version, const CurveQuestion& question);

 private:
  struct Known {
    std::int64_t version = 0, used = 0;
    std::size_t bytes = 0;  // of its curves when they were asked last
    std::unique_ptr<RunData> curves;
  };
  void trim();

  const QString m_file;
  std::mutex m_mutex;
  std::unique_ptr<Database> m_database;   // opened with the first question
  std::map<std::int64_t, Known> m_known;  // by row
  std::int64_t m_clock = 0;
  std::size_t m_bytes = 0;  // of all
};

}  // namespace loom
