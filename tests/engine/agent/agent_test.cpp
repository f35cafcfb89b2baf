// `loom agent` from outside: what a launcher sees. Jobs are small shell programs, put before loom's own words by
// "prefix".
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "engine/agent/job_folder.h"
#include "engine/agent/own_engine.h"
#include "engine/agent/sha256.h"
#include "engine/base/files.h"
#include "tests/engine/agent/agent_process.h"
#include "tests/engine/run/folder.h"

using namespace loom;
using testing::HasSubstr;

namespace {

class AgentTest : public testing::Test {
 protected:
  TestFolder m_folder{"agent"};
  std::unique_ptr<AgentProcess> m_agent = connect();

  std::unique_ptr<AgentProcess> connect() {
    return std::make_unique<AgentProcess>(LOOM_PROGRAM, m_folder.path().string());
  }
  // $1 is "train"'s program, $5 the run folder: prefix sh -c BODY job loom train PROJECT --run FOLDER
  Json launch(const std::string& body, int start = 1) {
    return {{"start", start}, {"ranks", 1}, {"prefix", {"sh", "-c", "cd \"$5\"; " + body, "job"}}};
  }
  Json start(const std::string& id, const std::string& body, int number = 1) {
    return m_agent->ask({{"verb", "start"}, {"job", id}, {"launch", launch(body, number)}}, "{}").header;
  }
  Json state(const std::string& id) { return m_agent->ask({{"verb", "state"}, {"job", id}}).header["state"]; }
  Json awaitEnd(const std::string& id, std::int64_t events = 0, std::int64_t log = 0) {
    m_agent->ask({{"verb", "tail"}, {"job", id}, {"events", events}, {"log", log}});
    Json end;
    EXPECT_TRUE(m_agent->await([&](const AgentProcess::Told& told) {
      if (!told.header.contains("end")) return false;
      end = told.header["state"];
      return true;
    }));
    return end;
  }
  std::filesystem::path run(const std::string& id) { return m_folder.path() / "runs" / id; }
  void TearDown() override {
    const Json jobs = m_agent->ask({{"verb", "jobs"}}).header["jobs"];
    for (const Json& each : jobs)
      if (each["phase"] == "running") m_agent->ask({{"verb", "cancel"}, {"job", each["job"]}, {"how", "kill"}});
  }
};

TEST_F(AgentTest, TellsWhoItIs) {
  EXPECT_THAT(m_agent->hello()["version"].get<std::string>(), HasSubstr("loom "));
  EXPECT_EQ(m_agent->hello()["base"], m_folder.path().string());
  const Json facts = m_agent->ask({{"verb", "facts"}, {"need", 1000}}).header;
  EXPECT_EQ(facts["disk"]["why"], "");
  EXPECT_GT(facts["cores"].get<int>(), 0);
  std::set<std::string> keys;
  for (const Json& each : facts["libraries"]) keys.insert(each["key"].get<std::string>());
  EXPECT_THAT(keys, testing::IsSupersetOf({"cuda driver", "cuda module", "cudnn", "nccl", "mpi"}));
  EXPECT_THAT(
      m_agent->ask({{"verb", "facts"}, {"need", std::int64_t{1} << 58}}).header["disk"]["why"].get<std::string>(),
      HasSubstr("do not fit"));
}

TEST_F(AgentTest, WhatItDoesNotKnowIsAnAnswer) {
  EXPECT_THAT(m_agent->ask({{"verb", "dance"}}).header["message"].get<std::string>(), HasSubstr("dance"));
  EXPECT_EQ(m_agent->ask({{"verb", "hello"}, {"protocol", 7}}).header["code"], "newer version");
  EXPECT_EQ(m_agent->ask({{"verb", "start"}, {"job", "../x"}, {"launch", {{"start", 1}}}}, "{}").header["ok"], false);
  EXPECT_EQ(m_agent->ask({{"verb", "start"}, {"job", "x"}, {"launch", 7}}, "{}").header["ok"], false);
  EXPECT_EQ(m_agent->ask({{"verb", "cancel"}, {"job", "nobody"}, {"how", "kill"}}).header["ok"], false);
  const Json plain = m_agent->ask({{"verb", "hello"}, {"protocol", 1}, {"base", "/tmp/a b; touch x"}}).header;
  EXPECT_THAT(plain["message"].get<std::string>(), HasSubstr("spaces"));
  EXPECT_EQ(m_agent->ask({{"verb", "ping"}}).header["ok"], true);  // and it goes on
}

TEST_F(AgentTest, IsAtHomeOnlyInAFolderOfItsOwn) {
  const auto hello = [this](const std::filesystem::path& base) {
    return m_agent->ask({{"verb", "hello"}, {"protocol", 1}, {"base", base.string()}}).header;
  };
  const auto open = m_folder.path() / "open";
  std::filesystem::create_directories(open);
  EXPECT_EQ(hello(open)["ok"], true);
  std::filesystem::permissions(open, std::filesystem::perms::all);
  EXPECT_THAT(hello(open)["message"].get<std::string>(), HasSubstr("everyone"));
  std::filesystem::path others = "/usr";
  if (::geteuid() == 0) {
    others = m_folder.path() / "others";
    std::filesystem::create_directories(others);
    ASSERT_EQ(::chown(others.c_str(), 1, 1), 0);
  }
  EXPECT_THAT(hello(others)["message"].get<std::string>(), HasSubstr("belongs to"));
}

// The home of another alphabet is no matter where a plain folder is named.
TEST_F(AgentTest, AHomeWithASpaceNeedsAFolderOfPlainLetters) {
  const std::string before = std::getenv("HOME") ? std::getenv("HOME") : "";
  const auto home = m_folder.path() / "a home ü";
  std::filesystem::create_directories(home);
  ::setenv("HOME", home.c_str(), 1);
  m_agent = connect();
  EXPECT_EQ(m_agent->hello()["ok"], true) << m_agent->hello();
  EXPECT_EQ(m_agent->hello()["base"], m_folder.path().string());
  start("a", "echo done > result");
  EXPECT_EQ(awaitEnd("a")["code"], 0);
  AgentProcess unnamed(LOOM_PROGRAM, "");
  EXPECT_THAT(unnamed.hello()["message"].get<std::string>(), HasSubstr("name another folder for this host"));
  EXPECT_THAT(unnamed.ask({{"verb", "jobs"}}).header["message"].get<std::string>(), HasSubstr("hello"));
  ::setenv("HOME", before.c_str(), 1);
}

TEST(OwnEngine, MissesAFileAndKnowsADamagedOne) {
  const TestFolder folder("engine");
  std::filesystem::create_directories(folder.path() / "lib");
  for (const char* name : {"lib/a", "lib/b c"}) std::ofstream(folder.path() / name) << name;
  EXPECT_EQ(engineFault(folder.path(), EngineLook::isTheSame), "");  // nobody brought it
  std::ofstream complete(folder.path() / ".complete");
  for (const char* name : {"lib/a", "lib/b c"}) {
    Sha256 hash;
    hash.add(name);
    complete << hash.finish() << "  ./" << name << "\n";
  }
  complete.close();
  EXPECT_EQ(engineFault(folder.path(), EngineLook::isTheSame), "");
  std::ofstream(folder.path() / "lib/b c") << "other";
  EXPECT_EQ(engineFault(folder.path(), EngineLook::isThere), "");
  EXPECT_EQ(engineFault(folder.path(), EngineLook::isTheSame), (folder.path() / "lib/b c is damaged").string());
  std::filesystem::remove(folder.path() / "lib/a");
  EXPECT_EQ(engineFault(folder.path(), EngineLook::isThere), (folder.path() / "lib/a is gone").string());
}

TEST_F(AgentTest, WhatAJobWritesIsItsOwnersAlone) {
  Json wish = launch("echo $TOKEN > token");
  wish["modules"] = {"export TOKEN=s3cret"};
  m_agent->ask({{"verb", "start"}, {"job", "a"}, {"launch", wish}}, "{}");
  EXPECT_EQ(awaitEnd("a")["code"], 0);
  EXPECT_EQ(readFile(run("a") / "token"), "s3cret\n");
  for (const auto& each : std::filesystem::recursive_directory_iterator(run("a")))
    EXPECT_EQ(each.status().permissions() & (std::filesystem::perms::group_all | std::filesystem::perms::others_all),
              std::filesystem::perms::none)
        << each.path();
}

TEST_F(AgentTest, AStartThatFellBeforeItsFirstWordIsBegunOnce) {
  std::filesystem::create_directories(run("a"));
  JobFolder(run("a")).writeLaunch({{"loom_launch", 1}, {"id", "a"}, {"start", 1}});
  EXPECT_EQ(state("a")["phase"], "none");
  EXPECT_EQ(start("a", "exit 6")["started"], true);
  EXPECT_EQ(awaitEnd("a")["code"], 6);
  EXPECT_EQ(start("a", "exit 6")["started"], false);
}

// Whoever falls in between leaves a start that never began, and no end that could be taken for its own.
TEST_F(AgentTest, TheEndBeforeGoesBeforeTheNextStartIsWritten) {
  start("a", "exit 5");
  EXPECT_EQ(awaitEnd("a")["code"], 5);
  const int watch = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  ASSERT_GE(watch, 0);
  ASSERT_GE(::inotify_add_watch(watch, run("a").c_str(), IN_DELETE | IN_MOVED_TO), 0);
  EXPECT_EQ(start("a", "exit 6", 2)["started"], true);
  std::vector<std::string> order;
  alignas(inotify_event) char buffer[16384];
  for (ssize_t got; (got = ::read(watch, buffer, sizeof buffer)) > 0;)
    for (ssize_t at = 0; at < got;) {
      const auto& event = *reinterpret_cast<const inotify_event*>(buffer + at);
      if ((event.mask & IN_DELETE) && std::string_view(event.name) == "exit") order.push_back("end forgotten");
      if ((event.mask & IN_MOVED_TO) && std::string_view(event.name) == "launch.json") order.push_back("start written");
      at += static_cast<ssize_t>(sizeof event) + event.len;
    }
  ::close(watch);
  EXPECT_THAT(order, testing::ElementsAre("end forgotten", "start written"));
  EXPECT_EQ(awaitEnd("a")["code"], 6);
}

TEST_F(AgentTest, AStartWhileTheOneBeforeStillRunsIsToBeAskedAgain) {
  start("busy", "while [ ! -e go ]; do sleep 0.02; done");
  const Json refused = start("busy", "true", 2);
  EXPECT_EQ(refused.value("again", false), true) << refused.dump();
  std::ofstream(run("busy") / "go") << "";
  awaitEnd("busy");
  EXPECT_FALSE(start("busy", "true", 2).contains("error"));
  awaitEnd("busy");
}

TEST_F(AgentTest, AStartThatCannotBeWrittenForgetsNoEnd) {
  start("a", "exit 5");
  EXPECT_EQ(awaitEnd("a")["code"], 5);
  std::filesystem::remove(run("a") / "launch.json");
  std::filesystem::create_directories(run("a") / "launch.json" / "in the way");
  EXPECT_EQ(start("a", "exit 6", 2)["ok"], false);
  EXPECT_EQ(JobFolder(run("a")).exit().value_or(JobFolder::Exit{}).code, 5);
}

TEST_F(AgentTest, AnUnknownJobIsSettledByAPerson) {
  start("a", "exit 0");
  awaitEnd("a");
  std::filesystem::remove(run("a") / "exit");
  Json process = JobFolder(run("a")).process();
  process["machine"] = "login2";
  writeFileAtomically(run("a") / "process.json", process.dump());
  EXPECT_EQ(state("a")["lost"], true);
  EXPECT_EQ(start("a", "exit 0", 2)["ok"], false);  // it may still run there
  EXPECT_EQ(m_agent->ask({{"verb", "settle"}, {"job", "a"}, {"start", 1}}).header["state"]["phase"], "ended");
  EXPECT_EQ(start("a", "exit 0", 2)["started"], true);
  awaitEnd("a");
}

TEST_F(AgentTest, AJobOutlivesTheConnectionAndEndsOnce) {
  const Json first = start("a", "echo begun; while [ ! -e go ]; do sleep 0.02; done; echo over; exit 7");
  EXPECT_EQ(first["ok"], true) << first.dump();
  EXPECT_EQ(first["started"], true);
  EXPECT_EQ(first["phase"], "running");
  EXPECT_EQ(start("a", "echo twice")["started"], false);
  m_agent->hangUp();
  m_agent = connect();
  EXPECT_EQ(state("a")["phase"], "running");
  EXPECT_EQ(start("a", "echo twice")["started"], false);
  EXPECT_EQ(start("a", "echo twice", 2)["ok"], false);  // another start while it runs
  writeFileAtomically(run("a") / "go", "");
  const Json end = awaitEnd("a");
  EXPECT_EQ(end["code"], 7);
  EXPECT_EQ(readFile(run("a") / "log.txt"), "begun\nover\n");
  EXPECT_EQ(start("a", "echo again", 2)["started"], true);
  EXPECT_EQ(awaitEnd("a")["code"], 0);
  EXPECT_EQ(readFile(run("a") / "log.txt"), "begun\nover\nagain\n");
}

TEST_F(AgentTest, TellsEventsAsWholeLinesFromAnOffset) {
  std::filesystem::create_directories(run("a"));
  const std::string one = R"({"v":1,"seq":1,"kind":"step"})"
                          "\n",
                    two = R"({"v":1,"seq":2,"kind":"finished"})"
                          "\n";
  start("a", "while [ ! -e go ]; do sleep 0.02; done");
  writeFileAtomically(run("a") / "events.jsonl", one + two.substr(0, 9));
  m_agent->ask({{"verb", "tail"}, {"job", "a"}, {"events", 0}, {"log", 0}});
  std::string events;
  std::int64_t offset = -1;
  const auto more = [&](const AgentProcess::Told& told) {
    if (!told.header.contains("events")) return false;
    offset = told.header["events"];
    events += told.bytes;
    return true;
  };
  ASSERT_TRUE(m_agent->await(more));
  EXPECT_EQ(events, one);
  // A network file system that shows the new length before the bytes.
  writeFileAtomically(run("a") / "events.jsonl", one + std::string(two.size(), '\0'));
  writeFileAtomically(run("a") / "events.jsonl", one + two);
  ASSERT_TRUE(m_agent->await(more));
  EXPECT_EQ(events, one + two);
  EXPECT_EQ(offset, static_cast<std::int64_t>(one.size()));
  m_agent->hangUp();
  m_agent = connect();
  writeFileAtomically(run("a") / "go", "");
  events.clear();
  m_agent->ask({{"verb", "tail"}, {"job", "a"}, {"events", one.size()}, {"log", 0}});
  ASSERT_TRUE(m_agent->await([&](const AgentProcess::Told& told) {
    more(told);
    return told.header.contains("end");
  }));
  EXPECT_EQ(events, two);
  m_agent->ask({{"verb", "tail"}, {"job", "a"}, {"events", 100000}, {"log", 0}});
  EXPECT_TRUE(m_agent->await([](const AgentProcess::Told& told) { return told.header.contains("fault"); }));
}

// Runs nothing any more; its parent may not have asked for its exit status yet.
bool hasEnded(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(status, line)) return true;
  const char state = line.at(line.rfind(')') + 2);
  return state == 'Z' || state == 'X';
}

