#include "launcher/ssh/ssh_connection.h"

#include <fcntl.h>
#include <libssh/libssh.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "launcher/ssh/ssh_auth.h"
#include "launcher/ssh/ssh_channel.h"
#include "launcher/ssh/ssh_host_key.h"
#include "launcher/ssh/ssh_tunnel.h"

namespace loom {
namespace {

constexpr int kConnectSeconds = 15;
constexpr int kSignInSeconds = 120;  // a second factor may wait on somebody's telephone
constexpr int kLookMs = 100;
constexpr int kSessionTries = 20;

// The system then notices a cable that was cut within seconds, although nothing is being sent.
void keepAlive(int socket) {
  const int on = 1, idle = 5, interval = 3, probes = 4;
  const unsigned silence = 20000;
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence, sizeof silence);
}

// The addresses of a name. The system offers no way to call a look-up off: it has a thread of its own, which may go on
// when nobody waits for it any more.
struct LookUp {
  std::mutex mutex;
  std::condition_variable over;
  bool done = false;
  int fault = 0;
  addrinfo* found = nullptr;
  ~LookUp() {
    if (found) ::freeaddrinfo(found);
  }
};

std::shared_ptr<LookUp> lookUp(const std::string& host, const std::string& port, const std::atomic<bool>& aborted) {
  const auto look = std::make_shared<LookUp>();
  std::thread([look, host, port] {
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    const int fault = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
    const std::lock_guard lock(look->mutex);
    look->fault = fault;
    look->found = fault == 0 ? found : nullptr;
    look->done = true;
    look->over.notify_all();
  }).detach();
  std::unique_lock lock(look->mutex);
  while (!look->done && !aborted) look->over.wait_for(lock, std::chrono::milliseconds(kLookMs));
  if (!look->done) throw SshError(SshFault::unreachable, "it was called off");
  return look;
}

}  // namespace

SshConnection::SshConnection(SshTarget target, SshAsk ask) : m_target(std::move(target)), m_ask(std::move(ask)) {}

SshConnection::~SshConnection() {
  if (m_session) {
    ssh_silent_disconnect(m_session);
    ssh_free(m_session);  // closes the socket
  } else if (m_socket >= 0) {
    ::close(m_socket);
  }
}

void SshConnection::abort() {
  m_aborted = true;
  if (SshConnection* const via = m_via) via->abort();
  if (const int socket = m_socket; socket >= 0) ::shutdown(socket, SHUT_RDWR);
}

std::string SshConnection::fault() const {
  return m_aborted ? "it was called off" : ssh_get_error(m_session);
}

QString SshConnection::jumps() const {
  QStringList names;
  for (const SshTarget& each : m_target.jumps) names << each.shown();
  return names.join(QStringLiteral(", "));
}

int SshConnection::connectSocket(const QString& host, int port) {
  const auto look = lookUp(host.toStdString(), std::to_string(port), m_aborted);
  if (look->fault != 0)
    throw SshError(SshFault::unreachable,
                   fmt::format("{} has no address: {}; look at the name, or at this machine's network",
                               host.toStdString(), ::gai_strerror(look->fault)));
  const int seconds = m_target.connectTimeout > 0 ? m_target.connectTimeout : kConnectSeconds;
  std::string why = "no address";
  for (const addrinfo* each = look->found; each; each = each->ai_next) {
    const int socket = ::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) continue;
    int number = ::connect(socket, each->ai_addr, each->ai_addrlen) == 0 ? 0 : errno;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    while (number == EINPROGRESS && !m_aborted) {
      pollfd file{socket, POLLOUT, 0};
      if (::poll(&file, 1, kLookMs) > 0) {
        socklen_t length = sizeof number;
        ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &number, &length);
      } else if (std::chrono::steady_clock::now() > end) {
        number = ETIMEDOUT;
      }
    }
    if (number == 0) {
      keepAlive(socket);
      return socket;
    }
    ::close(socket);
    why = m_aborted             ? "it was called off"
          : number == ETIMEDOUT ? fmt::format("no answer within {} s", seconds)
                                : std::strerror(number);
    if (m_aborted) break;
  }
  throw SshError(SshFault::unreachable, fmt::format("{} port {} cannot be reached: {}", host.toStdString(), port, why));
}

