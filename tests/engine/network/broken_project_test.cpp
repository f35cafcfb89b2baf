// Broken projects: those of tests/corpus/projects, each with the sentence that must be said, and thousands made from
// good ones by seeded mutation. Each ends in problems, or in an analysis that holds; never in a crash, a hang or a file
// that is lost.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/philox.h"
#include "engine/network/flatten.h"
#include "tests/engine/network/networks.h"

namespace loom {
namespace {

using testing::Contains;
using testing::HasSubstr;

const std::filesystem::path kCorpus = std::filesystem::path(GRADLOOM_SOURCE_DIR) / "tests/corpus/projects";

struct Digested {
  std::vector<std::string> said;
  bool sound = false;  // nothing but warnings
};

// Everything that a project goes through before it trains.
Digested digest(const std::string& text) {
  ReadProject read = readProject(text, "p.loom");
  Digested result{messages(read.problems), read.problems.empty()};
  if (!read.readable) {
    EXPECT_FALSE(result.said.empty()) << "refused without a word";
    return result;
  }
  for (const Problem& problem : checkProject(read.project)) {
    result.said.push_back(problem.message);
    result.sound = result.sound && problem.severity == Severity::warning;
  }
  for (const std::string& message : result.said) {
    EXPECT_FALSE(message.empty());
    EXPECT_LT(message.size(), 1500u) << message.substr(0, 300);
    EXPECT_NO_THROW((void)Json(message).dump()) << "no UTF-8";
  }
  // Saved and read again it is the same project, faults of drawing included.
  const std::string written = writeProject(read.project);
  const ReadProject again = readProject(written, "p.loom");
  EXPECT_TRUE(again.readable) << written;
  EXPECT_EQ(writeProject(again.project), written);
  // What analysis calls sound can be lowered.
  for (const Network& network : read.project.networks) {
    const FlatNetwork flat = flatten(read.project, network);
    EXPECT_EQ(flat.origins.size(), flat.network.nodes.size());
    EXPECT_EQ(flat.edges.size(), flat.network.edges.size());
    const Analysis analysis = analyse(flat.network);
    const Analysis drawn = drawnAnalysis(flat, analysis, network);
    for (const Node& node : network.nodes) EXPECT_TRUE(drawn.nodes.count(node.id)) << written;
    const bool isSound = drawn.sound();
    if (!isSound) continue;
    EXPECT_TRUE(analysis.sound());  // no fault is lost on the way back
    for (const bool training : {true, false})
      EXPECT_NO_THROW(lower(flat.network, {.batch = 3, .training = training})) << written;
    EXPECT_NO_THROW(lowerForPrediction(flat.network, {.batch = 1})) << written;
  }
  return result;
}

TEST(BrokenProjects, OfTheCorpusSayWhatIsWrong) {
  const Json expected = parseJson(readFile(kCorpus / "expected.json"), "expected.json");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kCorpus)) {
    if (entry.path().extension() != ".loom") continue;
    ++files;
    const std::string name = entry.path().filename().string();
    SCOPED_TRACE(name);
    if (!expected.contains(name)) {
      ADD_FAILURE() << "expected.json does not say what must be said about it";
      continue;
    }
    const Digested result = digest(readFile(entry.path()));
    EXPECT_FALSE(result.sound);
    EXPECT_THAT(result.said, Contains(HasSubstr(expected[name].get<std::string>())));
  }
  EXPECT_EQ(files, expected.size());
  EXPECT_GE(files, 80u);
}

// A generator of small decisions: the same seed, the same mutation.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : m_philox(seed, "mutation") {}
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(m_philox.below(bound, m_next++)); }

 private:
  Philox m_philox;
  std::uint64_t m_next = 0;
};

void collect(Json& value, std::vector<Json*>& all) {
  all.push_back(&value);
  if (value.is_structured())
    for (Json& child : value) collect(child, all);
}

Json strange(Dice& dice) {
  static const std::vector<Json> values = {nullptr,
                                           true,
                                           0,
                                           -1,
                                           1,
                                           2,
                                           3,
                                           7,
                                           1e300,
                                           -1e300,
                                           1e-320,
                                           0.5,
                                           INT64_MAX,
                                           INT64_MIN,
                                           UINT64_MAX,
                                           4294967296,
                                           "",
                                           "nan",
                                           "inf",
                                           "x",
                                           "x.y",
                                           ".",
                                           "main",
                                           "Convolution",
                                           "Add",
                                           "LSTM",
                                           "Reshape",
                                           "label",
                                           "explicit",
                                           "same",
                                           "ä\u0000b",
                                           std::string(3000, 'z'),
                                           Json::array(),
                                           Json::object(),
                                           Json::array({1, 2, 3}),
                                           Json::array({-1, 4096}),
                                           Json::array({Json::array({1})}),
                                           Json{{"name", "SGD"}},
                                           Json::array({"x", "loss.target"}),
                                           "*",
                                           "g?/*",
                                           "=1/0",
                                           "=i",
                                           "=channels*",
                                           "=Input[0]/2",
                                           "=x[0]",
                                           "=3",
                                           "=2^80",
                                           "Block",
                                           "body"};
  return values[dice.below(values.size())];
}

