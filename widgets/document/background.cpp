#include "widgets/document/background.h"

#include <QThreadPool>

namespace loom {

// Most of what runs here waits for a disk: more of it may go on at once than there are cores.
void besideTheWindow(std::function<void()> work) {
  constexpr int kAtOnce = 8;
  QThreadPool& pool = *QThreadPool::globalInstance();
  if (pool.maxThreadCount() < kAtOnce) pool.setMaxThreadCount(kAtOnce);
  pool.start(std::move(work));
}

}  // namespace loom