TEST_F(AgentTest, CancelEndsTheWholeJob) {
  start("a", "sleep 300 & echo $! > child; wait");
  while (!std::filesystem::exists(run("a") / "child") || readFile(run("a") / "child").empty()) ::usleep(5000);
  const pid_t child = std::stoi(readFile(run("a") / "child"));
  EXPECT_EQ(m_agent->ask({{"verb", "cancel"}, {"job", "a"}, {"how", "kill"}}).header["ok"], true);
  EXPECT_EQ(awaitEnd("a")["code"], 128 + SIGTERM);
  for (int tries = 0; tries < 1000 && !hasEnded(child); ++tries) ::usleep(5000);
  EXPECT_TRUE(hasEnded(child));
}

TEST_F(AgentTest, CancelReachesAGroupOfItsOwnThatHearsNoTerm) {
  start("a", "setsid sh -c 'trap : TERM; echo $$ > child; while :; do sleep 0.1; done' & wait");
  while (!std::filesystem::exists(run("a") / "child") || readFile(run("a") / "child").empty()) ::usleep(5000);
  const pid_t child = std::stoi(readFile(run("a") / "child"));
  EXPECT_EQ(m_agent->ask({{"verb", "cancel"}, {"job", "a"}, {"how", "kill"}}).header["ok"], true);
  EXPECT_EQ(awaitEnd("a")["code"], 128 + SIGTERM);
  EXPECT_TRUE(hasEnded(child));  // the end is told when everything has ended
}

