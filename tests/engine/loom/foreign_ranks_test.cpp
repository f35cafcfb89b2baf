// Ranks that another MPI's launcher started, by Debian's MPICH itself: the engine's module is linked with Open MPI, and
// the two speak different protocols at start (PMI-1 and PMIx), so each rank would take itself for the only one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "engine/base/files.h"
#include "engine/run/exit_code.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(ForeignRanks, OfMpichAreRefusedInOneSentence) {
  if (std::system("command -v mpiexec.hydra >/dev/null") != 0)
    GTEST_SKIP() << "no mpiexec.hydra here (Debian's package mpich)";
  const Workshop workshop("mpich");
  workshop.write("p.loom", formatJson(perceptron()));
  const auto loom = [&](int ranks, const std::string& run) {
    const int status = std::system(fmt::format("cd {} && mpiexec.hydra -n {} {} train p.loom --run {} > said.txt 2>&1",
                                               workshop.path().string(), ranks, LOOM_PROGRAM, run)
                                       .c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  EXPECT_EQ(loom(2, "two"), exitCode(ErrorCode::communication));
  EXPECT_THAT(readFile(workshop.path() / "said.txt"),
              AllOf(HasSubstr("rank 1 of 2 of an mpiexec of MPICH's family"), HasSubstr("linked with Open MPI"),
                    HasSubstr("Open MPI's mpirun"), HasSubstr("srun --mpi=pmix")));
  EXPECT_FALSE(std::filesystem::exists(workshop.path() / "two/run.json")) << "none of them began";
  EXPECT_EQ(loom(1, "one"), 0) << "one rank needs no other: " << readFile(workshop.path() / "said.txt");
}

}  // namespace
}  // namespace loom
