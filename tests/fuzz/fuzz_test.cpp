// Every fuzz target of this program over its corpus and over seeded mutations of it: the same inputs on every machine.
// A target that crashes ends the test; run libFuzzer (README.md) to search further.
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <random>

namespace loom::fuzz {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kLongest = 64 << 10;

// Each input of these becomes a dataset on disk, which takes ten times as long as reading it.
int mutationsOf(const std::string& target) {
  return target == "cifar" || target == "idx" || target == "sdcproj" ? 400 : 1500;
}

std::vector<std::string> corpusOf(const std::string& target) {
  std::vector<fs::path> files;
  for (const fs::path& folder :
       {fs::path(GRADLOOM_SOURCE_DIR) / "tests/fuzz/corpus" / target,
        target == "project" ? fs::path(GRADLOOM_SOURCE_DIR) / "tests/corpus/projects" : fs::path()})
    if (!folder.empty() && fs::is_directory(folder))
      for (const auto& entry : fs::directory_iterator(folder))
        if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> corpus;
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return corpus;
}

// One to eight small changes: what transmission, editors and evil do to a file.
std::string mutated(const std::vector<std::string>& corpus, std::mt19937_64& random) {
  const auto below = [&](std::size_t limit) { return limit == 0 ? 0 : static_cast<std::size_t>(random() % limit); };
  std::string text = corpus[below(corpus.size())];
  static const char* const words[] = {"0",
                                      "-1",
                                      "1e999",
                                      "nan",
                                      "\"",
                                      "{",
                                      "}",
                                      "[",
                                      "]",
                                      ",",
                                      "\n",
                                      "\r\n",
                                      "\xff",
                                      "\xc3",
                                      "null",
                                      ":",
                                      "9223372036854775808",
                                      "4294967295",
                                      "\t",
                                      " ",
                                      "../",
                                      "*",
                                      "\\"};
  for (std::size_t changes = 1 + below(8); changes > 0; --changes) {
    const std::size_t at = below(text.size() + 1);
    switch (below(7)) {
      case 0:
        if (!text.empty()) text[std::min(at, text.size() - 1)] ^= static_cast<char>(1 << below(8));
        break;
      case 1:
        if (!text.empty()) text[std::min(at, text.size() - 1)] = static_cast<char>(random());
        break;
      case 2:
        text.insert(at, words[below(std::size(words))]);
        break;
      case 3:
        text.erase(at, 1 + below(16));
        break;
      case 4:
        text.resize(at);
        break;
      case 5: {
        const std::string& other = corpus[below(corpus.size())];
        const std::size_t from = below(other.size() + 1);
        text.insert(at, other.substr(from, 1 + below(64)));
        break;
      }
      default:
        text.insert(at, text.substr(below(text.size() + 1), 1 + below(64)));
        break;
    }
  }
  if (text.size() > kLongest) text.resize(kLongest);
  return text;
}

// What ends the process leaves its input in results/fuzz-TARGET.last. One open file: making it anew for each input
// would wait for the disk each time.
class LastInput {
 public:
  explicit LastInput(const std::string& target) {
    const fs::path file = fs::path(GRADLOOM_BINARY_DIR) / "results" / ("fuzz-" + target + ".last");
    m_file = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  }
  ~LastInput() { ::close(m_file); }
  LastInput(const LastInput&) = delete;
  LastInput& operator=(const LastInput&) = delete;
  void keep(const std::string& input) const {
    ASSERT_EQ(::pwrite(m_file, input.data(), input.size(), 0), static_cast<ssize_t>(input.size()));
    ASSERT_EQ(::ftruncate(m_file, static_cast<off_t>(input.size())), 0);
  }

 private:
  int m_file;
};

class Fuzz : public testing::TestWithParam<Target> {};

TEST_P(Fuzz, SurvivesItsCorpusAndItsMutations) {
  const std::vector<std::string> corpus = corpusOf(GetParam().name);
  ASSERT_FALSE(corpus.empty()) << "tests/fuzz/corpus/" << GetParam().name << " holds nothing";
  for (const std::string& input : corpus) GetParam().run(input);
  GetParam().run({});
  std::mt19937_64 random(20261122);
  const LastInput last(GetParam().name);
  for (int i = 0; i < mutationsOf(GetParam().name); ++i) {
    const std::string input = mutated(corpus, random);
    last.keep(input);
    GetParam().run(input);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Fuzz, testing::ValuesIn(targets()), [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace loom::fuzz
