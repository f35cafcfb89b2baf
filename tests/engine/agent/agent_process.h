#pragma once
// A `loom agent` beside the test, spoken with as a launcher would.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "engine/agent/frame.h"
#include "engine/base/json.h"

extern char** environ;

namespace loom {

class AgentProcess {
 public:
  struct Told {
    Json header;
    std::string bytes;
  };

  AgentProcess(const std::string& program, const std::string& base) {
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], 0);
    posix_spawn_file_actions_adddup2(&files, out[1], 1);
    const char* words[] = {program.c_str(), "agent", nullptr};
    if (posix_spawn(&m_process, program.c_str(), &files, nullptr, const_cast<char* const*>(words), environ) != 0)
      throw std::runtime_error("spawn");
    posix_spawn_file_actions_destroy(&files);
    ::close(in[0]), ::close(out[1]);
    m_in = in[1], m_out = out[0];
    m_hello = ask({{"verb", "hello"}, {"protocol", 1}, {"base", base}}).header;
  }
  ~AgentProcess() { hangUp(); }
  const Json& hello() const { return m_hello; }

  // As a cable that is cut: the agent is left to notice.
  void hangUp() {
    if (m_process == 0) return;
    ::close(m_in), ::close(m_out);
    ::waitpid(m_process, nullptr, 0);
    m_process = 0;
  }

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t put = ::write(m_in, bytes.data(), bytes.size());
      if (put <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
  }

  Told ask(Json request, std::string_view bytes = {}) {
    request["id"] = ++m_last;
    write(encodeFrame(request, bytes));
    Told reply;
    EXPECT_TRUE(await([&](const Told& told) {
      if (!told.header.contains("re") || told.header["re"] != m_last) return false;
      reply = told;
      return true;
    })) << request.dump();
    return reply;
  }

  // Reads until `wanted` says yes; what it declines is kept in told().
  bool await(const std::function<bool(const Told&)>& wanted, int seconds = 30) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    for (;;) {
      while (m_decoder.next()) {
        const Told told{m_decoder.header(), m_decoder.bytes()};
        if (wanted(told)) return true;
        m_told.push_back(told);
      }
      pollfd file{m_out, POLLIN, 0};
      if (std::chrono::steady_clock::now() > end || ::poll(&file, 1, 1000) < 0) return false;
      if (file.revents == 0) continue;
      char buffer[65536];
      const ssize_t got = ::read(m_out, buffer, sizeof buffer);
      if (got <= 0) return false;
      m_decoder.feed(std::string_view(buffer, static_cast<std::size_t>(got)));
    }
  }
  std::deque<Told>& told() { return m_told; }

 private:
  pid_t m_process = 0;
  int m_in = -1, m_out = -1, m_last = 0;
  FrameDecoder m_decoder{FrameDecoder::Start::afterMarker};
  std::deque<Told> m_told;
  Json m_hello;
};

}  // namespace loom
