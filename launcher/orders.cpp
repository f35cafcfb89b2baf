#include "launcher/orders.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRandomGenerator>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/words.h"

namespace loom {
namespace {

constexpr qint64 kStaleSeconds = 60;  // whoever left it has long gone away

QString ordersFolder(const QString& folder) {
  return folder + "/orders";
}

QString wordOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? QString::fromStdString(found->get<std::string>()) : QString();
}

std::optional<Json> readJson(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly) || file.size() > (64 << 20)) return {};
  const QByteArray text = file.readAll();
  Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_object()) return {};
  return json;
}

QString hostOf(const RunRecord& run) {
  RunRecord read;
  JobFile file;
  readJobFile(run.folder, read, file);
  return file.host;
}

ErrorCode codeOf(const Json& answer) {
  const QString code = wordOf(answer, "code");
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i)
    if (code.toStdString() == toString(static_cast<ErrorCode>(i))) return static_cast<ErrorCode>(i);
  return ErrorCode::internal;
}

}  // namespace

Json toJson(const Job& job) {
  Json overrides = Json::array();
  for (const QString& each : job.overrides) overrides.push_back(each.toStdString());
  return {{"id", job.id.toStdString()},
          {"name", job.name.toStdString()},
          {"project", job.project.toStdString()},
          {"snapshot", job.snapshot.toStdString()},
          {"data_folder", job.dataFolder.toStdString()},
          {"overrides", overrides},
          {"host", job.host.toStdString()},
          {"ranks", job.ranks},
          {"runs_folder", job.runsFolder.toStdString()},
          {"shared", job.priority == Priority::shared}};
}

Job jobFromJson(const Json& order) {
  Job job{.id = wordOf(order, "id"),
          .name = wordOf(order, "name"),
          .project = wordOf(order, "project"),
          .snapshot = wordOf(order, "snapshot").toUtf8(),
          .dataFolder = wordOf(order, "data_folder"),
          .host = wordOf(order, "host"),
          .ranks = static_cast<int>(order.value("ranks", 0)),
          .runsFolder = wordOf(order, "runs_folder"),
          .priority = order.value("shared", false) ? Priority::shared : Priority::exclusive};
  for (const Json& each : order.value("overrides", Json::array()))
    if (each.is_string()) job.overrides << QString::fromStdString(each.get<std::string>());
  if (job.id.isEmpty() || job.snapshot.isEmpty())
    throwError(ErrorCode::badArgument, "an order to train names no run or holds no project");
  return job;
}

OrderDesk::OrderDesk(const QString& folder, Launcher& launcher, RunStore& store, HostStore& hosts, HostLines& lines,
                     Models& models, QObject* parent)
    : QObject(parent),
      m_folder(ordersFolder(folder)),
      m_launcher(launcher),
      m_store(store),
      m_hosts(hosts),
      m_lines(lines),
      m_models(models) {
  QDir().mkpath(m_folder);
  m_watcher.addPath(m_folder);
  // A slip is written beside its name and renamed: by the time of a look it is whole.
  m_soon.setSingleShot(true);
  m_soon.setInterval(0);
  connect(&m_watcher, &QFileSystemWatcher::directoryChanged, &m_soon, qOverload<>(&QTimer::start));
  connect(&m_soon, &QTimer::timeout, this, &OrderDesk::look);
  connect(&m_models, &Models::failed, this,
          [this](const QString& id, const QString& sentence) { m_fetchFaults.insert(id, sentence); });
  connect(&m_models, &Models::fetched, this,
          [this](const QString& id, const QString& file) { m_fetched.insert(id, file); });
  m_soon.start();
}

void OrderDesk::look() {
  for (const QFileInfo& each : QDir(m_folder).entryInfoList({"*.order"}, QDir::Files, QDir::Name)) {
    const auto order = readJson(each.filePath());
    QFile::remove(each.filePath());
    const bool stale = each.lastModified().secsTo(QDateTime::currentDateTime()) > kStaleSeconds;
    if (!order || stale) continue;
    Json answer;
    try {
      answer = carryOut(*order);
      answer["ok"] = true;
    } catch (const Error& error) {
      answer = {{"ok", false}, {"code", std::string(toString(error.code()))}, {"message", error.what()}};
    } catch (const std::exception& fault) {
      answer = {{"ok", false}, {"code", std::string(toString(ErrorCode::badArgument))}, {"message", fault.what()}};
    }
    try {
      writeFileAtomically((m_folder + '/' + each.completeBaseName() + ".answer").toStdString(), answer.dump());
    } catch (const Error&) {
      // Nobody can be told; the order itself was carried out.
    }
  }
}

const RunRecord& OrderDesk::wanted(const Json& order) const {
  const RunRecord* const run = m_store.find(wordOf(order, "run"));
  if (!run) throwError(ErrorCode::badArgument, "there is no run '{}'", wordOf(order, "run").toStdString());
  return *run;
}

