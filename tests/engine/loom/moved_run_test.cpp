// A run that was begun elsewhere goes on here: its run.json names places that this machine does not have.
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
using testing::Not;

class MovedRun : public testing::Test {
 protected:
  // Begun in host/, with four of its epochs done; then only the run is left of host/, in here/runs/r.
  void SetUp() override {
    for (const char* folder : {"host", "here"}) std::filesystem::create_directories(m_workshop.path() / folder);
    for (const char* file : {"train.csv", "val.csv"}) {
      std::filesystem::copy_file(m_workshop.path() / file, m_workshop.path() / "host" / file);
      std::filesystem::rename(m_workshop.path() / file, m_workshop.path() / "here" / file);
    }
    m_workshop.write("host/project.loom", formatJson(perceptron()));
    ASSERT_EQ(loom("train host/project.loom --run host/r --set epochs=4"), 0) << m_said;
    std::filesystem::create_directories(m_workshop.path() / "here/runs");
    std::filesystem::rename(m_workshop.path() / "host/r", m_workshop.path() / "here/runs/r");
    std::filesystem::remove_all(m_workshop.path() / "host");
  }
  int loom(const std::string& words) {
    const std::string at = m_workshop.path().string();
    const int status = std::system(fmt::format("cd {} && {} {} > said.txt 2>&1", at, LOOM_PROGRAM, words).c_str());
    m_said = readFile(m_workshop.path() / "said.txt");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  // A project of another name in here/, whose datasets lie beside it.
  void writeProject() { m_workshop.write("here/mine.loom", formatJson(perceptron())); }
  Json facts() const { return Json::parse(readFile(m_workshop.path() / "here/runs/r/run.json"))["datasets"]; }

  Workshop m_workshop{"moved"};
  std::string m_said;
};

TEST_F(MovedRun, SaysWhatIsMissingAndHowToNameIt) {
  EXPECT_EQ(loom("train --resume here/runs/r --set epochs=6"), exitCode(ErrorCode::missingFile));
  EXPECT_THAT(m_said,
              AllOf(HasSubstr("host/train.csv"), HasSubstr("which is not here"), HasSubstr("--data training=CSV")));
}

TEST_F(MovedRun, GoesOnWithTheDataThatAreNamed) {
  const Json before = facts();
  EXPECT_EQ(loom("train --resume here/runs/r --set epochs=6 --data training=here/train.csv validation=here/val.csv"), 0)
      << m_said;
  EXPECT_THAT(m_said, AllOf(HasSubstr("epoch 6 of 6"), Not(HasSubstr("warning")), Not(HasSubstr("epoch 4 of 6"))));
  EXPECT_EQ(facts()["training"]["content"], before["training"]["content"]);
  EXPECT_NE(before["training"]["content"], "");
  // What was named is known from now on, to the next resume and to the others.
  EXPECT_EQ(loom("train --resume here/runs/r --set epochs=7"), 0) << m_said;
  EXPECT_EQ(loom("evaluate here/runs/r"), 0) << m_said;
}

TEST_F(MovedRun, FindsThemWhereTheProjectHasThem) {
  writeProject();
  EXPECT_EQ(loom("train --resume here/runs/r --set epochs=6"), 0) << m_said;
}

TEST_F(MovedRun, FindsThemWhereANamedProjectHasThem) {
  m_workshop.write("other.loom", formatJson(perceptron()));
  std::filesystem::rename(m_workshop.path() / "here/train.csv", m_workshop.path() / "train.csv");
  std::filesystem::rename(m_workshop.path() / "here/val.csv", m_workshop.path() / "val.csv");
  EXPECT_EQ(loom("train other.loom --resume here/runs/r --set epochs=6"), 0) << m_said;
}

TEST_F(MovedRun, RefusesOtherData) {
  writeProject();
  m_workshop.write("here/train.csv", clusters(50, 99));
  EXPECT_EQ(loom("train --resume here/runs/r --set epochs=6"), exitCode(ErrorCode::badData));
  EXPECT_THAT(m_said, AllOf(HasSubstr("does not hold what the run was trained on"), HasSubstr("--data training=CSV")));
  EXPECT_EQ(loom("train --resume here/runs/r --set epochs=6 --data training=here/train.csv validation=here/val.csv"),
            exitCode(ErrorCode::badData))
      << "not even where they are named";
}

TEST_F(MovedRun, TellsOfDataThatWereChangedInTheirPlace) {
  writeProject();
  ASSERT_EQ(loom("train --resume here/runs/r --set epochs=5"), 0) << m_said;
  m_workshop.write("here/train.csv", clusters(60, 99));
  EXPECT_EQ(loom("train --resume here/runs/r --set epochs=6"), 0) << m_said;
  EXPECT_THAT(m_said,
              AllOf(HasSubstr("does not hold what the run was trained on: 50 rows"), HasSubstr("60 with the hash")));
}

TEST_F(MovedRun, TellsOfADescriptionThatIsDamaged) {
  writeProject();
  const std::filesystem::path file = m_workshop.path() / "here/runs/r/run.json";
  const Json whole = Json::parse(readFile(file));
  for (const char* field : {"rows", "content"}) {
    Json damaged = whole;
    damaged["datasets"]["training"][field] = Json::array({1});
    m_workshop.write("here/runs/r/run.json", formatJson(damaged));
    EXPECT_EQ(loom("train --resume here/runs/r --set epochs=6"), exitCode(ErrorCode::badData)) << field;
    EXPECT_THAT(m_said,
                AllOf(HasSubstr("run.json is damaged"), HasSubstr("start a new run"), Not(HasSubstr("internal"))));
  }
}

TEST_F(MovedRun, RefusesNamesThatTheProjectLacks) {
  EXPECT_EQ(loom("train --resume here/runs/r --data trainig=here/train.csv"), exitCode(ErrorCode::badArgument));
  EXPECT_THAT(m_said, HasSubstr("no dataset 'trainig'; it has training, validation"));
  EXPECT_EQ(loom("train --resume here/runs/r --data training"), exitCode(ErrorCode::badArgument));
  EXPECT_THAT(m_said, HasSubstr("NAME=CSV is wanted"));
}

}  // namespace
}  // namespace loom
