#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "engine/agent/command.h"
#include "engine/agent/facts.h"
#include "engine/agent/launch_words.h"
#include "engine/base/json.h"
#include "tests/engine/run/folder.h"

using namespace loom;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

namespace {

std::vector<std::string> wordsFor(const Json& launch) {
  return launchWords(JobFolder("/r/a"), launch, "/e/loom");
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& each : words) text += each + " ";
  return text;
}

TEST(LaunchWords, OneRankNeedsNoMpi) {
  EXPECT_THAT(wordsFor({{"ranks", 1}, {"overrides", {"seed=2", "name=a b;$(c)"}}}),
              ElementsAre("/e/loom", "train", "/r/a/project.loom", "--run", "/r/a", "--set", "seed=2", "--set",
                          "name=a b;$(c)"));
}

TEST(LaunchWords, WhereTheDataLieNowIsSaid) {
  EXPECT_THAT(wordsFor({{"ranks", 1}, {"data", {"training=/b/data/1 f.pack", "validation=/b/2.pack"}}}),
              ElementsAre("/e/loom", "train", "/r/a/project.loom", "--run", "/r/a", "--data",
                          "training=/b/data/1 f.pack", "--data", "validation=/b/2.pack"));
}

TEST(LaunchWords, RanksGoThroughMpirun) {
  const Json launch = {{"ranks", 3},
                       {"hosts", {{{"name", "h1"}, {"ranks", 2}}, {{"name", "h2"}, {"ranks", 1}}}},
                       {"mpirun", {"/opt/mpirun", "--mca", "btl", "tcp,self"}}};
  const auto words = joined(wordsFor(launch));
  EXPECT_EQ(hostLines(launch), "h1 slots=2\nh2 slots=1\n");
  EXPECT_THAT(words, testing::StartsWith("/e/loom supervise --run /r/a -- /opt/mpirun --mca btl tcp,self "));
  EXPECT_THAT(words, HasSubstr(" --hostfile /r/a/hosts -n 3 /e/loom train "));
  EXPECT_THAT(words, HasSubstr("oob_tcp_keepalive_time"));
  EXPECT_EQ(words.find("--allow-run-as-root") != std::string::npos, ::geteuid() == 0);
}

TEST(LaunchWords, AFolderOfLibrariesIsSearchedFirstByEveryRank) {
  const auto one = wordsFor({{"ranks", 1}, {"libraries", "/opt/a b$(c)"}, {"prefix", {"apptainer", "exec", "i.sif"}}});
  EXPECT_THAT(joined(one), testing::StartsWith("apptainer exec i.sif sh -c "));
  EXPECT_THAT(joined(one), HasSubstr(" /opt/a b$(c) /e/loom train /r/a/project.loom "));
  EXPECT_THAT(joined(wordsFor({{"ranks", 2}, {"libraries", "/opt/n"}})), HasSubstr(" -n 2 sh -c "));
  std::vector<std::string> words = librariesWords("/opt/a b$(c)");
  words.insert(words.end(), {"sh", "-c", "printf %s \"$LD_LIBRARY_PATH\""});
  ::setenv("LD_LIBRARY_PATH", "/before", 1);
  EXPECT_EQ(runCommand(words).output, "/opt/a b$(c):/before");
  ::unsetenv("LD_LIBRARY_PATH");
  EXPECT_EQ(runCommand(words).output, "/opt/a b$(c)");
  EXPECT_TRUE(librariesWords("").empty());
}

// What Slurm sends before it ends a job is for the batch script, which has a checkpoint written.
TEST(LaunchWords, UnderABatchSystemTheWatcherIsDeafToItsSignal) {
  EXPECT_THAT(joined(wordsFor({{"ranks", 2}, {"slurm", {{"continue", 0}}}})),
              testing::StartsWith("/e/loom supervise --run /r/a --batch -- mpirun "));
  EXPECT_THAT(joined(wordsFor({{"ranks", 2}})), testing::Not(HasSubstr("--batch")));
}

