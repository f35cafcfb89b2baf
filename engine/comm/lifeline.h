#pragma once
// Signs of life towards the ranks: a supervisor counts in a file of the run's folder, and on each host one rank reads
// it. A host that was cut off from the first one hears nothing else of it: TCP tells it only when the line is back, or
// after a quarter of an hour. A rank leaves when the counting has stopped, or another start counts there, and it has
// not moved on either meanwhile. A file that cannot be read says nothing: a file server may hang.
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "engine/comm/communicator.h"

namespace loom {

inline constexpr const char* kLifelineVariable = "GRADLOOM_LIFELINE";  // what Lifeline::word() answers

// Counts in `folder`/lifeline every two seconds while it lives, and takes the file away. Never throws: where nothing
// can be written, the ranks hear nothing and go on.
class Lifeline {
 public:
  // `patience`: how long a rank goes without it.
  Lifeline(const std::filesystem::path& folder, std::chrono::seconds patience);
  ~Lifeline();
  std::string word() const;  // "NAME:SECONDS:FILE", for the ranks

 private:
  void write();
  std::filesystem::path m_file;
  std::chrono::seconds m_patience;
  std::string m_name;
  std::uint64_t m_count = 0;
  std::mutex m_mutex;
  std::condition_variable m_wake;
  bool m_ending = false;
  std::thread m_thread;
};

struct LifelineLimits {
  std::chrono::milliseconds pause{2000};  // between two looks; a longer one was a pause of this process itself
  std::chrono::milliseconds silence{40000};
  std::chrono::milliseconds other{10000};  // while another start counts there
};

// What a rank makes of it: logic over given times alone.
class LifelineJudge {
 public:
  using Time = std::chrono::steady_clock::time_point;
  LifelineJudge(std::string name, LifelineLimits limits) : m_name(std::move(name)), m_limits(limits) {}

  // `text`: what the file holds, nothing where it cannot be read. `place`: a number that changes when the rank moves
  // on. Answers why the rank is to leave; nothing while all is well.
  std::optional<std::string> look(const std::optional<std::string>& text, std::uint64_t place, Time now);

 private:
  std::string m_name;
  LifelineLimits m_limits;
  std::string m_last;
  std::uint64_t m_place = 0;
  std::optional<Time> m_looked;
  std::chrono::steady_clock::duration m_silent{}, m_still{}, m_other{};
};

// Reads from a thread of its own while it lives and leaves the job when it must: this process ends, and so does the
// daemon of mpirun around it, which has heard as little. Does nothing unless a supervisor started the job.
class LifelineWatch {
 public:
  explicit LifelineWatch(const Communicator& communicator);
  ~LifelineWatch();

 private:
  std::mutex m_mutex;
  std::condition_variable m_wake;
  bool m_ending = false;
  std::thread m_thread;
};

}  // namespace loom
