#include "launcher/store/disk_work.h"

#include <fcntl.h>
#include <unistd.h>

#include <QFile>
#include <QSet>
#include <QThreadPool>
#include <functional>
#include <mutex>

#include "launcher/store/database.h"

namespace loom {
namespace {

struct DiskThread {
  QThreadPool pool;
  std::mutex mutex;
  QSet<QString> waiting;

  DiskThread() { pool.setMaxThreadCount(1); }
  // Once, however often it is asked for before it begins.
  void ask(const QString& what, std::function<void()> work) {
    const std::lock_guard lock(mutex);
    if (waiting.contains(what)) return;
    waiting.insert(what);
    pool.start([this, what, work = std::move(work)] {
      {
        const std::lock_guard begun(mutex);
        waiting.remove(what);
      }
      work();
    });
  }
};

// As long as the program: whoever has something asked for waits for it before he goes.
DiskThread& diskThread() {
  static auto* const thread = new DiskThread;
  return *thread;
}

}  // namespace

void syncSoon(const QString& file) {
  diskThread().ask("sync " + file, [path = QFile::encodeName(file)] {
    const int number = ::open(path.constData(), O_RDONLY | O_CLOEXEC);
    if (number < 0) return;
    ::fsync(number);
    ::close(number);
  });
}

void checkpointSoon(const QString& database) {
  diskThread().ask("checkpoint " + database, [database] {
    try {
      // Passive: nobody who reads or writes waits for it, and it waits for nobody.
      Database(database).run("PRAGMA wal_checkpoint(PASSIVE)");
    } catch (const std::exception&) {
      // The disk is full, or the file went: who writes next hears of it, and the log has it all.
    }
  });
}

void waitForDisk() {
  diskThread().pool.waitForDone();
}

}  // namespace loom
