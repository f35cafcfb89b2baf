#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "engine/agent/job_folder.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
#include "engine/run/process.h"
#include "engine/run/safetensors.h"
#include "tests/cluster/soak.h"

namespace loom::soak {
namespace {

constexpr int kMostFaults = 5;  // of one run, which must also come to its end
// Seconds until a run has gone on, or was resumed. A Slurm whose controller was killed believes its last saved state,
// in which a job that has ended still holds the node, until the node has registered some times.
int recoveryOf(Kind kind) {
  return kind == Kind::slurm ? 480 : 150;
}
constexpr int kLongest = 1800;       // from its last fault to its end
constexpr int kEnding = 60;          // until nothing of a run that has ended is there any more
constexpr int kResumeAgainMs = 700;  // a person tries again

std::string commandLine(const Path& process) {
  std::ifstream file(process / "cmdline", std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();  // one that ends meanwhile is read no further, where an iterator would throw
  std::string text = all.str();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

std::string commandName(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/comm", process));
  std::string name;
  std::getline(file, name);
  return name;
}

bool lives(pid_t process) {
  const auto stat = processStat(process);
  return stat && stat->state != 'Z';
}

std::vector<Event> eventsOf(const RunFolder& run) {
  std::vector<Event> all;
  EventReader reader(run.eventsFile());
  for (std::vector<Event> some = reader.read(); !some.empty(); some = reader.read())
    all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
  return all;
}

// Of a run that has ended, the newest.
Path checkpointOf(const RunFolder& run) {
  const Json last = Json::parse(readFile(run.checkpoints() / "last.json"), nullptr, false);
  return run.checkpoints() / Path(last.value("file", std::string())).filename();
}

}  // namespace

Lane::Lane(Place place, Course& course)
    : m_place(std::move(place)), m_course(course), m_random(course.seed * 16 + static_cast<unsigned>(m_place.kind)) {}

void Lane::pause(int fromMs, int toMs) {
  std::this_thread::sleep_for(std::chrono::milliseconds(random(fromMs, toMs)));
}

bool Lane::command(const std::string& line) {
  return std::system(("exec >/dev/null 2>&1; " + line).c_str()) == 0;
}

bool Lane::await(int seconds, const std::function<bool()>& what) const {
  for (const auto until = Clock::now() + std::chrono::seconds(seconds); Clock::now() < until;
       std::this_thread::sleep_for(std::chrono::milliseconds(50)))
    if (what()) return true;
  return false;
}

std::vector<pid_t> Lane::ranks() const {
  std::vector<pid_t> found;
  for (const Event& each : eventsOf(m_place.truth(m_run))) {
    if (each.kind == "started") found = {each.body.value("pid", 0)};
    if (each.kind != "devices") continue;
    found.clear();
    for (const Json& rank : each.body["ranks"]) found.push_back(rank.value("pid", 0));
  }
  std::erase_if(found, [](pid_t each) { return each <= 0 || !lives(each); });
  return found;
}

std::vector<pid_t> Lane::processes() const {
  std::vector<pid_t> found;
  const std::string folder = m_place.truth(m_run).path.string();
  std::error_code fault;
  for (const auto& each : std::filesystem::directory_iterator("/proc", fault)) {
    const pid_t process = std::atoi(each.path().filename().c_str());
    if (process > 0 && lives(process) && commandLine(each.path()).find(folder) != std::string::npos)
      found.push_back(process);
  }
  return found;
}

pid_t Lane::process(const char* word, Word which) const {
  for (const pid_t each : processes()) {
    const auto found = commandLine(fmt::format("/proc/{}", each)).find(word);
    if (which == Word::first ? found == 0 : found != std::string::npos) return each;
  }
  return 0;
}

std::string Lane::batchNumber() const {
  return JobFolder(m_place.truth(m_run).path).process().value("slurm", std::string());
}

void Lane::say(const std::string& text) const {
  std::cerr << fmt::format("{:>6} {}: {}\n", toText(m_place.kind), m_run, text);
}

void Lane::violated(const std::string& what) {
  std::string befell;
  for (const std::string& each : m_befell) befell += (befell.empty() ? "" : ", ") + each;
  const std::string text =
      fmt::format("seed {}, {} {} after {}: {}", m_course.seed, toText(m_place.kind), m_run, befell, what);
  say("VIOLATED: " + what);
  const std::lock_guard lock(m_course.mutex);
  m_course.violations.push_back(text);
}

void Lane::go() {
  openIde();
  while (m_course.goesOn() && !m_lost) train();
  m_ide.reset();
}

// A run from its submission to its end, with what befalls it meanwhile.
void Lane::train() {
  m_run = nameOf(++m_runs);
  m_befell.clear();
  m_ide->say("submit " + m_run);
  if (!recovers(0)) return;
  for (int i = 0; i < kMostFaults && m_course.goesOn() && seen().state != "finished"; ++i) {
    std::vector<const Fault*> possible;
    for (const Fault& each : faults())
      if (std::find(each.kinds.begin(), each.kinds.end(), m_place.kind) != each.kinds.end()) possible.push_back(&each);
    const Fault& fault = *possible[static_cast<std::size_t>(random(0, static_cast<int>(possible.size()) - 1))];
    pause(0, 1500);
    const std::int64_t before = seen().step;
    say(fmt::format("{} at step {}", fault.name, before));
    m_befell.push_back(fmt::format("{} at {}", fault.name, before));
    fault.befall(*this);
    ++m_course.done;
    {
      const std::lock_guard lock(m_course.mutex);
      ++m_course.counts[fault.name];
    }
    if (!recovers(before)) return;
  }
  // To its end, resumed where it must, however slow the machine is: recovers() tells of one that stands still.
  const auto late = Clock::now() + std::chrono::seconds(kLongest);
  while (seen().state != "finished") {
    if (!recovers(seen().step)) return;
    if (Clock::now() > late) {
      m_lost = true;
      return violated(fmt::format("it goes on and comes to no end: {} at step {}", seen().state, seen().step));
    }
  }
  finish();
}

// Until it trains on or has ended as it should; a person resumes what stopped or failed, and nothing more.
bool Lane::recovers(std::int64_t before) {
  auto resumed = Clock::time_point{};
  const std::int64_t attempt = seen().attempt;
  const auto begin = Clock::now();
  const bool well = await(recoveryOf(m_place.kind), [&] {
    administrate();
    const Ide::Seen now = seen();
    if (now.state == "finished") return true;
    if ((now.state == "stopped" || now.state == "failed") &&
        Clock::now() - resumed > std::chrono::milliseconds(kResumeAgainMs)) {
      resumed = Clock::now();
      say(now.state + ": " + now.message);
      m_ide->say("resume " + m_run);
    }
    // What was under way when it happened may still be told: some steps more, or another attempt.
    return now.state == "running" && (now.attempt > attempt || now.step > before + 5) &&
           Clock::now() - begin > std::chrono::milliseconds(800);
  });
  if (well) return true;
  const Ide::Seen now = seen();
  violated(fmt::format("it does not go on: {} at step {}, attempt {}: {} {}", now.state, now.step, now.attempt,
                       now.message, now.doubt));
  tellEvidence();
  m_lost = true;
  return false;
}

// Slurm takes a node out of use by itself where a job came to it twice; sites have somebody who brings it back.
void Lane::administrate() {
  if (m_place.kind != Kind::slurm || Clock::now() < m_administrated + std::chrono::seconds(5)) return;
  m_administrated = Clock::now();
  if (!command("/usr/bin/sinfo -h -o %T | grep -q drain")) return;
  say("the node is drained and is brought back");
  command("/usr/bin/scontrol update NodeName=$(/usr/bin/sinfo -h -o %n) State=RESUME");
  const std::lock_guard lock(m_course.mutex);
  ++m_course.counts["(a node that Slurm had drained was brought back)"];
}

// What a person would look at.
void Lane::tellEvidence() const {
  for (const pid_t each : processes())
    say(fmt::format("process {} {}: {}", each, processStat(each) ? processStat(each)->state : '-',
                    commandLine(fmt::format("/proc/{}", each))));
  const Path folder = m_place.truth(m_run).path;
  for (const char* each : {"launch.json", "process.json", "exit", "kill", "lock"})
    if (std::ifstream file(folder / each); file)
      say(fmt::format("{}: {}", each, std::string(std::istreambuf_iterator<char>(file), {})));
  if (m_place.kind != Kind::slurm) return;
  std::FILE* const list = ::popen("squeue --states=all --format='%i %T %r %j %M' 2>&1", "r");
  for (char line[400]; list && std::fgets(line, sizeof line, list);) say(line);
  if (list) ::pclose(list);
  for (const char* each : {"slurmctld.log", "slurmd.log"}) {
    std::ifstream file(m_place.cluster / "slurm" / each);
    std::deque<std::string> last;
    for (std::string line; std::getline(file, line);) {
      last.push_back(line);
      if (last.size() > 60) last.pop_front();
    }
    for (const std::string& line : last) say(fmt::format("{}: {}", each, line));
  }
}

void Lane::finish() {
  say("finished");
  checkNothingIsLeft();
  checkLog();
  checkWeights();
  // What lies on the small disk goes, but for the newest: its end may still be on its way to the IDE.
  std::error_code fault;
  if (m_runs > 1) std::filesystem::remove_all(m_place.truth(nameOf(m_runs - 1)).path, fault);
}

std::string Lane::nameOf(int run) const {
  return fmt::format("{}-{}", toText(m_place.kind), run);
}

void Lane::checkLog() {
  std::int64_t sequence = 0, step = 0, attempt = 0;
  for (const Event& each : eventsOf(m_place.truth(m_run))) {
    if (each.sequence != sequence++)
      return violated(fmt::format("the log has number {} in the place of {}", each.sequence, sequence - 1));
    if (each.kind == "started") {
      step = each.body.value("resumed_from", std::int64_t{0});
      if (each.attempt <= attempt) return violated(fmt::format("attempt {} begins twice", each.attempt));
      attempt = each.attempt;
    }
    if (each.kind == "step" && each.body.value("step", std::int64_t{0}) != ++step)
      return violated(fmt::format("the log has step {} in the place of {}", each.body.dump(), step));
  }
  m_ide->say("check " + m_run);
  await(20, [this] { return m_ide->checked(m_run).has_value(); });
  if (const auto fault = m_ide->checked(m_run); !fault || !fault->empty())
    violated(fault ? *fault : "the IDE does not answer");
}

void Lane::checkWeights() {
  try {
    const TensorFile trained(checkpointOf(m_place.truth(m_run))), wanted(m_course.undisturbed(m_place.ranks()));
    if (trained.tensors().size() != wanted.tensors().size()) return violated("its checkpoint holds other tensors");
    for (const TensorFile::Tensor& each : wanted.tensors()) {
      const TensorFile::Tensor* const found = trained.find(each.name);
      if (!found || found->values.size() != each.values.size() ||
          std::memcmp(found->values.data(), each.values.data(), each.values.size_bytes()) != 0)
        return violated(fmt::format("{} is not what an undisturbed run has", each.name));
    }
  } catch (const std::exception& error) {
    violated(error.what());
  }
}

void Lane::checkNothingIsLeft() {
  if (!await(kEnding, [this] { return processes().empty(); }))
    for (const pid_t each : processes()) {
      violated("left behind: " + commandLine(fmt::format("/proc/{}", each)));
      ::kill(each, SIGKILL);
    }
  const auto daemons = [] {
    std::set<pid_t> found;
    for (const char* host : {"gl1", "gl2"}) {
      std::FILE* const list = ::popen(fmt::format("ip netns pids {} 2>/dev/null", host).c_str(), "r");
      for (int each; list && std::fscanf(list, "%d", &each) == 1;)
        if (commandName(each) == "orted" && lives(each)) found.insert(each);
      if (list) ::pclose(list);
    }
    return found;
  };
  if (m_place.kind == Kind::hosts && !await(kEnding, [&] { return daemons().empty(); }))
    for (const pid_t each : daemons()) {
      violated(fmt::format("left behind: orted {}", each));
      ::kill(each, SIGKILL);
    }
  for (const Path& folder : {m_place.disk(), m_place.folder / "runs", m_place.folder / "store"}) {
    std::error_code fault;
    for (const auto& each : std::filesystem::recursive_directory_iterator(folder, fault)) {
      const std::string name = each.path().filename().string();
      if (name == "lifeline" || name.find(".part") != std::string::npos || name.ends_with(".order"))
        violated("left behind: " + each.path().string());
    }
  }
}

}  // namespace loom::soak
