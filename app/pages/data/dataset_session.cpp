#include "app/pages/data/dataset_session.h"

#include "engine/data/columns/resolve.h"
#include "engine/data/columns/row_split.h"
#include "engine/data/parts.h"
#include "engine/data/raw_rows.h"
#include "engine/network/dataset_rows.h"

namespace loom {
namespace {

std::string lookKey(const SessionRequest& request) {
  const auto written = [](const CsvFormatChoice& format) {
    return Json({format.separator, format.decimal, format.thousands, format.encoding, format.header});
  };
  return Json({request.csv.toStdString(), written(openingOf(request.spec, {}).format), request.check.other.string(),
               written(request.check.otherFormat)})
      .dump();
}

std::string makeKey(const SessionRequest& request) {
  Json extra = request.spec.extra;
  if (extra.is_object())
    for (const char* key : {"origin", "target"}) extra.erase(key);
  return Json({request.csv.toStdString(), extra, request.prepare}).dump();
}

std::map<std::string, QStringList> classNamesOf(const std::filesystem::path& csv, const TableFacts& facts) {
  std::map<std::string, QStringList> names;
  for (const ColumnFacts& column : facts.columns) {
    if (column.type != ColumnType::classes && column.type != ColumnType::number) continue;
    try {
      for (const std::string& word : classWords(csv, column.name)) names[column.name] += QString::fromStdString(word);
    } catch (const Error&) {
      continue;  // numbers alone, then
    }
  }
  return names;
}

// As training does it: what is measured is measured on the dataset that is trained on.
std::vector<Json> stepsOf(const SessionRequest& request, const OpenOptions& options) {
  if (!request.measuredOn || !needsResolving(columnStepsOf(request.prepare))) return request.prepare;
  const SessionRequest::Other& trained = *request.measuredOn;
  std::vector<Json> steps =
      openDataset(trained.csv.toStdString(), openingOf(trained.spec, trained.prepare, options))->columnSteps();
  if (trained.csv != request.csv) steps = stepsForAnotherFile(std::move(steps));
  for (const Json& step : sampleStepsOf(request.prepare)) steps.push_back(step);
  return steps;
}

}  // namespace

DatasetSession::DatasetSession(QObject* parent) : QObject(parent) {
  m_soon.setSingleShot(true);
  m_soon.setInterval(150);
  connect(&m_soon, &QTimer::timeout, this, &DatasetSession::startMaking);
}

void DatasetSession::open(SessionRequest request) {
  const std::string look = lookKey(request), make = makeKey(request);
  const bool anotherFile = look != m_lookKey, made = make == m_makeKey && !anotherFile;
  m_request = std::move(request);
  m_lookKey = look;
  m_makeKey = make;
  if (anotherFile) {
    m_facts.reset();
    m_report.reset();
    m_classNames.clear();
    m_dataset.reset();
    m_rows.reset();
    m_stats.clear();
    startLooking();
  }
  if (made) return;
  if (m_make) m_make->cancel();
  m_state = State::opening;
  m_error.reset();
  m_progress = {};
  anotherFile ? startMaking() : m_soon.start();
}

void DatasetSession::lookAgain() {
  if (m_state == State::closed) return;
  startLooking();
  startMaking();
}

void DatasetSession::stopLooking() {
  if (!m_looking) return;
  m_look->cancel();
  m_looking = false;
  m_stopped = true;
  Q_EMIT checked();
}

void DatasetSession::cancel() {
  if (m_look) m_look->cancel();
  if (m_make) m_make->cancel();
  m_soon.stop();
}

void DatasetSession::close() {
  cancel();
  m_lookKey.clear();
  m_makeKey.clear();
  m_request = {};
  m_facts.reset();
  m_unreadable.reset();
  m_report.reset();
  m_classNames.clear();
  m_looking = m_stopped = false;
  m_state = State::closed;
  m_dataset.reset();
  m_error.reset();
  m_rows.reset();
  m_stats.clear();
  m_partFaults.clear();
}

void DatasetSession::startLooking() {
  if (m_look) m_look->cancel();
  m_look.emplace(this);
  m_looking = true;
  m_stopped = false;
  m_unreadable.reset();
  m_look->start([request = m_request](const Work& here) { look(request, here); });
}

void DatasetSession::startMaking() {
  m_soon.stop();
  if (m_make) m_make->cancel();
  m_make.emplace(this);
  m_state = State::opening;
  m_make->start([request = m_request](const Work& here) { make(request, here); });
}

// First the columns, so that there are rows at once; then what only the whole tells: broken files, samples that stand
// twice.
void DatasetSession::look(const SessionRequest& request, const Work& here) {
  const std::filesystem::path csv = request.csv.toStdString();
  const auto post = [&](std::shared_ptr<const TableFacts> facts) {
    here.post([facts = std::move(facts)](DatasetSession& session) {
      session.m_facts = facts;
      Q_EMIT session.looked();
    });
  };
  if (csv.extension() == ".pack")  // rows that were made ready elsewhere: there is no text to look at
    return here.post([](DatasetSession& session) {
      session.m_looking = false;
      Q_EMIT session.checked();
    });
  try {
    AnalyseOptions options{.format = openingOf(request.spec, {}).format};
    options.progress = [&](const TableFacts& facts) {
      if (!facts.whole) post(std::make_shared<TableFacts>(facts));
      return !here.cancelled();
    };
    auto facts = std::make_shared<const TableFacts>(analyseTable(csv, options));
    here.post([names = classNamesOf(csv, *facts)](DatasetSession& session) { session.m_classNames = names; });
    post(facts);
    CheckOptions check = request.check;
    check.format = options.format;
    check.progress = [&here](const CacheProgress&) { return !here.cancelled(); };
    here.post([report = checkDataset(csv, check)](DatasetSession& session) {
      session.m_report = report;
      session.m_looking = false;
      Q_EMIT session.checked();
    });
  } catch (const Error& error) {
    here.post([error](DatasetSession& session) {
      session.m_looking = false;
      if (error.code() != ErrorCode::stopped) session.m_unreadable = error;
      Q_EMIT session.checked();
    });
  }
}

void DatasetSession::make(const SessionRequest& request, const Work& here) {
  const std::filesystem::path csv = request.csv.toStdString();
  OpenOptions options;
  options.progress = [&here](const CacheProgress& progress) {
    here.post([progress](DatasetSession& session) {
      session.m_progress = progress;
      Q_EMIT session.progressed();
    });
    return !here.cancelled();
  };
  std::shared_ptr<const Dataset> dataset;
  std::vector<Json> steps = request.prepare;
  try {
    // The rows of a part are told first: they are shown whatever the steps cannot do.
    const OpenOptions opening = openingOf(request.spec, steps, options);
    std::shared_ptr<const std::vector<std::int64_t>> rows;
    if (!opening.rows.all() && csv.extension() != ".pack")
      rows = std::make_shared<const std::vector<std::int64_t>>(rowsOfPart(
          {csv, recogniseCsv(csv, opening.format), 0, [&](std::int64_t, std::int64_t) { return !here.cancelled(); }},
          columnStepsOf(steps), opening.rows));
    here.post([rows](DatasetSession& session) {
      session.m_rows = rows;
      Q_EMIT session.looked();
    });
    steps = stepsOf(request, options);
    dataset = openRows(request.spec, csv, steps, options);
    std::vector<Fault> lone;
    if (const auto& other = request.otherPart)
      lone = loneClasses(*dataset, request.spec.name, *openRows(other->spec, csv, steps, options), other->spec.name);
    here.post([dataset, lone](DatasetSession& session) {
      session.m_dataset = dataset;
      session.m_partFaults = lone;
      session.m_error.reset();
      session.m_state = State::ready;
      Q_EMIT session.opened();
    });
  } catch (const Error& error) {
    if (error.code() == ErrorCode::stopped) return;
    here.post([error](DatasetSession& session) {
      session.m_error = error;
      session.m_dataset.reset();
      session.m_partFaults.clear();
      session.m_state = State::failed;
      Q_EMIT session.failed();
    });
    return;
  }
  try {
    StatsOptions some;
    some.rows = 100'000;
    some.progress = [&here](std::int64_t, std::int64_t) { return !here.cancelled(); };
    here.post([stats = loom::measure(*dataset, some)](DatasetSession& session) {
      session.m_stats = stats;
      Q_EMIT session.measured();
    });
  } catch (const Error&) {
    // Cancelled, or the doctor says what is wrong with more words.
  }
}

}  // namespace loom
