// Slurm's answers, and its silences.
#include "engine/agent/slurm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <sstream>
#include <thread>

#include "engine/agent/batch_desk.h"
#include "engine/agent/held_jobs.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "tests/engine/agent/fake_slurm.h"
#include "tests/engine/run/folder.h"

using namespace loom;
using testing::HasSubstr;
using namespace std::chrono_literals;

namespace {

class SlurmTest : public testing::Test {
 protected:
  TestFolder m_folder{"slurm"};
  FakeSlurm m_fake{m_folder.path() / "bin"};
  Slurm m_slurm{{.submit = 3s, .answer = 20s, .lookAgain = 20ms}};
  Submission m_job{.script = m_folder.path() / "job.sh", .folder = m_folder.path(), .name = "lars-1"};
};

TEST_F(SlurmTest, ReadsTheNumberOfASubmission) {
  EXPECT_EQ(slurmNumberFrom("sbatch: a plug-in says hello\n1234\n"), "1234");
  EXPECT_EQ(slurmNumberFrom("1234;atlas\n"), "1234;atlas");
  EXPECT_EQ(slurmNumberFrom("sbatch: error\n"), "");
  EXPECT_EQ(slurmNumberFrom("Welcome\nSubmitted batch job 519605\n"), "519605");
  EXPECT_EQ(slurmNumberFrom("Submitted batch job 519605 on cluster atlas\n"), "519605;atlas");
  EXPECT_EQ(slurmNumberFrom("Submitted batch job ; rm -rf\n"), "");
  m_fake.put("cluster", "atlas");
  const std::string number = m_slurm.submit(m_job);
  EXPECT_EQ(number, "101;atlas");
  EXPECT_EQ(m_slurm.query({number}).at(number).phase, JobPhase::queued);
  EXPECT_THAT(m_fake.text("calls"), HasSubstr("--clusters=atlas"));
  m_slurm.cancel(number, BatchEnd::kill);
  EXPECT_THAT(m_fake.text("jobs"), HasSubstr("101|CANCELLED"));
}

TEST_F(SlurmTest, KnowsItsStates) {
  for (const char* each : {"PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "CONFIGURING"})
    EXPECT_EQ(slurmStateFrom(each, "").phase, JobPhase::queued) << each;
  for (const char* each : {"RUNNING", "COMPLETING", "SUSPENDED"})
    EXPECT_EQ(slurmStateFrom(each, "").phase, JobPhase::running) << each;
  for (const char* each : {"REVOKED", "LAUNCH_FAILED", "RECONFIG_FAIL", "CANCELLED by 1000", "CANCELLED+", "TIMEOUT"})
    EXPECT_EQ(slurmStateFrom(each, "").phase, JobPhase::ended) << each;
  EXPECT_EQ(slurmStateFrom("PERHAPS", "None").phase, JobPhase::unknown);
  EXPECT_EQ(slurmStateFrom("", "").phase, JobPhase::unknown);
  EXPECT_THAT(slurmStateFrom("PENDING", "Priority").detail, HasSubstr("Priority"));
  for (const char* each : {"launch failed requeued held", "launch_failed_requeued_held"}) {
    EXPECT_THAT(slurmStateFrom("PENDING", each).detail, HasSubstr("scontrol release")) << each;
    EXPECT_TRUE(slurmStateFrom("PENDING", each).notStarted) << each;
  }
  // Somebody wants it so.
  for (const char* each : {"JobHeldUser", "JobHeldAdmin", "JobHoldMaxRequeue", "job requeued in held state"}) {
    EXPECT_THAT(slurmStateFrom("PENDING", each).detail, HasSubstr("scontrol release")) << each;
    EXPECT_FALSE(slurmStateFrom("PENDING", each).notStarted) << each;
  }
  EXPECT_FALSE(slurmStateFrom("PENDING", "JobLaunchFailure").notStarted);  // it is not held
  EXPECT_THAT(slurmStateFrom("PENDING", "Priority").detail, testing::Not(HasSubstr("scontrol")));
}

TEST_F(SlurmTest, ASubmissionWithoutAnAnswerIsFoundByItsName) {
  m_fake.put("jobs", "7|COMPLETED|None|lars-1\n8|RUNNING|None|lars-1\n9|RUNNING|None|other\n");
  m_fake.put("deaf", "");
  m_job.previous = "8";  // the job that submits what follows it
  EXPECT_EQ(m_slurm.submit(m_job), "104");
  EXPECT_EQ(m_fake.calls("sbatch"), 1);
}

// A wrapper of a site: the job is there, and must not be submitted a second time.
TEST_F(SlurmTest, ASubmissionInOtherWordsIsFoundByItsName) {
  m_fake.put("words", "Your job is in the queue. Good luck!");
  EXPECT_EQ(m_slurm.submit(m_job), "101");
  m_fake.put("words", "Submitted batch job 102");
  EXPECT_EQ(m_slurm.submit(m_job), "102");
  EXPECT_EQ(m_fake.calls("squeue"), 1);
  EXPECT_EQ(m_fake.calls("sbatch"), 2);
}

TEST_F(SlurmTest, WithoutAnyAnswerItIsNotKnownWhetherItIsThere) {
  m_fake.put("deaf", "");
  m_fake.put("hang", "");
  Slurm impatient{{.submit = 100ms, .answer = 100ms, .lookAgain = 1ms}};
  try {
    impatient.submit(m_job);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::communication);
    EXPECT_THAT(error.what(), HasSubstr("not known"));
  }
  EXPECT_EQ(impatient.query({"101"}).at("101").phase, JobPhase::unknown);
  EXPECT_FALSE(impatient.query({"101"}).at("101").forgotten);
  EXPECT_THROW(impatient.findByName("lars-1", ""), Error);
}

TEST_F(SlurmTest, OneQuestionForAllAndTheAccountingForWhatTheQueueForgot) {
  m_fake.put("jobs", "1|RUNNING|None|a\n2|PENDING|Resources|b\n");
  m_fake.put("accounting", "3|COMPLETED|0:0\n4|FAILED|3:0\n5|CANCELLED by 0|0:15\n6|RUNNING|0:0\n");
  const auto states = m_slurm.query({"1", "2", "3", "4", "5", "6", "7"});
  EXPECT_EQ(m_fake.calls("squeue"), 1);
  EXPECT_EQ(m_fake.calls("sacct"), 1);
  EXPECT_EQ(states.at("1").phase, JobPhase::running);
  EXPECT_EQ(states.at("2").phase, JobPhase::queued);
  EXPECT_EQ(states.at("3").code, 0);
  EXPECT_EQ(states.at("4").code, 3);
  EXPECT_EQ(states.at("5").code, 128 + 15);
  for (const char* each : {"6", "7"}) EXPECT_TRUE(states.at(each).forgotten) << each;
  EXPECT_FALSE(states.at("1").forgotten);
  m_slurm.cancel("7", BatchEnd::kill);  // it has ended: what was wanted
}

class HeldJobTest : public SlurmTest {
 protected:
  JobFolder m_run{m_folder.path() / "lars-1"};
  BatchDesk m_desk{{.soon = 1ms, .least = 1ms, .most = 1ms}};
  void SetUp() override {
    std::filesystem::create_directories(m_run.path());
    m_run.noteSubmitted(1, m_slurm, "101");
  }
  void hold(const char* reason) const { m_fake.put("jobs", "101|PENDING|" + std::string(reason) + "|lars-1\n"); }
  int releases() const {
    std::istringstream lines(m_fake.text("calls"));
    int count = 0;
    for (std::string line; std::getline(lines, line);) count += line == "scontrol release 101";
    return count;
  }
  // The first sentence that says so, of an agent that looks again and again.
  std::string await(const std::function<bool(const std::string&)>& wanted, double settled = 0) {
    const BatchLook look = lookAndRelease(m_run, m_desk, {.settled = settled});
    std::string said;
    for (const auto end = std::chrono::steady_clock::now() + 20s; std::chrono::steady_clock::now() < end;) {
      said = look(m_slurm, "101", 0).detail;
      if (wanted(said)) return said;
      std::this_thread::sleep_for(1ms);
    }
    ADD_FAILURE() << said;
    return said;
  }
  static auto says(const char* words) {
    return [words](const std::string& said) { return said.find(words) != std::string::npos; };
  }
};

TEST_F(HeldJobTest, WhatSlurmCouldNotStartIsReleased) {
  hold("launch failed requeued held");
  EXPECT_THAT(await(says("Priority"), 1000),
              HasSubstr("could not start it and held it: it was released, 1 of at most 3"));
  EXPECT_EQ(releases(), 1);
  EXPECT_EQ(m_run.releases(1).times, 1);
  EXPECT_EQ(m_run.releases(2).times, 0);  // another start of the run
}

// Then a person is asked, whoever looks.
TEST_F(HeldJobTest, ThreeTimesAndNoMore) {
  hold("launch failed requeued held");
  m_fake.put("stubborn", "");
  await(says("1 of at most 3"));
  EXPECT_THAT(await(says("scontrol release")), HasSubstr("Slurm holds it (launch failed requeued held)"));
  EXPECT_EQ(m_run.releases(1).times, 3);
  const int asked = m_fake.calls("squeue");
  while (m_fake.calls("squeue") < asked + 3) await(says("scontrol release"));
  EXPECT_EQ(releases(), 3);
  // A later start of it has three more.
  m_run.noteSubmitted(2, m_slurm, "101");
  await(says("3 of at most 3"));
  EXPECT_EQ(m_run.releases(2).times, 3);
}

// Slurm may show for a moment what was so before the release.
TEST_F(HeldJobTest, AnAnswerFromBeforeIsNoFurtherHold) {
  hold("launch failed requeued held");
  m_fake.put("stubborn", "");
  await(says("1 of at most 3"), 1000);
  const int asked = m_fake.calls("squeue");
  while (m_fake.calls("squeue") < asked + 3) await(says("1 of at most 3"), 1000);
  EXPECT_EQ(releases(), 1);
}

TEST_F(HeldJobTest, WhatSomebodyHoldsStaysHeld) {
  for (const char* each : {"JobHeldUser", "JobHeldAdmin", "JobHoldMaxRequeue", "job requeued in held state"}) {
    hold(each);
    EXPECT_THAT(await(says(each)), HasSubstr("scontrol release"));
  }
  hold("launch failed requeued held");
  m_run.noteKill(1);  // a person ends it at this moment
  EXPECT_THAT(await(says("launch failed")), HasSubstr("scontrol release"));
  EXPECT_EQ(releases(), 0);
}

// Counts its questions, and can be silent.
class CountingScheduler : public Scheduler {
 public:
  const char* key() const override { return "counting"; }
  const char* name() const override { return "Counting"; }
  std::string submit(const Submission&) const override { return {}; }
  std::map<std::string, BatchState> query(const std::vector<std::string>& numbers) const override {
    ++questions;
    while (silent) std::this_thread::sleep_for(1ms);
    std::map<std::string, BatchState> states;
    for (const auto& each : numbers) states[each] = {.phase = answer, .asked = clock += 1};
    return states;
  }
  void cancel(const std::string&, BatchEnd) const override {}
  void release(const std::string&) const override {}
  std::string findByName(const std::string&, const std::string&) const override { return {}; }
  std::optional<OwnBatch> self() const override { return {}; }
  mutable std::atomic<int> questions{0};
  mutable double clock = 0;
  std::atomic<bool> silent{false};
  std::atomic<JobPhase> answer{JobPhase::running};
};

TEST(BatchDesk, AHundredJobsAreOneQuestionAndASilentSystemHoldsUpNobody) {
  CountingScheduler scheduler;
  scheduler.silent = true;
  BatchDesk desk({.soon = 1ms, .least = 1h, .most = 1h});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(desk.look(scheduler, std::to_string(i), 0).asked, 0);  // and it comes back
  scheduler.silent = false;
  const auto all = [&] {
    int known = 0;
    for (int i = 0; i < 100; ++i) known += desk.look(scheduler, std::to_string(i), 0).phase == JobPhase::running;
    return known;
  };
  while (all() < 100) std::this_thread::sleep_for(1ms);
  EXPECT_LE(scheduler.questions, 3);
  const int before = scheduler.questions;
  for (int i = 0; i < 1000; ++i) all();
  EXPECT_EQ(scheduler.questions, before);
  // What its files say is newer than the answer: asked once, whatever clock the files have.
  scheduler.answer = JobPhase::ended;
  for (int i = 0; i < 1000 && desk.look(scheduler, "7", 1e12).phase != JobPhase::ended; ++i)
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(desk.look(scheduler, "7", 1e12).phase, JobPhase::ended);
  EXPECT_EQ(scheduler.questions, before + 1);
}

TEST(BatchDesk, SilenceForgetsNothing) {
  CountingScheduler scheduler;
  BatchDesk desk({.soon = 1ms, .least = 1ms, .most = 1ms});
  while (desk.look(scheduler, "1", 0).phase != JobPhase::running) std::this_thread::sleep_for(1ms);
  scheduler.answer = JobPhase::unknown;
  const int before = scheduler.questions;
  while (scheduler.questions < before + 3) {
    EXPECT_EQ(desk.look(scheduler, "1", 0).phase, JobPhase::running);
    std::this_thread::sleep_for(1ms);
  }
}

}  // namespace
