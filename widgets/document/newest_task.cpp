#include "widgets/document/newest_task.h"

#include <QCoreApplication>
#include <QPointer>
#include <utility>

#include "widgets/document/background.h"

namespace loom {

NewestTask::~NewestTask() {
  forget();
}

void NewestTask::ask(Work work) {
  if (m_outdated) *m_outdated = true;
  if (m_busy)
    m_next = std::move(work);
  else
    start(std::move(work));
}

void NewestTask::forget() {
  if (m_outdated) *m_outdated = true;
  m_next = nullptr;
}

// The answer travels by the application, which outlives its thread pool's work; whether the asker is still there is
// looked at on the window's thread alone.
void NewestTask::start(Work work) {
  m_busy = true;
  m_outdated = std::make_shared<std::atomic<bool>>(false);
  besideTheWindow([self = QPointer<NewestTask>(this), outdated = m_outdated, work = std::move(work)] {
    Answer answer = work(*outdated);
    QMetaObject::invokeMethod(
        QCoreApplication::instance(),
        [self, outdated, answer = std::move(answer)] {
          if (self) self->finished(answer, *outdated);
        },
        Qt::QueuedConnection);
  });
}

void NewestTask::finished(const Answer& answer, bool outdated) {
  m_busy = false;
  if (m_next) start(std::exchange(m_next, nullptr));
  if (answer && !outdated) answer();
}

}  // namespace loom
