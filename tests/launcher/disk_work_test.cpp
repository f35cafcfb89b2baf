// Who waits for the disk: this file stands in the place of the system's calls and counts them by thread.
#include "launcher/store/disk_work.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <QCoreApplication>
#include <QFileInfo>
#include <QTemporaryDir>
#include <atomic>

#include "launcher/store/database.h"
#include "launcher/store/run_store.h"

namespace {

std::atomic<int> g_here = 0, g_beside = 0;

void countWait() {
  ++(::getpid() == static_cast<pid_t>(::syscall(SYS_gettid)) ? g_here : g_beside);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int fsync(int file) {
  countWait();
  return static_cast<int>(::syscall(SYS_fsync, file));
}
extern "C" __attribute__((visibility("default"))) int fdatasync(int file) {
  countWait();
  return static_cast<int>(::syscall(SYS_fdatasync, file));
}

namespace loom {
namespace {

TEST(DiskWork, runsThatComeInLetNobodyWait) {
  const QTemporaryDir folder;
  RunStore store(folder.path());
  const auto add = [&](int number) {
    RunRecord run;
    run.id = run.name = QString::number(number);
    run.folder = folder.filePath(run.id);
    store.add(run);
  };
  add(0);  // which begins the log
  waitForDisk();
  g_here = g_beside = 0;
  for (int i = 1; i <= 20; ++i) add(i);
  EXPECT_EQ(g_here, 0);
  waitForDisk();
  EXPECT_GE(g_beside, 2);  // where the runs are, and what they were given
  EXPECT_GT(QFileInfo(folder.filePath("folders.txt")).size(), 0);
}

TEST(DiskWork, aLongLogIsBroughtIntoItsFileBesideWhoWrites) {
  const QTemporaryDir folder;
  const QString file = folder.filePath("some.db");
  Database database(file);
  database.run("CREATE TABLE pieces (data BLOB)");
  waitForDisk();
  g_here = g_beside = 0;
  {
    Transaction transaction(database);
    Statement insert(database, "INSERT INTO pieces VALUES (?)");
    for (int i = 0; i < 20; ++i) insert.with(QByteArray(1 << 20, static_cast<char>('a' + i))).run();
    transaction.commit();
  }
  EXPECT_EQ(g_here, 0);
  waitForDisk();
  EXPECT_GE(g_beside, 2);
  EXPECT_GT(QFileInfo(file).size(), 20 << 20);
  Statement sum(database, "SELECT count(*) FROM pieces");
  ASSERT_TRUE(sum.step());
  EXPECT_EQ(sum.integer(0), 20);
}

}  // namespace
}  // namespace loom
