#include "widgets/document/background.h"

#include <QCoreApplication>
#include <QThreadPool>
#include <memory>

#include "widgets/document/background_pool.h"

namespace loom {
namespace {

std::unique_ptr<QThreadPool>& poolBesideTheWindow() {
  static std::unique_ptr<QThreadPool> pool;
  return pool;
}

}  // namespace

// Most of what runs here waits for a disk: more of it may go on at once than there are cores. In a pool of its own:
// what QPainter fills it divides among the threads of the application's, and the window would wait for the disk after
// all.
void besideTheWindow(std::function<void()> work) {
  constexpr int kAtOnce = 8;
  std::unique_ptr<QThreadPool>& pool = poolBesideTheWindow();
  if (!pool) {
    pool = std::make_unique<QThreadPool>();
    pool->setMaxThreadCount(kAtOnce);
    qAddPostRoutine([] { poolBesideTheWindow().reset(); });  // which waits until all is done, while the application is
  }
  pool->start(std::move(work));
}

bool nothingBesideTheWindow(int ms) {
  return !poolBesideTheWindow() || poolBesideTheWindow()->waitForDone(ms);
}

}  // namespace loom
