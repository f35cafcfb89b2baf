#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/agent/command.h"
#include "engine/agent/slurm.h"
#include "engine/agent/supervisor.h"
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

TEST(LaunchWords, OnlyModuleLinesMeetAShell) {
  const auto words = wordsFor({{"ranks", 1},
                               {"modules", {"module load openmpi"}},
                               {"prefix", {"apptainer", "exec", "my image.sif"}},
                               {"overrides", {"a=$(touch x)"}}});
  ASSERT_GT(words.size(), 8u);
  EXPECT_EQ(words[0], "bash");
  EXPECT_EQ(words[3], "module load openmpi\nexec \"$@\"");
  EXPECT_EQ(words[7], "my image.sif");
  EXPECT_EQ(words.back(), "a=$(touch x)");
}

TEST(Names, WhatMayBeAJobAndAFolder) {
  for (const char* good : {"digits-20261121-101502-7f3a", "a", "A.b_c"}) EXPECT_TRUE(isJobId(good)) << good;
  for (const char* bad : {"", ".", "..", ".a", "-n", "a/b", "a b", "a;b", "a\nb", "ä"})
    EXPECT_FALSE(isJobId(bad)) << bad;
  EXPECT_FALSE(isJobId(std::string(121, 'a')));
  for (const char* good : {"/scratch/mara/.cache", "~/x+y@z", "/a%b=c,d"}) EXPECT_TRUE(isPlainPath(good)) << good;
  for (const char* bad :
       {"", "/a b", "/a;b", "/a'b", "/a\"b", "/a\nb", "/a$b", "/a`b", "/a*", "-x", "/a\\b", "/a&b", "/a|b", "/a(b)"})
    EXPECT_FALSE(isPlainPath(bad)) << bad;
}

TEST(SlurmState, WhatIsNotKnownIsNotFinished) {
  EXPECT_EQ(slurmStateFrom("PENDING|Priority\n").phase, JobPhase::queued);
  EXPECT_THAT(slurmStateFrom("PENDING|Priority\n").detail, HasSubstr("Priority"));
  EXPECT_EQ(slurmStateFrom("RUNNING|None").phase, JobPhase::running);
  EXPECT_EQ(slurmStateFrom("TIMEOUT|TimeLimit").phase, JobPhase::ended);
  EXPECT_EQ(slurmStateFrom("PERHAPS|None").phase, JobPhase::unknown);
  EXPECT_EQ(slurmStateFrom("").phase, JobPhase::unknown);
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
