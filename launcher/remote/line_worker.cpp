#include "launcher/remote/line_worker.h"

#include <QDateTime>
#include <QDir>
#include <QElapsedTimer>
#include <QRegularExpression>

#include "engine/agent/agent.h"
#include "engine/agent/job_folder.h"
#include "engine/base/error.h"
#include "engine/base/foreign.h"
#include "engine/base/json.h"
#include "launcher/hosts/ssh_config.h"
#include "launcher/ssh/system_ssh.h"

namespace loom {
namespace {

double secondsNow() {
  return static_cast<double>(QDateTime::currentMSecsSinceEpoch()) / 1000;
}

RemoteJobs::Listener listenerOf(HostLine& line) {
  // The line lives on the window's thread: a queued call is how anything gets there.
  const auto queue = [&line](auto say) { QMetaObject::invokeMethod(&line, say, Qt::QueuedConnection); };
  return {.stage =
              [=, &line](const QString& id, const QString& sentence, double share) {
                queue([&line, id, sentence, share] { Q_EMIT line.stage(id, sentence, share); });
              },
          .waits = [=, &line](const QString& id) { queue([&line, id] { Q_EMIT line.waits(id); }); },
          .started = [=, &line](const QString& id,
                                const JobFile& file) { queue([&line, id, file] { Q_EMIT line.started(id, file); }); },
          .doubted =
              [=, &line](const QString& id, const QString& sentence) {
                queue([&line, id, sentence] { Q_EMIT line.doubted(id, sentence); });
              },
          .warned =
              [=, &line](const QString& id, const QString& sentence) {
                queue([&line, id, sentence] { Q_EMIT line.warned(id, sentence); });
              },
          .ended = [=, &line](const QString& id,
                              const JobEnd& end) { queue([&line, id, end] { Q_EMIT line.ended(id, end); }); },
          .refused =
              [=, &line](const QString& id, const QString& sentence) {
                queue([&line, id, sentence] { Q_EMIT line.refused(id, sentence); });
              }};
}

}  // namespace

LineWorker::LineWorker(HostLine& line, const Host& host, LineOptions options)
    : m_line(line),
      m_host(host),
      m_options(std::move(options)),
      m_questions(
          [this](int id, const SshQuestion& question) {
            tell(LineState::asking, question.text);
            if (id > 0) toLine([id, question](HostLine& there) { Q_EMIT there.question(id, question); });
          },
          [this](int id) { toLine([id](HostLine& there) { Q_EMIT there.questionGone(id); }); }),
      m_jobs(host, listenerOf(line)),
      m_retry(this),
      m_patience(this),
      m_waitMs(m_options.firstWaitMs) {
  m_jobs.setParent(this);
  m_retry.setSingleShot(true);
  m_patience.setSingleShot(true);
  connect(&m_patience, &QTimer::timeout, this, &LineWorker::giveUpCheck);
  connect(&m_retry, &QTimer::timeout, this, [this] { open(Questions::Mode::mustNotAsk); });
}

LineWorker::~LineWorker() {
  m_jobs.offline();
  m_agent.reset();
}

void LineWorker::toLine(std::function<void(HostLine&)> say) {
  QMetaObject::invokeMethod(
      &m_line, [line = &m_line, say = std::move(say)] { say(*line); }, Qt::QueuedConnection);
}

void LineWorker::tell(LineState state, const QString& sentence, qint64 nextTry) {
  toLine([=](HostLine& line) { line.setState(state, sentence, nextTry); });
}

void LineWorker::callOff(Call call) {
  if (call == Call::forGood) m_ending = true;
  m_calledOff = true;
  m_questions.giveUp();
  const QMutexLocker lock(&m_mutex);
  if (m_transport) m_transport->abort();
}

void LineWorker::setHost(const Host& host) {
  m_host = host;
  m_jobs.setHost(host);
}

std::unique_ptr<HostTransport> LineWorker::makeTransport() {
  const SshAsk ask = [this](const SshQuestion& question) { return m_questions.ask(question); };
  if (m_options.transport) return m_options.transport(ask);
  // The key that a person named, before any other.
  const QString key = m_host.key.startsWith("~/") ? QDir::homePath() + m_host.key.mid(1) : m_host.key;
  if (m_host.systemSsh)
    return std::make_unique<SystemSsh>(SystemSsh::Place{.address = m_host.address,
                                                        .user = m_host.user,
                                                        .port = m_host.port,
                                                        .config = m_options.sshConfig,
                                                        .key = key},
                                       ask);
  const SshConfig config = m_options.sshConfig.isEmpty() ? SshConfig::standard() : SshConfig(m_options.sshConfig);
  SshTarget target = config.resolve(m_host.address, m_host.user, m_host.port);
  if (!key.isEmpty()) {
    target.identities = {key};
    target.identitiesOnly = true;
  }
  m_facts.user = target.user;
  m_facts.warning = target.warning;
  return std::make_unique<SshConnection>(std::move(target), ask);
}

QByteArray LineWorker::command() const {
  return m_options.program.isEmpty() ? agentCommand(m_host.folder, m_bundle)
                                     : "exec " + m_options.program.toUtf8() + " agent";
}

void LineWorker::open(Questions::Mode mode) {
  if (m_agent || m_ending) return;
  m_retry.stop();
  m_wanted = true;
  m_calledOff = false;
  m_facts = {};
  tell(LineState::connecting);
  QElapsedTimer clock;
  clock.start();
  try {
    if (const QStringList faults = problems(m_host); !faults.isEmpty() && !m_options.transport)
      throw SshError(SshFault::refused, faults.join("; ").toStdString());
    if (!m_options.program.isEmpty() && !isPlainPath(m_options.program.toStdString()))
      throw SshError(SshFault::refused,
                     fmt::format("the program's path '{}' may hold only letters, digits and ._-/~+@%=,",
                                 m_options.program.toStdString()));
    if (m_options.program.isEmpty() && m_bundle.file != m_options.bundle) m_bundle = readBundle(m_options.bundle);
    if (m_options.program.isEmpty() && m_bundle.file.isEmpty())
      throw SshError(
          SshFault::refused,
          "this build of Gradloom has no bundle of the engine to bring to a host: make it with installer/bundle.sh");
    m_questions.begin(mode);
    auto transport = makeTransport();
    {
      const QMutexLocker lock(&m_mutex);
      m_transport = std::move(transport);
    }
    if (m_calledOff || m_ending) throw SshError(SshFault::unreachable, "it was called off");
    m_transport->open();
    m_questions.accepted();
    m_facts.answerMs = m_questions.waitedMs();
    m_facts.connectMs = static_cast<double>(clock.elapsed()) - m_facts.answerMs;
    m_facts.fingerprint = m_transport->fingerprint();
    m_facts.method = m_transport->method();
    m_facts.jumps = m_transport->jumps();
    if (m_checking) checkConnection();
    greet();
  } catch (const SshError& error) {
    if (error.fault() == SshFault::signIn) m_questions.refused();
    fail(error);
  } catch (const Error& error) {
    fail(SshFault::refused, QString::fromStdString(error.what()));
  }
}

void LineWorker::greet() {
  m_agent = std::make_unique<AgentClient>(m_transport->execute(command()), m_options.times);
  AgentClient* const agent = m_agent.get();
  m_agent->lost = [this, agent](const AgentClient::Loss& loss) {
    QMetaObject::invokeMethod(
        this,
        [this, agent, loss] {
          if (m_agent.get() == agent) broken(loss);
        },
        Qt::QueuedConnection);
  };
  m_agent->told = [this](const Json& header, const QByteArray& bytes) {
    if (!takeProbe(header, bytes) && !takeSweep(header, bytes) && !takeSaid(header, bytes)) m_jobs.told(header, bytes);
  };
  const double asked = secondsNow();
  m_agent->ask({{"verb", "hello"}, {"protocol", kAgentProtocol}, {"base", m_host.folder.toStdString()}},
               [this, asked](const Json& header, const QByteArray&) { greeted(header, asked); });
}

void LineWorker::greeted(const Json& hello, double asked) {
  if (!hello.value("ok", false)) {
    QMetaObject::invokeMethod(
        this,
        [this, text = QString::fromStdString(hello.value("message", std::string()))] { fail(SshFault::refused, text); },
        Qt::QueuedConnection);
    return;
  }
  // A purge, or a disk that was full, took something of it.
  if (const std::string damaged = textIn(hello, "damaged"); !damaged.empty() && mayInstall()) return mend();
  m_facts.engine = QString::fromStdString(hello.value("version", std::string()));
  m_facts.base = QString::fromStdString(hello.value("base", std::string()));
  // Between question and answer a login shell may take its time, before the host's clock was read or after: what lies
  // within proves nothing.
  const double time = hello.value("time", asked), now = secondsNow();
  m_facts.clockAhead = time > now ? time - now : std::min(time - asked, 0.0);
  m_program = QString::fromStdString(hello.value("program", std::string()));
  if (!m_options.program.isEmpty()) m_program = m_options.program;
  m_waitMs = m_options.firstWaitMs;
  m_reached = true;
  m_fetchWaits = false;
  toLine([facts = m_facts](HostLine& line) { line.m_facts = facts; });
  tell(LineState::online);
  m_jobs.online(*m_agent, m_program, m_facts.base);
  if (m_checking) checkMachine();
  startSweep();
}

bool LineWorker::mayInstall() const {
  return m_options.program.isEmpty() && !m_installed;
}

// Not at once: the agent is in the middle of telling.
void LineWorker::mend() {
  QMetaObject::invokeMethod(
      this,
      [this] {
        if (!m_agent || !mayInstall()) return;
        m_jobs.offline();
        m_agent.reset();
        install();
      },
      Qt::QueuedConnection);
}

// The engine is not there, not in this version, or not whole.
void LineWorker::install() {
  m_installed = true;
  tell(LineState::installing, QStringLiteral("Installing the engine"));
  qint64 told = 0;
  try {
    installEngine(*m_transport, m_host.folder, m_bundle, [this, &told](qint64 sent, qint64 total) {
      if (const qint64 now = QDateTime::currentMSecsSinceEpoch(); now - told > 200) {
        told = now;
        tell(LineState::installing,
             QStringLiteral("Installing the engine: %1 of %2 MiB").arg(sent >> 20).arg(total >> 20));
      }
      return !m_calledOff;
    });
    greet();
  } catch (const SshError& error) {
    fail(error);
  } catch (const Error& error) {
    fail(SshFault::refused, QString::fromStdString(error.what()));
  }
}

void LineWorker::broken(const AgentClient::Loss& loss) {
  m_jobs.offline();
  m_agent.reset();
  // A shell that ended at once has no such program; one that never ended is another matter.
  if (loss.neverSpoke && loss.exitCode && mayInstall()) return install();
  if (loss.neverSpoke && loss.exitCode)
    return fail(SshFault::refused, QStringLiteral("the engine does not start there: %1").arg(loss.sentence));
  fail(SshFault::unreachable, loss.sentence);
}

// The command that the sentence speaks of where it names one, else what tells more.
QString LineWorker::remedyOf(SshFault fault, const QString& sentence) const {
  static const QRegularExpression named("ssh-(copy-id|keygen) .+$");
  if (const auto match = named.match(sentence); match.hasMatch()) return match.captured(0);
  const QString place = (m_host.user.isEmpty() ? QString() : m_host.user + '@') + m_host.address;
  const QString port = m_host.port ? QStringLiteral("-p %1 ").arg(m_host.port) : QString();
  const QString key = m_host.key.isEmpty() ? QString() : QStringLiteral("-i %1 ").arg(m_host.key);
  if (fault == SshFault::signIn) return QStringLiteral("ssh-copy-id %1%2%3").arg(key, port, place);
  // What lies in the folder there, or cannot: its room, its rights and how it is mounted.
  static const QRegularExpression folder("folder|/engine|engine does not start");
  if (fault == SshFault::refused && folder.match(sentence).hasMatch())
    return QStringLiteral("ssh %1%2%3 'mkdir -p %4; ls -ld %4; df -h %4; findmnt -T %4'    # or name another folder")
        .arg(key, port, place, m_host.folder);
  return QStringLiteral("ssh -v %1%2%3 true").arg(key, port, place);
}

void LineWorker::fail(const SshError& error) {
  fail(error.fault(), QString::fromStdString(error.what()), QString::fromStdString(error.remedy()));
}

void LineWorker::fail(SshFault fault, const QString& sentence, const QString& remedy) {
  m_jobs.offline();
  m_agent.reset();
  {
    const QMutexLocker lock(&m_mutex);
    m_transport.reset();
  }
  m_installed = false;
  m_fetchWaits |= !m_fetches.empty();
  endFetches(sentence);
  endQuestions(sentence);
  endSweep(sentence);
  if (m_checking) {
    CheckLine line{.group = "Connection",
                   .name = fault == SshFault::hostKey   ? "Host key"
                           : fault == SshFault::refused ? "Engine"
                                                        : "SSH",
                   .status = CheckLine::Status::failed,
                   .finding = sentence};
    line.why = QStringLiteral("Nothing else can be checked before this is mended.");
    line.remedy = remedy.isEmpty() ? remedyOf(fault, sentence) : remedy;
    say(line);
    finishCheck();
  }
  if (!m_wanted || m_calledOff) return tell(LineState::offline, sentence);
  // A line with jobs, or with a file on its way, is kept up. One that nobody needs is taken up again when it is asked
  // for something.
  const bool needed = !m_jobs.isEmpty() || m_fetchWaits;
  if (fault == SshFault::unreachable && !needed && std::exchange(m_reached, false))
    return tell(LineState::offline, sentence);
  if (fault != SshFault::unreachable || !needed) {
    // What is wrong with the engine or its folder there may pass: a full disk, a file server that hangs.
    if (fault == SshFault::refused && needed) m_retry.start(m_options.longestWaitMs);
    return tell(LineState::needsPerson, sentence);
  }
  tell(LineState::waiting, sentence, QDateTime::currentMSecsSinceEpoch() + m_waitMs);
  m_retry.start(m_waitMs);
  m_waitMs = std::min(m_waitMs * 2, m_options.longestWaitMs);
}

void LineWorker::close() {
  m_wanted = m_reached = m_fetchWaits = false;
  m_retry.stop();
  m_jobs.offline();
  m_agent.reset();
  endFetches(QStringLiteral("the line was closed"));
  endQuestions(QStringLiteral("the line was closed"));
  endSweep(QStringLiteral("the line was closed"));
  {
    const QMutexLocker lock(&m_mutex);
    m_transport.reset();
  }
  tell(LineState::offline);
}

}  // namespace loom
