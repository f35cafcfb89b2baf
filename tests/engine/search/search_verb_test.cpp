// `loom search` itself: real trainings, killed half-way and taken up again.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>

#include "engine/base/files.h"
#include "engine/network/project_arguments.h"
#include "engine/search/study.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SearchVerb : public testing::Test {
 protected:
  void SetUp() override { m_workshop.write("p.loom", formatJson(perceptron())); }
  pid_t begin(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"loom", "search", "p.loom"});
    const pid_t process = ::fork();
    if (process != 0) return process;
    if (::chdir(m_workshop.path().c_str()) != 0) ::_exit(120);
    ::dup2(::open("out.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644), 1);
    ::dup2(::open("error.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644), 2);
    std::vector<char*> words;
    for (std::string& each : arguments) words.push_back(each.data());
    words.push_back(nullptr);
    ::execv(LOOM_PROGRAM, words.data());
    ::_exit(121);
  }
  int end(pid_t process) {
    int status = 0;
    ::waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  int search(std::vector<std::string> arguments) { return end(begin(std::move(arguments))); }
  std::string out() { return readFile(m_workshop.path() / "out.txt"); }
  std::string error() { return readFile(m_workshop.path() / "error.txt"); }
  std::vector<Trial> trials(const std::string& name) {
    std::optional<Study> study = readStudy(m_workshop.path() / "runs", name);
    if (!study) return {};
    for (const auto& each : study->trials) each->look(false);
    return study->state();
  }
  Workshop m_workshop{"search"};
};

TEST_F(SearchVerb, TrainsEachTrialAsARunAndNamesTheBest) {
  ASSERT_EQ(search({"--over", "optimizer.learning_rate=log:0.001..1", "fc1.outputs=2..16", "--trials", "4",
                    "--strategy", "random", "--set", "epochs=2"}),
            0)
      << error();
  EXPECT_THAT(out(), AllOf(HasSubstr("search-1"), HasSubstr("4 trials of 4"), HasSubstr("train it  loom train"),
                           HasSubstr("--set fc1.outputs=")));
  const std::vector<Trial> all = trials("search-1");
  ASSERT_EQ(all.size(), 4u);
  for (const Trial& each : all) {
    EXPECT_EQ(each.state, TrialState::done);
    EXPECT_FALSE(std::isnan(each.score()));
  }
  const Json run = Json::parse(readFile(m_workshop.path() / "runs/search-1-002/run.json"));
  EXPECT_EQ(run["project"]["networks"]["main"]["nodes"][1]["outputs"], all[1].point[1]) << "an ordinary run";
  // Further trials of the same search.
  ASSERT_EQ(search({"--resume", "search-1", "--trials", "6"}), 0) << error();
  const std::vector<Trial> more = trials("search-1");
  ASSERT_EQ(more.size(), 6u);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(more[static_cast<std::size_t>(i)].point, all[static_cast<std::size_t>(i)].point);
}

TEST_F(SearchVerb, KilledHalfWayItNeitherRepeatsNorLosesATrial) {
  // Long enough to be alive when it is killed; the search alone is, its trial trains on.
  // Over what is drawn, of which a part is above the limit: 6 multiply-adds for each output of fc1.
  const pid_t process =
      begin({"--over", "fc1.outputs=log:2..64", "relu.layer=ReLU,GELU,none", "optimizer.learning_rate=log:0.001..0.1",
             "--limit", "multiply_adds=96", "--trials", "4", "--strategy", "random", "--set", "epochs=400"});
  for (int tries = 0; tries < 6000 && trials("search-1").size() < 2; ++tries) ::usleep(5000);
  ::kill(process, SIGKILL);
  ASSERT_EQ(end(process), -SIGKILL);
  const std::vector<Trial> before = trials("search-1");
  ASSERT_GE(before.size(), 2u);
  ASSERT_EQ(search({"--resume", "search-1"}), 0) << error();
  const std::vector<Trial> after = trials("search-1");
  ASSERT_EQ(after.size(), 4u);
  std::set<std::string> points;
  for (const Trial& each : after) {
    EXPECT_EQ(each.state, TrialState::done) << each.number;
    EXPECT_EQ(each.curve.size(), 400u) << "each result once, of trial " << each.number;
    points.insert(keyOf(each.point));
  }
  EXPECT_EQ(points.size(), 4u);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i].point, after[i].point);
  const std::optional<Study> study = readStudy(m_workshop.path() / "runs", "search-1");
  EXPECT_GT(study->refused(), 0);
  for (const auto& each : study->trials) {
    const TrialFile& file = each->file();
    EXPECT_EQ(file.cost.multiplyAdds, 6 * file.point[0].get<double>());
    EXPECT_LE(file.cost.multiplyAdds, 96);
    EXPECT_GT(file.cost.step, 0) << "the planner's";
    EXPECT_GT(file.cost.memory, 0);
    // Its run has its own drawing, which is a project.
    Json drawn = Json::parse(readFile(each->folder() / "run.json"))["project"];
    EXPECT_EQ(drawn["networks"]["main"]["nodes"][1]["outputs"], file.point[0]);
    EXPECT_EQ(drawn["networks"]["main"]["nodes"].size(), file.point[1] == "none" ? 6u : 7u);
    EXPECT_NO_THROW(checkedProject(drawn, "the run's", {}));
  }
  ASSERT_EQ(search({"--report", "search-1", "--csv", (m_workshop.path() / "front.csv").string()}), 0) << error();
  EXPECT_THAT(out(), AllOf(HasSubstr("4 trials of 4"), HasSubstr("limit: multiply-adds of a sample at most 96"),
                           HasSubstr("refused before training"), HasSubstr("front of loss against multiply-adds")));
  EXPECT_THAT(readFile(m_workshop.path() / "front.csv"), HasSubstr("trial,run,loss,multiply_adds,parameters,step"));
}

TEST_F(SearchVerb, InterruptedItStopsWholeAndGoesOnFromItsCheckpoints) {
  const pid_t process =
      begin({"--over", "optimizer.learning_rate=log:0.001..0.1", "--trials", "2", "--set", "epochs=100000"});
  for (int tries = 0; tries < 6000; ++tries) {
    const std::vector<Trial> all = trials("search-1");
    if (!all.empty() && !all[0].curve.empty()) break;
    ::usleep(5000);
  }
  ::kill(process, SIGINT);
  EXPECT_EQ(end(process), 3) << error();
  EXPECT_THAT(out(), HasSubstr("--resume search-1"));
  const RunFolder run{m_workshop.path() / "runs/search-1-001"};
  EXPECT_FALSE(run.running());
  const std::optional<Event> last = lastEvent(run);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->body["reason"], "stopped");
  EXPECT_EQ(trials("search-1")[0].state, TrialState::interrupted);
}

