#include "engine/comm/rank_watch.h"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <cstring>

namespace loom {
namespace {

long seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

std::string causeOf(int signal) {
  const char* const name = ::strsignal(signal);
  std::string text = fmt::format("signal {} ({})", signal, name ? name : "unknown");
  if (signal == SIGKILL) text += ", sent by hand, by a scheduler, or because memory ran out";
  return text;
}

}  // namespace

// In which collective it was is not known where the run has come further than the rank had said.
std::string RankWatch::place(const RankSign& sign) const {
  if (m_logged > sign.step) return fmt::format("after step {}", m_logged);
  const std::string step = sign.step > 0 ? fmt::format(" after step {}", sign.step) : " before the first step";
  if (sign.entered > sign.left) {
    return fmt::format("in {}{}{}{}", sign.operation, sign.subject.empty() ? "" : " of ", sign.subject, step);
  }
  return "between collectives" + step;
}

bool RankWatch::hear(std::string_view line, Time now) {
  if (const std::optional<RankSign> sign = parseSign(line)) {
    auto [found, fresh] = m_ranks.try_emplace(sign->rank, Rank{*sign, now, now});
    Rank& rank = found->second;
    const bool moved = fresh || rank.sign.progress != sign->progress || rank.sign.entered != sign->entered ||
                       rank.sign.left != sign->left || rank.sign.step != sign->step;
    if (moved) rank.moved = now;
    rank.heard = now;
    rank.sign = *sign;
    if (!sign->failed.empty() && !m_failed)
      m_failed = fmt::format("rank {} on {} failed {}: {}", sign->rank, sign->host, place(*sign), sign->failed);
    return true;
  }
  m_told.hear(line);
  return false;
}

void RankWatch::excuse(std::chrono::steady_clock::duration pause) {
  for (auto& [number, rank] : m_ranks) {
    rank.heard += pause;
    rank.moved += pause;
  }
}

std::int64_t RankWatch::step() const {
  std::int64_t step = m_logged;
  for (const auto& [number, rank] : m_ranks) step = std::max(step, rank.sign.step);
  return step;
}

std::string RankWatch::where(const Rank& rank) const {
  return fmt::format("rank {} on {} (process {})", rank.sign.rank, rank.sign.host, rank.sign.pid);
}

// Where the others stood.
std::string RankWatch::waiting(const std::vector<int>& without) const {
  for (const auto& [number, rank] : m_ranks)
    if (std::find(without.begin(), without.end(), number) == without.end() && rank.sign.entered > rank.sign.left)
      return fmt::format("; rank {} waited {}", number, place(rank.sign));
  return {};
}

std::optional<std::string> RankWatch::verdict(Time now) const {
  std::map<std::string, std::vector<const Rank*>> hosts;
  Time newest{};
  for (const auto& [number, rank] : m_ranks) {
    if (rank.sign.done) continue;
    hosts[rank.sign.host].push_back(&rank);
    newest = std::max(newest, rank.heard);
  }
  for (const auto& [host, ranks] : hosts) {
    const Rank& last =
        **std::max_element(ranks.begin(), ranks.end(), [](auto* a, auto* b) { return a->heard < b->heard; });
    const auto silent = now - last.heard;
    if (hosts.size() > 1 && silent > m_limits.silentHost && now - newest < m_limits.silentHost / 2) {
      std::vector<int> numbers;
      std::string list;
      for (const Rank* rank : ranks) {
        numbers.push_back(rank->sign.rank);
        list += (list.empty() ? "" : ", ") + std::to_string(rank->sign.rank);
      }
      // One rank alone that is silent may as well have been stopped itself.
      return fmt::format("host {} with rank {} has been cut off{}: nothing was heard for {} s, last {}{}", host, list,
                         ranks.size() == 1 ? ", or the rank's process stopped" : "", seconds(silent), place(last.sign),
                         waiting(numbers));
    }
  }
  for (const auto& [number, rank] : m_ranks) {
    if (rank.sign.done) continue;
    if (now - rank.heard > m_limits.silentRank)
      return fmt::format("{} is stalled: nothing was heard for {} s, last {}{}", where(rank), seconds(now - rank.heard),
                         place(rank.sign), waiting({number}));
    if (now - rank.moved <= m_limits.stalled || rank.sign.entered > rank.sign.left) continue;
    for (const auto& [otherNumber, other] : m_ranks)
      if (other.sign.entered > other.sign.left && other.sign.entered > rank.sign.entered &&
          now - other.moved > m_limits.stalled)
        return fmt::format("{} is stalled: it lives, but has not moved on for {} s; rank {} waits for it {}",
                           where(rank), seconds(now - rank.moved), otherNumber, place(other.sign));
  }
  return {};
}

std::string RankWatch::postMortem(int exitCode, int signal) const {
  if (m_told.killed()) {
    // mpirun calls a host as it was told, and does not know the process of a rank beside it: the rank itself does.
    MpirunWords::Killed killed = *m_told.killed();
    std::string stood;
    if (const auto found = m_ranks.find(killed.rank); found != m_ranks.end()) {
      const RankSign& sign = found->second.sign;
      killed.host = sign.host;
      if (killed.process == 0) killed.process = sign.pid;
      stood = ", " + place(sign);
    }
    return fmt::format("rank {} on {} (process {}) was ended by {}{}{}", killed.rank, killed.host, killed.process,
                       causeOf(killed.signal), stood, waiting({killed.rank}));
  }
  if (m_failed) return *m_failed;
  if (!m_told.unstarted().empty())
    return m_told.unstarted() +
           ". Install Open MPI on the host (Debian: openmpi-bin), or name its module or its mpirun among the host's "
           "settings";
  if (const auto& missing = m_told.missing())
    return fmt::format(
        "host {} has no {}: machines that share a run need one file system for the host's folder, where engine, data "
        "and runs lie once. Name a folder that all of them see",
        missing->host, missing->program);
  if (const std::string& host = m_told.lostHost(); !host.empty()) {
    std::vector<int> lost;
    for (const auto& [number, rank] : m_ranks)
      if (rank.sign.host == host) lost.push_back(number);
    const auto first = lost.empty() ? m_ranks.end() : m_ranks.find(lost.front());
    return fmt::format("host {} has been cut off: mpirun lost it{}{}", host,
                       first == m_ranks.end()
                           ? std::string()
                           : fmt::format("; rank {} was last {}", lost.front(), place(first->second.sign)),
                       waiting(lost));
  }
  if (const std::set<int>& severed = m_told.severed(); !severed.empty()) {
    std::string gone;  // whoever did not complain
    for (const auto& [number, rank] : m_ranks)
      if (!severed.contains(number)) gone += (gone.empty() ? "" : " or ") + where(rank) + ", last " + place(rank.sign);
    if (!gone.empty())
      return fmt::format("{}: its process ended, or its host was cut off; rank {} lost the connection to it", gone,
                         *severed.begin());
  }
  if (const std::optional<int> rank = m_told.exited()) {
    const auto found = m_ranks.find(*rank);
    return fmt::format("rank {} ended with code {}{}", *rank, exitCode,
                       found == m_ranks.end()
                           ? std::string()
                           : fmt::format(" on {}, {}", found->second.sign.host, place(found->second.sign)));
  }
  if (signal != 0) return fmt::format("the launcher of the ranks was ended by {}{}", causeOf(signal), waiting({}));
  return fmt::format("the launcher of the ranks ended with code {}{}", exitCode, waiting({}));
}

}  // namespace loom
