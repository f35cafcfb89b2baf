// The engine's bundle as a host gets it: whole, and able to start on systems and processors older than this one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/engine/run/folder.h"
#include "tests/installer/shell.h"

namespace loom {
namespace {

using testing::HasSubstr;
using testing::Not;

class BundleTest : public testing::Test {
 protected:
  TestFolder m_folder{"bundle"};
  std::string m_at = m_folder.path().string();

  void SetUp() override {
    const Outcome unpacked = shell("tar -xzf " GRADLOOM_BUNDLE " -C " + m_at);
    ASSERT_EQ(unpacked.code, 0) << unpacked.output;
    write("p.loom", R"({"loom": 1, "networks": {"main": {
      "nodes": [{"id": "x", "layer": "Input", "shape": [1, 8, 8]},
                {"id": "conv", "layer": "Convolution", "channels": 8, "kernel": [3, 3]},
                {"id": "fc", "layer": "Linear", "outputs": 3},
                {"id": "y", "layer": "Input", "shape": [1], "type": "label"},
                {"id": "loss", "layer": "SoftmaxCrossEntropy"}],
      "edges": [["x", "conv"], ["conv", "fc"], ["fc", "loss"], ["y", "loss.target"]]}},
      "datasets": {"training": {"csv": "t.csv"}},
      "training": {"network": "main", "dataset": "training", "epochs": 1, "batch": 16,
                   "optimizer": {"name": "Momentum", "learning_rate": 0.01}}})");
    std::string rows;
    for (int i = 0; i < 64; ++i) rows += "x__" + std::to_string(i) + ",";
    rows += "y\n";
    for (int row = 0; row < 32; ++row) {
      for (int i = 0; i < 64; ++i) rows += std::to_string((row * 7 + i * 3) % 11) + ",";
      rows += std::to_string(row % 3) + "\n";
    }
    write("t.csv", rows);
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(m_folder.path() / name) << text; }
  std::string train(const std::string& run) const { return " train " + m_at + "/p.loom --run " + m_at + "/" + run; }
  // What an older system's getconf says comes first in PATH.
  std::string older() {
    std::filesystem::create_directory(m_folder.path() / "old");
    write("old/getconf", "#!/bin/sh\necho glibc 2.17\n");
    std::filesystem::permissions(m_folder.path() / "old/getconf", std::filesystem::perms::owner_all);
    return "PATH=" + m_at + "/old:$PATH ";
  }
};

// Where the login node and the compute nodes, or this machine and the host, are of different kinds.
TEST_F(BundleTest, SaysThatAProcessorIsOfAnotherKind) {
  std::filesystem::create_directory(m_folder.path() / "arm");
  write("arm/uname", "#!/bin/sh\n[ \"$1\" = -m ] && echo aarch64 || echo n17\n");
  std::filesystem::permissions(m_folder.path() / "arm/uname", std::filesystem::perms::owner_all);
  const Outcome outcome = shell("PATH=" + m_at + "/arm:$PATH " + m_at + "/bin/loom version");
  EXPECT_EQ(outcome.code, 126);
  EXPECT_THAT(outcome.output, HasSubstr("but n17 is aarch64"));
}

TEST_F(BundleTest, StartsWithThisSystemsCLibrary) {
  const Outcome outcome = shell(m_at + "/bin/loom" + train("run"));
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  const Outcome opened = shell("LD_DEBUG=libs " + m_at + "/bin/loom version");
  EXPECT_THAT(opened.output, HasSubstr("calling init: " + m_at + "/lib/libdnnl"));
  EXPECT_THAT(opened.output, Not(HasSubstr("calling init: " + m_at + "/libc/")));
}

TEST_F(BundleTest, SaysUnderWhichLicences) {
  EXPECT_TRUE(std::filesystem::exists(m_folder.path() / "licences/LICENSE"));
  if (shell("command -v dpkg-query").code != 0) return;  // elsewhere nobody can be asked
  const Outcome listed = shell("ls " + m_at + "/licences");
  for (const char* package : {"libc6", "libdnnl", "libstdc++6"}) EXPECT_THAT(listed.output, HasSubstr(package));
}

TEST_F(BundleTest, BringsItsOwnWhereThatIsTooOld) {
  const std::string path = older();
  const Outcome outcome = shell(path + m_at + "/bin/loom" + train("run"));
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(shell(path + "LD_DEBUG=libs " + m_at + "/bin/loom version").output,
              HasSubstr("calling init: " + m_at + "/libc/libc.so.6"));
  // Nothing of the system's is opened: an older one has none of it, or another version.
  const Outcome libraries =
      shell(m_at + "/libc/ld-linux* --library-path " + m_at + "/lib:" + m_at + "/libc --list " + m_at + "/lib/loom");
  EXPECT_EQ(libraries.code, 0);
  EXPECT_THAT(libraries.output, HasSubstr("=> " + m_at + "/libc/libc.so.6"));
  for (const char* foreign : {"=> /lib", "=> /usr", "not found"})
    EXPECT_THAT(libraries.output, Not(HasSubstr(foreign)));
}

TEST_F(BundleTest, TrainsOnAProcessorWithoutAvx) {
  if (shell("command -v qemu-x86_64").code != 0) GTEST_SKIP() << "there is no qemu-x86_64 here (package qemu-user)";
  // With the variable set loom has no reason to start itself again, which would leave the emulator.
  const Outcome outcome =
      shell("GOMP_SPINCOUNT=10000 ONEDNN_VERBOSE=1 qemu-x86_64 -cpu Nehalem " + m_at + "/lib/loom" + train("run"));
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("isa:Intel SSE4.1"));
}

}  // namespace
}  // namespace loom