TEST_F(SearchVerb, ATrialThatCannotTrainFailsAndTheOthersGoOn) {
  // Every end can be, and some of them together cannot: a kernel of several settings would be such; here the data go.
  m_workshop.write("val.csv", "x__0,x__1,x__2,y\n1,2,oops,0\n");
  EXPECT_EQ(search({"--over", "optimizer.learning_rate=log:0.001..0.1", "--trials", "2", "--strategy", "random"}), 0);
  EXPECT_THAT(out(), AllOf(HasSubstr("failed:"), HasSubstr("best      none")));
  for (const Trial& each : trials("search-1")) EXPECT_EQ(each.state, TrialState::failed);
}

TEST_F(SearchVerb, RefusesWithARemedy) {
  EXPECT_EQ(search({"--over", "optimizer.rate=log:0.001..1"}), 2);
  EXPECT_THAT(error(), HasSubstr("did you mean 'optimizer.learning_rate'"));
  EXPECT_EQ(search({"--over", "optimizer.learning_rate=log:0..1"}), 2);
  EXPECT_THAT(error(), HasSubstr("begins above 0"));
  EXPECT_EQ(search({}), 2);
  EXPECT_THAT(error(), HasSubstr("--over KEY=RANGE"));
  EXPECT_EQ(search({"--resume", "search-7"}), 2);
  EXPECT_THAT(error(), HasSubstr("no search was begun there"));
  EXPECT_EQ(search({"--over", "batch=8..16", "--strategy", "guess"}), 2);
  EXPECT_EQ(search({"--over", "batch=8..16", "--limit", "flops=3"}), 2);
  EXPECT_THAT(error(), HasSubstr("multiply_adds=2M"));
  EXPECT_EQ(search({"--over", "fc1.outputs=8..16", "--limit", "parameters=10"}), 2);
  EXPECT_THAT(error(), HasSubstr("above the limit of 10 parameters"));
  m_workshop.write("space.json", R"({"over": ["fc1.output=8..16"], "limits": []})");
  EXPECT_EQ(search({"--space", "space.json"}), 2);
  EXPECT_THAT(error(), HasSubstr("did you mean 'fc1.outputs'"));
  ASSERT_EQ(search({"--over", "batch=8,16", "--strategy", "grid", "--set", "epochs=1"}), 0);
  EXPECT_EQ(trials("search-1").size(), 2u) << "the space holds no more";
  Json other = perceptron();
  other["training"]["seed"] = 5;
  m_workshop.write("p.loom", formatJson(other));
  EXPECT_EQ(search({"--resume", "search-1"}), 2);
  EXPECT_THAT(error(), HasSubstr("the project was changed since"));
}

}  // namespace
}  // namespace loom
