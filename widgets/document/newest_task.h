#pragma once
// One question at a time, answered beside the window's thread; the newest question wins. While one is worked on, the
// next waits, and one that waits is replaced by a newer one. Nobody ever waits for an answer: what is asked takes
// copies, and an answer whose asker is gone or that a newer question made old is dropped.
#include <QObject>
#include <atomic>
#include <functional>
#include <memory>

namespace loom {

class NewestTask : public QObject {
  Q_OBJECT

 public:
  using Answer = std::function<void()>;  // runs on the window's thread; empty = nothing to say
  // Runs beside it and must not throw; may look at `outdated` to end early.
  using Work = std::function<Answer(const std::atomic<bool>& outdated)>;

  using QObject::QObject;
  ~NewestTask() override;

  void ask(Work work);
  void forget();  // no answer is wanted any more
  bool busy() const { return m_busy; }

 private:
  void start(Work work);
  void finished(const Answer& answer, bool outdated);

  Work m_next;
  std::shared_ptr<std::atomic<bool>> m_outdated;
  bool m_busy = false;
};

}  // namespace loom
