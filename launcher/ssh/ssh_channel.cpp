#include "launcher/ssh/ssh_channel.h"

#include <libssh/libssh.h>

#include <algorithm>

#include "launcher/ssh/ssh_connection.h"

namespace loom {
namespace {

constexpr qint64 kChannelComplaint = 4096;
constexpr qint64 kMostAtOnce = qint64{4} << 20;

}  // namespace

SshChannel::~SshChannel() {
  ssh_channel_free(m_channel);
}

int SshChannel::descriptor() const {
  return ssh_get_fd(m_session);
}

void SshChannel::broken() const {
  const char* why = ssh_get_error(m_session);
  throw SshError(SshFault::unreachable,
                 fmt::format("the connection broke: {}", why && *why ? why : "the far side closed it"));
}

QByteArray SshChannel::read() {
  QByteArray all;
  char buffer[65536];
  while (all.size() < kMostAtOnce) {
    const int got = ssh_channel_read_nonblocking(m_channel, buffer, sizeof buffer, 0);
    const int words = ssh_channel_read_nonblocking(
        m_channel, buffer + (got > 0 ? got : 0),
        static_cast<std::uint32_t>(sizeof buffer - (got > 0 ? static_cast<std::size_t>(got) : 0)), 1);
    if (words > 0) m_complaint = (m_complaint + QByteArray(buffer + std::max(got, 0), words)).right(kChannelComplaint);
    if (got > 0) all.append(buffer, got);
    if (got == SSH_ERROR && all.isEmpty()) broken();
    if (got <= 0 && words <= 0) break;
  }
  if (all.isEmpty() && !ssh_is_connected(m_session)) broken();
  return all;
}

qint64 SshChannel::write(const char* data, qint64 size) {
  if (ssh_channel_is_closed(m_channel)) return size;  // its end is told by ended()
  const int put = ssh_channel_write(m_channel, data, static_cast<std::uint32_t>(std::min<qint64>(size, 1 << 18)));
  if (put == SSH_AGAIN) return 0;
  if (put < 0) broken();
  return put;
}

void SshChannel::closeInput() {
  ssh_channel_send_eof(m_channel);
}

// The far side tells the exit code between the end of the output and the end of the channel.
bool SshChannel::ended() const {
  return ssh_channel_is_eof(m_channel) && ssh_channel_poll(m_channel, 0) <= 0 &&
         (ssh_channel_is_closed(m_channel) || exitCode());
}

std::optional<int> SshChannel::exitCode() const {
  const int code = ssh_channel_get_exit_status(m_channel);
  return code >= 0 ? std::optional<int>(code) : std::nullopt;
}

}  // namespace loom