Json OrderDesk::state(const RunRecord& run) const {
  JobFile file;
  RunRecord read;
  readJobFile(run.folder, read, file);
  const JobStage stage = m_launcher.stage(run.id);
  HostLine* const line = file.host.isEmpty() || !m_hosts.find(file.host) ? nullptr : m_lines.line(file.host);
  // Why nothing happens: the line to its host waits, or needs a person.
  const bool stuck = line && (line->state() == LineState::needsPerson || line->state() == LineState::waiting ||
                              line->state() == LineState::offline);
  const bool waits = m_launcher.queue().contains(run.id);
  QString words = stage.sentence;
  if (stuck && !line->sentence().isEmpty())
    words = line->sentence();
  else if (line && line->state() == LineState::installing)
    words = line->sentence();
  else if (waits)
    words =
        tr("Waits its turn: %1 before it")
            .arg(QString::fromStdString(counted(m_launcher.queue().indexOf(run.id) + m_launcher.running(), "runs")));
  return {{"state", toKey(run.state)},
          {"message", run.message.toStdString()},
          {"stage", words.toStdString()},
          {"doubt", m_launcher.doubt(run.id).toStdString()},
          {"waits", waits},
          {"stuck", stuck},
          {"trying", line && line->state() == LineState::connecting},
          {"needs_person", line && line->state() == LineState::needsPerson},
          {"online", !line || line->state() == LineState::online},
          {"reading", m_launcher.isReading(run.id)},
          {"accepted", file.host.isEmpty() ? file.process > 0 : file.accepted == file.start && file.start > 0},
          {"model", isLive(run.state) ? std::string() : m_models.sentence(run.id).toStdString()},
          {"comes_by_itself", m_models.comesByItself(run.id)},
          {"fetching", m_models.isFetching(run.id)},
          {"share", m_models.share(run.id)},
          {"fetch_fault", m_fetchFaults.value(run.id).toStdString()}};
}

// A person is there: what signing in asks may be asked, also where the run itself waits behind another.
void OrderDesk::callOn(const QString& host) {
  if (HostLine* const line = host.isEmpty() ? nullptr : m_lines.line(host)) line->connectNow();
}

Json OrderDesk::carryOut(const Json& order) {
  const QString verb = wordOf(order, "order");
  if (verb == "submit") {
    Job job = jobFromJson(order);
    if (job.name.isEmpty()) job.name = m_store.freeName(job.project, QFileInfo(job.project).completeBaseName());
    m_launcher.submit(job);
    callOn(job.host);
    const RunRecord* const run = m_store.find(job.id);
    return {{"name", run->name.toStdString()}, {"folder", run->folder.toStdString()}};
  }
  if (verb == "add_host") return {{"id", m_hosts.add(hostFromJson(order.value("host", Json()))).toStdString()}};
  if (verb == "yield") {
    if (!yield) throwError(ErrorCode::badArgument, "a window keeps these runs: it does not give way");
    QTimer::singleShot(0, this, [this] { yield(); });
    return Json::object();
  }
  const RunRecord& run = wanted(order);
  const QString id = run.id;
  if (verb == "state") return state(run);
  if (verb == "model") return {{"model", m_fetched.value(id, m_models.sentence(id)).toStdString()}};
  if (verb == "stop")
    m_launcher.stop(id);
  else if (verb == "stop_after_epoch")
    m_launcher.stopAfterEpoch(id);
  else if (verb == "kill")
    m_launcher.kill(id);
  else if (verb == "give_up")
    m_launcher.giveUp(id);
  else if (verb == "resume" && order.contains("host"))
    m_launcher.resumeOn(id, wordOf(order, "host"), order.value("ranks", 0)), callOn(wordOf(order, "host"));
  else if (verb == "resume")
    m_launcher.resume(id), callOn(hostOf(run));
  else if (verb == "fetch") {
    m_fetchFaults.remove(id);
    m_fetched.remove(id);
    if (order.value("newest", false)) {
      if (!m_models.newestIsHere(id)) m_models.fetch(id, Models::Which::newest);
    } else if (const ModelPlace place = m_models.place(id); place.here.isEmpty() || !place.host.isEmpty())
      m_models.fetch(id);
  } else if (verb == "connect") {
    callOn(hostOf(run));
  } else {
    throwError(ErrorCode::badArgument, "'{}' is no order that this Gradloom knows; the other one is of another version",
               verb.toStdString());
  }
  return Json::object();
}

OrderSlip::OrderSlip(const QString& folder, const Json& order) {
  QDir().mkpath(ordersFolder(folder));
  const QString base = QStringLiteral("%1/%2-%3-%4")
                           .arg(ordersFolder(folder))
                           .arg(QDateTime::currentMSecsSinceEpoch())
                           .arg(QCoreApplication::applicationPid())
                           .arg(QRandomGenerator::global()->bounded(0x10000), 4, 16, QLatin1Char('0'));
  m_order = base + ".order";
  m_answer = base + ".answer";
  writeFileAtomically(m_order.toStdString(), order.dump());
}

OrderSlip::~OrderSlip() {
  QFile::remove(m_order);
  QFile::remove(m_answer);
}

std::optional<Json> OrderSlip::answer() {
  const auto found = readJson(m_answer);
  if (found && !found->value("ok", false)) throw Error(codeOf(*found), wordOf(*found, "message").toStdString());
  return found;
}

}  // namespace loom
