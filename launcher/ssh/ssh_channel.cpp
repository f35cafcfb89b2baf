#include "launcher/ssh/ssh_channel.h"

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string_view>

#include "launcher/ssh/ssh_connection.h"

namespace loom {
namespace {

constexpr qint64 kChannelComplaint = 4096;
constexpr qint64 kMostAtOnce = qint64{4} << 20;

}  // namespace

struct SshChannel::Ending {
  ssh_channel_callbacks_struct callbacks{};
  int signal = 0;
};

SshChannel::SshChannel(ssh_session_struct* session, ssh_channel_struct* channel)
    : m_session(session), m_channel(channel), m_ending(std::make_unique<Ending>()) {
  ssh_callbacks_init(&m_ending->callbacks);
  m_ending->callbacks.userdata = m_ending.get();
  m_ending->callbacks.channel_exit_signal_function = [](ssh_session, ssh_channel, const char* name, int, const char*,
                                                        const char*, void* ending) {
    int number = SIGKILL;  // one that this system has no word for
    for (int each = 1; each < NSIG; ++each)
      if (const char* known = ::sigabbrev_np(each); known && std::string_view(known) == name) number = each;
    static_cast<Ending*>(ending)->signal = number;
  };
  ssh_set_channel_callbacks(m_channel, &m_ending->callbacks);
}

SshChannel::~SshChannel() {
  ssh_remove_channel_callbacks(m_channel, &m_ending->callbacks);
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
  if (m_ending->signal > 0) return 128 + m_ending->signal;
  const int code = ssh_channel_get_exit_status(m_channel);
  return code >= 0 ? std::optional<int>(code) : std::nullopt;
}

}  // namespace loom
