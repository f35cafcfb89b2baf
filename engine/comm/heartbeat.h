#pragma once
// A rank's signs of life, for the supervisor beside mpirun: a line a second on standard error, which mpirun brings from
// any host without a connection of ours. Lines of other text pass by.
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "engine/comm/communicator.h"

namespace loom {

// Set for ranks that have a supervisor; to kBatchSupervised where a batch system's SIGTERM is not to end them.
inline constexpr const char* kSupervisedVariable = "GRADLOOM_SUPERVISED";
inline constexpr const char* kBatchSupervised = "batch";
inline constexpr std::string_view kHeartbeatMark = "@loom-rank ";

struct RankSign {
  int rank = 0, ranks = 1;
  std::string host;
  long pid = 0;
  std::int64_t step = 0;
  std::uint64_t entered = 0, left = 0, progress = 0;
  std::string operation, subject;
  bool done = false;   // it left the job in order
  std::string failed;  // why it ends the job; empty otherwise
};
std::string toLine(const RankSign& sign);                  // with the mark, without a newline
std::optional<RankSign> parseSign(std::string_view line);  // nothing for other text

// Writes lines while it lives, from a thread of its own; does nothing unless a supervisor started the job.
class Heartbeat {
 public:
  Heartbeat(const Communicator& communicator, std::string host);
  ~Heartbeat();
  void failed(const std::string& message);  // the last word before the job is ended

 private:
  void write(bool done, const std::string& failed);
  const Communicator& m_communicator;
  std::string m_host;
  std::mutex m_mutex;
  std::condition_variable m_wake;
  bool m_ending = false;
  std::thread m_thread;
};

}  // namespace loom
