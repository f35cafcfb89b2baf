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
         {"digits/data' 6000 1000 1", "autoencoder/data' 4000 1000 2", "residual_network/data' 4000 1000 3",
          "unet/data' 2000 500 4", "resnet_50/data' 6 2 5 224", "resnet_152/data' 2 2 5 224", "alexnet/data' 4 2 5 224",
          "alexnet_pool5/data' 6 2 5 224"})
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

// The noise alone is 0.16, and the mean of all digits leaves 0.06.
TEST_F(Samples, UNet) {
  EXPECT_LT(loss(train("unet")), 0.012);
}
TEST_F(Samples, Transformer) {
  EXPECT_GT(accuracy(train("transformer")), 0.95);
}
// As many nodes as a drawing takes, over the network and its units, and the parameters that torchvision documents.
TEST_F(Samples, UnitsMakeSmallDrawingsOfLargeNetworks) {
  const auto count = [](const std::string& sample) {
    const Json project = parseJson(readFile(folder / sample / (sample + ".loom")), sample);
    std::size_t nodes = 0;
    for (const char* kind : {"networks", "units"})
      for (const auto& [name, drawing] : project.at(kind).items()) nodes += drawing.at("nodes").size();
    return nodes;
  };
  EXPECT_LT(count("resnet_50"), 40u);
  EXPECT_LT(count("resnet_152"), 40u);
  EXPECT_LT(count("unet"), 40u);
  EXPECT_LT(count("transformer"), 25u);
  const auto said = [](const std::string& arguments) {
    const fs::path out = folder / "said.txt";
    EXPECT_EQ(run(fmt::format("'{}' {} > '{}' 2>&1", LOOM_PROGRAM, arguments, out.string())), 0) << readFile(out);
    return readFile(out);
  };
  EXPECT_THAT(said(fmt::format("check '{}'", (folder / "resnet_50").string())),
              testing::HasSubstr("25557032 parameters"));
  EXPECT_THAT(said(fmt::format("check '{}'", (folder / "resnet_152").string())),
              testing::HasSubstr("60192808 parameters"));
  EXPECT_THAT(said(fmt::format("check '{}'", (folder / "alexnet").string())),
              testing::HasSubstr("61100840 parameters"));
  EXPECT_THAT(said(fmt::format("check '{}'", (folder / "alexnet_pool5").string())),
              testing::HasSubstr("61101352 parameters"));
  EXPECT_THAT(said(fmt::format("plan '{}' --set batch=2", (folder / "resnet_50").string())),
              testing::HasSubstr("25,557,032"));
}
// Two steps on pictures as large as ImageNet's: they train, if slowly without a GPU. AlexNet's variant by its recipe.
TEST_F(Samples, LargeNetworksTakeSteps) {
  for (const std::string sample : {"resnet_50", "alexnet_pool5"}) {
    const fs::path out = folder / (sample + ".run");
    fs::path trained = folder / sample;
    if (sample == "alexnet_pool5") {
      trained = folder / sample / "recipe.loom";
      ASSERT_EQ(run(fmt::format("'{}' presets jizhi-64k-alexnet '{}' --out '{}' > /dev/null", LOOM_PROGRAM,
                                (folder / sample / "alexnet_pool5.loom").string(), trained.string())),
                0);
      EXPECT_THAT(readFile(trained), testing::HasSubstr("LARS"));
    }
    ASSERT_EQ(run(fmt::format("'{}' train '{}' --run '{}' --set batch=2 max_steps=2 > '{}.txt' 2>&1", LOOM_PROGRAM,
                              trained.string(), out.string(), out.string())),
              0)
        << readFile(out.string() + ".txt");
    EventReader events(RunFolder{out}.eventsFile());
    int steps = 0;
    for (const Event& event : events.read()) steps += event.kind == "step";
    EXPECT_EQ(steps, 2) << sample;
  }
}

// Pictures that anybody could tell apart, in the files that CIFAR-10 comes in: the class is a colour.
void writeBatch(const fs::path& path, int images, unsigned first) {
  std::ofstream file(path, std::ios::binary);
  unsigned random = first;
  for (int i = 0; i < images; ++i) {
    const int label = i % 10;
    file.put(static_cast<char>(label));
    for (int channel = 0; channel < 3; ++channel)
      for (int pixel = 0; pixel < 32 * 32; ++pixel) {
        random = random * 1664525u + 1013904223u;
        const int colour = (label >> channel & 1 ? 170 : 60) + (label >= 8 ? 25 : 0);
        file.put(static_cast<char>(colour + static_cast<int>(random >> 27)));
      }
  }
}

// It brings no pictures: who has none is told where they are, and the commands that it names make them.
TEST_F(Samples, Cifar10SpeedSaysWhereItsPicturesComeFromAndTrainsWithThem) {
  const fs::path sample = folder / "cifar10-speed", project = sample / "cifar10-speed.loom";
  const std::string said = (folder / "cifar10.txt").string();
  for (const std::string& verb : {fmt::format("check '{}'", project.string()),
                                  fmt::format("train '{}' --run '{}/none'", project.string(), folder.string())}) {
    EXPECT_EQ(run(fmt::format("'{}' {} > '{}' 2>&1", LOOM_PROGRAM, verb, said)), 21);
    for (const char* words :
         {"there is no file", "data/train/index.csv", "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
          "loom data import cifar", "--out data/train"})
      EXPECT_THAT(readFile(said), testing::HasSubstr(words)) << verb;
  }

  fs::create_directories(sample / "cifar-10-batches-bin");
  for (int batch = 1; batch <= 5; ++batch)
    writeBatch(sample / fmt::format("cifar-10-batches-bin/data_batch_{}.bin", batch), 40, static_cast<unsigned>(batch));
  writeBatch(sample / "cifar-10-batches-bin/test_batch.bin", 50, 9);
  const auto import = [&](const char* batches, const char* out) {
    return run(fmt::format("cd '{}' && '{}' data import cifar cifar-10-batches-bin/{} --out {} > '{}' 2>&1",
                           sample.string(), LOOM_PROGRAM, batches, out, said));
  };
  ASSERT_EQ(import("data_batch_*.bin", "data/train"), 0) << readFile(said);
  ASSERT_EQ(import("test_batch.bin", "data/test"), 0) << readFile(said);
  EXPECT_EQ(run(fmt::format("'{}' check '{}' > '{}' 2>&1", LOOM_PROGRAM, project.string(), said)), 0) << readFile(said);
  ASSERT_EQ(run(fmt::format("'{}' train '{}' --run '{}/some' --precision f32 --set batch=40 epochs=2 "
                            "optimizer.learning_rate=0.1 > '{}' 2>&1",
                            LOOM_PROGRAM, project.string(), folder.string(), said)),
            0)
      << readFile(said);
  double accuracy = 0;
  EventReader events(RunFolder{folder / "some"}.eventsFile());
  for (const Event& event : events.read())
    if (event.kind == "validation") accuracy = Samples::accuracy(event.body);
  EXPECT_GT(accuracy, 0.5) << "of ten colours";
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
  for (const char* sample : {"logistic_regression", "binary_classifier", "tabular_regression", "transformer"}) {
    for (const char* set : {"train.csv", "test.csv"})
      EXPECT_TRUE(readFile(out / sample / set) == readFile(fs::path(GRADLOOM_SOURCE_DIR) / "samples" / sample / set))
          << sample << " " << set;
  }
}

}  // namespace
}  // namespace loom
