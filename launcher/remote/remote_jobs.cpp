#include "launcher/remote/remote_jobs.h"

#include <QFile>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "launcher/remote/launch_order.h"

namespace loom {
namespace {

QString sentenceOf(const Json& header) {
  return QString::fromStdString(header.value("message", std::string("the host does not say why")));
}

double mebibytes(qint64 bytes) {
  return static_cast<double>(bytes) / 1048576.0;
}

QByteArray snapshotOf(const JobOrder& order) {
  QFile file(order.folder + "/project.loom");
  if (!file.open(QIODevice::ReadOnly))
    throwError(ErrorCode::missingFile, "the run's project {} cannot be read: {}", file.fileName().toStdString(),
               file.errorString().toStdString());
  return file.readAll();
}

}  // namespace

RemoteJobs::RemoteJobs(Host host, Listener listener) : m_host(std::move(host)), m_listener(std::move(listener)) {}

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
  std::vector<QString> ids;
  for (const auto& [id, job] : m_jobs) ids.push_back(id);
  for (const QString& id : ids) advance(id);
}

void RemoteJobs::offline() {
  m_agent = nullptr;
  for (const auto& [id, job] : m_jobs)
    if (job->upload) {
      job->upload->cancel();
      job->upload.reset();
    }
}

void RemoteJobs::add(const JobOrder& order, Age age) {
  forget(order.id);
  m_jobs[order.id] = std::make_unique<Remote>(
      Remote{.order = order, .mirror = Mirror(order.folder), .perhapsThere = age == Age::older});
  if (m_agent) advance(order.id);
}

void RemoteJobs::forget(const QString& id) {
  Remote* const job = find(id);
  if (!job) return;
  *job->calledOff = true;
  if (job->upload) job->upload->cancel();
  if (job->packing.joinable()) job->packing.join();
  if (m_agent && job->known)
    m_agent->ask({{"verb", "untail"}, {"job", id.toStdString()}}, [](const Json&, const QByteArray&) {});
  m_jobs.erase(id);
}

// Where does it stand? The host knows it, or everything up to its start is still to be done.
void RemoteJobs::advance(const QString& id) {
  Remote* const job = find(id);
  if (!job || !m_agent) return;
  m_agent->ask({{"verb", "state"}, {"job", id.toStdString()}}, [this, id](const Json& header, const QByteArray&) {
    Remote* const job = find(id);
    if (!job) return;
    if (!header.value("ok", false)) return refuse(id, sentenceOf(header));
    const Json state = header.value("state", Json::object());
    const int there = state.value("start", 0);
    if (state.value("phase", std::string()) == "none" || there < job->order.file.start) return pack(id);
    if (there > job->order.file.start) {  // its continuation was submitted by the host itself
      job->order.file.start = there;
      m_listener.started(id, job->order.file);
    }
    follow(id);
  });
}

void RemoteJobs::pack(const QString& id) {
  Remote* const job = find(id);
  if (!job->killed.empty())
    return end(id, {.code = -1, .sentence = QStringLiteral("it was called off before the host had it")});
  if (job->data || !m_host.dataFolder.isEmpty()) return send(id);
  if (job->packing.joinable()) return;  // from before the line broke
  const auto calledOff = job->calledOff;
  const QString folder = job->order.folder;
  job->packing = std::thread([this, id, order = job->order, calledOff] {
    QList<PackedData> data;
    QString fault;
    try {
      data = packData(snapshotOf(order), [&](const QString& sentence) {
        QMetaObject::invokeMethod(
            this,
            [this, id, sentence] {
              if (find(id)) m_listener.stage(id, sentence, -1);
            },
            Qt::QueuedConnection);
        return !*calledOff;
      });
    } catch (const std::exception& error) {
      fault = QString::fromUtf8(error.what());
    }
    QMetaObject::invokeMethod(
        this,
        [this, id, data, fault] {
          Remote* const job = find(id);
          if (!job) return;
          if (job->packing.joinable()) job->packing.join();
          if (!fault.isEmpty()) return refuse(id, fault);
          job->data = data;
          if (m_agent) advance(id);
        },
        Qt::QueuedConnection);
  });
}

