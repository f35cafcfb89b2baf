// Stands in for `loom train PROJECT --run DIR [--set key=value ...] [--resume DIR]`: takes the lock, writes events,
// obeys control.jsonl. What it does is set by overrides, or by the same pairs, parted by ';', in FAKE_LOOM: steps=N,
// ms=N (a step), fail=MESSAGE, code=KIND (of that failure), die=STEP (abort), hang=1 (no step ever), model=BYTES (of a
// best checkpoint each epoch). As `agent` it is the real agent and supervisor, so that jobs on hosts are tested with it
// too.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <thread>

#include "engine/agent/agent.h"
#include "engine/agent/facts.h"
#include "engine/agent/supervisor.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
#include "engine/run/control.h"
#include "engine/run/exit_code.h"
#include "engine/run/run_folder.h"
#include "engine/run/run_lock.h"

using namespace loom;

static volatile std::sig_atomic_t g_stop = 0;

static int agent(int argc, char** argv) {
  const std::string how = argc > 2 ? argv[2] : "";
  if (how == "--job") return superviseJob(JobFolder(argv[3]));
  if (how == "--probe") return std::puts(probeFacts("fake loom").dump().c_str()) < 0;
  return serveAgent({.version = "fake loom"});
}

// `supervise --run DIR -- COMMAND`: as the real one, a process between, which does not go by SIGTERM and has its job in
// a group of its own.
static int supervise(int argc, char** argv) {
  int first = 2;
  while (first < argc && std::string(argv[first]) != "--") ++first;
  std::signal(SIGTERM, [](int) {});
  const pid_t job = ::fork();
  if (job == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    std::signal(SIGTERM, SIG_DFL);
    ::execvp(argv[first + 1], argv + first + 1);
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(job, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// `bench allreduce --json`: two ways that cross at 120 KB. $HOME/bench_ms: how long each measurement takes.
static int bench() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank && std::atoi(rank) > 0) return 0;
  int ms = 1;
  if (const char* home = std::getenv("HOME"))
    if (const std::filesystem::path file = std::filesystem::path(home) / "bench_ms"; std::filesystem::exists(file))
      ms = std::atoi(readFile(file).c_str());
  const auto say = [](const Json& line) {
    std::puts(line.dump().c_str());
    std::fflush(stdout);
  };
  const double sizes[] = {4096, 16384, 65536, 262144, 1048576};
  const char* ranks = std::getenv("OMPI_COMM_WORLD_SIZE");
  say({{"ranks", ranks ? std::atoi(ranks) : 1},
       {"per_host", 0},
       {"sizes", sizes},
       {"reductions", {{{"name", "tree"}, {"label", "Tree"}}, {{"name", "ring"}, {"label", "Ring"}}}},
       {"within", {{"delay", 2e-6}, {"bandwidth", 5e9}}}});
  for (const double bytes : sizes)
    for (const bool ring : {false, true}) {
      std::this_thread::sleep_for(std::chrono::milliseconds(ms));
      say({{"reduction", ring ? "ring" : "tree"},
           {"bytes", bytes},
           {"seconds", (ring ? 1e-4 : 1e-5) + bytes / (ring ? 4e9 : 1e9)}});
    }
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "agent") return agent(argc, argv);
  if (argc > 1 && std::string(argv[1]) == "bench") return bench();
  if (argc > 3 && std::string(argv[1]) == "supervise") return supervise(argc, argv);
  std::map<std::string, std::string> set;
  RunFolder folder;
  bool resume = false;
  const auto take = [&set](const std::string& pair) {
    set[pair.substr(0, pair.find('='))] = pair.substr(pair.find('=') + 1);
  };
  if (const char* more = std::getenv("FAKE_LOOM"))
    for (std::istringstream pairs(more); !pairs.eof();) {
      std::string pair;
      std::getline(pairs, pair, ';');
      take(pair);
    }
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--run") folder.path = argv[++i];
    if (word == "--resume") resume = true, ++i;
    if (word == "--set") take(argv[++i]);
  }
  const auto number = [&](const char* key, int otherwise) {
    return set.count(key) ? std::atoi(set[key].c_str()) : otherwise;
  };
  std::signal(SIGTERM, [](int) { g_stop = 1; });
  // Of several ranks the first one writes; the others are there, and end with it.
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank && std::atoi(rank) > 0) {
    const auto before = lastEvent(folder);
    for (;;) {
      const auto last = lastEvent(folder);
      if (g_stop || (last && last->kind == "finished" && (!before || last->sequence > before->sequence))) return 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  const RunLock lock(folder);
  const auto last = lastEvent(folder);
  const std::int64_t attempt = last ? last->attempt + 1 : 1;
  std::int64_t step = 0;
  if (resume && last && last->body.contains("step")) step = last->body["step"].get<std::int64_t>() / 10 * 10;
  EventWriter events(folder, attempt);
  ControlReader control(folder, resume ? ControlReader::From::end : ControlReader::From::start);
  writeFileAtomically(folder.runFile(), "{\"loom_run\": 1}\n");
  const int total = number("steps", 50);
  std::printf("fake loom, attempt %d\n", static_cast<int>(attempt));
  std::fflush(stdout);
  events.write("started", {{"attempt", attempt},
                           {"resumed_from", step},
                           {"steps_total", total},
                           {"steps_per_epoch", 10},
                           {"epochs", total / 10},
                           {"samples", 100},
                           {"batch", 10},
                           {"parameters", 7},
                           {"device", "cpu"},
                           {"pid", ::getpid()},
                           {"host", "here"}});
  if (set.count("fail")) {
    std::fprintf(stderr, "loom: %s\n", set["fail"].c_str());
    events.write("error", {{"message", set["fail"]}, {"code", set["code"]}});
    events.write("finished", {{"reason", "failed"}, {"step", 0}, {"message", set["fail"]}});
    return 3;
  }
  double rate = 0.1;
  bool stopAfterEpoch = false;
  while (step < total) {
    for (const Json& each : control.read()) {
      const std::string command = each.value("command", "");
      if (command == "stop") g_stop = 1;
      if (command == "stop_after_epoch") stopAfterEpoch = true;
      if (command == "learning_rate") rate = each.value("value", rate);
      Json fields = each;
      fields["step"] = step;
      events.write("control", fields);
    }
    if (g_stop || (stopAfterEpoch && step % 10 == 0)) {
      events.write("finished", {{"reason", "stopped"}, {"step", step}, {"message", ""}});
      return exitCode(ErrorCode::stopped);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(number("ms", 2)));
    if (set.count("hang")) continue;
    ++step;
    if (step == number("die", -1)) {
      std::fprintf(stderr, "about to fall over\n");
      std::abort();
    }
    events.write("step", {{"step", step},
                          {"epoch", step / 10.0},
                          {"samples", step * 10},
                          {"loss", 1.0 / step + attempt * 100},
                          {"metrics", {{"accuracy", 0.5}}},
                          {"learning_rate", rate},
                          {"ms", 2.0}});
    if (step % 10 == 0)
      events.write("validation",
                   {{"step", step}, {"epoch", step / 10.0}, {"loss", 1.0}, {"metrics", {{"accuracy", step / 100.0}}}});
    if (step % 10 == 0 && set.count("model")) {
      const std::string name = "step-" + std::to_string(step) + ".safetensors";
      std::filesystem::create_directories(folder.checkpoints());
      writeFileAtomically(folder.checkpoints() / name, std::string(static_cast<std::size_t>(number("model", 0)),
                                                                   static_cast<char>('a' + step % 26)));
      for (const char* pointer : {"best.json", "last.json"})
        writeFileAtomically(folder.checkpoints() / pointer, Json({{"file", name}, {"step", step}}).dump());
      events.write("checkpoint", {{"step", step}, {"file", "checkpoints/" + name}, {"best", true}});
    }
  }
  events.write("finished", {{"reason", "done"}, {"step", step}, {"message", ""}});
  return 0;
}
