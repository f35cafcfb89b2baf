#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "engine/base/error.h"
#include "engine/run/exit_code.h"
#include "engine/run/file_lock.h"
#include "engine/run/run_lock.h"
#include "tests/engine/run/folder.h"

namespace loom {
namespace {

TEST(Lock, OneHolderAtATimeAndTheSecondIsTold) {
  const TestFolder folder("lock");
  const RunFolder run{folder.path() / "new"};
  EXPECT_FALSE(run.running());
  {
    const RunLock lock(run);
    EXPECT_TRUE(run.running());
    try {
      const RunLock second(run);
      FAIL() << "two holders";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::badArgument);
      EXPECT_THAT(error.what(), testing::HasSubstr("process " + std::to_string(::getpid())));
      EXPECT_THAT(error.what(), testing::HasSubstr("--run"));
    }
    EXPECT_TRUE(run.running());
  }
  EXPECT_FALSE(run.running());
  const RunLock again(run);
}

TEST(Lock, AFileSystemWithoutLocksIsNotAnotherProcess) {
  EXPECT_EQ(lockRefusal(EWOULDBLOCK), LockOutcome::elsewhere);
  for (const int each : {ENOLCK, ENOSYS, EOPNOTSUPP}) EXPECT_EQ(lockRefusal(each), LockOutcome::unsupported);
  EXPECT_EQ(lockRefusal(EBADF), LockOutcome::failed);
  EXPECT_EQ(takeLock(-1, LockKind::exclusive), LockOutcome::failed);
}

TEST(Lock, IsFreedByAKilledHolder) {
  const TestFolder folder("lock-killed");
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const RunLock lock(folder.run());
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    ::pause();
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(folder.run().running());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(folder.run().running());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(ExitCode, TellsTheKindsApart) {
  std::set<int> codes;
  for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code) {
    const auto kind = static_cast<ErrorCode>(code);
    EXPECT_TRUE(codes.insert(exitCode(kind)).second) << toString(kind);
    EXPECT_NE(exitCode(kind), 0);
    EXPECT_EQ(errorOfExit(exitCode(kind)), kind);
  }
  EXPECT_FALSE(errorOfExit(0));
  EXPECT_FALSE(errorOfExit(127));
}

}  // namespace
}  // namespace loom
