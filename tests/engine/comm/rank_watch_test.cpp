// What the supervisor says in each case, from signs of life at given times.
#include "engine/comm/rank_watch.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loom {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

const RankWatch::Time kBegin{};

RankSign sign(int rank, const char* host, std::uint64_t entered, std::uint64_t left) {
  return {.rank = rank,
          .ranks = 4,
          .host = host,
          .pid = 100 + rank,
          .step = 12,
          .entered = entered,
          .left = left,
          .progress = left,
          .operation = "all-reduce",
          .subject = "gradients of conv4/weight"};
}

TEST(RankSign, SurvivesTheLine) {
  RankSign sent = sign(3, "node2", 7, 6);
  sent.failed = "row 4, \"x\": 12\nlines";
  const std::string line = toLine(sent);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto got = parseSign("[1,3]<stderr>:" + line);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->rank, 3);
  EXPECT_EQ(got->pid, 103);
  EXPECT_EQ(got->entered, 7u);
  EXPECT_EQ(got->subject, sent.subject);
  EXPECT_EQ(got->failed, sent.failed);
  EXPECT_FALSE(parseSign("training 50 samples"));
  EXPECT_FALSE(parseSign(line.substr(0, line.size() / 2)));
  EXPECT_FALSE(parseSign("@loom-rank [1]"));
}

// Every second each rank of `alive` says that it goes on.
void hear(RankWatch& watch, const std::vector<RankSign>& alive, int from, int to) {
  for (int second = from; second <= to; ++second)
    for (RankSign one : alive) {
      one.progress += static_cast<std::uint64_t>(second);
      watch.hear(toLine(one), kBegin + seconds(second));
    }
}

TEST(RankWatch, IsSilentWhileAllGoOn) {
  RankWatch watch;
  hear(watch, {sign(0, "a", 5, 5), sign(1, "b", 5, 4)}, 0, 200);
  EXPECT_FALSE(watch.verdict(kBegin + seconds(202)));
  EXPECT_EQ(watch.step(), 12);
}

TEST(RankWatch, NamesAHostThatIsCutOff) {
  RankWatch watch;
  hear(watch, {sign(0, "a", 6, 5), sign(1, "a", 6, 5), sign(2, "b", 5, 5), sign(3, "b", 5, 5)}, 0, 5);
  hear(watch, {sign(0, "a", 6, 5), sign(1, "a", 6, 5)}, 6, 15);
  EXPECT_FALSE(watch.verdict(kBegin + seconds(13)));
  const auto verdict = watch.verdict(kBegin + seconds(15));
  ASSERT_TRUE(verdict);
  EXPECT_THAT(*verdict, AllOf(HasSubstr("host b with rank 2, 3 has been cut off"), HasSubstr("10 s"),
                              HasSubstr("rank 0 waited in all-reduce of gradients of conv4/weight after step 12")));
}

TEST(RankWatch, NamesARankThatIsStopped) {
  RankWatch watch;
  hear(watch, {sign(0, "a", 6, 5), sign(1, "a", 5, 5)}, 0, 5);
  hear(watch, {sign(0, "a", 6, 5)}, 6, 46);
  EXPECT_FALSE(watch.verdict(kBegin + seconds(44)));
  const auto verdict = watch.verdict(kBegin + seconds(46));
  ASSERT_TRUE(verdict);
  EXPECT_THAT(*verdict,
              AllOf(HasSubstr("rank 1 on a (process 101) is stalled: nothing was heard for 41 s"),
                    HasSubstr("between collectives after step 12"), HasSubstr("rank 0 waited in all-reduce")));
}

TEST(RankWatch, NamesARankThatLivesButDoesNotCome) {
  RankWatch watch;
  for (int second = 0; second <= 50; ++second) {
    watch.hear(toLine(sign(0, "a", 6, 5)), kBegin + seconds(second));
    watch.hear(toLine(sign(1, "b", 5, 5)), kBegin + seconds(second));
  }
  const auto verdict = watch.verdict(kBegin + seconds(50));
  ASSERT_TRUE(verdict);
  EXPECT_THAT(*verdict, AllOf(HasSubstr("rank 1 on b"), HasSubstr("it lives, but has not moved on for 50 s"),
                              HasSubstr("rank 0 waits for it in all-reduce")));
}

