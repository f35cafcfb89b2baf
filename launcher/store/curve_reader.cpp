#include "launcher/store/curve_reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "launcher/store/database.h"

namespace loom {
namespace {

constexpr std::size_t kReaderBytes = 64u << 20;  // of curves that are kept for the next question

}  // namespace

std::unique_ptr<RunData> readCurves(
    Database& database, std::int64_t row,
    const std::function<QByteArray(std::int64_t series, int level, std::int64_t block)>& block) {
  auto data = std::make_unique<RunData>();
  Statement attempts(database,
                     "SELECT attempt, seen, first_step, last_step, start_time, last_time FROM attempts WHERE run = ?");
  attempts.with(row);
  while (attempts.step()) {
    AttemptData& attempt = data->attempts[attempts.integer(0)];
    attempt.seen = NumberSet::fromText(attempts.text(1));
    attempt.firstStep = attempts.integer(2);
    attempt.lastStep = attempts.integer(3);
    attempt.startTime = attempts.real(4);
    attempt.lastTime = attempts.real(5);
  }
  Statement series(database, "SELECT id, attempt, name, count FROM series WHERE run = ?");
  series.with(row);
  while (series.step()) {
    const std::int64_t id = series.integer(0);
    const auto load = [block, id](int level, std::int64_t index) { return block(id, level, index); };
    data->attempts[series.integer(1)].series.insert_or_assign(series.text(2).toStdString(),
                                                              Series(series.integer(3), load));
  }
  return data;
}

QByteArray readBlock(Database& database, std::int64_t series, int level, std::int64_t block) {
  Statement select(database, "SELECT data FROM blocks WHERE series = ? AND level = ? AND block = ?");
  if (!select.with(series, level, block).step())
    throwError(ErrorCode::badData, "block {} of level {} of curve {} is missing from runs.db", block, level, series);
  return select.blob(0);
}

CurveReader::CurveReader(QString file) : m_file(std::move(file)) {}
CurveReader::~CurveReader() = default;

void CurveReader::ask(std::int64_t row, std::int64_t version, const CurveQuestion& question) {
  const std::lock_guard lock(m_mutex);
  if (!m_database) m_database = std::make_unique<Database>(m_file);
  Known& known = m_known[row];
  known.used = ++m_clock;
  if (!known.curves || known.version != version) {
    known.curves = readCurves(*m_database, row, [this](std::int64_t series, int level, std::int64_t block) {
      return readBlock(*m_database, series, level, block);
    });
    known.version = version;
  }
  question(*known.curves);
  m_bytes -= known.bytes;
  known.bytes = known.curves->bytes();
  m_bytes += known.bytes;
  trim();
}

// Down to half of what may be kept, so that it is rare.
void CurveReader::trim() {
  if (m_bytes <= kReaderBytes) return;
  std::vector<std::pair<std::int64_t, std::int64_t>> byUse;
  for (const auto& [row, known] : m_known) byUse.emplace_back(known.used, row);
  std::sort(byUse.begin(), byUse.end());
  for (std::size_t i = 0; i + 1 < byUse.size() && m_bytes > kReaderBytes / 2; ++i) {
    const auto oldest = m_known.find(byUse[i].second);
    m_bytes -= oldest->second.bytes;
    m_known.erase(oldest);
  }
}

}  // namespace loom
