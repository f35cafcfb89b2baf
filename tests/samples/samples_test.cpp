// Every sample draws or brings its data, trains in less than a minute, and learns what its notes promise.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/base/files.h"
#include "engine/base/json.h"
#include "engine/run/run_folder.h"

namespace loom {
namespace {

namespace fs = std::filesystem;

int run(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A copy of the samples with the digits drawn, made once: training leaves caches and runs, which the sources must not
// get.
class Samples : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string name = (fs::temp_directory_path() / "gradloom-samples-XXXXXX").string();
    folder = mkdtemp(name.data());
    for (const auto& sample : fs::directory_iterator(fs::path(GRADLOOM_SOURCE_DIR) / "samples")) {
      if (!sample.is_directory()) continue;
      fs::create_directories(folder / sample.path().filename());
      for (const auto& file : fs::directory_iterator(sample.path())) {
        if (file.is_regular_file())
          fs::copy_file(file.path(), folder / sample.path().filename() / file.path().filename());
      }
    }
    // As samples/CMakeLists.txt draws them.
    for (const char* drawn :
         {"digits/data' 6000 1000 1", "autoencoder/data' 4000 1000 2", "residual_network/data' 4000 1000 3"})
      ASSERT_EQ(run(fmt::format("'{}' '{}/{} > /dev/null", DRAW_DIGITS, folder.string(), drawn)), 0);
  }
  static void TearDownTestSuite() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }

  // The body of the last validation event.
  static Json train(const std::string& sample) {
    const fs::path project = folder / sample / (sample + ".loom"), out = folder / (sample + ".run");
    EXPECT_EQ(run(fmt::format("'{}' check '{}' > /dev/null", LOOM_PROGRAM, project.string())), 0);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(run(fmt::format("'{}' train '{}' --run '{}' > '{}.txt' 2>&1", LOOM_PROGRAM, project.string(),
                              out.string(), out.string())),
              0)
        << readFile(out.string() + ".txt");
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    // On an idle machine it is a minute at most; here other tests may run beside it.
    EXPECT_LT(seconds, 180);
    Json last;
    std::string reason;
    EventReader events(RunFolder{out}.eventsFile());
    for (const Event& event : events.read()) {
      if (event.kind == "validation") last = event.body;
      if (event.kind == "finished") reason = event.body.value("reason", "");
    }
    EXPECT_EQ(reason, "done");
    EXPECT_FALSE(last.is_null());
    std::printf("%s: %.1f s, %s\n", sample.c_str(), seconds, last.dump().c_str());
    return last;
  }
  static double accuracy(const Json& validation) { return numberFromJson(validation.at("metrics").at("accuracy")); }
  static double loss(const Json& validation) { return numberFromJson(validation.at("loss")); }
  static inline fs::path folder;
};

TEST_F(Samples, Digits) {
  EXPECT_GT(accuracy(train("digits")), 0.97);
}
TEST_F(Samples, LogisticRegression) {
  EXPECT_GT(accuracy(train("logistic_regression")), 0.9);
}
TEST_F(Samples, BinaryClassifier) {
  EXPECT_GT(accuracy(train("binary_classifier")), 0.95);
}
// A loss of 1 knows only the mean of the target.
TEST_F(Samples, TabularRegression) {
  EXPECT_LT(loss(train("tabular_regression")), 0.05);
}
// The best single image (the mean of all) leaves more than 0.06.
TEST_F(Samples, Autoencoder) {
  EXPECT_LT(loss(train("autoencoder")), 0.025);
}
TEST_F(Samples, ResidualNetwork) {
  EXPECT_GT(accuracy(train("residual_network")), 0.97);
}

TEST_F(Samples, DrawsTheSameDigitsAgain) {
  const auto out = folder / "few";
  ASSERT_EQ(run(fmt::format("'{}' '{}' 40 20 1 > /dev/null", DRAW_DIGITS, out.string())), 0);
  for (const char* image : {"train/0/00000.png", "train/9/00039.png", "test/3/00013.png"})
    EXPECT_TRUE(readFile(out / image) == readFile(folder / "digits/data" / image))
        << image << " depends on how many are drawn";
  const auto before = fs::last_write_time(out / "train.csv");
  ASSERT_EQ(run(fmt::format("'{}' '{}' 40 20 1", DRAW_DIGITS, out.string())), 0);
  EXPECT_EQ(fs::last_write_time(out / "train.csv"), before) << "what stands is not drawn again";
  EXPECT_EQ(run(fmt::format("'{}' 2> /dev/null", DRAW_DIGITS)), 2);
}

// The tables in the repository are what the program in the repository makes.
TEST_F(Samples, TablesAreThoseOfTheProgram) {
  const auto out = folder / "tables";
  ASSERT_EQ(run(fmt::format("'{}' '{}'", MAKE_TABLES, out.string())), 0);
  for (const char* sample : {"logistic_regression", "binary_classifier", "tabular_regression"}) {
    for (const char* set : {"train.csv", "test.csv"})
      EXPECT_TRUE(readFile(out / sample / set) == readFile(fs::path(GRADLOOM_SOURCE_DIR) / "samples" / sample / set))
          << sample << " " << set;
  }
}

}  // namespace
}  // namespace loom
