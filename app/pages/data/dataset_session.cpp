#include "app/pages/data/dataset_session.h"

#include "engine/data/parts.h"
#include "engine/data/raw_rows.h"
#include "engine/network/dataset_rows.h"

namespace loom {
namespace {

constexpr std::size_t kTextRows = 2000;  // of a file that cannot be opened

std::map<std::string, QStringList> classNamesOf(const std::filesystem::path& csv, const Schema& schema) {
  std::map<std::string, QStringList> names;
  for (const Variable& variable : schema.variables) {
    if (variable.kind != VariableKind::scalar) continue;
    try {
      for (const std::string& word : classWords(csv, variable.name))
        names[variable.name] += QString::fromStdString(word);
    } catch (const Error&) {
      continue;  // numbers alone, then
    }
  }
  return names;
}

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
  start(m_state == State::ready);
}

void DatasetSession::cancel() {
  if (m_work) m_work->cancel();
}

void DatasetSession::close() {
  cancel();
  m_state = State::closed;
  m_schema = {};
  m_dataset.reset();
  m_error.reset();
  m_text = {};
  m_classNames.clear();
  m_stats.clear();
  m_report.reset();
  m_checking = false;
  m_rowsChecked = 0;
}

void DatasetSession::start(bool checkOnly) {
  cancel();
  m_work.emplace(this);
  m_checking = true;
  m_rowsChecked = 0;
  m_work->start(
      [request = m_request, known = checkOnly ? m_dataset : nullptr](const Work& here) { work(request, here, known); });
}

void DatasetSession::work(const SessionRequest& request, const Work& here, std::shared_ptr<const Dataset> dataset) {
  if (!dataset) dataset = read(request, here);
  if (!here.cancelled()) check(request, here, dataset);
}

// Null where it cannot be opened: then its rows as they stand and the error were posted.
std::shared_ptr<const Dataset> DatasetSession::read(const SessionRequest& request, const Work& here) {
  const std::filesystem::path csv = request.csv.toStdString();
  std::shared_ptr<const Dataset> dataset;
  try {
    here.post([schema = peekSchema(csv)](DatasetSession& session) {
      session.m_schema = schema;
      Q_EMIT session.schemaKnown();
    });
    OpenOptions options{.prepare = request.prepare};
    options.progress = [&here](const CacheProgress& progress) {
      here.post([progress](DatasetSession& session) {
        session.m_progress = progress;
        Q_EMIT session.progressed();
      });
      return !here.cancelled();
    };
    dataset = rowsOf(request.spec, openDataset(csv, options));
    here.post([dataset, names = classNamesOf(csv, dataset->schema())](DatasetSession& session) {
      session.m_dataset = dataset;
      session.m_schema = dataset->schema();
      session.m_classNames = names;
      session.m_state = State::ready;
      Q_EMIT session.opened();
    });
  } catch (const Error& error) {
    // The good rows are shown beside the broken one: as they stand.
    TextRows text;
    try {
      text.header = readRecords(csv, [&](std::int64_t line, const std::vector<std::string>& cells) {
        text.rows.emplace_back(line, cells);
        return !here.cancelled() && text.rows.size() < kTextRows;
      });
    } catch (const Error&) {
      text = {};  // no text at all: the error says so
    }
    here.post([error, text = std::move(text)](DatasetSession& session) {
      session.m_error = error;
      session.m_text = text;
      session.m_state = State::failed;
      Q_EMIT session.failed();
    });
    return nullptr;
  }
  if (here.cancelled()) return dataset;
  try {
    StatsOptions options;
    options.rows = 100'000;
    options.progress = [&here](std::int64_t, std::int64_t) { return !here.cancelled(); };
    here.post([stats = measure(*dataset, options)](DatasetSession& session) {
      session.m_stats = stats;
      Q_EMIT session.measured();
    });
  } catch (const Error&) {
    // Cancelled, or the doctor says what is wrong with more words.
  }
  return dataset;
}

void DatasetSession::check(const SessionRequest& request, const Work& here,
                           const std::shared_ptr<const Dataset>& dataset) {
  const std::filesystem::path csv = request.csv.toStdString();
  CheckOptions options = request.check;
  options.progress = [&here](const CacheProgress& progress) {
    here.post([rows = progress.rowsDone](DatasetSession& session) {
      session.m_rowsChecked = rows;
      Q_EMIT session.checkProgressed();
    });
    return !here.cancelled();
  };
  try {
    CheckReport report = checkDataset(csv, options);
    if (request.otherPart && dataset && report.ok()) {
      const auto other = rowsOf(*request.otherPart, openDataset(csv, {.prepare = request.prepare}));
      const std::vector<Fault> lone = loneClasses(*dataset, request.spec.name, *other, request.otherPart->name);
      for (const Fault& fault : lone) {
        ++report.counts[static_cast<std::size_t>(fault.kind)];
        report.warnings += fault.severity == FaultSeverity::warning;
      }
      report.faults.insert(report.faults.begin(), lone.begin(), lone.end());
    }
    here.post([report = std::move(report)](DatasetSession& session) {
      session.m_report = report;
      session.m_checking = false;
      Q_EMIT session.checked();
    });
  } catch (const Error& error) {
    here.post([error](DatasetSession& session) {
      session.m_checking = false;
      if (error.code() != ErrorCode::stopped) session.m_error = error;
      Q_EMIT session.checked();
    });
  }
}

}  // namespace loom
