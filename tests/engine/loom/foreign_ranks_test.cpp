// Ranks that another MPI's launcher started, by Debian's MPICH itself where it is installed, else with what it tells
// its ranks: the engine's module is linked with Open MPI, and the two speak different protocols at start (PMI-1 and
// PMIx), so each rank would take itself for the only one.
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
  const bool installed = std::system("command -v mpiexec.hydra >/dev/null") == 0;
  const Workshop workshop("mpich");
  workshop.write("p.loom", formatJson(perceptron()));
  const auto loom = [&](int ranks, const std::string& run) {
    const std::string start = installed ? fmt::format("mpiexec.hydra -n {}", ranks)
                                        : fmt::format("env PMI_SIZE={} PMI_RANK={} PMI_FD=7", ranks, ranks - 1);
    const int status = std::system(fmt::format("cd {} && {} {} train p.loom --run {} > said.txt 2>&1",
                                               workshop.path().string(), start, LOOM_PROGRAM, run)
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
