#include "app/workspace.h"

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QRegularExpression>
#include <QThread>
#include <algorithm>

#include "app/attempt.h"
#include "app/host_checks.h"
#include "app/keep_awake.h"
#include "app/pages/data/known_columns.h"
#include "app/pages/data/moved_files.h"
#include "app/planned_run.h"
#include "app/preferences.h"
#include "app/problem_list.h"
#include "app/run_hosts.h"
#include "app/run_metrics.h"
#include "app/run_scan.h"
#include "app/samples.h"
#include "app/trained_runs.h"
#include "engine/run/safetensors.h"
#include "launcher/local_process.h"
#include "launcher/orders.h"
#include "launcher/remote/engine_installer.h"
#include "launcher/ssh/local_transport.h"
#include "widgets/library/own_layers.h"

namespace loom {
namespace {

constexpr int kYieldMs = 3000;  // a terminal lets go within a tenth of that

LineOptions lineOptions(const WorkspaceOptions& options) {
  LineOptions line = options.line;
  if (line.bundle.isEmpty() && line.program.isEmpty())
    line.bundle = findBundle(options.program.isEmpty() ? findLoom() : options.program);
  return line;
}

// This machine is asked what a host is asked, by its own shell.
LineOptions hereOptions(const WorkspaceOptions& options) {
  return {.program = options.program.isEmpty() ? findLoom() : options.program,
          .transport = [](const SshAsk&) { return std::make_unique<LocalTransport>(); }};
}

}  // namespace

Workspace::Workspace(WorkspaceOptions options, Theme& theme, Preferences& preferences, QObject* parent)
    : QObject(parent),
      m_store(std::make_unique<RunStore>(options.dataFolder)),
      m_hosts(std::make_unique<HostStore>(options.dataFolder)),
      m_lines(std::make_unique<HostLines>(*m_hosts, lineOptions(options))),
      m_runHosts(std::make_unique<RunHosts>(*m_store)),
      m_runMetrics(std::make_unique<RunMetrics>(*m_store)),
      m_checks(std::make_unique<HostChecks>(*m_lines, hereOptions(options), preferences)),
      m_models(std::make_unique<Models>(*m_store, m_lines.get())),
      m_launcher(
          std::make_unique<Launcher>(*m_store, LauncherOptions{.program = options.program, .hosts = m_lines.get()})),
      m_drafts(options.dataFolder + "/drafts") {
  m_keepAwake = std::make_unique<KeepAwake>(*m_launcher);
  m_problems = std::make_unique<ProblemList>(*this);
  connect(this, &Workspace::hostChosen, this, &Workspace::tellMissingFiles);
  m_context.store = m_store.get();
  m_context.launcher = m_launcher.get();
  m_context.hosts = m_lines.get();
  m_context.checks = m_checks.get();
  m_context.runHosts = m_runHosts.get();
  m_context.models = m_models.get();
  m_context.runMetrics = m_runMetrics.get();
  m_context.theme = &theme;
  m_context.preferences = &preferences;
  m_context.workspace = this;
  m_ownLayers = std::make_unique<OwnLayers>(options.dataFolder + "/layers");
  m_context.ownLayers = m_ownLayers.get();
  m_sshConfig = options.line.sshConfig;
  m_dataFolder = options.dataFolder;
  connect(m_launcher.get(), &Launcher::hostChanged, this, [this](const QString& id) { m_runHosts->forget(id); });
  connect(m_hosts.get(), &HostStore::hostChanged, this, &Workspace::hostChosen);
  connect(m_hosts.get(), &HostStore::hostAdded, this, &Workspace::hostChosen);
  connect(m_hosts.get(), &HostStore::hostRemoved, this, &Workspace::hostChosen);
  keepFolder(options.dataFolder);
}

Workspace::~Workspace() = default;

// A terminal that looks on at a run keeps the folder until it is asked for it; then it goes on looking on, and what it
// asks for is carried out here.
void Workspace::keepFolder(const QString& folder) {
  m_lock = std::make_unique<FolderLock>(folder);
  try {
    if (!m_lock->take()) {
      OrderSlip slip(folder, {{"order", "yield"}});
      QElapsedTimer clock;
      for (clock.start(); !m_lock->take() && clock.elapsed() < kYieldMs; slip.answer()) QThread::msleep(20);
    }
  } catch (const Error&) {
    // Another window keeps it, and does so on; this one looks on beside it.
  }
  if (m_lock->held()) m_drafts.forgetDiscarded();
  if (m_lock->held())
    m_orders = std::make_unique<OrderDesk>(folder, *m_launcher, *m_store, *m_hosts, *m_lines, *m_models);
}

Outcome Workspace::leave() {
  if (!m_document) return Outcome::done();
  if (m_document->isModified()) {
    if (const Outcome saved = save(); !saved) return saved;
  }
  return Outcome::done();
}

void Workspace::closeWithoutSaving() {
  if (m_document) m_document->discardRecovery();
  close();
}

Outcome Workspace::closeProject() {
  if (const Outcome left = leave(); !left) return left;
  close();
  return Outcome::done();
}

void Workspace::close() {
  if (!m_document) return;
  Q_EMIT projectClosing();
  m_scan.reset();
  m_context.knownColumns = nullptr;
  m_columns.reset();
  m_context.document = nullptr;
  m_document.reset();
  m_currentRun.clear();
}

void Workspace::adopt(std::unique_ptr<ProjectDocument> document) {
  m_document = std::move(document);
  m_context.document = m_document.get();
  m_columns = std::make_unique<KnownColumnsKeeper>(*m_document);
  m_context.knownColumns = m_columns.get();
  connect(m_columns.get(), &KnownColumnsKeeper::missingChanged, this, &Workspace::tellMissingFiles);
  if (!m_document->path().isEmpty()) {
    if (!isDraft()) m_context.preferences->addRecentProject(m_document->path());
    m_scan = std::make_unique<RunScan>(*m_launcher, m_document->folder() + "/runs", m_document->path());
  }
  m_host = m_context.preferences->hostOf(m_document->path());
  m_ranks = m_context.preferences->ranksOf(m_document->path());
  Q_EMIT projectOpened();
  Q_EMIT hostChosen();
}

// A host that has the data under a folder of its own needs none of it here.
void Workspace::tellMissingFiles() {
  std::vector<PageProblem> problems;
  const Host* const far = m_hosts->find(m_host);
  const bool elsewhere = far && !far->dataFolder.isEmpty();
  if (m_document && m_columns && !elsewhere) {
    const TrainingSpec& training = m_document->project().training;
    for (const QString& name : m_columns->missing()) {
      const DatasetSpec* const dataset = m_document->project().dataset(name.toStdString());
      const bool read = training.validation == name.toStdString() ||
                        std::any_of(training.updates.begin(), training.updates.end(),
                                    [&](const UpdateSpec& update) { return update.dataset == name.toStdString(); });
      if (!dataset || !read) continue;
      const QString path = datasetPath(*m_document, *dataset), file = QFileInfo(path).fileName();
      problems.push_back(
          {Severity::error,
           {.page = "data", .dataset = name},
           file,
           tr("%1 is not there: put it into %2, or say where it lies now").arg(file, QFileInfo(path).absolutePath()),
           tr("Find file…"),
           [this, name] {
             if (m_document) findTable(QApplication::activeWindow(), *m_document, name.toStdString());
           }});
    }
  }
  m_problems->setOfFiles(std::move(problems));
}

// One that was removed is not forgotten at once: it may come back by Undo.
QString Workspace::host() const {
  return m_hosts->find(m_host) ? m_host : QString();
}

int Workspace::mostRanks(const QString& host) const {
  const Host* const found = m_hosts->find(host);
  return found ? std::max(1, found->totalRanks()) : 1;
}

int Workspace::ranks() const {
  const int most = mostRanks(host());
  return m_ranks > 0 ? std::min(m_ranks, most) : most;
}

void Workspace::chooseHost(const QString& host, int ranks) {
  m_host = host;
  m_ranks = ranks;
  if (m_document && !m_document->path().isEmpty()) m_context.preferences->setHostOf(m_document->path(), host, ranks);
  Q_EMIT hostChosen();
}

QString Workspace::hostName(const QString& host) const {
  if (host.isEmpty()) return tr("This machine");
  const Host* const found = m_hosts->find(host);
  return found ? found->name : host;
}

QString Workspace::ownCopy(const QString& original, Copy copy, QString* reason) {
  const QString known = m_context.preferences->copyOf(original);
  if (copy == Copy::known && QFileInfo::exists(known)) return known;
  const QString made = QFileInfo(copyProject(original, reason)).canonicalFilePath();
  if (!made.isEmpty()) m_context.preferences->setCopyOf(original, made);
  return made;
}

Outcome Workspace::openProject(const QString& given, Copy copy) {
  QString path = QFileInfo(given).canonicalFilePath();
  if (path.isEmpty()) return Outcome::refused(tr("%1 is not there.").arg(given));
  if (QFileInfo(path).isDir()) {
    const QStringList inside = QDir(path).entryList({"*.loom"}, QDir::Files, QDir::Name);
    if (inside.isEmpty()) return Outcome::refused(tr("%1 holds no .loom file.").arg(path));
    path += '/' + inside.first();
  }
  QString original, known;
  if (isSample(path) || !QFileInfo(QFileInfo(path).absolutePath()).isWritable()) {
    original = path;
    known = m_context.preferences->copyOf(original);
    QString reason;
    path = ownCopy(original, copy, &reason);
    if (path.isEmpty()) return Outcome::refused(reason);
  }
  if (m_document && m_document->path() == path) return Outcome::done();
  auto document = std::make_unique<ProjectDocument>();
  if (const Outcome opened = document->open(path); !opened) return opened;
  if (const Outcome left = closeProject(); !left) return left;
  adopt(std::move(document));
  if (!original.isEmpty()) Q_EMIT copyOpened(original, path != known);
  return Outcome::done();
}

Outcome Workspace::openUnsaved(const Orphan& orphan) {
  if (const Outcome left = leave(); !left) return left;
  auto document = std::make_unique<ProjectDocument>();
  if (const Outcome recovered = document->recoverUnsaved(orphan); !recovered) return recovered;
  close();
  adopt(std::move(document));
  return Outcome::done();
}

Outcome Workspace::newProject() {
  if (const Outcome left = closeProject(); !left) return left;
  auto document = std::make_unique<ProjectDocument>();
  document->newProject();
  adopt(std::move(document));
  return Outcome::done();
}

Outcome Workspace::openImported(const Imported& imported, const QString& name) {
  Project project = imported.project;
  if (!imported.weights.empty()) {
    // Never over another's, which a project that was imported before begins with.
    const QString folder = m_dataFolder + "/imported", stem = folder + '/' + name;
    QDir().mkpath(folder);
    QString file = stem + ".safetensors";
    for (int number = 2; QFileInfo::exists(file); ++number)
      file = QStringLiteral("%1-%2.safetensors").arg(stem).arg(number);
    try {
      std::vector<TensorFile::Tensor> tensors;
      for (const ImportedWeight& weight : imported.weights)
        tensors.push_back({weight.name, weight.shape, weight.values});
      TensorFile::write(file.toStdString(), tensors, {{"format", "pt"}});
    } catch (const Error& error) {
      return Outcome::refused(QString::fromUtf8(error.what()));
    }
    project.training.settings["start_from"] = file.toStdString();
  }
  if (const Outcome left = closeProject(); !left) return left;
  auto document = std::make_unique<ProjectDocument>();
  document->takeOver(std::move(project), name);
  adopt(std::move(document));
  return Outcome::done();
}

int Workspace::errors() const {
  return m_document && m_problems->hinderTraining() ? m_problems->errors() : 0;
}

QString Workspace::freeRunName(const QString& wanted) const {
  return m_store->freeName(m_document->path(), wanted);
}

// Saved and sound, so that what is trained is what stands in the file.
Outcome Workspace::readyToTrain() {
  if (!m_document) return Outcome::refused(tr("Open a project first."));
  if (m_document->isBlank())
    return Outcome::refused(
        tr("There is nothing to train yet: draw a network on the Network page. Start from data makes one that fits a "
           "CSV."));
  if (const Outcome saved = save(); !saved) return saved;
  if (const int count = errors())
    return Outcome::refused(count == 1 ? tr("The project has an error; it is in the list of problems.")
                                       : tr("The project has %1 errors; they are in the list of problems.").arg(count));
  return Outcome::done();
}

QString Workspace::faultOfChanges(const QStringList& overrides) const {
  return m_document ? faultOf({QByteArray::fromStdString(m_document->text()), overrides}) : QString();
}

Outcome Workspace::submit(const Job& job) {
  if (const QString fault = attempt([&] { m_launcher->submit(job); }); !fault.isEmpty()) return Outcome::refused(fault);
  setCurrentRun(job.id);
  Q_EMIT submitted(job.id);
  return Outcome::done();
}

Outcome Workspace::train(const TrainOptions& options) {
  if (const Outcome ready = readyToTrain(); !ready) return ready;
  return submit({.id = makeRunId(m_document->path()),
                 .name = options.name.isEmpty() ? freeRunName(m_document->name()) : options.name,
                 .project = m_document->path(),
                 .snapshot = QByteArray::fromStdString(m_document->text()),
                 .dataFolder = m_document->folder(),
                 .overrides = options.overrides,
                 .host = host(),
                 .ranks = host().isEmpty() ? 0 : ranks(),
                 .priority = options.priority});
}

Outcome Workspace::trainSeeds(int count, const QString& run) {
  const RunRecord* const chosen = m_store->find(run);
  if (!chosen)
    if (const Outcome ready = readyToTrain(); !ready) return ready;
  if (!m_document) return Outcome::refused(tr("Open a project first."));
  Job job{.project = m_document->path(), .host = host(), .ranks = host().isEmpty() ? 0 : ranks()};
  PlannedRun planned;
  QList<std::int64_t> seeds;
  const QString fault = attempt([&] {
    if (chosen) {
      planned = plannedAs(*chosen);
      RunRecord read;
      JobFile file;
      if (readJobFile(chosen->folder, read, file))
        job.host = file.host, job.ranks = file.ranks, job.priority = file.priority;
    } else {
      planned.snapshot = QByteArray::fromStdString(m_document->text());
      job.dataFolder = m_document->folder();
    }
    // Those that were deleted too: their seeds are not new.
    seeds = freeSeeds(planned, m_store->runs(m_document->path(), RunStore::Deleted::include), count);
  });
  if (!fault.isEmpty()) return Outcome::refused(fault);
  // A name that says a seed already says the new one instead.
  static const QRegularExpression kSeed("-seed\\d+(-\\d+)?$");
  const QString stem = chosen ? QString(chosen->name).remove(kSeed) : m_document->name();
  for (const std::int64_t seed : std::as_const(seeds)) {
    const PlannedRun next = withSeed(planned, seed);
    job.id = makeRunId(m_document->path());
    job.name = freeRunName(stem + "-seed" + QString::number(seed));
    job.snapshot = next.snapshot;
    job.overrides = next.overrides;
    if (const Outcome started = submit(job); !started) return started;
  }
  return Outcome::done();
}

Outcome Workspace::resumeLast() {
  const QList<RunRecord> own = runs();
  for (auto each = own.rbegin(); each != own.rend(); ++each) {
    if (!mayResume(*each, *m_models)) continue;
    m_launcher->resume(each->id);
    setCurrentRun(each->id);
    return Outcome::done();
  }
  return Outcome::refused(
      tr("No run of this project was stopped or failed with a checkpoint: there is nothing to resume."));
}

QList<RunRecord> Workspace::runs() const {
  return m_document && !m_document->path().isEmpty() ? m_store->runs(m_document->path()) : QList<RunRecord>();
}

void Workspace::forEachRun(const std::function<void(const RunRecord&)>& look) const {
  if (m_document && !m_document->path().isEmpty()) m_store->forEachRun(m_document->path(), look);
}

const RunRecord* Workspace::liveRun() const {
  const RunRecord* newest = nullptr;
  forEachRun([&](const RunRecord& run) {
    if (isLive(run.state)) newest = &run;
  });
  return newest;
}

QString Workspace::currentRun() const {
  if (m_store->find(m_currentRun) && m_store->find(m_currentRun)->deleted == 0) return m_currentRun;
  if (const RunRecord* live = liveRun()) return live->id;
  QString newest;
  forEachRun([&](const RunRecord& run) { newest = run.id; });
  return newest;
}

void Workspace::setCurrentRun(const QString& id) {
  if (id == m_currentRun) return;
  m_currentRun = id;
  Q_EMIT currentRunChanged(id);
}

}  // namespace loom
