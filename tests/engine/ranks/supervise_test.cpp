// The whole thing from outside: mpirun starts ranks of the program under its supervisor, one of them is killed or
// stopped, and the run's last word names it.
#include <fcntl.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include "engine/base/files.h"
#include "engine/comm/reductions/reduction.h"
#include "engine/run/exit_code.h"
#include "engine/run/process.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(120);  // for a machine with much else to do

// A job in a process group of its own, which is gone when this is.
class Started {
 public:
  Started(const Workshop& workshop, std::vector<std::string> words) : m_folder(workshop.path()) {
    m_pid = ::fork();
    if (m_pid == 0) {
      ::setpgid(0, 0);
      if (::chdir(m_folder.c_str()) != 0) ::_exit(120);
      const int out = ::open("job.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);
      ::dup2(out, 1);
      ::dup2(out, 2);
      std::vector<char*> pointers;
      for (std::string& word : words) pointers.push_back(word.data());
      pointers.push_back(nullptr);
      ::execv(pointers[0], pointers.data());
      ::_exit(121);
    }
  }
  ~Started() {
    if (m_pid > 0) {
      ::kill(-m_pid, SIGKILL);
      ::waitpid(m_pid, nullptr, 0);
    }
  }
  int wait() {
    int status = 0;
    for (const auto until = Clock::now() + kPatience; Clock::now() < until;
         std::this_thread::sleep_for(std::chrono::milliseconds(50))) {
      if (::waitpid(m_pid, &status, WNOHANG) != m_pid) continue;
      m_pid = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    ADD_FAILURE() << "the job did not end: " << text();
    return -1000;
  }
  void signal(int number) const { ::kill(m_pid, number); }
  void signalAll(int number) const {
    for (const std::int64_t each : descendantsOf(m_pid)) ::kill(static_cast<pid_t>(each), number);
    signal(number);
  }
  std::string text() const { return readFile(m_folder / "job.txt"); }

 private:
  std::filesystem::path m_folder;
  pid_t m_pid = -1;
};

std::vector<std::string> supervised(int ranks, std::vector<std::string> train, int stalledAfter = 40,
                                    const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{LOOM_PROGRAM,
                                 "supervise",
                                 "--run",
                                 "run",
                                 "--stalled-after",
                                 std::to_string(stalledAfter),
                                 "--",
                                 MPIEXEC,
                                 "--allow-run-as-root",
                                 "--oversubscribe",
                                 "--bind-to",
                                 "none",
                                 "-n",
                                 std::to_string(ranks),
                                 LOOM_PROGRAM,
                                 "train"};
  words.insert(words.end(), train.begin(), train.end());
  words.insert(words.begin() + 2, more.begin(), more.end());
  return words;
}

void writeProject(const Workshop& workshop, double epochs) {
  Json project = perceptron(false);
  project["training"]["epochs"] = epochs;
  workshop.write("p.loom", project.dump());
}

std::vector<Event> eventsOf(const Workshop& workshop) {
  return EventReader(workshop.path() / "run" / "events.jsonl").read();
}

// The ranks' processes, once the job has done some steps and the supervisor has heard of them (a rank tells its step
// once a second); empty when it never does.
std::vector<int> ranksOf(const Workshop& workshop) {
  for (const auto until = Clock::now() + kPatience; Clock::now() < until;
       std::this_thread::sleep_for(std::chrono::milliseconds(50))) {
    std::vector<int> pids;
    int steps = 0;
    double first = 0, last = 0;  // when
    for (const Event& event : eventsOf(workshop)) {
      if (event.kind == "devices")
        for (const Json& rank : event.body["ranks"]) pids.push_back(rank["pid"].get<int>());
      if (event.kind != "step") continue;
      if (steps++ == 0) first = event.time;
      last = event.time;
    }
    if (!pids.empty() && steps > 3 && last - first > 2.5) return pids;
  }
  return {};
}

// Neither gone nor a zombie that nobody has waited for.
bool lives(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name = text.rfind(") ");
  return name != std::string::npos && text[name + 2] != 'Z';
}

bool ends(int pid) {
  for (const auto until = Clock::now() + kPatience; Clock::now() < until;
       std::this_thread::sleep_for(std::chrono::milliseconds(50)))
    if (!lives(pid)) return true;
  return false;
}

struct LastWord {
  std::string message;
  int code;
};

LastWord afterSignal(const char* name, int ranks, int victim, int signal, int stalledAfter = 40,
                     const std::vector<std::string>& more = {}) {
  const Workshop workshop(name);
  writeProject(workshop, 1e6);
  Started job(workshop, supervised(ranks, {"p.loom", "--run", "run"}, stalledAfter, more));
  const std::vector<int> pids = ranksOf(workshop);
  if (pids.size() != static_cast<std::size_t>(ranks)) {
    ADD_FAILURE() << "the job did not begin: " << job.text();
    return {};
  }
  ::kill(pids[static_cast<std::size_t>(victim)], signal);
  const int code = job.wait();
  const std::vector<Event> events = eventsOf(workshop);
  EXPECT_EQ(events.back().kind, "finished");
  EXPECT_EQ(events.back().body.value("reason", ""), "failed");
  std::int64_t sequence = 0;
  for (const Event& event : events) EXPECT_EQ(event.sequence, sequence++);
  for (const int pid : pids) EXPECT_TRUE(ends(pid)) << "process " << pid << " of a rank lives on";
  return {events.back().body.value("message", ""), code};
}

TEST(Supervise, NamesAKilledRankWhicheverItIs) {
  for (const int victim : {0, 1}) {
    const LastWord last = afterSignal("killed-rank", 2, victim, SIGKILL);
    EXPECT_THAT(last.message,
                AllOf(HasSubstr(fmt::format("rank {} on ", victim)), HasSubstr("signal 9"), HasSubstr("after step")));
    EXPECT_EQ(last.code, exitCode(ErrorCode::communication));
  }
}

// A line for each size and each way that two ranks can take, with what its formula says beside the time.
TEST(Bench, AllReduceMeasuresEverySizeByEveryReduction) {
  const Workshop workshop("bench-allreduce");
  Started job(workshop, {MPIEXEC, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "2",
                         LOOM_PROGRAM, "bench", "allreduce", "--csv", "--bytes", "64", "65536", "--seconds", "0.05"});
  ASSERT_EQ(job.wait(), 0) << job.text();
  std::istringstream text(job.text());
  std::string line;
  std::map<std::string, int> lines;
  while (std::getline(text, line)) {
    std::vector<std::string> cells;
    std::istringstream rest(line);
    for (std::string cell; std::getline(rest, cell, ',');) cells.push_back(cell);
    const ReductionDefinition* const row = cells.size() == 10 ? findReduction(cells[0]) : nullptr;
    if (!row) continue;
    ++lines[cells[0]];
    EXPECT_EQ(cells[1], "2");
    EXPECT_GT(std::stod(cells[3]), 0) << line;
    const std::size_t floats = std::stoul(cells[2]) / 4;
    if (cells[0] == "ring") {
      EXPECT_EQ(std::stol(cells[6]), costOf(*row, {.ranks = 2, .floats = floats, .shards = 2}).bytes);
    }
  }
  for (const ReductionDefinition* row : reductionTable())
    EXPECT_EQ(lines[row->entry.id], row->refuse && row->refuse(2, Json::object()) ? 0 : 2) << row->entry.id;
}

TEST(Supervise, EndsAStalledRank) {
  const LastWord last = afterSignal("stalled-rank", 2, 1, SIGSTOP, 10);
  EXPECT_THAT(last.message,
              AllOf(HasSubstr("rank 1 on "), HasSubstr("is stalled"), HasSubstr("rank 0 waited in all-")));
  EXPECT_EQ(last.code, exitCode(ErrorCode::communication));
}

TEST(Supervise, ASignalAsksForACheckpoint) {
  const Workshop workshop("supervised-stop");
  writeProject(workshop, 1e6);
  Started job(workshop, supervised(2, {"p.loom", "--run", "run"}));
  ASSERT_EQ(ranksOf(workshop).size(), 2u) << job.text();
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait(), exitCode(ErrorCode::stopped)) << job.text();
  EXPECT_EQ(eventsOf(workshop).back().body.value("reason", ""), "stopped");
  EXPECT_THAT(job.text(), AllOf(HasSubstr("ranks     2, Open MPI"), HasSubstr("go on")));
  EXPECT_THAT(job.text(), testing::Not(HasSubstr("@loom-rank")));
}

// Slurm sends SIGTERM to every process of a job that it ends, and kills what is left some time later: in between, the
// run is stopped with a checkpoint by whoever supervises it.
TEST(Supervise, UnderABatchSystemItsSignalEndsNobody) {
  const Workshop workshop("supervised-batch");
  writeProject(workshop, 1e6);
  Started job(workshop, supervised(2, {"p.loom", "--run", "run"}, 40, {"--batch"}));
  ASSERT_EQ(ranksOf(workshop).size(), 2u) << job.text();
  const auto steps = [&] { return eventsOf(workshop).back().body.value("step", std::int64_t{0}); };
  job.signalAll(SIGTERM);
  std::this_thread::sleep_for(std::chrono::seconds(2));  // mpirun would have ended the ranks
  const std::int64_t step = steps();
  for (const auto until = Clock::now() + kPatience; Clock::now() < until && steps() <= step;)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_GT(steps(), step);
  appendControl({workshop.path() / "run"}, {{"command", "stop"}, {"id", "terminated"}});
  EXPECT_EQ(job.wait(), exitCode(ErrorCode::stopped)) << job.text();
  EXPECT_EQ(eventsOf(workshop).back().body.value("reason", ""), "stopped");
}

TEST(Supervise, UnderABatchSystemAStalledRankIsEndedAllTheSame) {
  const LastWord last = afterSignal("stalled-batch", 2, 1, SIGSTOP, 5, {"--batch"});
  EXPECT_THAT(last.message, AllOf(HasSubstr("rank 1 on "), HasSubstr("is stalled")));
}

// Ranks of a host that is cut off from the supervisor: it is still as a stopped one is.
TEST(Supervise, RanksLeaveASupervisorThatIsSilentWhenTheyStandStill) {
  const Workshop workshop("supervised-silent");
  writeProject(workshop, 1e6);
  Started job(workshop, supervised(2, {"p.loom", "--run", "run"}, 5));
  const std::vector<int> pids = ranksOf(workshop);
  ASSERT_EQ(pids.size(), 2u) << job.text();
  job.signal(SIGSTOP);  // the supervisor alone
  ::kill(pids[1], SIGSTOP);
  for (const int pid : pids) EXPECT_TRUE(ends(pid)) << "process " << pid << " of a rank lives on";
  EXPECT_TRUE(std::filesystem::exists(workshop.path() / "run/lifeline"));
  job.signal(SIGCONT);
  EXPECT_EQ(job.wait(), exitCode(ErrorCode::communication)) << job.text();
  EXPECT_FALSE(std::filesystem::exists(workshop.path() / "run/lifeline"));
}

TEST(Supervise, PassesOnWhatARankSays) {
  const Workshop workshop("supervised-fault");
  workshop.write("p.loom", "{\"loom\": 1");
  Started job(workshop, supervised(2, {"p.loom", "--run", "run"}));
  EXPECT_EQ(job.wait(), exitCode(ErrorCode::badProject)) << job.text();
}

// So does Open MPI 5 when a host is lost: it answers that all is well.
TEST(Supervise, DoesNotTakeALostHostForTheEnd) {
  const Workshop workshop("supervised-lost");
  std::filesystem::create_directory(workshop.path() / "run");
  const std::string says = "echo '  Remote daemon: [prterun-a-4939@0,1] on node b' >&2";
  Started job(workshop, {LOOM_PROGRAM, "supervise", "--run", "run", "--", "/bin/sh", "-c", says});
  EXPECT_EQ(job.wait(), exitCode(ErrorCode::communication)) << job.text();
  const std::vector<Event> events = eventsOf(workshop);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back().body.value("reason", ""), "failed");
  EXPECT_THAT(events.back().body.value("message", ""), HasSubstr("host b has been cut off"));
}

TEST(Trace, ShowsComputeAndCommunicationOfAllRanks) {
  const Workshop workshop("trace");
  writeProject(workshop, 2);
  Started job(workshop, supervised(2, {"p.loom", "--run", "run", "--trace", "trace.json", "--set", "fusion=0"}));
  ASSERT_EQ(job.wait(), 0) << job.text();
  const Json trace = parseJson(readFile(workshop.path() / "trace.json"), "trace.json");
  std::map<std::pair<int, int>, int> seen;  // by rank and lane
  for (const Json& event : trace["traceEvents"])
    if (event["ph"] == "X") ++seen[{event["pid"].get<int>(), event["tid"].get<int>()}];
  for (const int rank : {0, 1}) {
    EXPECT_GE((seen[{rank, 0}]), 8);      // steps of several stages each
    EXPECT_EQ((seen[{rank, 1}]), 8 * 4);  // four gradients
    EXPECT_EQ((seen[{rank, 2}]), 8);
  }
}

}  // namespace
}  // namespace loom
