#pragma once
// What the soak is made of: a place where runs train, an IDE in front of it in a process of its own, and a lane, which
// lets faults befall one run after another there and asks what must hold. Plain C++ but for the IDE: lanes are threads.
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/json_fwd.h"
#include "engine/run/run_folder.h"

namespace loom::soak {

using Path = std::filesystem::path;
using Clock = std::chrono::steady_clock;

enum class Kind { local, hosts, slurm };
const char* toText(Kind kind);

// A folder with everything of one lane. Below `disk`, a small file system of its own, is what may run out of room; it
// lies among what cluster.sh takes away.
struct Place {
  Kind kind;
  Path cluster;  // of the whole test: up/, slurm/
  Path folder;
  Path disk() const { return cluster / "up" / ("disk-" + std::string(toText(kind))); }
  Path there() const { return disk() / "there"; }
  // Where the run itself is written: on the host, or here.
  RunFolder truth(const std::string& run) const {
    return {(kind == Kind::local ? disk() / "runs" : there() / "runs") / run};
  }
  int ranks() const { return kind == Kind::local ? 1 : 2; }
};

// `test_cluster_soak --ide KIND CLUSTER FOLDER`: the launcher, its store and its line, as a window has them. Obeys
// lines (submit RUN, resume RUN, stop RUN, kill RUN, check RUN) and tells lines: {"run", "state", "step", "attempt",
// "message", "doubt"}, {"checked": RUN, "fault"}, {"refused": sentence}.
int ideMain(int argc, char** argv);

// The other end of it.
class Ide {
 public:
  explicit Ide(const Place& place);
  ~Ide();  // as a window that is closed
  void kill();
  void say(const std::string& line) const;
  struct Seen {
    std::string state = "none", message, doubt;
    std::int64_t step = 0, attempt = 0;
  };
  Seen seen(const std::string& run) const;
  std::optional<std::string> checked(const std::string& run) const;  // of the last check; empty = nothing is wrong

 private:
  void listen();
  void take(const Json& line);
  pid_t m_process = -1;
  int m_in = -1, m_out = -1;
  mutable std::mutex m_mutex;
  std::map<std::string, Seen> m_seen;
  std::map<std::string, std::string> m_checked;
  std::thread m_thread;
};

// What all lanes have in common.
struct Course {
  std::uint64_t seed = 1;
  int faults = 12;
  Clock::time_point until;  // no fault begins later
  std::atomic<int> done{0};
  std::function<Path(int ranks)> undisturbed;  // a checkpoint of a run that nothing befell
  std::mutex mutex;
  std::vector<std::string> violations;
  std::map<std::string, int> counts;
  bool goesOn() const { return done < faults && Clock::now() < until; }
};

class Lane {
 public:
  Lane(Place place, Course& course);
  void go();

  // For faults.
  const Place& place() const { return m_place; }
  Ide& ide() { return *m_ide; }
  const std::string& run() const { return m_run; }
  Ide::Seen seen() const { return m_ide->seen(m_run); }
  void openIde() { m_ide = std::make_unique<Ide>(m_place); }
  std::unique_ptr<Ide> anotherIde() { return std::exchange(m_ide, std::make_unique<Ide>(m_place)); }
  int random(int from, int to) { return std::uniform_int_distribution(from, to)(m_random); }
  void pause(int fromMs, int toMs);
  std::vector<pid_t> ranks() const;  // of the newest attempt that its log tells of
  enum class Word { first, any };
  pid_t process(const char* word, Word which = Word::any) const;  // of the run, with this in its command line; 0 = none
  std::string batchNumber() const;
  static bool command(const std::string& line);  // by a shell; its output goes nowhere

 private:
  bool await(int seconds, const std::function<bool()>& what) const;
  void train();
  bool recovers(std::int64_t before);
  void administrate();
  void tellEvidence() const;
  void finish();
  std::string nameOf(int run) const;
  void checkLog();
  void checkWeights();
  void checkNothingIsLeft();
  std::vector<pid_t> processes() const;
  void violated(const std::string& what);
  void say(const std::string& text) const;

  Place m_place;
  Course& m_course;
  std::mt19937_64 m_random;
  std::unique_ptr<Ide> m_ide;
  std::string m_run;
  std::vector<std::string> m_befell;
  Clock::time_point m_administrated;
  int m_runs = 0;
  bool m_lost = false;  // a run that does not recover ends the lane
};

struct Fault {
  const char* name;
  std::vector<Kind> kinds;
  std::function<void(Lane&)> befall;  // and what belongs to it is mended again when this returns
};
const std::vector<Fault>& faults();

}  // namespace loom::soak