void SshConnection::applyOptions(int socket) {
  m_session = ssh_new();
  if (!m_session) {
    ::close(socket);
    throw SshError(SshFault::unreachable, "there is not enough memory for a connection");
  }
  const auto text = [this](ssh_options_e option, const QString& value) {
    if (!value.isEmpty() && ssh_options_set(m_session, option, value.toUtf8().constData()) != SSH_OK)
      throw SshError(SshFault::refused, fmt::format("~/.ssh/config asks for '{}', which cannot be used here: {}",
                                                    value.toStdString(), ssh_get_error(m_session)));
  };
  const int off = 0;
  const long seconds = m_target.connectTimeout > 0 ? m_target.connectTimeout : kConnectSeconds;
  const bool alias = !m_target.hostKeyAlias.isEmpty();
  // Under this name and port the key is looked up, and entered.
  const int port = alias ? 22 : m_target.port;
  ssh_options_set(m_session, SSH_OPTIONS_PROCESS_CONFIG, &off);  // hosts/ssh_config.h has read it
  text(SSH_OPTIONS_HOST, alias ? m_target.hostKeyAlias : m_target.host);
  text(SSH_OPTIONS_USER, m_target.user);
  ssh_options_set(m_session, SSH_OPTIONS_PORT, &port);
  ssh_options_set(m_session, SSH_OPTIONS_TIMEOUT, &seconds);
  text(SSH_OPTIONS_KNOWNHOSTS, m_target.knownHosts.value(0));
  text(SSH_OPTIONS_CIPHERS_C_S, m_target.ciphers);
  text(SSH_OPTIONS_CIPHERS_S_C, m_target.ciphers);
  text(SSH_OPTIONS_HMAC_C_S, m_target.macs);
  text(SSH_OPTIONS_HMAC_S_C, m_target.macs);
  text(SSH_OPTIONS_KEY_EXCHANGE, m_target.keyExchange);
  text(SSH_OPTIONS_HOSTKEYS,
       m_target.hostKeyAlgorithms.isEmpty() ? preferredHostKeys(m_target) : m_target.hostKeyAlgorithms);
  text(SSH_OPTIONS_PUBLICKEY_ACCEPTED_TYPES, m_target.publicKeyTypes);
  if (m_target.agent != "none") text(SSH_OPTIONS_IDENTITY_AGENT, m_target.agent);
  ssh_options_set(m_session, SSH_OPTIONS_FD, &socket);
}

void SshConnection::open() {
  int socket = -1;
  if (m_target.jumps.isEmpty()) {
    socket = connectSocket(m_target.host, m_target.port);
  } else {
    SshTarget last = m_target.jumps.back();
    last.jumps = m_target.jumps.mid(0, m_target.jumps.size() - 1);
    auto via = std::make_unique<SshConnection>(last, m_ask);
    m_via = via.get();
    if (m_aborted) via->abort();
    try {
      via->open();
    } catch (SshError& error) {
      m_via = nullptr;
      error.addContext("on the way to " + m_target.shown().toStdString());
      throw;
    }
    m_via = nullptr;
    m_tunnel = std::make_unique<SshTunnel>(std::move(via), m_target.host, m_target.port);
    socket = m_tunnel->takeSocket();
  }
  m_socket = socket;
  if (m_aborted) ::shutdown(socket, SHUT_RDWR);
  applyOptions(socket);
  if (ssh_connect(m_session) != SSH_OK)
    throw SshError(SshFault::unreachable,
                   fmt::format("{} does not speak SSH as it should: {}", m_target.shown().toStdString(), fault()));
  checkHostKey();
  authenticate();
  ssh_set_blocking(m_session, 0);
}

void SshConnection::checkHostKey() {
  m_fingerprint = loom::checkHostKey(m_session, m_target, m_ask);
}

void SshConnection::authenticate() {
  const long seconds = kSignInSeconds;
  ssh_options_set(m_session, SSH_OPTIONS_TIMEOUT, &seconds);
  m_method = loom::authenticate(m_session, m_target, m_ask);
  const long usual = kConnectSeconds;
  ssh_options_set(m_session, SSH_OPTIONS_TIMEOUT, &usual);
}

std::unique_ptr<ByteChannel> SshConnection::execute(const QByteArray& command) {
  ssh_set_blocking(m_session, 1);
  ssh_channel channel = ssh_channel_new(m_session);
  bool isSession = channel && ssh_channel_open_session(channel) == SSH_OK;
  // Where only one program at a time is allowed (MaxSessions 1), the one before it may be ending still.
  for (int tries = 0; !isSession && channel && ssh_is_connected(m_session) && !m_aborted && tries < kSessionTries;
       ++tries) {
    ::poll(nullptr, 0, kLookMs);
    ssh_channel_free(channel);
    channel = ssh_channel_new(m_session);
    isSession = channel && ssh_channel_open_session(channel) == SSH_OK;
  }
  const bool open = isSession && ssh_channel_request_exec(channel, command.constData()) == SSH_OK;
  ssh_set_blocking(m_session, 0);
  if (open) return std::make_unique<SshChannel>(m_session, channel);
  const std::string why = fault();
  if (channel) ssh_channel_free(channel);
  throw SshError(ssh_is_connected(m_session) ? SshFault::refused : SshFault::unreachable,
                 fmt::format("{} starts no program for us: {}", m_target.shown().toStdString(), why));
}

}  // namespace loom
