#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fstream>

#include "engine/agent/job_folder.h"
#include "engine/base/json.h"
#include "engine/run/process.h"
#include "tests/cluster/soak.h"

namespace loom::soak {
namespace {

const std::vector<Kind> kAll{Kind::local, Kind::hosts, Kind::slurm}, kRemote{Kind::hosts, Kind::slurm},
    kHosts{Kind::hosts}, kSlurm{Kind::slurm};

void signalOne(Lane& lane, int signal) {
  const std::vector<pid_t> ranks = lane.ranks();
  if (!ranks.empty())
    ::kill(ranks[static_cast<std::size_t>(lane.random(0, static_cast<int>(ranks.size()) - 1))], signal);
}

void killRank(Lane& lane) {
  signalOne(lane, SIGKILL);
}

// For a while, or for good: then whoever watches over it ends it. Nobody does so for a single process.
void stopRank(Lane& lane) {
  const std::vector<pid_t> ranks = lane.ranks();
  if (ranks.empty()) return;
  const pid_t one = ranks[static_cast<std::size_t>(lane.random(0, static_cast<int>(ranks.size()) - 1))];
  ::kill(one, SIGSTOP);
  if (lane.place().kind != Kind::local && lane.random(0, 1)) return;
  lane.pause(300, 4000);
  ::kill(one, SIGCONT);
}

void killIde(Lane& lane) {
  lane.ide().kill();
  lane.pause(0, 2000);
  lane.openIde();
}

void twoIdes(Lane& lane) {
  const std::unique_ptr<Ide> other = lane.anotherIde();
  lane.pause(300, 2500);
  if (lane.random(0, 1)) other->kill();
}

void stop(Lane& lane) {
  lane.ide().say("stop " + lane.run());
  lane.pause(0, 2000);
}

void killByPerson(Lane& lane) {
  lane.ide().say("kill " + lane.run());
  lane.pause(0, 2000);
}

// Before it is known how it ended, several times.
void resumeAtOnce(Lane& lane) {
  lane.ide().say((lane.random(0, 1) ? "stop " : "kill ") + lane.run());
  for (int i = lane.random(2, 12); i > 0; --i) {
    lane.pause(20, 300);
    lane.ide().say("resume " + lane.run());
  }
}

// The process around the run: the shell here, the agent there.
void killSupervisor(Lane& lane) {
  const pid_t one = lane.process(lane.place().kind == Kind::local ? "trap" : "agent --job");
  if (one > 0) ::kill(one, SIGKILL);
}

void killWatcher(Lane& lane) {
  if (const pid_t one = lane.process(" supervise "); one > 0) ::kill(one, SIGKILL);
}

void killMpirun(Lane& lane) {
  if (const pid_t one = lane.process("mpirun ", Lane::Word::first); one > 0)
    ::kill(one, lane.random(0, 1) ? SIGKILL : SIGINT);
}

void fillDisk(Lane& lane) {
  const Path file = lane.place().disk() / "filler";
  const int filler = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  struct statvfs room {};
  if (filler < 0 || ::statvfs(lane.place().disk().c_str(), &room) != 0) return;
  [[maybe_unused]] const int fault = ::posix_fallocate(filler, 0, static_cast<off_t>(room.f_bavail * room.f_frsize));
  // To the last byte: what others freed meanwhile, too.
  const std::string page(4096, 'x');
  ::lseek(filler, 0, SEEK_END);
  while (::write(filler, page.data(), page.size()) > 0) {
  }
  lane.pause(200, 4000);
  ::close(filler);
  std::filesystem::remove(file);
}

// Every connection and the listener; the listener comes back.
void restartSshd(Lane& lane) {
  const bool slurm = lane.place().kind == Kind::slurm;
  const Path up = lane.place().cluster / "up";
  const std::string name = slurm ? "login" : "sshd1",
                    start = fmt::format("/usr/sbin/sshd -f {0}/{1}.conf -E {0}/{1}.log", up.string(), name);
  int listener = 0;
  std::ifstream(up / (name + ".pid")) >> listener;
  // Its connections are its children, and live on when it ends.
  if (listener > 0) {
    for (const std::int64_t each : descendantsOf(listener)) {
      std::string name;
      std::getline(std::ifstream(fmt::format("/proc/{}/comm", each)) >> std::ws, name);
      if (name.starts_with("sshd")) ::kill(static_cast<pid_t>(each), SIGKILL);
    }
    ::kill(listener, SIGKILL);
  }
  lane.pause(200, 3000);
  const std::string there =
      slurm ? start : fmt::format("ip netns exec gl1 unshare --uts sh -c 'hostname gl1; exec {}'", start);
  for (int tries = 0; tries < 50 && !Lane::command(there); ++tries) lane.pause(100, 100);
}

void cutLine(Lane& lane) {
  const int host = lane.random(1, 2);
  Lane::command(fmt::format("ip link set glv{} down", host));
  lane.random(0, 3) ? lane.pause(300, 5000) : lane.pause(10000, 25000);
  Lane::command(fmt::format("ip link set glv{} up", host));
}

void restartController(Lane& lane) {
  const Path slurm = lane.place().cluster / "slurm";
  int process = 0;
  std::ifstream(slurm / "slurmctld.pid") >> process;
  if (process > 0) ::kill(process, lane.random(0, 1) ? SIGKILL : SIGTERM);
  lane.pause(200, 4000);
  for (int tries = 0; tries < 100 && !Lane::command("slurmctld && sleep 0.3 && squeue"); ++tries) lane.pause(200, 200);
}

void restartSlurmd(Lane& lane) {
  const Path slurm = lane.place().cluster / "slurm";
  int process = 0;
  std::ifstream(slurm / "slurmd.pid") >> process;
  if (process > 0) ::kill(process, SIGTERM);
  lane.pause(500, 3000);
  for (int tries = 0; tries < 50 && !Lane::command("slurmd"); ++tries) lane.pause(200, 200);
}

void cancelInSlurm(Lane& lane) {
  Lane::command("scancel " + lane.batchNumber());
}

// As a preemption does. Slurm would wait two minutes before it starts the job again.
void requeue(Lane& lane) {
  const std::string number = lane.batchNumber();
  if (!Lane::command("scontrol requeue " + number)) return;
  for (int tries = 0; tries < 150; ++tries) {
    if (Lane::command("squeue -h -t PENDING -j " + number + " | grep -q .") &&
        Lane::command("scontrol update JobId=" + number + " StartTime=now"))
      return;
    lane.pause(200, 200);
  }
}

// The programs before `loom` and Slurm's (soak_test.cpp) do what this word says while it stands there.
void lie(Lane& lane, const char* file, std::vector<const char*> words) {
  const Path told = lane.place().folder / file;
  std::ofstream(told) << words[static_cast<std::size_t>(lane.random(0, static_cast<int>(words.size()) - 1))];
  if (std::string_view(file) == "lie") restartSshd(lane);  // whoever speaks now was started before
  lane.pause(500, 5000);
  std::filesystem::remove(told);
}

void lyingAgent(Lane& lane) {
  lie(lane, "lie", {"garbage", "half", "flood", "dies", "silent"});
}

void lyingSlurm(Lane& lane) {
  lie(lane, "lie-slurm", {"nothing", "garbage", "refuses", "hangs"});
}

// Nothing is lost with a stop in between.
void stopWhileSlurmLies(Lane& lane) {
  lane.ide().say("stop " + lane.run());
  lyingSlurm(lane);
}

}  // namespace

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all{
      {"kill a rank", kAll, killRank},
      {"stop a rank", kAll, stopRank},
      {"kill the IDE", kAll, killIde},
      {"two IDEs", kAll, twoIdes},
      {"stop", kAll, stop},
      {"kill", kAll, killByPerson},
      {"resume at once", kAll, resumeAtOnce},
      {"kill the supervisor", kAll, killSupervisor},
      {"kill the watcher", kRemote, killWatcher},
      {"kill mpirun", kRemote, killMpirun},
      {"full disk", kAll, fillDisk},
      {"restart sshd", kRemote, restartSshd},
      {"cut the line", kHosts, cutLine},
      {"lying agent", kRemote, lyingAgent},
      {"restart slurmctld", kSlurm, restartController},
      {"restart slurmd", kSlurm, restartSlurmd},
      {"scancel", kSlurm, cancelInSlurm},
      {"requeue", kSlurm, requeue},
      {"lying Slurm", kSlurm, lyingSlurm},
      {"stop while Slurm lies", kSlurm, stopWhileSlurmLies},
  };
  return all;
}

}  // namespace loom::soak
