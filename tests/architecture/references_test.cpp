// What comments and READMEs refer to is there: a file that is named in a comment, in backticks or behind a link, and
// the table of environment switches beside what the programs read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

const fs::path kRoot = GRADLOOM_SOURCE_DIR;

// Files of the repository, from the root.
const std::vector<std::string>& files() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> found{"CMakeLists.txt", "README.md"};
    for (const char* top :
         {"app", "engine", "widgets", "launcher", "samples", "resources", "tests", "installer", ".ci"}) {
      for (const auto& entry : fs::recursive_directory_iterator(kRoot / top))
        if (entry.is_regular_file()) found.push_back(fs::relative(entry.path(), kRoot).generic_string());
    }
    return found;
  }();
  return all;
}

// Whether some file's path ends in these parts: "backend.h", "program/backend.h".
bool isThere(const std::string& path) {
  static const std::set<std::string> endings = [] {
    std::set<std::string> all;
    for (const std::string& file : files())
      for (std::size_t at = 0; at != std::string::npos;) {
        all.insert(file.substr(at));
        const std::size_t slash = file.find('/', at);
        at = slash == std::string::npos ? slash : slash + 1;
      }
    return all;
  }();
  return endings.count(path) > 0;
}

// "Adding one" speaks of files that are to be written.
bool isPlaceholder(const std::string& path) {
  static const std::regex stands(R"((.*[/_])?(x|name|NAME)\.[a-z]+)");
  return std::regex_match(path, stands);
}

std::string textOf(const std::string& path) {
  std::ifstream file(kRoot / path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> linesOf(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(kRoot / path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Every match's first group.
std::vector<std::string> matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) found.push_back((*at)[1]);
  return found;
}

// Names of sources, programs and documents in the comment of a line of C++; <system.h> and globs are no references.
std::vector<std::string> namedInComment(const std::string& line) {
  static const std::regex named(R"((?:^|[ (,:'])((?:[\w-]+/)*[\w-]+\.(?:h|cpp|cuh|md|py|sh))(?![\w>*]))");
  const std::size_t slashes = line.find("//");
  if (slashes == std::string::npos || line.substr(0, slashes).find('"') != std::string::npos) return {};
  const bool names = std::ranges::any_of(std::array{".h", ".cpp", ".cuh", ".md", ".py", ".sh"},
                                         [&](const char* ending) { return line.find(ending) != std::string::npos; });
  if (!names) return {};
  return matches(line.substr(slashes + 2), named);
}

TEST(References, OfCommentsAreThere) {
  EXPECT_THAT(namedInComment("int x;  // as in base/error.h, or (words.cpp), never <zlib.h>"),
              ElementsAre("base/error.h", "words.cpp"));
  std::vector<std::string> wrong;
  int seen = 0;
  for (const std::string& file : files()) {
    const std::string extension = fs::path(file).extension();
    if (extension != ".h" && extension != ".cpp" && extension != ".cuh") continue;
    for (const std::string& line : linesOf(file)) {
      for (const std::string& named : namedInComment(line)) {
        ++seen;
        if (!isThere(named) && !isPlaceholder(named)) wrong.push_back(file + " speaks of " + named);
      }
    }
  }
  EXPECT_GT(seen, 50);
  EXPECT_THAT(wrong, IsEmpty());
}

TEST(References, OfDocumentsAreThere) {
  static const std::regex link(R"(\]\(([^)#:]+)(?:#[^)]*)?\))");
  static const std::regex quoted(R"(`((?:[\w-]+/)*[\w-]+\.(?:h|cpp|cuh|md|py|sh|csv))`)");
  std::vector<std::string> wrong;
  int seen = 0;
  for (const std::string& file : files()) {
    if (fs::path(file).extension() != ".md") continue;
    const std::string text = textOf(file);
    for (const std::string& target : matches(text, link)) {
      ++seen;
      if (!fs::exists(kRoot / fs::path(file).parent_path() / target)) wrong.push_back(file + " links to " + target);
    }
    for (const std::string& named : matches(text, quoted)) {
      ++seen;
      // What a reader brings, and what a program writes.
      if (named == "compare.py" || named == "torch_bench.py" || file.rfind("samples/", 0) == 0) continue;
      if (fs::path(named).extension() == ".csv" && !isThere(named)) continue;
      if (!isThere(named) && !isPlaceholder(named)) wrong.push_back(file + " speaks of " + named);
    }
  }
  EXPECT_GT(seen, 200);
  EXPECT_THAT(wrong, IsEmpty());
}

// The one table of switches, in the engine's README, holds what the programs read and nothing else.
TEST(References, TheTableOfEnvironmentSwitchesIsWhole) {
  static const std::regex read(
      R"rx((?:getenv|qEnvironmentVariable\w*|qgetenv|moduleNamed)\([^()]*"((?:GRADLOOM|LOOM)_\w+)")rx");
  static const std::regex rows(R"rx(\n\|([^|\n]*GRADLOOM_[^|]*)\|)rx");
  static const std::regex name(R"(`(GRADLOOM_\w+)`)");
  std::set<std::string> found;
  for (const std::string& file : files()) {
    const std::string extension = fs::path(file).extension();
    if (file.rfind("tests/", 0) == 0 || (extension != ".h" && extension != ".cpp")) continue;
    for (const std::string& line : linesOf(file))
      if (line.find("LOOM_") != std::string::npos)
        for (const std::string& switched : matches(line, read)) found.insert(switched);
  }
  std::set<std::string> told;
  for (const std::string& cell : matches(textOf("engine/README.md"), rows))
    for (const std::string& switched : matches(cell, name)) told.insert(switched);
  EXPECT_EQ(found, told);
}

}  // namespace
