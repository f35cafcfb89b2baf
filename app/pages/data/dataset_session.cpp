#include "app/pages/data/dataset_session.h"

#include <QMetaObject>

#include "engine/data/parts.h"
#include "engine/data/raw_rows.h"
#include "engine/network/dataset_rows.h"

namespace loom {
namespace {

constexpr std::size_t kTextRows = 2000;  // of a file that cannot be opened

}  // namespace

void DatasetSession::open(SessionRequest request) {
  close();
  m_request = std::move(request);
  m_state = State::opening;
  m_progress = {};
  start(false);
}

void DatasetSession::checkAgain() {
  if (m_state == State::opening) return;
  if (m_cancelled) *m_cancelled = true;
  if (m_thread.joinable()) m_thread.join();
  start(m_state == State::ready);
}

void DatasetSession::close() {
  if (m_cancelled) *m_cancelled = true;
  if (m_thread.joinable()) m_thread.join();
  m_state = State::closed;
  m_schema = {};
  m_dataset.reset();
  m_error.reset();
  m_text = {};
  m_stats.clear();
  m_report.reset();
  m_checking = false;
  m_rowsChecked = 0;
}

void DatasetSession::start(bool checkOnly) {
  m_cancelled = std::make_shared<std::atomic<bool>>(false);
  m_checking = true;
  m_rowsChecked = 0;
  m_thread = std::jthread([this, request = m_request, cancelled = m_cancelled, known = checkOnly ? m_dataset : nullptr] { work(request, cancelled, known); });
}

void DatasetSession::post(const std::shared_ptr<std::atomic<bool>>& cancelled, std::function<void()> done) {
  // The destructor joins the thread before the QObject goes, so `this` is alive here; a queued call dies with it.
  QMetaObject::invokeMethod(
      this, [cancelled, done = std::move(done)] { if (!*cancelled) done(); }, Qt::QueuedConnection);
}

void DatasetSession::work(const SessionRequest& request, std::shared_ptr<std::atomic<bool>> cancelled, std::shared_ptr<const Dataset> dataset) {
  const std::filesystem::path csv = request.csv.toStdString();
  if (!dataset) {
    try {
      Schema schema = peekSchema(csv);
      post(cancelled, [this, schema] {
        m_schema = schema;
        Q_EMIT schemaKnown();
      });
      OpenOptions options;
      options.progress = [this, &cancelled](const CacheProgress& progress) {
        post(cancelled, [this, progress] {
          m_progress = progress;
          Q_EMIT progressed();
        });
        return !*cancelled;
      };
      dataset = rowsOf(request.spec, openDataset(csv, options));
      post(cancelled, [this, dataset] {
        m_dataset = dataset;
        m_schema = dataset->schema();
        m_state = State::ready;
        Q_EMIT opened();
      });
    } catch (const Error& error) {
      // The good rows are shown beside the broken one: as they stand.
      TextRows text;
      try {
        text.header = readRecords(csv, [&](std::int64_t line, const std::vector<std::string>& cells) {
          text.rows.emplace_back(line, cells);
          return !*cancelled && text.rows.size() < kTextRows;
        });
      } catch (const Error&) {
        text = {};  // no text at all: the error says so
      }
      post(cancelled, [this, error, text = std::move(text)] {
        m_error = error;
        m_text = text;
        m_state = State::failed;
        Q_EMIT failed();
      });
    }
    if (dataset && !*cancelled) {
      try {
        StatsOptions options;
        options.rows = 100'000;
        options.progress = [&cancelled](std::int64_t, std::int64_t) { return !*cancelled; };
        std::vector<VariableStats> stats = measure(*dataset, options);
        post(cancelled, [this, stats = std::move(stats)] {
          m_stats = stats;
          Q_EMIT measured();
        });
      } catch (const Error&) {
        // Cancelled, or the doctor below says what is wrong with more words.
      }
    }
  }
  if (*cancelled) return;
  CheckOptions options = request.check;
  options.progress = [this, &cancelled](const CacheProgress& progress) {
    post(cancelled, [this, rows = progress.rowsDone] {
      m_rowsChecked = rows;
      Q_EMIT checkProgressed();
    });
    return !*cancelled;
  };
  try {
    CheckReport report = checkDataset(csv, options);
    if (request.otherPart && dataset && report.ok()) {
      const auto other = rowsOf(*request.otherPart, openDataset(csv));
      for (Fault& fault : loneClasses(*dataset, request.spec.name, *other, request.otherPart->name)) {
        ++report.counts[static_cast<std::size_t>(fault.kind)];
        ++report.warnings;
        report.faults.insert(report.faults.begin(), std::move(fault));
      }
    }
    post(cancelled, [this, report = std::move(report)] {
      m_report = report;
      m_checking = false;
      Q_EMIT checked();
    });
  } catch (const Error& error) {
    post(cancelled, [this, error] {
      m_checking = false;
      if (error.code() != ErrorCode::stopped) m_error = error;
      Q_EMIT checked();
    });
  }
}

}  // namespace loom