void mutateTree(Json& file, Dice& dice) {
  std::vector<Json*> all;
  collect(file, all);
  Json& target = *all[dice.below(all.size())];
  switch (dice.below(8)) {
    case 0:
      target = strange(dice);
      break;
    case 1:  // leave something out
      if (target.is_object() && !target.empty())
        target.erase(std::next(target.begin(), static_cast<std::ptrdiff_t>(dice.below(target.size()))).key());
      else if (target.is_array() && !target.empty())
        target.erase(dice.below(target.size()));
      else
        target = strange(dice);
      break;
    case 2:  // the same twice
      if (target.is_array() && !target.empty())
        target.push_back(Json(target[dice.below(target.size())]));
      else if (target.is_number_integer())
        target = target.get<std::int64_t>() / 2 * 2 + 1;
      else
        target = Json::array({target, target});
      break;
    case 3:  // another key
      if (target.is_object() && !target.empty()) {
        const std::string key = std::next(target.begin(), static_cast<std::ptrdiff_t>(dice.below(target.size()))).key();
        const Json value = target[key];
        target.erase(key);
        target[key + "x"] = value;
      } else {
        target = strange(dice);
      }
      break;
    case 4: {  // something from elsewhere in the file
      const Json other = *all[dice.below(all.size())];
      target = other;
      break;
    }
    case 5:
    case 6: {  // a little more or less: often still a project
      std::erase_if(all, [](const Json* value) { return !value->is_number_integer(); });
      Json& number = *all[dice.below(all.size())];
      number = number.get<std::int64_t>() / 2 + static_cast<std::int64_t>(dice.below(20));
      break;
    }
    default:
      if (target.is_number())
        target = dice.below(2) ? Json(-target.get<double>()) : Json(target.get<double>() * 1e9);
      else if (target.is_string())
        target = target.get<std::string>() + std::string(1, static_cast<char>('a' + dice.below(26)));
      else
        target = strange(dice);
  }
}

void mutateText(std::string& text, Dice& dice) {
  const std::size_t at = dice.below(text.size());
  switch (dice.below(6)) {
    case 0:
      text.resize(at);
      break;
    case 1:
      text[at] = static_cast<char>(dice.below(256));
      break;
    case 2:
      text.insert(at, 1, static_cast<char>(dice.below(256)));
      break;
    case 3:
      text.erase(at, 1 + dice.below(40));
      break;
    case 4:
      text.insert(at, std::string(1 + dice.below(300), "[{\"0,"[dice.below(5)]));
      break;
    default:
      text.insert(at, text.substr(dice.below(text.size()), 60));
      break;
  }
}

class MutatedProjects : public testing::TestWithParam<int> {};

TEST_P(MutatedProjects, EndInProblemsOrInACorrectAnalysis) {
  Project drawnProject = readProject(exampleProject(), "p.loom").project;
  drawnProject.networks[0] = std::vector<Network>{leNet(), textClassifier(), characterTransformer(),
                                                  resNet20()}[static_cast<std::size_t>(GetParam()) % 4];
  const std::vector<std::string> good = {exampleProject(), ganProject(), unitProject(), unitProject(),
                                         writeProject(drawnProject)};
  int sound = 0, told = 0;
  for (int round = 0; round < 150; ++round) {
    Dice dice(static_cast<std::uint64_t>(GetParam() * 1000 + round));
    std::string text = good[dice.below(good.size())];
    if (dice.below(3) == 0) {
      mutateText(text, dice);
    } else {
      Json file = parseJson(text, "p.loom");
      for (std::size_t times = 1 + dice.below(2); times > 0; --times) mutateTree(file, dice);
      text = file.dump();
    }
    SCOPED_TRACE(fmt::format("seed {}", GetParam() * 1000 + round));
    (digest(text).sound ? sound : told) += 1;
    if (HasFailure()) FAIL() << text.substr(0, 3000);
  }
  EXPECT_GT(told, 50);  // else the mutations do nothing
  EXPECT_GT(sound, 2);  // else they break everything at once
}

INSTANTIATE_TEST_SUITE_P(Seeds, MutatedProjects, testing::Range(0, 12));

}  // namespace
}  // namespace loom
