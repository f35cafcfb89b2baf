#include "engine/loom/local_trials.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/run/process.h"

namespace loom {

LocalTrials::LocalTrials(std::filesystem::path project, std::filesystem::path runs,
                         std::vector<std::string> trainArguments)
    : m_project(std::move(project)), m_runs(std::move(runs)), m_arguments(std::move(trainArguments)) {}

LocalTrials::~LocalTrials() = default;

std::filesystem::path LocalTrials::place(const SearchPlan& plan, int number) {
  const std::filesystem::path folder = m_runs / fmt::format("{}-{:03}", plan.name, number);
  std::error_code fault;
  std::filesystem::create_directories(m_runs, fault);
  if (!std::filesystem::create_directory(folder, fault))
    throwError(ErrorCode::inputOutput, "cannot make the folder {} for a trial: {}", folder.string(),
               fault ? fault.message() : "it is there; give the search another name with --name");
  return folder;
}

void LocalTrials::start(TrialRun& run, bool goesOn) {
  std::vector<std::string> words{ownProgram(), "train", m_project.string(), "--run", run.folder().string()};
  words.insert(words.end(), m_arguments.begin(), m_arguments.end());
  std::vector<std::string> settings = run.file().plan.settings;
  for (std::string& each : settingsOf(run.file().plan.space, run.file().point)) settings.push_back(std::move(each));
  for (const std::string& each : settings) words.insert(words.end(), {"--set", each});
  if (goesOn) words.insert(words.end(), {"--resume", run.folder().string()});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string log = (run.folder() / "log.txt").string();
  const pid_t process = ::fork();
  if (process < 0) throwError(ErrorCode::inputOutput, "cannot start {}: {}", words[0], std::strerror(errno));
  if (process == 0) {
    ::setsid();
    const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666),
              none = ::open("/dev/null", O_RDONLY);
    ::dup2(none, STDIN_FILENO);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  m_processes[run.file().number] = process;
  run.remember(process, nameOf(process).start);
}

bool LocalTrials::lives(const TrialRun& run) {
  if (const auto found = m_processes.find(run.file().number); found != m_processes.end()) {
    int status = 0;
    if (::waitpid(found->second, &status, WNOHANG) == 0) return true;
    m_processes.erase(found);
  } else if (run.file().process != 0) {  // of a search that was killed
    const std::optional<ProcessStat> stat = processStat(run.file().process);
    if (stat && stat->start == run.file().processStart && stat->state != 'Z') return true;
  }
  return RunFolder{run.folder()}.running();
}

void LocalTrials::stop(const TrialRun& run) {
  appendControl(RunFolder{run.folder()}, {{"command", "stop"}});
}

std::string LocalTrials::lastWords(const TrialRun& run) {
  std::string last;
  try {
    std::istringstream log(readFile(run.folder() / "log.txt"));
    for (std::string line; std::getline(log, line);)
      if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  } catch (const Error&) {
  }
  return last.empty() ? "it ended without a word" : last;
}

}  // namespace loom