// A rank says how far it is once a second, the run's log at each step.
TEST(RankWatch, NamesTheStepThatTheLogHasComeTo) {
  RankWatch watch;
  RankSign first = sign(0, "a", 6, 5);
  first.step = 0;
  first.operation = "broadcast";
  hear(watch, {first, sign(1, "b", 6, 5)}, 0, 5);
  watch.hear("mpirun noticed that process rank 0 with PID 4711 on node a exited on signal 9 (Killed).", kBegin);
  watch.logged(146);
  EXPECT_EQ(watch.step(), 146);
  const std::string word = watch.postMortem(137, 0);
  EXPECT_THAT(word, AllOf(HasSubstr("memory ran out, after step 146"), HasSubstr("rank 1 waited after step 146"),
                          testing::Not(HasSubstr("before the first step"))));
  watch.logged(12);
  EXPECT_THAT(watch.postMortem(137, 0), HasSubstr("rank 1 waited in all-reduce"));
}

TEST(RankWatch, ExcusesItsOwnPauses) {
  RankWatch watch;
  hear(watch, {sign(0, "a", 6, 5), sign(1, "b", 5, 5)}, 0, 5);
  watch.excuse(seconds(300));  // the machine slept
  EXPECT_FALSE(watch.verdict(kBegin + seconds(306)));
}

TEST(RankWatch, ARankThatLeftInOrderOwesNothing) {
  RankWatch watch;
  RankSign gone = sign(1, "b", 5, 5);
  gone.done = true;
  hear(watch, {sign(0, "a", 6, 5)}, 0, 100);
  watch.hear(toLine(gone), kBegin + seconds(5));
  EXPECT_FALSE(watch.verdict(kBegin + seconds(100)));
}

TEST(RankWatch, ReadsWhatSrunSays) {
  RankWatch watch;
  hear(watch, {sign(0, "a", 5, 5), sign(1, "b", 6, 5)}, 0, 5);
  EXPECT_FALSE(watch.hear("srun: error: a: task 0: Killed", kBegin));
  EXPECT_FALSE(watch.hear("srun: error: b: task 1: Terminated", kBegin));  // by srun, after it
  EXPECT_THAT(watch.postMortem(137, 0), AllOf(HasSubstr("rank 0 on a (process 100) was ended by signal 9"),
                                              HasSubstr("rank 1 waited in all-reduce")));
}

TEST(RankWatch, ReadsWhatMpirunSays) {
  RankWatch watch;
  hear(watch, {sign(0, "a", 5, 5), sign(1, "b", 6, 5)}, 0, 5);
  EXPECT_FALSE(
      watch.hear("mpirun noticed that process rank 0 with PID 4711 on node a exited on signal 9 (Killed).", kBegin));
  EXPECT_THAT(watch.postMortem(137, 0),
              AllOf(HasSubstr("rank 0 on a (process 4711) was ended by signal 9"), HasSubstr("memory ran out"),
                    HasSubstr("rank 1 waited in all-reduce of gradients of conv4/weight")));

  // Of a rank beside it mpirun tells no number, and of another host the name that it was given.
  RankWatch near;
  hear(near, {sign(0, "a", 5, 5), sign(1, "b", 6, 5)}, 0, 5);
  near.hear("mpirun noticed that process rank 1 with PID 0 on node 10.0.0.2 exited on signal 11 (Segmentation fault).",
            kBegin);
  EXPECT_THAT(near.postMortem(139, 0),
              HasSubstr(fmt::format("rank 1 on b (process {}) was ended by signal 11", sign(1, "b", 6, 5).pid)));

  RankWatch lost;
  hear(lost, {sign(0, "a", 6, 5), sign(1, "b", 5, 5)}, 0, 5);
  lost.hear("  HNP daemon   : [[2,0],0] on node a", kBegin);
  lost.hear("  Remote daemon: [[2,0],1] on node b", kBegin);
  EXPECT_THAT(lost.postMortem(1, 0),
              AllOf(HasSubstr("host b has been cut off"), HasSubstr("rank 1 was last"), HasSubstr("rank 0 waited")));

  RankWatch failed;
  RankSign sad = sign(2, "b", 5, 5);
  sad.failed = "train.csv line 812: the disk is gone";
  failed.hear(toLine(sad), kBegin);
  EXPECT_THAT(failed.postMortem(31, 0), AllOf(HasSubstr("rank 2 on b failed"), HasSubstr("line 812")));

  EXPECT_THAT(RankWatch().postMortem(1, 0), HasSubstr("ended with code 1"));
  RankWatch ended;
  ended.hear("  Process name: [[4711,1],3]", kBegin);
  EXPECT_THAT(ended.postMortem(7, 0), HasSubstr("rank 3 ended with code 7"));
  EXPECT_THAT(RankWatch().postMortem(0, 15), HasSubstr("signal 15"));
}