TEST(LaunchWords, HowLongARankMayStandStillIsTold) {
  EXPECT_THAT(joined(wordsFor({{"ranks", 2}, {"stalled_after", 300}})),
              testing::StartsWith("/e/loom supervise --run /r/a --stalled-after 300 -- mpirun "));
}

TEST(LaunchWords, TheRanksOfACheckNeedNoWatcher) {
  const auto words = joined(wordsFor({{"ranks", 2}, {"probe", true}}));
  EXPECT_THAT(words, testing::StartsWith("mpirun "));
  EXPECT_THAT(words, testing::Not(HasSubstr("--hostfile")));
  EXPECT_THAT(words, testing::EndsWith(" /e/loom agent --probe "));
}

TEST(LaunchWords, TheRanksOfAMeasurementAddUp) {
  const auto words = joined(wordsFor({{"ranks", 2}, {"probe", true}, {"sweep", 0.5}}));
  EXPECT_THAT(words, testing::StartsWith("mpirun "));
  EXPECT_THAT(words, testing::EndsWith(" /e/loom bench allreduce --json --seconds 0.5 "));
}

TEST(LaunchWords, OnlyModuleLinesMeetAShell) {
  const auto words = wordsFor({{"ranks", 1},
                               {"modules", {"module load openmpi"}},
                               {"prefix", {"apptainer", "exec", "my image.sif"}},
                               {"overrides", {"a=$(touch x)"}}});
  ASSERT_GT(words.size(), 7u);
  EXPECT_EQ(words[0], "bash");
  EXPECT_EQ(words[2], "/r/a/modules.sh");  // what the lines say is nobody else's: it stands in no process's words
  EXPECT_EQ(modulesScript({{"modules", {"module load openmpi", "export TOKEN=x"}}}),
            "module load openmpi\nexport TOKEN=x\nexec \"$@\"\n");
  EXPECT_EQ(words[5], "my image.sif");
  EXPECT_EQ(words.back(), "a=$(touch x)");
}

TEST(LaunchWords, EachLauncherHearsItsOwnWords) {
  const Json two = {{"ranks", 3}, {"hosts", {{{"name", "h1"}, {"ranks", 2}}, {{"name", "h2"}, {"ranks", 1}}}}};
  const auto wordsOf = [&](RankLauncher launcher, const std::vector<std::string>& program) {
    Json launch = two;
    launch["mpirun"] = program;
    return joined(launchWords(JobFolder("/r/a"), launch, "/e/loom", launcher));
  };
  const auto hydra = wordsOf(RankLauncher::hydra, {"mpiexec", "-bind-to", "core"});
  EXPECT_THAT(hydra, HasSubstr(" -- mpiexec -bind-to core -hosts h1:2,h2:1 -n 3 /e/loom train "));
  const auto srun = wordsOf(RankLauncher::srun, {"srun", "--mpi=pmix_v4"});
  EXPECT_THAT(srun, HasSubstr(" -- srun --mpi=pmix_v4 --kill-on-bad-exit=1 "));
  EXPECT_THAT(srun, HasSubstr(" --nodelist=h1,h2 --ntasks=3 /e/loom train "));
  EXPECT_THAT(wordsOf(RankLauncher::srun, {"srun"}), HasSubstr(" -- srun --mpi=pmix "));
  for (const auto& each : {hydra, srun}) {
    EXPECT_EQ(each.find("--mca"), std::string::npos);
    EXPECT_EQ(each.find("--allow-run-as-root"), std::string::npos);
  }
}

