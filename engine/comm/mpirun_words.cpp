#include "engine/comm/mpirun_words.h"

#include <csignal>
#include <regex>

namespace loom {
namespace {

constexpr std::size_t kLines = 3;  // of one sentence

int signalNamed(const std::string& how) {
  return how == "Killed"               ? SIGKILL
         : how == "Terminated"         ? SIGTERM
         : how == "Segmentation fault" ? SIGSEGV
         : how == "Aborted"            ? SIGABRT
                                       : SIGBUS;
}

}  // namespace

void MpirunWords::hear(std::string_view line) {
  m_recent.emplace_back(line);
  if (m_recent.size() > kLines) m_recent.erase(m_recent.begin());
  std::string text;
  for (const std::string& each : m_recent) text += each + ' ';

  static const std::regex killed(R"(process rank (\d+) with PID (\d+) on node (\S+) exited on signal (\d+))");
  static const std::regex lost(R"(Remote daemon:.* on node (\S+))");
  // srun's.
  static const std::regex task(
      R"(srun: error: (\S+): tasks? (\d+)\S*: (Killed|Terminated|Segmentation fault|Aborted|Bus error))");
  static const std::regex exited(R"(Process name: \[\S+,(\d+)\])");  // [[4711,1],0] or [prterun-host-4711@1,0]
  static const std::regex severed(R"(Socket closed.* reported by process \[\d+,(\d+)\])");
  static const std::regex missing(R"((?:Node:\s+(\S+)\s+)?Executable:\s+(\S+)(?:\s+Node:\s+(\S+))?)");
  static const std::regex unstarted(R"(cannot start (\S+): (.+?) *$)");
  std::smatch match;
  if (std::regex_search(text, match, missing) && (match[1].matched || match[3].matched))
    m_missing = Missing{.host = match[1].matched ? match[1] : match[3], .program = match[2]};
  if (m_unstarted.empty() && std::regex_search(text, match, unstarted))
    m_unstarted = match[1].str() + " cannot be started: " + match[2].str();
  if (!m_killed && std::regex_search(text, match, killed))
    m_killed = Killed{
        .rank = std::stoi(match[1]), .process = std::stol(match[2]), .host = match[3], .signal = std::stoi(match[4])};
  if (!m_killed && std::regex_search(text, match, task))
    m_killed = Killed{.rank = std::stoi(match[2]), .process = 0, .host = match[1], .signal = signalNamed(match[3])};
  if (m_lostHost.empty() && std::regex_search(text, match, lost)) m_lostHost = match[1];
  if (!m_exited && std::regex_search(text, match, exited)) m_exited = std::stoi(match[1]);
  if (std::regex_search(text, match, severed)) m_severed.insert(std::stoi(match[1]));
}

}  // namespace loom
