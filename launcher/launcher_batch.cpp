// What a batch system decides about a run: whether it goes on after a last word of its own, and why it was ended.
#include <algorithm>
#include <ranges>

#include "launcher/launcher.h"

namespace loom {

// A run of a batch system that has stopped or failed may be in its queue again.
void Launcher::holdLastWord(const QString& id) {
  const auto active = m_active.find(id);
  const RunRecord* const run = m_store.find(id);
  if (!run || active == m_active.end() || active->end || !active->executor->mayStartAgain()) return;
  if (run->state == RunState::stopped || run->state == RunState::failed) {
    active->lastWord = run->state;
    m_store.setState(id, RunState::stopping, run->message);
  } else if (active->lastWord && !neverBegan(id)) {  // the next start, before the host told of its queue
    active->lastWord.reset();
    m_store.setState(id, RunState::running);
  }
}

// It may have run before: a job that a batch system starts again stands in its queue without a last word.
void Launcher::waitsThere(const QString& id) {
  const auto active = m_active.find(id);
  const RunRecord* const run = m_store.find(id);
  if (!run || active == m_active.end()) return;
  if (std::exchange(active->lastWord, std::nullopt) || run->state == RunState::running)
    m_store.setState(id, RunState::starting);
}

// The host has said that nothing follows, and perhaps why it ended, which says more than that it was stopped.
void Launcher::tellLastWord(const QString& id, RunState lastWord, const JobEnd& end) {
  const RunRecord* const run = m_store.find(id);
  if (!run || run->state != RunState::stopping) return;
  const QString host = end.sentence.isEmpty() ? QString() : end.sentence.left(1).toUpper() + end.sentence.mid(1) + '.';
  QString sentence = run->message;
  if (!host.isEmpty())
    sentence = lastWord == RunState::stopped || sentence.isEmpty() ? host
               : sentence.endsWith('.')                            ? sentence + ' ' + host
                                                                   : sentence + ". " + host;
  m_store.setState(id, lastWord, sentence);
}

// Of a run that is followed again: what its log says of its end, if nothing came after it.
std::optional<RunState> Launcher::lastWordOf(const RunRecord& run) {
  if (run.state != RunState::stopping) return {};
  for (const std::vector<Event> events = m_store.events(run.id); const Event& each : std::views::reverse(events)) {
    if (each.kind == "started") return {};
    if (each.kind == "finished")
      return each.body.value("reason", std::string()) == "stopped" ? RunState::stopped : RunState::failed;
  }
  return {};
}

// Whether nothing was heard of its newest start.
bool Launcher::neverBegan(const QString& id) {
  const std::vector<Event> events = m_store.events(id);
  const auto last = std::find_if(events.rbegin(), events.rend(),
                                 [](const Event& each) { return each.kind == "started" || each.kind == "finished"; });
  return last == events.rend() || last->kind == "finished";
}

}  // namespace loom
