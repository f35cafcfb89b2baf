#pragma once
// Work beside the window's thread that nobody ever waits for. It knows its owner by name alone: what it posts arrives
// on the window's thread while the owner is there and has not cancelled, and is dropped otherwise. What it reads it
// brings along as copies.
#include <QCoreApplication>
#include <QPointer>
#include <atomic>
#include <functional>
#include <memory>

namespace loom {

// Starts `work`, which must not throw, in the application's pool; the application's end waits for it.
void besideTheWindow(std::function<void()> work);

template <class Owner>
class Background {
 public:
  explicit Background(Owner* owner) : m_owner(owner), m_cancelled(std::make_shared<std::atomic<bool>>(false)) {}

  void start(std::function<void(const Background&)> work) const {
    besideTheWindow([copy = *this, work = std::move(work)] { work(copy); });
  }
  void cancel() const { *m_cancelled = true; }
  bool cancelled() const { return *m_cancelled; }

  // From any thread. The way leads over the application: only the window's thread looks whether the owner still is.
  void post(std::function<void(Owner&)> done) const {
    QMetaObject::invokeMethod(
        QCoreApplication::instance(),
        [owner = m_owner, cancelled = m_cancelled, done = std::move(done)] {
          if (owner && !*cancelled) done(*owner);
        },
        Qt::QueuedConnection);
  }

 private:
  QPointer<Owner> m_owner;
  std::shared_ptr<std::atomic<bool>> m_cancelled;
};

}  // namespace loom
