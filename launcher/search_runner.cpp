#include "launcher/search_runner.h"

#include <QDir>
#include <QFileInfo>

#include "engine/base/error.h"
#include "launcher/candidate_plan.h"
#include "launcher/launcher.h"

namespace loom {
namespace {

constexpr int kLookMs = 200;

QString idOf(const TrialRun& run) {
  return QString::fromStdString(run.folder().filename().string());
}

}  // namespace

// Its trials are jobs like any other: in the list of runs, in the queue, on the host.
class SearchRunner::Bench : public TrialBench {
 public:
  Bench(SearchRunner& runner, Job job) : m_runner(runner), m_job(std::move(job)) {}

  std::filesystem::path place(const SearchPlan&, int) override {
    const QString folder = m_job.runsFolder + '/' + makeRunId(m_job.project);
    if (!QDir().mkpath(folder))
      throwError(ErrorCode::inputOutput,
                 "{} cannot be made: choose a folder that may be written for this project's runs",
                 folder.toStdString());
    return QFileInfo(folder).canonicalFilePath().toStdString();
  }

  void start(TrialRun& run, bool goesOn) override {
    const QString id = idOf(run);
    if (const RunRecord* const known = recordOf(run)) {
      if (goesOn && Launcher::may(known->state, RunAction::resume)) m_runner.m_launcher.resume(known->id);
      return;
    }
    Job job = m_job;
    job.id = id;
    job.name = QStringLiteral("%1-%2")
                   .arg(QString::fromStdString(run.file().plan.name))
                   .arg(run.file().number, 3, 10, QChar('0'));
    for (const std::string& each : run.file().plan.settings) job.overrides << QString::fromStdString(each);
    for (const std::string& each : settingsOf(run.file().plan.space, run.file().point))
      job.overrides << QString::fromStdString(each);
    m_runner.m_launcher.submit(job);
    // The search is a group: its trials bear its name as a tag, which filters and tables know.
    const QString tag = QString::fromStdString(run.file().plan.name);
    m_runner.m_store.change(id, [&tag](RunRecord& record) { record.tags << tag; });
    m_runner.m_launcher.keep(id);
    Q_EMIT m_runner.trialBegan(id);
  }

  bool lives(const TrialRun& run) override {
    const RunRecord* const known = recordOf(run);
    if (!known) return RunFolder{run.folder()}.running();
    return isLive(known->state) || known->state == RunState::queued || m_runner.m_launcher.isReading(known->id);
  }

  void stop(const TrialRun& run) override {
    const RunRecord* const known = recordOf(run);
    if (known && Launcher::may(known->state, RunAction::stop)) m_runner.m_launcher.stop(known->id);
  }

  std::string lastWords(const TrialRun& run) override {
    const RunRecord* const known = recordOf(run);
    return known && !known->message.isEmpty() ? known->message.toStdString() : std::string("it ended without a word");
  }

 private:
  // A trial of `loom search` is in the list under another id: its folder tells.
  const RunRecord* recordOf(const TrialRun& run) const {
    if (const RunRecord* const known = m_runner.m_store.find(idOf(run))) return known;
    const QString folder = QString::fromStdString(run.folder().string());
    const RunRecord* found = nullptr;
    m_runner.m_store.forEachRun(m_job.project, [&](const RunRecord& each) {
      if (each.folder == folder) found = &each;
    });
    return found;
  }

  SearchRunner& m_runner;
  Job m_job;
};

SearchRunner::SearchRunner(Launcher& launcher, RunStore& store, QObject* parent)
    : QObject(parent), m_launcher(launcher), m_store(store) {
  m_look.setInterval(kLookMs);
  connect(&m_look, &QTimer::timeout, this, &SearchRunner::step);
}

SearchRunner::~SearchRunner() = default;

void SearchRunner::begin(Study study, const Job& job, int atOnce) {
  m_driver.reset();
  m_bench = std::make_unique<Bench>(*this, job);
  const Json project = parseJson(job.snapshot.toStdString(), "the project");
  const SearchPlan& plan = study.plan;
  const auto screen = std::make_shared<const CandidateScreen>(
      project, plan, wantsPlanner(project, plan) ? askedPlanner(plan.planFor) : CandidateScreen::Planner());
  m_driver = std::make_unique<SearchDriver>(std::move(study), *m_bench, atOnce, screen);
  try {
    m_driver->step();
  } catch (const Error&) {
    m_driver.reset();
    throw;
  }
  m_look.start();
  Q_EMIT changed();
}

void SearchRunner::stop() {
  if (m_driver) m_driver->stop();
  Q_EMIT changed();
}

void SearchRunner::step() {
  QString fault;
  bool changes = false;
  m_driver->changed = [&changes](const TrialRun&) { changes = true; };
  try {
    if (!m_driver->step()) {
      m_look.stop();
      fault = QString::fromStdString(m_driver->ending());
    }
  } catch (const Error& error) {
    fault = QString::fromStdString(error.what());
    m_look.stop();
  }
  m_driver->changed = nullptr;
  if (changes) Q_EMIT changed();
  if (m_look.isActive()) return;
  Q_EMIT changed();
  m_driver.reset();
  Q_EMIT ended(fault);
}

}  // namespace loom
