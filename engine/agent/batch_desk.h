#pragma once
// One question to a batch system for all jobs that are looked at, asked by a thread of its own: a system that hangs
// holds up nobody, and a hundred jobs cost one call. A new job, and one whose files say more than the last answer, is
// asked about soon; otherwise the pause grows while nothing changes.
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "engine/agent/scheduler.h"

namespace loom {

struct DeskPace {
  std::chrono::milliseconds soon{2000};      // at least between two questions
  std::chrono::milliseconds least{15000};    // the pause after a change
  std::chrono::milliseconds most{60000};     // and after a while without any
  std::chrono::milliseconds forget{300000};  // what nobody has looked at for so long is no longer asked for
};

class BatchDesk {
 public:
  explicit BatchDesk(DeskPace pace = {}) : m_pace(pace) {}
  ~BatchDesk();  // waits for an answer that is due
  BatchDesk(const BatchDesk&) = delete;
  BatchDesk& operator=(const BatchDesk&) = delete;

  // What is known, with `asked` 0 where nothing is yet. Never waits. Any thread.
  BatchState look(const Scheduler& scheduler, const std::string& number, double since);
  // What the system says at this moment; waits for it. Any thread.
  BatchState ask(const Scheduler& scheduler, const std::string& number);
  // Something was done to the job: what is known of it is out of date.
  void touch(const Scheduler& scheduler, const std::string& number);
  // One that is held waits its turn again, which the desk's own thread tells the system; what came of it, its next
  // state says. Never waits. Any thread.
  void release(const Scheduler& scheduler, const std::string& number);

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    BatchState state;
    Clock::time_point looked{};
    double wanted = 0, served = 0;  // an answer from after `wanted` is looked for; what was so when it was last asked
    bool fresh = true;              // not asked yet
    bool over = false;              // it has ended there: asked again only on demand
    bool release = false;           // it is to be released before it is asked about
    bool releasing = false;         // until an answer from after that is there
  };
  using Jobs = std::map<std::string, Entry>;
  void serve();
  void wake();                                // with m_mutex held
  bool take(Entry& entry, BatchState state);  // whether it changed

  DeskPace m_pace;
  std::mutex m_mutex;
  std::condition_variable m_wake;
  std::map<const Scheduler*, Jobs> m_jobs;
  bool m_ending = false, m_urgent = false;
  std::thread m_thread;
};

}  // namespace loom