TEST_F(AgentTest, StopIsACommandToTheRun) {
  start("a", "while ! grep -q '\"stop\"' control.jsonl 2>/dev/null; do sleep 0.02; done; exit 3");
  EXPECT_EQ(m_agent->ask({{"verb", "cancel"}, {"job", "a"}, {"how", "stop"}}).header["ok"], true);
  EXPECT_EQ(awaitEnd("a")["code"], 3);
}

TEST_F(AgentTest, ASupervisorThatIsKilledTakesItsJobWithIt) {
  start("a", "echo $$ > child; exec sleep 300");
  while (!std::filesystem::exists(run("a") / "child") || readFile(run("a") / "child").empty()) ::usleep(5000);
  const pid_t child = std::stoi(readFile(run("a") / "child"));
  ::kill(static_cast<pid_t>(JobFolder(run("a")).process()["process"].get<int>()), SIGKILL);
  EXPECT_EQ(awaitEnd("a")["code"], -1);
  for (int tries = 0; tries < 1000 && !hasEnded(child); ++tries) ::usleep(5000);
  EXPECT_TRUE(hasEnded(child));
}

TEST_F(AgentTest, NothingOfAProjectMeetsAShell) {
  Json plain = launch("for each; do printf '%s|' \"$each\"; done > words");
  plain["overrides"] = {"a=$(touch pwned)", "b=; touch pwned", "c='\"\n`touch pwned`"};
  m_agent->ask({{"verb", "start"}, {"job", "a"}, {"launch", plain}}, "{}");
  awaitEnd("a");
  EXPECT_THAT(readFile(run("a") / "words"),
              HasSubstr("|--set|a=$(touch pwned)|--set|b=; touch pwned|--set|c='\"\n`touch pwned`|"));
  EXPECT_FALSE(std::filesystem::exists(run("a") / "pwned"));
}

