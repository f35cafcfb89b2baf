// The script that shows `loom` as a service, run as a person would run it: Python's standard library and the program
// that was just built.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>

#include "engine/base/files.h"
#include "engine/run/run_folder.h"

namespace loom {
namespace {

namespace fs = std::filesystem;

TEST(PythonService, BuildsAProjectOfTheCatalogueTrainsFollowsAndPredicts) {
  if (std::string(PYTHON3).empty() || !fs::exists(PYTHON3)) GTEST_SKIP() << "there is no python3 here";
  std::string name = (fs::temp_directory_path() / "gradloom-service-XXXXXX").string();
  const fs::path folder = mkdtemp(name.data());
  const fs::path script = fs::path(GRADLOOM_SOURCE_DIR) / "samples/python_service/service.py",
                 said = folder / "said.txt";
  // -I: no package of this machine's, -B: nothing is written beside the script.
  const auto serve = [&](int epochs) {
    const std::string command =
        fmt::format("'{}' -I -B '{}' --loom '{}' --folder '{}' --epochs {} > '{}' 2>&1", PYTHON3, script.string(),
                    LOOM_PROGRAM, (folder / "moons").string(), epochs, said.string());
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  ASSERT_EQ(serve(30), 0) << readFile(said);
  const std::string words = readFile(said);
  for (const char* each : {"catalogue: ", "refused with 10", "no fault found", "epoch 30: loss", "done after 570 steps",
                           "of 200 samples", "agent answered: True"})
    EXPECT_THAT(words, testing::HasSubstr(each));
  const auto share = [&](const std::string& before) {
    const std::size_t at = words.find(before);
    return at == std::string::npos ? 0.0 : std::atof(words.c_str() + at + before.size());
  };
  EXPECT_GT(share("evaluated: accuracy "), 0.97);
  EXPECT_GT(share("predicted: "), 0.97);
  // What it told came from the run's own events.
  EXPECT_EQ(lastEvent({folder / "moons/run1"})->body["reason"], "done");
  // A second call leaves the first run as it is; a refusal of loom's ends the script with loom's words.
  ASSERT_EQ(serve(1), 0) << readFile(said);
  EXPECT_TRUE(fs::exists(folder / "moons/run2/events.jsonl"));
  EXPECT_EQ(serve(-1), 1);
  EXPECT_THAT(readFile(said), testing::HasSubstr("loom ended with 10"));
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

}  // namespace
}  // namespace loom