TEST(RankLaunchers, MakeThemselvesKnown) {
  EXPECT_EQ(rankLauncherNamed({"/usr/bin/srun", "--mpi=pmix"}), RankLauncher::srun);
  EXPECT_EQ(rankLauncherNamed({"mpiexec.hydra"}), RankLauncher::hydra);
  EXPECT_EQ(rankLauncherNamed({"mpirun.mpich"}), RankLauncher::hydra);
  EXPECT_EQ(rankLauncherNamed({"mpirun.openmpi"}), RankLauncher::openMpi);
  EXPECT_FALSE(rankLauncherNamed({"mpirun"}));
  EXPECT_EQ(rankLauncherFrom("mpirun (Open MPI) 4.1.4\n"), RankLauncher::openMpi);
  EXPECT_EQ(rankLauncherFrom("prterun (PRRTE) 3.0.2\n"), RankLauncher::openMpi);
  EXPECT_EQ(rankLauncherFrom("HYDRA build details:\n    Version: 4.0.2\n"), RankLauncher::hydra);
  EXPECT_EQ(rankLauncherFrom("Intel(R) MPI Library for Linux* OS, Version 2021.9\n"), RankLauncher::hydra);
  EXPECT_EQ(rankLauncherFrom("slurm 22.05.8"), RankLauncher::srun);
  EXPECT_EQ(exportWords({"mpiexec.hydra"}, "X"), std::vector<std::string>());
  EXPECT_EQ(exportWords({"sh", "-c", "mpirun"}, "X"), std::vector<std::string>());
  EXPECT_THAT(exportWords({"mpirun.openmpi"}, "X"), ElementsAre("-x", "X"));
}

TEST(Names, WhatMayBeAJobAndAFolder) {
  for (const char* good : {"digits-20261121-101502-7f3a", "a", "A.b_c", "_x-20261121"})
    EXPECT_TRUE(isJobId(good)) << good;
  for (const char* bad : {"", ".", "..", ".a", "-n", "a/b", "a b", "a;b", "a\nb", "ä"})
    EXPECT_FALSE(isJobId(bad)) << bad;
  EXPECT_FALSE(isJobId(std::string(121, 'a')));
  for (const char* good : {"/scratch/mara/.cache", "~/x+y@z", "/a%b=c,d"}) EXPECT_TRUE(isPlainPath(good)) << good;
  for (const char* bad :
       {"", "/a b", "/a;b", "/a'b", "/a\"b", "/a\nb", "/a$b", "/a`b", "/a*", "-x", "/a\\b", "/a&b", "/a|b", "/a(b)"})
    EXPECT_FALSE(isPlainPath(bad)) << bad;
}

// A file system that cannot take room by itself (NFS) is not filled to find out whether there is some.
TEST(Room, IsTakenByTheFileSystemOrReadOff) {
  const TestFolder folder("room");
  std::int64_t taken = 0;
  const auto cannot = [&taken](int, std::int64_t bytes) {
    taken = bytes;
    return EOPNOTSUPP;
  };
  EXPECT_EQ(whyNoRoom(folder.path(), 1000, cannot), "");
  EXPECT_EQ(taken, 1000);
  EXPECT_THAT(whyNoRoom(folder.path(), std::int64_t{1} << 58, cannot), HasSubstr("do not fit"));
  EXPECT_THAT(whyNoRoom(folder.path(), 1000, [](int, std::int64_t) { return EDQUOT; }), HasSubstr("do not fit"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Command, CarriesInputOutputAndEnds) {
  const CommandResult cat = runCommand({"cat"}, {.input = std::string(300000, 'x')});
  EXPECT_TRUE(cat.ok());
  EXPECT_EQ(cat.output.size(), 300000u);
  const CommandResult bad = runCommand({"sh", "-c", "echo no >&2; exit 3"});
  EXPECT_EQ(bad.code, 3);
  EXPECT_EQ(bad.why("sh"), "no");
  EXPECT_FALSE(runCommand({"no-such-program-here"}).started);
  const CommandResult late = runCommand({"sh", "-c", "sleep 100 & wait"}, {.limit = std::chrono::milliseconds(100)});
  EXPECT_TRUE(late.timedOut);
  EXPECT_EQ(runCommand({"printf", "%s", "a b;$(c)\n"}).output, "a b;$(c)\n");
}

}  // namespace