TEST_F(AgentTest, BringsFilesOfTheRunAndNoOthers) {
  start("a", "mkdir checkpoints; head -c 1500000 /dev/zero > 'checkpoints/a b;\"c\"'; ln -s /etc/passwd out");
  awaitEnd("a");
  const std::string name = "checkpoints/a b;\"c\"";
  EXPECT_THAT(m_agent->ask({{"verb", "files"}, {"job", "a"}}).header["files"].dump(), HasSubstr(R"(a b;\"c\")"));
  auto first = m_agent->ask({{"verb", "get"}, {"job", "a"}, {"file", name}, {"offset", 0}});
  EXPECT_EQ(first.bytes.size(), std::size_t{1} << 20);
  EXPECT_EQ(first.header["end"], false);
  auto rest = m_agent->ask({{"verb", "get"}, {"job", "a"}, {"file", name}, {"offset", first.bytes.size()}});
  EXPECT_EQ(first.bytes.size() + rest.bytes.size(), 1500000u);
  EXPECT_EQ(rest.header["end"], true);
  for (const char* bad : {"../../../etc/passwd", "/etc/passwd", "out", "checkpoints", "nothing"})
    EXPECT_EQ(m_agent->ask({{"verb", "get"}, {"job", "a"}, {"file", bad}, {"offset", 0}}).header["ok"], false) << bad;
}

