// Jobs of a batch system, from both of their ends: `loom agent` in front of small programs in Slurm's place, and the
// batch script's own process.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>

#include "engine/agent/job_folder.h"
#include "engine/agent/scheduler.h"
#include "engine/base/files.h"
#include "tests/engine/agent/agent_process.h"
#include "tests/engine/agent/fake_slurm.h"
#include "tests/engine/run/folder.h"

using namespace loom;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class BatchJobTest : public testing::Test {
 protected:
  TestFolder m_folder{"batch"};
  FakeSlurm m_slurm{m_folder.path() / "bin"};
  std::unique_ptr<AgentProcess> m_agent = connect();
  std::vector<pid_t> m_scripts;

  ~BatchJobTest() override {
    for (const pid_t each : m_scripts) ::kill(each, SIGKILL), ::waitpid(each, nullptr, 0);
    for (const char* each : {"hang", "deaf"}) m_slurm.remove(each);
  }
  std::unique_ptr<AgentProcess> connect() {
    return std::make_unique<AgentProcess>(LOOM_PROGRAM, (m_folder.path() / "there").string());
  }
  JobFolder job(const std::string& id) const { return JobFolder(m_folder.path() / "there/runs" / id); }
  Json startWish(const std::string& id, int start = 1, const std::string& body = "exit 0") {
    return {{"verb", "start"},
            {"job", id},
            {"launch",
             {{"start", start},
              {"ranks", 1},
              {"slurm", {{"continue", 0}}},
              {"prefix", {"sh", "-c", "cd \"$5\"; " + body, "job"}}}},
            {"script", "#!/bin/sh\n"}};
  }
  Json start(const std::string& id, int number = 1, const std::string& body = "exit 0") {
    return m_agent->ask(startWish(id, number, body), "{}").header;
  }
  Json ask(const char* verb, const std::string& id, Json more = Json::object()) {
    more["verb"] = verb;
    more["job"] = id;
    return m_agent->ask(more).header;
  }
  Json state(const std::string& id) { return ask("state", id)["state"]; }
  // The first state that is told of which `wanted` says yes.
  Json awaitState(const std::string& id, const std::function<bool(const Json&)>& wanted) {
    ask("tail", id, {{"events", 0}, {"log", 0}});
    Json found;
    EXPECT_TRUE(m_agent->await(
        [&](const AgentProcess::Told& told) {
          if (!told.header.contains("state") || !wanted(told.header["state"])) return false;
          found = told.header["state"];
          return true;
        },
        60))
        << state(id).dump();
    return found;
  }
  static auto is(const char* phase) {
    return [phase](const Json& state) { return state["phase"] == phase; };
  }
  // The batch script's own process, as Slurm would start it.
  pid_t batchScript(const std::string& id, const char* number, int restarts = 0) {
    const std::string folder = job(id).path().string(), count = std::to_string(restarts);
    const pid_t process = ::fork();
    if (process == 0) {
      ::setenv("SLURM_JOB_ID", number, 1);
      if (restarts > 0) ::setenv("SLURM_RESTART_COUNT", count.c_str(), 1);
      ::execl(LOOM_PROGRAM, LOOM_PROGRAM, "agent", "--job", folder.c_str(), nullptr);
      ::_exit(127);
    }
    m_scripts.push_back(process);
    return process;
  }
  int end(pid_t process) {
    int status = 0;
    ::waitpid(process, &status, 0);
    std::erase(m_scripts, process);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void awaitFile(const std::filesystem::path& path) const {
    for (int tries = 0; tries < 6000 && !std::filesystem::exists(path); ++tries) ::usleep(5000);
    ASSERT_TRUE(std::filesystem::exists(path));
  }
};

TEST_F(BatchJobTest, ASilentQueueAndASilentSubmissionHoldUpNoPing) {
  ASSERT_EQ(start("a")["ok"], true);
  m_slurm.put("hang", "");
  ask("tail", "a", {{"events", 0}, {"log", 0}});
  EXPECT_EQ(m_agent->ask({{"verb", "ping"}}).header["ok"], true);
  EXPECT_EQ(state("a")["phase"], "queued");
  // An answer that comes before that of an earlier request, and the word that this one is still worked on.
  m_slurm.remove("hang");
  m_slurm.put("deaf", "");
  Json wish = startWish("b");
  wish["id"] = "slow";
  m_agent->write(encodeFrame(wish, "{}"));
  EXPECT_TRUE(m_agent->await([](const AgentProcess::Told& told) {
    return told.header.contains("busy") && told.header["doing"] == "start b";
  }));
  EXPECT_EQ(m_agent->ask({{"verb", "ping"}}).header["ok"], true);
  EXPECT_EQ(m_agent->ask({{"verb", "stat"}, {"path", "runs"}}).header["exists"], true);
  for (const auto& told : m_agent->told()) EXPECT_NE(told.header.value("re", Json()), "slow");
  m_slurm.remove("deaf");
  EXPECT_TRUE(m_agent->await([](const AgentProcess::Told& told) { return told.header.value("re", Json()) == "slow"; }));
}

TEST_F(BatchJobTest, AJobThatSlurmForgotHasEnded) {
  ASSERT_EQ(start("a")["phase"], "queued");
  m_slurm.put("jobs", "");
  m_agent = connect();
  const Json end = awaitState("a", is("ended"));
  EXPECT_EQ(end["code"], -1);
  EXPECT_THAT(end["detail"].get<std::string>(), HasSubstr("no longer knows"));
  // And may be started again; a Slurm whose memory begins anew gives the same number.
  const Json again = start("a", 2);
  EXPECT_EQ(again["started"], true);
  EXPECT_EQ(again["slurm"], "101");
  EXPECT_EQ(again["phase"], "queued") << again.dump();
}

// A controller that was killed comes back with an older state and holds the node for what is over.
TEST_F(BatchJobTest, AnEndedJobThatSlurmStillTakesToRunIsEndedThereBeforeTheNext) {
  ASSERT_EQ(start("a")["slurm"], "101");
  m_slurm.put("jobs", "101|RUNNING|None|a\n");
  EXPECT_EQ(end(batchScript("a", "101")), 0);
  ASSERT_EQ(awaitState("a", is("ended"))["code"], 0);
  ASSERT_EQ(start("a", 2)["slurm"], "102");
  EXPECT_EQ(m_slurm.calls("scancel"), 1);
  EXPECT_THAT(m_slurm.text("jobs"), AllOf(HasSubstr("101|CANCELLED|"), HasSubstr("102|PENDING|")));
  // One whose number is another run's job by now ends nothing.
  m_slurm.put("jobs", "101|CANCELLED|None|a\n102|RUNNING|None|b\n");
  EXPECT_EQ(end(batchScript("a", "102")), 0);
  ASSERT_EQ(awaitState("a", is("ended"))["start"], 2);
  ASSERT_EQ(start("a", 3)["slurm"], "103");
  EXPECT_EQ(m_slurm.calls("scancel"), 1);
}

TEST_F(BatchJobTest, TheAccountingKnowsHowAForgottenJobEnded) {
  ASSERT_EQ(start("a")["phase"], "queued");
  m_slurm.put("jobs", "");
  m_slurm.put("accounting", "101|FAILED|20:0\n");
  m_agent = connect();
  EXPECT_EQ(awaitState("a", is("ended"))["code"], 20);
}

TEST_F(BatchJobTest, WhatNobodyCanTellEndsByAPersonsWord) {
  ASSERT_EQ(start("a")["phase"], "queued");
  m_slurm.put("jobs", "");
  Json process = job("a").process();
  process["submitted_on"] = "login2";
  writeFileAtomically(job("a").processFile(), process.dump());
  m_agent = connect();
  const Json lost = awaitState("a", is("unknown"));
  EXPECT_EQ(lost["lost"], true);
  EXPECT_THAT(lost["detail"].get<std::string>(), HasSubstr("login2"));
  EXPECT_EQ(start("a", 2)["ok"], false);
  EXPECT_EQ(ask("settle", "a", {{"start", 2}})["ok"], false);
  EXPECT_EQ(ask("settle", "a", {{"start", 1}})["state"]["phase"], "ended");
  EXPECT_EQ(start("a", 2)["started"], true);
  EXPECT_EQ(ask("settle", "a", {{"start", 2}})["ok"], false);  // it waits in the queue
  EXPECT_EQ(ask("cancel", "a", {{"how", "kill"}})["ok"], true);
  EXPECT_EQ(state("a")["phase"], "ended");
}

TEST_F(BatchJobTest, AForgottenJobCanBeEndedByAPerson) {
  ASSERT_EQ(start("a")["phase"], "queued");
  m_slurm.put("jobs", "");
  EXPECT_EQ(ask("cancel", "a", {{"how", "kill"}})["ok"], true);
  EXPECT_EQ(state("a")["phase"], "ended");
}

// Whoever submitted it fell, or heard no answer: it is there, and only Slurm knows.
TEST_F(BatchJobTest, ASubmissionThatNobodyNotedIsNotRepeated) {
  ASSERT_EQ(start("a")["slurm"], "101");
  std::filesystem::remove(job("a").processFile());
  EXPECT_EQ(state("a")["phase"], "none");
  const Json again = start("a");
  EXPECT_EQ(again["started"], false) << again.dump();
  EXPECT_EQ(again["slurm"], "101");
  EXPECT_EQ(m_slurm.calls("sbatch"), 1);
  // And one that Slurm does not have was never submitted.
  std::filesystem::remove(job("a").processFile());
  m_slurm.put("jobs", "");
  EXPECT_EQ(start("a")["started"], true);
  EXPECT_EQ(m_slurm.calls("sbatch"), 2);
}

TEST_F(BatchJobTest, NothingIsStartedWhileSlurmIsSilent) {
  ASSERT_EQ(start("a")["slurm"], "101");
  m_slurm.put("squeue", "#!/bin/sh\necho 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1\n");
  const Json refused = start("a", 2);
  EXPECT_EQ(refused["ok"], false);
  EXPECT_EQ(refused["again"], true);
  EXPECT_THAT(refused["message"].get<std::string>(), HasSubstr("Unable to contact"));
  EXPECT_EQ(m_slurm.calls("sbatch"), 1);
}

// Preempted and requeued, or its node failed: the same job once more.
TEST_F(BatchJobTest, AJobThatSlurmStartsAnewGoesOn) {
  start("a", 1, "for each; do printf '%s ' \"$each\"; done >> words; echo >> words; echo '{}' > run.json; exit 7");
  EXPECT_EQ(end(batchScript("a", "101")), 7);
  EXPECT_THAT(readFile(job("a").path() / "words"), Not(HasSubstr("--resume")));
  EXPECT_EQ(state("a")["code"], 7);
  EXPECT_EQ(end(batchScript("a", "101", 1)), 7);
  EXPECT_THAT(readFile(job("a").path() / "words"), HasSubstr("--resume " + job("a").path().string()));
}

TEST_F(BatchJobTest, AnEndBySlurmsSignalIsACheckpointFirstAndCountsWhenNothingFollows) {
  start("a", 1, "touch begun; while ! grep -q stop control.jsonl 2>/dev/null; do sleep 0.02; done; exit 3");
  m_slurm.put("jobs", "101|RUNNING|None|a\n");
  const pid_t script = batchScript("a", "101");
  awaitFile(job("a").path() / "begun");
  ::kill(script, SIGTERM);
  EXPECT_EQ(end(script), 3);
  EXPECT_THAT(readFile(job("a").exitFile()), HasSubstr("3 terminated"));
  m_slurm.put("jobs", "101|PENDING|BeginTime|a\n");
  m_agent = connect();
  EXPECT_THAT(awaitState("a", is("queued"))["detail"].get<std::string>(),
              AllOf(HasSubstr("Slurm starts it again"), HasSubstr("BeginTime")));
  m_slurm.put("jobs", "101|PREEMPTED|None|a\n");
  m_agent = connect();
  const Json end = awaitState("a", is("ended"));
  EXPECT_EQ(end["code"], 3);
  EXPECT_THAT(end["detail"].get<std::string>(), HasSubstr("for one that goes before it"));
}

TEST_F(BatchJobTest, APersonsEndIsAtOnceAndFinal) {
  start("a", 1, "touch begun; sleep 300");
  m_slurm.put("jobs", "101|RUNNING|None|a\n");
  const pid_t script = batchScript("a", "101");
  awaitFile(job("a").path() / "begun");
  EXPECT_EQ(ask("cancel", "a", {{"how", "kill"}})["ok"], true);
  ::kill(script, SIGTERM);  // what Slurm does then
  EXPECT_EQ(end(script), 128 + SIGTERM);
  EXPECT_THAT(readFile(job("a").exitFile()), Not(HasSubstr("terminated")));
  EXPECT_EQ(state("a")["phase"], "ended");
}

// The controller fell while it was being started. Nobody is there who could give Slurm the word.
TEST_F(BatchJobTest, AJobThatSlurmCouldNotStartIsReleased) {
  start("a");
  m_slurm.put("jobs", "101|PENDING|launch failed requeued held|a\n");
  m_agent = connect();
  const Json waits = awaitState("a", [](const Json& state) {
    const std::string said = state.value("detail", "");
    return said.find("Priority") != std::string::npos && said.find("1 of at most 3") != std::string::npos;
  });
  EXPECT_EQ(waits["phase"], "queued");
  EXPECT_THAT(m_slurm.text("calls"), HasSubstr("scontrol release 101\n"));
}

TEST_F(BatchJobTest, AJobIsKnownToRunBeforeSlurmIsAskedAgain) {
  start("a", 1, "touch begun; while [ ! -e go ]; do sleep 0.02; done");
  awaitState("a", [](const Json& state) { return state.value("detail", "").find("Priority") != std::string::npos; });
  m_slurm.put("hang", "");
  const pid_t script = batchScript("a", "101");
  awaitFile(job("a").path() / "begun");
  EXPECT_EQ(state("a")["phase"], "running");
  writeFileAtomically(job("a").path() / "go", "");
  end(script);
  EXPECT_EQ(state("a")["code"], 0);
}

}  // namespace
