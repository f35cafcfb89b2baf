#pragma once
// One question about a run's curves that is asked anew as a page changes. What is in memory answers at once; what would
// have to be read from the database is read beside the window's thread: until then the answer before stands, and the
// asker is told when a newer one is there.
#include <QString>
#include <functional>
#include <optional>
#include <utility>

#include "launcher/store/run_store.h"
#include "widgets/document/newest_task.h"

namespace loom {

// Window's thread. Both Asked and Answer are plain values.
template <class Asked, class Answer>
class StoreQuestion {
 public:
  // `reply` runs on any thread and looks at its arguments alone; `told` on the window's.
  using Reply = std::function<Answer(const RunData& curves, const Asked& asked)>;
  StoreQuestion(const RunStore& store, QString run, Reply reply, std::function<void()> told)
      : m_store(store), m_run(std::move(run)), m_reply(std::move(reply)), m_told(std::move(told)) {}

  // The answer, or while it is read the one to what was asked before (see answered()), or null. Holds until the next
  // question.
  const Answer* ask(const Asked& asked) {
    const std::int64_t version = m_store.savedVersion(m_run);
    Answer now{};
    const auto reply = [&](const RunData& curves) { now = m_reply(curves, asked); };
    if (m_store.askMemory(m_run, reply)) return take(asked, kOfMemory, std::move(now));
    if (m_asked && *m_asked == asked && m_version == version) return &m_answer;
    // Of a run that grows, what was let go while nobody looked comes back at once: the database is a second behind its
    // last points.
    const auto reading = m_unreadable || !m_store.allSaved(m_run) ? nullptr : m_store.reading(m_run);
    if (!reading) {
      m_store.ask(m_run, reply);
      return take(asked, kOfMemory, std::move(now));
    }
    if (!m_task.busy()) read(reading, asked, version);
    return m_asked ? &m_answer : nullptr;
  }
  const std::optional<Asked>& answered() const { return m_asked; }

 private:
  static constexpr std::int64_t kOfMemory = -1;  // what grows without a new version: asked again each time

  const Answer* take(const Asked& asked, std::int64_t version, Answer answer) {
    m_asked = asked;
    m_version = version;
    m_answer = std::move(answer);
    return &m_answer;
  }
  // One question at a time, and none is given up for the next: a curve that grows all the time would never be answered.
  void read(std::function<void(const CurveQuestion&)> reading, const Asked& asked, std::int64_t version) {
    m_task.ask([this, reading = std::move(reading), reply = m_reply, asked,
                version](const std::atomic<bool>&) -> NewestTask::Answer {
      try {
        Answer found{};
        reading([&](const RunData& curves) { found = reply(curves, asked); });
        return [this, asked, version, found = std::move(found)] {
          take(asked, version, found);
          m_told();
        };
      } catch (const std::exception&) {
        return [this] {
          m_unreadable = true;
          m_told();
        };
      }
    });
  }

  const RunStore& m_store;
  QString m_run;
  Reply m_reply;
  std::function<void()> m_told;
  std::optional<Asked> m_asked;        // what m_answer answers
  std::int64_t m_version = kOfMemory;  // of what was saved
  Answer m_answer{};
  bool m_unreadable = false;  // beside the window's thread: the store says why
  NewestTask m_task;
};

}  // namespace loom
