// When a rank leaves a job of which it hears nothing, and when it does not.
#include "engine/comm/lifeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/files.h"
#include "tests/engine/run/folder.h"

namespace loom {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr LifelineLimits kLimits{};

// A rank that looks every two seconds, `goesOn` at its work or not.
class Rank {
 public:
  std::optional<std::string> hears(const std::optional<std::string>& text, int looks, bool goesOn) {
    std::optional<std::string> why;
    for (int i = 0; i < looks && !why; ++i) {
      m_now += seconds(2);
      m_place += goesOn;
      why = m_judge.look(text, m_place, m_now);
    }
    return why;
  }
  // The supervisor counts on.
  std::optional<std::string> hearsCounting(int looks, bool goesOn) {
    for (int i = 0; i < looks; ++i)
      if (const auto why = hears("mine " + std::to_string(++m_count), 1, goesOn)) return why;
    return {};
  }
  void sleeps(seconds time) { m_now += time; }

 private:
  LifelineJudge m_judge{"mine", kLimits};
  LifelineJudge::Time m_now{};
  std::uint64_t m_place = 0;
  int m_count = 0;
};

TEST(Lifeline, ARankThatHearsNothingAndStandsStillLeaves) {
  Rank rank;
  EXPECT_FALSE(rank.hearsCounting(5, true));
  EXPECT_FALSE(rank.hears("mine 5", 19, false));
  const auto why = rank.hears("mine 5", 2, false);
  ASSERT_TRUE(why);
  EXPECT_THAT(*why, HasSubstr("nothing was heard of its supervisor for 40 s"));
}

TEST(Lifeline, OneFileThatWasTakenAwayIsSilence) {
  Rank rank;
  EXPECT_FALSE(rank.hearsCounting(5, true));
  EXPECT_FALSE(rank.hears("", 19, false));
  EXPECT_TRUE(rank.hears("", 4, false));
}

TEST(Lifeline, EitherSignOfLifeIsEnough) {
  Rank rank;
  EXPECT_FALSE(rank.hearsCounting(200, false));  // it waits for the others, and the supervisor knows
  EXPECT_FALSE(rank.hears("mine 200", 200, true));
}

TEST(Lifeline, AFileServerThatHangsSaysNothing) {
  Rank rank;
  EXPECT_FALSE(rank.hearsCounting(5, true));
  EXPECT_FALSE(rank.hears({}, 500, false));
  EXPECT_FALSE(rank.hears("mine 5", 15, false));  // back, and the supervisor's own write still hangs
  EXPECT_FALSE(rank.hearsCounting(5, false));
  rank.sleeps(seconds(3600));  // this machine was suspended
  EXPECT_FALSE(rank.hears("mine 10", 15, false));
}

TEST(Lifeline, ARankThatAnotherStartLeftBehindLeavesSooner) {
  Rank rank;
  EXPECT_FALSE(rank.hearsCounting(5, true));
  EXPECT_FALSE(rank.hears("theirs 1", 4, false));
  const auto why = rank.hears("theirs 2", 2, false);
  ASSERT_TRUE(why);
  EXPECT_THAT(*why, HasSubstr("another start"));
  // One that trains is not ended by whoever tries to start it a second time.
  EXPECT_FALSE(Rank().hears("theirs 1", 100, true));
}

TEST(Lifeline, TheSupervisorCountsAndTakesTheFileAway) {
  const TestFolder folder("lifeline");
  const auto file = folder.path() / "lifeline";
  {
    const Lifeline lifeline(folder.path(), seconds(7));
    const std::string word = lifeline.word(), name = word.substr(0, word.find(':'));
    EXPECT_EQ(word, name + ":7:" + file.string());
    EXPECT_EQ(readFile(file), name + " 1\n");
    for (int tries = 0; tries < 1000 && readFile(file) == name + " 1\n"; ++tries)
      std::this_thread::sleep_for(milliseconds(20));
    EXPECT_EQ(readFile(file), name + " 2\n");
  }
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace loom
