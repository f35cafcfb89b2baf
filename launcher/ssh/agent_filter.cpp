#include "launcher/ssh/agent_filter.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <QFile>
#include <QtEndian>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace loom {
namespace {

// draft-miller-ssh-agent: every message is a length and as many bytes, the first of them says what it is.
constexpr char kIdentitiesAnswer = 12;
constexpr quint32 kLongest = 1 << 20;

bool readAll(int file, char* into, std::size_t size) {
  while (size > 0) {
    const ssize_t got = ::read(file, into, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

std::optional<QByteArray> readMessage(int file) {
  quint32 length = 0;
  if (!readAll(file, reinterpret_cast<char*>(&length), sizeof length)) return {};
  length = qFromBigEndian(length);
  if (length > kLongest) return {};
  QByteArray message(static_cast<qsizetype>(length), Qt::Uninitialized);
  if (!readAll(file, message.data(), length)) return {};
  return message;
}

QByteArray number(quint32 value) {
  value = qToBigEndian(value);
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

bool writeMessage(int file, const QByteArray& message) {
  const QByteArray bytes = number(static_cast<quint32>(message.size())) + message;
  for (qsizetype sent = 0; sent < bytes.size();) {
    const ssize_t put =
        ::send(file, bytes.constData() + sent, static_cast<std::size_t>(bytes.size() - sent), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    sent += put;
  }
  return true;
}

// The text at `at`, which moves behind it; nothing where the message ends before.
std::optional<QByteArray> take(const QByteArray& message, qsizetype& at) {
  if (message.size() - at < 4) return {};
  const auto length = static_cast<qsizetype>(qFromBigEndian<quint32>(message.constData() + at));
  if (message.size() - at - 4 < length) return {};
  const QByteArray text = message.mid(at + 4, length);
  at += 4 + length;
  return text;
}

}  // namespace

AgentFilter::AgentFilter(const QString& socket, QList<QByteArray> keys) : m_keys(std::move(keys)) {
  m_keys.removeAll(QByteArray());
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  m_near = ends[0], m_far = ends[1];
  sockaddr_un place{};
  place.sun_family = AF_UNIX;
  const QByteArray name = QFile::encodeName(socket);
  m_agent = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (name.size() < static_cast<qsizetype>(sizeof place.sun_path)) std::strcpy(place.sun_path, name.constData());
  if (::connect(m_agent, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0)
    ::close(std::exchange(m_agent, -1));
  m_thread = std::thread([this] { serve(); });
}

AgentFilter::~AgentFilter() {
  if (m_agent >= 0) ::shutdown(m_agent, SHUT_RDWR);
  if (m_far >= 0) ::shutdown(m_far, SHUT_RDWR);
  if (m_thread.joinable()) m_thread.join();
  for (const int each : {m_agent, m_near, m_far})
    if (each >= 0) ::close(each);
}

int AgentFilter::takeSocket() {
  return std::exchange(m_near, -1);
}

void AgentFilter::serve() {
  while (const auto question = readMessage(m_far)) {
    std::optional<QByteArray> answer;
    if (m_agent >= 0 && writeMessage(m_agent, *question)) answer = readMessage(m_agent);
    if (!answer) answer = QByteArray(1, kIdentitiesAnswer) + number(0);
    if (!writeMessage(m_far, shown(*answer))) return;
  }
}

// Of a list of keys those that are wanted; anything else as it is.
QByteArray AgentFilter::shown(const QByteArray& answer) const {
  if (answer.isEmpty() || answer[0] != kIdentitiesAnswer) return answer;
  QByteArray kept;
  quint32 count = 0;
  qsizetype at = 5;
  while (const auto key = take(answer, at)) {
    const auto comment = take(answer, at);
    if (!comment) break;
    if (!m_keys.contains(*key)) continue;
    ++count;
    kept += number(static_cast<quint32>(key->size())) + *key + number(static_cast<quint32>(comment->size())) + *comment;
  }
  return QByteArray(1, kIdentitiesAnswer) + number(count) + kept;
}

}  // namespace loom
