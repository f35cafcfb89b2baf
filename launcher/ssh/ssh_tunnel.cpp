#include "launcher/ssh/ssh_tunnel.h"

#include <fcntl.h>
#include <libssh/libssh.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "launcher/ssh/ssh_connection.h"

namespace loom {
namespace {

constexpr std::size_t kHeld = std::size_t{1} << 20;  // bytes that wait for one side before the other is read on

}  // namespace

SshTunnel::SshTunnel(std::unique_ptr<SshConnection> via, const QString& host, int port) : m_via(std::move(via)) {
  const auto session = m_via->handle();
  ssh_set_blocking(session, 1);  // until the channel stands
  m_channel = ssh_channel_new(session);
  if (!m_channel || ssh_channel_open_forward(m_channel, host.toUtf8().constData(), port, "127.0.0.1", 0) != SSH_OK) {
    const std::string why = ssh_get_error(session);
    if (m_channel) ssh_channel_free(m_channel);
    throw SshError(SshFault::unreachable,
                   fmt::format("the jump host {} does not reach {}:{}: {}", m_via->target().shown().toStdString(),
                               host.toStdString(), port, why));
  }
  int ends[2];
  m_stop = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 || m_stop < 0) {
    ssh_channel_free(m_channel);
    throw SshError(SshFault::unreachable, "no socket is left for the way through the jump host");
  }
  m_near = ends[0], m_far = ends[1];
  ::fcntl(m_far, F_SETFL, O_NONBLOCK);
  ssh_set_blocking(session, 0);
  m_thread = std::thread([this] { pump(); });
}

SshTunnel::~SshTunnel() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto told = ::write(m_stop, &one, sizeof one);
  m_thread.join();
  ssh_channel_free(m_channel);
  for (const int each : {m_near, m_far, m_stop})
    if (each >= 0) ::close(each);
}

int SshTunnel::takeSocket() {
  return std::exchange(m_near, -1);
}

void SshTunnel::pump() {
  const auto session = m_via->handle();
  std::string out, in;  // to the far host, to our side
  bool ended = false;
  while (!ended) {
    char buffer[32768];
    while (in.size() < kHeld) {
      const int got = ssh_channel_read_nonblocking(m_channel, buffer, sizeof buffer, 0);
      if (got > 0)
        in.append(buffer, static_cast<std::size_t>(got));
      else {
        ended = got == SSH_ERROR || ssh_channel_is_eof(m_channel) || !ssh_is_connected(session);
        break;
      }
    }
    while (!in.empty()) {
      const ssize_t put = ::send(m_far, in.data(), in.size(), MSG_NOSIGNAL);
      if (put > 0)
        in.erase(0, static_cast<std::size_t>(put));
      else {
        ended |= put < 0 && errno != EAGAIN && errno != EINTR;
        break;
      }
    }
    bool stuck = false;
    while (!out.empty() && !ended) {
      const int put = ssh_channel_write(m_channel, out.data(),
                                        static_cast<std::uint32_t>(std::min<std::size_t>(out.size(), 32768)));
      if (put > 0)
        out.erase(0, static_cast<std::size_t>(put));
      else {
        ended |= put != SSH_AGAIN && put != 0;
        stuck = true;
        break;
      }
    }
    if (ended) break;
    const bool pending = (ssh_get_status(session) & SSH_WRITE_PENDING) != 0;
    pollfd files[3] = {{ssh_get_fd(session), static_cast<short>(POLLIN | (pending ? POLLOUT : 0)), 0},
                       {m_far, static_cast<short>((out.size() < kHeld ? POLLIN : 0) | (in.empty() ? 0 : POLLOUT)), 0},
                       {m_stop, POLLIN, 0}};
    ::poll(files, 3, stuck ? 20 : 1000);
    if (files[2].revents) break;
    if (files[1].revents & (POLLIN | POLLHUP)) {
      const ssize_t got = ::recv(m_far, buffer, sizeof buffer, 0);
      if (got > 0)
        out.append(buffer, static_cast<std::size_t>(got));
      else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        break;
    }
  }
  ::shutdown(m_far, SHUT_RDWR);
}

}  // namespace loom
