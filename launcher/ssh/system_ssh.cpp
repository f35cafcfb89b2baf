#include "launcher/ssh/system_ssh.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QFile>
#include <QRegularExpression>
#include <csignal>

#include "launcher/ssh/local_transport.h"
#include "launcher/ssh/ssh_auth.h"

namespace loom {
namespace {

constexpr int kQuestionMs = 50;
constexpr int kOwnFault = 255;  // how ssh ends when it is not the far program that ended
constexpr int kTakeTries = 100;

// Writes what is asked beside itself and hands on what comes through the pipe: "+answer", or anything else for none.
constexpr const char* kAskpass = R"(#!/bin/sh
d=${0%/*}
printf '%s\n%s' "$SSH_ASKPASS_PROMPT" "$1" > "$d/question.new" && mv "$d/question.new" "$d/question" || exit 1
IFS= read -r answer < "$d/answer"
case $answer in +*) printf '%s\n' "${answer#+}" ;; *) exit 1 ;; esac
)";

}  // namespace

bool isPlainPassword(const QString& prompt) {
  static const QRegularExpression plain("^(\\([^()]*\\)\\s*)?([^\\s]+'s\\s+)?password(\\s+for\\s+[^\\s]+)?\\s*:?$",
                                        QRegularExpression::CaseInsensitiveOption);
  return plain.match(prompt.trimmed()).hasMatch();
}

// The master ends with its input closed and its socket gone; the channels are the caller's and end before.
SystemSsh::~SystemSsh() {
  if (!m_master) return;
  try {
    const auto stop = startProgram(words({"-O", "exit"}));
    for (int tries = 0; tries < kTakeTries && !stop->ended(); ++tries) {
      stop->read();
      ::usleep(kQuestionMs * 100);
    }
  } catch (const Error&) {
    // It is ended with its channel then.
  }
}

QByteArrayList SystemSsh::words(const QByteArrayList& options) const {
  QByteArrayList words{"ssh",
                       "-T",
                       "-x",
                       "-o",
                       "ControlPath=" + m_folder.filePath("line").toUtf8(),
                       "-o",
                       "ControlPersist=no",
                       "-o",
                       "ClearAllForwardings=yes",
                       "-o",
                       "ConnectTimeout=15",
                       "-o",
                       "ServerAliveInterval=5",
                       "-o",
                       "ServerAliveCountMax=4"};
  if (!m_place.config.isEmpty()) words << "-F" << m_place.config.toUtf8();
  if (!m_place.user.isEmpty()) words << "-l" << m_place.user.toUtf8();
  if (m_place.port > 0) words << "-p" << QByteArray::number(m_place.port);
  if (!m_place.key.isEmpty())
    words << "-i" << QFile::encodeName(m_place.key) << "-o"
          << "IdentitiesOnly=yes";
  return words + options + QByteArrayList{"--", m_place.address.toUtf8()};
}

void SystemSsh::makeAskpass() {
  QFile script(m_folder.filePath("askpass"));
  if (!m_folder.isValid() || !script.open(QIODevice::WriteOnly) || script.write(kAskpass) < 0 ||
      !script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner) ||
      ::mkfifo(QFile::encodeName(m_folder.filePath("answer")).constData(), 0600) != 0)
    throw SshError(SshFault::refused, fmt::format("{} cannot be written, where ssh is to leave its questions",
                                                  m_folder.path().toStdString()));
}

void SystemSsh::open() {
  makeAskpass();
  m_master =
      startProgram(words({"-M", "-N"}),
                   {"SSH_ASKPASS=" + QFile::encodeName(m_folder.filePath("askpass")), "SSH_ASKPASS_REQUIRE=force",
                    "DISPLAY=" + (qEnvironmentVariableIsEmpty("DISPLAY") ? QByteArray("none") : qgetenv("DISPLAY"))},
                   kOwnFault);
  while (!QFile::exists(m_folder.filePath("line"))) {
    if (m_aborted) throw SshError(SshFault::unreachable, "it was called off");
    m_master->read();
    if (m_master->ended()) fail(QString::fromUtf8(m_master->complaint()));
    if (QFile::exists(m_folder.filePath("question"))) answerQuestion();
    ::poll(nullptr, 0, kQuestionMs);
  }
}

SshQuestion SystemSsh::questionOf(const QByteArray& hint, const QString& prompt) {
  const QString host = (m_place.user.isEmpty() ? QString() : m_place.user + '@') + m_place.address;
  SshQuestion question{.kind = SshQuestion::Kind::code, .host = host, .text = prompt.trimmed()};
  static const QRegularExpression key("(\\S+) key fingerprint is (SHA256:[^\\s.]+)");
  if (prompt.contains("(yes/no")) {
    const auto match = key.match(prompt);
    question.kind = SshQuestion::Kind::newHostKey;
    question.fingerprint = m_fingerprint = match.captured(1) + ' ' + match.captured(2);
    if (match.hasMatch())
      question.text = QStringLiteral("%1 is not known yet.").arg(host);  // else what ssh says is all there is
  } else if (hint == "none") {
    question.kind = SshQuestion::Kind::notice;  // a key that has to be touched
  } else if (prompt.contains("passphrase", Qt::CaseInsensitive)) {
    question.kind = SshQuestion::Kind::passphrase;
  } else if (isPlainPassword(prompt)) {
    question.kind = SshQuestion::Kind::password;
  }
  return question;
}

void SystemSsh::answerQuestion() {
  QFile file(m_folder.filePath("question"));
  if (!file.open(QIODevice::ReadOnly)) return;
  const QByteArray hint = file.readLine().trimmed();
  SshQuestion question = questionOf(hint, QString::fromUtf8(file.readAll()));
  file.remove();
  // ssh asks in the same words when an answer did not do.
  if (question.kind != SshQuestion::Kind::notice && m_asked.contains(question.text))
    question.refused = refusedWords(question.kind, question.host);
  m_asked << question.text;
  const auto answer = m_ask(question);
  if (question.kind == SshQuestion::Kind::notice) return;  // ssh takes its askpass away itself
  QByteArray line = (answer ? '+' + answer->toUtf8() : QByteArray("-")) + '\n';
  // Opened when the other end is there, which it is no more when ssh has given up meanwhile.
  int pipe = -1;
  for (int tries = 0; pipe < 0 && tries < kTakeTries && !m_aborted; ++tries) {
    pipe = ::open(QFile::encodeName(m_folder.filePath("answer")).constData(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (pipe < 0) ::poll(nullptr, 0, kQuestionMs);
  }
  if (pipe < 0) return;
  [[maybe_unused]] const auto put = ::write(pipe, line.constData(), static_cast<std::size_t>(line.size()));
  line.fill('\0');
  ::close(pipe);
}

void SystemSsh::fail(const QString& complaint) const {
  const QString said = complaint.trimmed().section('\n', -1).trimmed();
  const bool key =
      complaint.contains("Host key verification failed") || complaint.contains("IDENTIFICATION HAS CHANGED");
  const bool signIn = complaint.contains("Permission denied") || complaint.contains("authentication failures");
  throw SshError(key      ? SshFault::hostKey
                 : signIn ? SshFault::signIn
                          : SshFault::unreachable,
                 fmt::format("ssh does not reach {}: {}", m_place.address.toStdString(),
                             said.isEmpty() ? "it does not say why" : said.toStdString()));
}

std::unique_ptr<ByteChannel> SystemSsh::execute(const QByteArray& command) {
  return startProgram(words({"-o", "ControlMaster=no", "-o", "BatchMode=yes"}) << command, {}, kOwnFault);
}

}  // namespace loom
