#include "launcher/remote/remote_jobs.h"

#include <QTimer>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "launcher/remote/launch_order.h"

namespace loom {
namespace {

constexpr int kLookAgainMs = 30000;  // for a job of which the host tells nothing good
constexpr int kWriteAgainMs = 5000;

QString sentenceOf(const Json& header) {
  const std::string fault = header.value("fault", std::string("the host does not say why"));
  return QString::fromStdString(header.value("message", fault));
}

}  // namespace

RemoteJobs::RemoteJobs(Host host, Listener listener)
    : m_host(std::move(host)),
      m_listener(std::move(listener)),
      m_data({.stage = m_listener.stage,
              .done = [this](const QString& id, const Delivered& delivered) { place(id, delivered); },
              .failed = [this](const QString& id, const QString& sentence) { refuse(id, sentence); }}) {
  m_data.setParent(this);  // it goes along to the line's thread
}

RemoteJobs::~RemoteJobs() {
  while (!m_jobs.empty()) forget(m_jobs.begin()->first);
}

RemoteJobs::Remote* RemoteJobs::find(const QString& id) {
  const auto found = m_jobs.find(id);
  return found == m_jobs.end() ? nullptr : found->second.get();
}

void RemoteJobs::online(AgentClient& agent, const QString& program, const QString& base) {
  m_agent = &agent;
  m_program = program;
  m_base = base;
  m_data.online(agent);
  std::vector<QString> ids;
  for (const auto& [id, job] : m_jobs) ids.push_back(id);
  for (const QString& id : ids) advance(id);
}

void RemoteJobs::offline() {
  m_agent = nullptr;
  m_data.offline();
  for (const auto& [id, job] : m_jobs) job->known = job->deaf = false;
}

void RemoteJobs::add(const JobOrder& order, Age age) {
  forget(order.id);
  m_jobs[order.id] =
      std::make_unique<Remote>(Remote{.order = order, .mirror = Mirror(order.folder), .asked = age == Age::older});
  if (m_agent) advance(order.id);
}

void RemoteJobs::forget(const QString& id) {
  Remote* const job = find(id);
  if (!job) return;
  m_data.forget(id);
  if (m_agent && job->known)
    m_agent->ask({{"verb", "untail"}, {"job", id.toStdString()}}, [](const Json&, const QByteArray&) {});
  m_jobs.erase(id);
}

// The newest start that the host surely had. Where nobody noted it, what came from there tells.
int RemoteJobs::had(const Remote& job) {
  const int accepted = job.order.file.accepted;
  return accepted >= 0 ? accepted : job.mirror.eventBytes() > 0 ? 1 : 0;
}

void RemoteJobs::settle(const QString& id) {
  Remote* const job = find(id);
  if (job && m_agent && job->known)
    m_agent->ask({{"verb", "settle"}, {"job", id.toStdString()}, {"start", job->order.file.start}},
                 [](const Json&, const QByteArray&) {});
  forget(id);
}

// Where does it stand? The host knows it, or everything up to its start is still to be done.
void RemoteJobs::advance(const QString& id) {
  Remote* const job = find(id);
  if (!job || !m_agent) return;
  m_agent->ask({{"verb", "state"}, {"job", id.toStdString()}}, [this, id](const Json& header, const QByteArray&) {
    Remote* const job = find(id);
    if (!job) return;
    if (!header.value("ok", false)) return trouble(id, header);
    const Json state = header.value("state", Json::object());
    const int there = state.value("phase", std::string()) == "none" ? 0 : state.value("start", 0);
    JobFile& file = job->order.file;
    if (there < had(*job)) return lose(id);
    job->lost = false;
    if (there < file.start) {
      job->asked = false;
      doubt(id, {});
      if (!job->killed.empty()) return calledOff(id);
      if (!m_host.dataFolder.isEmpty() && !file.carry) return start(id, {});
      return m_data.want(id, {.project = m_host.dataFolder.isEmpty() ? job->order.folder + "/project.loom" : QString(),
                              .run = file.carry ? job->order.folder : QString()});
    }
    if (file.accepted < there) {  // a continuation that the host submitted itself has a further number
      file.start = file.accepted = there;
      file.carry = false;
      m_listener.started(id, file);
    }
    follow(id);
  });
}

void RemoteJobs::calledOff(const QString& id) {
  end(id, {.code = -1, .sentence = QStringLiteral("it was called off before the host had it")});
}

void RemoteJobs::doubt(const QString& id, const QString& sentence) {
  Remote* const job = find(id);
  if (std::exchange(job->doubt, sentence) != sentence) m_listener.doubted(id, sentence);
}

// A purged scratch folder, another login node, a home that is not mounted: to start it again might train it twice.
void RemoteJobs::lose(const QString& id) {
  Remote* const job = find(id);
  if (std::exchange(job->known, false))
    m_agent->ask({{"verb", "untail"}, {"job", id.toStdString()}}, [](const Json&, const QByteArray&) {});
  job->lost = job->asked = true;
  if (!job->killed.empty())
    return end(id, {.code = -1, .sentence = QStringLiteral("the host no longer has its folder")});
  doubt(id,
        QStringLiteral("%1 had this run, but its folder %2/runs/%3 is no longer there. It is followed again as soon "
                       "as the folder is back; it is not started a second time by itself.")
            .arg(m_host.name, m_base, id));
  lookAgain(id);
}

// The host cannot tell of a job, or cannot take it now. One that it has is not over because of that.
void RemoteJobs::trouble(const QString& id, const Json& header) {
  const bool isThere = had(*find(id)) > 0;
  if (!isThere && !header.value("again", false)) return refuse(id, sentenceOf(header));
  if (isThere)
    doubt(id, sentenceOf(header));
  else
    m_listener.stage(id, sentenceOf(header), -1);
  lookAgain(id);
}

void RemoteJobs::lookAgain(const QString& id) {
  if (std::exchange(find(id)->looksAgain, true)) return;
  QTimer::singleShot(kLookAgainMs, this, [this, id] {
    Remote* const job = find(id);
    if (!job) return;
    job->looksAgain = false;
    advance(id);
  });
}

// A run that goes on there gets its parts before it is started. Broken off in between, they are sent once more.
void RemoteJobs::place(const QString& id, const Delivered& delivered) {
  if (delivered.parts.isEmpty()) return start(id, delivered.data);
  Json files = Json::object();
  for (auto each = delivered.parts.begin(); each != delivered.parts.end(); ++each)
    files[each.key().toStdString()] = each.value().toStdString();
  m_listener.stage(id, QStringLiteral("Handing the run over to %1").arg(m_host.name), -1);
  m_agent->ask({{"verb", "place"}, {"job", id.toStdString()}, {"files", files}}, [this, id, delivered](
                                                                                     const Json& header,
                                                                                     const QByteArray&) {
    m_data.taken(delivered.parts);
    if (!find(id)) return;
    if (header.value("ok", false)) return start(id, delivered.data);
    if (header.value("again", false)) return trouble(id, header);
    refuse(id,
           QStringLiteral("%1 cannot go on with a run of another machine: %2").arg(m_host.name, sentenceOf(header)));
  });
}

void RemoteJobs::start(const QString& id, const QHash<QString, QString>& places) {
  Remote* const job = find(id);
  QByteArray project;
  Json request;
  try {
    project = readProject(job->order.folder + "/project.loom");
    project = m_host.dataFolder.isEmpty() ? withDataAt(project, places)
                                          : withDataMoved(project, job->order.projectFolder, m_host.dataFolder);
    if (static_cast<std::size_t>(project.size()) > kLongestBytes)
      throwError(ErrorCode::badProject, "the project has {} bytes, {} can be sent", project.size(), kLongestBytes);
    request = {{"verb", "start"}, {"job", id.toStdString()}, {"launch", launchOrder(m_host, job->order.file)}};
    if (job->order.file.carry)  // run.json names places of the machine where it ran
      for (const QString& word : dataWords(project)) request["launch"]["data"].push_back(word.toStdString());
    if (m_host.kind == HostKind::slurm)
      request["script"] = slurmScript(m_host, id, job->order.file, m_program, m_base + "/runs/" + id).toStdString();
  } catch (const Error& error) {
    return refuse(id, QString::fromStdString(error.what()));
  }
  m_listener.stage(id,
                   m_host.kind == HostKind::slurm ? QStringLiteral("Submitting to Slurm")
                                                  : QStringLiteral("Starting on %1").arg(m_host.name),
                   -1);
  job->asked = true;
  m_agent->ask(request, project, [this, id](const Json& header, const QByteArray&) {
    Remote* const job = find(id);
    if (!job) return;
    if (!header.value("ok", false))
      return header.value("again", false) ? trouble(id, header) : refuse(id, sentenceOf(header));
    job->order.file.accepted = job->order.file.start;
    job->order.file.carry = false;
    m_listener.started(id, job->order.file);
    follow(id);
  });
}

void RemoteJobs::follow(const QString& id) {
  Remote* const job = find(id);
  job->known = true;
  m_data.forget(id);
  sayWishes(id);
  m_agent->ask({{"verb", "tail"},
                {"job", id.toStdString()},
                {"events", job->mirror.eventBytes()},
                {"marks", job->mirror.eventMarks()},
                {"log", job->mirror.logBytes()}},
               [this, id](const Json& header, const QByteArray&) {
                 if (!find(id)) return;
                 if (!header.value("ok", false)) return trouble(id, header);
                 if (find(id)->phase != "unknown") doubt(id, {});
               });
}

void RemoteJobs::sayWishes(const QString& id) {
  Remote* const job = find(id);
  for (const Json& each : std::exchange(job->wishes, {})) command(id, each);
  if (!job->killed.empty()) cancel(id, std::exchange(job->killed, {}) == "kill" ? "kill" : "stop");
}

void RemoteJobs::command(const QString& id, const Json& command) {
  Remote* const job = find(id);
  if (!job) return;
  if (!m_agent || !job->known) return job->wishes.push_back(command);
  m_agent->ask({{"verb", "control"}, {"job", id.toStdString()}, {"command", command}},
               [this, id](const Json& header, const QByteArray&) {
                 if (!header.value("ok", false)) m_listener.stage(id, sentenceOf(header), -1);
               });
}

void RemoteJobs::cancel(const QString& id, const char* how) {
  Remote* const job = find(id);
  if (!job) return;
  if (!m_agent || !job->known) {
    if (!job->asked) return calledOff(id);
    job->killed = how;  // said as soon as the host hears us
    if (job->lost) lose(id);
    return;
  }
  m_agent->ask({{"verb", "cancel"}, {"job", id.toStdString()}, {"how", how}},
               [this, id](const Json& header, const QByteArray&) {
                 if (!header.value("ok", false)) m_listener.stage(id, sentenceOf(header), -1);
               });
}

void RemoteJobs::told(const Json& header, const QByteArray& bytes) {
  const QString id = QString::fromStdString(header.value("job", std::string()));
  Remote* const job = find(id);
  if (!job || job->deaf) return;
  try {
    if (header.contains("file"))
      job->mirror.putRunFile(bytes);
    else if (header.contains("events"))
      job->mirror.putEvents(header["events"].get<qint64>(), bytes);
    else if (header.contains("cut"))  // the host's log is another from there on, and comes again
      job->mirror.cutEvents(header["cut"].get<qint64>());
    else if (header.contains("log"))
      job->mirror.putLog(header["log"].get<qint64>(), bytes);
    else if (header.contains("fault"))
      trouble(id, header);
    else if (header.contains("warning"))
      m_listener.warned(id, QString::fromStdString(header["warning"].get<std::string>()));
    else if (header.contains("state"))
      state(id, header);
  } catch (const Error& error) {
    // What could not be kept here is still there: it is asked for again from where the mirror ends. Until the host has
    // stopped telling, what comes would leave a hole.
    m_listener.stage(id, QString::fromStdString(error.what()), -1);
    job->deaf = true;
    m_agent->ask({{"verb", "untail"}, {"job", id.toStdString()}}, [this, id](const Json&, const QByteArray&) {
      QTimer::singleShot(kWriteAgainMs, this, [this, id] {
        Remote* const job = find(id);
        if (!job || !std::exchange(job->deaf, false) || !m_agent) return;
        follow(id);
      });
    });
  }
}

void RemoteJobs::state(const QString& id, const Json& header) {
  Remote* const job = find(id);
  const Json& state = header["state"];
  if (const int start = state.value("start", 0); start > job->order.file.start) {
    job->order.file.start = job->order.file.accepted = start;
    m_listener.started(id, job->order.file);
  }
  const QString detail = QString::fromStdString(state.value("detail", std::string())),
                phase = QString::fromStdString(state.value("phase", std::string()));
  if (header.value("end", false)) {
    const int code = state.value("code", -1);
    return end(id, {.code = code > 128 && code < 193 ? 0 : code,
                    .signal = code > 128 && code < 193 ? code - 128 : 0,
                    .sentence = detail});
  }
  if (phase == "none") return lose(id);
  const bool isKnown = phase == "queued" || phase == "running" || phase == "ended";
  doubt(id,
        isKnown ? QString() : QStringLiteral("It is not known how it goes: %1").arg(detail.isEmpty() ? phase : detail));
  if (phase == "queued") {
    m_listener.waits(id);
    m_listener.stage(id, detail, -1);
  }
  if (phase == "running" && job->phase != "running")
    m_listener.stage(id, QStringLiteral("Started on %1, before its first step").arg(m_host.name), -1);
  job->phase = phase;
}

void RemoteJobs::refuse(const QString& id, const QString& sentence) {
  forget(id);
  m_listener.refused(id, sentence);
}

void RemoteJobs::end(const QString& id, const JobEnd& end) {
  forget(id);
  m_listener.ended(id, end);
}

}  // namespace loom