// A run that ran elsewhere: what was sent to the data folder becomes its own, and only where a run may have a file.
TEST_F(AgentTest, TakesTheFilesOfARunThatRanElsewhere) {
  const auto send = [&](const std::string& text) {
    Sha256 hash;
    hash.add(text);
    const std::string sha256 = hash.finish();
    m_agent->ask({{"verb", "put"}, {"sha256", sha256}, {"size", text.size()}});
    EXPECT_EQ(m_agent->ask({{"verb", "chunk"}, {"sha256", sha256}, {"offset", 0}}, text).header["done"], true);
    return sha256;
  };
  const auto place = [&](const Json& files) {
    return m_agent->ask({{"verb", "place"}, {"job", "a"}, {"files", files}}).header;
  };
  const std::string pointer = send("the same"), model = send("weights"), log = send("{}\n");
  for (const char* bad :
       {"../b/run.json", "checkpoints/../launch.json", "checkpoints/a/b", "/etc/passwd", "launch.json", "checkpoints/"})
    EXPECT_EQ(place({{bad, model}})["ok"], false) << bad;
  EXPECT_EQ(place({{"run.json", "../x"}})["ok"], false);
  EXPECT_FALSE(std::filesystem::exists(run("a")));
  const Json files = {{"checkpoints/last.json", pointer},
                      {"checkpoints/best.json", pointer},
                      {"checkpoints/step-1.safetensors", model},
                      {"events.jsonl", log}};
  Json more = files;
  more["log.txt"] = std::string(64, '0');
  EXPECT_THAT(place(more)["message"].get<std::string>(), HasSubstr("log.txt of a has not arrived"));
  EXPECT_EQ(place(files)["ok"], true);
  EXPECT_EQ(readFile(run("a") / "checkpoints/last.json"), "the same");
  EXPECT_EQ(readFile(run("a") / "checkpoints/best.json"), "the same");
  EXPECT_EQ(readFile(run("a") / "checkpoints/step-1.safetensors"), "weights");
  EXPECT_TRUE(std::filesystem::is_empty(m_folder.path() / "data"));  // nothing of it is kept twice
  EXPECT_EQ(state("a")["phase"], "none");

  // It goes on here, and nothing takes its files from it meanwhile; afterwards what lies there gives way.
  EXPECT_EQ(start("a", "sleep 60")["started"], true);
  const Json newer = {{"checkpoints/step-1.safetensors", send("more weights")}};
  EXPECT_THAT(place(newer)["message"].get<std::string>(), HasSubstr("still runs"));
  EXPECT_EQ(place(newer)["again"], true) << "it is to be asked for again, not given up";
  m_agent->ask({{"verb", "cancel"}, {"job", "a"}, {"how", "kill"}});
  awaitEnd("a");
  EXPECT_EQ(place(newer)["ok"], true);
  EXPECT_EQ(readFile(run("a") / "checkpoints/step-1.safetensors"), "more weights");
}

TEST_F(AgentTest, AJobOfAnotherMachineIsUnknown) {
  start("a", "exit 0");
  awaitEnd("a");
  std::filesystem::remove(run("a") / "exit");
  Json process = JobFolder(run("a")).process();
  process["machine"] = "login2";
  writeFileAtomically(run("a") / "process.json", process.dump());
  EXPECT_EQ(state("a")["phase"], "unknown");
  EXPECT_THAT(state("a")["detail"].get<std::string>(), HasSubstr("login2"));
}

TEST_F(AgentTest, GarbageEndsTheAgentAndNothingElse) {
  start("a", "while [ ! -e go ]; do sleep 0.02; done; exit 5");
  m_agent->write("this is no frame");
  EXPECT_FALSE(m_agent->await([](const AgentProcess::Told&) { return false; }));  // its stream ends
  m_agent->hangUp();
  m_agent = connect();
  writeFileAtomically(run("a") / "go", "");
  EXPECT_EQ(awaitEnd("a")["code"], 5);
}

}  // namespace