void RemoteJobs::send(const QString& id) {
  Remote* const job = find(id);
  if (!job->killed.empty())
    return end(id, {.code = -1, .sentence = QStringLiteral("it was called off before the host had it")});
  if (job->upload) return;
  const QList<PackedData> data = job->data.value_or(QList<PackedData>());
  qint64 total = 0, before = 0;
  for (const PackedData& each : data) {
    total += each.size;
    if (job->places.contains(each.dataset)) before += each.size;
  }
  for (const PackedData& each : data) {
    if (job->places.contains(each.dataset)) continue;
    const auto shared = std::find_if(data.begin(), data.end(), [&](const PackedData& other) {
      return other.sha256 == each.sha256 && job->places.contains(other.dataset);
    });
    if (shared != data.end()) {  // two datasets of the same rows
      job->places[each.dataset] = job->places[shared->dataset];
      return send(id);
    }
    job->upload = std::make_shared<Upload>(
        *m_agent, each,
        Upload::Listener{.progress =
                             [this, id, each, total, before](qint64 sent) {
                               m_listener.stage(
                                   id,
                                   QStringLiteral("Uploading %1: %2 of %3 MiB")
                                       .arg(each.dataset)
                                       .arg(mebibytes(before + sent), 0, 'f', 1)
                                       .arg(mebibytes(total), 0, 'f', 1),
                                   total > 0 ? static_cast<double>(before + sent) / static_cast<double>(total) : -1);
                             },
                         .done =
                             [this, id, each](const QString& path) {
                               Remote* const job = find(id);
                               if (!job) return;
                               job->upload.reset();
                               job->places[each.dataset] = path;
                               send(id);
                             },
                         .failed =
                             [this, id, each](const QString& sentence) {
                               refuse(id, QStringLiteral("dataset %1 cannot be sent: %2").arg(each.dataset, sentence));
                             }});
    return job->upload->begin();
  }
  start(id);
}

void RemoteJobs::start(const QString& id) {
  Remote* const job = find(id);
  QByteArray project;
  Json request;
  try {
    project = snapshotOf(job->order);
    project = m_host.dataFolder.isEmpty() ? withDataAt(project, job->places)
                                          : withDataMoved(project, job->order.projectFolder, m_host.dataFolder);
    if (static_cast<std::size_t>(project.size()) > kLongestBytes)
      throwError(ErrorCode::badProject, "the project has {} bytes, {} can be sent", project.size(), kLongestBytes);
    request = {{"verb", "start"}, {"job", id.toStdString()}, {"launch", launchOrder(m_host, job->order.file)}};
    if (m_host.kind == HostKind::slurm)
      request["script"] = slurmScript(m_host, id, job->order.file, m_program, m_base + "/runs/" + id).toStdString();
  } catch (const Error& error) {
    return refuse(id, QString::fromStdString(error.what()));
  }
  m_listener.stage(id,
                   m_host.kind == HostKind::slurm ? QStringLiteral("Submitting to Slurm")
                                                  : QStringLiteral("Starting on %1").arg(m_host.name),
                   -1);
  job->perhapsThere = true;
  m_agent->ask(request, project, [this, id](const Json& header, const QByteArray&) {
    Remote* const job = find(id);
    if (!job) return;
    if (!header.value("ok", false)) return refuse(id, sentenceOf(header));
    job->order.file.accepted = job->order.file.start;
    m_listener.started(id, job->order.file);
    follow(id);
  });
}

void RemoteJobs::follow(const QString& id) {
  Remote* const job = find(id);
  job->known = true;
  sayWishes(id);
  m_agent->ask({{"verb", "tail"},
                {"job", id.toStdString()},
                {"events", job->mirror.eventBytes()},
                {"log", job->mirror.logBytes()}},
               [this, id](const Json& header, const QByteArray&) {
                 if (!header.value("ok", false)) refuse(id, sentenceOf(header));
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
    if (!job->perhapsThere && !m_agent)
      return end(id, {.code = -1, .sentence = QStringLiteral("it was called off before the host had it")});
    job->killed = how;  // said as soon as the host hears us
    *job->calledOff = true;
    if (m_agent && job->upload) {
      job->upload->cancel();
      job->upload.reset();
      advance(id);
    }
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
  if (!job) return;
  try {
    if (header.contains("file"))
      job->mirror.putRunFile(bytes);
    else if (header.contains("events"))
      job->mirror.putEvents(header["events"].get<qint64>(), bytes);
    else if (header.contains("log"))
      job->mirror.putLog(header["log"].get<qint64>(), bytes);
    else if (header.contains("fault"))
      refuse(id, QString::fromStdString(header["fault"].get<std::string>()));
    else if (header.contains("state"))
      state(id, header);
  } catch (const Error& error) {
    // What could not be kept here is still there: it is asked for again from where the mirror ends.
    m_listener.stage(id, QString::fromStdString(error.what()), -1);
    if (m_agent)
      QTimer::singleShot(5000, this, [this, id] {
        if (m_agent && find(id)) follow(id);
      });
  }
}

void RemoteJobs::state(const QString& id, const Json& header) {
  Remote* const job = find(id);
  const Json& state = header["state"];
  if (const int start = state.value("start", 0); start > job->order.file.start) {
    job->order.file.start = start;
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
  if (phase == "queued")
    m_listener.stage(id, detail, -1);
  else if (phase == "unknown")
    m_listener.stage(id, QStringLiteral("It is not known how it goes: %1").arg(detail), -1);
  else if (phase == "running" && job->phase != "running")
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