// Open MPI 5: other names, sentences over lines, and signs of life between them.
TEST(RankWatch, ReadsWhatPrterunSays) {
  const std::vector<RankSign> both{sign(0, "a", 5, 5), sign(1, "b", 6, 5)};
  RankWatch watch;
  hear(watch, both, 0, 5);
  watch.hear("prterun noticed that process rank 0 with PID 4711 on node a exited on", kBegin);
  watch.hear(toLine(both[1]), kBegin + seconds(6));
  watch.hear("signal 9 (Killed).", kBegin);
  watch.hear("----------------", kBegin);
  EXPECT_THAT(watch.postMortem(137, 0), HasSubstr("rank 0 on a (process 4711) was ended by signal 9"));

  RankWatch longName;
  longName.hear("prterun noticed that process rank 3 with PID 4711 on node", kBegin);
  longName.hear("a-host-with-a-long-name.of-a-cluster.example.org exited on signal", kBegin);
  longName.hear("9 (Killed).", kBegin);
  EXPECT_THAT(longName.postMortem(137, 0), HasSubstr("rank 3 on a-host-with-a-long-name.of-a-cluster.example.org"));

  RankWatch lost;
  hear(lost, both, 0, 5);
  lost.hear("  HNP daemon   : [prterun-a-4939@0,0] on node a", kBegin);
  lost.hear("  Remote daemon: [prterun-a-4939@0,1] on node b", kBegin);
  EXPECT_THAT(lost.postMortem(0, 0), AllOf(HasSubstr("host b has been cut off"), HasSubstr("rank 1 was last")));

  // The other end of a connection is the first to notice, and ends the job itself.
  RankWatch severed;
  hear(severed, both, 0, 5);
  severed.hear("[a:00000] *** An error occurred in Socket closed", kBegin);
  severed.hear("[a:00000] *** reported by process [4024565761,0]", kBegin);
  EXPECT_THAT(severed.postMortem(14, 0), AllOf(HasSubstr("rank 1 on b (process 101), last in all-reduce"),
                                               HasSubstr("rank 0 lost the connection to it")));

  RankWatch ended;
  ended.hear("   Process name: [prterun-a-31846@1,2]", kBegin);
  EXPECT_THAT(ended.postMortem(31, 0), HasSubstr("rank 2 ended with code 31"));
}

TEST(RankWatch, NamesAProgramThatAHostLacks) {
  for (const char* lines :
       {"Executable: /scratch/a/bin/loom\nNode: node2\n", "Node:       node2\nExecutable: /scratch/a/bin/loom\n"}) {
    RankWatch watch;
    const std::string text = lines;
    const auto middle = text.find('\n');
    watch.hear("or execute an executable:", kBegin);
    watch.hear(text.substr(0, middle), kBegin);
    watch.hear(text.substr(middle + 1, text.size() - middle - 2), kBegin);
    EXPECT_THAT(watch.postMortem(132, 0),
                AllOf(HasSubstr("host node2 has no /scratch/a/bin/loom"), HasSubstr("one file system")));
  }
  RankWatch watch;
  watch.hear("cannot start mpirun: No such file or directory", kBegin);
  EXPECT_THAT(watch.postMortem(127, 0),
              AllOf(HasSubstr("mpirun cannot be started: No such file or directory"), HasSubstr("Install Open MPI")));
}

}  // namespace
}  // namespace loom
