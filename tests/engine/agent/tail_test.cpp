// What following a job costs, and files that become shorter.
#include "engine/agent/tail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
#include "tests/engine/run/folder.h"

using namespace loom;
using namespace std::chrono_literals;
using testing::HasSubstr;

namespace {

// Counts how often files of a folder are opened.
class Openings {
 public:
  explicit Openings(const std::filesystem::path& folder) : m_file(::inotify_init1(IN_NONBLOCK)) {
    ::inotify_add_watch(m_file, folder.c_str(), IN_OPEN);
  }
  ~Openings() { ::close(m_file); }
  int count() {
    alignas(inotify_event) char buffer[65536];
    for (ssize_t got; (got = ::read(m_file, buffer, sizeof buffer)) > 0;)
      for (ssize_t at = 0; at < got;) {
        const auto* const event = reinterpret_cast<const inotify_event*>(buffer + at);
        m_count += event->len > 0;  // of the folder itself not
        at += static_cast<ssize_t>(sizeof(inotify_event)) + event->len;
      }
    return m_count;
  }

 private:
  int m_file, m_count = 0;
};

class TailTest : public testing::Test {
 protected:
  TestFolder m_folder{"tail"};
  JobFolder m_job{m_folder.path()};
  std::string m_events, m_log, m_warning;
  std::int64_t m_logEnd = 0;
  int m_cuts = 0;
  Tell m_tell = [this](const Json& header, std::string_view bytes) {
    if (header.contains("events")) m_events += bytes;
    if (header.contains("log")) {
      EXPECT_EQ(header["log"], m_logEnd);
      m_log += bytes;
      m_logEnd += static_cast<std::int64_t>(bytes.size());
    }
    if (header.contains("cut")) m_events.resize(header["cut"].get<std::size_t>()), ++m_cuts;
    if (header.contains("warning")) m_warning = header["warning"];
  };

  void SetUp() override {
    m_job.writeLaunch({{"loom_launch", 1}, {"id", "a"}, {"start", 1}});
    m_job.noteProcess(1);
    append("log.txt", "hello\n");
    append("events.jsonl", "{\"v\":1,\"seq\":0,\"kind\":\"step\"}\n");
  }
  void append(const char* name, const std::string& text) const {
    std::ofstream(m_folder.path() / name, std::ios::app) << text;
  }
  void lookFor(JobTail& tail, std::chrono::milliseconds time) {
    for (const auto end = JobTail::Clock::now() + time; JobTail::Clock::now() < end; std::this_thread::sleep_for(2ms))
      tail.look("a", m_tell);
  }
};

TEST_F(TailTest, ASilentJobIsLookedAtSeldomAndThroughOpenFiles) {
  JobTail tail(m_job, 0, 0, {});
  lookFor(tail, 200ms);
  EXPECT_EQ(m_log, "hello\n");
  while (tail.next() - JobTail::Clock::now() < 1s) lookFor(tail, 20ms);  // it has become patient
  Openings openings(m_folder.path());
  lookFor(tail, 3s);
  EXPECT_LT(openings.count(), 40);  // some 73 a second before
  append("log.txt", "more\n");
  append("events.jsonl", "{\"v\":1,\"seq\":1,\"kind\":\"step\"}\n");
  while (m_log.size() < 11) lookFor(tail, 20ms);
  EXPECT_THAT(m_events, HasSubstr("\"seq\":1"));
  EXPECT_LT(tail.next() - JobTail::Clock::now(), 1s);
}

TEST_F(TailTest, ALogThatBecomesShorterIsSaidAndGoesOn) {
  JobTail tail(m_job, 0, 0, {});
  lookFor(tail, 100ms);
  writeFileAtomically(m_folder.path() / "log.txt", "x\n");
  while (m_warning.empty()) lookFor(tail, 20ms);
  EXPECT_THAT(m_warning, HasSubstr("shorter"));
  append("log.txt", "next\n");
  while (m_log.size() < 11) lookFor(tail, 20ms);
  EXPECT_EQ(m_log, "hello\nnext\n");  // behind what the launcher has
}

TEST_F(TailTest, EventsThatBecomeShorterEndItOnlyWhenTheyStaySo) {
  JobTail tail(m_job, 0, 0, {});
  lookFor(tail, 100ms);
  const std::string whole = readFile(m_job.run().eventsFile());
  writeFileAtomically(m_job.run().eventsFile(), "");  // an old length, as a network file system may show it
  lookFor(tail, 1500ms);
  writeFileAtomically(m_job.run().eventsFile(), whole + whole);
  while (m_events.size() < 2 * whole.size()) lookFor(tail, 20ms);
  writeFileAtomically(m_job.run().eventsFile(), "");
  EXPECT_THROW(lookFor(tail, 30s), Error);
}

// A node that lost its power lost the end of the log with it; the run goes on from its checkpoint in the same file.
TEST_F(TailTest, ALogThatLostItsEndAndGrewAgainIsToldFromWhereItIsAnother) {
  const auto line = [](int number, int attempt) {
    return fmt::format("{{\"v\":1,\"seq\":{},\"attempt\":{},\"kind\":\"step\"}}\n", number, attempt);
  };
  std::string whole;
  for (int i = 0; i < 3000; ++i) whole += line(i, 1);
  writeFileAtomically(m_job.run().eventsFile(), whole);
  const auto grown = [&] {
    std::string text = whole.substr(0, whole.size() - 3000);
    for (int i = 0; i < 200; ++i) text += line(5000 + i, 2);
    return text;
  }();
  {  // while it is followed
    JobTail tail(m_job, 0, 0, LogMarks());
    while (m_events.size() < whole.size()) lookFor(tail, 20ms);
    writeFileAtomically(m_job.run().eventsFile(), grown);
    append("events.jsonl", line(6000, 2));
    while (m_events.size() < grown.size() + 10) lookFor(tail, 20ms);
    EXPECT_EQ(m_events, readFile(m_job.run().eventsFile()));
    EXPECT_EQ(m_cuts, 1);
  }
  // By a launcher that comes later: from the last of its marks that holds.
  m_events = whole;
  writeFileAtomically(m_folder.path() / "had", whole);
  LogMarks marks;
  for (const std::size_t at : {whole.size() / 4, whole.size() / 2, whole.size()})
    marks.emplace_back(at, logMark(m_folder.path() / "had", static_cast<std::int64_t>(at)));
  JobTail tail(m_job, static_cast<std::int64_t>(whole.size()), m_logEnd, marks);
  while (m_events.size() < grown.size() + 10 || m_cuts < 2) lookFor(tail, 20ms);
  EXPECT_EQ(m_events, readFile(m_job.run().eventsFile()));
}

}  // namespace
